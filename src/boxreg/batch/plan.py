"""What every chunk of a dask array needs: made once, sent to each worker once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import get_ident
from typing import Any

import numpy as np

from ..arrays import Array
from ..settings import Settings, current
from .compiled import Compiled
from .engines import Engine, engine
from .general import General
from .layout import Layout
from .question import Bounds, Question
from .shared import Shared, dense, infinities, way_for


@dataclass(frozen=True)
class Part(Layout):
    """The layout of a chunk, which knows where it begins in the whole."""

    origin: tuple[int, ...] = ()

    def position(self, line: int, within: int) -> tuple[int, ...]:
        """The index in the outer shape of the whole."""
        inside = super().position(line, within)
        return tuple(a + b for a, b in zip(self.origin, inside, strict=True))


@dataclass
class Plan:
    """The question without Y, and what the compiled path computes once.

    `starts` says where chunks begin along each axis but that of the rows of A. Directions depend on
    which bounds are infinite: where each right-hand side has its own, those of a chunk are looked at
    when it is solved, and the direction is kept for the next chunk of that kind.
    """

    question: Question
    starts: tuple[tuple[int, ...], ...]
    warm: bool
    dual: bool
    shared: Shared | None
    name: str
    settings: Settings = field(default_factory=current)
    """Those in force where the plan was made; workers solve with them."""
    _ways: dict[bytes, Any] = field(default_factory=dict)
    _rooms: dict[tuple[int, str], Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls, question: Question, starts: tuple[tuple[int, ...], ...], warm: bool, dual: bool
    ) -> Plan:
        """Check A, and compute what belongs to it."""
        n = question.design.shape[1]
        bare = replace(
            question,
            Y=None,
            lower=_known(question.lower, np.zeros(n)),
            upper=_known(question.upper, np.full(n, np.inf)),
        )
        solver = engine(bare, 1, warm, dual, "cpu", "float64")
        each = replace(bare, lower=_sent(question.lower), upper=_sent(question.upper))
        shared = solver.shared if isinstance(solver, Compiled) else None
        return cls(each, starts, warm, dual, shared, solver.name)

    def seconds(self, count: int) -> float:
        """A guess at the time that so many right-hand sides take.

        Measured on the compiled path: 25 µs for 188 × 342, 34 for 96 × 86 with nearly dependent columns,
        6 for 56 × 100; milliseconds elsewhere.
        """
        m, n = self.question.design.shape
        each = 5e-6 + 0.3e-9 * m * n if self.shared is not None else 1e-3
        return max(count, 1) * each

    def ask(self, block: Any, lower: Any, upper: Any, place: tuple[int, ...]) -> Question:
        """The question of one chunk."""
        whole = self.question
        origin = tuple(at[k] for at, k in zip(self.starts, place, strict=True))
        return replace(
            whole,
            Y=block,
            layout=Part(block.shape, whole.layout.axis, origin),
            lower=whole.lower if lower is None else Bounds(lower, True),
            upper=whole.upper if upper is None else Bounds(upper, True),
        )

    def engine(self, question: Question) -> Engine:
        """What solves a chunk, in this thread alone."""
        found = self._way(question)
        if self.shared is None or found is None:
            return General(question, 1, self.dual)
        way, soft = found
        shared = replace(self.shared, way=way, soft=soft)
        return Compiled(question, shared, 1, self.warm, self.dual)

    def room(self, name: str, count: int, length: int) -> Array:
        """Where this thread may write so many rows, until it asks for the same again.

        Workers of `distributed` give back whatever is freed, and memory that is new to a process
        costs 3 µs for every 4 kB on a virtual machine: a tenth of the solves. Large arrays get large
        pages, which cost less, and would be much to hold on to.
        """
        if 8 * count * length > current().chunk_kept_bytes:
            return np.empty((count, length))
        mine = self._rooms.get((get_ident(), name))
        if mine is None or mine.size < count * length:
            mine = self._rooms[get_ident(), name] = np.empty(count * length)
        return mine[: count * length].reshape(count, length)

    def _way(self, question: Question) -> Any:
        if self.shared is None:
            return None
        if not (question.lower.each or question.upper.each):
            return self.shared.way, self.shared.soft
        pattern = infinities(question)
        if pattern is None:
            return None
        key = b"".join(np.isfinite(bound).tobytes() for bound in pattern)
        if key not in self._ways:
            self._ways[key] = way_for(question, self.shared, pattern)
        return self._ways[key]

    def __getstate__(self) -> dict[str, Any]:
        """Of A one copy is sent; the others are made of it on arrival."""
        state = {**self.__dict__, "_ways": {}, "_rooms": {}}
        if self.shared is not None:
            empty = np.zeros((0, 0))
            model = self.shared.model._replace(rows=empty, columns=empty)
            state["shared"] = replace(self.shared, model=model)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.shared is None:
            return
        rows = self.shared.terms.stacked(dense(self.question))
        whole = self.shared.model._replace(rows=rows, columns=np.ascontiguousarray(rows.T))
        self.shared = replace(self.shared, model=_writeable(whole), way=_writeable(self.shared.way))
        low, high = (_own(b) for b in (self.question.lower, self.question.upper))
        self.question = replace(self.question, lower=low, upper=high)

    def __sizeof__(self) -> int:
        """Bytes of the arrays: what a scheduler takes it to weigh."""
        held = [] if self.shared is None else [*self.shared.model, *self.shared.way]
        return 1000 + sum(part.nbytes for part in held if isinstance(part, np.ndarray))


def _known(bounds: Bounds, stand_in: Array) -> Bounds:
    return Bounds(stand_in, False) if bounds.each else bounds


def _sent(bounds: Bounds) -> Bounds:
    """Bounds of each right-hand side travel with its chunk."""
    return Bounds(None, True) if bounds.each else bounds


def _own(bounds: Bounds) -> Bounds:
    return bounds if bounds.each else Bounds(_writeable((bounds.value,))[0], False)


def _writeable(parts: Any) -> Any:
    """Arrays that came over a wire may be read-only, for which kernels would be compiled anew."""
    made = [np.require(p, requirements="W") if isinstance(p, np.ndarray) else p for p in parts]
    return type(parts)(*made) if hasattr(parts, "_fields") else tuple(made)
