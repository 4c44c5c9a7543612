#!/usr/bin/env python3
"""Writes tests/testdata/gguf/NAME.gguf and gguf_encoders/NAME.gguf for models of tests/testdata, as llama.cpp's
converter would, and tests/testdata/gguf_blocks/{llama,gpt2,qwen3moe}.gguf, random models with weights in block types.

    python tools/make_gguf_models.py    (needs the packages gguf, numpy, safetensors and torch)

Rows of queries and keys are interleaved, 1 is added to Gemma's gains, and Llama 3's scaling becomes rope_freqs.weight.
Experts are stacked. In BLOOM, Falcon and GPT-NeoX, the rows are ordered by matrix (query, key, value) instead of by
head.
"""

import json
import math
import pathlib

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata"
ARCHITECTURES = {"mistral": "llama", "mixtral": "llama", "gemma3_text": "gemma3", "qwen2_moe": "qwen2moe",
                 "qwen3_moe": "qwen3moe", "gpt_neox": "gptneox"}
INTERLEAVED = {"llama", "granite", "smollm3"}
NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.qkv_proj": "attn_qkv", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up",
    "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
}
CONSTANTS = {name: constant for constant, name in gguf.MODEL_ARCH_NAMES.items()}
OTHERS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def name_of(name, architecture):
    stem, kind = name.rsplit(".", 1)
    if stem in OTHERS:
        return f"{OTHERS[stem]}.{kind}"
    _, _, layer, part = stem.split(".", 3)
    if part not in NAMES:  # tensors of experts
        return gguf.get_tensor_name_map(CONSTANTS[architecture], 2).get_name(stem) + "." + kind
    new = NAMES[part]
    if part == "post_attention_layernorm" and architecture in ("gemma2", "gemma3", "olmo2"):
        new = "post_attention_norm"
    return f"blk.{layer}.{new}.{kind}"


def interleaved(rows, heads):
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def stacked(tensors):
    """Returns the tensors, with the tensors of experts stacked. The names of stacked tensors have no expert index."""
    result, experts = {}, {}
    for name, tensor in sorted(tensors.items()):
        if ".experts." in name:
            before, after = name.split(".experts.")
            experts.setdefault(f"{before}.experts.{after.split('.', 1)[1]}", []).append(tensor)
        else:
            result[name] = tensor
    return result | {name: torch.stack(list_of) for name, list_of in experts.items()}


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
    rope.setdefault("rope_theta", config.get("rope_theta", 10000.0))  # not in rope_scaling in older configurations
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
    if "num_experts_per_tok" in config:
        writer.add_expert_count(config.get("num_local_experts") or config["num_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if "moe_intermediate_size" in config:
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
    if "shared_expert_intermediate_size" in config:
        writer.add_expert_shared_feed_forward_length(config["shared_expert_intermediate_size"])
    if config["bos_token_id"] is not None:
        writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    for name, tensor in sorted(stacked(load_file(folder / "model.safetensors")).items()):
        numbers = tensor.to(torch.float32).numpy()
        if architecture in INTERLEAVED and ".q_proj." in name:
            numbers = interleaved(numbers, heads)
        if architecture in INTERLEAVED and ".k_proj." in name:
            numbers = interleaved(numbers, key_heads)
        if architecture.startswith("gemma") and name.endswith("norm.weight"):
            numbers = numbers + 1
        if name.endswith("shared_expert_gate.weight"):
            numbers = numbers.reshape(-1)
        writer.add_tensor(name_of(name, architecture), np.ascontiguousarray(numbers))
    close(writer)


def by_matrix(rows, heads, key_heads):
    """Reorders rows. Groups of queries, a key and a value become all queries, then all keys, then all values."""
    groups = rows.reshape(key_heads, heads // key_heads + 2, -1, *rows.shape[1:])
    parts = (groups[:, :-2], groups[:, -2], groups[:, -1])
    return np.concatenate([part.reshape(-1, *rows.shape[1:]) for part in parts])


def convert_other(folder):
    """Converts GPT-2, BLOOM, Falcon, GPT-NeoX, BERT and T5. They have different keys in config.json for one setting."""
    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    architecture = ARCHITECTURES.get(kind, kind)
    names = gguf.get_tensor_name_map(CONSTANTS[architecture], 8)

    def setting(*keys, fallback=None):
        return next((config[key] for key in keys if config.get(key) is not None), fallback)

    out = ROOT / ("gguf_encoders" if kind in ("bert", "t5") else "gguf")
    writer = gguf.GGUFWriter(out / f"{folder.name}.gguf", architecture)
    model, heads = setting("hidden_size", "n_embd", "d_model"), setting("num_attention_heads", "n_head", "num_heads")
    key_heads = heads
    if kind == "falcon":
        key_heads = config["num_kv_heads"] if config["new_decoder_architecture"] else 1
        writer.add_tensor_data_layout("jploski")
        writer.add_head_count_kv(key_heads)
    writer.add_context_length(setting("max_position_embeddings", "n_positions", "seq_length", fallback=512))
    writer.add_embedding_length(model)
    writer.add_feed_forward_length(setting("intermediate_size", "ffn_hidden_size", "n_inner", "d_ff", fallback=4 * model))
    writer.add_block_count(setting("num_hidden_layers", "n_layer", "num_layers"))
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(setting("layer_norm_epsilon", "layer_norm_eps"))
    if kind == "gpt_neox":
        rope = setting("rope_parameters", fallback={})
        share = setting("rotary_pct", fallback=rope.get("partial_rotary_factor"))
        writer.add_rope_dimension_count(int(share * (model // heads)))
        writer.add_rope_freq_base(setting("rotary_emb_base", fallback=rope.get("rope_theta")))
        if (setting("rope_scaling") or {}).get("rope_type") == "linear":
            writer.add_string("gptneox.rope.scaling.type", "linear")
            writer.add_rope_scaling_factor(config["rope_scaling"]["factor"])
        writer.add_parallel_residual(config["use_parallel_residual"])
    if kind == "t5":
        writer.add_layer_norm_rms_eps(config["layer_norm_epsilon"])
        writer.add_decoder_block_count(config["num_decoder_layers"])
        writer.add_key_length(config["d_kv"])
        writer.add_value_length(config["d_kv"])
        writer.add_relative_attn_buckets_count(config["relative_attention_num_buckets"])
        writer.add_decoder_start_token_id(config["decoder_start_token_id"])
        writer.add_pad_token_id(config["pad_token_id"])
    if kind == "bert":
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.CLS)
    if config.get("eos_token_id") is not None:
        writer.add_eos_token_id(config["eos_token_id"])
    for name, tensor in sorted(load_file(folder / "model.safetensors").items()):
        numbers = tensor.to(torch.float32).numpy()
        if name.startswith(("pooler.", "bert.pooler.", "cls.")) or name.endswith("position_ids"):
            continue
        if kind == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
            numbers = numbers.T
        if ".query_key_value." in name:
            numbers = by_matrix(numbers, heads, key_heads)
        prefix = {"bert": "bert.", "bloom": "transformer."}.get(kind, "")
        writer.add_tensor(names.get_name(name.removeprefix(prefix), try_suffixes=(".weight", ".bias")),
                          np.ascontiguousarray(numbers))
    close(writer)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_random(writer, random, tensors):
    """Writes random tensors. `tensors` has the type, the shape and the mean of each tensor by name."""
    for name, (kind, shape, mean) in tensors.items():
        numbers = random.normal(mean, 0.3, shape).astype(np.float32)
        kind = gguf.GGMLQuantizationType[kind]
        if kind == gguf.GGMLQuantizationType.F32:
            writer.add_tensor(name, numbers)
        else:
            writer.add_tensor(name, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    close(writer)


def start_random(name):
    writer = gguf.GGUFWriter(ROOT / "gguf_blocks" / f"{name}.gguf", name)
    writer.add_block_count(1)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_context_length(24)
    writer.add_eos_token_id(2)
    return writer


def write_gpt2_blocks():
    """Writes a random GPT-2. Its matrices are transposed in checkpoints."""
    writer = start_random("gpt2")
    writer.add_layer_norm_eps(1e-5)
    tensors = {"token_embd.weight": ("Q8_0", (40, 32), 0), "position_embd.weight": ("F32", (24, 32), 0)}
    for name, rows, columns in (("attn_qkv", 96, 32), ("attn_output", 32, 32), ("ffn_up", 64, 32), ("ffn_down", 32, 64)):
        tensors[f"blk.0.{name}.weight"] = ("Q8_0", (rows, columns), 0)
        tensors[f"blk.0.{name}.bias"] = ("F32", (rows,), 0)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        tensors |= {f"{name}.weight": ("F32", (32,), 1), f"{name}.bias": ("F32", (32,), 0)}
    write_random(writer, np.random.default_rng(4), tensors)


def write_expert_blocks():
    """Writes a random mixture of experts with stacked experts."""
    writer = start_random("qwen3moe")
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_expert_count(3)
    writer.add_expert_used_count(2)
    writer.add_expert_feed_forward_length(64)
    tensors = {
        "token_embd.weight": ("Q8_0", (40, 32), 0), "blk.0.attn_q.weight": ("Q8_0", (32, 32), 0),
        "blk.0.attn_k.weight": ("Q8_0", (16, 32), 0), "blk.0.attn_v.weight": ("Q8_0", (16, 32), 0),
        "blk.0.attn_output.weight": ("Q8_0", (32, 32), 0), "blk.0.ffn_gate_inp.weight": ("F32", (3, 32), 0),
        "blk.0.ffn_gate_exps.weight": ("Q4_0", (3, 64, 32), 0), "blk.0.ffn_up_exps.weight": ("Q4_0", (3, 64, 32), 0),
        "blk.0.ffn_down_exps.weight": ("Q8_0", (3, 32, 64), 0), "blk.0.attn_q_norm.weight": ("F32", (16,), 1),
        "blk.0.attn_k_norm.weight": ("F32", (16,), 1),
    }
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        tensors[f"{name}.weight"] = ("F32", (32,), 1)
    write_random(writer, np.random.default_rng(5), tensors)


def write_blocks():
    """Writes a random Llama in block types. The types of gate and up differ. The types of query, key and value also
    differ, although their rows are fused."""
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
    close(writer)


def main():
    (ROOT / "gguf_blocks").mkdir(exist_ok=True)
    write_blocks()
    write_gpt2_blocks()
    write_expert_blocks()
    (ROOT / "gguf").mkdir(exist_ok=True)
    (ROOT / "gguf_encoders").mkdir(exist_ok=True)
    for name in ("llama_grouped_tied", "llama_biases", "llama_scaled", "llama_yarn", "qwen2", "qwen3", "smollm3", "granite",
                 "olmo2", "phi3", "stablelm", "stablelm_parallel", "gemma", "gemma2", "gemma3", "mixtral", "qwen2_moe",
                 "qwen3_moe"):
        convert(ROOT / "decoders" / name)
    for name in ("decoders/bloom", "decoders/falcon", "decoders/falcon_grouped", "decoders/falcon_grouped_one_norm",
                 "decoders/gpt_neox", "decoders/gpt_neox_in_turn", "gpt/gpt2", "bert/sentences",
                 "encoder_decoders/t5_relu", "encoder_decoders/t5_gated_gelu_untied"):
        convert_other(ROOT / name)


if __name__ == "__main__":
    main()
