"""Redaction: registered secrets, token shapes and telling names never get through."""

from __future__ import annotations

import base64
import datetime
import html
import json
import re
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from omni.config import Config
from omni.telemetry import redaction
from omni.telemetry.redaction import MASK, redact, redact_text, register_config, register_secret
from omni.telemetry.shapes import is_sensitive

pytestmark = pytest.mark.req("TEL-3", "SEC-3")

SECRET = 'p@ss "wörd"/+\\7&é'


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redaction, "known", redaction.KnownSecrets())
    yield


def test_a_registered_secret_disappears_from_every_kind_of_value() -> None:
    """Keys, values, bytes, numbers, objects and exceptions; what surrounds it stays."""
    register_secret(SECRET)
    register_secret("123456789")

    class Thing:
        def __repr__(self) -> str:
            return f"<Thing {SECRET}>"

    value = {
        "text": f"before {SECRET} after",
        f"key {SECRET}": 1,
        "bytes": f"x{SECRET}y".encode(),
        "list": [SECRET, (SECRET, {SECRET})],
        "number": 123456789,
        "thing": Thing(),
        "error": ValueError(f"bad {SECRET}"),
        "path": Path("/srv") / "123456789",
    }
    clean = redact(value)
    assert SECRET not in repr(clean) and "wörd" not in repr(clean)
    assert "123456789" not in repr(clean)
    assert clean["text"] == f"before {MASK} after"
    assert clean["bytes"] == b"x" + MASK.encode() + b"y"
    assert clean["thing"] == f"<Thing {MASK}>"
    assert clean["error"] == f"ValueError: bad {MASK}"


@pytest.mark.parametrize(
    "spell",
    [
        lambda s: urllib.parse.quote(s, safe=""),
        lambda s: urllib.parse.quote(s),
        urllib.parse.quote_plus,
        lambda s: re.sub("%..", lambda m: m[0].lower(), urllib.parse.quote(s, safe="")),
        json.dumps,
        lambda s: json.dumps(s, ensure_ascii=False),
        lambda s: json.dumps(json.dumps({"a": s})),
        html.escape,
        repr,
        lambda s: repr(s.encode()),
        lambda s: s.encode().hex(),
        lambda s: base64.b64encode(s.encode()).decode(),
        lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
        lambda s: base64.b64encode(f"user:{s}".encode()).decode(),
        lambda s: base64.b64encode(f"{s}\n".encode()).decode(),
        lambda s: base64.b64encode(f"{{'key': '{s}'}}".encode()).decode(),
    ],
)
def test_spellings_of_a_secret_are_caught_too(spell: Any) -> None:
    """Url-encoded, JSON-escaped, quoted, hexadecimal, and base64 at any alignment."""
    spelled = spell(SECRET)
    assert redact_text(f"<{spelled}>") == f"<{spelled}>", "nothing is known yet"
    register_secret(SECRET)
    clean = redact_text(f"<{spelled}>")
    assert MASK in clean
    assert spelled[len(spelled) // 3 : 2 * len(spelled) // 3] not in clean


def test_secrets_that_overlap_or_contain_one_another_leave_no_rest() -> None:
    for secret in ("cdefgh", "abcdefghijkl", "abcdef", "ijklmnop"):
        register_secret(secret)
    assert redact_text("<abcdefghijkl>") == f"<{MASK}>"
    assert redact_text("<abcdefghijklmnop>") == f"<{MASK}>"
    assert redact_text("<abcdefx>") == f"<{MASK}x>"


def test_each_line_of_a_long_secret_is_a_secret() -> None:
    register_secret("first line of the note\nsecond line of the note")
    assert redact_text("log: second line of the note") == f"log: {MASK}"


@pytest.mark.parametrize("value", ["", "abc", "12345", "   ab   ", "[redacted]", "redacted"])
def test_values_that_would_blank_out_ordinary_text_are_not_taken(value: str) -> None:
    """The caller is told why, and text stays as it was."""
    assert register_secret(value)
    assert redact_text("abc 12345 ab [redacted]") == "abc 12345 ab [redacted]"


@pytest.mark.parametrize(
    "text",
    [
        "omni_Zk3vQ0pX8s-Lr7_tUwYb2nM4cD6eF1gH",
        "sk-proj-abcdefghijklmnop1234",
        "sk-ant-api03-AbCdEfGhIjKlMnOp-_123",
        "xai-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "glpat-abcdefghij0123456789",
        "hf_abcdefghijklmnopqrstuvwxyz",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefghijkl",
        "AIzaSyA-abcdefghijklmnopqrstuvwxyz012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEow cut off",
    ],
)
def test_token_shapes_are_replaced_whole(text: str) -> None:
    for around in ("{}", "key={} and more", "('{}',)", "<{}>"):
        assert text not in redact_text(around.format(text))
    assert redact_text(f"a {text}").strip() == f"a {MASK}"


@pytest.mark.parametrize(
    ("text", "hidden", "kept"),
    [
        ("Authorization: Bearer abc.def-123", "abc.def", "Authorization:"),
        ("{'Authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpw", "'}"),
        ("curl -H 'X-Api-Key: k1k2k3'", "k1k2k3", "curl"),
        ("sent Bearer dG9rZW4tdmFsdWU and left", "dG9r", "and left"),
        ("Cookie: omni_session=abc; b=c", "abc", "Cookie"),
        ("Set-Cookie: omni_session=abc; Path=/", "abc", "Set-Cookie"),
        ("postgresql://omni:s3cr3t@db:5432/omni", "s3cr3t", "@db:5432/omni"),
        ("redis://:p%40ss@127.0.0.1:6379/0", "p%40ss", "@127.0.0.1:6379/0"),
        ("amqp://u:p@ss@host//", "p@ss", "@host"),
        ("connect password=hunter2 host=db", "hunter2", "host=db"),
        ("db_password='hun ter2' host=db", "hun ter2", "host=db"),
        ('{"password": "hunter2", "user": "ada"}', "hunter2", '"user": "ada"'),
        ('{"api_key":"a\\"b", "n": 1}', 'a\\"b', '"n": 1'),
        ('{\\"client_secret\\": \\"hunter2\\", \\"n\\": 1}', "hunter2", "n\\"),
        ("Config(token='hunter2', port=1)", "hunter2", "port=1"),
        ("user:\n  password: hunter2\n  name: x", "hunter2", "name: x"),
        ("GET /x?access_token=hunter2&b=1", "hunter2", "b=1"),
    ],
)
def test_credentials_in_text_lose_their_value_and_keep_their_context(
    text: str, hidden: str, kept: str
) -> None:
    clean = redact_text(text)
    assert hidden not in clean
    assert kept in clean
    assert MASK in clean


@pytest.mark.parametrize(
    "text",
    [
        "The password must have at least 10 characters.",
        "This password: too short, please choose another",
        "prompt_tokens=512 completion_tokens=17 token_count: 529",
        "next_token=abc&page_token=def",
        "Basic Authentication is not supported; bearer tokens are",
        "omni_http_request_duration_seconds_bucket",
        "see https://example.org:8443/a@b and mail ada@example.org",
        "task-1234567890 risk-assessment-of-the-platform desk-lamp",
        "AKIA is a prefix, eyJ too, and sk- as well",
        "2026-01-02T03:04:05Z run 0b7c3c1e-8f7c-4f57-9d0f-6f1f7c1f2a3b finished",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "password", "Password1", "new_password2", "db_password", "passwd", "secret", "clientSecret",
        "client_secret", "token", "access_token", "refreshToken", "csrfmiddlewaretoken",
        "csrftoken", "api_key", "apikey", "X-Api-Key", "Authorization", "Proxy-Authorization",
        "cookie", "Set-Cookie", "cookies", "private_key", "secret_key", "aws_secret_access_key",
        "sessionid", "credentials", "passphrase", "password_hash", "secret_value",
    ],
)  # fmt: skip
def test_fields_with_telling_names_are_hidden_whatever_they_hold(name: str) -> None:
    assert is_sensitive(name)
    for value in ("x", b"x", 42, ["x"], {"a": "x"}):
        assert redact({name: value}) == {name: MASK}
    for nothing in (None, "", True, False):
        assert redact({name: nothing}) == {name: nothing}


@pytest.mark.parametrize(
    "name",
    [
        "tokens", "token_count", "prompt_tokens", "max_tokens", "total_tokens", "next_token",
        "page_token", "eos_token", "token_id", "token_prefix", "token_type", "secret_name",
        "secrets", "password_changed_at", "key", "keys", "author", "cookie_policy", "tokenizer",
        "secretary", "primary_key", "keyboard",
    ],
)  # fmt: skip
def test_fields_with_harmless_names_are_shown(name: str) -> None:
    assert redact({name: "value"}) == {name: "value"}


def test_it_is_bounded_and_survives_hostile_values() -> None:
    """Cycles, depth, size, and objects that raise: a short answer, never an exception."""

    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    loop: list[Any] = []
    loop.append(loop)
    assert "too deep" in repr(redact(loop))
    assert len(redact(list(range(100_000)))) <= redaction.MAX_ITEMS + 1
    assert len(redact("x" * 10_000_000)) <= redaction.MAX_TEXT
    assert redact(Hostile()) == "[unreadable]"
    assert redact({"a": {b"\xff\xfe": "\ud800"}})
    wide: Any = "x"
    for _ in range(11):
        wide = [wide] * 10
    started = time.perf_counter()
    redact(wide)
    assert time.perf_counter() - started < 60


def test_a_secret_across_the_cut_does_not_leave_its_first_half() -> None:
    register_secret("LongSecret" * 10)
    clean = redact("x" * (redaction.MAX_TEXT - 90) + "LongSecret" * 10 + "y" * 100)
    assert "LongSecret" not in clean
    assert clean.endswith("…[cut]")


@pytest.mark.parametrize(
    "text",
    [
        "password" * 8000, "password=" * 7000, "eyJ-" * 16000, "a" * 65536, "://" * 20000,
        "a://b:" * 10000, "bearer " * 9000, '"password":"' * 5000, "\\" * 65536, "sk-" * 20000,
        "-----BEGIN PRIVATE KEY-----" * 2000, "omni_" * 13000, " " * 65536, "a:" * 30000,
        'password="' + '\\"' * 30000, "x.-" * 20000,
    ],
)  # fmt: skip
def test_no_text_makes_it_slow(text: str) -> None:
    """64 KiB built to make a pattern backtrack still takes a fraction of a second."""
    started = time.process_time()
    redact_text(text)
    assert time.process_time() - started < 1.0


def test_secrets_of_the_settings_and_key_files_are_known_from_the_start(tmp_path: Path) -> None:
    """Passwords inside URLs, the metrics token and the signing key."""
    from omni.keyring import django_secret

    config = Config(
        home=tmp_path,
        database_url="postgresql://omni:pw%2Fdatabase@db/omni",
        redis_url="redis://:pw-of-redis@db",
        metrics_token="token-of-metrics",
    )
    signing = django_secret(config)
    register_config(config)
    said = f"pw/database pw%2Fdatabase pw-of-redis token-of-metrics {signing} omni db"
    assert redact_text(said) == " ".join([MASK] * 5 + ["omni", "db"])


_secret = st.text(min_size=6, max_size=40).map(str.strip).filter(lambda s: len(s) >= 6)
_scalar = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
_plain = st.one_of(
    _scalar, st.uuids(), st.dates(), st.just(datetime.datetime.now(datetime.UTC)), st.decimals()
)


def _structures(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(max_size=12), inner, max_size=4)
        ),
        max_leaves=12,
    )


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _texts(key)
                yield from _texts(item)
        case list() | tuple() | set():
            for item in value:
                yield from _texts(item)
        case bytes():
            yield value.decode("utf-8", "surrogateescape")
        case _:
            yield str(value)


@given(secret=_secret, data=st.data())
def test_no_registered_secret_survives_in_any_structure(secret: str, data: st.DataObject) -> None:
    """Whatever it is embedded in, and however deep."""
    redaction.known.clear()
    if register_secret(secret) is not None:
        return
    leaf = st.tuples(st.text(max_size=8), st.text(max_size=8)).map(lambda p: p[0] + secret + p[1])
    value = data.draw(_structures(leaf | leaf.map(lambda s: s.encode("utf-8", "replace")) | _plain))
    clean = redact(value)
    assert not [text for text in _texts(clean) if secret in text]


@given(secrets=st.lists(_secret, max_size=3), value=_structures(_plain | _secret))
@example(secrets=["ed]abc"], value="ed]abcabc")
@example(secrets=["secret-one", "[redac"], value="secret-one")
def test_redacting_twice_changes_nothing_more(secrets: list[str], value: Any) -> None:
    redaction.known.clear()
    for secret in secrets:
        register_secret(secret)
    once = redact([value, secrets])
    assert repr(redact(once)) == repr(once)


@given(words=st.lists(st.sampled_from(["the", "run", "of", "agent", "7", "steps", "–", "ok", "ü"])))
def test_text_without_secrets_is_unchanged(words: list[str]) -> None:
    redaction.known.clear()
    register_secret("entirely-different-value")
    text = " ".join(words)
    assert redact({"text": text, "list": words}) == {"text": text, "list": words}


def test_ids_and_times_keep_their_type() -> None:
    for value in (uuid.uuid4(), datetime.datetime.now(datetime.UTC), 1.5, 7, Path("/srv/x")):
        assert redact(value) is value
