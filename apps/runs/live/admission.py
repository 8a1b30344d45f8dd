"""What an admitted reader of a run asked for, and the frames that follow from it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from apps.runs.live.access import Grant
from apps.runs.live.feed import Beat, End, Entries, Revoked, Signal, catch_up, follow
from apps.runs.live.formats import Format, Frame, Teller, teller_for
from apps.runs.live.readers import RunReader
from apps.runs.live.threads import in_thread
from apps.runs.models import Run


@dataclass(frozen=True, slots=True)
class Admission:
    """A run, the position to start behind, the form, and the ground on which it is read."""

    run: Run
    after: int
    format: Format
    grant: Grant

    async def told(self) -> AsyncGenerator[tuple[Signal, list[Frame]], None]:
        """What happens, with what to send of it; nothing to send is a heartbeat."""
        teller = await in_thread(self._teller)
        reader = RunReader(self.grant, self.run.pk, self.after)
        async with aclosing(follow(reader)) as signals:
            async for signal in signals:
                yield signal, _tell(teller, signal)

    async def frames(self) -> AsyncGenerator[list[Frame], None]:
        async with aclosing(self.told()) as told:
            async for _, frames in told:
                yield frames

    def present_frames(self) -> Iterator[list[Frame]]:
        """What there is now, for a server that cannot wait; the client comes back for more."""
        teller, position = self._teller(), self.after
        while True:
            entries, end = catch_up(self.run.pk, position)
            yield _tell(teller, Entries(entries))
            if end is not None:
                yield _tell(teller, end)
            if end is not None or not entries:
                return
            position = entries[-1].seq

    def _teller(self) -> Teller:
        """Told what the client knows already, where the form depends on it."""
        teller, position = teller_for(self.format, self.run), 0
        while self.format is Format.AG_UI and position < self.after:
            entries, _ = catch_up(self.run.pk, position)
            for entry in entries:
                if entry.seq <= self.after:
                    teller.tell(entry)
            position = entries[-1].seq if entries else self.after
        return teller


def _tell(teller: Teller, signal: Signal) -> list[Frame]:
    match signal:
        case Entries(entries):
            return [frame for entry in entries for frame in teller.tell(entry)]
        case End():
            return teller.end(signal)
        case Revoked():
            return teller.revoked()
        case Beat():
            return []
