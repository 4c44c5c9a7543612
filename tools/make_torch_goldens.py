#!/usr/bin/env python3
"""Writes headlight/io/testdata/*.bin and tests/testdata/torch/*.bin with PyTorch (pip install torch; made with 2.15.0).

The files are state dicts as zip archives, in the older format and in the format of Python 2, with every type that
headlight supports, views and shared storages. Their values are in *_bin.safetensors. The files in tests/testdata/torch
have the weights of encoders/distilbert."""

import collections
import pathlib
import pickle
import struct

import torch
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "headlight" / "io" / "testdata"
MODEL = ROOT / "tests" / "testdata" / "torch"

base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4) / 4 - 2
table = torch.arange(6, dtype=torch.float32).reshape(3, 2)
STATE = collections.OrderedDict(
    {
        "f32": torch.tensor([[1.5, -0.0], [3.4028234663852886e38, -2.25]]),
        "f64": torch.tensor([0.1, -1e30], dtype=torch.float64),
        "f16": torch.tensor([1.5, -65504.0], dtype=torch.float16),
        "bf16": torch.tensor([1.5, -3e38], dtype=torch.bfloat16),
        "i64": torch.tensor([-(2**31), 2**31 - 1], dtype=torch.int64),
        "i32": torch.tensor([-5, 6], dtype=torch.int32),
        "i16": torch.tensor([-32768, 32767], dtype=torch.int16),
        "i8": torch.tensor([-128, 127], dtype=torch.int8),
        "u8": torch.tensor([0, 255], dtype=torch.uint8),
        "bool": torch.tensor([True, False]),
        "scalar": torch.tensor(7.0),
        "empty": torch.zeros(3, 0, 2),
        "transposed": base.permute(2, 0, 1),
        "part": base[1, 1:, ::2],
        "expanded": torch.arange(3.0).expand(2, 3),
        "table": table,
        "tied": table,
        "tied.transposed": table.t(),
        "parameter": torch.nn.Parameter(torch.tensor([0.5])),
    }
)
STATE._metadata = collections.OrderedDict({"": {"version": 1}})

torch.save(STATE, FOLDER / "archive.bin")
torch.save(STATE, FOLDER / "protocol_4.bin", pickle_protocol=4)
torch.save(STATE, FOLDER / "older.bin", _use_new_zipfile_serialization=False)
VALUES = {"epoch": 3, "rate": 0.1, "a": torch.tensor([1.0, 2.0]), "names": ["x"], "nothing": None, "large": 2**70,
          "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"betas": (0.9, 0.999)}]}}
torch.save(VALUES, FOLDER / "values.bin")
torch.serialization.set_crc32_options(False)
torch.save({"a": torch.tensor([1.0, 2.0])}, FOLDER / "no_checksums.bin")
weights = load_file(ROOT / "tests" / "testdata" / "encoders" / "distilbert" / "model.safetensors")
torch.save(weights, MODEL / "archive.bin")
torch.save(weights, MODEL / "older.bin", _use_new_zipfile_serialization=False)
save_file({name: tensor.detach().contiguous().clone() for name, tensor in STATE.items()},
          FOLDER / "archive_bin.safetensors")


def python_2():
    """Returns a dict in the older format, as Python 2.7 pickles it: with byte strings and a list of pairs."""

    def text(string):
        return b"U" + bytes([len(string)]) + string.encode()

    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("1") + text("cpu") + b"K\x02NtQ"
    tensor = b"ctorch._utils\n_rebuild_tensor\n(" + storage + b"K\x00K\x02\x85K\x01\x85tR"
    state = b"\x80\x02ccollections\nOrderedDict\n](](" + text("a") + tensor + b"ee\x85R."
    machine = b"\x80\x02}(" + text("protocol_version") + b"M\xe9\x03" + text("little_endian") + b"\x88u."
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    keys = b"\x80\x02](" + text("1") + b"e."
    data = struct.pack("<qff", 2, 1, 2)
    return magic + pickle.dumps(1001, 2) + machine + state + keys + data


(FOLDER / "python_2.bin").write_bytes(python_2())
assert torch.load(FOLDER / "python_2.bin", weights_only=True)["a"].tolist() == [1, 2]
