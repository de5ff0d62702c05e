from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import DatabaseError, migrations, models, transaction

_TRIGRAMS = (
    """CREATE VIRTUAL TABLE review_queued_trigrams USING fts5(
        text, content='review_searchedproposal', content_rowid='place', detail=none, columnsize=0,
        tokenize='trigram case_sensitive 1')""",
    """CREATE TRIGGER review_queued_added AFTER INSERT ON review_searchedproposal BEGIN
        INSERT INTO review_queued_trigrams(rowid, text) VALUES (new.place, new.text);
    END""",
    """CREATE TRIGGER review_queued_gone AFTER DELETE ON review_searchedproposal BEGIN
        INSERT INTO review_queued_trigrams(review_queued_trigrams, rowid, text) VALUES ('delete', old.place, old.text);
    END""",
    """CREATE TRIGGER review_queued_changed AFTER UPDATE ON review_searchedproposal BEGIN
        INSERT INTO review_queued_trigrams(review_queued_trigrams, rowid, text) VALUES ('delete', old.place, old.text);
        INSERT INTO review_queued_trigrams(rowid, text) VALUES (new.place, new.text);
    END""",
)
_LIVE = ["pending", "quarantined", "changes_requested"]


def index_text(apps: Any, schema_editor: Any) -> None:
    """Index parts of words. Where PostgreSQL has no pg_trgm, or does not let us use it, it walks through the texts."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for statement in _TRIGRAMS:
                cursor.execute(statement)
        elif connection.vendor == "postgresql":
            cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
            if cursor.fetchone() is None:
                return
            try:
                with transaction.atomic(using=connection.alias):
                    cursor.execute(
                        "CREATE INDEX review_queued_trigrams ON review_searchedproposal USING gin (text gin_trgm_ops)"
                    )
            except DatabaseError:
                return


def drop_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("DROP TABLE review_queued_trigrams")


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0024_history_by_whom"),
    ]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="searched",
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name="proposal",
            name="is_unsearched",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(
                        models.Q(
                            ("state__in", _LIVE),
                            models.Q(("searched", models.F("version")), _negated=True),
                        ),
                        models.Q(
                            models.Q(("state__in", _LIVE), _negated=True),
                            models.Q(("searched", 0), _negated=True),
                        ),
                        _connector="OR",
                    ),
                    models.BooleanField(),
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(condition=models.Q(("is_unsearched", True)), fields=["id"], name="proposal_unsearched"),
        ),
        migrations.CreateModel(
            name="SearchedProposal",
            fields=[
                ("place", models.BigIntegerField(primary_key=True, serialize=False)),
                ("text", models.TextField()),
                (
                    "proposal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="review.proposal"
                    ),
                ),
            ],
        ),
        migrations.RunPython(index_text, drop_index),
    ]
