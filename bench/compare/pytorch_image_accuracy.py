"""Trains the ResNet of --preset small-gray-images in headlight and in PyTorch (Transformers' ResNet) for the same
number of epochs, and prints the accuracies on held-out images.

Both start from headlight's initial weights. Both use the preset's augmentation, label smoothing, AdamW, warm-up with a
cosine schedule, clipping and moving average. PyTorch also classifies the images with the weights that headlight
trained. The accuracy must equal the accuracy that headlight reports.
"""

import argparse
import gzip
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

from measured import run

HEADLIGHT = "build/release/headlight"
# The settings of headlight's preset.
SIDE, PADDING, BATCH, PEAK, WARMUP, DECAY, AVERAGE, SMOOTHING = 56, 4, 64, 2e-3, 200, 0.05, 0.999, 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs=2, metavar=("IMAGES", "CLASSES"), help="IDX files of grey images, gzip")
    parser.add_argument("--valid", nargs=2, metavar=("IMAGES", "CLASSES"), help="the same")
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32")
    parser.add_argument("--device", default="cpu", help="of PyTorch; cuda where only the accuracy is asked for")
    return parser.parse_args()


def read_idx(path):
    """Returns the array of an IDX file. Images are [count, side, side] bytes, enlarged by Pillow."""
    import numpy
    from PIL import Image

    data = gzip.open(path).read()
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    values = numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * data[3]).reshape(shape)
    if len(shape) > 1:
        values = numpy.stack([Image.fromarray(image).resize((SIDE, SIDE), Image.BILINEAR) for image in values])
    return values


def normalized(images):
    """Returns pixels [count, 3, side, side] in -1..1, with three equal channels."""
    import torch

    return ((torch.from_numpy(images).float() / 255 - 0.5) / 0.5)[:, None].expand(-1, 3, -1, -1)


def augmented(images, generator):
    """Shifts images by up to PADDING pixels over black, and flips half of them."""
    import numpy

    padded = numpy.pad(images, ((0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    out = numpy.empty_like(images)
    for to, image in zip(out, padded):
        top, left = generator.integers(2 * PADDING + 1, size=2)
        shifted = image[top:top + SIDE, left:left + SIDE]
        to[:] = shifted[:, ::-1] if generator.random() < 0.5 else shifted
    return normalized(out)


def accuracy(model, images, classes):
    import torch

    model.eval()
    with torch.no_grad():
        right = sum((model(pixel_values=normalized(images[i:i + 250]).to(model.device)).logits.argmax(-1).cpu().numpy() ==
                     classes[i:i + 250]).sum().item() for i in range(0, len(images), 250))
    return 100 * right / len(images)


def train_torch(options, seed, start):
    import numpy
    import torch
    from transformers import ResNetForImageClassification

    generator = numpy.random.default_rng(seed)
    images, classes = map(read_idx, options.train)
    model = ResNetForImageClassification.from_pretrained(start).to(options.device, memory_format=torch.channels_last)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.reset_running_stats()
    state = {name: value for name, value in model.state_dict().items() if value.is_floating_point()}
    average = {name: value.clone() for name, value in state.items()}
    decays = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decays, "weight_decay": DECAY}, {"params": others, "weight_decay": 0}],
                                  lr=PEAK, betas=(0.9, 0.999), eps=1e-8, fused=True)
    steps, step, began = options.epochs * math.ceil(len(images) / BATCH), 0, time.perf_counter()
    model.train()
    for _ in range(options.epochs):
        order = generator.permutation(len(images))
        for begin in range(0, len(order), BATCH):
            rows = order[begin:begin + BATCH]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = PEAK * (step / WARMUP if step < WARMUP else
                                      (1 + math.cos(math.pi * (step - WARMUP) / (steps + 1 - WARMUP))) / 2)
            values = augmented(images[rows], generator).to(options.device, memory_format=torch.channels_last)
            targets = torch.from_numpy(classes[rows]).long().to(options.device)
            torch.nn.functional.cross_entropy(model(pixel_values=values).logits, targets,
                                              label_smoothing=SMOOTHING).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            keep = min(AVERAGE, (1 + step) / (10 + step))
            with torch.no_grad():
                for name, value in state.items():
                    average[name].lerp_(value, 1 - keep)
    seconds = time.perf_counter() - began
    model.load_state_dict(average, strict=False)
    return accuracy(model, *map(read_idx, options.valid)), seconds


def train_headlight(options, seed, to, end):
    began = time.perf_counter()
    run([HEADLIGHT, "train", "image-classification", "--preset", "small-gray-images", "--train", *options.train,
         "--valid", *options.valid, "--out", to, "--seed", seed, "--threads", options.threads, "--compute", options.compute,
         "--validate-every", 1000000, "--quiet", *end])
    records = [json.loads(line) for line in (to / "metrics.jsonl").read_text().splitlines()]
    return [record["accuracy"] for record in records if "accuracy" in record][-1], time.perf_counter() - began


def main():
    options = arguments()
    if not options.train or not options.valid:
        sys.exit("pytorch_image_accuracy: --train and --valid are needed, each with two files")
    import torch
    from transformers import ResNetForImageClassification

    torch.set_num_threads(options.threads)
    print(f"{options.epochs} epochs, {options.threads} threads; PyTorch {torch.__version__} in float32\n\n"
          f"{'seed':>6} {'headlight ' + options.compute:>20} {'PyTorch':>10} {'seconds':>16}")
    reached = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in options.seeds:
            start, model = Path(folder) / f"start{seed}", Path(folder) / f"model{seed}"
            train_headlight(options, seed, start, ["--steps", 1, "--learning-rate", 1e-12, "--warmup", 1])
            ours, our_seconds = train_headlight(options, seed, model, ["--epochs", options.epochs])
            theirs, their_seconds = train_torch(options, seed, start)
            checked = accuracy(ResNetForImageClassification.from_pretrained(model), *map(read_idx, options.valid))
            reached.append((ours, theirs))
            print(f"{seed:6} {ours:20.2f} {theirs:10.2f} {our_seconds:7.0f} : {their_seconds:6.0f}", flush=True)
            if abs(checked - ours) > (0.03 if options.compute == "float32" else 0.2):
                sys.exit(f"pytorch_image_accuracy: headlight's weights have {checked:.2f} in PyTorch")
    ours, theirs = (statistics.mean(side) for side in zip(*reached))
    print(f"\nmeans {ours:.2f} : {theirs:.2f}; headlight {ours - theirs:+.2f}")


if __name__ == "__main__":
    main()
