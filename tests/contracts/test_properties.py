"""Properties of validation over generated documents, good and damaged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from omni.contracts import catalogue
from omni.contracts.canonical import canonical, digest
from omni.contracts.errors import InvalidInput
from omni.contracts.parsing import parse
from omni.contracts.validation import validate
from tests.contracts.conformance import conforms, shape, twin
from tests.contracts.instances import damaged, valid

DOCUMENTS = [name for name in catalogue.names() if name not in catalogue.SUPPORTING]
# Shrinking documents of this size takes minutes; the failing one is small enough to read.
QUICK = settings(
    max_examples=10,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.req("CON-1", "CON-2")
@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
@QUICK
def test_generated_documents_are_valid_typed_and_round_trip(name: str, data: st.DataObject) -> None:
    """What the schema describes is accepted, and its canonical form reads back as itself."""
    document = data.draw(valid(name))
    validate(name, document)
    assert conforms(document, twin(name))
    written = canonical(document)
    assert canonical(parse(written)) == written
    assert digest(document) == digest(parse(written))
    validate(name, parse(written))


@pytest.mark.req("CON-1", "RUN-2")
@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
@QUICK
def test_damaged_documents_are_refused_with_a_place_or_still_valid(
    name: str, data: st.DataObject
) -> None:
    """Whatever is wrong, the answer is an InvalidInput whose pointer leads into the document."""
    document = data.draw(damaged(name))
    # With limits set aside, the schema accepts exactly what has the twin's type.
    assert shape(name).is_valid(document) == conforms(document, twin(name))
    try:
        validate(name, document)
    except InvalidInput as error:
        assert leads_into(document, error.data["pointer"])
        assert error.data["rule"]


def leads_into(document: Any, pointer: str) -> bool:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        try:
            document = document[int(key)] if isinstance(document, list) else document[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
