from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import DatabaseError, migrations, models, transaction

_TRIGRAMS = (
    """CREATE VIRTUAL TABLE review_searched_trigrams USING fts5(
        text, content='review_searcheddocument', content_rowid='id', detail=none, columnsize=0,
        tokenize='trigram case_sensitive 1')""",
    """CREATE TRIGGER review_searched_added AFTER INSERT ON review_searcheddocument BEGIN
        INSERT INTO review_searched_trigrams(rowid, text) VALUES (new.id, new.text);
    END""",
    """CREATE TRIGGER review_searched_gone AFTER DELETE ON review_searcheddocument BEGIN
        INSERT INTO review_searched_trigrams(review_searched_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
    END""",
    """CREATE TRIGGER review_searched_changed AFTER UPDATE ON review_searcheddocument BEGIN
        INSERT INTO review_searched_trigrams(review_searched_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO review_searched_trigrams(rowid, text) VALUES (new.id, new.text);
    END""",
)


def index_text(apps: Any, schema_editor: Any) -> None:
    """Index parts of words. Where PostgreSQL has no pg_trgm, or does not let us use it, it looks at every text."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for statement in _TRIGRAMS:
                cursor.execute(statement)
        elif connection.vendor == "postgresql":
            cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
            if cursor.fetchone() is None:
                return
            try:
                with transaction.atomic(using=connection.alias):
                    cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
                    cursor.execute(
                        "CREATE INDEX review_searched_trigrams ON review_searcheddocument USING gin (text gin_trgm_ops)"
                    )
            except DatabaseError:
                return


def drop_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("DROP TABLE review_searched_trigrams")


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0016_dropped_actions"),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchedDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.TextField()),
                ("blob", models.CharField(max_length=40)),
                ("text", models.TextField()),
                (
                    "store",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="review.store"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("store", "path"), name="searched_document_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchedStore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("head", models.CharField(max_length=40)),
                (
                    "store",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="review.store"
                    ),
                ),
            ],
        ),
        migrations.RunPython(index_text, drop_index),
    ]
