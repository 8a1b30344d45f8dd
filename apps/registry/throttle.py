"""How often somebody may do something in a period, counted in Redis for all web processes."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time
from dataclasses import dataclass

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Limit:
    """So many uses by each caller in each period."""

    name: str
    number: int
    seconds: int

    def use(self, caller: str) -> Use:
        """Count one use; what is not counted because Redis is away is not refused."""
        wait = self.seconds - time.time() % self.seconds
        try:
            used = count(self._key(caller), self.seconds)
        except RedisError as error:
            # Better unlimited for a while than closed: permissions do not depend on Redis.
            log.warning("rate_not_counted", error=str(error))
            used = 0
        return Use(used, self.number, math.ceil(wait))

    def give_back(self, caller: str) -> None:
        """For a use that turned out to be a rightful one."""
        try:
            cache.decr(self._key(caller))
        except (RedisError, ValueError):
            log.debug("rate_not_given_back", limit=self.name)

    def forget(self, caller: str) -> bool:
        """Begin anew; whether the caller was being refused."""
        try:
            used = int(cache.get(self._key(caller)) or 0)
            cache.delete(self._key(caller))
        except RedisError as error:
            log.warning("rate_not_forgotten", error=str(error))
            return False
        return used >= self.number

    def _key(self, caller: str) -> str:
        # Callers name themselves in part; a digest is short and has no odd characters.
        who = hashlib.blake2b(caller.encode(), digest_size=16).hexdigest()
        return f"rate:{self.name}:{who}:{int(time.time() // self.seconds)}"


@dataclass(frozen=True, slots=True)
class Use:
    used: int
    limit: int
    wait: int

    @property
    def refused(self) -> bool:
        return self.used > self.limit

    @property
    def is_first_refusal(self) -> bool:
        """True once in a period, also when many requests arrive together."""
        return self.used == self.limit + 1


def parse_rate(rate: str) -> tuple[int, int]:
    """`60/min` is 60 in 60 seconds."""
    number, _, period = rate.partition("/")
    return int(number), SECONDS[period.strip()[0]]


def network_of(address: str) -> str:
    """What one caller holds: an IPv4 address, or the /64 that every IPv6 host may move about in."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed.packed, 64), strict=False))
    return str(parsed)


def count(key: str, seconds: int) -> int:
    cache.add(key, 0, timeout=seconds + 1)
    try:
        return int(cache.incr(key))
    except ValueError:
        # It expired between the two lines: a new period has begun.
        return 1
