"""Matrices and vectors from files, certificates, and files written whole or not at all."""

from .certificates import CertificateFile, CorruptCertificate
from .digest import digest
from .problem import FileProblem, one_line
from .reading import FORMATS, Held, read_matrix, read_vector
from .writing import VECTOR_FORMATS, Outputs, write_text, write_vector

__all__ = [
    "FORMATS",
    "VECTOR_FORMATS",
    "CertificateFile",
    "CorruptCertificate",
    "FileProblem",
    "Held",
    "Outputs",
    "digest",
    "one_line",
    "read_matrix",
    "read_vector",
    "write_text",
    "write_vector",
]
