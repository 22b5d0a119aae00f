"""Table 2: least squares over [0, 1]ⁿ, projected gradient and Chambolle–Pock."""

from __future__ import annotations

from .paper import TABLE2_SIZES
from .tables import PaperTable

EXPERIMENT = PaperTable(
    name="table2",
    title="Table 2: bounded-variable least squares",
    text=(
        "A = |N(0,1)|, 5 % of the planted solution non-zero, bounds [0, 1].",
        "Projected gradient takes steps of 2/‖A‖² from |N(0,1)|; Chambolle–Pock σ = 0.01, "
        "τ = 0.9/(σ‖A‖²), from 0; checks every ten iterations, gap sphere. Dual points "
        "are the residual, and Chambolle–Pock's own dual variable.",
    ),
    solvers=("projected_gradient", "chambolle_pock"),
    sizes=lambda scale: scale.table2,
    paper_sizes=TABLE2_SIZES,
)
