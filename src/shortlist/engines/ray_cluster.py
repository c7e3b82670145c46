"""Workers on the machines of a Ray cluster: a crew, and the board in its middle.

Ray is imported here and nowhere else. A crew uses the cluster that this process is
connected to, else one that is found (``RAY_ADDRESS``, or a node on this machine), else it
starts one on this machine that ends with it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from shortlist._protocols import Floats, ShortlistError
from shortlist.engines._interrupts import uninterrupted
from shortlist.engines.central_board import CentralBoard, Entry, Gathered, Report

#: Seconds between two looks at what has become of the workers.
_BEAT = 0.05
#: Seconds after which a run in which nothing moves is given up. A machine that is lost may
#: be missed only after half a minute, and kernels may have to be compiled on each.
_PATIENCE = 600.0
#: Workers that die in one pass, at most, for each there is.
_MOST_DEATHS = 3


class Place(NamedTuple):
    """Where a worker is at work."""

    pid: int
    node: str


class RemoteBoard:
    """What a worker sees of the board.

    Parameters
    ----------
    centre : actor handle
    worker : int
    """

    def __init__(self, centre: Any, worker: int) -> None:
        import ray

        self._centre, self.worker = centre, worker
        node = ray.get_runtime_context().get_node_id()
        self.entry: Entry = self._ask("enter", Place(os.getpid(), node))
        self.notes_of_others: list[Any] = []  #: as of the last pull

    def pull(self, worker: int) -> Floats:
        """Sum of what has been pushed, when it is due."""
        total: Floats
        total, self.notes_of_others = self._ask("pull", self.entry.life)
        return total

    def push(
        self, worker: int, sequence: int, delta: Floats, report: Report | None = None
    ) -> bool:
        """Add to the sum and report; False if this had been applied before."""
        return bool(self._ask("push", sequence, delta, report, self.entry.life))

    def _ask(self, what: str, *words: Any) -> Any:
        import ray

        answer = getattr(self._centre, what).remote(self.worker, *words)
        try:
            return ray.get(answer, timeout=_PATIENCE)
        except ray.exceptions.GetTimeoutError:
            raise ShortlistError(
                f"worker {self.worker}: expected an answer to {what} within "
                f"{_PATIENCE:.0f} s, got none"
            ) from None


class Job(Protocol):
    """Work of one worker, which goes on from where ``board.entry`` says."""

    def __call__(self, board: RemoteBoard, shared: Any) -> None:
        """Do it; ``shared`` is what all jobs have in common, not to be written to."""
        ...


class _Centre:
    """Actor: the board of a pass. Calls interleave only where they wait."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._places: dict[int, Place] = {}
        self._lives: list[int] | None = None

    async def begin(self, start: Floats, notes: list[Any], tau_max: int) -> None:
        # nobody who was thought dead in an earlier pass may push in this one
        self._board = CentralBoard(start, notes, tau_max, self._lives)

    async def enter(self, worker: int, place: Place) -> Entry:
        async with self._changed:
            self._places[worker] = place
            entry = self._board.enter(worker)
            self._changed.notify_all()
            return entry

    async def pull(self, worker: int, life: int) -> tuple[Floats, list[Any]]:
        def is_due() -> bool:
            self._board.check_life(worker, life)
            return self._board.is_due(worker)

        async with self._changed:
            await self._changed.wait_for(is_due)
            return self._board.pull(worker), self._board.notes_of_others(worker)

    async def push(
        self, worker: int, sequence: int, delta: Floats, report: Report, life: int
    ) -> bool:
        async with self._changed:
            applied = self._board.push(worker, sequence, delta, report, life)
            self._changed.notify_all()
            return applied

    async def standing(self) -> tuple[int, dict[int, Place]]:
        return self._board.done(), self._places

    async def close(self) -> Gathered:
        async with self._changed:
            self._changed.notify_all()
            found = self._board.close()
            self._lives = self._board.lives
            return found


class _Worker:
    """Actor: a process that does jobs."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def run(self, job: Job, centre: Any, worker: int) -> None:
        job(RemoteBoard(centre, worker), self._shared)


class Crew:
    """Workers of a cluster, one process each, which are replaced when they die.

    Parameters
    ----------
    n_workers : int
    shared : object
        What all jobs have in common; it is sent to each machine once.
    tau_max : int
        How many pushes of others may come between a pull and its push.
    """

    def __init__(self, n_workers: int, shared: Any, tau_max: int) -> None:
        self.n_workers, self._tau_max = n_workers, tau_max
        self._shared_by_all = shared
        self._connected_here = False
        self.has_begun = False  #: whether there is a board of this pass
        self.deaths = 0  #: workers that died and were replaced

    def __enter__(self) -> Crew:
        ray = _import_ray()
        self._connected_here = not ray.is_initialized()
        try:
            with uninterrupted():
                if self._connected_here:
                    _connect(ray, self.n_workers)
                self._hire_all(ray)
        except BaseException:  # Ctrl-C, perhaps: nothing is left running
            if self._connected_here:
                ray.shutdown()
            raise
        return self

    def _hire_all(self, ray: Any) -> None:
        """Have a board in the middle, and all workers."""
        # With the process that waits for the result: if that is lost all is lost.
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        self._shared = ray.put(self._shared_by_all)
        self._centre = (
            ray.remote(_Centre)
            .options(num_cpus=0, scheduling_strategy=here, max_concurrency=1000)
            .remote()
        )
        self._workers = [self._hire(1) for _ in range(self.n_workers)]

    def __exit__(self, *_: object) -> None:
        import ray

        for actor in (*self._workers, self._centre):
            ray.kill(actor)
        self._workers = []
        del self._centre, self._shared
        if self._connected_here:
            ray.shutdown()

    def run(
        self,
        start: Floats,
        notes: Sequence[Any],
        jobs: Sequence[Job],
        observe: Callable[[int], None],
    ) -> Gathered:
        """Do a job a worker with a board that begins at ``start``; tell how much is done.

        What a dead worker had not reported is done again by its successor.
        """
        import ray

        self.has_begun = False
        self._ask(self._centre.begin.remote(start, list(notes), self._tau_max))
        self.has_begun = True
        running = {self._send(t, job): t for t, job in enumerate(jobs)}
        deaths, done, moved = 0, 0, time.monotonic()
        while running:
            ready, _ = ray.wait(list(running), timeout=_BEAT)
            for answer in ready:
                t = running.pop(answer)
                if _is_done(ray, answer):
                    moved = time.monotonic()
                    continue
                deaths += 1
                if deaths > _MOST_DEATHS * self.n_workers:
                    raise ShortlistError(
                        f"worker {t}: {deaths} workers died in one pass; see Ray's logs"
                    )
                self.deaths += 1
                ray.kill(self._workers[t])  # who cannot be reached may be alive
                # rather in a crowd than waiting for room that was lost with a machine
                self._workers[t] = self._hire(0)
                running[self._send(t, jobs[t])] = t
            now = self._ask(self._centre.standing.remote())[0]
            if now != done:
                done, moved = now, time.monotonic()
                observe(done)
            if time.monotonic() - moved > _PATIENCE:
                raise ShortlistError(
                    f"expected work of {self.n_workers} workers, got none for "
                    f"{_PATIENCE:.0f} s; the cluster may have no room for them"
                )
        return self.gather()

    def gather(self) -> Gathered:
        """All that the board knows, which takes no more from then on."""
        found: Gathered = self._ask(self._centre.close.remote())
        return found

    def places(self) -> dict[int, Place]:
        """Where each worker is, of those that have begun."""
        found: dict[int, Place] = self._ask(self._centre.standing.remote())[1]
        return found

    def _hire(self, num_cpus: int) -> Any:
        import ray

        spread = {"num_cpus": num_cpus, "scheduling_strategy": "SPREAD"}
        return ray.remote(_Worker).options(**spread).remote(self._shared)

    def _send(self, t: int, job: Job) -> Any:
        return self._workers[t].run.remote(job, self._centre, t)

    def _ask(self, answer: Any) -> Any:
        import ray

        try:
            return ray.get(answer, timeout=_PATIENCE)
        except (ray.exceptions.GetTimeoutError, ray.exceptions.RayActorError):
            raise ShortlistError(
                "the board in the middle of the crew does not answer; see Ray's logs"
            ) from None


def _is_done(ray: Any, answer: Any) -> bool:
    """Whether a job came to its end; False if its worker died. Other errors raise."""
    died = (
        ray.exceptions.RayActorError,
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    )
    try:
        ray.get(answer)
    except died:
        return False
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ShortlistError):
            raise error.cause from None
        raise
    return True


def _connect(ray: Any, n_workers: int) -> None:
    """Join a cluster, or start one."""
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), **quiet)
        return
    except ConnectionError:
        if "RAY_ADDRESS" in os.environ:
            raise ShortlistError(
                f"RAY_ADDRESS: expected a cluster at {os.environ['RAY_ADDRESS']}, got no "
                "connection"
            ) from None
    cpus = max(n_workers, os.cpu_count() or 1)
    ray.init(
        num_cpus=cpus,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        **quiet,
    )


def _import_ray() -> Any:
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise ShortlistError(
            "engine='ray' needs Ray: pip install shortlist[ray]"
        ) from None
    return ray
