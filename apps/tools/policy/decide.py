"""The decision: deny beats ask, ask beats allow, and what nothing allows is denied.

Two things soften an ask, and nothing softens a deny. An answer that a person gave for the run or
the project is a rule with the origin `approval`; it answers every ask. An ask with the origin
`default` stands for "unless a rule allows it explicitly", as the built-in one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.tools.policy.match import mismatch
from apps.tools.policy.request import CallRequest
from apps.tools.policy.sensitive import CALL, covered, effects_of, in_words
from omni.contracts.canonical import digest
from omni.contracts.types.policy import Policy, PolicyRule

Effect = Literal["deny", "ask", "allow"]
EMPTY = "No policy is in force, and without one nothing is allowed."
ANSWERED = "A person has already answered this for good."
LIFTED = "Another rule allows it explicitly."
DECIDES = "It decides."


@dataclass(frozen=True, slots=True)
class Considered:
    """One rule that was looked at, and what became of it."""

    policy: str
    version: str
    rule: str
    effect: Effect
    matched: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided, by which rule, and why."""

    effect: Effect
    reason: str
    policy: str | None = None
    """None when no policy decided but the platform itself."""
    policy_version: str | None = None
    rule: str | None = None
    considered: tuple[Considered, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule with the policy it stands in."""

    policy: str
    version: str
    rule: PolicyRule

    @property
    def effect(self) -> Effect:
        return self.rule["effect"]

    @property
    def origin(self) -> str:
        return self.rule["origin"]["kind"] if "origin" in self.rule else ""

    @property
    def is_standing_answer(self) -> bool:
        return self.effect == "allow" and self.origin == "approval"

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where it stands among others, whatever order they came in."""
        return self.policy, self.version, self.rule["id"], digest(self.rule)

    def considered(self, why: str | None) -> Considered:
        matched = why is None
        return Considered(
            self.policy, self.version, self.rule["id"], self.effect, matched, why or ""
        )


class Rulebook:
    """Policies made ready for many decisions: rules are found by the name of the tool."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._defaults = sorted(
            # Deny sorts before ask only by luck of the alphabet; say it.
            (0 if each["default"] == "deny" else 1, each["name"], each["version"])
            for each in policies
        )
        entries = [
            _Entry(each["name"], each["version"], rule)
            for each in policies
            for rule in each["rules"]
        ]
        self._entries = sorted(entries, key=lambda entry: entry.place)
        self._exact: dict[str, list[int]] = {}
        self._below: dict[str, list[int]] = {}
        self._any: list[int] = []
        for index, entry in enumerate(self._entries):
            self._file(index, entry)

    def decide(self, request: CallRequest) -> Decision:
        """What the policies say; `considered` holds the rules about such tools."""
        first, dot, _ = request.tool.partition(".")
        found = {*self._any, *self._exact.get(request.tool, ()), *self._below.get(first + dot, ())}
        return self._decided(request, [self._entries[index] for index in sorted(found)])

    def explain(self, request: CallRequest) -> Decision:
        """The same decision, with every rule there is."""
        return self._decided(request, self._entries)

    def _file(self, index: int, entry: _Entry) -> None:
        patterns = entry.rule["match"].get("tools")
        if patterns is None:
            self._any.append(index)
            return
        for pattern in patterns:
            head, dot, _ = pattern.partition(".")
            if "*" not in pattern:
                self._exact.setdefault(pattern, []).append(index)
            elif dot and "*" not in head:
                self._below.setdefault(head + dot, []).append(index)
            else:
                self._any.append(index)

    def _decided(self, request: CallRequest, entries: Iterable[_Entry]) -> Decision:
        if not self._defaults:
            return Decision("deny", EMPTY)
        looked = [(entry, mismatch(entry.rule, request)) for entry in entries]
        return _Verdict(request, looked, self._defaults).reach()


class _Verdict:
    """One decision in the making."""

    def __init__(
        self,
        request: CallRequest,
        looked: list[tuple[_Entry, str | None]],
        defaults: list[tuple[int, str, str]],
    ) -> None:
        self._defaults = defaults
        self._looked = looked
        self._matched = [entry for entry, why in looked if why is None]
        self._notes: dict[int, str] = {}
        self._effects = effects_of(request)
        self._open = self._uncovered(request, self._effects)
        self._unnamed = self._uncovered(request, self._effects or frozenset({CALL}))

    def reach(self) -> Decision:
        denied = self._of("deny")
        if denied:
            return self._by(denied[0])
        allowed = self._of("allow")
        answer = next((entry for entry in allowed if entry.is_standing_answer), None)
        asked = [entry for entry in self._of("ask") if not self._is_settled(entry, answer)]
        if asked:
            return self._by(asked[0])
        if answer is not None:
            return self._by(answer)
        if not allowed:
            return self._by_default()
        return self._unless_sensitive(allowed[0])

    def _of(self, effect: Effect) -> list[_Entry]:
        return [entry for entry in self._matched if entry.effect == effect]

    def _uncovered(self, request: CallRequest, effects: frozenset[str]) -> frozenset[str]:
        named = (covered(entry.rule, request, effects) for entry in self._of("allow"))
        return effects.difference(*named)

    def _is_settled(self, ask: _Entry, answer: _Entry | None) -> bool:
        if answer is not None:
            self._notes[id(ask)] = ANSWERED
            return True
        if ask.origin == "default" and not self._unnamed:
            self._notes[id(ask)] = LIFTED
            return True
        return False

    def _by(self, entry: _Entry) -> Decision:
        self._notes[id(entry)] = DECIDES
        return self._decision(
            entry.effect, entry.rule["reason"], entry.policy, entry.version, entry.rule["id"]
        )

    def _by_default(self) -> Decision:
        strictness, name, version = self._defaults[0]
        effect: Effect = "ask" if strictness else "deny"
        verb = "asks about" if strictness else "denies"
        return self._decision(
            effect, f"No rule speaks of this, and {name} {verb} what no rule speaks of.",
            name, version,
        )  # fmt: skip

    def _unless_sensitive(self, allowed: _Entry) -> Decision:
        """The built-in rule: an effect that no rule names is for a person to look at."""
        if not self._open:
            return self._by(allowed)
        return self._decision(
            "ask", f"It {in_words(self._open)}, and no rule allows that explicitly."
        )

    def _decision(
        self,
        effect: Effect,
        reason: str,
        policy: str | None = None,
        version: str | None = None,
        rule: str | None = None,
    ) -> Decision:
        told = [self._told(entry, why) for entry, why in self._looked]
        told.sort(key=lambda each: not each.matched)
        return Decision(effect, reason, policy, version, rule, tuple(told))

    def _told(self, entry: _Entry, why: str | None) -> Considered:
        made = entry.considered(why)
        note = self._notes.get(id(entry))
        if note is None:
            return made
        return Considered(made.policy, made.version, made.rule, made.effect, True, note)


def decide(policies: Sequence[Policy], request: CallRequest) -> Decision:
    """What these policies say to this call."""
    return Rulebook(policies).decide(request)


def explain(policies: Sequence[Policy], request: CallRequest) -> Decision:
    """The same decision, with every rule of every policy among those considered."""
    return Rulebook(policies).explain(request)
