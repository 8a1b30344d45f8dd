"""Hostile and ambiguous JSON is refused with a sentence, never with a failure of the server."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import ParseError
from rest_framework.test import APIClient

from apps.registry.api.parsing import MAX_DEPTH, load
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-1")]

HOSTILE = {
    "empty object's end is missing": b'{"name": "a"',
    "not a number": b'{"name": NaN}',
    "infinity": b'{"name": Infinity}',
    "negative infinity": b'{"name": -Infinity}',
    "float overflow": b'{"name": 1e999}',
    "integer with 5000 digits": b'{"name": ' + b"9" * 5000 + b"}",
    "duplicate key": b'{"name": "a", "name": "b"}',
    "nested duplicate key": b'{"name": {"x": 1, "x": 2}}',
    "invalid UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"name": "a"}',
    "NUL in a value": b'{"name": "a\\u0000b"}',
    "NUL in a key": b'{"na\\u0000me": "b"}',
    "half a surrogate pair": b'{"name": "\\ud800"}',
    "a list": b'[{"name": "a"}]',
    "a text": b'"name"',
    "null": b"null",
    "only white space": b"   ",
    "trailing comma": b'{"name": "a",}',
    "two documents": b'{"name": "a"} {"name": "b"}',
    "NUL at the deepest level": b'{"a":' + b"[" * 63 + b'"\\u0000"' + b"]" * 63 + b"}",
    "too deep": b'{"name": ' + b"[" * 65 + b"]" * 65 + b"}",
    "far too deep": b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bodies_are_problems(api: APIClient, body: bytes) -> None:
    """By the parser, before any field is looked at: another operation may know fewer limits."""
    answer = problem(
        api.post("/api/projects", body, content_type="application/json"), 400, "invalid"
    )
    assert "errors" not in answer
    assert len(answer["detail"]) < 300


@pytest.mark.parametrize("value", [1, 1.5, True, None, [], {}, ["a"]])
def test_a_text_must_be_a_text(api: APIClient, value: object) -> None:
    """DRF alone would turn numbers into texts."""
    body = problem(api.post("/api/projects", {"name": value}), 400)
    assert list(body["errors"]) == ["name"]


@pytest.mark.parametrize("value", ["5", 5.0, True, None, 10**30, 0, -1])
def test_a_number_must_be_a_whole_number_in_range(api: APIClient, value: object) -> None:
    sent = {"name": "t", "scopes": ["read"], "days": value}
    assert list(problem(api.post("/api/tokens", sent), 400)["errors"]) == ["days"]


def test_depth_up_to_the_limit_is_read() -> None:
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert load(deepest)
    with pytest.raises(ParseError):
        load(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


def test_many_keys_are_refused_in_linear_time() -> None:
    keys = ",".join(f'"k{number}": 1' for number in range(200_000))
    started = time.monotonic()
    with pytest.raises(ParseError, match="given twice"):
        load(f'{{{keys}, "k199999": 2}}'.encode())
    assert time.monotonic() - started < 60


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(JSON)
def test_ordinary_json_is_read_as_it_is(value: object) -> None:
    assert load(json.dumps(value).encode()) == value
