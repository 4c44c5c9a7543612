#!/usr/bin/env python3
"""Makes tests/testdata/decoders/: tiny decoders saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_decoder_goldens.py [NAME ...]

One folder per model: config.json and model.safetensors as save_pretrained writes them, perhaps with the configuration
as it was spelt before Transformers 5, and
golden.safetensors: a batch of texts of several lengths, with padding on the right, and for it, in double precision
without dropout (stored in single)
    last_hidden_state, logits, attentions.L
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
generation.json: texts, options of `generate`, and the tokens that it added to each text (with beams the two best, and
their scores).

Weights are rounded to bfloat16, in which most models are published, and in which the files hold them.
"""

import copy
import json
import os
import pathlib
import shutil
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from decoder_goldens import save_generation, save_golden, weigh  # noqa: E402
from transformers import AutoModelForCausalLM, LlamaConfig  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "decoders"

SMALL = dict(hidden_size=8, intermediate_size=6, num_hidden_layers=2, num_attention_heads=4, vocab_size=13,
             max_position_embeddings=24, bos_token_id=1, eos_token_id=2)


def older_rope(config):
    """rope_theta with rope_scaling, as files from before Transformers 5 have them."""
    rope = config.pop("rope_parameters")
    theta, kind = rope.pop("rope_theta"), rope.pop("rope_type")
    config.update(rope_theta=theta, rope_scaling={"rope_type": kind, **rope} if kind != "default" else None)


def without_head_dim(config):
    older_rope(config)
    config.pop("head_dim")


# The configuration, and perhaps a function that changes config.json.
MODELS = {
    "llama_grouped_tied": (LlamaConfig(**SMALL, num_key_value_heads=2, head_dim=6, tie_word_embeddings=True,
                                       rope_parameters={"rope_type": "default", "rope_theta": 500.0}), None),
    "llama_biases": (LlamaConfig(**{**SMALL, "num_hidden_layers": 1, "hidden_act": "gelu_pytorch_tanh"},
                                 num_key_value_heads=4, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3), without_head_dim),
    # Of the four pairs one turns fast, one slowly, and two in between.
    "llama_scaled": (LlamaConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 2}, num_key_value_heads=1,
                                 head_dim=8, rope_parameters={"rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0,
                                                              "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                              "original_max_position_embeddings": 64}), older_rope),
}
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


def initialise(model, seed):
    """Large enough that attention is sharp and every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = "norm" in name and name.endswith("weight")
            value.copy_((value + 0.2 * noise if gain else (0.2 if name.endswith("bias") else 0.45) * noise).bfloat16())


def golden(model, folder):
    mask = padded([[1] * len(text) for text in TEXTS], 0)
    inputs = {"input_ids": padded(TEXTS, 0), "attention_mask": mask}
    output = model(**inputs, output_attentions=True, output_hidden_states=True)
    real = mask.bool()
    tensors = {**inputs, "last_hidden_state": output.hidden_states[-1], "logits": output.logits}
    loss = weigh(output.hidden_states[-1][real]) + weigh(output.logits[real])
    loss.backward()
    save_golden(model, folder, {**tensors, "loss": loss}, output.attentions)


def main():
    for seed, (name, (config, change)) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder = OUT / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
        initialise(model, seed)
        copy.deepcopy(model).bfloat16().save_pretrained(folder)  # the frequencies of the angles are not rounded
        (folder / "generation_config.json").unlink(missing_ok=True)
        if change:
            written = json.loads((folder / "config.json").read_text())
            change(written)
            (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n")
        model.double()
        golden(model, folder)
        save_generation(model, folder, PROMPTS, GENERATE)
        print(name, sum(path.stat().st_size for path in folder.iterdir()))


main()
