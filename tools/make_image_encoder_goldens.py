#!/usr/bin/env python3
"""Makes tests/testdata/images/: tiny image encoders saved by Hugging Face Transformers, and their outputs.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_image_encoder_goldens.py

One folder per model: config.json and model.safetensors as save_pretrained writes them, and golden.safetensors, computed
in double precision without dropout and stored in single precision:
    pixel_values               [images, height, width, channels], of a size that may differ from the model's
    bool_masked_pos            [images, patches], if patches are masked
    last_hidden_state, and if the model has them, pooler_output, logits
    pixels                     [images * patches, channels * patch height * patch width], for masked image modelling
    attentions.L
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
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
    DeiTConfig, DeiTForImageClassification, DeiTForImageClassificationWithTeacher, DeiTForMaskedImageModeling, DeiTModel,
    Dinov2Config, Dinov2ForImageClassification, Dinov2Model, Dinov2WithRegistersConfig,
    Dinov2WithRegistersForImageClassification, Dinov2WithRegistersModel, DINOv3ViTConfig, DINOv3ViTModel, ViTConfig, ViTForImageClassification, ViTForMaskedImageModeling, ViTModel)

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "images"

# Heads of sizes 6 and 5 do not fill a vector register.
LARGE = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, image_size=8, patch_size=4)
ODD = dict(hidden_size=15, num_hidden_layers=1, num_attention_heads=3, intermediate_size=7, image_size=12, patch_size=4)

DINO2 = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, mlp_ratio=2, image_size=8, patch_size=4)
DINO3 = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, image_size=8, patch_size=4)

MODELS = {  # model, config, height and width of the images
    "vit": (ViTModel, ViTConfig(**LARGE), (8, 8)),
    "vit_larger": (ViTModel, ViTConfig(**ODD, hidden_act="relu", pooler_act="relu", pooler_output_size=4), (16, 20)),
    "vit_oblong": (ViTForImageClassification,
                   ViTConfig(**{**LARGE, "image_size": [12, 8], "patch_size": [4, 2]}, num_labels=3, qkv_bias=False,
                             num_channels=1, layer_norm_eps=1e-5), (12, 8)),
    "vit_masked": (ViTForMaskedImageModeling, ViTConfig(**LARGE, encoder_stride=4, hidden_act="gelu_pytorch_tanh"), (8, 8)),
    "deit": (DeiTModel, DeiTConfig(**ODD), (12, 12)),
    "deit_classes": (DeiTForImageClassification, DeiTConfig(**LARGE, num_labels=4), (8, 8)),
    "deit_distilled": (DeiTForImageClassificationWithTeacher, DeiTConfig(**LARGE, num_labels=4), (12, 8)),
    "deit_masked": (DeiTForMaskedImageModeling, DeiTConfig(**LARGE, encoder_stride=4), (8, 8)),
    "dino": (ViTModel, ViTConfig(**ODD), (8, 16)),  # without a pooler, like the first published DINO models
    "dinov2": (Dinov2Model, Dinov2Config(**DINO2), (12, 16)),
    "dinov2_classes": (Dinov2ForImageClassification,
                       Dinov2Config(**DINO2, num_labels=3, use_swiglu_ffn=True, qkv_bias=False, use_mask_token=False), (8, 8)),
    "dinov2_masked": (Dinov2Model, Dinov2Config(**DINO2), (8, 8)),
    "dinov2_registers": (Dinov2WithRegistersModel,
                         Dinov2WithRegistersConfig(**{**DINO2, "image_size": 28}, num_register_tokens=3), (12, 16)),
    "dinov2_registers_classes": (Dinov2WithRegistersForImageClassification,
                                 Dinov2WithRegistersConfig(**DINO2, num_labels=3, num_register_tokens=2), (8, 8)),
    "dinov2_registers_larger": (Dinov2WithRegistersModel, Dinov2WithRegistersConfig(**DINO2, num_register_tokens=1), (12, 20)),
    "dinov3": (DINOv3ViTModel, DINOv3ViTConfig(**DINO3, num_register_tokens=2), (8, 12)),
    "dinov3_gated": (DINOv3ViTModel,
                     DINOv3ViTConfig(**DINO3, use_gated_mlp=True, hidden_act="silu", query_bias=False, value_bias=False,
                                     proj_bias=False, mlp_bias=False, rope_theta=50.0), (12, 8)),
    "dinov3_masked": (DINOv3ViTModel, DINOv3ViTConfig(**DINO3, num_register_tokens=1, key_bias=True), (12, 12)),
}


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias, gain and token matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            gain = "norm" in name and name.endswith("weight")
            value.copy_(1 + 0.2 * noise if gain else (0.2 if name.endswith("bias") else 0.45) * noise)


def weigh(x):
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


def golden(model, folder, size, seed):
    config = model.config
    generator = torch.Generator().manual_seed(100 + seed)
    pixels = torch.randn(2, config.num_channels, *size, generator=generator).float().double()
    model.double()
    tensors = {"pixel_values": pixels.permute(0, 2, 3, 1)}
    patch = config.patch_size if isinstance(config.patch_size, list) else [config.patch_size] * 2
    options = {}
    if "Masked" in type(model).__name__ or folder.name.endswith("_masked"):
        tensors["bool_masked_pos"] = options["bool_masked_pos"] = torch.rand(2, size[0] // patch[0] * (size[1] // patch[1]), generator=generator) < 0.5
    sides = config.image_size if isinstance(config.image_size, list) else [config.image_size] * 2
    if config.model_type in ("vit", "deit"):  # DINO models always interpolate
        options["interpolate_pos_encoding"] = list(size) != list(sides)
    output = model(pixels, output_attentions=True, output_hidden_states=True, **options)
    hidden = output.last_hidden_state if "last_hidden_state" in output else None
    if hidden is None:  # models with heads do not return states after the final norm
        base = getattr(model, model.base_model_prefix)
        hidden = base.layernorm(output.hidden_states[-1])
    tensors["last_hidden_state"] = hidden
    loss = weigh(hidden)
    outputs = {"pooler_output": getattr(output, "pooler_output", None), "logits": getattr(output, "logits", None)}
    if "reconstruction" in output:
        rows, columns = size[0] // patch[0], size[1] // patch[1]
        cut = output.reconstruction.reshape(2, config.num_channels, rows, patch[0], columns, patch[1])
        outputs["pixels"] = cut.permute(0, 2, 4, 1, 3, 5).reshape(2 * rows * columns, -1)
        outputs["logits"] = None
    for name, value in outputs.items():
        if value is not None:
            tensors[name] = value
            loss = loss + weigh(value)
    loss.backward()
    tensors["loss"] = loss
    for layer, weights in enumerate(output.attentions):
        tensors[f"attentions.{layer}"] = weights
    published = {}  # maps names in memory to names in the file
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            published[name] = file.get_tensor(name)
    parameters = {name: (value, value.grad if value.grad is not None else torch.zeros_like(value))
                  for name, value in model.named_parameters()}
    # DINOv2's files store gate_proj and the gated projection in one tensor.
    for name in [name for name in parameters if "gate_proj" in name]:
        if not any("weights_in" in key for key in published):
            continue
        gate, gated = parameters.pop(name), parameters.pop(name.replace("gate_proj", "up_proj"))
        parameters[name] = tuple(torch.cat(pair) for pair in zip(gate, gated))
    for name, (value, gradient) in parameters.items():
        same = [key for key, stored in published.items() if stored.shape == value.shape and torch.equal(stored, value.float())]
        assert len(same) == 1, (name, same)
        tensors[f"gradient.{same[0]}"] = gradient
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.to(torch.uint8) if value.dtype == torch.bool else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, size)) in enumerate(MODELS.items(), start=10):
        folder = OUT / name
        folder.mkdir(parents=True)
        options = {"add_pooling_layer": False} if name == "dino" else {}
        model = kind._from_config(config, attn_implementation="eager", **options).eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        golden(model, folder, size, seed)
        print(name)


main()
