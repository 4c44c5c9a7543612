#!/usr/bin/env python3
"""Makes tests/testdata/vilt/: tiny ViLT models, and their outputs in Hugging Face Transformers.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_vilt_goldens.py

One folder per model as Transformers saves it, and golden.safetensors with padded inputs, computed in double precision
without dropout and stored in single precision:
    input_ids, attention_mask, token_type_ids [pairs, length]
    pixel_values [pairs, 3, height, width], pixel_mask [pairs, height, width]
    the outputs with Transformers' names, and attentions.LAYER [pairs, heads, query, key] over the text, the class token and
                               the patches in row-major order
    loss, gradient.NAME        of every used parameter; the loss is a weighted sum of outputs that are not padding
"""

import pathlib

import torch
from pair_goldens import initialize, pad_text, save, weigh
from transformers import (ViltConfig, ViltForImageAndTextRetrieval, ViltForMaskedLM, ViltForQuestionAnswering, ViltModel)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "vilt"

# The positional embeddings are for 3 x 3 patches.
SMALL = dict(vocab_size=30, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=10, max_position_embeddings=12,
             image_size=12, patch_size=4)
ANSWERS = dict(id2label={0: "yes", 1: "no", 2: "red", 3: "two"}, label2id={"yes": 0, "no": 1, "red": 2, "two": 3})
SIZES = [(8, 12), (16, 8)]  # height and width of the images in pixels: 2 x 3 and 4 x 2 patches

# The folder, the class and the settings of each model.
MODELS = [("encoder", ViltModel, dict(SMALL)),
          ("masked_words", ViltForMaskedLM, dict(SMALL, hidden_act="relu", layer_norm_eps=1e-5, modality_type_vocab_size=3)),
          ("answers", ViltForQuestionAnswering, dict(SMALL, **ANSWERS)),
          ("ranking", ViltForImageAndTextRetrieval, dict(SMALL, qkv_bias=False))]

# Transformers shuffles the patches of the largest image and selects padding at random. This only affects the order of
# the outputs.
torch.multinomial = lambda weights, count, replacement=False: torch.arange(int(count)) % len(weights)


def make(name, kind, settings, seed):
    config = ViltConfig(**settings)
    model = kind._from_config(config, attn_implementation="eager").eval()
    initialize(model, seed)
    generator = torch.Generator().manual_seed(100 + seed)
    inputs = pad_text(generator, config.vocab_size, config.type_vocab_size)
    height, width = (max(sides) for sides in zip(*SIZES))
    pixels, mask = torch.zeros(2, 3, height, width).double(), torch.zeros(2, height, width, dtype=torch.int64)
    for i, (h, w) in enumerate(SIZES):
        pixels[i, :, :h, :w] = torch.randn(3, h, w, generator=generator)
        mask[i, :h, :w] = 1
    inputs.update(pixel_values=pixels, pixel_mask=mask)
    states = {}
    encoder = model if name == "encoder" else model.vilt
    encoder.register_forward_hook(lambda _, __, out: states.update(last_hidden_state=out.last_hidden_state, pooler_output=out.pooler_output))
    out = model(**inputs, output_attentions=True)
    outputs = dict(states)
    if name == "answers":
        del outputs["pooler_output"]
    if "logits" in out:
        outputs["logits"] = out.logits
    patches = [h * w // 16 for h, w in SIZES]
    seen = torch.stack([torch.cat([text, (torch.arange(1 + max(patches)) < 1 + count).long()])
                        for text, count in zip(inputs["attention_mask"], patches)]) == 1
    loss = 0
    for key, value in outputs.items():
        if value.ndim == 3:
            value = value[seen if key == "last_hidden_state" else inputs["attention_mask"] == 1]
        loss = loss + weigh(value)
    loss.backward()
    outputs.update({f"attentions.{i}": weights for i, weights in enumerate(out.attentions)})
    save(OUT / name, model, {**inputs, **outputs, "loss": loss})


if __name__ == "__main__":
    for index, model_of in enumerate(MODELS):
        make(*model_of, index)
