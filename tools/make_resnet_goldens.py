#!/usr/bin/env python3
"""Makes tests/testdata/resnets/: tiny ResNets saved by Hugging Face Transformers, and their outputs.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_resnet_goldens.py

One folder per model: config.json and model.safetensors as save_pretrained writes them, and golden.safetensors, computed
in double precision and stored in single precision:
    pixel_values               [images, height, width, channels]
    use.*                      with the running averages
    train.*                    with the statistics of the batch
        stages.S               [cells of all images, channels], after the stem (0) and each stage
        pooler_output          and logits, if the model has classes
        class_activation       [cells of the first image], Grad-CAM of class 1, if the model has classes
        loss, gradient.NAME    of every parameter, under its name in model.safetensors
    train.NAME                 the running averages after that pass
"""

import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import ResNetBackbone, ResNetConfig, ResNetForImageClassification, ResNetModel  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "resnets"

# These numbers of channels do not fill a vector register.
SMALL = dict(embedding_size=6, hidden_sizes=[8, 20], depths=[2, 1])

MODELS = {  # model, config, height and width of the images
    "bottleneck": (ResNetModel, ResNetConfig(**SMALL), (21, 30)),
    "basic_classes": (ResNetForImageClassification,
                      ResNetConfig(**{**SMALL, "hidden_sizes": [6, 9]}, layer_type="basic", num_labels=3, num_channels=1), (24, 24)),
    "downsampled_classes": (ResNetForImageClassification,
                            ResNetConfig(**SMALL, downsample_in_bottleneck=True, downsample_in_first_stage=True,
                                         hidden_act="gelu", num_labels=4), (33, 40)),
    "backbone": (ResNetBackbone, ResNetConfig(**{**SMALL, "depths": [1, 1]}, out_features=["stem", "stage1", "stage2"]), (17, 20)),
}


def initialize(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.state_dict().items():
            noise = torch.randn(value.shape, generator=generator)
            if name.endswith("running_var"):
                value.copy_(1.5 + noise.tanh())
            elif name.endswith("normalization.weight"):
                value.copy_(1 + 0.4 * noise)
            elif value.ndim == 4:
                value.copy_(noise * (2 / value[0].numel()) ** 0.5)
            elif value.is_floating_point():
                value.copy_(0.4 * noise)


def weigh(x):
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


def as_rows(x):
    return x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])


def run(model, pixels, prefix, tensors):
    model.zero_grad()
    output = model(pixels, output_hidden_states=True)
    stages = output.feature_maps if "feature_maps" in output else output.hidden_states
    loss = 0
    for index, stage in enumerate(stages):
        tensors[f"{prefix}.stages.{index}"] = as_rows(stage)
        loss = loss + weigh(as_rows(stage))
    pooled = stages[-1].mean((2, 3))
    if "pooler_output" in output:
        assert torch.allclose(pooled, output.pooler_output[:, :, 0, 0])
    tensors[f"{prefix}.pooler_output"] = pooled
    loss = loss + weigh(pooled)
    if "logits" in output:
        tensors[f"{prefix}.logits"] = output.logits
        loss = loss + weigh(output.logits)
        gradient, = torch.autograd.grad(output.logits[0, 1], stages[-1], retain_graph=True)
        activation = (gradient[0].mean((1, 2), keepdim=True) * stages[-1][0]).sum(0).relu()
        tensors[f"{prefix}.class_activation"] = activation.flatten()
    loss.backward()
    tensors[f"{prefix}.loss"] = loss
    for name, value in model.named_parameters():
        tensors[f"{prefix}.gradient.{name}"] = value.grad.clone()


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, size)) in enumerate(MODELS.items(), start=10):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind(config)
        initialize(model, seed)
        model.save_pretrained(folder)
        model.double()
        pixels = torch.randn(2, config.num_channels, *size, generator=torch.Generator().manual_seed(100 + seed)).float().double()
        tensors = {"pixel_values": pixels.permute(0, 2, 3, 1)}
        run(model.eval(), pixels, "use", tensors)
        run(model.train(), pixels, "train", tensors)
        for parameter, value in model.state_dict().items():
            if "running" in parameter:
                tensors[f"train.{parameter}"] = value
        save_file({key: value.detach().float().contiguous() for key, value in tensors.items()}, folder / "golden.safetensors")
        print(name, sum(file.stat().st_size for file in folder.iterdir()))


main()
