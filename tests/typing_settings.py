"""Lets the type checker load Django without servers: it reads models, never rows."""

import os

os.environ.setdefault("OMNI_DATABASE_URL", "postgresql://type:check@127.0.0.1:1/none")
os.environ.setdefault("OMNI_REDIS_URL", "redis://127.0.0.1:1/0")
os.environ.setdefault("OMNI_DJANGO_SECRET", "only-for-type-checking-and-migration-checks")

from omni.settings import *  # noqa: F403
