"""Finds people by their address, in whatever list the caller may read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omni.contracts.errors import NotFound

if TYPE_CHECKING:
    from omni.cli.client import Client


def find_account(client: Client, email: str) -> dict[str, Any]:
    """An account of the platform, for operators."""
    wanted = email.strip().lower()
    for row in client.every("/api/people", q=wanted):
        if row["email"] == wanted:
            return row
    raise NotFound(f"Nobody here has the address {email}.", remedy="See `omni people list`.")


def find_member(client: Client, slug: str, email: str) -> dict[str, Any]:
    from omni.cli.client import path_of

    wanted = email.strip().lower()
    for row in client.every(path_of("projects", slug, "members")):
        if row["email"] == wanted:
            return row
    raise NotFound(
        f"{email} is not a member of {slug}.", remedy=f"See `omni projects members {slug}`."
    )


def find_person(client: Client, email: str, project: str | None) -> str:
    """The id of somebody: yourself, a member of the project, or any account."""
    me = client.get("/api/me")
    if email.strip().lower() in ("me", me["email"]):
        return str(me["id"])
    if project:
        return str(find_member(client, project, email)["user_id"])
    return str(find_account(client, email)["id"])
