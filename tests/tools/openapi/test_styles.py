"""How values stand in paths, queries, headers and cookies: as RFC 6570 says, and readable back."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tools.executors.openapi.operations import Parameter
from apps.tools.executors.openapi.parameters import (
    in_cookie,
    in_header,
    in_path,
    in_query,
    text_of,
)

pytestmark = pytest.mark.req("TOOL-10")

LIST = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def parameter(place: str, style: str, explode: bool, **more: Any) -> Parameter:
    return Parameter("color", "color", place, style, explode, True, {}, **more)


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("simple", False, "blue", "blue"),
        ("simple", False, LIST, "blue,black,brown"),
        ("simple", True, LIST, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("label", False, "blue", ".blue"),
        ("label", False, LIST, ".blue,black,brown"),
        ("label", True, LIST, ".blue.black.brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, "", ";color"),
        ("matrix", False, LIST, ";color=blue,black,brown"),
        ("matrix", True, LIST, ";color=blue;color=black;color=brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("simple", False, "a/b?c#d e%", "a%2Fb%3Fc%23d%20e%25"),
        ("simple", False, True, "true"),
        ("simple", False, 1.5, "1.5"),
        ("simple", False, "ü", "%C3%BC"),
    ],
)
def test_paths(style: str, explode: bool, value: Any, written: str) -> None:
    assert in_path(parameter("path", style, explode), value) == written


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("form", True, "blue", "color=blue"),
        ("form", True, "", "color="),
        ("form", True, LIST, "color=blue&color=black&color=brown"),
        ("form", False, LIST, "color=blue,black,brown"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("spaceDelimited", False, LIST, "color=blue%20black%20brown"),
        ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, LIST, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", True, LIST, "color=blue&color=black&color=brown"),
        ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": [1, 2]}}, "color%5Ba%5D%5Bb%5D=1&color%5Ba%5D%5Bb%5D=2"),
        ("form", True, [], ""),
        ("form", True, {}, ""),
        ("form", True, "a&b=c+d e#", "color=a%26b%3Dc%2Bd%20e%23"),
        ("form", True, None, "color="),
    ],
)
def test_queries(style: str, explode: bool, value: Any, written: str) -> None:
    pairs = in_query(parameter("query", style, explode), value)
    assert "&".join(f"{name}={text}" for name, text in pairs) == written


def test_reserved_characters_stay_where_they_cannot_start_another_value() -> None:
    one = parameter("query", "form", True, allow_reserved=True)
    assert in_query(one, "a/b:c?d=e&f#g+h") == [("color", "a/b:c?d%3De%26f%23g%2Bh")]


@pytest.mark.parametrize(
    ("explode", "value", "written"),
    [
        (False, "blue", "blue"),
        (False, LIST, "blue,black,brown"),
        (False, OBJECT, "R,100,G,200,B,150"),
        (True, OBJECT, "R=100,G=200,B=150"),
        (False, "a b", "a b"),
    ],
)
def test_headers(explode: bool, value: Any, written: str) -> None:
    assert in_header(parameter("header", "simple", explode), value) == written


def test_cookies() -> None:
    assert in_cookie(parameter("cookie", "form", False), LIST) == [("color", "blue,black,brown")]
    assert in_cookie(parameter("cookie", "form", True), LIST)[1] == ("color", "black")
    assert in_cookie(parameter("cookie", "form", True), "a;b") == [("color", "a%3Bb")]


def test_a_parameter_with_a_media_type_is_one_text() -> None:
    one = parameter("query", "form", True, media_type="application/json")
    ((name, text),) = in_query(one, {"a": [1, "é"]})
    assert (name, json.loads(unquote(text))) == ("color", {"a": [1, "é"]})


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
scalars = texts | st.integers() | st.booleans()
lists = st.lists(scalars, min_size=1, max_size=5)
objects = st.dictionaries(texts.filter(bool), scalars, min_size=1, max_size=5)


def read_list(text: str, separator: str) -> list[str]:
    return [unquote(part) for part in text.split(separator)]


def read_pairs(parts: list[str]) -> dict[str, str]:
    return {unquote(k): unquote(v) for k, v in (part.split("=", 1) for part in parts)}


def as_text(value: Any) -> Any:
    if isinstance(value, list):
        return [text_of(each) for each in value]
    return {key: text_of(each) for key, each in value.items()}


@given(lists)
def test_lists_come_back_from_every_style(value: list[Any]) -> None:
    want = as_text(value)
    for style, start, separator in (("simple", 0, ","), ("matrix", len(";color="), ",")):
        written = in_path(parameter("path", style, False), value)
        if any(want):
            assert read_list(written[start:], separator) == want
    assert read_list(in_path(parameter("path", "label", False), value)[1:], ",") == want
    pieces = in_path(parameter("path", "matrix", True), value).split(";color=")[1:]
    assert [unquote(piece) for piece in pieces] == want
    for style, separator in (("form", ","), ("spaceDelimited", "%20"), ("pipeDelimited", "%7C")):
        ((_, text),) = in_query(parameter("query", style, False), value)
        # A blank within a value looks like the separator of the style that joins with blanks.
        if not any(unquote(separator) in each for each in want) or style == "form":
            assert read_list(text, separator) == want
        assert [unquote(t) for _, t in in_query(parameter("query", style, True), value)] == want


@given(objects)
def test_objects_come_back_from_every_style(value: dict[str, Any]) -> None:
    want = as_text(value)
    assert read_pairs(in_path(parameter("path", "simple", True), value).split(",")) == want
    assert read_pairs(in_path(parameter("path", "matrix", True), value).split(";")[1:]) == want
    flat = read_list(in_path(parameter("path", "simple", False), value), ",")
    assert dict(zip(flat[::2], flat[1::2], strict=True)) == want
    pairs = in_query(parameter("query", "form", True), value)
    assert {unquote(name): unquote(text) for name, text in pairs} == want
    deep = in_query(parameter("query", "deepObject", True), value)
    assert {unquote(name)[6:-1]: unquote(text) for name, text in deep} == want


@given(scalars | lists | objects, st.sampled_from(["simple", "label", "matrix"]), st.booleans())
def test_no_value_leaves_its_place(value: Any, style: str, explode: bool) -> None:
    """Whatever an argument holds, it starts no other segment, query, fragment or parameter."""
    assert not set("/?#[]@ \\") & set(in_path(parameter("path", style, explode), value))
    for name, text in in_query(parameter("query", "form", explode), value):
        assert not set("&=#? /") & set(name + text)
