"""Documents and schemas that are meant to do harm are refused quickly and say why."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from omni.contracts.errors import ErrorCategory, InvalidInput
from omni.contracts.foreign import ForeignSchema, _compile
from omni.contracts.validation import refuse_retrieval, validate, validate_payload

MESSAGE = ("user_message", None)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.req("CON-1", "RUN-2")
@pytest.mark.parametrize("depth", [64, 1000, 100_000])
def test_deep_nesting_is_refused_before_it_reaches_the_validator(depth: int) -> None:
    """The validator itself would bring the process down at such depths."""
    value = nested(depth)
    with pytest.raises(InvalidInput, match="nested deeper than 64"):
        validate_payload("tool_result", None, {"call_id": "c", "output": value, "duration_ms": 0})
    # Letting go of such a value recursively would crash this process as well.
    while value:
        value = value.pop("a", {})


@pytest.mark.req("CON-1", "RUN-2")
def test_a_huge_document_is_too_large() -> None:
    with pytest.raises(InvalidInput, match="larger than") as caught:
        validate_payload(*MESSAGE, {"text": "a" * 2_000_000})
    assert caught.value.category is ErrorCategory.TOO_LARGE
    assert caught.value.status == 413
    with pytest.raises(InvalidInput, match="larger than 100 bytes"):
        validate_payload(*MESSAGE, {"text": "é" * 60}, max_bytes=100)


@pytest.mark.req("CON-1")
def test_many_small_values_count_as_well() -> None:
    with pytest.raises(InvalidInput, match="larger than"):
        validate("run-event", [[[]] * 1000] * 1000)


@pytest.mark.req("CON-1", "RUN-2")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\x00", "\ud800", 2**64])
def test_values_that_no_store_keeps_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        validate_payload("tool_result", None, {"call_id": "c", "output": value, "duration_ms": 0})
    assert caught.value.data["pointer"] == "/output"


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("dotted_name", "tool", "a-" * 60 + "!"),
        ("dotted_name", "tool", "a." * 60 + "!"),
        ("call_id", "call_id", "a" * 127 + "\n"),
        ("call_id", "call_id", "c1\n"),
    ],
)
def test_patterns_take_linear_time_and_see_the_last_line_break(
    name: str, place: str, text: str
) -> None:
    call = {"call_id": "c", "tool": "a", "version": "1.0.0", "arguments": {}, "idempotent": True}
    with pytest.raises(InvalidInput) as caught:
        validate_payload("tool_call", None, {**call, place: text})
    assert caught.value.data["rule"] == "pattern"


def chain(length: int, link: Any, end: Any) -> dict[str, Any]:
    defs = {f"a{index}": link(f"#/$defs/a{index + 1}") for index in range(length)}
    return {"$defs": {**defs, f"a{length}": end}, "$ref": "#/$defs/a0"}


HOSTILE: dict[str, Any] = {
    "lookaround": {"pattern": "^(?=a)b"},
    "back-reference": {"pattern": r"(a)\1"},
    "huge pattern": {"pattern": "((a{1000}){1000}){1000}"},
    "not a schema": {"type": "strnig"},
    "missing target": {"$ref": "#/$defs/none"},
    "unknown dialect": {"$schema": "https://example.org/mine"},
    "file": {"$ref": "file:///etc/passwd"},
    "network": {"items": [{"$ref": "http://127.0.0.1:9/x"}]},
    "relative": {"properties": {"default": {"$ref": "other.json"}}},
    "our own": {"$ref": "urn:omni:v1:shapes"},
    "dynamic": {"$dynamicRef": "https://example.org/x"},
    "second identity": {"$defs": {"a": {"$id": "http://example.org/a"}}},
    "doubling": chain(40, lambda to: {"allOf": [{"$ref": to}, {"$ref": to}]}, {}),
    "doubling items": chain(40, lambda to: {"anyOf": [{"items": {"$ref": to}}] * 2}, {}),
    "long chain": chain(5000, lambda to: {"$ref": to}, {}),
    "branches into itself": {
        "$defs": {
            "a": {
                "anyOf": [
                    {"items": {"$ref": "#/$defs/a"}},
                    {"minItems": 3, "items": {"$ref": "#/$defs/a"}},
                ]
            }
        },
        "$ref": "#/$defs/a",
    },
    "deep": nested(70),
}


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_of_others_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ForeignSchema(HOSTILE[name])
    assert len(caught.value.message) < 600


@pytest.mark.req("CON-1")
def test_a_backtracking_pattern_is_harmless() -> None:
    """A pattern that keeps other engines busy for ages is decided at once."""
    schema = ForeignSchema({"type": "string", "pattern": "^(a+)+$"})
    schema.validate("a" * 50_000)
    with pytest.raises(InvalidInput):
        schema.validate("a" * 50_000 + "!")


@pytest.mark.req("CON-1")
def test_honest_schemas_of_others_work() -> None:
    """Recursion over different types, shared definitions and older dialects are all usual."""
    anything = {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"$ref": "#/$defs/any"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
        ]
    }
    recursive = ForeignSchema({"$defs": {"any": anything}, "$ref": "#/$defs/any"})
    recursive.validate([{"a": ["b"]}])
    with pytest.raises(InvalidInput, match="/0/a/0"):
        recursive.validate([{"a": [1]}])
    both = lambda to: {"properties": {"x": {"$ref": to}, "y": {"$ref": to}}}  # noqa: E731
    ForeignSchema(chain(40, both, {"type": "integer"})).validate({"x": {"y": {}}})
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    with pytest.raises(InvalidInput, match="type"):
        ForeignSchema(old).validate(["x"])


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback that notes who calls."""
    calls: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"true")

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", calls
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema"])
def test_no_schema_is_ever_fetched(
    keyword: str, listener: tuple[str, list[str]], tmp_path: Path
) -> None:
    """Neither the network nor the disk is touched, whatever a schema asks for."""
    address, calls = listener
    secret = tmp_path / "schema.json"
    secret.write_text('{"const": "leaked"}')
    for target in (f"{address}/schema", secret.as_uri()):
        with pytest.raises(InvalidInput) as caught:
            ForeignSchema({"type": "object", keyword: target}).validate({})
        assert "leaked" not in str(caught.value.data)
    assert calls == []


@pytest.mark.req("CON-1")
def test_the_validator_itself_fetches_nothing(listener: tuple[str, list[str]]) -> None:
    """Should the first check ever miss a reference, the retriever refuses it still."""
    address, calls = listener
    with pytest.raises(InvalidInput, match="retrieving it failed"):
        _compile({"$ref": f"{address}/schema"})
    with pytest.raises(InvalidInput, match="not part of it"):
        refuse_retrieval(f"{address}/schema")
    assert calls == []
