from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0023_saved_views"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="change",
            name="change_by_store",
        ),
        migrations.AlterField(
            model_name="change",
            name="store",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="changes", to="review.store"
            ),
        ),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["store", "-id", "at"], name="change_by_store"),
        ),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["store", "agent", "-id"], name="change_by_agent"),
        ),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["store", "person", "-id"], name="change_by_person"),
        ),
    ]
