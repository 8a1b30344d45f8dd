"""Whoever asks too often waits, and is told how long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError
from rest_framework.test import APIClient

from apps.registry import throttle
from apps.registry.models import User
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-1")]


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"anon": "3/min", "user": "5/min"}
    monkeypatch.setitem(settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES", rates)
    # The period must not end in the middle of a test.
    monkeypatch.setattr(throttle.time, "time", lambda: 1_800_000_010.0)


def test_signed_in_callers_are_counted_by_token(
    rates: None, user: User, caller: Callable[..., APIClient]
) -> None:
    one, other = caller(user), caller(user)
    assert [one.get("/api/me").status_code for _ in range(5)] == [200] * 5
    response = one.get("/api/me")
    problem(response, 429, "rate_limited")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert other.get("/api/me").status_code == 200


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer omni_guess"}])
def test_refused_callers_are_counted_by_address(
    rates: None, db: None, header: dict[str, str]
) -> None:
    """Guessing tokens is limited like any other anonymous request."""
    ask = lambda address: Client(REMOTE_ADDR=address).get("/api/me", headers=header)  # noqa: E731
    assert [ask("192.0.2.1").status_code for _ in range(3)] == [401] * 3
    response = ask("192.0.2.1")
    problem(response, 429, "rate_limited")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert ask("192.0.2.2").status_code == 401


def test_a_forwarded_address_is_not_believed_without_a_proxy(rates: None, db: None) -> None:
    for number in range(4):
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        response = Client(REMOTE_ADDR="192.0.2.1").get("/api/me", headers=headers)
    assert response.status_code == 429


def test_an_ipv6_host_is_counted_by_its_network(rates: None, db: None) -> None:
    """Every host has 2⁶⁴ addresses to move about in; the next network is somebody else's."""
    ask = lambda address: Client(REMOTE_ADDR=address).get("/api/me").status_code  # noqa: E731
    assert [ask(f"2001:db8::{number}") for number in range(1, 5)] == [401, 401, 401, 429]
    assert ask("2001:db8:0:1::1") == 401


def test_unknown_addresses_count_too(rates: None, db: None) -> None:
    codes = [Client().get("/api/nothing").status_code for _ in range(4)]
    assert codes == [404, 404, 404, 429]


def test_requests_that_arrive_together_are_all_counted(db: None) -> None:
    """A counter in Redis loses none of them."""
    with ThreadPoolExecutor(8) as pool:
        used = list(pool.map(lambda _: throttle.count("rate:test", 60), range(80)))
    assert sorted(used) == list(range(1, 81))


def test_the_api_answers_while_redis_is_away(
    rates: None, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> int:
        raise RedisConnectionError("refused")

    monkeypatch.setattr(throttle, "count", away)
    assert [api.get("/api/me").status_code for _ in range(8)] == [200] * 8


@pytest.mark.parametrize(
    ("rate", "meaning"), [("60/min", (60, 60)), ("5/s", (5, 1)), ("9/hour", (9, 3600))]
)
def test_rates_are_written_as_documented(rate: str, meaning: tuple[int, int]) -> None:
    assert throttle.parse_rate(rate) == meaning
