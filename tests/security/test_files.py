"""Files made to break a reader, or to fill the memory: each is refused by an error of the package."""

import gzip
import io
import json
import os
import random
import zipfile
from functools import partial

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets import read_csp, read_edgelist, read_sparse
from dpgraph.exceptions import DatasetError, DPGraphError, InvalidParameterError
from dpgraph.interfaces.cli import main
from dpgraph.results.files import load_result, save_result
from tests import memory

#: Bytes that a refusal may take: the limits of the readers, with the objects that JSON makes of 8 MiB of text.
ENOUGH = 400 * 2**20


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Results of several kinds with the bytes of their files."""
    G = dpgraph.datasets.planted_cut(60, 12, -0.8, rng=0)
    results = [
        dpgraph.private_degrees(G, epsilon=1.0),
        dpgraph.private_max_cut(G, epsilon=1.0),
        dpgraph.private_communities(G, epsilon=2.0),
        dpgraph.private_max_k_cut(G, 3, epsilon=1.0),
        dpgraph.private_normalized_adjacency(nx.relabel_nodes(G, str), epsilon=2.0, rank=2),
        dpgraph.private_subgraph_counts(G, epsilon=1.0),
    ]
    path = tmp_path_factory.mktemp("saved") / "result.npz"
    files = []
    for result in results:
        save_result(result, path)
        files.append(path.read_bytes())
    return list(zip(results, files, strict=True))


def equal(first, second):
    """Whether two results hold the same values."""
    pairs = [(value, getattr(second, name)) for name, value in vars(first).items()]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


def damaged(content, rng):
    """Bytes overwritten, dropped, doubled or cut off."""
    content, kind = bytearray(content), rng.choice(["bytes", "bytes", "drop", "double", "cut"])
    where = rng.randrange(len(content))
    until = where + rng.randrange(1, 40)
    if kind == "bytes":
        for _ in range(rng.choice([1, 2, 8])):
            content[rng.randrange(len(content))] = rng.randrange(256)
    elif kind == "cut":
        del content[where:]
    elif kind == "drop":
        del content[where:until]
    else:
        content[where:where] = content[where:until]
    return bytes(content)


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_damaged_result_is_refused_by_the_packages_error_or_unchanged(saved, times, tmp_path):
    rng, path = random.Random(times), tmp_path / "result.npz"
    refused = 0
    for result, content in saved:
        for _ in range(times):
            path.write_bytes(damaged(content, rng))
            try:
                loaded = load_result(path)
            except InvalidParameterError:
                refused += 1
            else:
                assert equal(result, loaded)
    assert refused > len(saved) * times / 2


@pytest.mark.parametrize("times", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_result_whose_checksums_are_right_loads_or_is_refused(saved, times, tmp_path):
    """Whoever rewrites a file can say anything in it, but breaks nothing."""
    rng, path = random.Random(times), tmp_path / "result.npz"
    for _, content in saved:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        for _ in range(times):
            changed = rng.choice(list(members))
            with zipfile.ZipFile(path, "w") as archive:
                for name, member in members.items():
                    archive.writestr(name, damaged(member, rng) if name == changed else member)
            try:
                load_result(path)
            except DPGraphError:
                continue


def npy_header(shape):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def write_result(path, content, *, method=zipfile.ZIP_STORED, **changes):
    """The file of some degrees with other members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, member in (members | changes).items():
            archive.writestr(name, member)


def as_npy(text):
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(text, dtype=np.uint8))
    return buffer.getvalue()


BOMBS = {
    "an array of 10^12": {"values.npy": npy_header((10**12,))},
    "an array of 10^9 x 10^9": {"values.npy": npy_header((10**9, 10**9)) + bytes(800)},
    "nested text": {"metadata.npy": as_npy(b"[" * 10**6)},
    "text of empty lists": {"metadata.npy": as_npy(b"[" + b"[]," * 300_000 + b"0]")},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_result_that_announces_or_unpacks_to_too_much_is_refused_in_little_memory(bomb, saved, tmp_path):
    path, (_, content) = tmp_path / "result.npz", saved[0]
    write_result(path, content, **BOMBS[bomb])
    with memory.less_than(ENOUGH), pytest.raises(InvalidParameterError, match=r"result\.npz"):
        load_result(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_nothing_is_unpacked(method, saved, tmp_path):
    path, (_, content) = tmp_path / "result.npz", saved[0]
    zeros = npy_header((10**6,)) + bytes(8 * 10**6)
    write_result(path, content, method=method, **{"values.npy": zeros})
    with pytest.raises(InvalidParameterError, match="damaged"):
        load_result(path)


def test_an_array_that_is_named_often_is_unpacked_once(saved, tmp_path):
    path, (result, content) = tmp_path / "result.npz", saved[0]
    with np.load(io.BytesIO(content)) as archive:
        changed = json.loads(archive["metadata"].tobytes())
    changed["arrays"] *= 100_000
    write_result(path, content, **{"metadata.npy": as_npy(json.dumps(changed).encode())})
    assert equal(load_result(path), result)


HEADERS = {
    "graph.txt": ("100000000 1\n1 2 1\n", read_sparse),
    "graph.gset": ("2000000000 0\n", partial(read_edgelist, format="gset")),
    "variables.json": ('{"variables": 50000000, "alphabet": 2, "constraints": []}', read_csp),
    "labels.json": ('{"variables": 2, "alphabet": 50000000, "constraints": []}', read_csp),
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_announces_more_than_it_holds_is_refused_in_little_memory(name, packed, tmp_path):
    text, read = HEADERS[name]
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with memory.less_than(2**24), pytest.raises(DatasetError, match="announces more"):
        read(path)


@pytest.mark.parametrize("command", ["covariance", "marginals"])
@pytest.mark.parametrize(
    "content",
    [
        npy_header((10**9, 10)),
        npy_header((2, 2)),
        b"\x93NUMPY",
        b"",
        b"PK\x03\x04",
        npy_header((2, 2)).replace(b"}", b"("),
    ],
)
def test_a_damaged_table_of_numbers_is_bad_input(command, content, tmp_path, capsys):
    path = tmp_path / "table.npy"
    path.write_bytes(content)
    assert main([command, str(path), "--epsilon", "1"]) == 2
    assert "damaged" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="pipes have no names")
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_pipes_are_read(pack):
    reading, writing = os.pipe()
    with open(writing, "wb") as stream:
        stream.write(pack(b"1 2\n2 3\n"))
    with open(reading, "rb"):
        assert read_sparse(f"/dev/fd/{reading}")[1] == (1, 2, 3)
