"""Canonical JSON against the examples of RFC 8785 and of ECMAScript, and its refusals."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omni.contracts.bounds import check_bounds
from omni.contracts.canonical import canonical, digest, instant
from omni.contracts.errors import InvalidInput
from omni.contracts.parsing import parse

# RFC 8785, appendix B: bits of a double and how it is written.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(("bits", "text"), NUMBERS)
def test_numbers_are_written_as_ecmascript_writes_them(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).decode() == text


@pytest.mark.req("CON-1")
def test_the_example_of_the_rfc() -> None:
    """RFC 8785, section 3.2.2: literals, escapes and numbers in one object."""
    source = r"""{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"""
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(json.loads(source)).decode() == expected


@pytest.mark.req("CON-1")
def test_members_are_sorted_by_utf_16() -> None:
    """RFC 8785, section 3.2.3: an emoji (two surrogates) comes before U+FB33."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    written = json.loads(canonical(dict.fromkeys(names, 0)), object_pairs_hook=list)
    order = [name for name, _ in written]
    assert order == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.req("CON-1")
def test_control_characters_are_escaped_and_nothing_else() -> None:
    assert canonical("\b\t\n\f\r\x1f\x7f\u2028").decode() == '"\\b\\t\\n\\f\\r\\u001f\x7f\u2028"'


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]"),
        ({}, "{}"),
        ("", '""'),
        (-0.0, "0"),
        (1.0, "1"),
        (True, "true"),
        (2**53, "9007199254740992"),
        (10**21, "1e+21"),
        (10**300, "1e+300"),
        (-(10**15), "-1000000000000000"),
        ({"b": [1, {"d": None, "c": 2}], "a": "x"}, '{"a":"x","b":[1,{"c":2,"d":null}]}'),
    ],
)
def test_values_have_one_spelling(value: Any, text: str) -> None:
    assert canonical(value).decode() == text


def test_a_name_of_the_product_is_written_as_text() -> None:
    class Colour(StrEnum):
        RED = "red"

    assert canonical({Colour.RED: Colour.RED}) == b'{"red":"red"}'


class Odd:
    def __repr__(self) -> str:
        return "Odd()"  # xdist wants the same test names in every worker


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (float("nan"), "number"),
        (float("inf"), "number"),
        (-float("inf"), "number"),
        (2**53 + 1, "number"),
        (-(2**53) - 1, "number"),
        (2**60, "number"),
        (10**400, "number"),
        ("\ud800", "json"),
        ({"\udfff": 1, "é": 2}, "json"),
        ({1: 2}, "json"),
        ((1, 2), "json"),
        ({1, 2}, "json"),
        (b"bytes", "json"),
        (Odd(), "json"),
        (LOOP, "max_depth"),
    ],
    ids=repr,
)
def test_what_has_no_exact_form_is_refused(value: Any, rule: str) -> None:
    """Refused with its place, by the canonical form and by the bounds alike."""
    for check in (canonical, check_bounds):
        with pytest.raises(InvalidInput) as caught:
            check({"a": [value]})
        assert caught.value.data["rule"] == rule
    assert rule == "max_depth" or caught.value.data["pointer"].startswith("/a/0")


@pytest.mark.req("CON-1")
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_reads_back_as_itself(value: float) -> None:
    written = canonical(value).decode()
    assert float(written) == value
    assert canonical(json.loads(written)).decode() == written


@pytest.mark.req("CON-1")
@given(st.integers())
def test_an_integer_is_exact_or_refused(value: int) -> None:
    """The text means the very same number, also for a reader that knows only doubles."""
    try:
        written = canonical(value)
    except InvalidInput:
        assert abs(value) > 2**53
        return
    assert float(written) == float(value)
    assert canonical(float(value)) == written


@pytest.mark.req("CON-1")
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers(0, 9)))
def test_the_order_of_members_does_not_matter(members: dict[str, int]) -> None:
    turned = dict(reversed(members.items()))
    assert canonical(members) == canonical(turned)
    assert digest(members) == digest(turned)
    assert json.loads(canonical(members)) == members


def test_digest_is_sha_256_of_the_canonical_form() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_moments_have_one_spelling() -> None:
    moment = datetime(2026, 1, 5, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    assert instant(moment) == instant(moment.astimezone(UTC)) == "2026-01-05T09:30:00.000000Z"
    assert instant(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"
    with pytest.raises(ValueError, match="time zone"):
        instant(datetime(2026, 1, 5))


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"a": 1, "a": 2}', "duplicate"),
        ('[{"b": {"a": 1, "a": 1}}]', "duplicate"),
        ("NaN", "number"),
        ("[Infinity]", "number"),
        ("-Infinity", "number"),
        ("1e999", "number"),
        ("9007199254740993", "number"),
        ("1" * 5000, "number"),
        ("[" * 100_000, "max_depth"),
        ('{"a":' * 65 + "1" + "}" * 65, "max_depth"),
        ("[" * 65 + "]" * 65, "max_depth"),
        ('"' + "a" * 1_100_000 + '"', "max_bytes"),
        ('"\\ud800"', "json"),
        ('"\\u0000"', "json"),
        (b'"\xff"', "syntax"),
        ("{'a': 1}", "syntax"),
        ("01", "syntax"),
        ("[1,]", "syntax"),
        ("", "syntax"),
        ("{} {}", "syntax"),
        ("\ufeff{}", "syntax"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_ambiguous_or_hostile_text_is_refused(text: str | bytes, rule: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert caught.value.data["rule"] == rule
    assert len(caught.value.message) < 500


def test_text_within_bounds_is_read() -> None:
    assert parse(b'{"a": [1, 2.5, "\xc3\xa9", null]}') == {"a": [1, 2.5, "é", None]}
    assert parse("[" * 64 + "]" * 64)
