"""The robustness campaign: never a worse objective than SciPy or skglm, never a hang."""
