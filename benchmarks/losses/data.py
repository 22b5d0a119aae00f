"""The workloads: drawn by seed, or taken from the real data in the folder that BOXREG_DATA names."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from benchmarks.race.real_data import FEW, arrays, spread
from boxreg.workloads import nnls_table1

from .functions import Array, Function, Huber, KullbackLeibler, Logistic, Quadratic
from .problem import LossProblem, make

OUTLIERS, OUTLIER_SIZE = 0.05, 30.0
"""Share of the rows of the Huber problems that are outliers, and the size of these."""

BACKGROUND = 0.01
"""Added to every predicted count of a document."""

TOPIC = "sci.space"


def gaussian_labels(function: Function) -> list[LossProblem]:
    """3000×1000, A ~ N(0,1) / 50; y = ±1 with the probability σ(A x̄), x̄ = max(N(0,1), 0)."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3000, 1000)) / 50.0
    clean = A @ np.maximum(rng.standard_normal(1000), 0.0)
    y = np.where(rng.random(3000) < 1.0 / (1.0 + np.exp(-clean)), 1.0, -1.0)
    return [make(A, y, function)]


def correlated_labels(function: Function) -> list[LossProblem]:
    """3000×1000, ill-conditioned: along the columns A is an autoregression, a_j = 0.95 a_{j-1} + noise
    with N(0,1) entries, and columns are then scaled by factors log-spaced from 0.01 to 10, shuffled;
    y = ±1 with the probability σ(A x̄), 5 % of x̄ non-zero, ‖A x̄‖² = m. AᵀA has condition 1e8 or so."""
    rng = np.random.default_rng(2)
    m, n = 3000, 1000
    A = rng.standard_normal((m, n))
    for j in range(1, n):
        A[:, j] = 0.95 * A[:, j - 1] + np.sqrt(1.0 - 0.95**2) * A[:, j]
    sizes = rng.permutation(np.geomspace(0.01, 10.0, n))
    x = np.zeros(n)
    x[rng.permutation(n)[: n // 20]] = rng.uniform(size=n // 20)
    clean = A @ x
    clean *= np.sqrt(m) / np.linalg.norm(clean)
    y = np.where(rng.random(m) < 1.0 / (1.0 + np.exp(-clean)), 1.0, -1.0)
    return [make(A * sizes, y, function)]


def table1(n: int) -> list[LossProblem]:
    """The paper's table 1 as coded: least squares, the control."""
    held = nnls_table1(n)
    return [make(held.A, held.y, Quadratic())]


def outliers(function: Function, n: int) -> list[LossProblem]:
    """m = 2000; A and A x̄ as in table 1 as coded with ‖A x̄‖ = √m; y = A x̄ + 0.1 N(0,1), and in 5 % of
    the rows 30 |N(0,1)| more."""
    rng = np.random.default_rng(1)
    A = nnls_table1(n).A
    m = len(A)
    x = np.zeros(n)
    x[rng.permutation(n)[: n // 20]] = rng.uniform(size=n // 20)
    clean = A @ x
    y = clean * (np.sqrt(m) / np.linalg.norm(clean)) + 0.1 * rng.standard_normal(m)
    y += (rng.random(m) < OUTLIERS) * OUTLIER_SIZE * np.abs(rng.standard_normal(m))
    return [make(A, y, function)]


def lasso(n: int, share: float) -> list[LossProblem]:
    """½‖A x - y‖² + λ sum x on the Huber data, λ this share of the one from which on x = 0."""
    held = outliers(Quadratic(), n)[0]
    largest = float(np.max(held.A.T @ held.y))
    return [make(held.A, held.y, Quadratic(), linear=share * largest)]


def topic() -> list[LossProblem]:
    """One topic of newsgroups20 against the rest by the words of its documents, bounds [0, 1]."""
    data = arrays("newsgroups20")
    y = np.where(data["topics"] == TOPIC, 1.0, -1.0)
    return [make(_counts(data), y, Logistic(), upper=1.0)]


def decays() -> list[LossProblem]:
    """Voxels of the multi-echo scan, scaled to a largest value of 1, Huber with δ = 0.01."""
    data = arrays("mri_t2_decay")
    Y = data["Y"].astype(float)
    voxels = [Y[:, j] / np.max(np.abs(Y[:, j])) for j in spread(Y.shape[1])]
    return [make(data["A_exp"], y, Huber(0.01)) for y in voxels]


def documents(left_out: int = 100) -> list[LossProblem]:
    """The counts of one NIPS document by those of the others scaled to sum 1, with a background."""
    data = arrays("nips_1-17")
    columns = sparse.csc_array(_counts(data).T)
    others = np.delete(np.arange(columns.shape[1]), left_out)
    A = columns[:, others]
    A = A @ sparse.diags_array(1.0 / A.sum(axis=0))
    y = columns[:, [left_out]].toarray().ravel()
    return [make(A, y, KullbackLeibler(BACKGROUND))]


def tumours(count: int = 5 * FEW) -> list[LossProblem]:
    """Mutation counts of tumours, evenly spread, by the catalogue of signatures, one by one."""
    A, Y = signatures()
    chosen = np.linspace(0, Y.shape[1] - 1, count + 2).astype(int)[1:-1]
    return [make(A, Y[:, j], KullbackLeibler()) for j in chosen]


def signatures() -> tuple[Array, Array]:
    """COSMIC v3.4, and the counts of all tumours."""
    data = arrays("mutational_signatures")
    return data["A_cosmic_v34"].astype(float), data["Y_pcawg"].astype(float)


def _counts(data: dict[str, Array]) -> sparse.csr_array:
    held = (data["data"].astype(float), data["indices"], data["indptr"])
    return sparse.csr_array(held, shape=tuple(data["shape"]))
