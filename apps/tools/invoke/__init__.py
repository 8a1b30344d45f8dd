"""The one door to tools: resolve, check, decide, carry out, check again. Nobody else executes."""

from apps.tools.invoke.door import Invoker

__all__ = ["Invoker"]
