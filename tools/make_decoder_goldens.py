#!/usr/bin/env python3
"""Makes tests/testdata/decoders/: tiny decoders saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_decoder_goldens.py [NAME ...]
    tools/make_decoder_goldens.py --random COUNT --out FOLDER [--seed N] [FAMILY ...]

With --random, COUNT models with random configurations of all or some families are made. The slow test DecoderSweep
reads them from the folder in HEADLIGHT_DECODERS.

One folder per model: config.json and model.safetensors as save_pretrained writes them. Some configurations have the
names of Transformers 4. golden.safetensors has a batch of texts of several lengths, with padding on the right. Its
outputs are computed in double precision without dropout, and stored in single precision:
    last_hidden_state, logits, attentions.L
    loss, gradient.NAME        including the load-balancing loss of experts; of every parameter, under its name in model.safetensors
generation.json: texts, options of `generate`, and the tokens that it added to each text. With beams, it has the two
best texts and their scores.

The weights are rounded to bfloat16 and stored as bfloat16, as in most published models.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from decoder_goldens import save_generation, save_golden, weigh  # noqa: E402
from transformers import (AutoModelForCausalLM, BloomConfig, FalconConfig, Gemma2Config, Gemma3TextConfig,  # noqa: E402
                          GemmaConfig, GPTJConfig, GPTNeoXConfig, GraniteConfig, LlamaConfig, MistralConfig,
                          MixtralConfig, Olmo2Config, OPTConfig, Phi3Config, Qwen2Config, Qwen2MoeConfig, Qwen3Config,
                          Qwen3MoeConfig, SmolLM3Config, StableLmConfig)
from transformers.models.falcon.modeling_falcon import FalconAttention  # noqa: E402
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "decoders"

SMALL = dict(hidden_size=8, intermediate_size=6, num_hidden_layers=2, num_attention_heads=4, vocab_size=13,
             max_position_embeddings=24, bos_token_id=1, eos_token_id=2)
OPT = dict(hidden_size=8, ffn_dim=6, num_attention_heads=2, vocab_size=13, max_position_embeddings=24, bos_token_id=1,
           eos_token_id=2, pad_token_id=0)


ONE_LAYER = dict(hidden_size=12, num_hidden_layers=1, num_attention_heads=3, vocab_size=13, bos_token_id=1, eos_token_id=2)
BLOOM = dict(hidden_size=12, n_layer=1, vocab_size=13, seq_length=24, bos_token_id=1, eos_token_id=2)


def older_rope(config):
    """Replaces rope_parameters by rope_theta and rope_scaling, as in files of Transformers 4."""
    rope = config.pop("rope_parameters")
    theta, kind = rope.pop("rope_theta"), rope.pop("rope_type")
    config.update(rope_theta=theta, rope_scaling={"rope_type": kind, **rope} if kind != "default" else None)


def older_partial_rope(config):
    factor = config["rope_parameters"].pop("partial_rotary_factor")
    older_rope(config)
    config["partial_rotary_factor"] = factor


def older_neox(config):
    rope = config.pop("rope_parameters")
    config.update(rotary_emb_base=rope.pop("rope_theta"), rotary_pct=rope.pop("partial_rotary_factor"))
    if rope["rope_type"] != "default":
        config["rope_scaling"] = rope


def older_bloom(config):
    for newer, older in [("hidden_size", "n_embed"), ("n_layer", "num_hidden_layers"), ("n_head", "num_attention_heads")]:
        config[older] = config.pop(newer)


def without_head_dim(config):
    older_rope(config)
    config.pop("head_dim")


def without_layer_types(config):
    """Removes layer_types, as in files of Transformers 4. They have the first layer with a sliding window instead."""
    older_rope(config)
    config.pop("layer_types")


def older_gemma3(config):
    rope = config.pop("rope_parameters")
    full, sliding = rope["full_attention"], rope["sliding_attention"]
    config.update(rope_theta=full["rope_theta"], rope_local_base_freq=sliding["rope_theta"], sliding_window_pattern=2,
                  rope_scaling={"rope_type": full["rope_type"], "factor": full["factor"]})
    config.pop("layer_types")


def older_qwen3_moe(config):
    older_rope(config)
    config["num_experts"] = config.pop("num_local_experts")


def with_null_key_heads(config):
    config["num_key_value_heads"] = None


# For each model: the configuration, and an optional function that changes config.json.
MODELS = {
    "llama_grouped_tied": (LlamaConfig(**SMALL, num_key_value_heads=2, head_dim=6, tie_word_embeddings=True,
                                       rope_parameters={"rope_type": "default", "rope_theta": 500.0}), None),
    "llama_biases": (LlamaConfig(**{**SMALL, "num_hidden_layers": 1, "hidden_act": "gelu_pytorch_tanh"},
                                 num_key_value_heads=4, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3), without_head_dim),
    # One of the four pairs rotates fast, one rotates slowly, and two are in between.
    "llama_scaled": (LlamaConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 2}, num_key_value_heads=1,
                                 head_dim=8, rope_parameters={"rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0,
                                                              "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                              "original_max_position_embeddings": 64}), older_rope),
    # Three of the four pairs rotate. The first of the three is not scaled, and the last is scaled by the factor.
    "llama_yarn": (LlamaConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 1}, head_dim=8,
                               rope_parameters={"rope_type": "yarn", "rope_theta": 50.0, "factor": 4.0, "beta_fast": 2.0,
                                                "beta_slow": 0.3,
                                                "original_max_position_embeddings": 20}), None),
    "mistral": (MistralConfig(**{**SMALL, "num_hidden_layers": 1}, num_key_value_heads=2, sliding_window=3,
                              rope_parameters={"rope_type": "default", "rope_theta": 500.0}), older_rope),
    "qwen2": (Qwen2Config(**SMALL, num_key_value_heads=2, use_sliding_window=True, sliding_window=3, max_window_layers=1,
                          rope_parameters={"rope_type": "default", "rope_theta": 500.0}), without_layer_types),
    "qwen3": (Qwen3Config(**SMALL, num_key_value_heads=1, head_dim=4, use_sliding_window=True, sliding_window=4,
                          layer_types=["sliding_attention", "full_attention"], tie_word_embeddings=True), None),
    "smollm3": (SmolLM3Config(**SMALL, num_key_value_heads=4, pad_token_id=0, no_rope_layer_interval=2,
                              use_sliding_window=True, sliding_window=3, attention_bias=True, mlp_bias=True), None),
    "phi3": (Phi3Config(**{**SMALL, "num_attention_heads": 1, "num_hidden_layers": 1}, pad_token_id=0, sliding_window=5,
                        original_max_position_embeddings=16,
                        rope_parameters={"rope_type": "longrope", "rope_theta": 100.0, "partial_rotary_factor": 0.75,
                                         "short_factor": [1.0, 1.5, 2.0], "long_factor": [1.0, 4.0, 8.0]}), None),
    "granite": (GraniteConfig(**{**SMALL, "num_hidden_layers": 1}, num_key_value_heads=2, embedding_multiplier=3.0,
                              attention_multiplier=0.3, residual_multiplier=0.7, logits_scaling=2.5,
                              tie_word_embeddings=True), None),
    "olmo2": (Olmo2Config(**{**SMALL, "num_hidden_layers": 1}, num_key_value_heads=2, head_dim=4, pad_token_id=0), None),
    "stablelm": (StableLmConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 1}, num_key_value_heads=1,
                                use_qkv_bias=True, rope_parameters={"rope_type": "default", "rope_theta": 50.0,
                                                                    "partial_rotary_factor": 0.5}), None),
    "stablelm_parallel": (StableLmConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 2},
                                         num_key_value_heads=1, use_parallel_residual=True, tie_word_embeddings=True,
                                         rope_parameters={"rope_type": "default", "rope_theta": 50.0,
                                                          "partial_rotary_factor": 0.5}), older_partial_rope),
    "opt": (OPTConfig(**OPT, num_hidden_layers=2), None),
    "opt_post_norm": (OPTConfig(**OPT, num_hidden_layers=1, do_layer_norm_before=False, word_embed_proj_dim=6,
                                enable_bias=False, activation_function="gelu"), None),
    "gemma": (GemmaConfig(**{**SMALL, "num_hidden_layers": 1}, num_key_value_heads=1, head_dim=6), older_rope),
    "gemma2": (Gemma2Config(**SMALL, num_key_value_heads=2, head_dim=4, query_pre_attn_scalar=7, sliding_window=3,
                            attn_logit_softcapping=2.0, final_logit_softcapping=3.0), without_layer_types),
    "gemma3": (Gemma3TextConfig(**SMALL, num_key_value_heads=1, head_dim=4, query_pre_attn_scalar=7, sliding_window=3,
                                layer_types=["sliding_attention", "full_attention"]), None),
    "gemma3_older": (Gemma3TextConfig(**SMALL, num_key_value_heads=4, head_dim=4, sliding_window=3,
                                      rope_parameters={"full_attention": {"rope_type": "linear", "factor": 2.0,
                                                                          "rope_theta": 300.0},
                                                       "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}},
                                      layer_types=["sliding_attention", "full_attention"]), older_gemma3),
    "gpt_neox": (GPTNeoXConfig(**{**SMALL, "num_attention_heads": 2, "num_hidden_layers": 1},
                               rope_parameters={"rope_type": "default", "rope_theta": 50.0,
                                                "partial_rotary_factor": 0.5}), None),
    "gpt_neox_in_turn": (GPTNeoXConfig(**{**SMALL, "num_attention_heads": 2, "num_hidden_layers": 1},
                                       use_parallel_residual=False, attention_bias=False, tie_word_embeddings=True,
                                       rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 50.0,
                                                        "partial_rotary_factor": 1.0}), older_neox),
    "gptj": (GPTJConfig(n_embd=12, n_layer=2, n_head=2, n_inner=6, rotary_dim=4, vocab_size=13, n_positions=24,
                        bos_token_id=1, eos_token_id=2), None),
    "falcon": (FalconConfig(**ONE_LAYER, ffn_hidden_size=6), older_rope),
    "falcon_grouped": (FalconConfig(**{**ONE_LAYER, "hidden_size": 8, "num_attention_heads": 4},
                                    ffn_hidden_size=6, num_kv_heads=2, new_decoder_architecture=True,
                                    tie_word_embeddings=False), None),
    "falcon_grouped_one_norm": (FalconConfig(**{**ONE_LAYER, "hidden_size": 6}, ffn_hidden_size=6, num_kv_heads=1, num_ln_in_parallel_attn=1,
                                             new_decoder_architecture=True, activation="silu"), None),
    "falcon_linear_biases": (FalconConfig(**ONE_LAYER, ffn_hidden_size=6, alibi=True, bias=True, multi_query=False,
                                          parallel_attn=False), None),
    "stablelm_head_norms": (StableLmConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 2},
                                           num_key_value_heads=1, qk_layernorm=True,
                                           rope_parameters={"rope_type": "default", "rope_theta": 50.0,
                                                            "partial_rotary_factor": 0.5}), None),
    "bloom_residual_after_norm": (BloomConfig(**BLOOM, n_head=2, apply_residual_connection_post_layernorm=True),
                                  older_bloom),
    "bloom": (BloomConfig(**BLOOM, n_head=3), None),
    # With these sizes, the experts' scores differ so much that rounding to int8 does not change their order.
    "mixtral": (MixtralConfig(**{**SMALL, "num_hidden_layers": 1, "intermediate_size": 5}, num_key_value_heads=2, num_local_experts=4,
                              sliding_window=3), None),
    "qwen2_moe": (Qwen2MoeConfig(**SMALL, num_key_value_heads=2, num_experts=3, num_experts_per_tok=2,
                                 moe_intermediate_size=4, shared_expert_intermediate_size=5, mlp_only_layers=[0],
                                 use_sliding_window=True, sliding_window=3), without_layer_types),
    "qwen3_moe": (Qwen3MoeConfig(**SMALL, num_key_value_heads=1, head_dim=4, num_experts=5, num_experts_per_tok=3,
                                 moe_intermediate_size=3, norm_topk_prob=True, decoder_sparse_step=2,
                                 tie_word_embeddings=True), older_qwen3_moe),
}
# Seeds of models that were added in a different order. For other models, the seed is the position in MODELS.
SEEDS = {"mixtral": 19, "qwen2_moe": 20, "qwen3_moe": 21}
TEXTS = [[3, 7, 12, 5, 2], [9], [11, 2, 2, 8, 6, 11, 4]]
PROMPTS = [[3, 7, 12], [9], [11, 5, 2, 8, 6]]
GENERATE = [
    dict(num_beams=1),
    dict(num_beams=1, repetition_penalty=1.4, min_new_tokens=6),
    dict(num_beams=3, length_penalty=0.6),
]


def padded(texts, value):
    longest = max(map(len, texts))
    return torch.tensor([text + [value] * (longest - len(text)) for text in texts])


def drawn_rope(draw, pairs, kinds):
    rope = {"rope_type": draw.choice(kinds), "rope_theta": draw.choice([10.0, 500.0, 10000.0, 500000.0])}
    if rope["rope_type"] != "default":
        rope["factor"] = draw.choice([1.0, 2.0, 2.5, 8.0])
    if rope["rope_type"] == "llama3":
        rope.update(low_freq_factor=draw.choice([0.5, 1.0]), high_freq_factor=draw.choice([1.5, 4.0]))
    if rope["rope_type"] == "yarn" and draw.random() < 0.5:
        rope.update(beta_fast=draw.choice([2.0, 32.0]), beta_slow=draw.choice([0.2, 1.0]), truncate=draw.random() < 0.5)
        if draw.random() < 0.5:
            rope.update(mscale=0.7, mscale_all_dim=draw.choice([0.3, 1.0]))
    if rope["rope_type"] in ["llama3", "yarn"]:
        rope["original_max_position_embeddings"] = draw.choice([8, 16, 64])
    if rope["rope_type"] == "longrope":
        rope.pop("factor")
        rope.update({name: [draw.uniform(1, 8) for _ in range(pairs)] for name in ["short_factor", "long_factor"]})
    return rope


ROPES = ["default", "default", "linear", "dynamic", "llama3", "yarn"]


def windows(draw, layers):
    """Returns settings for layers with sliding and with full attention."""
    return dict(sliding_window=draw.randint(2, 12),  # with a window of 1, Transformers' cache keeps all keys
                layer_types=[draw.choice(["sliding_attention", "full_attention"]) for _ in range(layers)])


def experts(draw, key="num_experts"):
    count = draw.randint(1, 9)
    return {key: count, "num_experts_per_tok": draw.randint(1, count)}


def qwen_experts(draw, common):
    layers = range(common["num_hidden_layers"])
    return dict(moe_intermediate_size=draw.randint(1, 20), norm_topk_prob=draw.random() < 0.5,
                decoder_sparse_step=draw.randint(1, 2), mlp_only_layers=[layer for layer in layers if draw.random() < 0.2],
                **experts(draw))


# The family-specific settings, as functions of the common settings.
FAMILIES = {
    "llama": (LlamaConfig, lambda draw, common: dict(attention_bias=draw.random() < 0.4, mlp_bias=draw.random() < 0.4)),
    "mistral": (MistralConfig, lambda draw, common: dict(sliding_window=draw.choice([None, 2, 3, 12]))),
    "qwen2": (Qwen2Config, lambda draw, common: dict(use_sliding_window=True,
                                                     **windows(draw, common["num_hidden_layers"]))),
    "qwen3": (Qwen3Config, lambda draw, common: dict(attention_bias=draw.random() < 0.4, use_sliding_window=True,
                                                     **windows(draw, common["num_hidden_layers"]))),
    "smollm3": (SmolLM3Config, lambda draw, common: dict(
        pad_token_id=0, attention_bias=draw.random() < 0.4, mlp_bias=draw.random() < 0.4, use_sliding_window=True,
        no_rope_layers=[draw.randint(0, 1) for _ in range(common["num_hidden_layers"])],
        **windows(draw, common["num_hidden_layers"]))),
    "phi3": (Phi3Config, lambda draw, common: dict(pad_token_id=0, sliding_window=draw.choice([None, 2, 3, 12]))),
    "granite": (GraniteConfig, lambda draw, common: dict(
        attention_bias=draw.random() < 0.4, mlp_bias=draw.random() < 0.4, embedding_multiplier=draw.uniform(0.5, 4),
        attention_multiplier=draw.uniform(0.1, 1), residual_multiplier=draw.uniform(0.2, 1),
        logits_scaling=draw.uniform(0.5, 8))),
    "mixtral": (MixtralConfig, lambda draw, common: dict(
        sliding_window=draw.choice([None, 2, 3, 12]), **experts(draw, "num_local_experts"))),
    "qwen2_moe": (Qwen2MoeConfig, lambda draw, common: dict(
        qkv_bias=draw.random() < 0.6, shared_expert_intermediate_size=draw.randint(1, 20), use_sliding_window=True,
        **qwen_experts(draw, common), **windows(draw, common["num_hidden_layers"]))),
    "qwen3_moe": (Qwen3MoeConfig, lambda draw, common: dict(
        attention_bias=draw.random() < 0.4, use_sliding_window=draw.random() < 0.5, sliding_window=draw.randint(2, 12),
        **qwen_experts(draw, common))),
    "stablelm": (StableLmConfig, lambda draw, common: dict(use_qkv_bias=draw.random() < 0.4,
                                                           use_parallel_residual=draw.random() < 0.5,
                                                           qk_layernorm=draw.random() < 0.4)),
    "olmo2": (Olmo2Config, lambda draw, common: dict(attention_bias=draw.random() < 0.4, pad_token_id=0)),
    "gemma": (GemmaConfig, lambda draw, common: dict(attention_bias=draw.random() < 0.4)),
    "gemma2": (Gemma2Config, lambda draw, common: dict(
        attention_bias=draw.random() < 0.4, query_pre_attn_scalar=draw.randint(1, 40),
        attn_logit_softcapping=draw.choice([None, 1.5, 50.0]), final_logit_softcapping=draw.choice([None, 2.0, 30.0]),
        **windows(draw, common["num_hidden_layers"]))),
    "gemma3": (Gemma3TextConfig, lambda draw, common: dict(
        attention_bias=draw.random() < 0.4, query_pre_attn_scalar=draw.randint(1, 40),
        final_logit_softcapping=draw.choice([None, 2.0]), **windows(draw, common["num_hidden_layers"]))),
}


# The following functions return random configurations of GPT-like families. `sizes` has Llama's names for sizes.
# Falcon's keys have the same head_dim as its queries.
def drawn_neox(draw, sizes, pairs):
    config = GPTNeoXConfig(**sizes, intermediate_size=draw.randint(1, 50), hidden_act=draw.choice(["gelu", "gelu_new", "relu"]),
                           attention_bias=draw.random() < 0.7, use_parallel_residual=draw.random() < 0.5,
                           tie_word_embeddings=draw.random() < 0.5, layer_norm_eps=draw.choice([1e-5, 1e-3]),
                           rope_parameters={**drawn_rope(draw, 0, ["default", "linear", "yarn"]),
                                            "partial_rotary_factor": 2 * draw.randint(1, pairs) / (2 * pairs)})
    return config, [older_neox] if draw.random() < 0.5 else []


def drawn_gptj(draw, sizes, pairs):
    newer = GPTJConfig.attribute_map
    config = GPTJConfig(**{newer.get(name, name): value for name, value in sizes.items()}, rotary_dim=2 * draw.randint(1, pairs),
                        n_inner=draw.choice([None, draw.randint(1, 50)]), tie_word_embeddings=draw.random() < 0.5,
                        activation_function=draw.choice(["gelu_new", "relu"]), layer_norm_epsilon=draw.choice([1e-5, 1e-3]))
    return config, []


def drawn_bloom(draw, sizes, pairs):
    newer = BloomConfig.attribute_map
    sizes["seq_length"] = sizes.pop("max_position_embeddings")
    config = BloomConfig(**{newer.get(name, name): value for name, value in sizes.items()},
                         apply_residual_connection_post_layernorm=draw.random() < 0.4, tie_word_embeddings=draw.random() < 0.7,
                         layer_norm_epsilon=draw.choice([1e-5, 1e-3]))
    return config, [older_bloom] if draw.random() < 0.5 else []


def drawn_falcon(draw, sizes, pairs):
    grouped, alibi, heads = draw.random() < 0.5, draw.random() < 0.4, sizes["num_attention_heads"]
    own = dict(num_kv_heads=draw.choice([count for count in range(1, heads + 1) if heads % count == 0]),
               num_ln_in_parallel_attn=draw.choice([None, 1, 2])) if grouped else dict(
                   multi_query=draw.random() < 0.5, parallel_attn=draw.random() < 0.5)
    config = FalconConfig(**sizes, **own, new_decoder_architecture=grouped, alibi=alibi, bias=draw.random() < 0.5,
                          ffn_hidden_size=draw.choice([None, draw.randint(1, 50)]), tie_word_embeddings=draw.random() < 0.5,
                          layer_norm_epsilon=draw.choice([1e-5, 1e-3]), activation=draw.choice(["gelu", "silu", "relu"]),
                          rope_parameters=drawn_rope(draw, 0, ["default", "linear", "llama3"]))
    return config, [older_rope] if draw.random() < 0.5 else []


GPT_FAMILIES = {"gpt_neox": drawn_neox, "gptj": drawn_gptj, "bloom": drawn_bloom, "falcon": drawn_falcon}


def drawn_gpt(draw, family):
    heads, pairs = draw.choice([1, 2, 3, 4, 6]), draw.randint(1, 12)
    return GPT_FAMILIES[family](draw, dict(
        hidden_size=heads * 2 * pairs, num_hidden_layers=draw.randint(1, 3), num_attention_heads=heads,
        vocab_size=draw.randint(12, 90), max_position_embeddings=draw.randint(20, 64), bos_token_id=1, eos_token_id=2), pairs)


def drawn(draw, families):
    """Returns a random configuration, the changes of its config.json, texts, prompts, and the format of its files."""
    family = draw.choice(families)
    if family in GPT_FAMILIES:
        config, changes = drawn_gpt(draw, family)
        most = getattr(config, "seq_length", None) or config.max_position_embeddings
        return with_texts(draw, config, changes, most - 9)
    config_class, own_settings = FAMILIES[family]
    gemma = family.startswith("gemma")
    heads = draw.choice([1, 2, 3, 4, 6])
    key_heads = draw.choice([divisor for divisor in range(1, heads + 1) if heads % divisor == 0])
    head_dim, positions = 2 * draw.randint(1, 12), draw.randint(20, 64)
    has_head_dim = gemma or family in ["llama", "mistral", "qwen3", "smollm3", "olmo2", "mixtral", "qwen3_moe"]
    own = has_head_dim and draw.random() < 0.5  # otherwise, head_dim is hidden_size / heads
    # hidden_size is at least 2. With 1, norms would make all states equal, and beams would have equal scores.
    common = dict(hidden_size=heads * (draw.randint(2, 11) if own else head_dim),
                  intermediate_size=draw.randint(1, 50), num_hidden_layers=draw.randint(1, 3), num_attention_heads=heads,
                  num_key_value_heads=key_heads, vocab_size=draw.randint(12, 90), max_position_embeddings=positions,
                  bos_token_id=1, eos_token_id=2, tie_word_embeddings=draw.random() < 0.5,
                  **{"layer_norm_eps" if family == "stablelm" else "rms_norm_eps": draw.choice([1e-6, 1e-5, 1e-3])})
    if family == "olmo2":  # norms of tiny values make PyTorch's float32 gradients differ by 4e-4
        common["rms_norm_eps"] = 1e-3
    if has_head_dim:
        common["head_dim"] = head_dim
    activation = draw.choice(["silu", "silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "quick_gelu", "tanh"])
    if family == "gemma" and activation == "gelu":
        activation = "gelu_pytorch_tanh"
    common["hidden_activation" if family in ["gemma2", "gemma3"] else "hidden_act"] = activation
    if family == "gemma3":
        rope = {"full_attention": drawn_rope(draw, 0, ["default", "linear"]),
                "sliding_attention": drawn_rope(draw, 0, ["default"])}
    elif family == "stablelm":
        rope = drawn_rope(draw, 0, ["default", "linear", "yarn"])
        rope["partial_rotary_factor"] = 2 * draw.randint(1, head_dim // 2) / head_dim
    elif family == "phi3":
        pairs = draw.randint(1, head_dim // 2)
        common["original_max_position_embeddings"] = draw.randint(positions - 2, positions)
        rope = drawn_rope(draw, pairs, ["default", "longrope"])
        rope["partial_rotary_factor"] = 2 * pairs / head_dim
    else:
        # With a single pair, "dynamic" would divide by zero.
        rope = drawn_rope(draw, 0, [kind for kind in ROPES if kind != "dynamic" or head_dim > 2])
    config = config_class(**common, **own_settings(draw, common), rope_parameters=rope)
    changes = []
    if family != "gemma3" and draw.random() < 0.5:
        changes.append(older_partial_rope if "partial_rotary_factor" in rope else older_rope)
    if has_head_dim and not own and family not in ["qwen3", "qwen3_moe"] and not gemma:
        changes.append(lambda written: written.pop("head_dim"))
    if key_heads == heads and not gemma:
        changes.append(with_null_key_heads)
    return with_texts(draw, config, changes, common.get("original_max_position_embeddings", positions) - 9)


def with_texts(draw, config, changes, most):
    sentence = lambda longest: [draw.randrange(3, config.vocab_size) for _ in range(draw.randint(1, longest))]
    texts = [sentence(most) for _ in range(draw.randint(1, 4))]
    written = {"dtype": draw.choice([torch.float32, torch.bfloat16, torch.float16]),
               "shard": draw.choice(["50GB", "50GB", "4KB"])}
    return config, changes, texts, [sentence(8) for _ in range(3)], written


def initialize(model, seed, dtype, most_inputs):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters. Weights
    with more than `most_inputs` inputs are smaller, so that results in single and double precision are close."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = value.dim() == 1 and name.endswith("weight")
            scale = 0.2 if name.endswith("bias") else 0.45 * min(1, most_inputs / value.shape[-1]) ** 0.5
            value.copy_((value + 0.2 * noise if gain else scale * noise).to(dtype))


def stacked(tensors):
    """Stacks tensors [1, ...] of different sizes, padded with zeros."""
    most = [max(sizes) for sizes in zip(*(tensor.shape for tensor in tensors))]
    result = torch.zeros([len(tensors), *most[1:]], dtype=tensors[0].dtype)
    for row, tensor in zip(result, tensors):
        row[tuple(slice(size) for size in tensor.shape[1:])] = tensor[0].detach()
    return result


attend = FalconAttention.forward


def attend_once(self, hidden_states, alibi=None, **others):
    """Disables Falcon's own addition of ALiBi biases, because the mask of Transformers 5.24 also contains them. The
    default implementation adds them once, but reports no attentions."""
    return attend(self, hidden_states, alibi=None if alibi is None else torch.zeros_like(alibi), **others)


FalconAttention.forward = attend_once


def golden(model, folder, texts):
    # Each text is processed separately. With a window, a padding query would have no keys, and its NaN would reach the
    # texts.
    has_experts = any(".experts." in name for name, _ in model.named_parameters())
    experts = {"output_router_logits": True} if has_experts else {}
    outputs = [model(torch.tensor([text]), output_attentions=True, output_hidden_states=True, **experts) for text in texts]
    hidden, logits = [output.hidden_states[-1] for output in outputs], [output.logits for output in outputs]
    tensors = {"input_ids": padded(texts, 0), "attention_mask": padded([[1] * len(text) for text in texts], 0),
               "last_hidden_state": stacked(hidden), "logits": stacked(logits)}
    loss = weigh(torch.cat(hidden, 1)[0]) + weigh(torch.cat(logits, 1)[0])
    if experts:
        routers = tuple(torch.cat(layer) for layer in zip(*(output.router_logits for output in outputs)))
        loss = loss + load_balancing_loss_func(routers, model.num_experts, model.num_experts_per_tok)
    loss.backward()
    attentions = [stacked(layer) for layer in zip(*(output.attentions for output in outputs))]
    save_golden(model, folder, {**tensors, "loss": loss}, attentions)


def make(folder, config, changes, texts, prompts, seed, dtype=torch.bfloat16, shard="50GB", most_inputs=1 << 30):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager").eval()
    initialize(model, seed, dtype, most_inputs)
    # The model is copied first, so that its own rotary frequencies are not rounded.
    copy.deepcopy(model).to(dtype).save_pretrained(folder, max_shard_size=shard)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if changes:
        written = json.loads((folder / "config.json").read_text())
        for change in changes:
            change(written)
        (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n")
    model.double()
    golden(model, folder, texts)
    save_generation(model, folder, prompts, GENERATE)
    print(folder.name, sum(path.stat().st_size for path in folder.iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--random", type=int, metavar="COUNT")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.random:
        draw = random.Random(options.seed)
        for index in range(options.random):
            config, changes, texts, prompts, written = drawn(draw, options.names or [*FAMILIES, *GPT_FAMILIES])
            make(options.out / f"{index:03}", config, changes, texts, prompts, seed=draw.randrange(1 << 30), most_inputs=8,
                 **written)
        return
    for position, (name, (config, change)) in enumerate(MODELS.items()):
        if not options.names or name in options.names:
            make(OUT / name, config, [change] if change else [], TEXTS, PROMPTS, SEEDS.get(name, position))


main()
