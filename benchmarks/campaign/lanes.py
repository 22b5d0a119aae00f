"""Processes that judge ranges of seeds; one that dies or hangs costs one problem, not the campaign."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from .judge import Tally, judge
from .solvers import BoxProblem

from references.problems import generated  # isort: skip

Task = tuple[str, int, int]
"""(family, first seed, last seed + 1)."""


def work(task: Task, cap: float, pipe: Connection) -> None:
    """Judge a range of seeds, saying which one, and which solver, is next."""
    family, first, last = task
    tally = Tally()
    for seed in range(first, last):
        problem: BoxProblem = generated(family, seed)
        judge(problem, f"{family} {seed}", cap, tally, lambda name, at=seed: pipe.send((at, name)))
    pipe.send(tally)


@dataclass
class _Lane:
    process: BaseProcess
    task: Task
    seed: int
    since: float
    solver: str = ""


def run(tasks: list[Task], processes: int, cap: float) -> Iterator[Tally]:
    """All tasks in a few forked processes, which inherit what is compiled; tallies as they come."""
    context = multiprocessing.get_context("fork")
    waiting = list(reversed(tasks))
    lanes: dict[Connection, _Lane] = {}
    while waiting or lanes:
        while waiting and len(lanes) < processes:
            task = waiting.pop()
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(task, cap, theirs), daemon=True)
            process.start()
            theirs.close()
            lanes[ours] = _Lane(process, task, task[1], time.monotonic())
        for pipe in wait(list(lanes), timeout=1.0):
            assert isinstance(pipe, Connection)
            tally = _heard(pipe, lanes, waiting)
            if tally is not None:
                yield tally
        for lane in lanes.values():
            if time.monotonic() - lane.since > 20.0 * cap:  # asleep: no clock of its own rings
                lane.process.kill()


def _heard(pipe: Connection, lanes: dict[Connection, _Lane], waiting: list[Task]) -> Tally | None:
    lane = lanes[pipe]
    try:
        message = pipe.recv()
    except EOFError:
        message = _died(lane, waiting)
    if isinstance(message, tuple):
        (lane.seed, lane.solver), lane.since = message, time.monotonic()
        return None
    del lanes[pipe]
    pipe.close()
    lane.process.join()
    return message  # type: ignore[no-any-return]


def _died(lane: _Lane, waiting: list[Task]) -> Tally:
    """The problem it died on is lost, and a complaint if it was with us; the others are redone."""
    family, first, last = lane.task
    lane.process.join()
    for task in ((family, lane.seed + 1, last), (family, first, lane.seed)):
        if task[1] < task[2]:
            waiting.append(task)
    if not lane.solver.startswith("boxreg."):
        return Tally(problems=1, no_answer=Counter([lane.solver]))
    code = lane.process.exitcode
    text = f"{family} {lane.seed}: {lane.solver}: still running, or dead, with exit code {code}"
    return Tally(problems=1, complaints=[text])
