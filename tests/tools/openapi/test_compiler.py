"""Documents become manifests: names, schemas, scopes and risk; what cannot be one is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.tools.executors.openapi.compiler import Compiled, manifests_of
from apps.tools.executors.openapi.document import open_document
from omni.contracts.errors import InvalidInput
from omni.contracts.foreign import ForeignSchema
from omni.contracts.validation import validate
from tests.tools.openapi.conftest import document, operation

pytestmark = [pytest.mark.req("TOOL-10"), pytest.mark.req("TOOL-1")]

URL = "https://api.example.org/v1"


def compiled(text: str, base_url: str = URL, credential: Any = None) -> Compiled:
    return manifests_of(open_document(text), base_url, credential)


def the_tool(spec: dict[str, Any], method: str = "get", path: str = "/x", **more: Any) -> Any:
    result = compiled(document({path: {method: spec}}, **more))
    assert result.skipped == []
    return result.tools[0]


def input_of(spec: dict[str, Any], method: str = "post", **more: Any) -> Any:
    return the_tool(spec, method, **more).manifest["input_schema"]


def body(schema: Any, media_type: str = "application/json") -> dict[str, Any]:
    return operation(requestBody={"required": True, "content": {media_type: {"schema": schema}}})


def test_an_operation_is_a_manifest() -> None:
    spec = operation(
        {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
        key="getPet", summary="Get a pet", description="By its number.", deprecated=True,
    )  # fmt: skip
    manifest = the_tool(spec, path="/pets/{petId}").manifest
    validate("tool-manifest", manifest)
    assert manifest["name"] == "pet_shop.get_pet"
    assert manifest["version"].startswith("1.2.0+")
    assert manifest["description"] == "Get a pet\n\nBy its number."
    assert manifest["scopes"] == ["network.egress:api.example.org"]
    assert manifest["deprecated"]
    assert manifest["input_schema"] == {
        "type": "object",
        "properties": {"petId": {"type": "integer"}, "X-Trace": {"type": "string"}},
        "additionalProperties": False,
        "required": ["petId"],
    }
    config = manifest["executor"]["config"]
    assert config == {
        "document_sha256": config["document_sha256"], "operation_id": "getPet", "base_url": URL,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("method", "capability", "idempotency", "risk"),
    [
        ("get", "read", "idempotent", "low"),
        ("head", "read", "idempotent", "low"),
        ("put", "external_write", "idempotent", "medium"),
        ("post", "external_write", "not_idempotent", "medium"),
        ("patch", "external_write", "not_idempotent", "medium"),
        ("delete", "external_write", "idempotent", "high"),
    ],
)
def test_effects_follow_the_method(
    method: str, capability: str, idempotency: str, risk: str
) -> None:
    manifest = the_tool(operation(), method).manifest
    assert manifest["capabilities"] == [capability, "network_egress"]
    assert (manifest["idempotency"], manifest["risk"]) == (idempotency, risk)


def test_a_declared_idempotency_key_makes_repeating_safe() -> None:
    key = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {}}
    manifest = the_tool(operation(key), "post").manifest
    assert manifest["idempotency"] == "keyed"
    assert manifest["input_schema"]["properties"] == {}


def test_names_are_unique_and_valid() -> None:
    paths = {
        "/a": {"get": operation(key="listAll")},
        "/b": {"get": operation(key="list_all")},
        "/c": {"get": operation(key="ПРИВЕТ"), "post": {"responses": {}}},
        "/d/{x}": {"get": operation({"name": "x", "in": "path", "schema": {}}, key="HTTPServer2")},
        "/e": {"get": operation(key="twice"), "put": operation(key="twice")},
    }
    tools = compiled(document(paths)).tools
    assert [tool.manifest["name"] for tool in tools] == [
        "pet_shop.list_all", "pet_shop.list_all_2", "pet_shop.operation", "pet_shop.post_c",
        "pet_shop.http_server2", "pet_shop.get_e", "pet_shop.put_e",
    ]  # fmt: skip
    assert [tool.operation.key for tool in tools][-2:] == ["GET /e", "PUT /e"]


def test_the_same_name_in_two_places_gives_two_arguments() -> None:
    spec = operation(
        {"name": "id", "in": "query", "schema": {"type": "string"}},
        {"name": "id", "in": "header", "schema": {"type": "integer"}},
        {"name": "body", "in": "query", "schema": {}},
        {"name": "filter[a]", "in": "query", "schema": {}},
    )
    names = list(the_tool(spec).manifest["input_schema"]["properties"])
    assert names == ["id", "id_header", "body_query", "filter_a"]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "nullable": True}, ["a", None], [1]),
        ({"type": "string", "enum": ["a"], "nullable": True}, ["a", None], ["b"]),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, [2], [1]),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": True}, [8], [9]),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": False}, [1], [0]),
        ({"allOf": [{"$ref": "#/components/schemas/P"}], "nullable": True}, [{"a": 1}, None], [2]),
        ({"$ref": "#/components/schemas/P", "description": "x"}, [{"a": 1}], [None]),
        ({"type": "integer", "maximum": 9223372036854775807}, [1], ["x"]),
        ({"type": "string", "pattern": "^(?=x)y$"}, ["anything"], [1]),
        ({"type": "string", "pattern": "^[a-z]+$"}, ["abc"], ["ABC"]),
        ({"type": "file"}, ["anything", 1], []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": "2"}, [[1]], [["x"]]),
        ({"type": "object", "required": True, "properties": {"a": {}}}, [{}], [1]),
        ({"type": "string", "format": "int64", "example": 5, "xml": {}}, ["x"], [5]),
    ],
)
def test_schemas_of_version_3_0_are_converted(schema: Any, good: list[Any], bad: list[Any]) -> None:
    components = {"schemas": {"P": {"type": "object", "properties": {"a": {"type": "integer"}}}}}
    shape = input_of(body(schema), version="3.0.3", components=components)
    checker = ForeignSchema(shape)
    for value in good:
        checker.validate({"body": value})
    for value in bad:
        with pytest.raises(InvalidInput):
            checker.validate({"body": value})


def test_schemas_of_version_3_1_are_kept() -> None:
    schema = {
        "type": ["string", "null"], "exclusiveMinimum": 3, "const": "a", "$id": "https://x.example/",
        "examples": ["a"],
    }  # fmt: skip
    written = input_of(body(schema))["properties"]["body"]
    assert written == {"type": ["string", "null"], "exclusiveMinimum": 3, "const": "a"}


def test_recursion_stays_a_reference() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}},
    }
    shape = input_of(
        body({"$ref": "#/components/schemas/Node"}), components={"schemas": {"Node": node}}
    )
    checker = ForeignSchema(shape)
    checker.validate({"body": {"next": {"next": {"n": 1}}}})
    with pytest.raises(InvalidInput):
        checker.validate({"body": {"next": {"next": {"n": "x"}}}})


def test_what_one_direction_hides_is_not_asked_for() -> None:
    schema = {
        "type": "object", "required": ["id", "name", "password"],
        "properties": {
            "id": {"type": "integer", "readOnly": True}, "name": {"type": "string"},
            "password": {"type": "string", "writeOnly": True},
        },
    }  # fmt: skip
    answers = {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}
    manifest = the_tool({**body(schema), "responses": answers}, "post").manifest
    assert manifest["input_schema"]["properties"]["body"]["required"] == ["name", "password"]
    assert manifest["output_schema"]["required"] == ["id", "name"]


def test_outputs_of_several_answers() -> None:
    spec = operation()
    spec["responses"] = {
        "200": {"content": {"application/json": {"schema": {"type": "object"}}}},
        "204": {"description": "nothing"},
        "206": {"content": {"image/png": {}}},
        "2XX": {"content": {"text/plain": {}}},
        "404": {"content": {"application/json": {"schema": {"type": "boolean"}}}},
        "default": {"content": {"application/json": {"schema": {"type": "integer"}}}},
    }
    kinds = [each["type"] for each in the_tool(spec).manifest["output_schema"]["anyOf"]]
    assert kinds == ["object", "null", "object", "string"]


def test_servers_of_the_document() -> None:
    servers = [
        {"url": "/relative"},
        {"url": "https://{region}.example.org/{v}/", "variables": {
            "region": {"default": "eu"}, "v": {"default": "v2"}}},
    ]  # fmt: skip
    own = {**operation(key="other"), "servers": [{"url": "https://other.example.net/"}]}
    text = document({"/x": {"get": operation(), "post": own}}, servers=servers)
    first, second = (each.manifest for each in compiled(text, "").tools)
    assert first["executor"]["config"]["base_url"] == "https://eu.example.org/v2"
    assert second["scopes"] == ["network.egress:other.example.net"]
    with pytest.raises(InvalidInput, match="no server"):
        compiled(document({"/x": {"get": operation()}}, servers=servers[:1]), "")


@pytest.mark.parametrize(
    "url", ["ftp://x", "https://u:p@example.org", "https://[::1]/", "https://a.example/?q=1", "x"]
)
def test_base_urls_that_cannot_be_called(url: str) -> None:
    with pytest.raises(InvalidInput):
        compiled(document({"/x": {"get": operation()}}), url)


SCHEMES = {
    "securitySchemes": {
        "key": {"type": "apiKey", "in": "query", "name": "api_key"},
        "app": {"type": "apiKey", "in": "header", "name": "X-App"},
        "login": {"type": "http", "scheme": "basic"},
        "odd": {"type": "mutualTLS"},
    }
}


def test_credentials_are_references_by_scheme() -> None:
    paths = {
        "/one": {"get": operation(key="one", security=[{"key": []}])},
        "/two": {"get": operation(key="two", security=[{"key": [], "app": []}, {"login": []}])},
        "/open": {"get": operation(key="open", security=[])},
        "/odd": {"get": operation(key="odd", security=[{"odd": []}])},
        "/away": {"get": {**operation(key="away", security=[{"key": []}]),
                          "servers": [{"url": "https://evil.example"}]}},
    }  # fmt: skip
    text = document(paths, components=SCHEMES)

    def used(credential: Any) -> dict[str, Any]:
        return {
            each.operation.key: each.manifest["executor"]["config"].get("credentials")
            for each in compiled(text, credential=credential).tools
        }

    assert used("secret:K") == {
        "one": {"key": "secret:K"}, "two": {"login": "secret:K"}, "open": None, "odd": None,
        "away": None,
    }  # fmt: skip
    both = {"key": "secret:K", "app": "secret:A"}
    assert used(both)["two"] == both
    assert set(used(None).values()) == {None}
    notes = {each.operation.key: each.notes for each in compiled(text).tools}
    assert "needs a credential" in notes["one"][0] and notes["open"] == ()


def test_a_parameter_that_the_credential_covers_is_no_argument() -> None:
    spec = operation({"name": "api_key", "in": "query", "required": True, "schema": {}})
    text = document({"/x": {"get": {**spec, "security": [{"key": []}]}}}, components=SCHEMES)
    with_key = compiled(text, credential="secret:K").tools[0].manifest["input_schema"]
    assert with_key["properties"] == {} and "required" not in with_key


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        ({"/x/{id}": {"get": operation()}}, "The path needs id"),
        ({"/x": {"get": operation({"name": "id", "in": "path", "schema": {}})}}, "no place for"),
        ({"/x": {"get": operation({"name": "a", "in": "body"})}}, "no name or place"),
        ({"/x": {"get": operation({"$ref": "#/nowhere"})}}, "which is not there"),
        ({"/x": {"get": operation({"$ref": "other.yaml#/x"})}}, "another document"),
        ({"/x": {"get": operation({"$ref": "#/paths/~1x/get/parameters/0"})}}, "refers to itself"),
        ({"/x": {"get": operation({"name": "Host", "in": "header"})}}, "header Host"),
        ({"/x": {"get": operation({"name": "a b", "in": "header"})}}, "cannot be set"),
        ({"/x": {"get": operation({"name": "q", "in": "query", "style": "label"})}}, "style label"),
        ({"/x": {"get": "nonsense"}}, "not an object"),
        ({"/x": "nonsense"}, "not an object"),
        ({"x": {"get": operation()}}, "not a proper path"),
        ({"/x\ny": {"get": operation()}}, "not a proper path"),
        ({"/x": {"post": body({"$ref": "#/nowhere"})}}, "which is not there"),
        ({"/x": {"post": body({"$ref": "http://other.example/schema"})}}, "another document"),
        ({"/" + "x" * 300: {"get": {"responses": {}}}}, "too long to name"),
    ],
)
def test_operations_that_cannot_be_tools_are_reported(paths: Any, reason: str) -> None:
    result = compiled(document({**paths, "/ok": {"get": operation(key="fine")}}))
    assert [tool.operation.key for tool in result.tools] == ["fine"]
    assert reason in result.skipped[0].reason


def test_a_schema_that_is_too_much_is_checked_in_part() -> None:
    names = [f"S{index}" for index in range(3000)]
    schemas = {
        name: {"type": "object", "properties": {
            "next": {"$ref": f"#/components/schemas/S{index + 1}"}, "text": {"type": "string"}}}
        for index, name in enumerate(names)
    } | {"S3000": {"type": "string"}}  # fmt: skip
    tool = the_tool(
        body({"$ref": "#/components/schemas/S0"}), "post", components={"schemas": schemas}
    )
    assert "checked in part" in tool.notes[0]
    checker = ForeignSchema(tool.manifest["input_schema"])
    checker.validate({"body": {"next": {"next": {"text": "x"}}}})
    with pytest.raises(InvalidInput):
        checker.validate({"body": {"next": {"text": 1}}})


def test_the_version_changes_with_the_document_and_its_place() -> None:
    one = document({"/x": {"get": operation()}})
    two = document({"/x": {"get": operation(summary="Other")}})
    versions = {
        compiled(text, url, credential).tools[0].manifest["version"]
        for text in (one, two)
        for url in (URL, "https://b.example")
        for credential in (None, "secret:K")
    }
    assert len(versions) == 8


@pytest.mark.parametrize(
    "text",
    [
        "[]", "null", "{}", '{"swagger": "2.0", "paths": {}}', '{"openapi": "4.0", "paths": {}}',
        '{"openapi": "3.1.0"}', '{"openapi": "3.1.0", "paths": []}', '{"openapi": 3, "paths": {}}',
    ],
)  # fmt: skip
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        open_document(text)


NONSENSE: list[Any] = [None, True, 0, -1.5, "", "x", [], {}, [{}], {"": {}}, {"$ref": "#"}]
PLACES = [
    ("info",), ("servers",), ("components",), ("security",), ("paths", "/x"),
    ("paths", "/x", "parameters"), ("paths", "/x", "post"), ("paths", "/x", "post", "parameters"),
    ("paths", "/x", "post", "requestBody"), ("paths", "/x", "post", "responses"),
    ("paths", "/x", "post", "security"), ("paths", "/x", "post", "tags"),
    ("paths", "/x", "post", "servers"), ("paths", "/x", "post", "operationId"),
    ("paths", "/x", "post", "requestBody", "content"),
    ("paths", "/x", "post", "requestBody", "content", "application/json"),
    ("paths", "/x", "post", "requestBody", "content", "application/json", "schema"),
    ("paths", "/x", "post", "parameters", 0), ("components", "securitySchemes"),
    ("components", "securitySchemes", "key"), ("paths", "/x", "post", "responses", "200"),
    ("paths", "/x", "post", "responses", "200", "content"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "/".join(map(str, place)))
def test_nonsense_in_any_place_does_no_harm(place: tuple[Any, ...]) -> None:
    spec = {
        **body({"type": "object"}),
        "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
        "security": [{"key": []}],
    }
    for value in NONSENSE:
        root: Any = json.loads(document({"/x": {"post": spec}}, components=SCHEMES))
        node = root
        for step in place[:-1]:
            node = node[step]
        node[place[-1]] = value
        result = compiled(json.dumps(root), credential="secret:K")
        for tool in result.tools:
            validate("tool-manifest", tool.manifest)


def test_keywords_with_nonsense_are_left_out() -> None:
    keywords = [
        "type", "enum", "format", "pattern", "required", "properties", "items", "allOf", "minimum",
        "maxLength", "multipleOf", "additionalProperties", "not", "nullable", "uniqueItems",
    ]  # fmt: skip
    for version in ("3.0.0", "3.1.0"):
        for keyword in keywords:
            for value in NONSENSE:
                if value == {"$ref": "#"}:
                    continue
                result = compiled(
                    document({"/x": {"post": body({keyword: value})}}, version=version)
                )
                assert len(result.tools) == 1, (keyword, value, result.skipped)
