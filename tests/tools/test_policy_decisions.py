"""Decisions, one by one: what wins, what matches, what asks, and what the reason says."""

from __future__ import annotations

from typing import Any

import pytest

from apps.tools.policy import decide, explain
from apps.tools.policy.check import check_policy
from apps.tools.policy.predicates import holds
from apps.tools.policy.record import answer_rule
from apps.tools.policy.versions import newest, satisfies
from omni.contracts.errors import InvalidInput
from tests.tools.policies import (
    FUTURE,
    NOW,
    PAST,
    PERSON,
    RUN,
    argument,
    policy,
    request,
    rule,
)

READ = rule("allow", "reads", capabilities=["read"])
WRITE = {
    "tool": "filesystem.write_file",
    "capabilities": ("write",),
    "scopes": ("filesystem.write",),
}


def effect(*rules: dict[str, Any], default: str = "deny", **changes: Any) -> str:
    return decide([policy(*rules, default=default)], request(**changes)).effect


@pytest.mark.req("POL-1")
def test_without_a_policy_everything_is_denied() -> None:
    decision = decide([], request())
    assert (decision.effect, decision.policy, decision.rule) == ("deny", None, None)
    assert "No policy" in decision.reason


@pytest.mark.req("POL-1")
def test_what_no_rule_matches_gets_the_strictest_default() -> None:
    lax, strict = policy(default="ask", name="lax"), policy(default="deny", name="strict")
    assert decide([lax], request()).effect == "ask"
    decision = decide([lax, strict], request())
    assert (decision.effect, decision.policy, decision.rule) == ("deny", "strict", None)


@pytest.mark.req("POL-1")
def test_deny_beats_ask_and_ask_beats_allow_across_policies() -> None:
    ask, deny = rule("ask", "look"), rule("deny", "never")
    assert effect(READ) == "allow"
    assert effect(READ, ask) == "ask"
    assert effect(READ, ask, deny) == "deny"
    decision = decide([policy(READ, ask), policy(deny, name="other")], request())
    assert (decision.policy, decision.policy_version, decision.rule) == ("other", "1.0.0", "never")
    assert decision.reason == "Because of never."


@pytest.mark.req("POL-1")
@pytest.mark.parametrize(
    ("match", "fits", "not_fits"),
    [
        ({"tools": ["filesystem.*"]}, {}, {"tool": "http.get"}),
        ({"tools": ["*.read_*"]}, {}, {"tool": "filesystem.list"}),
        ({"versions": "^1.1"}, {}, {"version": "2.0.0"}),
        ({"scopes": ["filesystem"]}, {}, {"scopes": ("network.egress",)}),
        ({"capabilities": ["read"]}, {}, {"capabilities": ("execute",)}),
        ({"risks": ["low"]}, {}, {"risk": "high"}),
        ({"agents": ["rev*"]}, {"agent": "reviewer"}, {"agent": "writer"}),
        ({"projects": ["apollo"]}, {}, {"project": "zeus"}),
        ({"users": [PERSON]}, {}, {"user": ""}),
        ({"roles": ["operator"]}, {}, {"roles": ()}),
        ({"modes": ["normal"]}, {}, {"mode": "dry_run"}),
        ({"run_ids": [RUN]}, {}, {"run_id": PERSON}),
        ({"hosts": ["*.example.org"]}, {"hosts": ("a.example.org",)}, {"hosts": ("example.org",)}),
        ({"spent_share": 0.8}, {"spent_share": 0.8}, {"spent_share": 0.79}),
        ({"arguments": argument("/path", "suffix", ".md")}, {}, {"arguments": {"path": "a.py"}}),
    ],
)
def test_each_condition_matches_and_says_when_it_does_not(
    match: dict[str, Any], fits: dict[str, Any], not_fits: dict[str, Any]
) -> None:
    deny = rule("deny", "it", **match)
    assert effect(deny, READ, **fits) == "deny"
    decision = explain([policy(deny)], request(**not_fits))
    assert [each.matched for each in decision.considered] == [False]
    assert decision.considered[0].why


@pytest.mark.req("POL-1")
def test_a_rule_counts_until_it_expires() -> None:
    assert effect(READ, rule("deny", "short", expires_at=FUTURE)) == "deny"
    decision = decide([policy(READ, rule("deny", "short", expires_at=PAST))], request())
    assert decision.effect == "allow"
    assert [each.why for each in decision.considered if not each.matched] == ["It has expired."]


@pytest.mark.req("POL-1")
def test_to_allow_every_host_must_be_known_and_to_deny_one_is_enough() -> None:
    both = {"hosts": ("good.example", "evil.example"), "capabilities": ("network_egress",)}
    assert effect(rule("allow", "g", hosts=["good.example"]), **both) == "deny"
    assert effect(rule("allow", "g", hosts=["good.example", "evil.example"]), **both) == "allow"
    everything = rule("allow", "all", tools=["filesystem.*"])
    assert effect(everything, rule("deny", "e", hosts=["evil.example"]), **both) == "deny"


@pytest.mark.req("POL-1")
@pytest.mark.parametrize(
    ("operator", "value", "found", "answer"),
    [
        ("equals", 1, 1.0, True),
        ("equals", 1, True, False),
        ("equals", {"a": [1]}, {"a": [1]}, True),
        ("not_equals", "x", "y", True),
        ("one_of", ["x", "y"], "y", True),
        ("one_of", "xyz", "y", None),
        ("prefix", "etc/", "etc/passwd", True),
        ("prefix", "etc/", 7, None),
        ("contains", "b", "abc", True),
        ("contains", "b", ["a", "b"], True),
        ("matches", "^[a-z]+$", "abc", True),
        ("matches", "(?=look)", "look", None),
        ("matches", "(a+)+$", "a" * 50_000 + "!", False),
        ("less_than", 10, 9.5, True),
        ("greater_than", 10, "11", None),
        ("greater_than", 0, True, None),
        ("under_path", "src", "src/a/b.py", True),
        ("under_path", "src", "./src//x/../a.py", True),
        ("under_path", "src", "src", True),
        ("under_path", "src", "source/a.py", False),
        ("under_path", "src", "src/../etc/passwd", False),
        ("under_path", "src", "../src/a.py", None),
        ("under_path", "src", "/src/a.py", None),
        ("under_path", "src", "src\\..\\etc", None),
        ("under_path", ["docs", "src"], "src/a.py", True),
        ("under_path", "/srv", "//srv/a", True),
        ("host_in", ["example.org"], "https://example.org/a?b", True),
        ("host_in", ["example.org"], "https://EXAMPLE.org.:8443/", True),
        ("host_in", ["example.org"], "https://example.org@evil.example/", False),
        ("host_in", ["example.org"], "https://evil.example\\@example.org/", None),
        ("host_in", ["example.org"], "https://example.org.evil.example/", False),
        ("host_in", ["*.example.org"], "api.example.org", True),
        ("host_in", ["*.example.org"], "badexample.org", False),
        ("host_in", "example.org", "example.org", True),
        ("host_in", ["example.org"], "https://[::1]/", None),
        ("host_in", ["example.org"], "https://ехample.org/", None),
    ],
)
def test_conditions_on_arguments(operator: str, value: Any, found: Any, answer: Any) -> None:
    """None means that nobody can tell; a long text and a nasty pattern take no time."""
    predicate: Any = argument("/it", operator, value)[0]
    assert holds(predicate, {"it": found}) is answer


@pytest.mark.req("POL-1")
def test_pointers_into_arguments() -> None:
    arguments = {"a/b": {"~": [10, {"c": None}]}}
    exists: Any = argument("/a~1b/~0/1/c", "exists")[0]
    assert holds(exists, arguments) is True
    for gone in ("/a~1b/~0/2", "/a~1b/~0/01", "/a~1b/~0/-", "/x", "/a~1b/~0/1/c/d"):
        missing: Any = argument(gone, "missing")[0]
        assert holds(missing, arguments) is True, gone


@pytest.mark.req("POL-1")
def test_what_cannot_be_told_never_loosens() -> None:
    """A number where a text is expected: rules that refuse match, rules that allow do not."""
    odd = {"arguments": {"path": 7}}
    condition = argument("/path", "prefix", "src/")
    assert effect(rule("allow", "a", arguments=condition), **odd) == "deny"
    assert effect(READ, rule("deny", "d", arguments=condition), **odd) == "deny"
    assert effect(READ, rule("ask", "q", arguments=condition), **odd) == "ask"
    branch = argument("/branch", "not_equals", "main")
    assert effect(READ, rule("deny", "b", arguments=branch)) == "deny"
    assert effect(READ, rule("deny", "m", arguments=argument("/gone", "equals", 1))) == "allow"


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (WRITE, "writes"),
        ({"scopes": ("calendar.delete",)}, "writes"),
        ({"capabilities": ("read", "external_write")}, "changes something elsewhere"),
        ({"capabilities": ("read", "network_egress")}, "reaches the network"),
        ({"hosts": ("example.org",)}, "reaches the network"),
        ({"capabilities": ("read", "execute")}, "runs a program"),
    ],
)
def test_writes_and_egress_ask_unless_a_rule_allows_them_explicitly(
    call: dict[str, Any], words: str
) -> None:
    everything = rule("allow", "everything")
    decision = decide([policy(everything)], request(**call))
    assert (decision.effect, decision.policy) == ("ask", None)
    assert words in decision.reason
    name = request(**call).tool
    assert effect(everything, rule("allow", "named", tools=[name]), **call) == "allow"
    assert effect(everything, rule("allow", "star", tools=["*"]), **call) == "ask"


@pytest.mark.req("POL-2")
def test_an_allow_reaches_only_the_effects_that_it_names() -> None:
    both = WRITE | {"capabilities": ("write", "network_egress")}
    writes = rule("allow", "w", capabilities=["write"])
    egress = rule("allow", "e", capabilities=["network_egress"])
    assert effect(writes, **both) == "ask"
    assert effect(writes, egress, **both) == "allow"
    assert effect(rule("allow", "s", scopes=["filesystem.write"]), **WRITE) == "allow"


@pytest.mark.req("POL-2")
def test_an_ask_by_default_yields_to_an_explicit_allow_and_any_other_ask_does_not() -> None:
    by_default = rule("ask", "d", capabilities=["write"], origin={"kind": "default"})
    wanted = rule("ask", "w", capabilities=["write"])
    named = rule("allow", "n", tools=["filesystem.write_file"])
    assert effect(by_default, **WRITE) == "ask"
    assert effect(by_default, rule("allow", "all"), **WRITE) == "ask"
    assert effect(by_default, named, **WRITE) == "allow"
    assert effect(wanted, named, **WRITE) == "ask"


@pytest.mark.req("POL-4")
def test_a_persons_answer_answers_every_ask_and_no_deny() -> None:
    given: dict[str, Any] = {"approval_id": PERSON, "run_id": RUN, "by": "system", "at": NOW}
    answer: Any = answer_rule(tool="filesystem.write_file", effect="allow", **given)
    ask, deny = rule("ask", "look", capabilities=["write"]), rule("deny", "no")
    decision = decide([policy(ask, answer)], request(**WRITE))
    assert (decision.effect, decision.rule) == ("allow", f"answer-{PERSON}")
    assert "already" in next(each.why for each in decision.considered if each.rule == "look")
    assert effect(ask, answer, deny, **WRITE) == "deny"
    assert effect(ask, answer, **WRITE | {"tool": "filesystem.delete"}) == "ask"
    for_run: Any = answer_rule(
        tool="filesystem.write_file", effect="allow", this_run_only=True, **given
    )
    assert effect(ask, for_run, **WRITE) == "allow"
    assert effect(ask, for_run, **WRITE, run_id=PERSON) == "ask"


@pytest.mark.req("POL-1")
def test_why_lists_every_rule() -> None:
    other = rule("deny", "other", tools=["mail.send"])
    rules = policy(READ, rule("ask", "md", arguments=argument("/path", "suffix", ".txt")), other)
    assert [each.rule for each in decide([rules], request()).considered] == ["reads", "md"]
    whole = explain([rules], request())
    assert [(each.rule, each.matched) for each in whole.considered] == [
        ("reads", True),
        ("md", False),
        ("other", False),
    ]
    assert "/path" in whole.considered[1].why


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        ("1.2.3", "*", True),
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "1.2", True),
        ("1.3.0", "1.2", False),
        ("1.9.0", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("2.0.0-rc.1", "^1.2", False),
        ("0.3.0", "^0.2.1", False),
        ("0.2.9", "^0.2.1", True),
        ("0.0.4", "^0.0.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.9.9", "~1", True),
        ("1.5.0", ">=1.0.0 <2.0.0", True),
        ("2.0.0", ">=1.0.0 <2.0.0", False),
        ("1.0.0-alpha", ">=1.0.0", False),
        ("1.0.0-alpha.2", ">1.0.0-alpha.1", True),
        ("1.0.0-alpha.10", ">1.0.0-alpha.9", True),
        ("1.0.0-alpha.beta", ">1.0.0-alpha.1", True),
        ("1.0.0+build", "=1.0.0", True),
    ],
)
def test_ranges_of_versions(version: str, wanted: str, answer: bool) -> None:
    assert satisfies(version, wanted) is answer


def test_the_newest_version_is_a_release_if_there_is_one() -> None:
    assert newest(["1.9.0", "1.10.0", "2.0.0-rc.1"]) == "1.10.0"
    assert newest(["2.0.0-rc.1", "2.0.0-rc.2"]) == "2.0.0-rc.2"
    assert newest(["1.0.0"], "^2") is None


@pytest.mark.req("POL-1")
@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (rule("allow", "a", versions="1..x"), "/rules/0/match/versions"),
        (rule("deny", "a", arguments=argument("/p", "matches", "(?=x)")), "/rules/0/match"),
        (rule("deny", "a", arguments=argument("/p", "matches", "(")), "/rules/0/match"),
        (rule("deny", "a", arguments=argument("/p", "less_than", "7")), "/rules/0/match"),
        (rule("deny", "a", arguments=argument("/p", "one_of", 7)), "/rules/0/match"),
        (rule("deny", "a", arguments=argument("/p", "equals")), "/rules/0/match"),
        (rule("deny", "a", arguments=argument("/p", "host_in", [])), "/rules/0/match"),
    ],
)
def test_a_rule_that_could_never_be_told_is_refused_at_its_place(
    bad: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_policy(policy(bad))
    assert caught.value.data["pointer"].startswith(place)


def test_two_rules_with_one_id_are_refused() -> None:
    with pytest.raises(InvalidInput, match="another rule"):
        check_policy(policy(READ, READ))
