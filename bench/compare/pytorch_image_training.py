"""Trains a ViT in headlight and in PyTorch (Transformers' ViT), in alternating runs, and prints the speeds.

Both use the same images in batches of the same size. headlight reads an IDX file with its whole data pipeline. PyTorch
gets prepared tensors. Before the measurement, PyTorch computes the validation loss of a model that headlight trained.
It must equal the loss that headlight reports.
"""

import argparse
import json
import struct
import tempfile
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

import numpy as np
import torch
import training_race
from measured import run
from transformers import ViTConfig, ViTForImageClassification

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    training_race.add_arguments(parser, steps=20, warmup_steps=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--image-size", type=int, default=32)
    parser.add_argument("--patch-size", type=int, default=4)
    parser.add_argument("--layers", type=int, default=9)
    parser.add_argument("--model", type=int, default=192)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--ffn", type=int, default=384)
    parser.add_argument("--augment", default="none", help="headlight's; PyTorch's images stay as they are")
    return training_race.parsed(parser)


def write_images(options, folder, count):
    """Writes IDX files of random images of ten classes. The brightness of an image depends on its class."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    side = options.image_size
    images = rng.integers(0, 100, (count, side, side, 3), dtype=np.uint8) + labels[:, None, None, None] * 15
    paths = [str(folder / "train-images-idx4-ubyte"), str(folder / "train-labels-idx1-ubyte")]
    Path(paths[0]).write_bytes(bytes([0, 0, 8, 4]) + struct.pack(">4I", *images.shape) + images.tobytes())
    Path(paths[1]).write_bytes(bytes([0, 0, 8, 1]) + struct.pack(">I", count) + labels.tobytes())
    values = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 * 2 - 1
    return paths, values.contiguous(), torch.from_numpy(labels).long()


def train_headlight(options, folder, paths):
    """Trains with headlight. Returns images per second after the warm-up, the peak memory and the loss of the last
    validation."""
    _, _, peak = run([
        HEADLIGHT, "train", "image-classification", "--quiet", "--out", folder, "--train", *paths, "--valid", *paths,
        "--image-size", options.image_size, "--patch-size", options.patch_size, "--layers", options.layers,
        "--model-dim", options.model, "--heads", options.heads, "--ffn-dim", options.ffn, "--augment", options.augment,
        "--batch-size", options.batch_size, "--threads", options.threads, "--compute", options.compute, "--seed", 1,
        "--steps", options.warmup_steps + options.steps, "--warmup", options.warmup_steps,
        "--log-every", options.warmup_steps, "--validate-every", options.warmup_steps + options.steps])
    records = [json.loads(line) for line in (Path(folder) / "metrics.jsonl").read_text().splitlines()]
    steps = {record["step"]: record for record in records if "seconds" in record}
    first, last = steps[options.warmup_steps], steps[options.warmup_steps + options.steps]
    rate = (last["images"] - first["images"]) / (last["seconds"] - first["seconds"])
    return rate, peak, [record["validation_loss"] for record in records if "validation_loss" in record][-1]


def work(job):
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    model = ViTForImageClassification(ViTConfig(**job["config"]))
    values, labels = (torch.load(job[name]) for name in ("values", "labels"))
    training_race.train_here(job, model, len(labels),
                             lambda rows: {"pixel_values": values[rows], "labels": labels[rows]})


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths, values, labels = write_images(options, folder, 512)
        _, _, reported = train_headlight(options, folder / "model", paths)
        model = ViTForImageClassification.from_pretrained(folder / "model").eval()
        with torch.no_grad():
            loss = model(pixel_values=values, labels=labels).loss.item()
        training_race.check_same(options, loss, reported)
        torch.save(values, folder / "values")
        torch.save(labels, folder / "labels")
        config = {"hidden_size": options.model, "num_hidden_layers": options.layers, "num_labels": 10,
                  "num_attention_heads": options.heads, "intermediate_size": options.ffn,
                  "image_size": options.image_size, "patch_size": options.patch_size}
        job = {"config": config, "values": str(folder / "values"), "labels": str(folder / "labels")}
        training_race.race(options, "images", job, folder, lambda to: train_headlight(options, to, paths))


if __name__ == "__main__":
    main()
