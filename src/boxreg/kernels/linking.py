"""Compiling in less time: inner functions are linked once, into the functions that Python calls.

numba makes a library of every function: it links in all functions that this one calls, optimises all of
them again, and makes machine code of them. What lies at the end of a chain of five calls is then
optimised five times, and made machine code of as often. Inner functions have no way in from Python:
here their code waits, as it was lowered, for the function at the head of the chain, where everything is
linked and optimised together.

A first call of `nnls` takes 4.4 s with this and 8.5 without, of `solve` 9.2 and 25, of
`solve_many` 12 and 35 (processor time on a 2-core AMD EPYC virtual machine, numba 0.68.1).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import require_global_compiler_lock

_LEVEL = 1
"""LLVM's level of optimisation. Loops are vectorised all the same. A first `solve` takes a tenth longer
to compile at level 3; at level 2 none of seven workloads ran faster by more than 3 %."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Optimised at our level."""

    def _optimize_functions(self, module: Any) -> None:
        with _own_level():
            super()._optimize_functions(module)

    def _optimize_final_module(self) -> None:
        with _own_level():
            super()._optimize_final_module()


class _Part(_Library):
    """The code of an inner function and of those that it calls, as it was lowered."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.environments: list[tuple[str, Any]] = []
        """What numba tells functions once they are in memory, with the names of global variables."""

    @property
    def codegen(self) -> Any:
        """Takes environments down, which have no place in memory yet."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Keep an environment for the function that this one is linked into."""
        self.environments.append((name, env))

    def finalize(self) -> None:
        """Nothing is optimised, or made machine code of."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self.environments += getattr(library, "environments", [])
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: nobody calls it from Python."""
        self._ensure_finalized()
        return 0


class _Whole(_Library):
    """The code of a function that Python calls, which tells the others their environments."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for library in self._linking_libraries:
            for name, env in getattr(library, "environments", ()):
                if self._codegen._engine.get_global_value_address(name):
                    self._codegen.set_env(name, env)


class _KnownFlags(Flags):  # type: ignore[misc]
    """Options of a function, of which equal copies are one object: numba looks up thousands of operators
    by them, and would compare them entry by entry."""

    __slots__ = ()
    _known: dict[str, Any] = {}  # noqa: RUF012

    def copy(self) -> Any:
        """The one that all equal ones share."""
        return self._known.setdefault(self.summary(), super().copy())

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class InnerCompiler(Compiler):  # type: ignore[misc]
    """For functions that only compiled functions call."""

    library: Any = _Part

    def compile_extra(self, func: Any) -> Any:
        """Compile a function into a library of ours."""
        state = self.state
        state.flags = _KnownFlags(state.flags)
        state.library = self.library(state.targetctx.codegen(), func.__qualname__)
        state.library.enable_object_caching()
        return super().compile_extra(func)


class EntryCompiler(InnerCompiler):
    """For functions that Python calls."""

    library = _Whole

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, and with it those that it calls."""
        with _no_collecting():
            return super().compile_extra(func)


@contextmanager
def _own_level() -> Iterator[None]:
    before, config.OPT = config.OPT, min(config.OPT, _LEVEL)
    try:
        yield
    finally:
        config.OPT = before


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Garbage collection would take a tenth of the time: all objects of a compiler live to its end."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
