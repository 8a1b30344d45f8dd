"""Pages of tools and policies: what people see, change and are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.tools.models import ToolInstallation, ToolVersion
from apps.tools.policy.words import budget_in_words, rule_in_words
from apps.tools.schema_view import rows_of
from apps.tools.selectors import in_force, pins_of
from apps.tools.services.policies import add_project_rule, publish_policy, put_policy_in_force
from apps.tools.services.tools import install_tool, register_tool
from tests.tools.manifests import manifest
from tests.tools.policies import argument, policy, rule

TOOLS = "/projects/apollo/tools"
POLICIES = "/projects/apollo/policies"


@pytest.fixture
def page(client: Client, user: User) -> Client:
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def viewer(project: Project, user: User, stranger: User) -> Client:
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    client = Client()
    client.force_login(stranger, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def tool(project: Project, user: User) -> ToolVersion:
    """Two versions: the first installed, the second available."""
    made, _ = register_tool(actor=user, manifest=manifest(), project=project)
    register_tool(actor=user, manifest=manifest(version="1.1.0"), project=project)
    install_tool(actor=user, project=project, tool=made)
    return made


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.req("TOOL-1", "UI-1")
def test_a_tool_is_listed_and_shown_with_its_schemas(page: Client, tool: ToolVersion) -> None:
    assert "text.count" in text(page.get(TOOLS))
    assert "No installed tool matches" in text(page.get(f"{TOOLS}?q=nothing"))
    shown = text(page.get(f"{TOOLS}/text.count"))
    for words in ("Counts the words", "<code>text</code>", "sandbox_job", tool.sha256, "Pinned"):
        assert words in shown
    assert page.get(f"{TOOLS}/other.tool").status_code == 404
    assert page.get(f"{TOOLS}/text.count?version=9.0.0").status_code == 404


@pytest.mark.req("TOOL-3", "UI-1")
def test_versions_are_installed_pinned_and_removed(
    page: Client, project: Project, tool: ToolVersion
) -> None:
    page.post(f"{TOOLS}/text.count/install", {"version": "1.1.0"})
    assert pins_of(project.pk)["text.count"]["version"] == "1.0.0"
    page.post(f"{TOOLS}/text.count/pin", {"version": "1.1.0"})
    assert pins_of(project.pk)["text.count"]["version"] == "1.1.0"
    assert "Uninstall text.count 1.0.0?" in text(
        page.get(f"{TOOLS}/text.count/uninstall?version=1.0.0")
    )
    page.post(f"{TOOLS}/text.count/uninstall?version=1.0.0")
    assert ToolInstallation.objects.filter(project=project).count() == 1


@pytest.mark.req("TOOL-1", "UI-1")
def test_a_manifest_is_registered_and_errors_name_the_place(page: Client, project: Project) -> None:
    bad = page.post(f"{TOOLS}/-/new", {"document": json.dumps(manifest(version="new"))})
    assert (bad.status_code, "/version" in text(bad)) == (422, True)
    assert "line 1" in text(page.post(f"{TOOLS}/-/new", {"document": "{no"}))
    done = page.post(f"{TOOLS}/-/new", {"document": json.dumps(manifest())})
    assert done.status_code == 302
    assert "text.count" in pins_of(project.pk)


@pytest.mark.req("SEC-2")
def test_viewers_look_and_change_nothing(viewer: Client, tool: ToolVersion) -> None:
    shown = text(viewer.get(f"{TOOLS}/text.count"))
    assert "Uninstall" not in shown and "Install<" not in shown
    assert viewer.post(f"{TOOLS}/text.count/install", {"version": "1.1.0"}).status_code == 403
    assert viewer.post(f"{TOOLS}/text.count/uninstall").status_code == 403
    assert viewer.get(f"{TOOLS}/-/new").status_code == 403
    assert viewer.get(f"{POLICIES}/-/new").status_code == 403
    assert "New policy" not in text(viewer.get(POLICIES))


@pytest.mark.req("POL-1", "UI-1")
def test_a_policy_is_written_put_in_force_and_read_in_words(page: Client, project: Project) -> None:
    assert "No policy is in force" in text(page.get(POLICIES))
    assert "under_path" in text(page.get(f"{POLICIES}/-/new"))
    bad = policy(rule("deny", "x", arguments=argument("/p", "matches", "(?=a)")))
    refused = page.post(f"{POLICIES}/-/new", {"document": json.dumps(bad)})
    assert refused.status_code == 422
    assert "/rules/0/match/arguments/0/value" in text(refused)
    good = policy(rule("ask", "etc", arguments=argument("/path", "under_path", "etc")))
    page.post(f"{POLICIES}/-/new", {"document": json.dumps(good), "put_in_force": "on"})
    assert [row.policy.version for row in in_force(project.pk)] == ["1.0.0"]
    assert "Ask about every tool, when /path is below “etc”." in text(page.get(POLICIES))
    newer = good | {"version": "1.1.0"}
    page.post(f"{POLICIES}/-/new", {"document": json.dumps(newer)})
    assert "1.1.0" in text(page.get(f"{POLICIES}/test"))
    page.post(f"{POLICIES}/test/use", {"version": "1.1.0"})
    shown = text(page.get(f"{POLICIES}/test"))
    assert "1.1.0 put in force" in shown and "withdrawn" in shown
    assert (
        '"version": "1.1.0"'
        in page.get(f"{POLICIES}/-/new?from=test").context["form"].initial["document"]
    )
    page.post(f"{POLICIES}/test/withdraw")
    assert in_force(project.pk) == []


@pytest.mark.req("POL-4", "UI-1")
def test_added_rules_are_shown_with_their_origin_and_withdrawn(
    page: Client, project: Project, user: User
) -> None:
    add_project_rule(actor=user, project=project, rule=rule("allow", "mine", tools=["text.*"]))
    shown = text(page.get(POLICIES))
    assert "Allow text.*." in shown and "By hand" in shown
    assert "Withdraw this rule?" in text(page.get("/projects/apollo/rules/mine/withdraw"))
    page.post("/projects/apollo/rules/mine/withdraw")
    assert "Withdrawn" in text(page.get(POLICIES))


@pytest.mark.req("POL-1", "UI-1")
def test_why_shows_the_decision_and_every_rule(
    page: Client, project: Project, user: User, tool: ToolVersion
) -> None:
    document = policy(rule("allow", "counts", tools=["text.count"]), rule("deny", "m", tools=["m"]))
    made, _ = publish_policy(actor=user, document=document, project=project)
    put_policy_in_force(actor=user, policy=made, project=project)
    ask = {"tool": "text.count", "mode": "normal", "arguments": '{"text": "a b"}'}
    shown = page.post(f"{POLICIES}/-/why", ask)
    assert shown.context["asked"].decision.effect == "allow"
    assert "rule <code>counts</code> of test 1.0.0" in text(shown)
    assert "It is about other tools." in text(shown)
    wrong = page.post(f"{POLICIES}/-/why", ask | {"arguments": '{"text": 7}'})
    assert "would refuse these arguments" in text(wrong)
    assert page.post(f"{POLICIES}/-/why", ask | {"arguments": "{"}).status_code == 422


def test_rules_and_budgets_in_words() -> None:
    full: Any = rule(
        "deny", "x", tools=["a.*", "b.c"], versions="^1.2", capabilities=["external_write"],
        risks=["high", "critical"], hosts=["*.example.org"], modes=["dry_run"], spent_share=0.8,
        arguments=argument("/n", "one_of", ["x", 2]),
    )  # fmt: skip
    assert rule_in_words(full) == (
        "Deny a.* or b.c in versions ^1.2 with the effect external write of high or critical risk"
        " that reaches *.example.org in the mode dry run once 80% of a budget is spent,"
        " when /n is one of “x” or 2."
    )
    budget: Any = {
        "per": "day", "money": {"amount": "5", "currency": "USD"}, "tokens": 1000,
        "on_reached": "ask",
    }  # fmt: skip
    assert budget_in_words(budget) == "5 USD and 1,000 tokens per day, then a person is asked."


def test_a_schema_of_any_shape_can_be_shown() -> None:
    nested = {
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "items": {"properties": {"b": {"enum": [1, "x"]}}}},
            "c": True,
        },
    }
    assert [(row.name, row.kind, row.required) for row in rows_of(nested)] == [
        ("a", "list of any value", True),
        ("a[].b", "one of 1, x", False),
        ("c", "any value", False),
    ]
    assert rows_of({"properties": [], "required": "x"}) == []
