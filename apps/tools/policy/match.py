"""Whether a rule matches a request; if not, which of its conditions does not hold.

Where it cannot be told whether a condition holds, a rule that denies or asks matches and a rule
that allows does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from apps.tools.policy import predicates
from apps.tools.policy.names import host_matches, name_matches, scope_covers, scopes_meet
from apps.tools.policy.predicates import Answer
from apps.tools.policy.request import CallRequest
from apps.tools.policy.versions import satisfies
from omni.contracts.canonical import instant
from omni.contracts.types.policy import PolicyMatch, PolicyRule

Condition = Callable[[PolicyMatch, CallRequest, bool], Answer]


def mismatch(rule: PolicyRule, request: CallRequest) -> str | None:
    """Why the rule does not count here, in a sentence; None when it matches."""
    if "expires_at" in rule and rule["expires_at"] <= instant(request.at):
        return "It has expired."
    allows = rule["effect"] == "allow"
    match = rule["match"]
    unsure = ""
    for name, holds in _CONDITIONS.items():
        if name not in match:
            continue
        answer = holds(match, request, allows)
        if answer is False:
            return _told(name, match, request)
        if answer is None and allows:
            unsure = f"Nobody can tell whether its condition on {_WORDS[name]} holds."
    return unsure or None


def _told(name: str, match: PolicyMatch, request: CallRequest) -> str:
    if name == "arguments":
        for each in match["arguments"]:
            if predicates.holds(each, request.arguments) is False:
                return f"The argument {each['pointer'] or '/'} does not meet its condition."
    if name == "spent_share":
        return f"Less than {match['spent_share']:.0%} of every budget is spent."
    return f"It is about other {_WORDS[name]}."


def _tools(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return any(name_matches(request.tool, each) for each in match["tools"])


def _versions(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    try:
        return satisfies(request.version, match["versions"])
    except ValueError:
        return None


def _scopes(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    covers = scope_covers if allows else scopes_meet
    return any(covers(mine, theirs) for mine in match["scopes"] for theirs in request.scopes)


def _capabilities(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return _share(match["capabilities"], request.capabilities)


def _risks(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.risk in match["risks"]


def _arguments(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    answers = [predicates.holds(each, request.arguments) for each in match["arguments"]]
    return False if False in answers else None if None in answers else True


def _agents(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return any(name_matches(request.agent, each) for each in match["agents"])


def _projects(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.project in match["projects"]


def _users(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.user in match["users"]


def _roles(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return _share(match["roles"], request.roles)


def _modes(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.mode in match["modes"]


def _run_ids(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.run_id in match["run_ids"]


def _hosts(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    """One forbidden host is enough to refuse; to allow, every host must be among these."""
    known = [any(host_matches(host, each) for each in match["hosts"]) for host in request.hosts]
    return bool(known) and all(known) if allows else any(known)


def _spent_share(match: PolicyMatch, request: CallRequest, allows: bool) -> Answer:
    return request.spent_share >= match["spent_share"]


def _share(some: Iterable[str], others: Iterable[str]) -> bool:
    return not set(some).isdisjoint(others)


_CONDITIONS: dict[str, Condition] = {
    "tools": _tools,
    "versions": _versions,
    "scopes": _scopes,
    "capabilities": _capabilities,
    "risks": _risks,
    "agents": _agents,
    "projects": _projects,
    "users": _users,
    "roles": _roles,
    "modes": _modes,
    "run_ids": _run_ids,
    "hosts": _hosts,
    "spent_share": _spent_share,
    # The dearest last: most rules are settled before it.
    "arguments": _arguments,
}
_WORDS = {
    "tools": "tools",
    "versions": "versions",
    "scopes": "scopes",
    "capabilities": "classes of effect",
    "risks": "levels of risk",
    "arguments": "arguments",
    "agents": "agents",
    "projects": "projects",
    "users": "people",
    "roles": "roles",
    "modes": "modes",
    "run_ids": "runs",
    "hosts": "hosts",
    "spent_share": "spending",
}
