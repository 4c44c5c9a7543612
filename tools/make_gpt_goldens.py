#!/usr/bin/env python3
"""Makes tests/testdata/gpt/: tiny models saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_gpt_goldens.py

One folder per model: config.json and model.safetensors as save_pretrained writes them, and
golden.safetensors. It has a batch of texts of several lengths, with padding on the right or the left, and positions
counted from each text's first token. Its outputs are computed in double precision without dropout, and stored in single
precision:
    last_hidden_state, logits, attentions.L; for a model with classes, logits [texts, labels] of texts of equal length
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
generation.json: texts, options of `generate`, and the tokens that it added to each text. With beams, it has the two
best texts and their scores.
"""

import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from decoder_goldens import save_generation, save_golden, weigh  # noqa: E402
from transformers import (GPT2Config, GPT2LMHeadModel, GPTNeoConfig, GPTNeoForCausalLM, ImageGPTConfig,  # noqa: E402
                          ImageGPTForCausalImageModeling, ImageGPTForImageClassification, OpenAIGPTConfig,
                          OpenAIGPTLMHeadModel)

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "gpt"

# Heads of sizes 6 and 5 do not fill a vector register.
LARGE = dict(n_embd=12, n_layer=2, n_head=2, vocab_size=23, n_positions=24, bos_token_id=2, eos_token_id=2)
ODD = dict(n_embd=15, n_layer=2, n_head=3, vocab_size=19, n_positions=24, bos_token_id=2, eos_token_id=2)
NEO = {"n_embd": "hidden_size", "n_layer": "num_layers", "n_head": "num_heads", "n_positions": "max_position_embeddings"}
neo = lambda sizes: {NEO.get(name, name): value for name, value in sizes.items()}
pixels = lambda sizes: {name: value for name, value in sizes.items() if not name.endswith("_token_id")}

MODELS = {
    "gpt2": (GPT2LMHeadModel, GPT2Config(**LARGE), "right"),
    "gpt2_odd_left": (GPT2LMHeadModel, GPT2Config(**ODD, n_inner=7, activation_function="relu", tie_word_embeddings=False,
                                                  scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=1e-4), "left"),
    "gpt2_unscaled_left": (GPT2LMHeadModel, GPT2Config(**LARGE, activation_function="silu", scale_attn_weights=False,
                                                       reorder_and_upcast_attn=False), "left"),
    "gpt2_gelu": (GPT2LMHeadModel, GPT2Config(**dict(ODD, n_layer=1), activation_function="gelu"), "right"),
    "gpt1": (OpenAIGPTLMHeadModel, OpenAIGPTConfig(**LARGE), "right"),
    "gpt1_odd_left": (OpenAIGPTLMHeadModel, OpenAIGPTConfig(**ODD, afn="relu", tie_word_embeddings=False), "left"),
    "gpt3": (GPTNeoForCausalLM, GPTNeoConfig(**neo(LARGE), attention_types=[[["global", "local"], 1]], window_size=3),
             "right"),
    "gpt3_odd_left": (GPTNeoForCausalLM, GPTNeoConfig(**neo(ODD), attention_types=[[["local"], 1], [["global"], 1]],
                                                      window_size=2, intermediate_size=7, activation_function="relu",
                                                      tie_word_embeddings=False), "left"),
    "imagegpt": (ImageGPTForCausalImageModeling, ImageGPTConfig(**pixels(LARGE)), "right"),
    "imagegpt_odd_left": (ImageGPTForCausalImageModeling,
                          ImageGPTConfig(**{**pixels(ODD), "vocab_size": 21}, n_inner=7, activation_function="relu",
                                         scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=1e-4), "left"),
    "imagegpt_tied": (ImageGPTForCausalImageModeling, ImageGPTConfig(**pixels(LARGE), tie_word_embeddings=True), "right"),
    "imagegpt_classes": (ImageGPTForImageClassification, ImageGPTConfig(**pixels(LARGE), num_labels=3), "right"),
}
TEXTS = [[3, 7, 12, 5, 16, 2], [9], [14, 2, 2, 18, 6, 11, 8, 10, 4]]
PROMPTS = [[3, 7, 12], [9], [14, 5, 2, 18, 6, 11, 5]]
GENERATE = [
    dict(num_beams=1),
    dict(num_beams=1, repetition_penalty=1.4, min_new_tokens=6),
    dict(num_beams=1, no_repeat_ngram_size=2),
    dict(num_beams=3, length_penalty=0.6),
    dict(num_beams=3, early_stopping=True),
    dict(num_beams=3, length_penalty=2.0, early_stopping="never"),
    dict(num_beams=4, repetition_penalty=1.3, no_repeat_ngram_size=3, min_new_tokens=2),
]


def padded(texts, side, value):
    longest = max(map(len, texts))
    fill = [[value] * (longest - len(text)) for text in texts]
    return torch.tensor([text + more if side == "right" else more + text for text, more in zip(texts, fill)])


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = "ln_" in name and name.endswith("weight")
            value.copy_(1 + 0.2 * noise if gain else (0.2 if name.endswith("bias") else 0.45) * noise)


def golden(model, folder, side):
    # The classification head also averages over padding.
    texts = TEXTS if hasattr(model, "lm_head") else [text[:6] for text in TEXTS if len(text) >= 6]
    mask = padded([[1] * len(text) for text in texts], side, 0)
    inputs = {"input_ids": padded(texts, side, 0), "attention_mask": mask}
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    output = model(**inputs, position_ids=positions, output_attentions=True, output_hidden_states=True)
    real = mask.bool()
    tensors = {**inputs, "last_hidden_state": output.hidden_states[-1], "logits": output.logits}
    logits = output.logits[real] if hasattr(model, "lm_head") else output.logits
    loss = weigh(output.hidden_states[-1][real]) + weigh(logits)
    loss.backward()
    save_golden(model, folder, {**tensors, "loss": loss}, output.attentions)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, side)) in enumerate(MODELS.items()):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        model.double()
        golden(model, folder, side)
        if hasattr(model, "lm_head"):
            save_generation(model, folder, PROMPTS, GENERATE)
        print(name, [path.name for path in folder.iterdir()])


main()
