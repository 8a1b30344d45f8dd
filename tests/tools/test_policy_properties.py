"""What holds for every policy and every request, whatever they are."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.tools.policy import CallRequest, decide, explain
from apps.tools.policy.record import decided_payload
from omni.contracts.validation import validate, validate_payload
from tests.tools.policies import POLICIES, REQUESTS, policy, rules

STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
every = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def strictness(policies: Any, request: CallRequest) -> int:
    return STRICTNESS[decide(policies, request).effect]


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS)
def test_every_valid_policy_gives_a_decision_that_can_be_recorded(
    policies: Any, request: CallRequest
) -> None:
    for each in policies:
        validate("policy", each)
    decision = decide(policies, request)
    payload = decided_payload(decision, request, call_id="c1", call_hash="0" * 64)
    validate_payload("system_event", "policy_decided", payload)
    assert decision.reason


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS, st.randoms())
def test_the_order_of_rules_and_policies_has_no_meaning(
    policies: Any, request: CallRequest, order: random.Random
) -> None:
    shuffled = [
        each | {"rules": order.sample(each["rules"], len(each["rules"]))} for each in policies
    ]
    order.shuffle(shuffled)
    assert decide(shuffled, request) == decide(policies, request)


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS, rules(("deny",)))
def test_adding_a_deny_never_loosens(policies: Any, request: CallRequest, deny: Any) -> None:
    more = [*policies, policy(deny)]
    assert strictness(more, request) >= strictness(policies, request)


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS, rules(("ask",)))
def test_adding_an_ask_never_turns_an_answer_into_an_allow(
    policies: Any, request: CallRequest, ask: Any
) -> None:
    more = [*policies, policy(ask)]
    before, after = decide(policies, request).effect, decide(more, request).effect
    assert after != "allow" or before == "allow"
    assert before != "deny" or after != "allow"


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS, rules(("allow",)))
def test_adding_an_allow_never_lifts_a_deny_nor_tightens(
    policies: Any, request: CallRequest, allow: Any
) -> None:
    if not policies:
        return
    before = decide(policies, request)
    allow["id"] = "fresh"
    wider = [policies[0] | {"rules": [*policies[0]["rules"], allow]}, *policies[1:]]
    after = decide(wider, request)
    assert STRICTNESS[after.effect] <= STRICTNESS[before.effect]
    if before.effect == "deny" and before.rule is not None:
        assert after.effect == "deny"


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS)
def test_without_a_matching_allow_nothing_is_allowed(policies: Any, request: CallRequest) -> None:
    decision = decide(policies, request)
    matched = [each for each in decision.considered if each.matched]
    if not any(each.effect == "allow" for each in matched):
        assert decision.effect != "allow"
    if any(each.effect == "deny" for each in matched):
        assert decision.effect == "deny"


@pytest.mark.req("POL-1")
@every
@given(POLICIES, REQUESTS)
def test_the_index_by_tool_changes_no_decision(policies: Any, request: CallRequest) -> None:
    """What `decide` leaves out is about other tools; `explain` has every rule there is."""
    quick, whole = decide(policies, request), explain(policies, request)
    assert replace(quick, considered=()) == replace(whole, considered=())
    assert [each for each in whole.considered if each.matched] == [
        each for each in quick.considered if each.matched
    ]
    if policies:
        assert len(whole.considered) == sum(len(each["rules"]) for each in policies)


@pytest.mark.req("POL-2")
@every
@given(POLICIES, REQUESTS)
def test_an_effect_beyond_reading_is_allowed_only_by_a_rule_that_names_it(
    policies: Any, request: CallRequest
) -> None:
    """With every explicit rule taken away, nothing that writes or leaves the machine is allowed."""
    vague = [
        each
        | {
            "rules": [
                one
                for one in each["rules"]
                if not set(one["match"]) & {"tools", "capabilities", "scopes", "hosts"}
                and one.get("origin", {}).get("kind") != "approval"
            ]
        }
        for each in policies
    ]
    if set(request.capabilities) - {"read"} or request.hosts:
        assert decide(vague, request).effect != "allow"
