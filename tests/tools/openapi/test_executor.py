"""Calls against a real server: what arrives, what comes back, and how it fails."""

from __future__ import annotations

import base64
import json
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qs

import pytest

from apps.tools.executors.base import ToolError
from tests.tools.openapi.conftest import Api, Tools, document, operation

pytestmark = pytest.mark.req("TOOL-10")


def one(
    api: Api, spec: dict[str, Any], method: str = "get", path: str = "/x", **more: Any
) -> Tools:
    options = more.pop("options", {})
    return Tools(api, document({path: {method: spec}}, **more), **options)


def query(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {}, **more}


def with_body(media_type: str, schema: Any, **offer: Any) -> dict[str, Any]:
    return operation(requestBody={"content": {media_type: {"schema": schema, **offer}}})


def answering(schema: Any, media_type: str = "application/json", status: str = "200") -> Any:
    spec = operation()
    spec["responses"] = {status: {"description": "", "content": {media_type: {"schema": schema}}}}
    return spec


def fails(tools: Tools, arguments: Any = None) -> ToolError:
    with pytest.raises(ToolError) as failure:
        tools.call("op", arguments)
    return failure.value


def test_every_place_of_a_parameter(api: Api) -> None:
    spec = operation(
        {
            "name": "id",
            "in": "path",
            "schema": {"type": "array"},
            "style": "matrix",
            "explode": True,
        },
        query("tags", style="pipeDelimited", explode=False),
        query("where", style="deepObject"),
        query("deep", content={"application/json": {"schema": {"type": "object"}}}),
        {"name": "X-Ids", "in": "header", "schema": {}},
        {"name": "session", "in": "cookie", "schema": {}},
        query("unused"),
    )
    outcome = one(api, spec, path="/things/{id}/parts").call(
        "op",
        {
            "id": [3, "a/b"], "tags": ["x", "y z"], "where": {"size": "big"}, "deep": {"a": [1]},
            "X-Ids": [1, 2], "session": "s;1",
        },
    )  # fmt: skip
    path, _, sent = api.last.target.partition("?")
    assert path == "/things/;id=3;id=a%2Fb/parts"
    assert parse_qs(sent) == {"tags": ["x|y z"], "where[size]": ["big"], "deep": ['{"a":[1]}']}
    assert (api.last.headers["x-ids"], api.last.headers["cookie"]) == ("1,2", "session=s%3B1")
    assert api.last.headers["accept"].startswith("application/json")
    assert (outcome.output, outcome.data["status"]) == ({"ok": True}, 200)


@pytest.mark.parametrize("value", ["..", ".", "%2e%2e", ""])
def test_an_argument_does_not_climb_out_of_its_path(api: Api, value: str) -> None:
    """`DELETE /users/{id}` without an id, or with `..`, would be another operation."""
    spec = operation({"name": "id", "in": "path", "schema": {"type": "string"}})
    tools = one(api, spec, "delete", "/users/{id}")
    if value.startswith("%"):
        tools.call("op", {"id": value})
        assert api.last.target == "/users/%252e%252e"
    else:
        assert fails(tools, {"id": value}).kind == "invalid_input"
        assert api.requests == []


def test_json_bodies(api: Api) -> None:
    tools = one(api, with_body("application/json", {"type": "object"}), "post")
    tools.call("op", {"body": {"a": [1, None, "ü"]}})
    assert json.loads(api.last.body) == {"a": [1, None, "ü"]}
    assert api.last.headers["content-type"] == "application/json"
    one(api, with_body("application/vnd.api+json", {}), "post").call("op", {"body": [1]})
    assert api.last.headers["content-type"] == "application/vnd.api+json"


def test_form_bodies(api: Api) -> None:
    encoding = {"deep": {"style": "deepObject"}, "list": {"style": "form", "explode": False}}
    spec = with_body("application/x-www-form-urlencoded", {"type": "object"}, encoding=encoding)
    body = {"a": "x y&z", "many": [1, 2], "deep": {"k": "v"}, "list": [1, 2], "object": {"b": 1}}
    one(api, spec, "post").call("op", {"body": body})
    assert parse_qs(api.last.body.decode()) == {
        "a": ["x y&z"], "many": ["1", "2"], "deep[k]": ["v"], "list": ["1,2"],
        "object": ['{"b":1}'],
    }  # fmt: skip


def test_multipart_bodies(api: Api) -> None:
    schema = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
            'odd"\r\nname': {"type": "string"},
        },
    }
    encoding = {"file": {"contentType": "image/png"}}
    spec = with_body("multipart/form-data", schema, encoding=encoding)
    raw = bytes(range(256))
    packed = base64.b64encode(raw).decode()
    body = {"file": packed, "files": [packed], 'odd"\r\nname': "text", "facts": {"a": 1}}
    one(api, spec, "post", version="3.0.0").call("op", {"body": body})
    kind = api.last.headers["content-type"]
    message: Any = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + api.last.body)
    parts = [(p.get_content_type(), p.get_payload(decode=True)) for p in message.get_payload()]
    assert parts == [
        ("image/png", raw), ("application/octet-stream", raw), ("text/plain", b"text"),
        ("application/json", b'{"a":1}'),
    ]  # fmt: skip
    assert b'name="odd%22%0D%0Aname"' in api.last.body


def test_text_and_byte_bodies(api: Api) -> None:
    one(api, with_body("text/plain", {"type": "string"}), "post").call("op", {"body": "é"})
    assert (api.last.body.decode(), api.last.headers["content-type"]) == ("é", "text/plain")
    one(api, with_body("application/xml", {"type": "object"}), "put").call("op", {"body": "<a/>"})
    assert api.last.body == b"<a/>"
    tools = one(api, with_body("image/*", {}), "post")
    tools.call("op", {"body": base64.b64encode(b"\x00\xff").decode()})
    assert api.last.body == b"\x00\xff"
    assert api.last.headers["content-type"] == "application/octet-stream"
    assert fails(tools, {"body": "not base64!"}).kind == "invalid_input"


SCHEMES = {
    "securitySchemes": {
        "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
        "query": {"type": "apiKey", "in": "query", "name": "api key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "basic": {"type": "http", "scheme": "Basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
        "oauth": {"type": "oauth2", "flows": {}},
        "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://x.example"},
    }
}
SECRET = 'user:p@ss "word"&1'


def secured(api: Api, *schemes: str) -> Tools:
    spec = {**operation(), "security": [{name: [] for name in schemes}]}
    credential = dict.fromkeys(schemes, "secret:KEY")
    tools = one(api, spec, components=SCHEMES, options={"credential": credential})
    tools.secrets["secret:KEY"] = SECRET
    return tools


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("scheme", list(SCHEMES["securitySchemes"]))
def test_credentials_go_to_their_place_and_nowhere_else(api: Api, scheme: str) -> None:
    tools = secured(api, scheme)
    # This server repeats everything that it was sent.
    api.says("/x", {"echo": SECRET, "basic": base64.b64encode(SECRET.encode()).decode()})
    outcome = tools.call("op")
    assert tools.asked == ["secret:KEY"]
    sent, target = api.last.headers, api.last.target
    basic = "Basic " + base64.b64encode(SECRET.encode()).decode()
    assert {
        "header": sent.get("x-api-key") == SECRET,
        "query": target == "/x?api%20key=user%3Ap%40ss%20%22word%22%261",
        "cookie": sent.get("cookie") == "sid=user%3Ap%40ss%20%22word%22%261",
        "basic": sent.get("authorization") == basic,
    }.get(scheme, sent.get("authorization") == f"Bearer {SECRET}")
    assert "p@ss" not in json.dumps(outcome.output) and SECRET not in json.dumps(tools.manifests)
    if scheme == "basic":
        assert basic[6:] not in repr(outcome)
    api.says("/x", {"detail": f"{SECRET} is wrong"}, status=401)
    error = fails(tools)
    assert SECRET not in f"{error!r}{error.data}{error.message}"
    assert (error.kind, error.data["status"]) == ("tool_failed", 401)
    assert "credential" in error.remedy


def test_several_credentials_together(api: Api) -> None:
    secured(api, "header", "cookie").call("op")
    assert {"x-api-key", "cookie"} <= set(api.last.headers)


def test_a_credential_stays_at_its_origin(api: Api) -> None:
    other = Api()
    try:
        tools = secured(api, "header")
        tools.executor._places = lambda: frozenset({api.place, other.place})
        api.says("/x", {}, status=302, Location=f"{other.url}/y")
        tools.call("op")
        assert api.last.headers["x-api-key"] == SECRET
        assert "x-api-key" not in other.last.headers
    finally:
        other.stop()


def test_a_credential_that_a_header_cannot_carry_is_not_repeated(api: Api) -> None:
    tools = secured(api, "header")
    tools.secrets["secret:KEY"] = "line one\r\nX-Evil: 1"
    error = fails(tools)
    assert error.kind == "permission_denied" and "line one" not in str(error)
    assert api.requests == []


def test_answers_are_checked(api: Api) -> None:
    tools = one(api, answering({"type": "object", "required": ["id"]}))
    api.says("/x", {"id": 1})
    assert tools.call("op").output == {"id": 1}
    api.says("/x", {"name": "x"})
    error = fails(tools)
    assert error.kind == "invalid_output" and error.data["violations"]
    for wrong in (b"not json", b"", b"[NaN]", b"[" * 100_000, b'"\xff"'):
        api.says("/x", wrong)
        assert fails(tools).kind == "invalid_output"


def test_the_declared_shape_of_each_status_counts(api: Api) -> None:
    spec = answering({"type": "object"})
    spec["responses"]["201"] = {"content": {"application/json": {"schema": {"type": "integer"}}}}
    tools = one(api, spec)
    api.says("/x", 5, status=201)
    assert tools.call("op").output == 5
    api.says("/x", {}, status=201)
    assert fails(tools).kind == "invalid_output"


def test_text_bytes_and_nothing(api: Api) -> None:
    api.says("/x", "é".encode("latin-1"), Content_Type="text/plain; charset=latin-1")
    assert one(api, answering({}, "text/plain")).call("op").output == "é"
    api.says("/x", b"\x89PNG", Content_Type="image/png")
    outcome = one(api, answering({}, "image/png")).call("op")
    assert outcome.output == {"file": "op.png", "media_type": "image/png", "bytes": 4}
    assert [(f.name, f.data, f.media_type) for f in outcome.files] == [
        ("op.png", b"\x89PNG", "image/png")
    ]
    spec = operation()
    spec["responses"] = {"204": {"description": "done"}}
    api.says("/x", b"", status=204)
    assert one(api, spec, "delete").call("op").output is None
    assert one(api, operation(), "head").call("op").output is None


@pytest.mark.req("TOOL-6")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "tool_failed"), (404, "tool_failed"), (408, "timeout"), (429, "rate_limited"),
        (500, "tool_failed"), (503, "unavailable"),
    ],
)  # fmt: skip
def test_errors_of_the_api(api: Api, status: int, kind: str) -> None:
    api.says("/x", {"title": "No"}, status=status, Retry_After="7")
    error = fails(one(api, operation()))
    assert (error.kind, error.data["problem"]) == (kind, {"title": "No"})
    assert error.data["retry_after"] == 7


@pytest.mark.parametrize("problem", [b"x" * 100_000, b'{"a":' + b"1" * 9000, b"\x00\xff<html>"])
def test_what_an_error_says_is_bounded(api: Api, problem: bytes) -> None:
    api.says("/x", problem, status=500)
    error = fails(one(api, operation()))
    assert len(json.dumps(error.data)) < 30_000


def test_hosts_must_be_approved(api: Api) -> None:
    tools = one(api, operation())
    tools.hosts = ("other.example",)
    assert fails(tools).kind == "permission_denied"
    tools = one(api, operation())
    tools.executor._places = frozenset
    assert fails(tools).kind == "permission_denied"
    assert api.requests == []


def test_a_redirect_inside_is_refused(api: Api) -> None:
    api.says("/x", {}, status=302, Location="http://127.0.0.1:1/")
    assert fails(one(api, operation())).kind == "permission_denied"


def test_what_was_sent_once_is_not_called_harmless(api: Api) -> None:
    """A broken answer to a write means that nobody knows; to a read it means try again."""
    api.says("/x", b"x" * 99, Content_Encoding="gzip")
    assert fails(one(api, operation(), "post")).kind == "outcome_unknown"
    assert fails(one(api, operation(), "get")).kind == "tool_failed"


def test_an_idempotency_key_is_the_call(api: Api) -> None:
    header = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {}}
    one(api, operation(header), "post").call("op", {})
    assert api.last.headers["idempotency-key"] == "call-1"


def test_a_cancelled_run_sends_nothing(api: Api) -> None:
    tools = one(api, operation())
    tools.run.stop = True
    assert fails(tools).kind == "cancelled"
    assert api.requests == []


def test_an_answer_that_is_too_large(api: Api) -> None:
    api.says("/x", b'"' + b"x" * 2_000_000 + b'"')
    assert fails(one(api, operation())).kind == "limit_exceeded"


def test_a_document_that_is_gone_or_changed(api: Api) -> None:
    tools = one(api, operation())
    tools.text += " "
    assert fails(tools).kind == "quarantined"
    tools.sha256 = "0" * 64
    assert fails(tools).kind == "misconfigured"


def test_a_header_cannot_start_another(api: Api) -> None:
    tools = one(api, operation({"name": "X-A", "in": "header", "schema": {}}))
    assert fails(tools, {"X-A": "1\r\nX-Evil: 2"}).kind == "permission_denied"
    assert api.requests == []
