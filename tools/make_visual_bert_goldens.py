#!/usr/bin/env python3
"""Makes tests/testdata/visual_bert/: tiny VisualBERT models, and their outputs in Hugging Face Transformers.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_visual_bert_goldens.py

One folder per model as Transformers saves it, and golden.safetensors with padded inputs, computed in double precision
without dropout and stored in single precision:
    input_ids, attention_mask, token_type_ids [pairs, length]
    visual_embeds [pairs, regions, features], visual_attention_mask [pairs, regions], and for some models visual_token_type_ids
    the outputs with Transformers' names, and attentions.LAYER [pairs, heads, query, key] over text and regions
    loss, gradient.NAME        of every used parameter; the loss is a weighted sum of outputs that are not padding
"""

import pathlib

import torch
from pair_goldens import PAIRS, initialize, pad_text, save, weigh
from transformers import (VisualBertConfig, VisualBertForPreTraining, VisualBertForQuestionAnswering, VisualBertForVisualReasoning,
                          VisualBertModel)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "visual_bert"

SMALL = dict(vocab_size=40, hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, max_position_embeddings=16,
             visual_embedding_dim=7)
ANSWERS = dict(id2label={0: "yes", 1: "no", 2: "red", 3: "two"}, label2id={"yes": 0, "no": 1, "red": 2, "two": 3})

# The folder, the class and the settings of each model.
MODELS = [("encoder", VisualBertModel, dict(SMALL)),
          ("pretraining", VisualBertForPreTraining, dict(SMALL, hidden_act="relu", layer_norm_eps=1e-5, type_vocab_size=3)),
          ("answers", VisualBertForQuestionAnswering, dict(SMALL, visual_embedding_dim=12, **ANSWERS)),
          ("reasoning", VisualBertForVisualReasoning, dict(SMALL, num_labels=2))]


def make(name, kind, settings, seed):
    config = VisualBertConfig(**settings)
    model = kind._from_config(config, attn_implementation="eager").eval()
    initialize(model, seed)
    generator = torch.Generator().manual_seed(100 + seed)
    inputs = pad_text(generator, config.vocab_size, config.type_vocab_size)
    regions = torch.zeros(2, max(PAIRS.regions), dtype=torch.int64)
    for i, count in enumerate(PAIRS.regions):
        regions[i, :count] = 1
    inputs.update(visual_embeds=torch.randn(2, max(PAIRS.regions), config.visual_embedding_dim, generator=generator).double(),
                  visual_attention_mask=regions)
    if name == "pretraining":
        inputs["visual_token_type_ids"] = torch.randint(config.type_vocab_size, regions.shape, generator=generator)
    states = {}
    encoder = model if name == "encoder" else model.visual_bert
    encoder.register_forward_hook(lambda _, __, out: states.update(last_hidden_state=out.last_hidden_state, pooler_output=out.pooler_output))
    out = model(**inputs, output_attentions=True)
    outputs = dict(states)
    if name in ("answers", "reasoning"):
        del outputs["pooler_output"]
    for key in ("prediction_logits", "seq_relationship_logits", "logits"):
        if key in out:
            outputs[key] = out[key]
    seen = torch.cat([inputs["attention_mask"], regions], 1) == 1
    loss = sum(weigh(value[seen] if value.ndim == 3 else value) for value in outputs.values())
    loss.backward()
    outputs.update({f"attentions.{i}": weights for i, weights in enumerate(out.attentions)})
    save(OUT / name, model, {**inputs, **outputs, "loss": loss}, unused=("pooler.dense",) if name == "answers" else ())


if __name__ == "__main__":
    for index, model_of in enumerate(MODELS):
        make(*model_of, index)
