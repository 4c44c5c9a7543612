#!/usr/bin/env python3
"""Writes headlight/io/testdata/*.npz with NumPy (pip install numpy): arrays with every version of the format's header,
a scalar and an empty array, uncompressed and compressed."""

import pathlib
import zipfile

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "io" / "testdata"
ARRAYS = {
    "alphafold/evoformer//weights": numpy.arange(6, dtype="<f4").reshape(2, 3) / 4 - 0.5,
    "scalar": numpy.array(7, dtype="<f4"),
    "empty": numpy.zeros((3, 0, 2), dtype="<f4"),
}
numpy.savez(FOLDER / "stored.npz", **ARRAYS)
numpy.savez_compressed(FOLDER / "deflated.npz", **ARRAYS)
with zipfile.ZipFile(FOLDER / "versions.npz", "w") as archive:
    for version in (1, 2, 3):
        with archive.open(f"version {version}.npy", "w") as file:
            numpy.lib.format.write_array(file, numpy.array([version, -0.5], dtype="<f4"), version=(version, 0))
