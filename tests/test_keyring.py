"""The keyring: made once, kept private, rotated without losing a secret."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from omni import keyring
from omni.config import Config
from omni.contracts.errors import ConfigError, OmniError
from omni.keyring import Keyring, django_secret, key_id, known_keys

pytestmark = pytest.mark.req("SEC-3")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "secrets.key"


def test_the_first_use_makes_a_private_file_that_later_uses_share(file: Path) -> None:
    """The folder is 0700, the file 0600, and what one keyring sealed the next one opens."""
    token = Keyring(file=file).encrypt("hunter2-hunter2")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert b"hunter2" not in token
    assert Keyring(file=file).decrypt(token) == b"hunter2-hunter2"
    assert os.listdir(file.parent) == ["secrets.key"]


def test_many_processes_starting_together_agree_on_one_key(file: Path) -> None:
    """Whoever loses the race uses the winner's key, never half of it; nothing sealed is lost."""
    tokens: list[bytes] = []
    barrier = threading.Barrier(12)

    def start() -> None:
        barrier.wait()
        tokens.append(Keyring(file=file).encrypt("value"))

    threads = [threading.Thread(target=start) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ring = Keyring(file=file)
    assert [ring.decrypt(token) for token in tokens] == [b"value"] * 12


def test_whoever_comes_second_uses_the_key_that_is_there(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process makes the file at the worst moment, just before ours is put in place."""
    winner, write = Fernet.generate_key().decode(), keyring._write_beside

    def overtaken(target: Path, content: str) -> Path:
        write(target, winner).rename(target)
        return write(target, content)

    monkeypatch.setattr(keyring, "_write_beside", overtaken)
    assert Keyring(file=file).primary_id == key_id(winner)
    assert os.listdir(file.parent) == ["secrets.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_file_that_others_can_read_is_refused(file: Path, mode: int) -> None:
    """The message names the file and the command that repairs it."""
    Keyring(file=file)
    file.chmod(mode)
    with pytest.raises(ConfigError, match="other users") as refused:
        Keyring(file=file)
    assert "chmod 600" in refused.value.remedy


def test_a_key_folder_that_others_can_write_is_refused(file: Path) -> None:
    """Whoever may write there could put in a key of their own."""
    Keyring(file=file)
    file.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="can write"):
        Keyring(file=file)


@pytest.mark.parametrize("content", ["", "\n", "not a key\n", "x" * 44, "\x00\x01"])
def test_a_malformed_key_file_is_refused_and_left_alone(file: Path, content: str) -> None:
    """A damaged key is never replaced: that would lose every sealed secret."""
    file.parent.mkdir(mode=0o700)
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(ConfigError):
        Keyring(file=file)
    assert file.read_text() == content


def test_a_malformed_key_in_the_environment_is_named_but_not_quoted() -> None:
    with pytest.raises(ConfigError, match="OMNI_SECRET_KEYS") as refused:
        Keyring(keys=["my-precious-passphrase"])
    assert "precious" not in str(refused.value)


def test_rotation_keeps_every_secret_readable_until_old_keys_are_dropped(file: Path) -> None:
    """add key, rotate every token, drop old keys: rotated tokens open, forgotten ones do not."""
    ring = Keyring(file=file)
    first, old = ring.primary_id, ring.encrypt("value")
    second = ring.add_key()
    assert ring.primary_id == second != first
    assert ring.key_ids == (second, first)
    assert ring.decrypt(old) == b"value"
    rotated = ring.rotate(old)
    assert ring.drop_old_keys() == 1
    assert ring.decrypt(rotated) == b"value"
    with pytest.raises(OmniError):
        ring.decrypt(old)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_running_process_notices_keys_that_another_one_added_and_dropped(file: Path) -> None:
    """Otherwise it would seal with a dropped key, and the secret would be lost."""
    running, command = Keyring(file=file), Keyring(file=file)
    command.add_key()
    command.drop_old_keys()
    assert command.decrypt(running.encrypt("value")) == b"value"
    assert running.primary_id == command.primary_id


@pytest.mark.parametrize("token", [b"", b"gAAAAA-secret-looking", "text", b"\xff\xfe"])
def test_what_cannot_be_opened_is_a_clear_error_without_the_token(file: Path, token: bytes) -> None:
    with pytest.raises(OmniError) as refused:
        Keyring(file=file).decrypt(token)
    shown = f"{refused.value} {refused.value.data} {refused.value.__cause__}"
    assert "cannot be opened" in shown
    assert refused.value.remedy
    assert not token or str(token) not in shown


def test_a_token_with_one_changed_byte_is_refused(file: Path) -> None:
    ring = Keyring(file=file)
    token = bytearray(ring.encrypt("value"))
    token[20] ^= 1
    with pytest.raises(OmniError, match="changed"):
        ring.decrypt(bytes(token))


def test_keys_from_the_environment_win_and_cannot_be_changed_from_here(file: Path) -> None:
    new, old = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    ring = Keyring(keys=[new, old], file=file)
    assert ring.primary_id == key_id(new)
    assert ring.decrypt(Fernet(old).encrypt(b"value")) == b"value"
    assert not file.exists()
    with pytest.raises(ConfigError, match="OMNI_SECRET_KEYS"):
        ring.add_key()


def test_the_signing_key_comes_from_the_setting_or_a_file_made_once(tmp_path: Path) -> None:
    assert django_secret(Config(home=tmp_path, django_secret="given")) == "given"
    made = django_secret(Config(home=tmp_path))
    assert len(made) >= 50
    assert django_secret(Config(home=tmp_path)) == made
    file = tmp_path / "keys" / "django.key"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(ConfigError):
        django_secret(Config(home=tmp_path))


def test_looking_for_known_keys_makes_none(tmp_path: Path) -> None:
    config = Config(home=tmp_path)
    assert known_keys(config) == []
    assert not config.key_dir.exists()
    assert django_secret(config) in known_keys(config)


def test_a_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file is in the way")
    with pytest.raises(ConfigError, match="cannot be made"):
        Keyring(file=tmp_path / "keys" / "secrets.key")


def test_what_was_sealed_and_the_key_that_did_it_always_agree(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key added in the very moment of sealing: the row must name the key that was used."""
    ring, other = Keyring(file=file), Keyring(file=file)
    encrypt = Fernet.encrypt

    def interrupted(self: Fernet, data: bytes) -> bytes:
        other.add_key()
        return encrypt(self, data)

    monkeypatch.setattr(Fernet, "encrypt", interrupted)
    token, name = ring.seal("value")
    monkeypatch.undo()
    keys = dict(zip(ring.key_ids, file.read_text().split(), strict=True))
    assert Fernet(keys[name]).decrypt(token) == b"value"
    assert ring.primary_id != name


def test_a_rotation_keeps_the_key_it_sealed_with_when_another_one_began(file: Path) -> None:
    """Two rotations at once: the first must not drop its own key because a newer one exists."""
    ring = Keyring(file=file)
    oldest = ring.primary_id
    first = ring.add_key()
    sealed = ring.encrypt("value")
    second = Keyring(file=file).add_key()
    assert ring.drop_old_keys(sealed_with=first) == 1
    assert ring.key_ids == (second, first)
    assert ring.decrypt(sealed) == b"value"
    assert ring.drop_old_keys(sealed_with=oldest) == 0


def test_a_new_key_survives_a_power_cut(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is flushed after the file took its place, not before."""
    ring, flushed = Keyring(file=file), []
    fsync = os.fsync

    def watch(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            flushed.append(file.read_text())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    ring.add_key()
    assert flushed == [file.read_text()]
