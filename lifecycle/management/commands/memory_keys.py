"""`manage.py memory_keys …`: what operators do with keys; prints ids, check values and counts, never a key."""

import getpass
import os
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from tqdm import tqdm

from accounts.models import Organization
from encryption import keyfile, rotation, sources
from encryption.keys import Keyring, KeyringError
from encryption.models import OrganizationKey, Secret
from encryption.services import KeyUnavailable
from facts import rotation as facts_rotation
from facts.inspection import inspect_records
from facts.models import Fact


class Command(BaseCommand):
    help = "Look after the keys of memory: status, rotation, verification and the keyring's backup."
    requires_system_checks = ()  # a wrong keyring must not keep its own repair from running

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="do", required=True, metavar="COMMAND")

        def add(name: str, text: str) -> ArgumentParser:
            return commands.add_parser(name, help=text, description=text)

        add("status", "Show KEKs, data keys and how many records are under old ones.")
        add("add-kek", "Add a new KEK to the keyring; it only unwraps until it is made primary.")
        add("make-primary", "Let a KEK of the keyring wrap from now on.").add_argument("kek")
        add("remove-kek", "Take a KEK that wraps nothing out of the keyring.").add_argument("kek")
        add("rewrap", "Wrap the keys of organizations and provider secrets anew under the primary KEK.").add_argument(
            "--every", action="store_true", help="also those that are under it: after a rotation inside Vault"
        )
        rotate = add("rotate", "Make new data keys and seal the facts anew; goes on where a killed run ended.")
        which = rotate.add_mutually_exclusive_group(required=True)
        which.add_argument("--organization", metavar="SLUG")
        which.add_argument("--all", action="store_true")
        rotate.add_argument("--grace", type=float, default=facts_rotation.GRACE_SECONDS, metavar="SECONDS")
        key = rotate.add_mutually_exclusive_group()
        key.add_argument("--retire-old", action="store_true", help="make no new key; destroy old ones with 0 left")
        key.add_argument("--new-key", action="store_true", help="also where records are left under an older one")
        add("verify", "Open every wrapped key and every record; exit 1 when one does not open.")
        export = add("export", "Write the keyring to a file that only a passphrase opens.")
        restore = add("import", "Put a keyring back from such a file.")
        restore.add_argument("--replace", action="store_true", help="also when a different keyring is there")
        restore.add_argument("--force", action="store_true", help="also when it opens none of the stored keys")
        for one in (export, restore):
            one.add_argument("file", type=Path)
            one.add_argument("--passphrase-env", metavar="NAME", help="read it from this variable, not from a prompt")

    def handle(self, *args: Any, **options: Any) -> None:
        do: Callable[[dict[str, Any]], None] = getattr(self, f"_{options['do'].replace('-', '_')}")
        try:
            do(options)
        except (KeyringError, keyfile.KeyfileError) as error:
            raise CommandError(str(error)) from None
        except KeyUnavailable as error:
            raise CommandError(f"Organization {error.organization_id}: {error.code} {error.kek_id}".strip()) from None

    def _status(self, options: dict[str, Any]) -> None:
        problem: KeyringError | None = None
        try:
            keks = rotation.keks()
        except KeyringError as error:  # what the database needs is all the more worth knowing
            keks, problem = rotation.needed_keks(), error
        for kek in keks:
            marks = [
                kek.check and f"check {kek.check}",
                "primary" if kek.primary else "",
                "" if kek.known else "MISSING",
                "ANOTHER KEY UNDER THIS ID: opens none of them" if kek.wrong else "",
            ]
            self.stdout.write(f"KEK {kek.id}: {', '.join([*filter(None, marks), f'wraps {kek.wraps} keys'])}")
        records: dict[Any, dict[int, int]] = {}
        for key in (
            OrganizationKey.objects.filter(purpose="dek")
            .select_related("organization")
            .order_by("organization__slug", "organization", "version")
        ):
            counts = records.setdefault(key.organization_id, facts_rotation.by_version(key.organization_id))
            self.stdout.write(
                f"{key.organization.slug} ({key.organization_id}) data key {key.version}: {key.state}, "
                f"{counts.get(key.version, 0)} records"
            )
        left = facts_rotation.stale(records).count()
        self.stdout.write(f"Records under old data keys: {left}.")
        if problem is not None:
            raise problem

    def _add_kek(self, options: dict[str, Any]) -> None:
        self.stdout.write(keyfile.add_kek(sources.editable_keyring_file()))

    def _make_primary(self, options: dict[str, Any]) -> None:
        keyfile.make_primary(sources.editable_keyring_file(), options["kek"])
        self.stdout.write(f"{options['kek']} is primary. Next: rewrap.")

    def _remove_kek(self, options: dict[str, Any]) -> None:
        file, wraps = sources.editable_keyring_file(), rotation.wrapped_under(options["kek"])
        if wraps:
            raise CommandError(f"{options['kek']} still wraps {wraps} keys. Run: memory_keys rewrap")
        keyfile.remove_kek(file, options["kek"])
        self.stdout.write(f"{options['kek']} is out of the keyring.")

    def _rewrap(self, options: dict[str, Any]) -> None:
        every = options["every"]
        total = rotation.to_rewrap(every=every).count() + rotation.secrets_to_rewrap(every=every).count()
        with tqdm(total=total, desc="Keys", unit="key", disable=None) as bar:
            outcome = rotation.rewrap(every=every, step=bar.update)
        self.stdout.write(f"Rewrapped: {outcome.done}. Left: {outcome.left}.")
        self._fail(outcome.failed, outcome.left)

    def _rotate(self, options: dict[str, Any]) -> None:
        slug, new_key = options["organization"], facts_rotation.NewKey.UNLESS_UNFINISHED
        if options["retire_old"] or options["new_key"]:
            new_key = facts_rotation.NewKey.NEVER if options["retire_old"] else facts_rotation.NewKey.ALWAYS
        named = Organization.objects.filter(slug=slug, deleted_at__isnull=True).values_list("pk", flat=True)
        ids = facts_rotation.with_active_keys(list(named) if slug else None)
        if slug and not ids:
            raise CommandError(f"There is no organization {slug} with a data key.")
        total = facts_rotation.to_move(ids, grace=options["grace"], new_key=new_key)
        with tqdm(total=total, desc="Records", unit="record", disable=None) as bar:
            outcome = facts_rotation.rotate(ids, grace=options["grace"], new_key=new_key, step=bar.update)
        left = facts_rotation.stale(ids).count()
        self.stdout.write(f"Organizations: {len(ids)}. Records sealed anew: {outcome.done}. Left: {left}.")
        if options["retire_old"]:
            self._retire(ids)
        self._fail(outcome.failed, left)

    def _retire(self, ids: list[Any]) -> None:
        for organization_id in ids:
            try:
                versions = facts_rotation.retire_old(organization_id, now=timezone.now())
            except rotation.TooEarly as error:
                raise CommandError(f"Organization {organization_id}: {error}") from None
            retired = ", ".join(map(str, versions)) or "none"
            self.stdout.write(f"{organization_id}: data keys retired: {retired}.")

    def _verify(self, options: dict[str, Any]) -> None:
        total = rotation.usable_keys().count() + Secret.objects.count()
        with tqdm(total=total, desc="Keys", unit="key", disable=None) as bar:
            keys = rotation.verify_keys(step=bar.update)
        opened, failed = 0, Counter(keys.failed)
        for row, _keys, found in tqdm(
            inspect_records(), total=Fact.objects.count(), desc="Records", unit="record", disable=None
        ):
            if isinstance(found, str):
                failed[found] += 1
                self.stdout.write(f"Fact {row.pk}: {found}") if failed.total() <= 20 else None
            else:
                opened += 1
        self.stdout.write(f"Provider secrets opened: {keys.secrets}.")
        self.stdout.write(f"Keys opened: {keys.opened}. Records opened: {opened}. Failed: {failed.total()}.")
        self._fail(failed, 0)

    def _export(self, options: dict[str, Any]) -> None:
        ring, file = sources.keyring(), options["file"]
        if os.path.lexists(file):
            raise CommandError(f"{file} exists; name a new file.")
        if not file.absolute().parent.is_dir():
            raise CommandError(f"There is no folder {file.absolute().parent}; make it, or name another file.")
        text = keyfile.sealed_backup(ring, self._passphrase(options, twice=True))
        keyfile.write_private(file, text)
        self.stdout.write(f"Wrote {file}. Keep it, and the passphrase, apart from the database's backups.")

    def _import(self, options: dict[str, Any]) -> None:
        file = sources.editable_keyring_file()
        try:
            text = options["file"].read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be read ({type(error).__name__}).") from None
        ring = keyfile.open_backup(text, self._passphrase(options, twice=False))
        self._judge(ring, force=options["force"])
        kept = keyfile.install(file, ring, replace_other=options["replace"])
        self.stdout.write(f"{file} holds {', '.join(sorted(ring.keys))}; {ring.primary_id} is primary.")
        if kept:
            self.stdout.write(f"The former keyring is kept as {kept}.")

    def _judge(self, ring: Keyring, *, force: bool) -> None:
        """Refuse a keyring that opens nothing of what is stored; say so when it opens a part, or nobody can tell."""
        try:
            lost, opens = rotation.unopened_by(ring)
        except (DatabaseError, InterfaceError):
            self.stderr.write("The database cannot be asked whether this keyring opens its keys.")
            return
        if not lost:
            return
        count, ids = sum(kek.count for kek in lost), ", ".join(kek.kek_id for kek in lost)
        sentence = f"This keyring does not open {count} wrapped keys, which need {ids}"
        if not opens and not force:
            raise CommandError(f"{sentence}, and opens no other. Nothing was changed; --force puts it in all the same.")
        self.stderr.write(f"WARNING: {sentence}.")

    def _passphrase(self, options: dict[str, Any], *, twice: bool) -> str:
        if name := options["passphrase_env"]:
            passphrase = os.environ.get(name, "")
            if not passphrase:
                raise CommandError(f"{name} is not set.")
            return passphrase
        try:
            passphrase = getpass.getpass("Passphrase: ")
            again = getpass.getpass("The same again: ") if twice else passphrase
        except UnicodeDecodeError:
            raise CommandError("The passphrase is not UTF-8 text. Type it anew.") from None
        if again != passphrase:
            raise CommandError("The two are different.")
        return passphrase

    def _fail(self, failed: Counter[str], left: int) -> None:
        """Exit 1 when something failed or is left."""
        if failed:
            raise CommandError("Failed: " + ", ".join(f"{code} {count}" for code, count in sorted(failed.items())))
        if left:
            raise CommandError(f"{left} are left; run the command again.")
