"""Find what waits of one agent or in one store without reading all that was ever decided."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0007_import_verb")]

    operations = [
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(fields=["agent", "state"], name="proposal_by_agent"),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(fields=["store", "state"], name="proposal_by_store"),
        ),
    ]
