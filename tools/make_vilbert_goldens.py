#!/usr/bin/env python3
"""Makes tests/testdata/vilbert/: tiny ViLBERT models of the authors' program, and their outputs.

    pip install torch==2.15.0 safetensors
    git clone https://github.com/facebookresearch/vilbert-multi-task
    tools/make_vilbert_goldens.py vilbert-multi-task

One folder per model: config.json and model.safetensors with the authors' names, and golden.safetensors with the
authors' padding, computed in double precision without dropout and stored in single precision:
    input_ids, attention_mask, token_type_ids [pairs, length], task_ids [pairs, 1] if the model uses them
    image_feat, image_loc, image_attention_mask [pairs, regions, ...]
    sequence_output_t, sequence_output_v, pooled_output_t, pooled_output_v, and each head's output by the authors' name
    attentions_t.L, attentions_v.L, attentions_tv.L, attentions_vt.L   [pairs, heads, query, key]: self-attention of
                               text and image, and attention from text to image and from image to text
    loss, gradient.NAME        of every used parameter; the loss is a weighted sum of outputs that are not padding
"""

import importlib
import json
import pathlib
import sys
import types

import torch
from safetensors.torch import save_file

torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "vilbert"


def load_vilbert(folder):
    """Returns the authors' module. A class with the methods that these models need replaces its base class."""

    class PreTrainedModel(torch.nn.Module):
        def __init__(self, config, *_, **__):
            super().__init__()
            self.config = config

        def _tie_or_clone_weights(self, first, second):
            first.weight = second.weight

    package = types.ModuleType("vilbert")
    package.__path__ = [str(pathlib.Path(folder) / "vilbert")]
    utils = types.ModuleType("vilbert.utils")
    utils.PreTrainedModel = PreTrainedModel
    sys.modules.update({"vilbert": package, "vilbert.utils": utils})
    return importlib.import_module("vilbert.vilbert")


SMALL = dict(hidden_size=8, num_hidden_layers=3, num_attention_heads=2, intermediate_size=10, max_position_embeddings=12, v_feature_size=7,
             v_target_size=5, v_hidden_size=12, v_num_hidden_layers=2, v_num_attention_heads=3, v_intermediate_size=9, bi_hidden_size=6,
             bi_num_attention_heads=2, t_biattention_id=[1, 2], v_biattention_id=[0, 1])

# The folder, the head and the settings of each model.
MODELS = [("pretraining", "pretraining", dict(SMALL)),
          ("tasks", "tasks", dict(SMALL, hidden_act="relu", v_hidden_act="gelu", fusion_method="sum", task_specific_tokens=True,
                                  t_biattention_id=[0, 2], v_biattention_id=[1, 1]))]


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if "LayerNorm" in name and name.endswith("weight") or name.endswith("logit_fc.2.weight"):
                value.copy_(1 + 0.2 * noise)
            else:
                value.copy_((0.2 if value.ndim == 1 else 0.45) * noise)


def weigh(x):
    x = x.reshape(-1)
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1)).sum()


def make(vilbert, name, kind, settings, seed):
    config = vilbert.BertConfig(40, visualization=True, **settings)
    if kind == "pretraining":
        model = vilbert.BertForMultiModalPreTraining(config)
    else:
        model = vilbert.VILBertForVLTasks(config, 3)
        joint = config.bi_hidden_size
        model.vil_prediction = vilbert.SimpleClassifier(joint, 2 * joint, 4, 0.5)  # 4 instead of 3,129 answers
        model.vil_prediction_gqa = vilbert.SimpleClassifier(joint, 2 * joint, 3, 0.5)
    model.eval()
    initialize(model, seed)
    # Round the parameters to single precision, as in the file.
    model.float().double()

    generator = torch.Generator().manual_seed(100 + seed)
    lengths, regions = [7, 4], [3, 5]
    ids = torch.randint(1, 40, (2, max(lengths)), generator=generator)
    types = torch.randint(0, 2, ids.shape, generator=generator)
    mask = torch.zeros_like(ids)
    features = torch.randn(2, max(regions), config.v_feature_size, generator=generator).double()
    boxes = torch.rand(2, max(regions), 5, generator=generator).double()
    region_mask = torch.zeros(2, max(regions), dtype=torch.int64)
    for i in range(2):
        mask[i, :lengths[i]] = 1
        region_mask[i, :regions[i]] = 1
    tensors = {"input_ids": ids * mask, "attention_mask": mask, "token_type_ids": types * mask, "image_feat": features, "image_loc": boxes,
               "image_attention_mask": region_mask}
    arguments = dict(token_type_ids=types * mask, attention_mask=mask, image_attention_mask=region_mask)
    text_mask = mask
    if config.task_specific_tokens:
        tensors["task_ids"] = torch.tensor([[3], [11]])
        arguments["task_ids"] = tensors["task_ids"]
        text_mask = torch.cat([torch.ones(2, 1, dtype=torch.int64), mask], 1)

    kept = {}
    model.bert.register_forward_hook(lambda _, __, out: kept.update(zip(["t", "v", "pt", "pv"], out[:4])))
    out = model(ids * mask, features, boxes, output_all_attention_masks=True, **arguments)
    outputs = {"sequence_output_t": kept["t"], "sequence_output_v": kept["v"], "pooled_output_t": kept["pt"], "pooled_output_v": kept["pv"]}
    if kind == "pretraining":
        names = ["prediction_scores_t", "prediction_scores_v", "seq_relationship_score"]
    else:
        names = ["vil_prediction", "vil_prediction_gqa", "vil_logit", "vil_binary_prediction", "vil_tri_prediction", "prediction_scores_v",
                 "vision_logit", "prediction_scores_t", "linguisic_logit"]
        # If the number of pairs is even, the model returns the binary head's output instead of the alignment score. The
        # alignment score is computed here.
        joined = kept["pt"] + kept["pv"] if config.fusion_method == "sum" else kept["pt"] * kept["pv"]
        outputs["seq_relationship_score"] = model.cls.bi_seq_relationship(joined)
    outputs.update(zip(names, out[:-1]))

    loss = 0
    for key, value in outputs.items():
        for_text = key in ("sequence_output_t", "prediction_scores_t", "linguisic_logit")
        for_regions = key in ("sequence_output_v", "prediction_scores_v", "vision_logit")
        rows = value[text_mask == 1] if for_text else value[region_mask == 1] if for_regions else value
        loss = loss + weigh(rows)
        tensors[key] = value
    loss.backward()
    tensors["loss"] = loss
    text, image, joint = out[-1]
    for key, layers in [("t", [one["attn"] for one in text]), ("v", [one["attn"] for one in image]),
                        ("tv", [one["attn1"] for one in joint]), ("vt", [one["attn2"] for one in joint])]:
        for layer, weights in enumerate(layers):
            tensors[f"attentions_{key}.{layer}"] = weights

    weights = {}
    for key, value in model.named_parameters():
        weights[key] = value.detach().float().contiguous()
        if value.grad is not None:
            tensors[f"gradient.{key}"] = value.grad
        else:
            assert "q_dense" in key, key
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    save_file({key: value.detach().contiguous().float() if value.is_floating_point() else value.to(torch.int32).contiguous()
               for key, value in tensors.items()}, folder / "golden.safetensors")
    save_file(weights, folder / "model.safetensors")
    said = dict(settings, model_type="vilbert", vocab_size=40, type_vocab_size=2)
    if kind == "tasks":
        said["id2label"] = {str(i): answer for i, answer in enumerate(["yes", "no", "red", "two"])}
    (folder / "config.json").write_text(json.dumps(said, indent=2) + "\n")
    print(name, sum(file.stat().st_size for file in folder.iterdir()), "bytes")


if __name__ == "__main__":
    module = load_vilbert(sys.argv[1])
    for index, (title, which, sizes) in enumerate(MODELS):
        make(module, title, which, sizes, index)
