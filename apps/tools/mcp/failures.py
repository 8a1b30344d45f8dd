"""Whatever goes wrong with a server becomes one error with a category and a clear cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apps.tools.executors.base import ToolError
from apps.tools.mcp.text import plain
from omni.contracts.errors import OmniError
from omni.contracts.types.shapes import ToolErrorCategory
from omni.sandbox.egress.errors import EgressError, Forbidden

CREDENTIALS = "Check the credentials of the server."


class TooMuch(Exception):
    """The server sent more than the session may take."""


class Broken(Exception):
    """The server broke the protocol in a way that the SDK lets through."""


@dataclass(slots=True)
class Witness:
    """What the transport saw; the SDK turns most of it into a sentence without a cause."""

    status: int = 0
    error: BaseException | None = None
    noise: bool = False
    """Whether something came that is no message of the protocol."""
    closed: bool = False
    """Whether a program closed its output, so that it is about to end."""
    sent: bool = False
    """Whether the call itself left; then nobody knows if a lost one had an effect."""


def normalised(error: BaseException, *, server: str, witness: Witness | None = None) -> ToolError:
    """The one error for people and programs; never shows more of a server's text than is safe."""
    seen = witness or Witness()
    telling = _most_telling([*([seen.error] if seen.error else ()), *_leaves(error)])
    if isinstance(telling, ToolError):
        return telling
    status = None if _speaks_for_itself(telling) else _by_status(seen.status)
    kind, cause, remedy = status or _by_type(telling)
    if seen.noise and kind in ("timeout", "unavailable"):
        cause = f"{cause.rstrip('.')}; it also sent what is not JSON-RPC."
    if kind == "unavailable" and seen.sent:
        kind, remedy = "outcome_unknown", "Look whether it happened before you repeat it."
    data = {"server": server} | ({"status": seen.status} if seen.status else {})
    return ToolError(kind, f"The MCP server {server} {cause}", remedy=remedy, data=data)


Verdict = tuple[ToolErrorCategory, str, str]
# What the SDK says instead of an HTTP status.
STAND_INS = ("Server returned an error response", "Not Found", "Session terminated")


def _speaks_for_itself(error: BaseException) -> bool:
    """Whether a server said what is wrong, rather than its web server by a status."""
    from mcp import MCPError

    if isinstance(error, MCPError):
        return error.message not in STAND_INS
    return isinstance(error, TooMuch | Broken | OmniError)


def _by_status(status: int) -> Verdict | None:
    if status in (401, 403):
        return "misconfigured", f"refused the credentials (HTTP {status}).", CREDENTIALS
    if status == 429:
        return "rate_limited", "asks to be called less often (HTTP 429).", ""
    if status == 404:
        return "misconfigured", "has nothing at its address (HTTP 404).", "Check its address."
    if 300 <= status < 400:
        return "misconfigured", f"leads elsewhere (HTTP {status}).", "Register that address."
    if status >= 500:
        return "unavailable", f"failed (HTTP {status}).", ""
    return None


def _by_type(error: BaseException) -> Verdict:
    if isinstance(error, TimeoutError):
        return "timeout", "did not answer in time.", ""
    if isinstance(error, TooMuch):
        return "limit_exceeded", f"sent too much: {plain(str(error))}", ""
    if isinstance(error, Broken):
        return "invalid_output", f"broke the protocol: {plain(str(error))}", ""
    if isinstance(error, Forbidden):
        remedy = "An operator can allow this host and port for the server."
        return "permission_denied", f"may not be reached: {plain(error.message)}", remedy
    if isinstance(error, EgressError):
        return error.tool_error, f"cannot be reached: {plain(error.message)}", ""
    if isinstance(error, OmniError):
        return "invalid_output", f"sent what cannot be taken: {plain(error.message)}", ""
    return _of_libraries(error)


def _of_libraries(error: BaseException) -> Verdict:
    import httpx2
    from mcp import MCPError
    from pydantic import ValidationError

    if isinstance(error, MCPError):
        return _of_protocol(error.code, error.message)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"])[:100]
        return "invalid_output", f"broke the protocol: {plain(where)}: {plain(first['msg'])}", ""
    if isinstance(error, httpx2.TimeoutException):
        return "timeout", "did not answer in time.", ""
    if isinstance(error, httpx2.HTTPStatusError):
        found = _by_status(error.response.status_code)
        return found or ("unavailable", f"answered HTTP {error.response.status_code}.", "")
    if isinstance(error, httpx2.SSEError):
        return "invalid_output", f"broke its stream: {plain(str(error))}", ""
    if isinstance(error, OSError | EOFError | httpx2.TransportError):
        return "unavailable", f"cannot be reached: {plain(str(error)) or 'no connection.'}", ""
    if isinstance(error, RuntimeError | ValueError):
        return "invalid_output", f"broke the protocol: {plain(str(error))}", ""
    return "unavailable", f"ended the session ({type(error).__name__}).", ""


def _of_protocol(code: int, message: str) -> Verdict:
    from mcp_types import jsonrpc

    said = plain(message)
    if code == jsonrpc.REQUEST_TIMEOUT:
        return "timeout", "did not answer in time.", ""
    if code == jsonrpc.CONNECTION_CLOSED:
        return "unavailable", f"closed the connection: {said}", ""
    if code == jsonrpc.PARSE_ERROR:
        return "invalid_output", "sent what is not JSON-RPC.", "Check its address."
    if code == jsonrpc.INVALID_PARAMS:
        return "invalid_input", f"refused the arguments: {said}", ""
    if code == jsonrpc.INVALID_REQUEST and said.startswith("Unexpected content type"):
        return "invalid_output", f"does not speak the protocol: {said}", "Check its address."
    if said.startswith("Redirect to"):
        return "misconfigured", f"leads elsewhere: {said}", "Check its address."
    return "tool_failed", f"answered with an error ({code}): {said}", ""


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _most_telling(errors: list[BaseException]) -> BaseException:
    """Of several that happened together, the cause rather than its echoes."""
    return min(errors, key=_rank)


def _rank(error: BaseException) -> int:
    if isinstance(error, ToolError):
        return 0
    if isinstance(error, TooMuch | Broken | OmniError):
        return 1
    echo = type(error).__name__ in ("ClosedResourceError", "BrokenResourceError", "CancelledError")
    return 3 if echo else 2
