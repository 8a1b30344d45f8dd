"""People, who sign in with their email address."""

from __future__ import annotations

import uuid
import zoneinfo
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


def normalise_email(email: str) -> str:
    return email.strip().lower()


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=normalise_email(username or ""))

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=normalise_email(email), **fields)
        user.set_password(password)
        user.full_clean(exclude=["password"])
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. One who has acted is deactivated, never deleted: the audit log refers to them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField("email address", max_length=254, unique=True)
    name = models.CharField(max_length=120, blank=True, help_text="How others see you.")
    time_zone = models.CharField(
        max_length=64,
        default="UTC",
        help_text="Times in the workspace are shown in it.",
    )
    is_staff = models.BooleanField(
        "operator", default=False, help_text="May sign in to the admin console."
    )
    is_active = models.BooleanField(
        "active", default=True, help_text="Switch off instead of deleting a person."
    )
    date_joined = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        ordering = ("email",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(email=Lower("email")), name="user_email_lowercase"
            ),
        )

    def __str__(self) -> str:
        return self.name or self.email

    def clean(self) -> None:
        super().clean()
        self.email = normalise_email(self.email)
        if self.time_zone not in zoneinfo.available_timezones():
            message = f"{self.time_zone} is not a known time zone, such as Europe/Berlin."
            raise ValidationError({"time_zone": message})

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name.split()[0] if self.name.strip() else self.email.split("@")[0]
