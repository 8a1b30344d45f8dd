"""What every request passes inside Django: ids, headers, time zone, the log line."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from structlog.contextvars import get_contextvars

from omni.edge import request_id

pytestmark = [pytest.mark.urls("tests.edge.urls"), pytest.mark.django_db]

Lines = list[dict[str, Any]]


def request_line(lines: Lines) -> dict[str, Any]:
    (found,) = [line for line in lines if line["event"] == "request"]
    return found


@pytest.mark.req("TEL-3")
class TestRequestId:
    def test_a_sane_id_is_kept_and_bound_to_the_work(self, client: Client) -> None:
        response = client.get("/show", headers={"X-Request-ID": "trace-0123456789"})
        assert response["X-Request-ID"] == "trace-0123456789"
        assert response.json()["ids"] == {"request_id": "trace-0123456789"}

    @pytest.mark.parametrize(
        "sent", ["", "short", "a" * 65, "a b c d e f g h", "<script>1234567", "-" * 9]
    )
    def test_any_other_is_replaced(self, client: Client, sent: str) -> None:
        """It ends up in pages and logs, so it must be plain."""
        made = client.get("/show", headers={"X-Request-ID": sent})["X-Request-ID"]
        assert made != sent
        assert request_id.choose(made) == made

    def test_nothing_of_one_request_remains_for_the_next(self, client: Client) -> None:
        first = client.get("/show").json()["ids"]["request_id"]
        assert get_contextvars() == {}
        assert client.get("/show").json()["ids"]["request_id"] != first


@pytest.mark.req("TEL-3", "OPS-2")
class TestLogLine:
    def test_one_line_says_what_was_asked_and_how_it_went(
        self, client: Client, lines: Lines, user: Any
    ) -> None:
        client.force_login(user)
        client.get("/show?q=private", REMOTE_ADDR="192.0.2.7")
        line = request_line(lines)
        assert line["method"] == "GET"
        assert line["path"] == "/show"
        assert line["route"] == "show"
        assert line["status"] == 200
        assert line["duration_ms"] >= 0
        assert line["ip"] == "192.0.2.7"
        assert line["user_id"] == str(user.pk)
        assert line["request_id"]
        assert "private" not in repr(line)

    def test_tokens_in_a_path_are_not_written(self, client: Client, lines: Lines) -> None:
        """Whoever reads the log must not be able to set somebody's password."""
        client.get("/link/abc-123-secret")
        assert request_line(lines)["path"] == "/link/[redacted]"

    def test_probes_are_counted_but_not_written(self, client: Client, lines: Lines) -> None:
        client.get("/healthz")
        assert [line for line in lines if line["event"] == "request"] == []

    def test_an_anonymous_request_asks_the_database_nothing(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(0):
            client.get("/healthz")
            client.get("/stream")


@pytest.mark.req("SEC-1")
class TestHeaders:
    def test_every_answer_carries_the_security_headers(self, client: Client) -> None:
        for address in ("/show", "/nothing-here", "/healthz", "/fail/500"):
            client.raise_request_exception = False
            response = client.get(address)
            assert response["X-Content-Type-Options"] == "nosniff"
            assert response["X-Frame-Options"] == "DENY"
            assert response["Referrer-Policy"] == "same-origin"
            assert response["Cross-Origin-Opener-Policy"] == "same-origin"
            assert response["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "camera=()" in response["Permissions-Policy"]

    def test_pages_of_a_signed_in_person_are_kept_by_no_cache(
        self, client: Client, user: Any
    ) -> None:
        assert "Cache-Control" not in client.get("/page")
        client.force_login(user)
        assert client.get("/page")["Cache-Control"] == "private, no-store"

    @pytest.mark.parametrize("address", ["/show?q=%00", "/show?q=%ff", "/show/%00"])
    def test_an_address_that_is_no_text_is_a_clean_400(self, client: Client, address: str) -> None:
        response = client.get(address)
        assert response.status_code == 400
        assert response["X-Request-ID"]


@pytest.mark.req("UI-1")
class TestTimeZone:
    def test_a_person_sees_times_in_their_own_zone(self, client: Client, user: Any) -> None:
        user.time_zone = "Asia/Kolkata"
        user.save()
        client.force_login(user)
        assert client.get("/show").json()["zone"] == "Asia/Kolkata"
        client.logout()
        assert client.get("/show").json()["zone"] == "UTC"

    @pytest.mark.parametrize("zone", ["Nowhere/Land", "", "../../etc/passwd"])
    def test_an_unknown_zone_falls_back_to_utc(self, client: Client, user: Any, zone: str) -> None:
        type(user).objects.filter(pk=user.pk).update(time_zone=zone)
        client.force_login(user)
        assert client.get("/show").json()["zone"] == "UTC"

    def test_programs_always_get_utc(self, client: Client, user: Any) -> None:
        user.time_zone = "Asia/Kolkata"
        user.save()
        client.force_login(user)
        assert client.get("/api/show").json()["zone"] == "UTC"
