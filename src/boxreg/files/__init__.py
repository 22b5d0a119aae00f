"""Matrices and vectors from files, certificates, and files written whole or not at all."""

from .batch_certificates import BatchCertificateFile, digest_stack
from .certificates import CertificateFile, CorruptCertificate
from .digest import digest
from .names import read_names
from .problem import FileProblem, one_line
from .reading import FORMATS, Held, as_vector, read_matrix, read_vector
from .resumable import Resumable
from .stacks import STACK_FORMATS, on_disk, read_stack
from .writing import (
    STACK_OUTPUTS,
    VECTOR_FORMATS,
    Outputs,
    put_text,
    write_stack,
    write_text,
    write_vector,
)

__all__ = [
    "FORMATS",
    "STACK_FORMATS",
    "STACK_OUTPUTS",
    "VECTOR_FORMATS",
    "BatchCertificateFile",
    "CertificateFile",
    "CorruptCertificate",
    "FileProblem",
    "Held",
    "Outputs",
    "Resumable",
    "as_vector",
    "digest",
    "digest_stack",
    "on_disk",
    "one_line",
    "put_text",
    "read_matrix",
    "read_names",
    "read_stack",
    "read_vector",
    "write_stack",
    "write_text",
    "write_vector",
]
