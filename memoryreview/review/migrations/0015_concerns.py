from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0014_changes_requested"),
    ]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="concerns",
            field=models.JSONField(default=list),
        ),
    ]
