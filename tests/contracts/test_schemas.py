"""Rules that every schema of ours keeps, so that readers and generators can rely on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from omni.contracts import catalogue
from omni.contracts.narrowing import UNDERSTOOD

OURS = [name for name in catalogue.names() if name != "problem"]
NAMED = {  # CON-1, in its words
    "RunEvent": "run-event",
    "ToolManifest": "tool-manifest",
    "Policy": "policy",
    "ArtifactRef": "artifact-ref",
    "JobRequest": "job-request",
    "Envelope": "envelope",
    "BusTrigger": "bus-trigger",
    "OnexNode": "onex-node",
    "StateContract": "state-contract",
    "ExecutionResult": "execution-result",
    "AgentManifest": "agent-manifest",
    "Workflow": "workflow",
    "Pipeline": "pipeline",
    "MemoryConfig": "memory-config",
    "Plugin": "plugin",
    "Override": "override",
    "MarketplacePackage": "marketplace-package",
    "WorkerResult": "worker-result",
}


def nodes(node: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with its place."""
    if not isinstance(node, dict):
        return
    yield at, node
    for key in ("properties", "$defs"):
        for name, inner in node.get(key, {}).items():
            yield from nodes(inner, f"{at}/{key}/{name}")
    for key in ("items", "additionalProperties", "propertyNames", "then", "else"):
        yield from nodes(node.get(key), f"{at}/{key}")
    for key in ("oneOf", "anyOf"):
        for index, inner in enumerate(node.get(key, [])):
            yield from nodes(inner, f"{at}/{key}/{index}")


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(("title", "name"), NAMED.items())
def test_every_contract_of_the_requirement_exists(title: str, name: str) -> None:
    assert catalogue.schema(name)["title"] == title


@pytest.mark.req("RUN-2")
def test_every_kind_and_name_has_exactly_one_payload_schema() -> None:
    kinds = {f"payloads/{kind}" for kind in catalogue.event_kinds() if kind != "system_event"}
    systems = {f"payloads/system/{name}" for name in catalogue.system_event_names()}
    assert {name for name in catalogue.names() if name.startswith("payloads/")} == kinds | systems


@pytest.mark.req("RUN-2")
def test_the_kinds_are_those_of_the_requirement() -> None:
    assert set(catalogue.event_kinds()) == {
        "run_created",
        "user_message",
        "assistant_message_delta",
        "assistant_message",
        "tool_call",
        "tool_result",
        "tool_error",
        "artifact_ref",
        "system_event",
    }


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", catalogue.names())
def test_schema_is_valid_2020_12_and_knows_its_name(name: str) -> None:
    document = catalogue.schema(name)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == catalogue.uri(name)
    jsonschema_rs.meta.validate(document)


@pytest.mark.req("CON-3")
@pytest.mark.parametrize("name", catalogue.names())
def test_everything_is_described(name: str) -> None:
    """Each schema, definition and property says what it means, here or where it leads."""
    document = catalogue.schema(name)
    missing = [] if document["description"] and document["title"] else ["/"]
    for place, node in nodes(document):
        for key in ("properties", "$defs"):
            if "/then" in place or "/else" in place:
                continue
            for member, inner in node.get(key, {}).items():
                if not inner.get("description") and "$ref" not in inner:
                    missing.append(f"{place}/{key}/{member}")
    assert missing == []


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", OURS)
def test_nothing_is_unbounded(name: str) -> None:
    """Every text, list, number and map has a limit, and no object takes unknown members."""
    loose = [
        f"{place}: {needed}"
        for place, node in nodes(catalogue.schema(name))
        for needed in missing_bounds(node)
    ]
    assert loose == []


def missing_bounds(node: dict[str, Any]) -> list[str]:
    kinds = node.get("type", [])
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    needed = []
    if "string" in kinds:
        needed.append("maxLength")
    if "array" in kinds:
        needed += ["maxItems", "items"]
    if kinds & {"integer", "number"}:
        needed += ["minimum", "maximum"]
    if "object" in kinds:
        closed = "properties" in node and node.get("additionalProperties") is False
        needed += [] if closed else ["maxProperties"]
    return [each for each in needed if each not in node]


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("name", OURS)
def test_only_keywords_that_the_compatibility_check_understands(name: str) -> None:
    unknown = [
        f"{place}: {key}"
        for place, node in nodes(catalogue.schema(name))
        for key in node
        if key not in UNDERSTOOD and not key.startswith("x-")
    ]
    assert unknown == []


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("name", OURS)
def test_a_reference_stands_alone_and_leads_somewhere(name: str) -> None:
    """Siblings of a reference would be read differently by older readers."""
    document = catalogue.schema(name)
    for place, node in nodes(document):
        if "$ref" not in node:
            continue
        assert set(node) <= {"$ref", "description"} or place == "", place
        base, _, path = node["$ref"].partition("#/$defs/")
        target = catalogue.schema(*catalogue.from_uri(base)) if base else document
        assert not path or path in target["$defs"]


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", OURS)
def test_fields_are_written_in_one_style(name: str) -> None:
    """snake_case, except for CloudEvents, whose attributes have only letters and digits."""
    for place, node in nodes(catalogue.schema(name)):
        for member in node.get("properties", {}):
            word = member.replace("_", "")
            assert word.isalnum() and word.islower(), f"{place}/{member}"
            assert name != "cloud-event" or "_" not in member
