"""A real HTTP server that keeps what arrives and answers what a test wants."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from apps.tools.executors.base import Call, Outcome
from apps.tools.executors.openapi.compiler import Compiled, manifests_of
from apps.tools.executors.openapi.document import open_document
from apps.tools.executors.openapi.executor import OpenapiExecutor
from omni.contracts.errors import NotFound
from omni.contracts.foreign import ForeignSchema

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Arrived:
    """One request as the server saw it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Api:
    """The server; `answers` are by path, and by default it says that all is well."""

    def __init__(self) -> None:
        self.requests: list[Arrived] = []
        self.answers: dict[str, Reply] = {}
        api = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(length)
                api.requests.append(Arrived(self.command, self.path, headers, body))
                plain = (200, {"Content-Type": "application/json"}, b'{"ok": true}')
                status, extra, data = api.answers.get(self.path.partition("?")[0], plain)
                self.send_response(status)
                for name, value in {**extra, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.place}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def last(self) -> Arrived:
        return self.requests[-1]

    def says(self, path: str, value: Any, status: int = 200, **headers: str) -> None:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        kind = {"Content-Type": "application/json"}
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.answers[path] = (status, {**kind, **named}, data)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    api = Api()
    yield api
    api.stop()


@pytest.fixture
def api(server: Api) -> Api:
    server.requests.clear()
    server.answers.clear()
    return server


@dataclass
class Run:
    """What a call may know of its run."""

    run_id: uuid.UUID = field(default_factory=uuid.uuid4)
    stop: bool = False

    def cancelled(self) -> bool:
        return self.stop

    def emit_delta(self, message_id: str, text: str) -> None:
        raise AssertionError("an HTTP call streams nothing")

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        raise AssertionError("files are handed back, not stored")


class Tools:
    """The tools of one document, called as `apps.tools.invoke` calls them."""

    def __init__(self, api: Api, text: str, **options: Any) -> None:
        self.api = api
        self.text = text
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.document = open_document(text)
        options.setdefault("base_url", api.url)
        self.compiled: Compiled = manifests_of(self.document, **options)
        self.manifests = {each.operation.key: each.manifest for each in self.compiled.tools}
        self.secrets: dict[str, str] = {}
        self.asked: list[str] = []
        self.run = Run()
        self.hosts: tuple[str, ...] = ("127.0.0.1",)
        self.executor = OpenapiExecutor(self._text, lambda: frozenset({api.place}))

    def _text(self, project_id: uuid.UUID, sha256: str) -> str:
        if sha256 != self.sha256:
            raise NotFound("There is no such document.")
        return self.text

    def _secret(self, reference: str) -> str:
        self.asked.append(reference)
        return self.secrets[reference]

    def call(self, key: str, arguments: Mapping[str, Any] | None = None) -> Outcome:
        manifest = self.manifests[key]
        ForeignSchema(manifest["input_schema"]).validate(dict(arguments or {}))
        outcome = self.executor.execute(
            Call(
                call_id="call-1",
                manifest=manifest,
                arguments=arguments or {},
                project_id=uuid.uuid4(),
                run=self.run,
                workspace=Path("."),
                secret=self._secret,
                hosts=self.hosts,
            )
        )
        ForeignSchema(manifest["output_schema"]).validate(outcome.output)
        return outcome


def document(paths: Mapping[str, Any], *, version: str = "3.1.0", **more: Any) -> str:
    """The text of a document with these paths."""
    root = {"openapi": version, "info": {"title": "Pet shop", "version": "1.2"}, "paths": paths}
    return json.dumps({**root, **more})


def operation(*parameters: dict[str, Any], key: str = "op", **more: Any) -> dict[str, Any]:
    """A GET operation with these parameters."""
    answers = {"200": {"description": "ok", "content": {"application/json": {"schema": {}}}}}
    return {"operationId": key, "parameters": list(parameters), "responses": answers, **more}
