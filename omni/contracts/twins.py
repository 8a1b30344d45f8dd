"""How a schema becomes a Python type: objects are TypedDicts, everything else an alias."""

from __future__ import annotations

import json
import keyword
import textwrap
from dataclasses import dataclass, field
from typing import Any

from omni.contracts import catalogue

WIDTH = 100
SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}


@dataclass(frozen=True, slots=True)
class Declaration:
    """One class or alias of a generated module."""

    name: str
    text: str
    is_class: bool
    uses: frozenset[str]


@dataclass
class Twins:
    """Translates one schema after the other and remembers what each declaration needs."""

    _found: list[Declaration] = field(default_factory=list)
    _uses: set[str] = field(default_factory=set)

    def declarations(self, name: str) -> list[Declaration]:
        """Every type that the schema of this name declares."""
        self._found = []
        document = catalogue.schema(name)
        self._schema = name
        for key, node in document.get("$defs", {}).items():
            self._declare(def_name(name, key), node)
        if name != "shapes":
            self._declare(root_name(name), document)
        return self._found

    def _declare(self, name: str, node: dict[str, Any]) -> None:
        outer, self._uses = self._uses, set()
        if "properties" in node:
            text = self._typed_dict(name, node)
        else:
            text = f"{_alias(name, self._expression(node, name))}\n"
        is_class = text.startswith("class ")
        self._found.append(Declaration(name, text, is_class, frozenset(self._uses)))
        self._uses = outer

    def _expression(self, node: dict[str, Any], hint: str) -> str:
        if "$ref" in node:
            return self._used(reference_name(self._schema, node["$ref"]))
        if "properties" in node:
            name = node.get("title", hint)
            self._declare(name, node)
            return self._used(name)
        if "enum" in node:
            return f"Literal[{', '.join(_literal(value) for value in node['enum'])}]"
        if "const" in node:
            return f"Literal[{_literal(node['const'])}]"
        for choice in ("oneOf", "anyOf"):
            if choice in node:
                return self._union(node[choice], hint)
        return self._plain(node, hint)

    def _plain(self, node: dict[str, Any], hint: str) -> str:
        kinds = node.get("type")
        if kinds is None:
            return "Any"
        if isinstance(kinds, list):
            return self._union([{**node, "type": kind} for kind in kinds], hint)
        if kinds == "array" and "items" in node:
            return f"list[{self._expression(node['items'], f'{hint}Item')}]"
        if kinds == "object" and isinstance(node.get("additionalProperties"), dict):
            return f"dict[str, {self._expression(node['additionalProperties'], f'{hint}Value')}]"
        return SCALARS[kinds]

    def _union(self, branches: list[dict[str, Any]], hint: str) -> str:
        options = [
            self._expression(branch, f"{hint}{index}") for index, branch in enumerate(branches, 1)
        ]
        return " | ".join(dict.fromkeys(options))

    def _used(self, name: str) -> str:
        self._uses.add(name)
        return name

    def _typed_dict(self, name: str, node: dict[str, Any]) -> str:
        rows = []
        for key, value in node["properties"].items():
            annotation = self._expression(value, name + camel(key))
            if key not in node.get("required", ()):
                annotation = f"NotRequired[{annotation}]"
            rows.append((key, annotation, self._described(value)))
        doc = node.get("description", "")
        if any(keyword.iskeyword(key) or not key.isidentifier() for key, _, _ in rows):
            return _functional(name, rows, doc)
        return _class(name, rows, doc)

    def _described(self, node: dict[str, Any]) -> str:
        """The description here, or else of what it refers to."""
        own = node.get("description")
        if own or "$ref" not in node:
            return str(own or "")
        base, _, path = node["$ref"].partition("#/$defs/")
        target = catalogue.schema(base.rpartition(":")[2] or self._schema)
        return str((target["$defs"][path] if path else target).get("description", ""))


def camel(name: str) -> str:
    words = name.replace("-", "_").replace("/", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def root_name(name: str) -> str:
    """`tool-manifest` → ToolManifest, `payloads/system/timer_set` → TimerSetPayload."""
    if name.startswith("payloads/"):
        return f"{camel(name.rpartition('/')[2])}Payload"
    return camel(name)


def def_name(schema: str, key: str) -> str:
    """A definition is called by its title if it has one, else after its schema and key."""
    title = catalogue.schema(schema)["$defs"][key].get("title")
    if title:
        return str(title)
    return camel(key) if schema == "shapes" else root_name(schema) + camel(key)


def reference_name(schema: str, reference: str) -> str:
    base, _, path = reference.partition("#/$defs/")
    target = base.rpartition(":")[2] or schema
    return def_name(target, path) if path else root_name(target)


def _literal(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _alias(name: str, expression: str) -> str:
    line = f"{name}: TypeAlias = {expression}"
    if len(line) <= WIDTH:
        return line
    if expression.startswith("Literal["):
        rows = "".join(f"    {each},\n" for each in expression[8:-1].split(", "))
        return f"{name}: TypeAlias = Literal[\n{rows}]"
    if len(expression) > WIDTH - 4:
        expression = "\n    | ".join(expression.split(" | "))
    return f"{name}: TypeAlias = (\n    {expression}\n)"


def _class(name: str, rows: list[tuple[str, str, str]], doc: str) -> str:
    lines = [f"class {name}(TypedDict):", *_docstring(doc)]
    if rows:
        lines.append("")
    for key, annotation, text in rows:
        lines += [*_field(key, annotation), *_docstring(text)]
    return "\n".join(lines) + "\n"


def _field(key: str, annotation: str) -> list[str]:
    line = f"    {key}: {annotation}"
    if len(line) <= WIDTH:
        return [line]
    opening, _, rest = annotation.partition("Literal[")
    inner, _, closing = rest.partition("]")
    if not opening:
        values = [f"        {each}," for each in inner.split(", ")]
        return [f"    {key}: Literal[", *values, f"    ]{closing}"]
    value = f"        Literal[{inner}]{closing.removesuffix(']')}"
    if len(value) <= WIDTH and opening == "NotRequired[":
        return [f"    {key}: NotRequired[", value, "    ]"]
    values = [f"            {each}," for each in inner.split(", ")]
    return [f"    {key}: {opening}", "        Literal[", *values, "        ]", f"    {closing}"]


def _functional(name: str, rows: list[tuple[str, str, str]], doc: str) -> str:
    """For member names that Python cannot write as attributes, such as `from`."""
    lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
    lines += [f'        "{key}": {annotation},' for key, annotation, _ in rows]
    lines += ["    },", ")"]
    fields = [f"- {key}: {text}" for key, _, text in rows]
    described = "\n".join([doc, "", *fields])
    return "\n".join([*lines, f'"""{described}\n"""']) + "\n"


def _docstring(text: str) -> list[str]:
    if not text:
        return []
    single = f'    """{text}"""'
    if len(single) <= WIDTH:
        return [single]
    rows = textwrap.wrap(text, WIDTH - 8)
    return [f'    """{rows[0]}', *(f"    {row}" for row in rows[1:]), '    """']
