"""Real documents through our compiler, and what our proxy sends before a mock server's eyes.

Prism answers from the document alone and refuses with 422 what does not follow it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.tools.executors.base import Call, ToolError
from apps.tools.executors.openapi.compiler import manifests_of
from apps.tools.executors.openapi.document import open_document
from apps.tools.executors.openapi.executor import OpenapiExecutor
from omni.contracts.errors import OmniError
from omni.contracts.foreign import ForeignSchema
from omni.contracts.validation import validate
from tests.conformance.calls import CALLS, DOCUMENT
from tests.conformance.verdict import SHARED, Verdict, absent

DOCUMENTS = "OpenAPI: documents of real APIs"
PRISM = "OpenAPI: Prism accepts what the proxy sends"
PACKAGE = "@stoplight/prism-cli@5"
START_SECONDS = 120


def judge() -> Iterator[Verdict]:
    yield _documents()
    yield from _prism()


def _documents() -> Verdict:
    paths = sorted((SHARED / "openapi").glob("*.*"))
    if not paths:
        return absent(DOCUMENTS, "they are not beside the repository")
    tools = skipped = 0
    broken = []
    began = time.monotonic()
    for path in paths:
        try:
            document = open_document(path.read_text())
            compiled = manifests_of(document, "https://api.example.org", "secret:KEY")
            for tool in compiled.tools:
                validate("tool-manifest", tool.manifest)
            tools += len(compiled.tools)
            skipped += len(compiled.skipped)
        except OmniError as error:
            broken.append(f"{path.name}: {error.message}")
        except Exception as error:  # noqa: BLE001  (this is what the judge looks for)
            broken.append(f"{path.name} crashed: {error!r}")
    for line in broken[:10]:
        print(f"          {line}")
    seconds = time.monotonic() - began
    detail = f"{len(paths)} documents, {tools} tools, {skipped} skipped, {seconds:.1f} s"
    return Verdict(DOCUMENTS, not broken, detail)


def _prism() -> Iterator[Verdict]:
    if shutil.which("npm") is None:
        yield absent(PRISM, "there is no npm")
        return
    with (
        tempfile.TemporaryDirectory(prefix="omni-prism-") as folder,
        contextlib.ExitStack() as open_,
    ):
        installed = _install(Path(folder))
        if installed is None:
            yield absent(PRISM, f"{PACKAGE} could not be installed")
            return
        text = json.dumps(DOCUMENT)
        port = open_.enter_context(_mock(installed, Path(folder), text))
        failures = [line for line in _calls(text, port) if line]
        for line in failures:
            print(f"          {line}")
        detail = f"{len(CALLS) - len(failures)} of {len(CALLS)} calls"
        yield Verdict(PRISM, not failures, detail)


def _install(folder: Path) -> Path | None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE]
    done = subprocess.run(command, capture_output=True, timeout=600)
    program = folder / "node_modules" / ".bin" / "prism"
    return program if done.returncode == 0 and program.exists() else None


@contextlib.contextmanager
def _mock(program: Path, folder: Path, text: str) -> Iterator[int]:
    file = folder / "api.json"
    file.write_text(text)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [str(program), "mock", "--errors", "-h", "127.0.0.1", "-p", str(port), str(file)]
    with (folder / "prism.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _await(port, process, folder / "prism.log")
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(log.read_text()[-500:])
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("Prism did not start.")


def _calls(text: str, port: int) -> Iterator[str]:
    base = f"http://127.0.0.1:{port}"
    credential = {"key": "secret:KEY", "login": "secret:KEY", "token": "secret:KEY"}
    compiled = manifests_of(open_document(text), base, credential)
    if compiled.skipped:
        yield f"skipped: {compiled.skipped}"
    manifests = {tool.operation.key: tool.manifest for tool in compiled.tools}
    executor = OpenapiExecutor(
        lambda project, sha256: text, lambda: frozenset({f"127.0.0.1:{port}"})
    )
    for key, arguments in CALLS:
        try:
            _call(executor, manifests[key], arguments)
            yield ""
        except ToolError as error:
            yield f"{key} {json.dumps(arguments)[:100]}: {error.message} {error.data}"[:500]


def _call(executor: OpenapiExecutor, manifest: Any, arguments: dict[str, Any]) -> None:
    ForeignSchema(manifest["input_schema"]).validate(arguments)
    call = Call(
        call_id="call-1",
        manifest=manifest,
        arguments=arguments,
        project_id=uuid.uuid4(),
        run=_Run(),
        workspace=Path("."),
        secret=lambda reference: "user:password",
        hosts=("127.0.0.1",),
    )
    outcome = executor.execute(call)
    ForeignSchema(manifest["output_schema"]).validate(outcome.output)


class _Run:
    run_id = uuid.UUID(int=0)

    def cancelled(self) -> bool:
        return False

    def emit_delta(self, message_id: str, text: str) -> None:
        """Nothing streams."""

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        return ""
