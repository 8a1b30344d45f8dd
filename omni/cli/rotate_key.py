"""Changes the key that seals stored secrets; runs where the key file is."""

from __future__ import annotations

from typing import Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.django import set_up
from omni.cli.options import json_option, yes_option


@click.command(
    "rotate-key",
    cls=Command,
    examples=(
        "omni secrets rotate-key",
        "# With the keys in the environment, put a new one in front first:",
        "OMNI_SECRET_KEYS=NEW,OLD omni secrets rotate-key --yes",
    ),
)
@yes_option
@json_option
def rotate_key(yes: bool, as_json: bool) -> None:
    """Seal every stored secret with a new key.

    Runs on the machine of the installation, while it runs. A new key is added to the key file in
    OMNI_HOME, every secret is sealed with it in one transaction, then the old keys are dropped. A
    crash in between loses nothing: run it again. Back up the key file afterwards: older backups of
    the database still need the old one.

    With OMNI_SECRET_KEYS set, this command cannot change the keys: put a new key in front of the
    list, restart Omni, run this to seal everything with it, then remove the old keys and restart
    again. A key is 32 random bytes in URL-safe base64: `openssl rand -base64 32 | tr +/ -_`.
    """
    set_up()
    from omni import config

    from_environment = bool(config.current().secret_keys)
    question = "Seal every secret with the first key of OMNI_SECRET_KEYS?"
    if not from_environment:
        question = "Make a new key, seal every secret with it, and drop the old keys?"
    output.confirm(question, yes=yes)
    with output.working("Sealing secrets"):
        answer = _rotate(from_environment=from_environment)
    if as_json:
        return output.show_json(answer)
    how_many = "1 secret is" if answer["resealed"] == 1 else f"{answer['resealed']} secrets are"
    output.done(f"{how_many} now sealed with key {answer['key_id']}.")
    if from_environment and answer["old_keys"]:
        output.note("Now remove every key but the first from OMNI_SECRET_KEYS, and restart.")
    elif not from_environment:
        output.note(f"The new key is in {config.current().key_dir}; back it up.")


def _rotate(*, from_environment: bool) -> dict[str, Any]:
    from apps.tools.services.secrets import reseal_secrets
    from omni import keyring

    ring = keyring.current()
    fresh = ring.primary_id if from_environment else ring.add_key()
    resealed = reseal_secrets(actor=None)
    old_keys = ring.key_ids[1:]
    dropped = 0 if from_environment else ring.drop_old_keys(sealed_with=fresh)
    return {
        "key_id": ring.primary_id,
        "resealed": resealed,
        "dropped": dropped,
        "old_keys": list(old_keys) if from_environment else [],
    }
