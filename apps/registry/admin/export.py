"""Audit entries as a file: secrets masked, and harmless when opened in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from apps.registry.models import AuditEntry
from omni.telemetry.redaction import redact

# Built in memory, so that a broken export is an error page and not half a file.
LIMIT = 20_000
COLUMNS = (
    "id",
    "at",
    "action",
    "allowed",
    "actor",
    "project",
    "target_type",
    "target_id",
    "target",
    "data",
    "ip_address",
    "request_id",
)
# What spreadsheets take for a formula; the wide forms are turned into plain ones by some.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_csv(entries: Iterable[AuditEntry]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in _rows(entries):
        row["data"] = json.dumps(row["data"], cls=DjangoJSONEncoder, ensure_ascii=False)
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return out.getvalue()


def as_jsonl(entries: Iterable[AuditEntry]) -> str:
    lines = (json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False) for row in _rows(entries))
    return "".join(f"{line}\n" for line in lines)


def _rows(entries: Iterable[AuditEntry]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield {
            "id": entry.pk,
            "at": entry.at.isoformat(),
            "action": entry.action,
            "allowed": entry.allowed,
            "actor": redact(entry.actor_label),
            "project": entry.project.slug if entry.project else "",
            "target_type": entry.target_type,
            "target_id": entry.target_id,
            "target": redact(entry.target_label),
            "data": redact(entry.data),
            "ip_address": entry.ip_address or "",
            "request_id": redact(entry.request_id),
        }


def _cell(value: Any) -> str:
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
