#!/usr/bin/env python3
"""Makes tests/testdata/clip/: tiny dual encoders saved by Hugging Face Transformers, and their outputs.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_clip_goldens.py

One folder per model: config.json and model.safetensors as save_pretrained writes them, and golden.safetensors, computed
in double precision without dropout and stored in single precision:
    pixel_values          [images, height, width, channels], of a size that may differ from the model's
    input_ids             [texts, length]; attention_mask if the texts have padding
    image_states, text_states    last_hidden_state; padding rows of texts are omitted, [tokens, model]
    image_pooled, text_pooled    pooler_output
    image_vectors, text_vectors  before normalization
    logits                [texts, images]
    image_attentions.L, text_attentions.L
    contrastive           the contrastive loss of the pairs
    relevance.L           [images, tokens]: relevance of each image's tokens for its score with the text of the same index, by
                          gradient times attention (Chefer et al., arXiv:2103.15679, equations 5 and 6) from layer L to the
                          last, without the initial identity, normalized to the sum 1
    loss, gradient.NAME   of every parameter, under its name in model.safetensors
"""

import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import (  # noqa: E402
    CLIPConfig, CLIPModel, CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, CLIPVisionConfig, CLIPVisionModel,
    CLIPVisionModelWithProjection, SiglipConfig, SiglipModel, SiglipTextConfig, SiglipTextModel, SiglipVisionConfig,
    SiglipVisionModel)

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "clip"

# Heads of sizes 6 and 5 do not fill a vector register.
TEXT = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, vocab_size=30,
            max_position_embeddings=9)
IMAGE = dict(hidden_size=15, num_hidden_layers=2, num_attention_heads=3, intermediate_size=7, image_size=8, patch_size=4)
CLIP_TEXT = dict(**TEXT, bos_token_id=28, eos_token_id=29, pad_token_id=29, projection_dim=10)
SIGLIP_TEXT = dict(**TEXT, pad_token_id=1, projection_size=15)
BEGIN, END = 28, 29


def clip_config(text={}, image={}):
    return CLIPConfig(text_config={**CLIP_TEXT, **text}, vision_config={**IMAGE, "projection_dim": 10, **image},
                      projection_dim=10)


MODELS = {  # model, config, height and width of the images, kind of texts
    "clip": (CLIPModel, clip_config(), (8, 8), "padded"),
    # As in the first published folders, the token with the largest id ends a text, and padding is not masked.
    "clip_largest_id": (CLIPModel, clip_config({"eos_token_id": 2, "hidden_act": "gelu"}, {"hidden_act": "gelu"}), (12, 20),
                        "unmasked"),
    "clip_text": (CLIPTextModel, CLIPTextConfig(**CLIP_TEXT), None, "padded"),
    "clip_text_projected": (CLIPTextModelWithProjection, CLIPTextConfig(**CLIP_TEXT), None, "padded"),
    "clip_vision": (CLIPVisionModel, CLIPVisionConfig(**IMAGE), (8, 8), None),
    "clip_vision_projected": (CLIPVisionModelWithProjection, CLIPVisionConfig(**IMAGE, projection_dim=10), (12, 8), None),
    "siglip": (SiglipModel, SiglipConfig(text_config=SIGLIP_TEXT, vision_config=IMAGE), (8, 8), "filled"),
    "siglip_larger": (SiglipModel, SiglipConfig(text_config=SIGLIP_TEXT, vision_config=IMAGE), (20, 12), "filled"),
    "siglip_text": (SiglipTextModel, SiglipTextConfig(**{**SIGLIP_TEXT, "projection_size": 4}), None, "filled"),
    "siglip_vision": (SiglipVisionModel, SiglipVisionConfig(**IMAGE), (8, 8), None),
}


def texts_of(kind, generator):
    lengths, longest = (7, 4, 9), 9
    rows, masks = [], []
    for length in lengths:
        words = torch.randint(3, 27, (length - 2,), generator=generator).tolist()
        if kind == "filled":  # texts end with </s>, which is also the padding token
            rows.append(words + [1] * (longest - len(words)))
            continue
        rows.append([BEGIN, *words, END] + [END] * (longest - length))
        masks.append([1] * length + [0] * (longest - length))
    ids = torch.tensor(rows)
    return ids, torch.tensor(masks) if kind == "padded" else None


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias, gain and token matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = "norm" in name and name.endswith("weight")
            if name in ("logit_scale", "logit_bias"):
                value.copy_(0.7 + 0.3 * noise)
            else:
                value.copy_(1 + 0.2 * noise if gain else (0.2 if name.endswith("bias") else 0.45) * noise)


def weigh(x):
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


class Pool(torch.nn.Module):
    """SigLIP's pooling attention. It also stores its attention weights."""

    def __init__(self, published):
        super().__init__()
        self.published = published

    def forward(self, probe, keys, values):
        published, heads = self.published, self.published.num_heads
        weight, bias = published.in_proj_weight.chunk(3), published.in_proj_bias.chunk(3)
        query, key, value = (
            torch.nn.functional.linear(x, w, b).unflatten(-1, (heads, -1)).transpose(1, 2)
            for x, w, b in zip((probe, keys, values), weight, bias))
        self.weights = (query @ key.transpose(-1, -2) / query.shape[-1]**0.5).softmax(-1)
        return published.out_proj((self.weights @ value).transpose(1, 2).flatten(2)), None


def relevance(model, images, texts):
    head = getattr(model.vision_model, "head", None)
    if head is not None:
        before = model(**images, **texts).logits_per_text
        head.attention = Pool(head.attention)
        assert torch.allclose(model(**images, **texts).logits_per_text, before, atol=1e-6)
    rows = []
    for i in range(len(texts["input_ids"])):
        one = lambda given: {name: value[i:i + 1] if torch.is_tensor(value) else value for name, value in given.items()}  # noqa: E731
        output = model(**one(images), **one(texts), output_attentions=True)
        weights = list(output.vision_model_output.attentions) + ([head.attention.weights] if head is not None else [])
        gradients = torch.autograd.grad(output.logits_per_text.squeeze(), weights)
        mixes = [(gradient * weight).clamp(min=0).mean(1)[0] for gradient, weight in zip(gradients, weights)]
        layers = []
        for first in range(len(output.vision_model_output.attentions)):
            rolled = torch.eye(mixes[0].shape[0], dtype=torch.float64)
            for mix in mixes[first:2]:
                rolled = rolled + mix @ rolled
            row = (mixes[2] @ rolled)[0] if head is not None else rolled[0] - torch.eye(len(rolled))[0]
            assert row.sum() > 0
            layers.append(row / row.sum())
        rows.append(torch.stack(layers))
    if head is not None:
        head.attention = head.attention.published
    return torch.stack(rows, 1)


def golden(model, folder, size, kind, seed):
    generator = torch.Generator().manual_seed(500 + seed)
    model.double()
    tensors, outputs = {}, {}
    images = texts = None
    if size is not None:
        pixels = torch.randn(3, 3, *size, generator=generator).float().double()
        tensors["pixel_values"] = pixels.permute(0, 2, 3, 1)
        images = dict(pixel_values=pixels, interpolate_pos_encoding=size != (8, 8))
    if kind is not None:
        ids, mask = texts_of(kind, generator)
        tensors["input_ids"] = ids.int()
        texts = dict(input_ids=ids)
        if mask is not None:
            tensors["attention_mask"] = mask.int()
            texts["attention_mask"] = mask
    options = dict(output_attentions=True)
    if images and texts:
        both = model(**images, **texts, return_loss=True)
        outputs["logits"], outputs["contrastive"] = both.logits_per_text, both.loss
        of_images = model.vision_model(**images, **options)
        of_texts = model.text_model(**texts, **options)
        project = lambda pooled, name: getattr(model, name)(pooled) if hasattr(model, name) else pooled  # noqa: E731
        outputs["image_vectors"] = project(of_images.pooler_output, "visual_projection")
        outputs["text_vectors"] = project(of_texts.pooler_output, "text_projection")
    else:
        output = model(**(images or texts), **options)
        of_images, of_texts = (output, None) if images else (None, output)
        for name, key in (("image_vectors", "image_embeds"), ("text_vectors", "text_embeds")):
            if getattr(output, key, None) is not None:
                outputs[name] = getattr(output, key)
    for name, output in (("image", of_images), ("text", of_texts)):
        if output is None:
            continue
        states = output.last_hidden_state
        if name == "text" and mask is not None:
            states = states[mask.bool()]
        outputs[f"{name}_states"] = states
        if getattr(output, "pooler_output", None) is not None:
            outputs[f"{name}_pooled"] = output.pooler_output
        for layer, weights in enumerate(output.attentions):
            tensors[f"{name}_attentions.{layer}"] = weights
    loss = 0
    for name, value in outputs.items():
        tensors[name] = value
        loss = loss + weigh(value)
    if images and texts:
        for layer, row in enumerate(relevance(model, images, texts)):
            tensors[f"relevance.{layer}"] = row
    assert abs(loss.item()) > 2, loss  # a loss near 0 could be a small difference of large numbers
    loss.backward()
    tensors["loss"] = loss
    with safe_open(folder / "model.safetensors", "pt") as file:
        published = {name: file.get_tensor(name) for name in file.keys()}
    for name, value in model.named_parameters():
        same = [key for key, stored in published.items() if stored.shape == value.shape and torch.equal(stored, value.float())]
        assert len(same) == 1, (name, same)
        tensors[f"gradient.{same[0]}"] = value.grad if value.grad is not None else torch.zeros_like(value)
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    save_file({name: value.float() if value.is_floating_point() and value.numel() > 1 else value
               for name, value in tensors.items()}, folder / "golden.safetensors")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, size, texts)) in enumerate(MODELS.items(), start=10):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        golden(model, folder, size, texts, seed)
        print(name)


main()
