"""Django for the few commands that work on this machine's database instead of over HTTP."""

from __future__ import annotations

import os

from omni import config
from omni.contracts.errors import ConfigError


def set_up() -> None:
    """Load the platform; without a database it says how to start one."""
    # The command says what it did; the log would say it again in between.
    os.environ.setdefault("OMNI_LOG_LEVEL", "WARNING")
    prepare()
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError, connection

    try:
        django.setup()
        connection.ensure_connection()
    except ImproperlyConfigured as error:
        raise ConfigError(str(error)) from None
    except OperationalError:
        raise ConfigError(
            "The database of this installation does not answer.",
            remedy="Start it with `omni up`, or correct OMNI_DATABASE_URL.",
        ) from None


def prepare() -> None:
    """Name the settings and check that they can be read, so that Django need not explain it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omni.settings")
    settings = config.current()
    settings.resolved_database_url()
    settings.resolved_redis_url()
