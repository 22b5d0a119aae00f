"""Box-constrained Kullback–Leibler regression for a block of right-hand sides that share A >= 0.

Newton's method on active sets: each step minimises the second-order model of the divergence over the
box, from the set of the step before. The first model is that around q = y, (q - y)² / (2 y), from the
set of a similar right-hand side: from a start far from y Newton's method would double the prediction a
step.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import SLACK, UNIT_ROUNDOFF
from .block_products import combine, correlate_one
from .blocks import answers_within, bounds_within, valid_within
from .box_active_set import conform, settle
from .box_certificates import describe, gamma, new_box, prediction_error, size_of
from .box_moves import LOWER, face, new_moves
from .chaining import chain
from .compiling import branch, compiled, inner, leaf
from .growing_factor import Model, factor_again, new_factor
from .kullback_leibler_certificates import divergence, kullback_leibler_gap, shrink
from .vectors import floats, table

_STEPS = 60
_IDLE = 3
"""Newton steps in a row without a measurable decrease of the objective, after which the general solver
takes over."""
_PRODUCTS, _ENTRIES = 300.0, 1e6
"""Budget of one right-hand side before the general solver takes over: so many products with A, or
products that read so many entries if that is more. Chosen from the time that the general solver took on
one 400 × 3000 problem; other values were not timed."""
_HALVINGS = 40
_ARMIJO = 1e-4
_NOISE = 1e-13
_FLAT = 1e-8
"""h counts as at least this share of its largest."""
_MIXTURE = 1e-2
"""The share of a point inside that is mixed into a first guess which leaves a row of y without any."""


Room = namedtuple("Room", ["x", "kept", "slopes", "w", "sums", "p", "q", "v", "theta", "box"])
"""x and where it was, slopes and those of a feasible theta, Aᵀ1; A x, q = A x + b, theta as it is
moved into the dual feasible set, theta at x; the bounds."""


@inner
def solve_block(model, Y, lower, upper, way, background, tol, warm, used, answers):  # type: ignore[no-untyped-def]
    """Solve the right-hand sides Y[p], p in `used`; a gap above its target is left to others."""
    (m, n), per = model.rows.shape, len(lower) > 1
    weighted = Model(
        table(0, 0), model.rows, model.columns, model.norms, floats(m), model.ridge, model.inverse
    )
    factor, moves = new_factor(min(m, n), m), new_moves(n, min(m, n), m)
    room = Room(
        floats(n), floats(n), floats(n), floats(n), floats(n),
        floats(m), floats(m), floats(m), floats(m),
        new_box(n),
    )  # fmt: skip
    inside, reach = floats(n), floats(m)
    for i in range(m):
        room.v[i] = 1.0
    correlate_one(model.rows, room.v, 0, n, room.sums)
    for j in range(n):
        inside[j] = 1.0
    combine(model.columns, inside, reach)
    describe(lower[0], upper[0], room.box)
    if warm:
        chain(Y, used, floats(len(used)))
    count = 0
    for k in range(len(used)):
        r = used[k]
        y, low, high = Y[r], lower[r if per else 0], upper[r if per else 0]
        if per:
            describe(low, high, room.box)
        _inside(y, reach, low, high, inside)
        scale, drift = _scale(model, y, background, low, high, inside, room)
        answers.scales[r], answers.gaps[r] = scale, np.inf
        answers.targets[r] = max(tol * scale, drift * drift)
        if not warm:
            count = 0
            for j in range(n):
                moves.state[j] = LOWER
        count, rounds = _first_guess(weighted, factor, moves, count, y, background, low, high, room)
        value = _evaluate(model, background, y, room)
        if not value < np.inf:
            for j in range(n):
                room.x[j] = (1.0 - _MIXTURE) * room.x[j] + _MIXTURE * inside[j]
            value = _evaluate(model, background, y, room)
        idle, left = 0, max(_PRODUCTS, _ENTRIES / (m * n)) - rounds - count * count / n
        for _ in range(_STEPS):
            if not value < np.inf or _proved(model, y, background, room, r, answers):
                break
            if idle == _IDLE or left < 1.0:
                break
            count, rounds = _newton(weighted, factor, moves, count, y, low, high, room, left)
            left -= rounds + count * count / n + 3.0
            before = value
            value = _towards(model, background, y, moves.shift, low, high, value, room)
            idle = 0 if value < before * (1.0 - _NOISE) else idle + 1


@compiled
def solve_blocks(model, Y, valid, lower, upper, way, background, tol, warm, cuts, answers):  # type: ignore[no-untyped-def]
    """Solve blocks of rows, from cuts[b, 0] to cuts[b, 1], one after the other."""
    for b in range(len(cuts)):
        first, last = cuts[b, 0], cuts[b, 1]
        used = valid_within(valid, first, last)
        if len(used):
            low, high = bounds_within(lower, first, last), bounds_within(upper, first, last)
            found = answers_within(answers, first, last)
            solve_block(model, Y[first:last], low, high, way, background, tol, warm, used, found)


@branch
def _first_guess(model, factor, moves, count, y, background, low, high, room):  # type: ignore[no-untyped-def]
    """The minimum of the model around q = y, from the projection of 0 on the box; the size of F, and
    rounds of the active set."""
    x, v, n, most = room.x, room.v, len(room.x), int(max(_PRODUCTS, _ENTRIES / model.rows.size))
    for j in range(n):
        x[j] = min(max(0.0, low[j]), high[j])
    combine(model.columns, x, room.p)
    for i in range(len(y)):
        ideal = max(y[i], background[i])
        model.roots[i] = y[i] / (ideal * ideal) if y[i] > 0.0 else 0.0
    _floor(model.roots, y)
    for i in range(len(y)):
        short = max(y[i], background[i]) - background[i] - room.p[i]
        v[i] = model.roots[i] * short if y[i] > 0.0 else -1.0
        model.roots[i] = np.sqrt(model.roots[i])
    count = factor_again(model, factor, moves.state, count)
    count = conform(model, factor, moves, count, low, high)
    correlate_one(model.rows, v, 0, n, room.slopes)
    noise = UNIT_ROUNDOFF * (len(y) + 2) * size_of(v)
    count, made = settle(model, factor, moves, count, x, room.slopes, low, high, noise, most)
    for j in range(n):
        x[j] = min(max(x[j] + moves.shift[j], low[j]), high[j])
    return count, made


@branch
def _proved(model, y, background, room, r, answers):  # type: ignore[no-untyped-def]
    """Certify x, keep it if nothing better was proved before; whether the target is met.

    Leaves theta at x and its slopes in their place.
    """
    m, n = model.rows.shape
    theta, v, w = room.theta, room.v, room.w
    for i in range(m):
        theta[i] = (y[i] - room.q[i]) / room.q[i] if y[i] > 0.0 else -1.0
        v[i] = theta[i]
    correlate_one(model.rows, theta, 0, n, room.slopes)
    for j in range(n):
        w[j] = room.slopes[j]
    error = gamma(m + 2) * size_of(theta) * SLACK
    error = shrink(w, v, y, room.sums, model.norms, room.box, error)
    gap = np.inf
    if error >= 0.0:
        gap = kullback_leibler_gap(
            room.x, room.p, w, v, y, background, model.norms, room.box, error
        )
    if gap < answers.gaps[r]:
        answers.gaps[r], answers.objectives[r] = gap, divergence(room.q, y)
        for j in range(n):
            answers.X[r, j] = room.x[j]
        if len(answers.theta):
            for i in range(m):
                answers.theta[r, i] = v[i]
    return gap <= answers.targets[r]


@branch
def _newton(model, factor, moves, count, y, low, high, room, left):  # type: ignore[no-untyped-def]
    """The minimum of the second-order model at x, as `moves.shift`, in so many rounds of the active set;
    the size of F, and the rounds made."""
    n = len(room.x)
    for i in range(len(y)):
        model.roots[i] = y[i] / room.q[i] / room.q[i] if y[i] > 0.0 else 0.0
    _floor(model.roots, y)
    for i in range(len(y)):
        model.roots[i] = np.sqrt(model.roots[i])
    for j in range(n):
        moves.shift[j] = 0.0
    count = factor_again(model, factor, moves.state, count)
    face(model, moves, low, high)
    noise = UNIT_ROUNDOFF * (len(y) + 2) * size_of(room.theta)
    base, slopes, most = room.x, room.slopes, min(int(left), 3 * n + 30)
    return settle(model, factor, moves, count, base, slopes, low, high, noise, most)


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
def _scale(model, y, background, low, high, inside, room):  # type: ignore[no-untyped-def]
    """P₀: at the projection of 0 on the box, or where that is infinite, inside; and the error of p."""
    for j in range(len(inside)):
        room.x[j] = min(max(0.0, low[j]), high[j])
    value = _evaluate(model, background, y, room)
    if not value < np.inf:
        for j in range(len(inside)):
            room.x[j] = inside[j]
        value = _evaluate(model, background, y, room)
    drift, _ = prediction_error(room.x, model.norms)
    return value, drift


@branch
def _evaluate(model, background, y, room):  # type: ignore[no-untyped-def]
    """p = A x, q = p + b, and the objective."""
    combine(model.columns, room.x, room.p)
    for i in range(len(y)):
        room.q[i] = room.p[i] + background[i]
    return divergence(room.q, y)


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
def _towards(model, background, y, d, low, high, value, room):  # type: ignore[no-untyped-def]
    """The first of x + s d, s = 1, ½, … that lowers the objective enough; its value, or inf."""
    promised, x = 0.0, room.x
    for j in range(len(x)):
        promised += room.slopes[j] * d[j]
        room.kept[j] = x[j]
    share = 1.0
    for _ in range(_HALVINGS):
        for j in range(len(x)):
            x[j] = min(max(room.kept[j] + share * d[j], low[j]), high[j])
        trial = _evaluate(model, background, y, room)
        if trial < value - _ARMIJO * share * promised:
            return trial
        if promised <= _NOISE * value and trial < np.inf:  # the objective cannot tell any more
            return trial
        share *= 0.5
    return np.inf
