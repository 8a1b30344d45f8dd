"""Documents are read as JSON or YAML, without surprises and within bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apps.tools.executors.openapi.reading import MAX_BYTES, read
from omni.contracts.errors import ErrorCategory, InvalidInput

pytestmark = pytest.mark.req("TOOL-10")


def test_yaml_is_taken_at_its_word() -> None:
    text = """
    date: 2020-01-01
    time: 12:30:99
    moment: 2001-12-14t21:59:43.10-05:00
    country: NO
    yes: on
    200: {1.0: x, true: y, null: z}
    octal: 0o14
    number: 12
    negative: -1.5e3
    nothing: ~
    truth: true
    quoted: "123"
    tagged: !!python/object/apply:os.system ["true"]
    """
    assert read(text) == {
        "date": "2020-01-01",
        "time": "12:30:99",
        "moment": "2001-12-14t21:59:43.10-05:00",
        "country": "NO",
        "yes": "on",
        "200": {"1.0": "x", "true": "y", "null": "z"},
        "octal": "0o14",
        "number": 12,
        "negative": -1500.0,
        "nothing": None,
        "truth": True,
        "quoted": "123",
        "tagged": ["true"],
    }


def test_aliases_are_what_they_stand_for() -> None:
    assert read("a: &x {b: [1]}\nc: *x\nd: [*x, *x]")["d"] == [{"b": [1]}, {"b": [1]}]


def test_a_tab_that_the_fast_reader_refuses() -> None:
    assert read("a: |\n  \tx\nb: 1\n") == {"a": "\tx\n", "b": 1}


laughs = "a0: &a0 [x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    "text",
    [
        "", "---\n---\n", "a: 1\n---\nb: 2", "a: [", "{", '{"a": 1,}', '{"a": 1, "a": 2}',
        "a: 1\na: 2", "a: &x [*x]", "a: *nowhere", "[" * 200 + "]" * 200, "{[]: 1}",
        "? {a: 1}\n: 2",
        '{"a": ' * 5000 + "1" + "}" * 5000, "[" * 100_000, "{" * 100_000, "- " * 5000,
        '{"a": NaN}', '{"a": ' + "9" * 5000 + "}", laughs, "\x00", "a: \x01", "\ud800: 1",
        "a: !!binary '!'\n  b: ]", "%YAML 9.9\n---\na: 1\n...\nx", "&a" * 1000,
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        value = read(text)
        # Some of these are YAML after all, and then they are plain values.
        assert isinstance(value, str | None)
        raise InvalidInput("The document cannot be read: it is no object.")
    assert refused.value.message.startswith("The document cannot be read")


def test_a_document_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        read("a" * (MAX_BYTES + 1))
    assert refused.value.category is ErrorCategory.TOO_LARGE


# The writer follows YAML 1.1 and leaves text such as 0E0 bare, which 1.2 reads as a number.
words = st.text(max_size=20).map("x{}".format)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(words, values, max_size=4))
def test_json_and_yaml_give_the_same(value: dict[str, Any]) -> None:
    assert read(json.dumps(value)) == value
    assert read(yaml.safe_dump(value)) == value


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except InvalidInput:
        return
