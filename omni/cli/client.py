"""The API over HTTP: repeats what is safe to repeat, follows pages, turns refusals into errors."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import httpx

from omni import __version__
from omni.cli.errors import ApiError
from omni.cli.target import Target, is_loopback
from omni.contracts.errors import HTTP_STATUS, ErrorCategory, OmniError, Unavailable

PAUSES = (0.3, 1.0)
LONGEST_WAIT = 10.0
PAGE = 200
OVERLOADED = (429, 502, 503, 504)
_CATEGORY = {status: category for category, status in HTTP_STATUS.items()}


class Client:
    """One command's conversation with one server."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._http = httpx.Client(
            headers={
                "Authorization": f"Bearer {target.token}",
                "Accept": "application/json",
                "User-Agent": f"omni/{__version__}",
            },
            timeout=httpx.Timeout(30.0, connect=5.0),
            # A proxy of the environment has no business between this machine and itself.
            trust_env=not is_loopback(target.url),
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        return self._json(self.send("GET", path, params=params))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Carries an Idempotency-Key: asking again after a lost answer makes no second row."""
        return self._json(self.send("POST", path, json=body or {}))

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._json(self.send("PUT", path, json=body))

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._json(self.send("PATCH", path, json=body))

    def delete(self, path: str) -> None:
        self.send("DELETE", path)

    def every(self, path: str, *, limit: int = 0, **params: Any) -> Iterator[dict[str, Any]]:
        """The rows of a list, page after page; 0 means all of them."""
        left = limit or None
        query: dict[str, Any] = {**params, "page_size": min(limit or PAGE, PAGE)}
        while True:
            page = self.get(path, **query)
            rows = page["results"] if isinstance(page, dict) and "results" in page else page
            yield from rows[:left]
            left = left and left - len(rows)
            further = page.get("next") if isinstance(page, dict) else None
            if not further or (left is not None and left <= 0):
                return
            # Only its query is used: the address itself could name another server.
            query = dict(parse_qsl(urlsplit(further).query))

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        repeat: bool = True,
        **content: Any,
    ) -> httpx.Response:
        """One request, repeated after a lost connection where that cannot do harm."""
        request = self._http.build_request(
            method,
            self.target.url + path,
            params={k: v for k, v in params.items() if v is not None} if params else None,
            headers={**_key(method), **(headers or {})},
            **content,
        )
        response, lost = self._attempt(request, repeat=repeat)
        if method == "DELETE" and lost and response.status_code == 404:
            # The first attempt did it; only its answer was lost.
            return response
        self._refuse(response)
        return response

    @contextmanager
    def stream(
        self, path: str, *, quiet_seconds: float = 60.0, **headers: str
    ) -> Iterator[httpx.Response]:
        """An answer that is read as it comes; a refusal is an error as everywhere."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        timeout = httpx.Timeout(quiet_seconds, connect=5.0)
        address = self.target.url + path
        try:
            with self._http.stream("GET", address, headers=named, timeout=timeout) as response:
                if not response.is_success:
                    response.read()
                    self._refuse(response)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def _attempt(self, request: httpx.Request, *, repeat: bool) -> tuple[httpx.Response, bool]:
        lost = False
        for pause in (*PAUSES, None):
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                # A connection that was never made did nothing at the other end.
                unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if pause is None or not (repeat or unsent):
                    raise self._unreachable(error) from None
                lost = lost or not unsent
                time.sleep(pause)
                continue
            wait = _wait(response, pause) if repeat else None
            if wait is None:
                return response, lost
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _refuse(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        if response.is_redirect:
            raise OmniError(
                f"{self.target.url} sends callers elsewhere: {response.headers.get('location')}.",
                remedy="Use that address instead.",
            )
        problem = self._problem(response)
        category = problem.get("category")
        known = {item.value for item in ErrorCategory}
        raise ApiError(
            problem,
            category=ErrorCategory(category)
            if category in known
            else _CATEGORY.get(response.status_code, ErrorCategory.INTERNAL),
        )

    def _problem(self, response: httpx.Response) -> dict[str, Any]:
        try:
            problem = response.json()
        except ValueError:
            problem = None
        if not isinstance(problem, dict):
            problem = {
                "type": "about:blank",
                "status": response.status_code,
                "detail": f"{self.target.url} answered {response.status_code} without saying why.",
                "remedy": "Check that this is the address of an Omni server.",
            }
        if response.status_code == 401:
            problem.setdefault("remedy", f"Run `omni login {self.target.url}` with a fresh token.")
        return problem

    def _json(self, response: httpx.Response) -> Any:
        if response.status_code == 204 or not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            raise OmniError(
                f"{self.target.url} answered, but not as an Omni server does.",
                remedy="Check the address; it is the one that the workspace opens at.",
            ) from None

    def _unreachable(self, error: httpx.TransportError) -> OmniError:
        reason = str(error).strip() or type(error).__name__
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            return Unavailable(
                f"The certificate of {self.target.url} cannot be verified.",
                remedy="For an authority of your own, set SSL_CERT_FILE to its certificate.",
            )
        start = "Start it with `omni up`" if is_loopback(self.target.url) else "Check the network"
        return Unavailable(
            f"{self.target.url} does not answer: {_plain(reason)}.",
            remedy=f"{start}, or correct the address (--url, OMNI_URL, `omni login`).",
        )


def _key(method: str) -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}


def path_of(*parts: str) -> str:
    """An address below /api from parts that may hold any character."""
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


def _wait(response: httpx.Response, pause: float | None) -> float | None:
    """How long to wait before asking again; None to take the answer as it is."""
    asked = response.headers.get("retry-after", "")
    # A conflict that passes: our own first attempt is still at work.
    passing = response.status_code == 409 and asked
    if pause is None or not (response.status_code in OVERLOADED or passing):
        return None
    wait = float(asked) if asked.isdigit() else pause
    return wait if wait <= LONGEST_WAIT else None


def _plain(reason: str) -> str:
    """`[Errno 111] Connection refused` → `connection refused`."""
    text = reason.rpartition("] ")[2].rstrip(".")
    return text[:1].lower() + text[1:]
