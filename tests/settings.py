"""The platform's own settings, with what tests must differ in and nothing more."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

from omni.settings import *  # noqa: F403
from omni.settings import CACHES, REDIS_URL, REST_FRAMEWORK
from omni.settings import STORAGES as OMNI_STORAGES

# Argon2 is slow on purpose; tests of passwords themselves name the real hashers.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    **OMNI_STORAGES,
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = {"anon": "10000/min", "user": "10000/min"}
TEST_RUNNER = "django.test.runner.DiscoverRunner"

# One Redis database per xdist worker, so that clearing a cache disturbs nobody.
_worker = int((re.findall(r"\d+", os.environ.get("PYTEST_XDIST_WORKER", "gw0")) or ["0"])[0])
_parts = urlsplit(REDIS_URL)
CACHES["default"]["LOCATION"] = urlunsplit(_parts._replace(path=f"/{1 + _worker}"))
