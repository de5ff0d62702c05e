from __future__ import annotations

from typing import Any

from django.db import migrations, models

_BATCH = 500
_GRAVEST_FIRST = (
    *("mass.change", "file.delete", "scope.promote", "fact.delete", "index.drop", "fact.rewrite"),
    *("meta.change", "file.rename", "fact.add", "file.add", "index.add"),
)


def lead_kinds(apps: Any, schema_editor: Any) -> None:
    """Name the gravest kind of what waits; what is decided is listed by nobody."""
    live = apps.get_model("review", "Proposal").objects.filter(is_live=True).order_by("pk")
    last = 0
    while found := list(live.filter(pk__gt=last).only("pk", "kinds")[:_BATCH]):
        for proposal in found:
            proposal.lead_kind = next((kind for kind in _GRAVEST_FIRST if kind in proposal.kinds), "")
        live.bulk_update(found, ["lead_kind"])
        last = found[-1].pk


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0018_oldest_in_queue"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="proposal",
            name="proposal_oldest",
        ),
        migrations.RemoveIndex(
            model_name="proposal",
            name="proposal_queue",
        ),
        migrations.AddField(
            model_name="proposal",
            name="has_failed",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(("state__in", ["pending", "quarantined"]), models.Q(("failure", ""), _negated=True)),
                    models.BooleanField(),
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="is_live",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(("state__in", ["pending", "quarantined", "changes_requested"])), models.BooleanField()
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="is_open",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(("state__in", ["pending", "quarantined"])), models.BooleanField()
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="lead_kind",
            field=models.CharField(default="", max_length=24),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("is_open", True)), fields=["store", "-risk", "-id"], name="proposal_queue"
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("is_open", True)),
                fields=["store", "agent", "-risk", "-id"],
                name="proposal_queue_agent",
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("is_open", True)),
                fields=["store", "lead_kind", "-risk", "-id"],
                name="proposal_queue_kind",
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("is_live", True)),
                fields=["store", "state", "-risk", "-id"],
                name="proposal_queue_state",
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("has_failed", True)), fields=["store", "-risk", "-id"], name="proposal_queue_failed"
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                condition=models.Q(("is_open", True)), fields=["store", "created_at", "id"], name="proposal_queue_age"
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(condition=models.Q(("is_open", True)), fields=["store", "id"], name="proposal_oldest"),
        ),
        migrations.RunPython(lead_kinds, migrations.RunPython.noop),
    ]
