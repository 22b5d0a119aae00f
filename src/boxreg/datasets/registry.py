"""The data sets that experiments and tests know by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import converting
from .converting import Arrays


@dataclass(frozen=True)
class Origin:
    """A public file from which the arrays can be made.

    `sha256` is the file's where it is known. `content` is the digest of what `convert` makes of it
    (`converting.digest`): the arrays must be those that the experiments were made with, whatever
    file they came in.
    """

    url: str
    sha256: str | None
    convert: Callable[[Any], Arrays]
    content: str


@dataclass(frozen=True)
class Dataset:
    """One data set: the file name in the folder BOXREG_DATA, what it is for, where it is from."""

    name: str
    sha256: str
    purpose: str
    source: str
    origin: Origin | None = None

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.npz"


_ALL = (
    Dataset(
        "cuprite_usgs",
        "fe08f54c4bb5f1072cc4fbf779c8b7581e537e4497b96e9ba4d18912bdd774a6",
        "hyperspectral unmixing: 342 minerals, 4500 pixels of Cuprite",
        "pixels: www.lx.it.pt/~bioucas/code/cuprite_ref.zip; minerals: usgs_1995_library_full, "
        "pruned at 3 degrees; 188 bands (3-103, 114-147, 168-220)",
    ),
    Dataset(
        "usgs_1995_library_full",
        "cf6cfb30947b622be9f9c93b0224decd1b3f1ff6ab806b4fbfe9dab6e7c61efe",
        "the unpruned mineral library, 224 bands, 498 spectra",
        "USGS_1995_Library.mat in the code that accompanies the paper (NN-BV_Screening)",
    ),
    Dataset(
        "nips_1-17",
        "6b150ec097c66ccdf439b00a43041d513afd33d5d7d6f2dc2d5085d82695deba",
        "word counts of 2483 papers: archetypal analysis",
        "ai.stanford.edu/~gal/Data/NIPS/nips_1-17.mat, counts transposed",
        Origin(
            "http://ai.stanford.edu/~gal/Data/NIPS/nips_1-17.mat",
            None,
            converting.nips,
            "066c8aef598895e37744970315d1fa568de4f686445a870d38c2e7e855e5cfdf",
        ),
    ),
    Dataset(
        "newsgroups20",
        "469def0eab521da1535bf10de5d5eabd7a2d488ed8884e8aeacc777f1b8305f6",
        "word counts of 18774 messages: large and sparse",
        "qwone.com/~jason/20Newsgroups, the Matlab version, words that occur",
    ),
    Dataset(
        "jasper_ridge",
        "f254a8bd100272ce7241de5706131d42b84f0dd3b67d2778cdb1b092599ba046",
        "hyperspectral scene with ground truth, 529 pixels as atoms",
        "the Jasper Ridge scene with its four end members (rslab.ut.ac.ir/data)",
    ),
    Dataset(
        "mutational_signatures",
        "15d54fd32696d61d5bdeec2582305d8dfc657ec52939c47d1d0374087f41dbd1",
        "counts of mutations in 2880 tumours: Kullback-Leibler",
        "COSMIC v3.4 and v3.6 signatures (cancer.sanger.ac.uk/signatures), PCAWG counts (synapse.org)",
    ),
    Dataset(
        "mri_t2_decay",
        "004ab8f84879f08be0d50965fdd23ff940a7971aa8f7685da8ad9d82d254525f",
        "decays of 12806 voxels: very ill-conditioned",
        "a multi-echo T2 scan, 56 echoes; dictionaries are exponentials and extended phase graphs",
    ),
    Dataset(
        "mnist",
        "3a0f2df974d62ae0916b361a631357d8198665386c175f59933bc92e5747004d",
        "60000 digits of 784 pixels: far more columns than rows",
        "the MNIST digits as Keras distributes them",
        Origin(
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
            "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
            converting.mnist,
            "2dd9e24e5e653e9e21a8a197efb021b5f39955cb0937e4504edf0e3d598d5aa1",
        ),
    ),
)
DATASETS = {held.name: held for held in _ALL}
