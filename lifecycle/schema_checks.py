"""Whether the constraints that the models declare are in the database, valid and enforced; changes nothing.

They are what holds every limit under concurrency, and a restore by hand can lose them without any row being wrong.
"""

from collections.abc import Iterator

from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey, Model

# What the database enforces now, by table: names of constraints and unique indexes, and columns of foreign keys.
_ENFORCED = """
SELECT t.relname, k.conname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
WHERE k.convalidated AND pg_table_is_visible(t.oid)
UNION
SELECT t.relname, i.relname FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
WHERE x.indisvalid AND pg_table_is_visible(t.oid)
UNION
SELECT t.relname, k.contype::text || ':' || a.attname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
JOIN pg_attribute a ON a.attrelid = t.oid AND k.conkey = ARRAY[a.attnum]
WHERE k.convalidated AND k.contype IN ('f', 'p', 'u') AND pg_table_is_visible(t.oid)
"""


def constraints() -> list[str]:
    """Name every constraint, index, key and foreign key of the models that is missing, or was never validated."""
    with connection.cursor() as cursor:
        cursor.execute(_ENFORCED)
        enforced = {(str(table), str(name)) for table, name in cursor.fetchall()}
    return [
        f"table {table}: {what} is missing or not valid"
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
        for table, name, what in _declared(model)
        if (table, name) not in enforced
    ]


def _declared(model: type[Model]) -> Iterator[tuple[str, str, str]]:
    """Yield table, the name under which the database knows it, and what to call it."""
    table = model._meta.db_table
    for constraint in model._meta.constraints:
        yield table, constraint.name, f"constraint {constraint.name}"
    for index in model._meta.indexes:
        yield table, index.name, f"index {index.name}"
    for field in model._meta.local_concrete_fields:
        column = field.column
        if field.primary_key:
            yield table, f"p:{column}", f"the primary key on {column}"
        elif field.unique:
            yield table, f"u:{column}", f"the unique key on {column}"
        if isinstance(field, ForeignKey):
            yield table, f"f:{column}", f"the foreign key on {column}"
