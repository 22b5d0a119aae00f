"""β-divergences between least squares and Kullback–Leibler."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arguments import number
from ..arrays import Array, Index
from ..rounding import ELEMENTARY, FAINT, SLACK, TINY, UNIT_ROUNDOFF
from .kinds import BETA_DIVERGENCE
from .positive import PositiveLoss
from .powers import power_excess, power_root
from .prox import prox_of_conjugate

_HALVINGS = 16


class BetaDivergence(PositiveLoss):
    """f(p; y) = y^β / (β(β-1)) + q^β / β - y q^(β-1) / (β-1), q = p + b, 1 < β < 2, y >= 0, b >= 0.

    f'(p) = q^(β-2) (q - y), from -inf (0 if y = 0) to +inf; f''(p) = q^(β-3) ((β-1) q + (2-β) y)
    decreases in q. f*(v) = (q - b) v - f at the q with f' = v, finite for every v; where y = 0 and
    v <= 0 that q is 0 and f*(v) = -b v. Hypotheses: y >= 0, A >= 0, lower >= 0.

    With D(q, r) = f(q) - f(r) - f'(r) (q - r), f = D(q, y) and the bracket f(p) + f*(v) - p v is
    D(q, q(v)); D is a sum of two divergences of powers, each >= 0, which do not cancel. alpha = 0:
    f'' has no bound near q = 0.
    """

    name = "beta_divergence"
    inverts_derivative = True
    roundoff_derivative = 24.0
    roundoff_value = 256.0

    def __init__(self, beta: float = 1.5, background: npt.ArrayLike = 0.0) -> None:
        self.beta = number(beta, "beta")
        if not 1.0 < self.beta < 2.0:
            raise ValueError(
                f"beta: expected a number between 1 and 2, both excluded, got {beta!r}; "
                "for 1 use kullback_leibler, for 2 least_squares"
            )
        super().__init__(background)

    def rows(self, kept: Index) -> BetaDivergence:
        """The background of those rows."""
        return BetaDivergence(self.beta, self._background.rows(kept).value)

    def in_kernels(self, count: int) -> tuple[int, float, Array]:
        """As `row_losses` knows it."""
        return BETA_DIVERGENCE, self.beta, np.broadcast_to(self.background, count)

    def secants(self, prediction: Array, target: Array) -> Array:
        """q^(β-2); +inf at q = 0."""
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(np.maximum(prediction + self.background, 0.0) ** (self.beta - 2.0))

    def values(self, prediction: Array, target: Array) -> Array:
        """D(q, y); +inf where q < 0."""
        q = prediction + self.background
        return np.where(q >= 0.0, self._divergence(np.maximum(q, 0.0), target, target)[0], np.inf)

    def derivatives(self, prediction: Array, target: Array) -> Array:
        """q^(β-2) (q - y)."""
        return self._slope(prediction + self.background, target)

    def conjugates(self, v: Array, target: Array) -> Array:
        """(q - b) v - f(q - b) at q = q(v)."""
        q = self._root(v, target)
        with np.errstate(invalid="ignore", over="ignore"):
            value = (q - self.background) * v - self._divergence(q, target, target)[0]
        return np.where(np.isfinite(value), value, np.inf)

    def inverse_derivatives(self, v: Array, target: Array) -> Array:
        """q(v) - b."""
        return self._root(v, target) - self.background

    def curvatures(self, prediction: Array, target: Array) -> Array:
        """q^(β-3) ((β-1) q + (2-β) y)."""
        return self._curvature(prediction + self.background, target)

    def curvature_bounds(self, target: Array) -> Array:
        """f'' at q = b, where it is largest over p >= 0."""
        return self._curvature(np.broadcast_to(self.background, target.shape), target) * SLACK

    def local_smoothness(
        self, prediction: Array, theta: Array, gap: Array | float, target: Array
    ) -> Array:
        """1 / f*''(v) = f''(q(v)) at the smallest of q, q(-θ) and what q* can be.

        f'' decreases, so D(q*, r) >= ½ f''(r) (r - q*)² for q* < r = q(-θ), and
        D(q, q*) >= ½ f''(q) (q - q*)² for q* < q. Both divergences are at most the gap: q* is at least
        the larger of the two roots, and at least b. Where the roots say little, D(q, q*) <= gap is
        bisected: it grows as q* falls below q.
        """
        q = prediction + self.background
        r = self._root(-theta, target) / SLACK
        gap = np.broadcast_to(np.maximum(gap, 0.0) * SLACK, q.shape)
        least = np.maximum(self._root_of_bound(q, gap, target), self._root_of_bound(r, gap, target))
        rough = (least < 0.5 * q) & np.isfinite(gap) & (q > 0.0)
        if rough.any():
            found = self._bisected(q[rough], gap[rough], target[rough])
            least[rough] = np.maximum(least[rough], found)
        least = np.maximum(least, self.background)
        return self._curvature(np.minimum(np.minimum(q, r), least) / SLACK, target) * SLACK

    def prox_conjugate(self, v: Array, sigma: Array | float, target: Array) -> Array:
        """That of the same loss without background at c = v + sigma b; c where y = 0 and c <= 0."""
        c = v + sigma * self.background
        flat = (target == 0.0) & (c <= 0.0)
        bare = BetaDivergence(self.beta)
        return np.where(flat, c, prox_of_conjugate(bare, np.where(flat, 1.0, c), sigma, target))

    def derivative_errors(self, prediction: Array, derivatives: Array, target: Array) -> Array:
        """Those of q^(β-2) (q - y), and of q = p + b: half an ulp of q moves f' by u q f''."""
        own = super().derivative_errors(prediction, derivatives, target)
        if self._background.zero:
            return own
        q = prediction + self.background
        moved = np.where(q > 0.0, q * self._curvature(q, target), 0.0)
        return own + 2.0 * UNIT_ROUNDOFF * moved

    def fenchel_young_terms(self, prediction: Array, theta: Array, target: Array) -> Array:
        """D(q, r), r = q(-θ) as computed, and what its error costs.

        f' (r) = v' is not quite v = -θ. f* is convex with slope q(v) - b, so the bracket at v is at most
        that at v' plus (q(v) - q) (v - v'). f'' falls at most fourfold from r to 2 r, so
        |q(v) - r| <= 4 |v - v'| / f''(r) if that is no more than r. Where r underflows, f + f* + p θ is
        summed as it stands.
        """
        q, v = prediction + self.background, -theta
        r = self._root(v, target)
        ordinary = (r > FAINT) & (r < 1.0 / FAINT)
        r = np.where(ordinary, r, 1.0)
        value, error = self._divergence(q, r, target)
        off = np.abs(self._slope(r, target) - v)
        off += 4.0 * ELEMENTARY * r ** (self.beta - 2.0) * (r + target)
        moved = 4.0 * off / self._curvature(r, target)
        cost = (np.abs(q - r) + moved) * off
        if not self._background.zero:
            cost += self._cost_of_sum(q, r, target)
        bracket = np.maximum((value + error + cost) * SLACK, TINY)
        bracket = np.where(moved <= r, bracket, np.inf)
        if not ordinary.all():
            bracket = np.where(ordinary, bracket, self._plain_bracket(q, v, target))
        return np.where((q >= 0.0) & ~np.isnan(bracket), bracket, np.inf)

    def _cost_of_sum(self, q: Array, r: Array, target: Array) -> Array:
        """What half an ulp in q = p + b adds to D(q, r): slope times error, and its square times f''."""
        error = 2.0 * UNIT_ROUNDOFF * q
        steep = np.abs(self._slope(q, target) - self._slope(r, target))
        steep += error * self._curvature(0.5 * q, target)
        return np.where(q > 0.0, error * np.where(q > 0.0, steep, 0.0), 0.0)

    def _plain_bracket(self, q: Array, v: Array, target: Array) -> Array:
        """D(q, y) + f*(v) - p v with the error of each part; q^β / β - q v where y = 0 and v <= 0."""
        r = self._root(v, target)
        with np.errstate(invalid="ignore", over="ignore"):
            first, error = self._divergence(q, target, target)
            second, more = self._divergence(r, target, target)
            size = first + second + (q + r) * np.abs(v)
            bracket = first - second + (r - q) * v
            bracket = np.maximum(bracket, 0.0) + error + more + 4.0 * ELEMENTARY * size
        # q(v) <= FAINT rounded to 0 loses y q^(β-1) / (β-1) of f* at most; q^β / β where y = 0.
        lost = FAINT + target * FAINT ** (self.beta - 1.0) / (self.beta - 1.0)
        return np.where(r <= FAINT, (bracket + lost) * SLACK, np.inf)

    def _divergence(self, q: Array, r: Array, target: Array) -> tuple[Array, Array]:
        """D(q, r) = r^β k_β(q/r) + y r^(β-1) k_(β-1)(q/r), k = `power_excess`; and its error.

        q^β / β at r = 0 = y.
        """
        b = self.beta
        some = r > 0.0
        base = np.where(some, r, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            t, d = q / base, (q - base) / base
            (first, error), (second, more) = power_excess(t, d, b), power_excess(t, d, b - 1.0)
            scale, other = base**b, target * base ** (b - 1.0)
            value, error = scale * first + other * second, scale * error + other * more
            alone = np.maximum(q, 0.0) ** b / b
        value = np.where(some, value, alone)
        error = np.where(some, error + 2.0 * ELEMENTARY * value, 2.0 * ELEMENTARY * alone)
        # A power of a very large or very small t overflows before its product does.
        wild = some & ~np.isfinite(value + error)
        if wild.any():
            far, far_error = self._far_divergence(q, base, target)
            value, error = np.where(wild, far, value), np.where(wild, far_error, error)
        return value, error

    def _far_divergence(self, q: Array, r: Array, target: Array) -> tuple[Array, Array]:
        """D(q, r) for q far above r, by its definition."""
        b = self.beta
        with np.errstate(over="ignore", invalid="ignore"):
            parts = (
                q**b / b,
                -(r**b) / b - r ** (b - 1.0) * (q - r),
                -target * (q ** (b - 1.0) - r ** (b - 1.0)) / (b - 1.0),
                target * r ** (b - 2.0) * (q - r),
            )
            size = np.sum(np.abs(parts), axis=0)
            return np.sum(parts, axis=0), 8.0 * ELEMENTARY * size

    def _slope(self, q: Array, target: Array) -> Array:
        fine = q > 0.0
        base = np.where(fine, q, 1.0)
        with np.errstate(over="ignore"):
            slope = np.where(
                target > 0.0, base ** (self.beta - 2.0) * (q - target), base ** (self.beta - 1.0)
            )
        return np.where(fine, slope, np.where(target > 0.0, -np.inf, 0.0))

    def _curvature(self, q: Array, target: Array) -> Array:
        b = self.beta
        fine = q > 0.0
        base = np.where(fine, q, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times inf where y = 0
            other = np.where(target > 0.0, (2.0 - b) * target * base ** (b - 3.0), 0.0)
            bend = (b - 1.0) * base ** (b - 2.0) + other
        return np.where(fine, bend, np.inf)

    def _root(self, v: Array, target: Array) -> Array:
        """q(v), y times the root for v / y^(β-1); v^(1/(β-1)) where y = 0."""
        some = target > 0.0
        y = np.where(some, target, 1.0)
        with np.errstate(over="ignore", under="ignore"):
            scaled = y * power_root(np.where(some, v, 0.0) / y ** (self.beta - 1.0), self.beta)
            alone = np.maximum(np.where(some, 0.0, v), 0.0) ** (1.0 / (self.beta - 1.0))
        return np.where(some, scaled, alone)

    def _root_of_bound(self, r: Array, gap: Array, target: Array) -> Array:
        """r - √(2 gap / f''(r)), a little less of it."""
        with np.errstate(over="ignore", invalid="ignore"):
            away = np.sqrt(2.0 * gap / self._curvature(r, target)) * SLACK
        return np.where(r > away, r - away, 0.0) / SLACK

    def _bisected(self, q: Array, gap: Array, target: Array) -> Array:
        """A q* <= q with D(q, q*) > gap, proved with its rounding error; 0 where none is found."""
        low, high = np.full_like(q, np.log(FAINT)), np.log(q)
        proved = np.zeros(q.shape, dtype=np.bool_)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            value, error = self._divergence(q, np.exp(middle), target)
            beyond = value - error > gap
            proved |= beyond
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
        return np.where(proved, np.exp(low) / SLACK, 0.0)
