"""One hub per web process: fans out what is pushed, and patrols so that nothing depends on it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import structlog
from django.db import Error as DatabaseError

from apps.runs.live import access
from apps.runs.live.entries import Entry
from apps.runs.live.listener import Listener
from apps.runs.live.readers import ProjectReader, Reader, RunReader
from apps.runs.live.termination import on_termination
from apps.runs.live.threads import in_thread
from apps.runs.models import Run
from omni import config
from omni.contracts.errors import ErrorCategory, OmniError

log = structlog.get_logger(__name__)
PATROL_SECONDS = 2.0
# Patrols in a row that found something the push had not brought, before it is opened anew.
SILENT_PATROLS = 3
KNOWN_RUNS = 10_000

_open: Counter[uuid.UUID] = Counter()


def refuse_too_many(user_id: uuid.UUID) -> None:
    limit = config.current().streams_per_user
    if _open[user_id] >= limit:
        raise OmniError(
            f"You have {limit} live streams open already.",
            category=ErrorCategory.RATE_LIMITED,
            remedy="Close one, or wait; the operator sets OMNI_STREAMS_PER_USER.",
            data={"retry_after": 10},
        )


@dataclass(slots=True)
class _Findings:
    """What one patrol saw in the database."""

    last_seqs: dict[uuid.UUID, tuple[int, bool]]
    grants: dict[access.Grant, frozenset[uuid.UUID]]


class Hub:
    """Works while it has readers: the listener brings events, the patrol checks everything else."""

    def __init__(self) -> None:
        self._by_run: defaultdict[uuid.UUID, set[RunReader]] = defaultdict(set)
        self._wide: set[ProjectReader] = set()
        self._readers: set[Reader] = set()
        self._projects: dict[uuid.UUID, uuid.UUID] = {}
        self._listener: Listener | None = None
        self._patrol: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._silent = 0
        self._is_closing = False

    def add(self, reader: Reader) -> None:
        refuse_too_many(reader.grant.user_id)
        _open[reader.grant.user_id] += 1
        self._readers.add(reader)
        if isinstance(reader, RunReader):
            self._by_run[reader.run_id].add(reader)
        elif isinstance(reader, ProjectReader):
            self._wide.add(reader)
        if self._patrol is None:
            self._start()
        if self._is_closing:
            # The server still accepts for a moment, and whoever was sent away comes back at once.
            reader.close("shutdown")

    def remove(self, reader: Reader) -> None:
        if reader not in self._readers:
            return
        self._readers.discard(reader)
        _open[reader.grant.user_id] -= 1
        if _open[reader.grant.user_id] <= 0:
            del _open[reader.grant.user_id]
        if isinstance(reader, RunReader):
            self._by_run[reader.run_id].discard(reader)
            if not self._by_run[reader.run_id]:
                del self._by_run[reader.run_id]
        elif isinstance(reader, ProjectReader):
            self._wide.discard(reader)
        if not self._readers:
            self._stop()

    def close(self) -> None:
        """The process ends: streams end too, and their clients come back to the next one."""
        self._is_closing = True
        for reader in list(self._readers):
            reader.close("shutdown")

    def _start(self) -> None:
        on_termination(self.close)
        self._listener = Listener(self._deliver, self._all_fall_behind)
        self._patrol = asyncio.create_task(self._go_on_patrol(), name="live-patrol")

    def _stop(self) -> None:
        if self._listener is not None:
            self._listener.stop()
            self._hold_until_done(self._listener.task)
        if self._patrol is not None:
            self._patrol.cancel()
            self._hold_until_done(self._patrol)
        self._listener = self._patrol = None
        self._projects.clear()

    def _hold_until_done(self, task: asyncio.Task[None]) -> None:
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _deliver(self, entries: list[Entry]) -> None:
        for entry in entries:
            for reader in self._by_run.get(entry.run_id, ()):
                reader.offer(entry)
        if self._wide and entries:
            await self._deliver_wide(entries)

    async def _deliver_wide(self, entries: list[Entry]) -> None:
        try:
            project_id = await self._project_of(entries[0].run_id)
        except DatabaseError as error:
            log.warning("live_project_unknown", error=type(error).__name__)
            project_id = None
        for reader in list(self._wide):
            if project_id is None:
                reader.fall_behind()
                continue
            for entry in entries:
                if reader.wants(project_id, entry):
                    reader.offer(entry)

    async def _project_of(self, run_id: uuid.UUID) -> uuid.UUID | None:
        """A run never changes its project, so it is asked for once."""
        if run_id not in self._projects:
            found = await in_thread(_project_of, run_id)
            if found is None:
                return None
            if len(self._projects) >= KNOWN_RUNS:
                self._projects.clear()
            self._projects[run_id] = found
        return self._projects[run_id]

    def _all_fall_behind(self) -> None:
        for reader in list(self._readers):
            reader.fall_behind()

    @property
    def _heard(self) -> int:
        return self._listener.heard if self._listener else 0

    async def _go_on_patrol(self) -> None:
        while True:
            heard = self._heard
            await asyncio.sleep(PATROL_SECONDS)
            try:
                grants = {reader.grant for reader in self._readers}
                findings = await in_thread(_inspect, list(self._by_run), grants)
            except (DatabaseError, OSError) as error:
                log.warning("live_patrol_failed", error=type(error).__name__)
                continue
            found_more = self._compare(findings, grants)
            silent = found_more and heard == self._heard
            self._silent = self._silent + 1 if silent else 0
            if self._silent >= SILENT_PATROLS:
                self._listen_anew()

    def _compare(self, findings: _Findings, asked: set[access.Grant]) -> bool:
        """Tell readers what they do not know yet; answers whether the push had missed something."""
        now, found_more = time.monotonic(), False
        for reader in list(self._readers):
            if reader.grant not in asked:
                continue
            if reader.grant not in findings.grants:
                reader.close("revoked")
                continue
            reader.verified = now
            if isinstance(reader, RunReader):
                found_more |= _has_missed(reader, findings)
            elif isinstance(reader, ProjectReader):
                _update_projects(reader, findings.grants[reader.grant])
        return found_more

    def _listen_anew(self) -> None:
        """A connection can be dead without saying so."""
        log.warning("live_push_silent")
        self._silent = 0
        if self._listener is not None:
            self._listener.stop()
            self._hold_until_done(self._listener.task)
        self._listener = Listener(self._deliver, self._all_fall_behind)


def _has_missed(reader: RunReader, findings: _Findings) -> bool:
    last_seq, has_ended = findings.last_seqs.get(reader.run_id, (0, False))
    known = max(reader.position, reader.newest_queued)
    if last_seq > known or has_ended:
        reader.fall_behind()
    return last_seq > known


def _update_projects(reader: ProjectReader, projects: frozenset[uuid.UUID]) -> None:
    if projects != reader.projects:
        reader.projects = projects
        reader.fall_behind()


def _inspect(run_ids: list[uuid.UUID], grants: set[access.Grant]) -> _Findings:
    rows = Run.objects.filter(pk__in=run_ids).values_list("pk", "last_seq", "ended_at")
    last_seqs = {pk: (last_seq, ended_at is not None) for pk, last_seq, ended_at in rows}
    return _Findings(last_seqs if run_ids else {}, access.standing(grants))


def _project_of(run_id: uuid.UUID) -> uuid.UUID | None:
    return Run.objects.filter(pk=run_id).values_list("project_id", flat=True).first()


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """The hub of the running event loop; a web process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
