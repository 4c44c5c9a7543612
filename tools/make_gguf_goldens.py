#!/usr/bin/env python3
"""Writes headlight/base/testdata/blocks.gguf, a tensor of random bytes for each block type, with its values in F32, and
headlight/text/tokenizers/testdata/gguf_KIND.gguf, the vocabularies of the tokenizer.json files in that folder.

    python tools/make_gguf_goldens.py    (needs the package gguf)
"""

import base64
import json
import pathlib
import re

import gguf
import numpy as np

TOKENIZERS = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "text" / "tokenizers" / "testdata"
OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "base" / "testdata" / "blocks.gguf"
TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]
# Offsets of the half-precision scales in a block, in bytes.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}


def write_vocabulary(name, family, kind):
    file = json.loads((TOKENIZERS / f"family_{family}.json").read_text())
    model = file["model"]
    scores = None
    if kind == "t5":
        tokens, scores = zip(*model["vocab"])
        model["unk_token"] = tokens[model["unk_id"]]
    else:
        tokens = sorted(model["vocab"], key=model["vocab"].get)
    special = {token["content"] for token in file["added_tokens"]} | {"</s>", "<s>", "<pad>"}
    types = [2 if token == model["unk_token"] else 3 if token in special else 6 if re.fullmatch("<0x..>", token) else 1
             for token in tokens]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model.get("merges", [])]
    writer = gguf.GGUFWriter(TOKENIZERS / f"gguf_{name}.gguf", "test")
    writer.add_tokenizer_model(kind)
    phantom = [token if kind != "bert" or token_type != 1 else token.removeprefix("##") if token.startswith("##")
               else "\u2581" + token for token, token_type in zip(tokens, types)]
    writer.add_token_list(phantom)
    writer.add_token_types(types)
    if kind == "llama":
        ranks = {}
        for rank, merge in enumerate(merges):
            ranks.setdefault(merge.replace(" ", ""), -float(rank))
        writer.add_token_scores([ranks.get(token, -1000.0) for token in tokens])
        writer.add_bos_token_id(tokens.index("</s>"))
    elif kind == "gemma4":
        writer.add_token_merges(merges)
        writer.add_bos_token_id(tokens.index("</s>"))
        writer.add_add_bos_token(False)
    elif kind == "t5":
        writer.add_token_scores(scores)
        writer.add_eos_token_id(tokens.index("</s>"))
        writer.add_precompiled_charsmap(base64.b64decode(file["normalizer"]["precompiled_charsmap"]))
    elif kind == "bert":
        writer.add_bos_token_id(tokens.index("[CLS]"))
        writer.add_sep_token_id(tokens.index("[SEP]"))
    else:
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_merges(merges)
        writer.add_eos_token_id(tokens.index("<|endoftext|>"))
        writer.add_add_eos_token(True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    write_vocabulary("gpt2", "gpt2", "gpt2")
    write_vocabulary("llama", "byte_fallback", "llama")
    write_vocabulary("gemma4", "byte_fallback", "gemma4")
    write_vocabulary("bert", "bert_uncased", "bert")
    write_vocabulary("t5", "t5", "t5")
    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(OUT, "test")
    writer.add_uint8("number.u8", 200)
    writer.add_int8("number.i8", -100)
    writer.add_uint16("number.u16", 60000)
    writer.add_int16("number.i16", -30000)
    writer.add_uint32("number.u32", 4000000000)
    writer.add_int32("number.i32", -2000000000)
    writer.add_uint64("number.u64", 1 << 62)
    writer.add_int64("number.i64", -(1 << 62))
    writer.add_float32("number.f32", 0.1)
    writer.add_float64("number.f64", 0.1)
    writer.add_bool("flag", True)
    writer.add_string("text", "Grüße")
    writer.add_array("texts", ["a", "", "ß"])
    writer.add_array("integers", [3, -4])
    writer.add_array("floats", [0.5, -2.0])
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        run, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (256 // run, size), dtype=np.uint8)
        for at in HALVES[name]:
            blocks[:, at : at + 2] = random.normal(0, 0.1, (256 // run, 1)).astype(np.float16).view(np.uint8)
        rows = blocks.reshape(1, -1)
        writer.add_tensor(name, rows, raw_dtype=kind)
        writer.add_tensor(name + ".values", gguf.quants.dequantize(rows, kind).astype(np.float32))
    values = random.normal(0, 1, 8).astype(np.float16)
    writer.add_tensor("F16", values)
    writer.add_tensor("F16.values", values.astype(np.float32))
    words = random.normal(0, 1, 8).astype(np.float32).view(np.uint32) >> 16
    writer.add_tensor("BF16", words.astype(np.uint16).view(np.uint8).reshape(1, -1), raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.add_tensor("BF16.values", (words << 16).view(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
