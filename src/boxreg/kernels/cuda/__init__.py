"""Kernels for GPUs: one block of threads for each right-hand side."""
