"""What a mutant is, and the tests that are to kill it."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = "tests/properties/test_proof_steps.py"
CLAIMS = "tests/properties/test_proved_claims.py"
KERNELS = "tests/kernel_proofs.py"
SCREENING = "tests/properties/test_screening_safety.py"


@dataclass(frozen=True)
class Mutant:
    """A text of a source file that stands there exactly once, what to put in its place, and killers.

    Killers are what pytest takes: files, or tests of them, tried in this order.
    """

    name: str
    file: str
    old: str
    new: str
    killers: tuple[str, ...]

    def planted(self, source: str) -> str:
        """The source with the fault; ValueError where the text is not there, or more than once."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(
                f"{self.name}: the text to replace stands {count} times in {self.file}"
            )
        if self.old == self.new:
            raise ValueError(f"{self.name}: nothing is replaced")
        return source.replace(self.old, self.new)
