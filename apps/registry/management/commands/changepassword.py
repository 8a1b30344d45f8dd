"""`changepassword` in place of Django's: checked by the same service as in the browser, audited."""

from __future__ import annotations

import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.registry.models import User
from apps.registry.models.user import normalise_email
from apps.registry.services.passwords import change_password
from omni.contracts.errors import InvalidInput


class Command(BaseCommand):
    help = "Set a person's password, end their sessions, and record both in the audit log."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="Address of the account.")

    def handle(self, *args: Any, email: str, **options: Any) -> str:
        user = User.objects.filter(email=normalise_email(email)).first()
        if user is None:
            raise CommandError("There is no account with this address.")
        password = getpass.getpass(prompt=f"New password of {user.email}: ")
        if password != getpass.getpass(prompt="The same again: "):
            raise CommandError("The two passwords are not the same; nothing was changed.")
        try:
            ended = change_password(user=user, password=password, on_the_server=True)
        except InvalidInput as error:
            raise CommandError(str(error)) from None
        return f"Password changed; sessions ended: {ended}."
