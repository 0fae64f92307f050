"""`doctor` names each constraint of the models that the database lost, though no row is wrong yet."""

import pytest
from django.db import connection

from lifecycle.doctor import findings
from lifecycle.schema_checks import constraints

pytestmark = pytest.mark.django_db


def test_a_migrated_database_has_every_constraint() -> None:
    assert constraints() == []


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DROP INDEX fact_live_once", "table facts_fact: constraint fact_live_once"),
        ("ALTER TABLE facts_fact DROP CONSTRAINT fact_confidence", "table facts_fact: constraint fact_confidence"),
        ("DROP INDEX fact_by_scope", "table facts_fact: index fact_by_scope"),
        (
            "ALTER TABLE encryption_organizationkey DROP CONSTRAINT organization_key_version",
            "table encryption_organizationkey: constraint organization_key_version",
        ),
        (
            "ALTER TABLE facts_fact DROP CONSTRAINT fact_status; "
            "ALTER TABLE facts_fact ADD CONSTRAINT fact_status CHECK (status <> '') NOT VALID",
            "table facts_fact: constraint fact_status",
        ),
        (
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'fact_live_once'::regclass",
            "table facts_fact: constraint fact_live_once",
        ),
        (
            "ALTER TABLE consent_consent DROP CONSTRAINT "
            "{{SELECT conname FROM pg_constraint WHERE conrelid = 'consent_consent'::regclass AND contype = 'f' "
            "AND confrelid = 'accounts_user'::regclass LIMIT 1}}",
            "table consent_consent: the foreign key on ",
        ),
        (
            "ALTER TABLE accounts_apikey DROP CONSTRAINT "
            "{{SELECT conname FROM pg_constraint WHERE conrelid = 'accounts_apikey'::regclass AND contype = 'u'}}",
            "table accounts_apikey: the unique key on ",
        ),
    ],
)
def test_what_the_database_lost_or_never_validated_is_named(statement: str, named: str) -> None:
    with connection.cursor() as cursor:
        if "{{" in statement:  # a name that Django made
            start, question = statement.rstrip("}").split("{{")
            cursor.execute(question)
            statement = f"{start}{cursor.fetchone()[0]}"
        cursor.execute(statement)
    (found,) = dict(findings())["constraints"]
    assert found.startswith(named)
    assert found.endswith(" is missing or not valid")
