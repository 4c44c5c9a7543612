"""Writes headlight/io/testdata/*.safetensors with the format's own library (pip install torch safetensors)."""

import pathlib

import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent.parent / "headlight" / "io" / "testdata"

# The file has every type that headlight supports, a scalar, an empty tensor, and a name that JSON must escape.
save_file(
    {
        "bool": torch.tensor([True, False, True]),
        "u8": torch.tensor([0, 1, 255], dtype=torch.uint8),
        "i8": torch.tensor([-128, 0, 127], dtype=torch.int8),
        "i16": torch.tensor([-32768, 0, 32767], dtype=torch.int16),
        "i32": torch.tensor([[-(2**31), 0], [1, 2**31 - 1]], dtype=torch.int32),
        "i64": torch.tensor([-(2**31), 0, 2**31 - 1], dtype=torch.int64),
        "i64_large": torch.tensor([2**31], dtype=torch.int64),
        "f32": torch.tensor([[1.5, -0.0, 3.4028234663852886e38], [1e-45, float("inf"), -2.25]]),
        "f64": torch.tensor([0.1, -1e30, 5e-324], dtype=torch.float64),
        "f64_large": torch.tensor([1.0, 1e39], dtype=torch.float64),
        "scalar": torch.tensor(7.0),
        "empty": torch.zeros(3, 0, 2),
        'a "quoted" ä': torch.tensor([1.0]),
    },
    FOLDER / "every_type.safetensors",
    metadata={"format": "pt"},
)

# 16-bit numbers with all exponents and signs, and PyTorch's outputs for them.
bits = (torch.arange(256) * 256 + torch.arange(256) * 7 % 256).to(torch.int32)
words = torch.where(bits >= 2**15, bits - 2**16, bits).to(torch.int16)
tensors = {}
for name, dtype in [("f16", torch.float16), ("bf16", torch.bfloat16)]:
    tensors[name] = words.clone().view(dtype)
    tensors[name + "_as_f32"] = tensors[name].to(torch.float32)
save_file(tensors, FOLDER / "sixteen_bits.safetensors")
