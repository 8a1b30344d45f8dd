"""A program in namespaces of its own; what it may reach was decided before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from apps.tools.executors.base import Call, Outcome, ProducedFile, ToolError
from apps.tools.executors.quota import MAX_BYTES, Quota
from apps.tools.executors.tracking import Tracked
from omni.contracts.types.tool_manifest import SandboxJobConfig
from omni.sandbox.egress.addresses import opened_places
from omni.sandbox.job import Job, Limits, Refused, Result, run
from omni.sandbox.meaning import CATEGORY, sentence

MAX_SHOWN = 2000
FULL = f"The workspace has more than {MAX_BYTES >> 20} MiB."


class SandboxJob:
    """Runs the manifest's command with the call's arguments filled in."""

    kind = "sandbox_job"
    version = "1.0.0"

    def execute(self, call: Call) -> Outcome:
        executor = call.manifest["executor"]
        if executor["kind"] != "sandbox_job":
            raise ToolError("misconfigured", "The manifest names another executor.")
        config = executor["config"]
        tracked = Tracked(call.workspace) if "filesystem.write" in call.manifest["scopes"] else None
        quota = Quota(call.workspace, call.run.cancelled) if tracked else None
        if quota is not None and quota.is_over():
            raise ToolError("limit_exceeded", FULL, remedy="Remove what is not needed any more.")
        try:
            job = _job(call, config)
            result = run(job, cancelled=quota or call.run.cancelled)
        except Refused as error:
            raise ToolError("sandbox_refused", str(error)) from None
        changes = tracked.changes() if tracked else ()
        files = tuple(ProducedFile(file.name, file.data) for file in result.files)
        try:
            if quota is not None and quota.was_over:
                raise ToolError("limit_exceeded", FULL, data=_shown(result))
            output = _output(result, config, job.limits)
        except ToolError as error:
            error.changes = changes
            raise
        return Outcome(output, files=files, changes=changes, data={"usage": dict(result.usage)})


def _job(call: Call, config: SandboxJobConfig) -> Job:
    arguments, scopes = dict(call.arguments), set(call.manifest["scopes"])
    text = json.dumps(arguments).encode() if config.get("stdin") == "arguments" else b""
    environment = {name: call.secret(ref) for name, ref in config.get("secrets", {}).items()}
    files: dict[str, bytes] = {
        reference.get("name") or reference["sha256"]: call.run.get_artifact(
            reference["sha256"], max_bytes=reference["size"]
        )
        for reference in config.get("files", [])
    }
    return Job(
        command=_command(config["command"], arguments),
        stdin=text,
        env=environment,
        files=files,
        limits=_limits(call),
        egress=call.hosts,
        allow_private=opened_places(),
        workspace=call.workspace if {"filesystem.read", "filesystem.write"} & scopes else None,
        writable="filesystem.write" in scopes,
    )


def _command(template: list[str], arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """`{name}` alone stands for an argument, a list for several words; nothing goes to a shell."""
    words: list[str] = []
    for word in template:
        if word.startswith("{") and word.endswith("}"):
            words += _words(arguments.get(word[1:-1]))
        else:
            words.append(word)
    if not words:
        raise ToolError("misconfigured", "The command is empty.")
    return tuple(words)


def _words(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return [word for item in value for word in _words(item)]
    if isinstance(value, bool | dict):
        return [json.dumps(value)]
    return [str(value)]


def _limits(call: Call) -> Limits:
    declared = call.manifest["limits"]
    names = ("cpu_seconds", "memory_bytes", "output_bytes", "file_bytes", "processes")
    given = {name: declared[name] for name in names if name in declared}  # type: ignore[literal-required]
    return Limits(wall_seconds=declared["wall_seconds"], **given)


def _output(result: Result, config: SandboxJobConfig, limits: Limits) -> Any:
    kind = config.get("output", "json")
    if result.status not in ("ok", "error"):
        raise ToolError(CATEGORY[result.status], sentence(result, limits), data=_shown(result))
    if kind == "exit_code":
        return {
            "exit_code": result.exit_code,
            "stdout": _text(result.stdout),
            "stderr": _text(result.stderr),
        }
    if result.status != "ok":
        last = _text(result.stderr).strip().rpartition("\n")[2][:300]
        raise ToolError(
            "tool_failed",
            f"It ended with code {result.exit_code}{f': {last}' if last else ''}.",
            data=_shown(result),
        )
    return _text(result.stdout) if kind == "text" else _parsed(result)


def _parsed(result: Result) -> Any:
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise ToolError(
            "invalid_output", "What it printed is not JSON.", data=_shown(result)
        ) from None


def _shown(result: Result) -> dict[str, Any]:
    return {
        "status": result.status,
        "exit_code": result.exit_code,
        "stdout": _text(result.stdout)[-MAX_SHOWN:],
        "stderr": _text(result.stderr)[-MAX_SHOWN:],
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\x00", "\ufffd")
