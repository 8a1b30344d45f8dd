"""Which server a command talks to, and with which token; a token never goes to another server."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import click

from omni.cli import credentials
from omni.cli.errors import NotSignedIn
from omni.contracts.errors import ErrorCategory, OmniError, Unavailable

HOW_TO_SIGN_IN = "Run `omni login {url}`, or set OMNI_TOKEN or --token-file."


@dataclass(frozen=True, slots=True)
class Target:
    """`token_from` tells people where the token was found; the token itself is never shown."""

    url: str
    token: str = field(repr=False)
    token_from: str


def find_target(*, url: str | None, token_file: str | None, insecure: bool) -> Target:
    """--url, OMNI_URL, the saved login, this machine; then the token that belongs to it."""
    local = None
    chosen = url or os.environ.get("OMNI_URL") or credentials.default_server()
    if not chosen:
        local = local_server()
        chosen = local[0] if local else None
    if not chosen:
        raise Unavailable(
            "Omni is not running on this machine, and no other server is named.",
            remedy="Start it with `omni up`, or name a server: `omni login URL` or OMNI_URL.",
        )
    address = normalised(chosen)
    token, source = _token(address, token_file, local)
    if not local:
        # What goes to an address of this machine never leaves it.
        refuse_leak(address, insecure=insecure)
    return Target(address, token, source)


def local_server() -> tuple[str, Path] | None:
    """Address and token file of the installation here, only while its supervisor runs.

    A stranger could listen on the port of a stopped one and collect the token.
    """
    from omni import config
    from omni.services.running import running_status

    settings = config.current()
    status = running_status(settings)
    if not status.running:
        return None
    host, port = status.host or settings.host, status.port or settings.port
    return _local_url(status.url, host, port), settings.key_dir / "cli.token"


def _local_url(public: str, host: str, port: int) -> str:
    """Where the server listens; behind https only its public address answers."""
    if public.startswith("https://"):
        return normalised(public)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (compared)
    return normalised(f"http://{f'[{host}]' if ':' in host else host}:{port}")


def normalised(url: str) -> str:
    """One spelling per server: with a scheme, without a path of the API or a final slash."""
    if "://" not in url:
        url = f"{'http' if is_loopback(f'http://{url}') else 'https'}://{url}"
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ":?"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == ":?":
        raise click.UsageError(
            f"{url!r} is no address of a server, such as https://omni.example.org."
        )
    if parts.username or parts.password:
        raise click.UsageError("The address must not carry a password; tokens are given apart.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/api")
    return f"{parts.scheme}://{host}{port}{path}"


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_leak(url: str, *, insecure: bool) -> None:
    """Whoever listens on the way to an http server could read the token."""
    if url.startswith("http://") and not is_loopback(url) and not insecure:
        raise OmniError(
            f"{url} is not encrypted: others on the network could read your token.",
            category=ErrorCategory.PERMISSION_DENIED,
            remedy="Use its https:// address, or add --insecure where you trust the network.",
        )


def read_token(file: str | Path) -> str:
    try:
        return checked_token(Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise NotSignedIn(
            f"The token file {file} cannot be read: {error.strerror}.",
            remedy="Run this as the user who started Omni, or run `omni login URL`.",
        ) from None


def checked_token(text: str) -> str:
    """A token is one word of printable ASCII; anything else is a slip of the paste."""
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise NotSignedIn(
            "That is not an API token.", remedy="Make one under Account → API tokens, and copy it."
        )
    return token


def _token(url: str, token_file: str | None, local: tuple[str, Path] | None) -> tuple[str, str]:
    if token_file:
        return read_token(token_file), token_file
    meant_for = os.environ.get("OMNI_URL")
    if os.environ.get("OMNI_TOKEN") and (not meant_for or normalised(meant_for) == url):
        return checked_token(os.environ["OMNI_TOKEN"]), "OMNI_TOKEN"
    saved = credentials.saved_tokens().get(url)
    if saved:
        return saved, "saved login"
    local = local or (local_server() if is_loopback(url) else None)
    if local and local[0] == url:
        return read_token(local[1]), "this machine"
    raise NotSignedIn(f"There is no token for {url}.", remedy=HOW_TO_SIGN_IN.format(url=url))
