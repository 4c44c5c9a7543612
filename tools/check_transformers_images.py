#!/usr/bin/env python3
"""Checks that Hugging Face Transformers loads image model folders that headlight wrote or reads, and computes the same
outputs.

    pip install torch torchvision transformers pillow
    tools/check_transformers_images.py build/release/headlight IMAGES FOLDER...

IMAGES is a folder of a few images. For each model folder, these properties are checked:
- no tensor is missing, is unexpected or has a different shape;
- the outputs for random pixels equal the outputs of `headlight forward` to 1e-4 of their scale: states, attentions,
  logits, boxes and masks. If the model supports a mask, its outputs with a mask are also compared;
- if it has a preprocessor_config.json: the classes, vectors or boxes of `headlight classify`, `embed` or `detect` for
  the images equal the results of Transformers' processor (with Pillow) and model.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402
from PIL import Image, ImageOps  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")


def forward(program, folder, inputs):
    with tempfile.TemporaryDirectory() as temporary:
        into, out = f"{temporary}/in.safetensors", f"{temporary}/out.safetensors"
        save_file({name: value.contiguous() for name, value in inputs.items()}, into)
        subprocess.run([program, "forward", folder, into, "--out", out], check=True)
        return load_file(out)


def compare(folder, ours, output):
    """Returns a summary with the largest difference of the common outputs, relative to their scale."""
    theirs = {}
    for name, value in output.items():
        if torch.is_tensor(value):
            theirs[name] = value
        elif name == "feature_maps":  # the last feature map of a backbone is its hidden state
            theirs["last_hidden_state"] = value[-1]
        elif isinstance(value, tuple) and "attentions" in name:
            theirs.update({f"{name}.{layer}": weights for layer, weights in enumerate(value)})
    both = sorted(set(ours) & set(theirs))
    assert both and ("logits" in both or "logits" not in theirs), f"{folder}: {sorted(ours)} and {sorted(theirs)}"
    worst = 0
    for name in both:
        assert ours[name].shape == theirs[name].shape, f"{folder}: {name}: {ours[name].shape}, {theirs[name].shape}"
        difference = ((ours[name].double() - theirs[name]).abs().max() / theirs[name].abs().max()).item()
        assert difference < 1e-4, f"{folder}: {name} differs by {difference} of its scale"
        worst = max(worst, difference)
    return f"{len(both)} outputs ({both[0]} to {both[-1]}) differ by at most {worst:.1e} of their scale"


def check_outputs(program, folder, model):
    config, generator = model.config, torch.Generator().manual_seed(1)
    if config.model_type == "imagegpt":
        ids = torch.randint(config.vocab_size, (2, min(40, config.n_positions)), generator=generator)
        with torch.no_grad():
            return [compare(folder, forward(program, folder, {"input_ids": ids}), model(input_ids=ids))]
    size = getattr(config, "image_size", 64)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    if config.model_type == "detr":
        height, width = 70, 101
    pixels = torch.randn(2, getattr(config, "num_channels", 3), height, width, generator=generator)
    options = [{}]
    if config.model_type == "detr":
        mask = torch.zeros(2, height, width, dtype=torch.int64)
        mask[0, :50], mask[1, :, :80] = 1, 1
        options.append({"pixel_mask": mask})
    parts = [name for name, _ in model.named_parameters()]
    if any(name.endswith("mask_token") for name in parts):
        patch = config.patch_size
        patches = height // patch * (width // patch)
        options.append({"bool_masked_pos": torch.rand(2, patches, generator=generator) < 0.5})
    attends = {} if config.model_type == "resnet" else {"output_attentions": True}
    results = []
    for more in options:
        with torch.no_grad():
            output = model(pixel_values=pixels.double(), **more, **attends)
        ours = forward(program, folder, {"pixel_values": pixels, **more})
        if "pixel_mask" in more:  # Transformers returns arbitrary values at padding, and headlight returns 0
            for name in [name for name in ours if "encoder" in name]:
                del ours[name]
        results.append(compare(folder, ours, output))
    return results


def processor_of(folder):
    config = json.loads((pathlib.Path(folder) / "preprocessor_config.json").read_text())
    kind = config["image_processor_type"].removesuffix("Fast")
    return getattr(transformers, kind + "Pil", getattr(transformers, kind)).from_pretrained(folder)


def check_images(program, folder, model, images):
    ask = lambda *arguments: [json.loads(row) for row in subprocess.run(
        [program, *arguments, "--json", "--quiet", "--compute", "float32"], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()]
    processor, files = processor_of(folder), sorted(str(path) for path in pathlib.Path(images).iterdir() if path.suffix.lower() in ENDINGS)
    opened = [ImageOps.exif_transpose(Image.open(file)).convert("RGB") for file in files]
    read = lambda image: {name: value.double() if value.is_floating_point() else value for name, value in processor(
        images=image, return_tensors="pt").items()}
    kind, most = type(model).__name__, 0
    if "Classification" in kind:
        what = "classes"
        for row, image in zip(ask("classify", folder, *files), opened):
            with torch.no_grad():
                shares = model(**read(image)).logits.softmax(-1)[0]
            names = model.config.id2label
            theirs = {names[i]: shares[i].item() for i in range(len(shares))}
            most = max(most, *(abs(theirs[one["label"]] - one["score"]) for one in row["classes"]))
    elif "Detection" in kind or "Segmentation" in kind:
        what = "boxes"
        for row, image in zip(ask("detect", folder, *files, "--threshold", "0.1"), opened):
            with torch.no_grad():
                output = model(**read(image))
            found = processor.post_process_object_detection(output, threshold=0.1, target_sizes=[image.size[::-1]])[0]
            order = found["scores"].argsort(descending=True)
            assert len(order) == len(row["boxes"]), f"{folder}: {len(row['boxes'])} boxes, and not {len(order)}"
            for i, ours in zip(order, row["boxes"]):
                assert ours["label"] == model.config.id2label[found["labels"][i].item()]
                sides = [abs(a - b) / max(image.size) for a, b in zip(found["boxes"][i].tolist(), ours["box"])]
                most = max(most, abs(found["scores"][i].item() - ours["score"]), *sides)
    else:
        what = "vectors"
        for row, image in zip(ask("embed", folder, *files), opened):
            with torch.no_grad():
                state = model(**read(image)).last_hidden_state
            theirs = state.mean((2, 3))[0] if state.ndim == 4 else state[0, 0]
            most = max(most, ((theirs - torch.tensor(row["vector"])).abs().max() / theirs.abs().max()).item())
    assert most < 1e-4, f"{folder}: {what} differ by {most}"
    return f"{what} of {len(files)} images differ by at most {most:.1e}"


def main():
    program, images, *folders = sys.argv[1:]
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    for folder in folders:
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        kind = getattr(transformers, config["architectures"][0])
        attends = {} if config["model_type"] == "resnet" else {"attn_implementation": "eager"}
        pooler = {} if config["model_type"] not in ("vit", "deit") or not kind.__name__.endswith("Model") else {
            "add_pooling_layer": "pooler.dense.weight" in load_file(f"{folder}/model.safetensors")}
        model, loading = kind.from_pretrained(folder, output_loading_info=True, **attends, **pooler)
        wrong = {what: names for what, names in loading.items() if names}
        assert not wrong, f"{folder}: {wrong}"
        model.eval().double()  # double precision, so that only headlight rounds
        for result in check_outputs(program, folder, model):
            print(f"{folder}: {kind.__name__}: {result}")
        if (pathlib.Path(folder) / "preprocessor_config.json").exists() and config["model_type"] != "imagegpt":
            print(f"{folder}: {check_images(program, folder, model, images)}")


main()
