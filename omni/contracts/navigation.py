"""What an app puts into the workspace's navigation; declared on its AppConfig."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of the left pane and of the command palette."""

    label: str
    url_name: str
    icon: str
    section: str
    order: int = 100
    keywords: str = ""
    staff_only: bool = False
    # For a tab of a project: the object permission without which it is not shown.
    permission: str = ""
    # For an entry that counts something: the address of the number, and the stream that says
    # when to ask for it again.
    count: str = ""
    stream: str = ""
