"""Writes the generated part of the documents: `python -m omni.contracts.document`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from omni.contracts import catalogue
from omni.contracts.description import Description, Shape, describe

FOLDER = catalogue.ROOT.parents[1] / "docs"
MARK = "<!-- Generated below by `python -m omni.contracts.document`; edit the schemas instead. -->"


def render(file: str) -> str:
    """The text of a document: its written head, then what the schemas say."""
    head = (FOLDER / file).read_text().partition(MARK)[0].rstrip()
    return f"{head}\n\n{MARK}\n\n{_GENERATED[file]().rstrip()}\n"


def main() -> int:
    for file in _GENERATED:
        (FOLDER / file).write_text(render(file))
        print(f"docs/{file} is written.")
    return 0


def _events() -> str:
    kinds = [f"payloads/{kind}" for kind in catalogue.event_kinds() if kind != "system_event"]
    systems = [f"payloads/system/{name}" for name in catalogue.system_event_names()]
    lines = ["## The envelope", "", *_body(describe("run-event"))]
    lines += ["## Kinds", ""]
    for name in kinds:
        lines += _event(describe(name))
    lines += ["## Names of system events", ""]
    for name in systems:
        lines += _event(describe(name))
    return "\n".join(lines)


def _event(description: Description) -> list[str]:
    title = description.name.rpartition("/")[2]
    lines = [f"### `{title}`", "", description.meaning, ""]
    lines += [f"**Written:** {description.written}", ""]
    return [*lines, *_body(description)]


def _schemas() -> str:
    names = [name for name in catalogue.names() if not name.startswith("payloads/")]
    names.sort(key=lambda name: (name in catalogue.SUPPORTING, name))
    lines = ["## All schemas", "", "| schema | what it describes |", "| --- | --- |"]
    for name in names:
        lines.append(f"| [`{name}`](#{name}) | {describe(name).meaning} |")
    payloads = len(catalogue.names()) - len(names)
    lines += ["", f"The {payloads} payloads of events are in [events.md](events.md).", ""]
    for name in names:
        description = describe(name)
        lines += [f"## {name}", "", f"**{description.title}.** {description.meaning}", ""]
        file = f"`omni/contracts/v{description.version}/{name}.schema.json`"
        lines += [f"{file}, served at `/api/schemas/v{description.version}/{name}`", ""]
        lines += _body(description)
    return "\n".join(lines)


def _body(description: Description) -> Iterator[str]:
    for shape in description.shapes:
        yield from _shape(shape)
    if description.example:
        yield from ("```json", description.example, "```", "")


def _shape(shape: Shape) -> Iterable[str]:
    if shape.name:
        limits = f"; {shape.limits}" if shape.limits else ""
        kind = "" if shape.fields else f" ({_cell(shape.kind)}{limits})"
        yield from (f"**`{shape.name}`**{kind}: {shape.meaning}", "")
    if not shape.fields:
        return
    yield from ("| field | type | required | meaning |", "| --- | --- | --- | --- |")
    for field in shape.fields:
        limits = f"; {field.limits}" if field.limits else ""
        required = "yes" if field.required else ""
        yield f"| `{field.name}` | {_cell(field.kind)}{limits} | {required} | {field.meaning} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_GENERATED = {"events.md": _events, "schemas.md": _schemas}

if __name__ == "__main__":
    sys.exit(main())
