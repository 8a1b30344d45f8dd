"""`unlock` for when nobody can sign in to the admin console any more."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.registry.models import User
from apps.registry.models.user import normalise_email
from apps.registry.services.accounts import unlock_sign_in


class Command(BaseCommand):
    help = (
        "Forget wrong passwords, so that a person can sign in at once; recorded in the audit log."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="Address of the account.")
        parser.add_argument("--address", help="Only from this network address, such as 192.0.2.7.")

    def handle(self, *args: Any, email: str, address: str | None, **options: Any) -> str:
        user = User.objects.filter(email=normalise_email(email)).first()
        if user is None:
            raise CommandError("There is no account with this address.")
        lifted = unlock_sign_in(actor=None, email=user.email, ip_address=address)
        return f"{user.email} can sign in again." if lifted else f"{user.email} was not locked."
