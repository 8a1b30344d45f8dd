"""Django's command line for this installation; people use `omni`."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured

from omni.contracts.errors import ConfigError


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omni.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except (ConfigError, ImproperlyConfigured) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
