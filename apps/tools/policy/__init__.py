"""May this call be made? Pure: policies and a request in, a decision with its reasons out."""

from apps.tools.policy.decide import Considered, Decision, Rulebook, decide, explain
from apps.tools.policy.request import CallRequest

__all__ = ["CallRequest", "Considered", "Decision", "Rulebook", "decide", "explain"]
