"""Measurements: side by side, in one run, on the same data."""
