"""What the platform makes of a cell that says what it should not: nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from omni.sandbox.cell import wire
from omni.sandbox.conversation import Conversation
from omni.sandbox.job import Job, Limits, Refused, Result

pytestmark = pytest.mark.req("SBX-1", "SBX-3")

LIMITS = Limits(wall_seconds=60, output_bytes=100, output_files=2, output_files_bytes=100)
GOOD = {"status": "ok", "exit_code": 0, "usage": {"cpu_seconds": 1, "evil": "x" * 1000}}


def talk(says: Callable[[socket.socket], None]) -> Result:
    """With somebody who has taken the supervisor's place; the process stands in for the cell."""
    ours, theirs = socket.socketpair()
    with subprocess.Popen(["sleep", "600"]) as cell:
        handle = os.pidfd_open(cell.pid)

        def speak() -> None:
            # The platform may hang up in the middle; that is what it should do.
            with theirs, suppress(OSError):
                wire.send_json(theirs, wire.HELLO, {}, (handle,))
                os.close(handle)
                wire.receive_json(theirs, wire.JOB)
                wire.receive_data(theirs, 1000)
                says(theirs)

        speaker = threading.Thread(target=speak)
        speaker.start()
        conversation = Conversation(ours, Job(("true",), limits=LIMITS))
        try:
            conversation.send()
            return conversation.result(lambda: False)
        finally:
            conversation.close()
            speaker.join()
            assert cell.wait(60) == -9


def frames(head: object, *data: bytes) -> Callable[[socket.socket], None]:
    def say(channel: socket.socket) -> None:
        wire.send_json(channel, wire.RESULT, head)
        for each in data:
            wire.send(channel, wire.DATA, each)

    return say


def test_what_is_well_formed_is_taken_without_the_rest() -> None:
    result = talk(frames({**GOOD, "files": ["a"]}, b"out", b"err", b"data"))
    assert (result.status, result.stdout, result.stderr) == ("ok", b"out", b"err")
    assert [(file.name, file.data) for file in result.files] == [("a", b"data")]
    assert result.usage == {"cpu_seconds": 1, "skipped": []}


@pytest.mark.parametrize(
    ("head", "data"),
    [
        ({**GOOD, "files": ["../a"]}, (b"", b"", b"")),
        ({**GOOD, "files": ["/a"]}, (b"", b"", b"")),
        ({**GOOD, "files": ["a", "a"]}, (b"", b"", b"", b"")),
        ({**GOOD, "files": ["a", "b", "c"]}, (b"", b"", b"", b"", b"")),
        ({**GOOD, "files": [["a"]]}, (b"", b"", b"")),
        ({**GOOD, "files": ["a"]}, (b"", b"", b"x" * 101)),
        ({**GOOD, "files": []}, (b"x" * 101, b"")),
        ({**GOOD, "files": [], "status": "splendid"}, (b"", b"")),
        ({**GOOD, "files": [], "status": "refused"}, (b"", b"")),
        ({**GOOD, "files": [], "exit_code": "0"}, (b"", b"")),
        ({"status": "ok"}, ()),
        (["ok"], ()),
        ({**GOOD, "files": []}, ()),
    ],
)
def test_what_is_not_agreed_on_does_not_count(head: object, data: tuple[bytes, ...]) -> None:
    result = talk(frames(head, *data))
    assert (result.status, result.exit_code, result.files) == ("signal", -9, ())


def test_a_cell_that_cannot_start_is_a_refusal() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        wire.send_json(theirs, wire.REFUSED, {"reason": "no room"})
        with pytest.raises(Refused, match="no room"):
            Conversation(ours, Job(("true",)))
