"""Data sets: found in a folder, fetched and checked, or a clear word on what is missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from scipy import io, sparse

import real_data
from boxreg.datasets import DATASETS, DataNotFound, dataset, finding, found, registry


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A public address whose file is already in pooch's cache: nothing is asked of the network."""
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    (tmp_path / "boxreg").mkdir()
    return tmp_path / "boxreg"


def test_reads_from_the_folder(tmp_path, monkeypatch):
    np.savez(tmp_path / "mnist.npz", train=np.eye(2))
    monkeypatch.setenv("BOXREG_DATA", str(tmp_path))
    assert found("mnist") == tmp_path / "mnist.npz"
    assert found("newsgroups20") is None
    assert np.array_equal(dataset("mnist")["train"], np.eye(2))


def test_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    with pytest.raises(
        DataNotFound, match=r"jasper_ridge: BOXREG_DATA is not set; no public address"
    ):
        dataset("jasper_ridge")
    with pytest.raises(DataNotFound, match=r"is not set; public address: http"):
        dataset("nips_1-17", download=False)
    monkeypatch.setenv("BOXREG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataNotFound, match=r"names .*nowhere, which is no folder"):
        dataset("jasper_ridge")
    monkeypatch.setenv("BOXREG_DATA", str(tmp_path))
    with pytest.raises(
        DataNotFound, match=r"jasper_ridge.npz is not in the folder that BOXREG_DATA"
    ):
        dataset("jasper_ridge")
    with pytest.raises(ValueError, match=r"dataset: unknown name 'iris'; accepted: cuprite_usgs"):
        dataset("iris")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataNotFound, match=r"pip install 'boxreg\[data\]'"):
        dataset("nips_1-17")


def test_a_broken_file_is_said_to_be_broken(tmp_path, monkeypatch):
    (tmp_path / "mnist.npz").write_bytes(b"not a zip")
    monkeypatch.setenv("BOXREG_DATA", str(tmp_path))
    with pytest.raises(DataNotFound, match="cannot be read"):
        dataset("mnist")


def _arrays_of(counts):
    return {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr}


def test_fetched_data_are_converted_and_checked(cached, monkeypatch):
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    counts = sparse.csr_array(np.array([[0, 2, 0], [1, 0, 3]], dtype=np.float32))
    io.savemat(cached / "nips_1-17.mat", {"counts": counts.T.astype(float)})
    with pytest.raises(DataNotFound, match="are not those known here"):
        dataset("nips_1-17")
    known = DATASETS["nips_1-17"]
    origin = replace(known.origin, content=registry.converting.digest(_arrays_of(counts)))
    monkeypatch.setitem(finding.DATASETS, "nips_1-17", replace(known, origin=origin))
    held = dataset("nips_1-17")
    assert held["shape"].tolist() == [2, 3]
    assert np.array_equal(held["data"], counts.data)


def test_no_connection_is_told(cached, monkeypatch):
    monkeypatch.delenv("BOXREG_DATA", raising=False)
    pooch = pytest.importorskip("pooch")

    def refuse(*args, **kwargs):
        raise ConnectionError("no route")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    with pytest.raises(DataNotFound, match=r"fetching https.*mnist.npz failed \(ConnectionError\)"):
        dataset("mnist")


def test_public_files_give_the_arrays_of_the_experiments(cached, monkeypatch):
    """What the public files hold, rebuilt from the arrays at hand, passes the content check."""
    digits, words = real_data.load("mnist"), real_data.load("nips_1-17")
    monkeypatch.delenv("BOXREG_DATA")
    np.savez(
        cached / "mnist.npz",
        x_train=digits["train"].reshape(-1, 28, 28),
        y_train=digits["train_labels"],
        x_test=digits["test"].reshape(-1, 28, 28),
        y_test=digits["test_labels"],
    )
    shape = tuple(words["shape"])
    counts = sparse.csr_array((words["data"], words["indices"], words["indptr"]), shape=shape)
    io.savemat(cached / "nips_1-17.mat", {"counts": sparse.csc_array(counts.T.astype(float))})
    known = DATASETS["mnist"]
    held = sha256((cached / "mnist.npz").read_bytes()).hexdigest()
    changed = replace(known, origin=replace(known.origin, sha256=held))
    monkeypatch.setitem(finding.DATASETS, "mnist", changed)
    assert np.array_equal(dataset("mnist")["train"], digits["train"])
    assert np.array_equal(dataset("nips_1-17")["indices"], words["indices"])


@pytest.mark.parametrize("name", DATASETS)
def test_the_registry_knows_the_files(name):
    real_data.load(name)
    assert sha256(found(name).read_bytes()).hexdigest() == DATASETS[name].sha256
