"""Whose address counts: forwarded ones only from as many proxies as are trusted."""

from __future__ import annotations

import dataclasses

import pytest
from django.test import RequestFactory

from omni import config
from omni.edge.client import client_ip

pytestmark = pytest.mark.req("SEC-1")


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "", "10.0.0.1"),
        (0, "192.0.2.1", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "192.0.2.1", "192.0.2.1"),
        (1, "6.6.6.6, 192.0.2.1", "192.0.2.1"),
        (2, "6.6.6.6, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
        (2, "192.0.2.1", "192.0.2.1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "<script>", "10.0.0.1"),
        (1, "192.0.2.1,", "10.0.0.1"),
    ],
)
def test_the_client_is_whom_the_outermost_trusted_proxy_saw(
    monkeypatch: pytest.MonkeyPatch, proxies: int, forwarded: str, expected: str
) -> None:
    """A caller who sends the header itself cannot pose as somebody else."""
    changed = dataclasses.replace(config.current(), trusted_proxies=proxies)
    monkeypatch.setattr(config, "current", lambda: changed)
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR="10.0.0.1")
    assert client_ip(request) == expected
