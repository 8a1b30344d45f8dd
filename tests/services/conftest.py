"""A throw-away installation per test, with spaces in its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.installation import Installation


@pytest.fixture
def omni(tmp_path: Path) -> Iterator[Installation]:
    installation = Installation(tmp_path / "a home with spaces")
    yield installation
    installation.destroy()
