"""The second derivatives that quadratic models are made with."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..reduced import ReducedProblem

_FLAT = 1e-12
"""h counts as at least this share of its largest: without curvature steps would have no end."""

_STEEP = 1e10
"""And as at most this many times its median."""


def metric(
    problem: ReducedProblem, prediction: Array, caution: float, optimism: float | None = None
) -> Array:
    """h = f'' + κ (s - f''), s the secants f'(p) / (p - argmin f), which see farther than f''.

    κ is the caution where s > f'', which shortens steps, and the optimism where s < f'', which makes
    them longer: f'' of a count that is predicted far too small would only double the prediction. The
    two are equal unless both are given.
    """
    secants = problem.loss.secants(prediction, problem.target)
    curvature = problem.loss.curvatures(prediction, problem.target)
    h = np.where(np.isfinite(curvature), curvature, secants)
    with np.errstate(invalid="ignore"):  # inf - inf where both are infinite
        apart = secants - h
        share = caution if optimism is None else np.where(apart > 0.0, caution, optimism)
        mixed = h + share * apart
    return tamed(np.where(np.isfinite(h), mixed, np.inf))


def tamed(h: Array) -> Array:
    """h, a little where there is none, and less where it is infinite (as at the end of a domain).

    1 everywhere if there is none at all, as where f'' underflows.
    """
    least, most = float(np.min(h, initial=np.inf)), float(np.max(h, initial=0.0))
    if most == 0.0:
        return np.ones_like(h)
    if max(_FLAT * most, most / _STEEP) <= least and most < np.inf:
        return h
    finite = h[np.isfinite(h)]
    middle = float(np.median(finite)) if len(finite) else 1.0
    h = np.minimum(h, _STEEP * middle if middle > 0.0 else np.inf)
    return np.maximum(h, _FLAT * float(np.max(h, initial=0.0)))
