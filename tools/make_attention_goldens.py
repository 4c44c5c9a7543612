#!/usr/bin/env python3
"""Makes tests/testdata/attention.safetensors: PyTorch's attention in double precision, with gradients.

    pip install torch==2.15.0 safetensors
    tools/make_attention_goldens.py

For each case, in rows of tokens: CASE.query, .key, .value, .output, .d_output, and .d_query, .d_key, .d_value, .d_bias.
Some cases also have .bias and .index.
    columns, rows     columns and rows of a 3 x 4 grid, each of them a sequence
    groups            4 query heads, 2 key heads, causal
    band              keys at most 2 before a query and 1 after it
    distances         T5's relative positions: a table [buckets, heads], an index for the distances -3 to 3
    table             relative positions in a window (Swin): a table [positions, heads], an index [query, key]
    pairs             one bias [query, key, heads] for two sequences, like the rows of an alignment
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch.nn.functional import scaled_dot_product_attention

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "attention.safetensors"
HEIGHT, WIDTH, HEADS, DIM = 3, 4, 2, 3
TOKENS = HEIGHT * WIDTH

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def attend(query, key, value, heads=HEADS, key_heads=HEADS, mask=None, **options):
    """Returns attention outputs. The inputs are [sequences, tokens, heads * dim]. The mask is a bias or boolean, and
    can be broadcast to [heads, query, key]."""
    def split(x, count):
        return x.unflatten(-1, (count, -1)).transpose(1, 2)

    output = scaled_dot_product_attention(split(query, heads), split(key, key_heads), split(value, key_heads),
                                          attn_mask=mask, enable_gqa=heads != key_heads, **options)
    return output.transpose(1, 2).flatten(2)


def columns(query, key, value):
    def to_columns(x):
        return x.unflatten(0, (HEIGHT, WIDTH)).transpose(0, 1)

    return attend(*map(to_columns, (query, key, value))).transpose(0, 1).flatten(0, 1)


def rows(query, key, value):
    return attend(*(x.unflatten(0, (HEIGHT, WIDTH)) for x in (query, key, value))).flatten(0, 1)


def alone(*inputs, **options):
    return attend(*(x[None] for x in inputs), **options)[0]


def band():
    everything = torch.ones(TOKENS, TOKENS, dtype=torch.bool)
    return everything.tril(1) & everything.triu(-2)


def distances():
    """Returns the distance from each query to each key, clamped to -3..3, as an index from 0."""
    places = torch.arange(TOKENS)
    return (places[None, :] - places[:, None]).clamp(-3, 3) + 3


BUCKETS = torch.tensor([4, 1, 2, 0, 3, 3, 4], dtype=torch.int32)


def window_index():
    """Returns the table index of each query and key in a window, which depends on their relative row and column."""
    row, column = torch.arange(TOKENS) // WIDTH, torch.arange(TOKENS) % WIDTH
    down, right = (x[:, None] - x[None, :] for x in (row, column))
    return ((down + HEIGHT - 1) * (2 * WIDTH - 1) + right + WIDTH - 1).int()


def table(query, key, value, bias):
    return alone(query, key, value, mask=bias[window_index().long()].permute(2, 0, 1))


def pairs(query, key, value, bias):
    halves = (x.unflatten(0, (2, TOKENS // 2)) for x in (query, key, value))
    return attend(*halves, mask=bias.permute(2, 0, 1)).flatten(0, 1)


# For each case: the function, the query heads, the key heads, and the shape of the bias.
CASES = {
    "columns": (columns, HEADS, HEADS, None),
    "rows": (rows, HEADS, HEADS, None),
    "groups": (lambda *x: alone(*x, heads=4, key_heads=2, is_causal=True), 4, 2, None),
    "band": (lambda *x: alone(*x, mask=band()), HEADS, HEADS, None),
    "distances": (lambda query, key, value, bias: alone(
        query, key, value, mask=bias[BUCKETS.long()[distances()]].permute(2, 0, 1)), HEADS, HEADS, (5, HEADS)),
    "table": (table, HEADS, HEADS, ((2 * HEIGHT - 1) * (2 * WIDTH - 1), HEADS)),
    "pairs": (pairs, HEADS, HEADS, (TOKENS // 2, TOKENS // 2, HEADS)),
}


def main():
    tensors = {"distances.index": BUCKETS, "table.index": window_index()}
    for name, (function, heads, key_heads, bias) in CASES.items():
        inputs = {"query": torch.randn(TOKENS, heads * DIM), "key": torch.randn(TOKENS, key_heads * DIM),
                  "value": torch.randn(TOKENS, key_heads * 2)}
        if bias is not None:
            inputs["bias"] = torch.randn(bias)
        for x in inputs.values():
            x.requires_grad_()
        output = function(*inputs.values())
        d_output = torch.randn_like(output)
        gradients = torch.autograd.grad(output, list(inputs.values()), d_output)
        for key, x in inputs.items():
            tensors[f"{name}.{key}"] = x.detach()
        for key, gradient in zip(inputs, gradients):
            tensors[f"{name}.d_{key}"] = gradient.contiguous()
        tensors |= {f"{name}.output": output.detach().contiguous(), f"{name}.d_output": d_output}
    save_file(tensors, OUT)
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
