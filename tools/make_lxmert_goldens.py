#!/usr/bin/env python3
"""Makes tests/testdata/lxmert/: tiny LXMERT models, and their outputs in Hugging Face Transformers.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_lxmert_goldens.py

One folder per model as Transformers saves it, and golden.safetensors with padded inputs, computed in double precision
without dropout and stored in single precision:
    input_ids, attention_mask, token_type_ids [pairs, length]
    visual_feats [pairs, regions, features], visual_pos [pairs, regions, 4], visual_attention_mask [pairs, regions]
    the outputs with Transformers' names, and obj, attr and feat of the region head
    language_attentions.LAYER, vision_attentions.LAYER, cross_encoder_attentions.LAYER (queries are text) and
    vision_cross_attentions.LAYER (queries are regions)   [pairs, heads, query, key]; LAYER continues in the self-attentions of
                               the cross-modality layers, which Transformers does not return
    loss, gradient.NAME        of every parameter; the loss is a weighted sum of outputs that are not padding

Transformers does not train the embeddings of position 0 and type 0. In this script, they have gradients, as in
headlight.
"""

import pathlib

import torch
from pair_goldens import PAIRS, initialize, pad_text, save, weigh
from transformers import LxmertConfig, LxmertForPreTraining, LxmertForQuestionAnswering, LxmertModel

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "lxmert"

SMALL = dict(vocab_size=30, hidden_size=8, num_attention_heads=2, intermediate_size=10, max_position_embeddings=12, l_layers=2, r_layers=1,
             x_layers=2, visual_feat_dim=7, num_object_labels=5, num_attr_labels=3, num_qa_labels=4)
ANSWERS = dict(id2label={0: "yes", 1: "no", 2: "red", 3: "two"}, label2id={"yes": 0, "no": 1, "red": 2, "two": 3})

# The folder, the class and the settings of each model.
MODELS = [("encoder", LxmertModel, dict(SMALL)),
          ("pretraining", LxmertForPreTraining, dict(SMALL, hidden_act="relu")),
          ("objects", LxmertForPreTraining, dict(SMALL, task_qa=False, visual_attr_loss=False, visual_feat_loss=False, x_layers=1)),
          ("answers", LxmertForQuestionAnswering, dict(SMALL, visual_feat_dim=12, **ANSWERS))]


def make(name, kind, settings, seed):
    config = LxmertConfig(**settings)
    model = kind._from_config(config).eval()
    initialize(model, seed)
    encoder = model if name == "encoder" else model.lxmert
    encoder.embeddings.position_embeddings.padding_idx = encoder.embeddings.token_type_embeddings.padding_idx = None
    generator = torch.Generator().manual_seed(100 + seed)
    inputs = pad_text(generator, config.vocab_size, config.type_vocab_size)
    regions = torch.zeros(2, max(PAIRS.regions), dtype=torch.int64)
    for i, count in enumerate(PAIRS.regions):
        regions[i, :count] = 1
    inputs.update(visual_feats=torch.randn(2, max(PAIRS.regions), config.visual_feat_dim, generator=generator).double(),
                  visual_pos=torch.rand(2, max(PAIRS.regions), 4, generator=generator).double(), visual_attention_mask=regions)

    attentions = {}

    def record(attention, *names):  # called once for each name
        left = list(names)
        attention.dropout.register_forward_hook(lambda _, weights, __: attentions.__setitem__(left.pop(0), weights[0]))

    for i, layer in enumerate(encoder.encoder.layer):
        record(layer.attention.self, f"language_attentions.{i}")
    for i, layer in enumerate(encoder.encoder.r_layers):
        record(layer.attention.self, f"vision_attentions.{i}")
    for i, layer in enumerate(encoder.encoder.x_layers):
        record(layer.visual_attention.att, f"cross_encoder_attentions.{i}", f"vision_cross_attentions.{i}")
        record(layer.lang_self_att.self, f"language_attentions.{config.l_layers + i}")
        record(layer.visn_self_att.self, f"vision_attentions.{config.r_layers + i}")
    states = {}
    encoder.register_forward_hook(lambda _, __, out: states.update(
        language_output=out.language_output, vision_output=out.vision_output, pooled_output=out.pooled_output))
    out = model(**inputs, output_attentions=True)
    # Compare with the attentions that Transformers returns.
    for key in ("language_attentions", "vision_attentions", "cross_encoder_attentions"):
        for i, weights in enumerate(out[key]):
            assert torch.equal(attentions[f"{key}.{i}"], weights), key
    outputs = dict(states)
    if kind is not LxmertModel:
        for key in ("prediction_logits", "cross_relationship_score", "question_answering_score"):
            if key in out and (key != "question_answering_score" or config.task_qa):
                outputs[key] = out[key]
    if kind is LxmertForPreTraining:
        outputs.update(model.obj_predict_head(states["vision_output"]))
    if "question_answering_score" in outputs:
        del outputs["pooled_output"]
    text_mask = inputs["attention_mask"] == 1
    loss = 0
    for key, value in outputs.items():
        if value.ndim == 3:
            value = value[text_mask if key in ("language_output", "prediction_logits") else regions == 1]
        loss = loss + weigh(value)
    loss.backward()
    save(OUT / name, model, {**inputs, **outputs, **attentions, "loss": loss})


if __name__ == "__main__":
    for index, model_of in enumerate(MODELS):
        make(*model_of, index)
