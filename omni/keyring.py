"""The keys that seal stored secrets and sign sessions: from the environment or from 0600 files."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from omni.config import Config
from omni.config import current as current_config
from omni.contracts.errors import ConfigError, ErrorCategory, OmniError

SECRETS_FILE = "secrets.key"
DJANGO_FILE = "django.key"


class Keys:
    """The keys as they were at one moment: sealing and naming the key can never disagree."""

    def __init__(self, keys: Sequence[str], source: str) -> None:
        try:
            self._each = [Fernet(key) for key in keys]
        except ValueError:
            raise ConfigError(
                f"{source} holds something that is not a Fernet key.",
                remedy="Restore it from a backup; without the key stored secrets stay sealed.",
            ) from None
        self._all = MultiFernet(self._each)
        self.ids = tuple(key_id(key) for key in keys)

    @property
    def primary_id(self) -> str:
        return self.ids[0]

    def seal(self, value: bytes | str) -> bytes:
        return self._each[0].encrypt(value.encode() if isinstance(value, str) else value)

    def open(self, token: bytes | str) -> bytes:
        with _clear_refusal():
            return self._all.decrypt(token)

    def reseal(self, token: bytes | str) -> bytes:
        with _clear_refusal():
            return self._all.rotate(token)

    def is_sealed_by_primary(self, token: bytes | str) -> bool:
        """Whether the first key alone opens it, so that the others may go."""
        try:
            self._each[0].decrypt(token)
        except (InvalidToken, TypeError):
            return False
        return True


class Keyring:
    """Seals and opens stored secrets; the first key seals, every key opens."""

    def __init__(self, *, keys: Sequence[str] = (), file: Path | None = None) -> None:
        self._file = None if keys else file
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        if keys:
            self._keys = Keys(keys, "OMNI_SECRET_KEYS")
        elif file is not None:
            _create_once(file, Fernet.generate_key().decode())
        else:
            raise ConfigError("A keyring needs keys or a key file.")
        self.now()

    @classmethod
    def from_config(cls, config: Config) -> Keyring:
        return cls(keys=config.secret_keys, file=config.key_dir / SECRETS_FILE)

    @property
    def primary_id(self) -> str:
        """Names the sealing key without revealing it, so that a row can record it."""
        return self.now().primary_id

    @property
    def key_ids(self) -> tuple[str, ...]:
        return self.now().ids

    def now(self) -> Keys:
        """The keys of this moment; whoever needs two answers that agree takes both from it."""
        # Another process may add or drop keys at any time; sealing with a dropped key would lose
        # the secret, so the file is looked at before every use (one stat).
        if self._file is None:
            return self._keys
        try:
            found = self._file.stat()
        except OSError:
            raise _unreadable(self._file) from None
        stamp = (found.st_ino, found.st_mtime_ns)
        with self._lock:
            if stamp != self._stamp:
                self._keys = Keys(_read_keys(self._file), str(self._file))
                self._stamp = stamp
            return self._keys

    def seal(self, value: bytes | str) -> tuple[bytes, str]:
        """Encrypted, with the name of the key that did it."""
        keys = self.now()
        return keys.seal(value), keys.primary_id

    def encrypt(self, value: bytes | str) -> bytes:
        return self.now().seal(value)

    def decrypt(self, token: bytes | str) -> bytes:
        return self.now().open(token)

    def rotate(self, token: bytes | str) -> bytes:
        """Seal again with the newest key, keeping the original time stamp."""
        return self.now().reseal(token)

    def add_key(self) -> str:
        """Make a new primary key; the older ones still open what they sealed."""
        file = self._writable_file()
        with _locked(file):
            keys = (Fernet.generate_key().decode(), *_read_keys(file))
            _replace(file, keys)
        return key_id(keys[0])

    def drop_old_keys(self, *, sealed_with: str = "") -> int:
        """Forget every key older than that one, by default than the primary.

        Call it once every row is sealed by it or by a newer one: somebody else may have added a
        key meanwhile and still need the one that sealed the rows.
        """
        file = self._writable_file()
        with _locked(file):
            keys = _read_keys(file)
            names = [key_id(key) for key in keys]
            wanted = sealed_with or names[0]
            # Gone already means that another rotation went further than this one.
            kept = names.index(wanted) + 1 if wanted in names else len(keys)
            if kept < len(keys):
                _replace(file, keys[:kept])
        return len(keys) - kept

    def _writable_file(self) -> Path:
        if self._file is None:
            raise ConfigError(
                "The keys come from OMNI_SECRET_KEYS and cannot be changed from here.",
                remedy="Put a new key in front of that list, rotate, then remove the old ones.",
            )
        return self._file


@functools.cache
def current() -> Keyring:
    """The keyring of this installation; `current.cache_clear()` forgets it."""
    return Keyring.from_config(current_config())


def django_secret(config: Config) -> str:
    """The signing key of sessions, made on first use when no setting gives it."""
    if config.django_secret:
        return config.django_secret
    file = config.key_dir / DJANGO_FILE
    _create_once(file, secrets.token_urlsafe(64))
    value = _read(file).strip()
    if len(value) < 50:
        raise ConfigError(
            f"{file} is too short to sign sessions.",
            remedy="Delete it; a new one is made and everybody signs in again.",
        )
    return value


def key_id(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:8]


def known_keys(config: Config) -> list[str]:
    """Every key that exists already, for redaction; makes none."""
    found = [config.django_secret, *config.secret_keys]
    for name in (SECRETS_FILE, DJANGO_FILE):
        with contextlib.suppress(OSError, ConfigError):
            found += _read(config.key_dir / name).split()
    return [key for key in found if key]


def _create_once(file: Path, content: str) -> None:
    if file.exists():
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = _write_beside(file, content)
        try:
            # A link appears whole or not at all: of two processes that start together, one wins
            # and neither ever reads half a key.
            os.link(fresh, file)
            _keep_names(file.parent)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    except OSError as error:
        raise ConfigError(
            f"The key file {file} cannot be made: {error.strerror}.",
            remedy="Make its folder writable for the user that runs Omni.",
        ) from None


def _replace(file: Path, keys: Sequence[str]) -> None:
    os.replace(_write_beside(file, "\n".join(keys)), file)
    _keep_names(file.parent)


def _keep_names(folder: Path) -> None:
    """Without this a power cut could bring back the old file, whose keys nothing is sealed with."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_beside(file: Path, content: str) -> Path:
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(content + "\n")
        stream.flush()
        os.fsync(handle)
    return fresh


def _read(file: Path) -> str:
    try:
        with file.open() as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            text = stream.read()
        folder_mode = stat.S_IMODE(file.parent.stat().st_mode)
    except (OSError, UnicodeDecodeError):
        raise _unreadable(file) from None
    if mode & 0o077:
        raise ConfigError(
            f"The key file {file} can be read by other users of this machine.",
            remedy=f"Run `chmod 600 '{file}'`, and rotate the key if others had access.",
        )
    if folder_mode & 0o022:
        raise ConfigError(
            f"Other users of this machine can write to {file.parent}, which holds the keys.",
            remedy=f"Run `chmod 700 '{file.parent}'`.",
        )
    return text


def _read_keys(file: Path) -> tuple[str, ...]:
    keys = tuple(_read(file).split())
    if not keys:
        raise ConfigError(
            f"The key file {file} is empty.",
            remedy="Restore it from a backup; without the key stored secrets stay sealed.",
        )
    return keys


def _unreadable(file: Path) -> ConfigError:
    return ConfigError(
        f"The key file {file} cannot be read.",
        remedy="Restore it, and let the user that runs Omni own it.",
    )


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    handle = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _clear_refusal() -> Iterator[None]:
    try:
        yield
    except (InvalidToken, TypeError):
        # `from None`: the chained exception would carry the token into a traceback.
        raise OmniError(
            "A stored secret cannot be opened: it was changed, or its key is gone.",
            category=ErrorCategory.MISCONFIGURED,
            remedy="Bring back the key that sealed it, or enter the secret again.",
        ) from None
