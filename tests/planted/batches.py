"""Faults in the verification of many right-hand sides."""

from __future__ import annotations

from .mutant import CLAIMS, Mutant

BATCHES = f"{CLAIMS}::test_batches"

MUTANTS = [
    Mutant(
        "batch: claims of one are loosened",
        "batch/verification.py",
        "claim = max(claim, asked.tol * reference_scale(posed)[0])",
        "claim = max(claim, 1e8 * asked.tol * reference_scale(posed)[0])",
        (BATCHES,),
    ),
    Mutant(
        "batch: everything is proved",
        "batch/verification.py",
        "proved[at], refuted[at] = bool(proof), proof.verdict is Verdict.REFUTED",
        "proved[at], refuted[at] = True, proof.verdict is Verdict.REFUTED",
        (BATCHES,),
    ),
    Mutant(
        "batch: nothing is refuted",
        "batch/verification.py",
        "proved[at], refuted[at] = bool(proof), proof.verdict is Verdict.REFUTED",
        "proved[at], refuted[at] = bool(proof), False",
        (BATCHES,),
    ),
    Mutant(
        "batch: upper bounds are those of the first",
        "batch/verification.py",
        "high[p if len(high) > 1 else 0],",
        "high[0],",
        (BATCHES,),
    ),
    Mutant(
        "batch: all are proved if one is",
        "batch/verification.py",
        "return Verdict.PROVED if np.all(self.proved | ~self.checked) else Verdict.NOT_PROVED",
        "return Verdict.PROVED if np.any(self.proved | ~self.checked) else Verdict.NOT_PROVED",
        (f"{CLAIMS}::test_a_batch_is_proved_if_every_claim_is",),
    ),
    Mutant(
        "batch: claims are not looked at",
        "batch/verification.py",
        "return certificate_of(posed, point, dual, claim)\n        claim = max",
        "return certificate_of(posed, point, dual, np.inf)\n        claim = max",
        (BATCHES,),
    ),
    Mutant(
        "batch: answers of a sparse result are shifted",
        "batch/verification.py",
        "return np.asarray(rows[begin * layout.width : end * layout.width].toarray())",
        "return np.roll(rows[begin * layout.width : end * layout.width].toarray(), 1, axis=0)",
        (BATCHES,),
    ),
]
