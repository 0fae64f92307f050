"""Query sets that are compiled once and run prepared, for what every request pays; must not know any table."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from django.db import connection
from django.db.models import ForeignKey, Model, QuerySet

from database.prepared import prepared_cursor


class Compiled[M: Model]:
    """A query set of which only the values change: Django compiles it at its first use, and PostgreSQL keeps its plan.

    Each time anew, the two take longer than the answer. `make` is called once, with `examples` by name: values of the
    right types that stand nowhere else in the statement. `related` are foreign keys, never null, whose rows come along;
    `more` are annotations.
    """

    def __init__(
        self,
        make: Callable[..., QuerySet[M]],
        *,
        examples: Mapping[str, Any],
        related: Sequence[str] = (),
        more: Sequence[str] = (),
    ) -> None:
        self._make = make
        self._examples = examples
        self._related = related
        self._more = more

    def first(self, **values: Any) -> M | None:
        """Return a row for these values, all of `examples`; only one where there can be no other."""
        sql, parameters = self._statement
        with prepared_cursor() as cursor:
            cursor.execute(sql, [values[one] if is_name else one for is_name, one in parameters])
            row = cursor.fetchone()
        return self._instance(list(row)) if row else None

    @cached_property
    def _parts(self) -> list[tuple[str, type[Model], list[str]]]:
        """Where each instance goes, what it is, and its columns; the row's own comes first."""
        model: Any = self._make(**self._examples).model
        fields = [cast("ForeignKey[Any, Any]", model._meta.get_field(name)) for name in self._related]
        models = [("", model), *((field.name, field.related_model) for field in fields)]
        return [(name, each, [field.attname for field in each._meta.concrete_fields]) for name, each in models]

    @cached_property
    def _statement(self) -> tuple[str, list[tuple[bool, Any]]]:
        columns = [f"{name}__{column}" if name else column for name, _model, names in self._parts for column in names]
        rows = self._make(**self._examples).values_list(*columns, *self._more)[:1]
        sql, parameters = rows.query.sql_with_params()
        names = {example: name for name, example in self._examples.items()}
        found = [(one in names, names.get(one, one)) for one in parameters]
        missing = set(self._examples) - {one for is_name, one in found if is_name}
        if missing:
            raise ValueError(f"The statement has no place for {', '.join(sorted(missing))}.")
        return sql, found

    def _instance(self, row: list[Any]) -> M:
        made: dict[str, Any] = {}
        for name, model, columns in self._parts:
            made[name] = model.from_db(connection.alias, columns, row[: len(columns)])
            del row[: len(columns)]
        instance = made.pop("")
        for name, value in (made | dict(zip(self._more, row, strict=True))).items():
            setattr(instance, name, value)
        return cast("M", instance)
