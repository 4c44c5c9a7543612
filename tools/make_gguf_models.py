#!/usr/bin/env python3
"""Writes tests/testdata/gguf/NAME.gguf for models of tests/testdata/decoders, as llama.cpp's converter would, and
tests/testdata/gguf_blocks/llama.gguf, a random model in block types.

    python tools/make_gguf_models.py    (needs the packages gguf, numpy, safetensors and torch)

Rows of queries and keys are interleaved, Gemma's gains have 1 added, and Llama 3's scaling becomes rope_freqs.weight.
"""

import json
import math
import pathlib

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata"
ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3"}
INTERLEAVED = {"llama", "granite", "smollm3"}
NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.qkv_proj": "attn_qkv", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up",
    "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
}
OTHERS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def name_of(name, architecture):
    stem, kind = name.rsplit(".", 1)
    if stem in OTHERS:
        return f"{OTHERS[stem]}.{kind}"
    _, _, layer, part = stem.split(".", 3)
    new = NAMES[part]
    if part == "post_attention_layernorm" and architecture in ("gemma2", "gemma3", "olmo2"):
        new = "post_attention_norm"
    return f"blk.{layer}.{new}.{kind}"


def interleaved(rows, heads):
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def rope_freqs(config, rope):
    low, high, first = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
    dim = config["head_dim"]
    factors = []
    for i in range(0, dim, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / dim)
        if wavelength < first / high:
            factors.append(1)
        elif wavelength > first / low:
            factors.append(rope["factor"])
        else:
            smooth = (first / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, dtype=np.float32)


def convert(folder):
    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    architecture = ARCHITECTURES.get(kind, kind)
    writer = gguf.GGUFWriter(ROOT / "gguf" / f"{folder.name}.gguf", architecture)
    heads, key_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    if "rms_norm_eps" in config:
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    else:
        writer.add_layer_norm_eps(config["layer_norm_eps"])
        writer.add_parallel_residual(config["use_parallel_residual"])
    rope = dict(config.get("rope_parameters") or {})
    local = rope.get("sliding_attention")
    rope = dict(rope.get("full_attention", rope))
    rope.setdefault("rope_theta", config.get("rope_theta", 10000.0))  # older configurations have it outside
    rope.update(config.get("rope_scaling") or {})
    writer.add_rope_freq_base(rope["rope_theta"])
    if local is not None:
        writer.add_float32(f"{architecture}.rope.freq_base_swa", local["rope_theta"])
    partial = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1))
    writer.add_rope_dimension_count(int(head_dim * partial))
    if config.get("sliding_window") and architecture in ("gemma2", "gemma3", "phi3"):
        writer.add_sliding_window(config["sliding_window"])
    for key in ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.get(key):
            writer.add_float32(f"{architecture}.{key}", config[key])
    if kind == "granite":
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    scaling = rope.get("rope_type", "default")
    if scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_freqs(config, rope))
    elif scaling in ("linear", "yarn"):
        writer.add_string(f"{architecture}.rope.scaling.type", scaling)
        writer.add_rope_scaling_factor(rope["factor"])
        if scaling == "yarn":
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
            writer.add_float32(f"{architecture}.rope.scaling.yarn_beta_fast", rope["beta_fast"])
            writer.add_float32(f"{architecture}.rope.scaling.yarn_beta_slow", rope["beta_slow"])
    elif scaling == "longrope":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        for kind_of in ("short", "long"):
            writer.add_tensor(f"rope_factors_{kind_of}.weight", np.array(rope[f"{kind_of}_factor"], dtype=np.float32))
    elif scaling != "default":
        raise ValueError(scaling)
    if config["bos_token_id"] is not None:
        writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    for name, tensor in sorted(load_file(folder / "model.safetensors").items()):
        numbers = tensor.to(torch.float32).numpy()
        if architecture in INTERLEAVED and ".q_proj." in name:
            numbers = interleaved(numbers, heads)
        if architecture in INTERLEAVED and ".k_proj." in name:
            numbers = interleaved(numbers, key_heads)
        if architecture.startswith("gemma") and name.endswith("norm.weight"):
            numbers = numbers + 1
        writer.add_tensor(name_of(name, architecture), np.ascontiguousarray(numbers))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_blocks():
    """A random Llama in block types. Those of gate and up differ, and those of query, key and value, whose rows are fused."""
    random = np.random.default_rng(3)
    writer = gguf.GGUFWriter(ROOT / "gguf_blocks" / "llama.gguf", "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_context_length(24)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_eos_token_id(2)
    tensors = {
        "token_embd": ("Q8_0", 40, 32), "blk.0.attn_q": ("Q8_0", 32, 32), "blk.0.attn_k": ("Q4_1", 16, 32),
        "blk.0.attn_v": ("Q5_0", 16, 32), "blk.0.attn_output": ("Q5_1", 32, 32), "blk.0.ffn_gate": ("Q4_0", 64, 32),
        "blk.0.ffn_up": ("Q8_0", 64, 32), "blk.0.ffn_down": ("Q5_0", 32, 64),
    }
    for name, (kind, rows, columns) in tensors.items():
        numbers = random.normal(0, 0.3, (rows, columns)).astype(np.float32)
        kind = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(name + ".weight", gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(name + ".weight", random.normal(1, 0.1, 32).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    (ROOT / "gguf_blocks").mkdir(exist_ok=True)
    write_blocks()
    (ROOT / "gguf").mkdir(exist_ok=True)
    for name in ("llama_grouped_tied", "llama_biases", "llama_scaled", "llama_yarn", "qwen2", "qwen3", "smollm3", "granite",
                 "olmo2", "phi3", "stablelm", "stablelm_parallel", "gemma", "gemma2", "gemma3"):
        convert(ROOT / "decoders" / name)


if __name__ == "__main__":
    main()
