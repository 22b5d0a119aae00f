"""Box-constrained Kullback–Leibler regression for a block of right-hand sides that share A >= 0.

Newton's method on active sets: each step minimises the second-order model of the divergence over the
box, from the set of the step before. The first model is that around q = y, (q - y)² / (2 y), from the set
of a similar right-hand side: from a start far from y Newton's method would double the prediction a step.
"""

from __future__ import annotations

import numpy as np

from .block_products import combine, correlate_one
from .box_active_set import LOWER, conform, new_moves, settle
from .box_certificates import describe, gamma, new_box, prediction_error, size_of
from .chaining import chain
from .compiling import branch, compiled, leaf
from .growing_factor import Model, append, new_factor
from .kullback_leibler_certificates import divergence, kullback_leibler_gap, shrink
from .vectors import floats, table

_UNIT = 2.0**-53
_SLACK = 1.0 + 1e-8
_STEPS = 60
_HALVINGS = 40
_ARMIJO = 1e-4
_NOISE = 1e-13
_FLAT = 1e-8
"""h counts as at least this share of its largest."""
_MIXTURE = 1e-2
"""The share of a point inside that is mixed into a first guess which leaves a row of y without any."""


@compiled
def solve_block(model, Y, lower, upper, way, background, tol, warm, used, answers):  # type: ignore[no-untyped-def]
    """Solve the right-hand sides Y[p], p in `used`; a gap above its target is left to others."""
    (m, n), per = model.rows.shape, len(lower) > 1
    room, rounds = min(m, n), 3 * n + 30
    weighted = Model(table(0, 0), model.rows, model.columns, model.norms, floats(m))
    factor, moves, box = new_factor(room, m), new_moves(n, room, m), new_box(n)
    x, inside, slopes, sums, w = floats(n), floats(n), floats(n), floats(n), floats(n)
    p, q, v, theta, reach = floats(m), floats(m), floats(m), floats(m), floats(m)
    kept, trial = floats(n), floats(n)
    for i in range(m):
        v[i] = 1.0
    correlate_one(model.rows, v, 0, n, sums)
    for j in range(n):
        x[j] = 1.0
    combine(model.columns, x, reach)
    describe(lower[0], upper[0], box)
    if warm:
        chain(Y, used, floats(len(used)))
    count = 0
    for k in range(len(used)):
        r = used[k]
        y, low, high = Y[r], lower[r if per else 0], upper[r if per else 0]
        if per:
            describe(low, high, box)
        _inside(y, reach, low, high, inside)
        scale, drift = _scale(model, y, background, low, high, inside, x, p, q)
        answers.scales[r], answers.gaps[r] = scale, np.inf
        answers.targets[r] = max(tol * scale, drift * drift)
        if not warm:
            count = 0
            for j in range(n):
                moves.state[j] = LOWER
        # The model around q = y, at the projection of 0 on the box.
        for j in range(n):
            x[j] = min(max(0.0, low[j]), high[j])
        combine(model.columns, x, p)
        for i in range(m):
            ideal = max(y[i], background[i])
            h = y[i] / (ideal * ideal) if y[i] > 0.0 else 0.0
            weighted.roots[i] = h
        _floor(weighted.roots, y)
        for i in range(m):
            h = weighted.roots[i]
            v[i] = h * (max(y[i], background[i]) - background[i] - p[i]) if y[i] > 0.0 else -1.0
            weighted.roots[i] = np.sqrt(h)
        count = _again(weighted, factor, moves, count)
        count = conform(weighted, factor, moves, count, low, high)
        correlate_one(model.rows, v, 0, n, slopes)
        noise = _UNIT * (m + 2) * size_of(v)
        count = settle(weighted, factor, moves, count, x, slopes, low, high, noise, rounds)
        for j in range(n):
            x[j] = min(max(x[j] + moves.shift[j], low[j]), high[j])
        value = _evaluate(model, background, y, x, p, q)
        if not value < np.inf:
            for j in range(n):
                x[j] = (1.0 - _MIXTURE) * x[j] + _MIXTURE * inside[j]
            value = _evaluate(model, background, y, x, p, q)
        for _ in range(_STEPS):
            if not value < np.inf:
                break
            for i in range(m):
                theta[i] = (y[i] - q[i]) / q[i] if y[i] > 0.0 else -1.0
            correlate_one(model.rows, theta, 0, n, slopes)
            size = size_of(theta)
            for j in range(n):
                w[j] = slopes[j]
            for i in range(m):
                v[i] = theta[i]
            error = gamma(m + 2) * size * _SLACK
            error = shrink(w, v, y, sums, model.norms, box, error)
            gap = np.inf
            if error >= 0.0:
                gap = kullback_leibler_gap(x, p, w, v, y, background, model.norms, box, error)
            if gap < answers.gaps[r]:
                answers.gaps[r] = gap
                for j in range(n):
                    answers.X[r, j] = x[j]
                if len(answers.theta):
                    for i in range(m):
                        answers.theta[r, i] = v[i]
            if gap <= answers.targets[r]:
                break
            for i in range(m):
                weighted.roots[i] = y[i] / q[i] / q[i] if y[i] > 0.0 else 0.0
            _floor(weighted.roots, y)
            for i in range(m):
                weighted.roots[i] = np.sqrt(weighted.roots[i])
            for j in range(n):
                moves.shift[j] = 0.0
            count = _again(weighted, factor, moves, count)
            noise = _UNIT * (m + 2) * size
            count = settle(weighted, factor, moves, count, x, slopes, low, high, noise, rounds)
            for j in range(n):
                kept[j] = x[j]
            before = value
            value = _towards(
                model, background, y, kept, moves.shift, slopes, low, high, value, x, p, q
            )
            if value == np.inf:
                value = before
                break


@leaf
def _inside(y, reach, low, high, inside):  # type: ignore[no-untyped-def]
    """The projection on the box of the multiple of 1 whose predictions have the mean of y."""
    total, whole = 0.0, 0.0
    for i in range(len(y)):
        if y[i] > 0.0:
            total += y[i]
            whole += reach[i]
    level = total / whole if whole > 0.0 else 1.0
    for j in range(len(inside)):
        inside[j] = min(max(level, low[j]), high[j])


@branch
def _scale(model, y, background, low, high, inside, x, p, q):  # type: ignore[no-untyped-def]
    """P₀: at the projection of 0 on the box, or where that is infinite, inside; and the error of p."""
    for j in range(len(x)):
        x[j] = min(max(0.0, low[j]), high[j])
    value = _evaluate(model, background, y, x, p, q)
    drift, _ = prediction_error(x, model.norms)
    if not value < np.inf:
        value = _evaluate(model, background, y, inside, p, q)
        drift, _ = prediction_error(inside, model.norms)
    return value, drift


@branch
def _evaluate(model, background, y, x, p, q):  # type: ignore[no-untyped-def]
    """p = A x, q = p + b, and the objective."""
    combine(model.columns, x, p)
    for i in range(len(q)):
        q[i] = p[i] + background[i]
    return divergence(q, y)


@leaf
def _floor(h, y):  # type: ignore[no-untyped-def]
    """A little curvature in rows where there is next to none; none where y = 0."""
    most = 0.0
    for i in range(len(h)):
        most = max(most, h[i])
    for i in range(len(h)):
        if y[i] > 0.0:
            h[i] = max(h[i], _FLAT * most)


@branch
def _again(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """Factor the set at hand in the metric at hand; returns its size."""
    size = 0
    for k in range(count):
        j = factor.chosen[k]
        grown = append(model, factor, size, j, 1e-13)
        if grown == size:
            moves.state[j] = LOWER
        size = grown
    return size


@branch
def _towards(model, background, y, start, d, slopes, low, high, value, x, p, q):  # type: ignore[no-untyped-def]
    """The first of x + s d, s = 1, ½, … that lowers the objective enough, and its value; inf if none."""
    promised = 0.0
    for j in range(len(x)):
        promised += slopes[j] * d[j]
    share = 1.0
    for _ in range(_HALVINGS):
        for j in range(len(x)):
            x[j] = min(max(start[j] + share * d[j], low[j]), high[j])
        trial = _evaluate(model, background, y, x, p, q)
        if trial < value - _ARMIJO * share * promised:
            return trial
        if promised <= _NOISE * value and trial < np.inf:  # the objective cannot tell any more
            return trial
        share *= 0.5
    return np.inf
