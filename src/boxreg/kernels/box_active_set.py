"""A small box-constrained quadratic problem by an active set, from any start.

    minimise ½ dᵀG d - w₀ᵀd   over   l <= x₀ + d <= u

w₀ are the slopes at the base x₀: solving again from the answer, with slopes from a fresh residual, is
a step of refinement. Every variable is at its lower bound, free, or at its upper bound. Given the free
ones F, G_FF d_F = w₀_F - G_FB d_B; what breaks its bound goes there, all at once, until nothing does.
Then the steepest of those whose slope points inwards become free, a batch at a time. That is fast, and
can fail to lower the objective: then the set is put back and one variable enters by the rule of Lawson
and Hanson, going no farther than the first bound it meets. The objective falls from set to set, so
none comes back.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import branch, branch_sums, inner, leaf, leaf_sums
from .growing_factor import append, remove, solve_factored
from .vectors import flags, floats, indices

LOWER, FREE, UPPER = -1, 0, 1

_BATCH = 6
_STEEP = 0.3
"""Slopes of this share of the steepest, over ||a_j||, join its batch."""
_DISTINCT = 1e-3
"""A column joins a batch if this share of its squared norm, or more, is new."""
_INDEPENDENT = 1e-13
"""A column enters on its own if this share of its squared norm, or more, is."""
_FEW = 16
"""Up to this many free variables, bounds are met one by one from the start: solving again is cheap."""
_CAUTION = 4
"""Single steps after a batch that failed; twice as many after the next."""

Moves = namedtuple(
    "Moves",
    [
        "state",
        "shift",
        "pull",
        "slopes",
        "facing",
        "scores",
        "goal",
        "leaving",
        "found",
        "fit",
        "old",
    ],
)
"""Per variable: state, d, w₀ - G_B d_B, w = w₀ - G d, ±1 / ||a_j|| where a slope of that sign points
inwards, how far it does; for F: the goal, who leaves; room for choices and for A_F d_F."""

Kept = namedtuple("Kept", ["chosen", "shift", "state", "slopes", "facing"])
"""A set to go back to."""


@inner
def new_moves(n, room, m):  # type: ignore[no-untyped-def]
    """Everything at its lower bound."""
    state = np.empty(n, dtype=np.int8)
    for j in range(n):
        state[j] = LOWER
    kept = Kept(indices(room), floats(n), np.empty(n, dtype=np.int8), floats(n), floats(n))
    return Moves(
        state,
        floats(n),
        floats(n),
        floats(n),
        floats(n),
        floats(n),
        floats(room),
        flags(room),
        indices(_BATCH),
        floats(m),
        kept,
    )


@branch
def conform(model, factor, moves, count, lower, upper):  # type: ignore[no-untyped-def]
    """Make the states possible under these bounds; returns the size of F.

    Variables with equal bounds do not move; those without bounds are free from the start.
    """
    state = moves.state
    for k in range(count - 1, -1, -1):
        j = factor.chosen[k]
        if lower[j] == upper[j]:
            count = remove(model, factor, count, k)
            state[j] = LOWER
    for j in range(len(state)):
        if state[j] == FREE:
            continue
        none_below, none_above = lower[j] == -np.inf, upper[j] == np.inf
        if none_below and none_above:
            grown = append(model, factor, count, j, _INDEPENDENT)
            state[j] = FREE if grown > count else LOWER
            count = grown
        elif none_above and state[j] == UPPER:
            state[j] = LOWER
        elif none_below and state[j] == LOWER:
            state[j] = UPPER
    face(model, moves, lower, upper)
    return count


@branch
def settle(model, factor, moves, count, base, start, lower, upper, noise, rounds):  # type: ignore[no-untyped-def]
    """Solve from the states at hand; returns the size of F.

    `start` are the slopes w₀ at `base`; the answer is `base + moves.shift`, its slopes `moves.slopes`.
    """
    facing = moves.facing
    _begin(model, moves, base, start, lower, upper)
    count = _move(model, factor, moves, count, base, lower, upper, count <= _FEW)
    best, caution, penance, barred = _value(moves, start), 0, _CAUTION, False
    for _ in range(rounds):
        gentle = caution > 0 or count <= _FEW
        size = _steepest(moves, noise, 1 if caution else _BATCH)
        if size == 0:
            break
        before = count
        if not gentle:
            _remember(factor, moves, count)
        count = _enter(model, factor, moves, count, size)
        if count == before:
            facing[moves.found[0]], barred = 0.0, True
            continue
        count = _move(model, factor, moves, count, base, lower, upper, gentle)
        value = _value(moves, start)
        if value < best:
            best, caution = value, max(caution - 1, 0)
            if barred:
                face(model, moves, lower, upper)
                barred = False
        elif gentle:  # no gain but rounding's
            for e in range(size):
                facing[moves.found[e]] = 0.0
            barred = True
        else:
            count = _restore(model, factor, moves, before, count, start)
            caution, penance = penance, 2 * penance
    if barred:
        face(model, moves, lower, upper)
    return count


@branch
def _begin(model, moves, base, start, lower, upper):  # type: ignore[no-untyped-def]
    """Put held variables at their bounds, and free ones inside theirs."""
    state, shift, pull = moves.state, moves.shift, moves.pull
    for j in range(len(base)):
        pull[j] = start[j]
        if state[j] == FREE:
            shift[j] = min(max(base[j] + shift[j], lower[j]), upper[j]) - base[j]
        else:
            shift[j] = 0.0
    for j in range(len(base)):
        if state[j] != FREE:
            d = _bound_shift(state[j], lower[j], upper[j], base[j])
            if d != 0.0:
                _hold(model, moves, j, d)


@leaf
def _bound_shift(state, low, high, at):  # type: ignore[no-untyped-def]
    """d_j of a variable that is held: to its bound, or nowhere if it has none."""
    bound = high if state == UPPER else low
    return bound - at if -np.inf < bound < np.inf else 0.0


@branch_sums
def _hold(model, moves, j, d):  # type: ignore[no-untyped-def]
    """Variable j, not in F, moves to d_j = d: the pull on the others changes."""
    change = d - moves.shift[j]
    moves.shift[j] = d
    if change == 0.0:
        return
    pull = moves.pull
    if len(model.gram):
        row = model.gram[j]
        for i in range(len(pull)):
            pull[i] -= change * row[i]
        return
    weighted, column = len(model.roots) > 0, model.columns[j]
    for r in range(len(column)):
        h = model.roots[r] * model.roots[r] if weighted else 1.0
        value, row = change * h * column[r], model.rows[r]
        if value != 0.0:
            for i in range(len(pull)):
                pull[i] -= value * row[i]


@leaf_sums
def _refresh_slopes(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """w = pull - G_F d_F."""
    slopes, pull, shift = moves.slopes, moves.pull, moves.shift
    n = len(slopes)
    if not len(model.gram):
        for j in range(n):
            slopes[j] = pull[j]
        _product_slopes(model, factor, moves, count)
        return
    whole = count - count % 4
    if whole == 0:
        for j in range(n):
            slopes[j] = pull[j]
    else:
        a, b = factor.chosen[0], factor.chosen[1]
        c, d = factor.chosen[2], factor.chosen[3]
        p, q, r, s = shift[a], shift[b], shift[c], shift[d]
        first, second, third, fourth = model.gram[a], model.gram[b], model.gram[c], model.gram[d]
        for j in range(n):
            slopes[j] = pull[j] - ((p * first[j] + q * second[j]) + (r * third[j] + s * fourth[j]))
    for k in range(4, whole, 4):
        a, b = factor.chosen[k], factor.chosen[k + 1]
        c, d = factor.chosen[k + 2], factor.chosen[k + 3]
        p, q, r, s = shift[a], shift[b], shift[c], shift[d]
        first, second, third, fourth = model.gram[a], model.gram[b], model.gram[c], model.gram[d]
        for j in range(n):
            slopes[j] -= (p * first[j] + q * second[j]) + (r * third[j] + s * fourth[j])
    for k in range(whole, count):
        p, first = shift[factor.chosen[k]], model.gram[factor.chosen[k]]
        for j in range(n):
            slopes[j] -= p * first[j]


@branch_sums
def _product_slopes(model, factor, moves, count):  # type: ignore[no-untyped-def]
    """The same through A: w = pull - Aᵀ H A_F d_F."""
    m, slopes = len(model.rows), moves.slopes
    fit = moves.fit
    for r in range(m):
        fit[r] = 0.0
    for k in range(count):
        value, held = moves.shift[factor.chosen[k]], factor.held[k]
        for r in range(m):
            fit[r] += value * held[r]
    weighted = len(model.roots) > 0
    for r in range(m):
        value, row = fit[r] * model.roots[r] if weighted else fit[r], model.rows[r]
        for j in range(len(slopes)):
            slopes[j] -= value * row[j]


@leaf_sums
def _value(moves, start):  # type: ignore[no-untyped-def]
    """½ dᵀG d - w₀ᵀd = -½ dᵀ(w₀ + w)."""
    total = 0.0
    for j in range(len(start)):
        total += moves.shift[j] * (start[j] + moves.slopes[j])
    return -0.5 * total


@leaf
def _steepest(moves, noise, most):  # type: ignore[no-untyped-def]
    """How many variables are to become free, the steepest first.

    Of neighbours in A, which are often alike, only the steepest. `noise` is over ||a_j||.
    """
    facing, slopes, scores = moves.facing, moves.slopes, moves.scores
    n, found, size, least = len(facing), moves.found, 0, noise
    for j in range(n):
        scores[j] = facing[j] * slopes[j]
    for j in range(n):
        score = scores[j]
        if score <= least or (j > 0 and scores[j - 1] > score):
            continue
        if j + 1 < n and scores[j + 1] >= score:
            continue
        at = size if size < most else most - 1
        while at > 0 and scores[found[at - 1]] < score:
            found[at] = found[at - 1]
            at -= 1
        found[at] = j
        size = min(size + 1, most)
        least = max(least, _STEEP * scores[found[0]])
        if size == most:
            least = max(least, scores[found[size - 1]])
    while size > 1 and scores[found[size - 1]] < _STEEP * scores[found[0]]:
        size -= 1
    return size


@branch
def face(model, moves, lower, upper):  # type: ignore[no-untyped-def]
    """Note which way each held variable may move, over ||a_j||; nothing is barred any more."""
    facing, state, norms = moves.facing, moves.state, model.norms
    for j in range(len(state)):
        facing[j] = 0.0
        if state[j] != FREE and lower[j] < upper[j] and norms[j] > 0.0:
            facing[j] = -state[j] / norms[j]


@leaf
def _remember(factor, moves, count):  # type: ignore[no-untyped-def]
    """Note the set and where it is, to be able to go back."""
    old = moves.old
    for k in range(count):
        old.chosen[k] = factor.chosen[k]
    for j in range(len(old.shift)):
        old.shift[j], old.state[j] = moves.shift[j], moves.state[j]
        old.slopes[j], old.facing[j] = moves.slopes[j], moves.facing[j]


@branch
def _restore(model, factor, moves, before, count, start):  # type: ignore[no-untyped-def]
    """Put the set back that was noted; what is in place already stays."""
    old, same = moves.old, 0
    while same < min(count, before) and factor.chosen[same] == old.chosen[same]:
        same += 1
    size = same
    for k in range(same, before):
        size = append(model, factor, size, old.chosen[k], 0.0)
    for j in range(len(start)):
        moves.state[j] = old.state[j]
        moves.slopes[j], moves.facing[j] = old.slopes[j], old.facing[j]
        moves.pull[j] = start[j]
        moves.shift[j] = 0.0
    for j in range(len(start)):
        if moves.state[j] != FREE and old.shift[j] != 0.0:
            _hold(model, moves, j, old.shift[j])
    for j in range(len(start)):
        if moves.state[j] == FREE:
            moves.shift[j] = old.shift[j]
    return size


@leaf
def _enter(model, factor, moves, count, size):  # type: ignore[no-untyped-def]
    """Let the variables found enter that are independent enough; returns the size of F."""
    first = count
    for e in range(size):
        j = moves.found[e]
        grown = append(model, factor, count, j, _INDEPENDENT if e == 0 else _DISTINCT)
        if grown == count and count == first:
            break  # where the steepest depends on the free columns it is barred first
        if grown > count:
            at = moves.shift[j]
            if at != 0.0:
                _hold(model, moves, j, 0.0)
            moves.shift[j], moves.state[j], moves.facing[j] = at, FREE, 0.0
            count = grown
    return count


@leaf
def _leave(model, factor, moves, count, at, side, base, lower, upper):  # type: ignore[no-untyped-def]
    """The variable at position `at` of F goes to its bound on that side."""
    j = factor.chosen[at]
    moves.state[j], moves.shift[j] = side, 0.0
    moves.facing[j] = -side / model.norms[j]
    count = remove(model, factor, count, at)
    d = _bound_shift(side, lower[j], upper[j], base[j])
    if d != 0.0:
        _hold(model, moves, j, d)
    return count


@leaf
def _move(model, factor, moves, count, base, lower, upper, gentle):  # type: ignore[no-untyped-def]
    """To the fit of F, or as far as bounds allow, and the slopes there; returns the size of F."""
    if gentle:
        count = _cautious(model, factor, moves, count, base, lower, upper)
    else:
        count = _descend(model, factor, moves, count, base, lower, upper)
    _refresh_slopes(model, factor, moves, count)
    return count


@leaf
def _descend(model, factor, moves, count, base, lower, upper):  # type: ignore[no-untyped-def]
    """Fit F, and again without the variables that break a bound, until none does."""
    goal, leaving = moves.goal, moves.leaving
    while count > 0:
        solve_factored(factor, count, moves.pull, goal)
        some = False
        for k in range(count):
            j = factor.chosen[k]
            x = base[j] + goal[k]
            leaving[k] = x <= lower[j] or x >= upper[j]
            some |= leaving[k]
        if not some:
            break
        for k in range(count - 1, -1, -1):
            if leaving[k]:
                j = factor.chosen[k]
                side = LOWER if base[j] + goal[k] <= lower[j] else UPPER
                count = _leave(model, factor, moves, count, k, side, base, lower, upper)
    for k in range(count):
        moves.shift[factor.chosen[k]] = goal[k]
    return count


@leaf
def _cautious(model, factor, moves, count, base, lower, upper):  # type: ignore[no-untyped-def]
    """Go towards the fit of F, as far as the first bound; what meets it leaves; and so on."""
    goal, shift = moves.goal, moves.shift
    while count > 0:
        solve_factored(factor, count, moves.pull, goal)
        step, first, side = 1.0, -1, LOWER
        for k in range(count):
            j = factor.chosen[k]
            at, way = base[j] + shift[j], goal[k] - shift[j]
            if base[j] + goal[k] <= lower[j]:
                share = max((at - lower[j]) / -way, 0.0) if way < 0.0 else 0.0
                if share < step or first < 0:
                    step, first, side = share, k, LOWER
            elif base[j] + goal[k] >= upper[j]:
                share = max((upper[j] - at) / way, 0.0) if way > 0.0 else 0.0
                if share < step or first < 0:
                    step, first, side = share, k, UPPER
        for k in range(count):
            j = factor.chosen[k]
            moved = goal[k] if first < 0 else shift[j] + step * (goal[k] - shift[j])
            shift[j] = moved
        if first < 0:
            break
        count = _leave(model, factor, moves, count, first, side, base, lower, upper)
    return count
