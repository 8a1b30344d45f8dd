"""Documents of old versions stay readable; shown with a contract that exists only here."""

from __future__ import annotations

from typing import Any

import pytest

from omni.contracts import catalogue
from omni.contracts.errors import ConfigError, InvalidInput
from omni.contracts.upgrade import Shims, shims, upgrade_event

# `sample` had `title` in version 0, `name` since 1, and a list of `names` since 2.
V0 = {"schema_version": 0, "title": "Ada"}
V2 = {"schema_version": 2, "names": ["Ada"]}


@pytest.fixture
def sample() -> Shims:
    made = Shims(latest=lambda name: 2)

    @made.shim("sample", 0)
    def name_instead_of_title(document: dict[str, Any]) -> dict[str, Any]:
        document["name"] = document.pop("title")
        return {**document, "schema_version": 1}

    @made.shim("sample", 1)
    def several_names(document: dict[str, Any]) -> dict[str, Any]:
        return {"schema_version": 2, "names": [document["name"]]}

    return made


@pytest.mark.req("CON-2")
def test_an_old_document_is_lifted_step_by_step(sample: Shims) -> None:
    assert sample.upgrade("sample", V0) == V2
    assert sample.upgrade("sample", {"name": "Ada"}) == V2
    assert V0 == {"schema_version": 0, "title": "Ada"}


@pytest.mark.req("CON-2")
def test_a_document_of_today_is_left_as_it_is(sample: Shims) -> None:
    assert sample.upgrade("sample", V2) is V2


@pytest.mark.req("CON-2")
def test_the_version_may_come_from_outside(sample: Shims) -> None:
    """A payload carries no version; its event does."""
    assert sample.upgrade("sample", {"title": "Ada"}, 0) == V2


@pytest.mark.req("CON-2")
def test_a_document_of_the_future_is_refused(sample: Shims) -> None:
    with pytest.raises(InvalidInput, match="reads up to 2") as caught:
        sample.upgrade("sample", {"schema_version": 3})
    assert "Update Omni" in caught.value.remedy


@pytest.mark.req("CON-2")
def test_a_missing_shim_is_our_mistake_and_says_so() -> None:
    with pytest.raises(ConfigError, match="No shim lifts sample from version 1"):
        Shims(latest=lambda name: 2).upgrade("sample", {"name": "x"})


@pytest.mark.parametrize("version", ["1", True, -1, None, 1.5])
def test_a_version_that_is_no_number_is_refused(sample: Shims, version: Any) -> None:
    with pytest.raises(InvalidInput, match="schema_version"):
        sample.upgrade("sample", {"schema_version": version})


def test_a_step_has_one_shim(sample: Shims) -> None:
    with pytest.raises(ValueError, match="two shims"):
        sample.shim("sample", 0)(lambda document: document)


@pytest.mark.req("CON-2")
def test_an_old_event_is_lifted_by_the_version_in_its_envelope() -> None:
    made = Shims(latest=lambda name: 1)
    made.shim("payloads/user_message", 0)(lambda payload: {"text": payload["message"]})
    event = {"kind": "user_message", "name": None, "schema_version": 0, "payload_hash": "h"}
    lifted = upgrade_event({**event, "payload": {"message": "Hi"}}, made)
    assert lifted == {**event, "payload": {"text": "Hi"}}
    erased = {**event, "payload": None}
    assert upgrade_event(erased, made) == erased


@pytest.mark.req("CON-2")
def test_every_real_shim_leads_to_a_contract_that_exists() -> None:
    for name in catalogue.names():
        for version in range(1, catalogue.latest(name)):
            assert shims.has(name, version)
