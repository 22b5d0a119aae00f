"""Inner functions are linked once: values, errors and caches are as numba's own."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types
from numba.core import config

from boxreg.kernels.compiling import branch_sums, compiled, inner, leaf

if config.DISABLE_JIT:
    pytest.skip("nothing is compiled", allow_module_level=True)


@leaf
def _square(v):
    return v * v


@branch_sums
def _norm(v):
    total = 0.0
    for value in v:
        total += _square(value)
    return np.sqrt(total)


@inner
def _scaled(v):
    size = _norm(v)
    if size == 0.0:
        raise ValueError("nothing to scale")
    out = np.empty(len(v))
    for i in range(len(v)):
        out[i] = v[i] / size
    return out


@compiled
def unit(v):
    """v over its norm."""
    return _scaled(v)


@njit
def doubled(v):
    """Compiled by numba alone, with a kernel in it and inner functions of inner functions."""
    return 2.0 * unit(v) * _norm(_scaled(v))


def test_a_chain_of_functions() -> None:
    np.testing.assert_allclose(unit(np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-15)


def test_errors_come_through() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing to scale"):
            unit(np.zeros(3))


def test_kernels_can_be_called_from_other_compiled_code() -> None:
    np.testing.assert_allclose(doubled(np.array([0.0, 2.0])), [0.0, 2.0], rtol=1e-15)


def test_code_from_the_cache() -> None:
    """As another process finds it: nothing of its inner functions is in memory."""
    unit(np.array([3.0, 4.0]))
    (signature,) = unit.signatures
    unit.disable_compile()
    cached = unit._cache.load_overload(signature, unit.targetctx)
    assert cached is not None
    np.testing.assert_allclose(cached.entry_point(np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-15)
    with pytest.raises(ValueError, match="nothing to scale"):
        cached.entry_point(np.zeros(3))


def test_inner_functions_wait_for_the_one_that_python_calls() -> None:
    """No machine code, and nothing is optimised: a leaf has not been put in its place."""
    _scaled.compile((types.float64[::1],))
    (found,) = _scaled.overloads.values()
    name, library = found.fndesc.llvm_func_name, found.library
    assert library.get_pointer_to_function(name) == 0
    text = library.get_llvm_str()
    defined = [line for line in text.splitlines() if line.startswith("define")]
    assert any(name in line for line in defined)
    assert any("_square" in line for line in defined)
