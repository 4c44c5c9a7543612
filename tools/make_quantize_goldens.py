#!/usr/bin/env python3
"""Writes headlight/io/testdata/quantized.gguf: numbers, and their quantized values by the package gguf.

    python tools/make_quantize_goldens.py    (needs the packages gguf and numpy)
"""

import pathlib

import gguf
import numpy as np

PATH = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "io" / "testdata" / "quantized.gguf"
TYPES = ("F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0")


def values():
    random = np.random.default_rng(5)
    rows = [random.normal(size=64) * scale for scale in (1, 0.02, 300, 1e-6, 1e-9)]
    rows += [np.zeros(64), np.full(64, -0.37), np.arange(64) / 8 - 4, random.standard_cauchy(64)]
    rows[-1][::7] = 0
    return np.array(rows, dtype=np.float32)


def main():
    numbers = values()
    writer = gguf.GGUFWriter(PATH, "quantized")
    writer.add_tensor("values", numbers)
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        writer.add_tensor(name, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
