"""Real data sets: which there are, where they are found, and their arrays."""

from .finding import DataNotFound, dataset, folder, found
from .registry import DATASETS, Dataset

__all__ = ["DATASETS", "DataNotFound", "Dataset", "dataset", "folder", "found"]
