"""Run events leave as CloudEvents 1.0 and come back unchanged."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from omni.contracts import catalogue
from omni.contracts.cloudevents import from_cloudevent, to_cloudevent
from omni.contracts.errors import InvalidInput
from omni.contracts.types import RunEvent
from tests.contracts.instances import valid

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
EVENT = cast(RunEvent, catalogue.schema("run-event")["examples"][0])
SYSTEM = cast(RunEvent, {**EVENT, "kind": "system_event", "name": "timer_fired"})


@pytest.mark.req("CON-1")
def test_the_required_attributes_are_there() -> None:
    """CloudEvents 1.0: specversion, id, source and type, and an id unique within the source."""
    made = to_cloudevent(EVENT, traceparent=TRACE)
    assert made["specversion"] == "1.0"
    assert made["id"] == f"{EVENT['run_id']}/{EVENT['seq']}"
    assert made["source"] == f"urn:omni:run:{EVENT['run_id']}"
    assert made["type"] == "dev.omni.run.user_message.v1"
    assert made["time"] == EVENT["at"]
    assert made["data"] == EVENT["payload"]
    assert made["dataschema"] == "urn:omni:v1:payloads/user_message"
    assert (made["runid"], made["sequence"]) == (EVENT["run_id"], str(EVENT["seq"]))
    assert made["traceparent"] == TRACE


@pytest.mark.req("CON-1")
def test_attribute_names_are_lower_case_letters_and_digits() -> None:
    for name in catalogue.schema("cloud-event")["properties"]:
        assert re.fullmatch("[a-z0-9]{1,20}", name)


@pytest.mark.req("CON-1")
def test_attributes_are_text_so_that_headers_can_carry_them() -> None:
    """In HTTP's binary mode every attribute is a header."""
    made = cast(dict[str, Any], to_cloudevent(SYSTEM, source="https://omni.example.org/api/runs/1"))
    assert all(isinstance(value, str) for key, value in made.items() if key != "data")
    assert made["eventname"] == "timer_fired"
    assert made["source"] == "https://omni.example.org/api/runs/1"


@pytest.mark.req("CON-1")
@given(event=valid("run-event"), traceparent=st.sampled_from(["", TRACE]))
@settings(
    max_examples=40,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_is_lost_on_the_way_and_back(event: RunEvent, traceparent: str) -> None:
    assert from_cloudevent(to_cloudevent(event, traceparent=traceparent)) == event


@pytest.mark.req("CON-1")
def test_an_erased_payload_stays_erased() -> None:
    made = to_cloudevent(cast(RunEvent, {**EVENT, "payload": None}))
    assert "data" not in made
    assert from_cloudevent(made)["payload"] is None


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    "change",
    [
        {"specversion": "0.3"},
        {"type": "com.example.other"},
        {"type": "dev.omni.run.sneezed.v1"},
        {"eventname": "timer_fired"},
        {"surprise": "x"},
        {"eventhash": "abc"},
    ],
    ids=str,
)
def test_envelopes_of_others_are_refused(change: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        from_cloudevent({**to_cloudevent(EVENT), **change})


def test_a_bad_trace_is_refused() -> None:
    with pytest.raises(InvalidInput, match="traceparent"):
        to_cloudevent(EVENT, traceparent="1-2-3")
