"""Policies, rules and requests for the tests of decisions: by hand and by hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from apps.tools.policy import CallRequest

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
PAST, FUTURE = "2026-01-05T09:00:00.000000Z", "2026-01-06T09:00:00.000000Z"
TOOLS = ("filesystem.read_file", "filesystem.write_file", "http.get", "mail.send")
CAPABILITIES = ("read", "write", "external_write", "network_egress", "execute", "secrets")
SCOPES = ("filesystem.read", "filesystem.write", "network.egress:api.example.org")
HOSTS = ("api.example.org", "example.org", "evil.example")
RUN = "0b6f2c1e-6c1d-4f5a-9a3e-2f1d7c8b9a01"
PERSON = "c4a760a8-dbcf-4e14-9f39-645a8e8b2f11"


def rule(effect: str = "allow", name: str = "", **match: Any) -> dict[str, Any]:
    """A rule; `origin` and `expires_at` are its own, everything else is a condition."""
    own = {key: match.pop(key) for key in ("origin", "expires_at") if key in match}
    name = name or f"{effect}-{'-'.join(sorted(match)).replace('_', '-') or 'all'}"
    return {"id": name, "effect": effect, "match": match, "reason": f"Because of {name}.", **own}


def policy(*rules: dict[str, Any], default: str = "deny", name: str = "test") -> Any:
    return {"name": name, "version": "1.0.0", "default": default, "rules": list(rules)}


def argument(pointer: str, operator: str, *value: Any) -> list[dict[str, Any]]:
    made = {"pointer": pointer, "operator": operator}
    return [made | {"value": value[0]}] if value else [made]


def request(**changes: Any) -> CallRequest:
    given: dict[str, Any] = {
        "tool": "filesystem.read_file",
        "version": "1.2.0",
        "at": NOW,
        "scopes": ("filesystem.read",),
        "capabilities": ("read",),
        "risk": "low",
        "arguments": {"path": "notes.md"},
        "project": "apollo",
        "user": PERSON,
        "roles": ("operator",),
        "run_id": RUN,
    }
    return CallRequest(**given | changes)


def some(values: Any, **limits: Any) -> Any:
    return st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True, **limits)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10),
    st.floats(-10, 10),
    st.sampled_from(["", "notes.md", "etc/passwd", "../up", "https://example.org/a", "(a+)+$"]),
    st.lists(st.sampled_from(["notes.md", "example.org", 1, None]), max_size=3),
    st.dictionaries(st.sampled_from(["a", "b"]), st.integers(-5, 5), max_size=2),
)
OPERATORS = (
    "equals", "not_equals", "one_of", "prefix", "suffix", "contains", "matches", "under_path",
    "host_in", "less_than", "greater_than", "exists", "missing",
)  # fmt: skip
PREDICATES = st.fixed_dictionaries(
    {
        "pointer": st.sampled_from(["", "/path", "/n", "/list/0", "/list/01", "/a~1b", "/gone"]),
        "operator": st.sampled_from(OPERATORS),
    },
    optional={"value": VALUES},
)
MATCHES = st.fixed_dictionaries(
    {},
    optional={
        "tools": some([*TOOLS, "*", "filesystem.*", "*.get", "m*"]),
        "versions": st.sampled_from(["*", "1.2.0", "^1.2", "~1.1.0", ">=1.0.0 <2.0.0", "1..x"]),
        "scopes": some([*SCOPES, "filesystem", "network.egress:*.example.org"]),
        "capabilities": some(CAPABILITIES),
        "risks": some(["low", "medium", "high", "critical"]),
        "arguments": st.lists(PREDICATES, min_size=1, max_size=2),
        "agents": some(["*", "writer", "rev*"]),
        "projects": some(["apollo", "zeus"]),
        "users": some([PERSON, RUN]),
        "roles": some(["owner", "operator"]),
        "modes": some(["normal", "dry_run"]),
        "run_ids": some([RUN, PERSON]),
        "hosts": some([*HOSTS, "*.example.org"]),
        "spent_share": st.sampled_from([0, 0.5, 1]),
    },
)
ORIGINS = st.sampled_from(["file", "admin", "approval", "package", "default"])


def rules(effects: Any = ("deny", "ask", "allow")) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "id": st.sampled_from(["a", "b", "c", "d"]),
            "effect": st.sampled_from(effects),
            "match": MATCHES,
            "reason": st.sampled_from(["Because.", "So it is."]),
        },
        optional={
            "expires_at": st.sampled_from([PAST, FUTURE]),
            "origin": st.fixed_dictionaries({"kind": ORIGINS}),
        },
    )


POLICIES = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["one", "two"]),
            "version": st.sampled_from(["1.0.0", "1.1.0"]),
            "default": st.sampled_from(["deny", "ask"]),
            "rules": st.lists(rules(), max_size=6),
        }
    ),
    max_size=3,
)
REQUESTS = st.builds(
    CallRequest,
    tool=st.sampled_from(TOOLS),
    version=st.sampled_from(["1.0.0", "1.2.0", "2.0.0-beta.1"]),
    at=st.just(NOW),
    scopes=some(SCOPES).map(tuple),
    capabilities=some(CAPABILITIES).map(tuple),
    risk=st.sampled_from(["low", "high", "critical"]),
    arguments=st.fixed_dictionaries({}, optional={"path": VALUES, "n": VALUES, "list": VALUES}),
    agent=st.sampled_from(["", "writer", "reviewer"]),
    project=st.sampled_from(["apollo", "zeus"]),
    user=st.sampled_from(["", PERSON]),
    roles=st.sampled_from([(), ("operator",)]),
    mode=st.sampled_from(["normal", "analysis_only", "dry_run"]),
    run_id=st.just(RUN),
    hosts=st.lists(st.sampled_from(HOSTS), max_size=2, unique=True).map(tuple),
    spent_share=st.sampled_from([0.0, 0.6, 1.0]),
)
