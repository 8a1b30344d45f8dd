"""The stream of one run: complete, in order, resumable, alive, ended, and equal to a reload."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable

import httpx
import pytest
from django.db import connection

from apps.runs import eventlog
from apps.runs.eventlog import NewEvent
from apps.runs.live.entries import Entry
from apps.runs.models import Run
from omni.contracts.cloudevents import from_cloudevent
from tests.live.story import finish, write_steps
from tests.live.web import LIMIT, Reader, Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("LIVE-1")]


def path_of(run: Run, query: str = "") -> str:
    return f"/api/runs/{run.pk}/stream{query}"


def logged(run: Run) -> list[str]:
    """What a reload shows, byte for byte."""
    return [Entry.of(event).text for event in eventlog.read_all(run.pk)]


@pytest.mark.req("LIVE-2")
def test_a_reload_shows_what_was_streamed_byte_for_byte(ada: Reader, run: Run) -> None:
    """Whether an event came from the table or was pushed, also numbers and letters at the edges."""
    edges = {
        "step": "e",
        "output": [1.0, 1e300, 1e-7, 123456789.25, '\u2028 é\n\t"\\ 🙂', {"é": 1}],
    }
    eventlog.append(run.pk, [NewEvent("system_event", edges, name="step_finished")])
    with ada.open(path_of(run)) as stream:
        first = stream.take(2)
        eventlog.append(run.pk, [NewEvent("system_event", edges, name="step_finished")])
        write_steps(run, 40, batch=7)
        finish(run)
        rest = list(stream.events())
    messages = [*first, *rest]
    assert [message.data for message in messages[:-1]] == logged(run)
    reload = ada.get(f"/api/runs/{run.pk}/events?limit=1000").text
    assert f'"results":[{",".join(message.data for message in messages[:-1])}]' in reload
    assert [message.id for message in messages[:-1]] == [str(n) for n in range(1, 46)]
    assert {message.event for message in messages[:-1]} == {"run_created", "system_event"}


def test_an_event_arrives_through_the_whole_stack_while_the_run_goes_on(
    ada: Reader, run: Run
) -> None:
    """Nothing on the way collects the stream before it passes it on."""
    with ada.open(path_of(run)) as stream:
        stream.take(1)
        for number in range(2, 7):
            write_steps(run, 1)
            assert stream.take(1)[0].id == str(number)
    headers = stream.response.headers
    assert headers["content-type"] == "text/event-stream"
    assert "no-store" in headers["cache-control"] and headers["x-accel-buffering"] == "no"
    assert headers["x-request-id"]


@pytest.mark.parametrize("how", ["header", "query", "both"])
def test_it_resumes_behind_the_last_known_event(ada: Reader, run: Run, how: str) -> None:
    """The header wins over the address, which a browser keeps when it comes back."""
    write_steps(run, 9)
    finish(run)
    query = {"header": "", "query": "?after=7", "both": "?after=2"}[how]
    headers = {} if how == "query" else {"Last-Event-ID": "7"}
    with ada.open(path_of(run, query), **headers) as stream:
        messages = list(stream.events())
    assert [message.id for message in messages[:-1]] == ["8", "9", "10", "11", "12"]
    assert messages[-1].event == "end"


@pytest.mark.parametrize(
    ("query", "header"),
    [
        ("?after=-1", None),
        ("?after=x", None),
        ("?after=9999", None),
        ("?after=%EF%BC%91", None),
        ("?format=xml", None),
        ("?afer=1", None),
        ("", "1; DROP"),
        ("", "9" * 40),
        ("", "9999"),
    ],
)
def test_a_position_that_cannot_be_is_a_problem(
    ada: Reader, run: Run, query: str, header: str | None
) -> None:
    response = ada.get(path_of(run, query), **({"Last-Event-ID": header} if header else {}))
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"]


def test_a_client_that_takes_only_event_streams_still_gets_problems(ada: Reader, run: Run) -> None:
    response = ada.get(path_of(run, "?after=x"), Accept="text/event-stream")
    assert (response.status_code, response.json()["category"]) == (400, "invalid")


def test_an_idle_stream_gives_signs_of_life(ada: Reader, run: Run) -> None:
    with ada.open(path_of(run)) as stream:
        messages = iter(stream)
        assert next(messages).id == "1"
        assert next(messages).comment and next(messages).comment


def test_it_ends_with_the_run_and_at_once_for_an_ended_one(ada: Reader, run: Run) -> None:
    finish(run)
    for query in ("", "?after=3"):
        with ada.open(path_of(run, query)) as stream:
            end = list(stream.events())[-1]
        assert (end.event, end.id) == ("end", "")
        assert json.loads(end.data) == {"run_id": str(run.pk), "status": "done", "last_seq": 3}


def test_head_answers_without_a_stream(ada: Reader, run: Run) -> None:
    response = httpx.head(ada.url + path_of(run), headers=ada.headers, timeout=60)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")


def test_cloudevents_carry_the_same_events(ada: Reader, run: Run) -> None:
    write_steps(run, 3)
    finish(run)
    with ada.open(path_of(run, "?format=cloudevents")) as stream:
        *messages, end = stream.events()
    assert end.event == "end"
    back = [from_cloudevent(json.loads(message.data)) for message in messages]
    assert back == [json.loads(text) for text in logged(run)]
    assert json.loads(messages[0].data)["type"] == "dev.omni.run.run_created.v1"


@pytest.mark.req("LIVE-3")
def test_a_hundred_drops_lose_and_repeat_nothing(ada: Reader, run: Run) -> None:
    """A client that hangs up at random and comes back with its last id sees each event once."""
    chance, seen, drops = random.Random(20), [], 0
    write_steps(run, 5)
    with httpx.Client(base_url=ada.url, headers=ada.headers, timeout=60) as client:
        while drops < 100:
            known = {"Last-Event-ID": seen[-1][0]} if seen else {}
            with client.stream("GET", path_of(run), headers=known) as response:
                wanted = chance.randrange(4)
                write_steps(run, 4, batch=chance.choice((1, 2, 4)))
                pieces = b""
                for piece in response.iter_raw():
                    pieces += piece
                    # What came incomplete does not count, as in a browser.
                    if pieces.count(b"\ndata: ") >= wanted:
                        break
            drops += 1
            for block in pieces.decode().split("\n\n")[:-1]:
                if block.startswith("id: "):
                    head, _, data = block.split("\n")
                    seen.append((head[4:], data[6:]))
    finish(run)
    with ada.open(path_of(run), **{"Last-Event-ID": seen[-1][0]}) as stream:
        seen += [(message.id, message.data) for message in stream.events() if message.id]
    assert [data for _, data in seen] == logged(run)
    assert len(seen) == 6 + 400 + 2


@pytest.mark.req("LIVE-3")
def test_many_streams_hold_no_threads_and_the_next_is_refused(
    ada: Reader, web: Web, run: Run
) -> None:
    """All of them get the event; none keeps a thread or a connection; closing makes room."""

    def finish_and_leave(run: Run) -> None:
        finish(run)
        connection.close()

    async def scene() -> tuple[int, int, list[str]]:
        limits = httpx.Limits(max_connections=LIMIT + 10)
        async with httpx.AsyncClient(
            base_url=ada.url, headers=ada.headers, limits=limits, timeout=120
        ) as client:
            opened: list[httpx.Response] = []
            for _ in range(LIMIT):
                request = client.build_request("GET", path_of(run))
                opened.append(await client.send(request, stream=True))
                assert opened[-1].status_code == 200, f"after {len(opened)} streams"
            threads = web.threads
            refused = await client.get(path_of(run))
            assert int(refused.headers["retry-after"]) > 0
            await asyncio.to_thread(finish_and_leave, run)
            bodies = await asyncio.gather(*(response.aread() for response in opened))
            return threads, refused.status_code, [body.decode() for body in bodies]

    before = web.threads
    threads, status, bodies = asyncio.run(scene())
    assert status == 429
    assert threads - before < 40, f"{threads} threads with {LIMIT} streams open"
    assert all(body.count("\nevent: system_event") == 2 and "event: end" in body for body in bodies)
    with ada.open(path_of(run)) as stream:
        assert list(stream.events())[-1].event == "end"


@pytest.mark.req("LIVE-3")
def test_a_slow_reader_gets_everything_and_holds_up_nobody(
    ada: Reader, make_run: Callable[..., Run]
) -> None:
    """More than queues and buffers hold is written while it does not read."""
    run, text = make_run(steps=1), "x" * 15_000
    with ada.open(path_of(run)) as slow, ada.open(path_of(run)) as quick:
        slow.take(1)
        quick.take(1)
        for first in range(0, 600, 50):
            events = [
                NewEvent("user_message", {"text": f"{n} {text}"}) for n in range(first, first + 50)
            ]
            eventlog.append(run.pk, events)
            assert [int(m.id) for m in quick.take(50)] == list(range(first + 2, first + 52))
        finish(run)
        seen = [message.data for message in slow.events() if message.id]
    assert seen == logged(run)[1:]
