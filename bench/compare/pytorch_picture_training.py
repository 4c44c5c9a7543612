"""Trains one ViT in headlight and in PyTorch (Transformers' ViT), in alternating turns, and prints how fast each was.

Both see the same pictures in batches of one size, headlight from an IDX file through its whole path of data, PyTorch
as tensors that are ready. Before the race PyTorch computes the validation loss of a model that headlight trained, which
must be the one that headlight reports.
"""

import argparse
import json
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from measured import run
from transformers import ViTConfig, ViTForImageClassification

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="measured steps of a run")
    parser.add_argument("--warmup-steps", type=int, default=5, help="steps before them that do not count")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--image-size", type=int, default=32)
    parser.add_argument("--patch-size", type=int, default=4)
    parser.add_argument("--layers", type=int, default=9)
    parser.add_argument("--model", type=int, default=192)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--ffn", type=int, default=384)
    parser.add_argument("--augment", default="none", help="headlight's; PyTorch's pictures stay as they are")
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32 and, for bfloat16, also in that")
    parser.add_argument("--ways", nargs="+", default=["eager", "compiled"], choices=["eager", "compiled"],
                        help="of PyTorch; each runs once before the race, and the faster one races")
    options = parser.parse_args()
    if options.steps % options.warmup_steps != 0:
        parser.error("--steps must be a multiple of --warmup-steps, at which headlight writes its log")
    return options


def write_pictures(options, folder, count):
    """IDX files of random pictures of ten classes, with a brightness that tells the class."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    side = options.image_size
    pictures = rng.integers(0, 100, (count, side, side, 3), dtype=np.uint8) + labels[:, None, None, None] * 15
    paths = [str(folder / "train-images-idx4-ubyte"), str(folder / "train-labels-idx1-ubyte")]
    Path(paths[0]).write_bytes(bytes([0, 0, 8, 4]) + struct.pack(">4I", *pictures.shape) + pictures.tobytes())
    Path(paths[1]).write_bytes(bytes([0, 0, 8, 1]) + struct.pack(">I", count) + labels.tobytes())
    values = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255 * 2 - 1
    return paths, values.contiguous(), torch.from_numpy(labels).long()


def train_headlight(options, folder, paths):
    """Pictures per second after the warm-up, the peak memory and the last validation's loss."""
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
    rate = (last["pictures"] - first["pictures"]) / (last["seconds"] - first["seconds"])
    return rate, peak, [record["validation_loss"] for record in records if "validation_loss" in record][-1]


def work(job):
    """One training run in PyTorch, in a process of its own so that its memory can be told: prints one JSON object."""
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    model = ViTForImageClassification(ViTConfig(**job["config"])).train()
    values, labels = (torch.load(job[name]) for name in ("values", "labels"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    step_of = torch.compile(model) if job["compile"] else model
    seconds = 0.0
    for step in range(job["warmup_steps"] + job["steps"]):
        rows = torch.arange(step * job["batch_size"], (step + 1) * job["batch_size"]) % len(labels)
        pictures, classes = values[rows], labels[rows]
        began = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["bfloat16"]):
            loss = step_of(pixel_values=pictures, labels=classes).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step >= job["warmup_steps"]:
            seconds += time.perf_counter() - began
    print(json.dumps({"pictures_per_second": job["steps"] * job["batch_size"] / seconds}))


def train_torch(job, folder):
    path = Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    output, _, peak = run([sys.executable, __file__, "--worker", path])
    return json.loads(output)["pictures_per_second"], peak


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths, values, labels = write_pictures(options, folder, 512)
        _, _, reported = train_headlight(options, folder / "model", paths)
        model = ViTForImageClassification.from_pretrained(folder / "model").eval()
        with torch.no_grad():
            loss = model(pixel_values=values, labels=labels).loss.item()
        print(f"the model that headlight trained: validation loss {loss:.5f} in PyTorch, {reported:.5f} in headlight")
        if abs(loss - reported) > (1e-3 if options.compute == "float32" else 3e-2):
            sys.exit("pytorch_picture_training: the two do not compute the same thing")
        torch.save(values, folder / "values")
        torch.save(labels, folder / "labels")
        config = {"hidden_size": options.model, "num_hidden_layers": options.layers, "num_labels": 10,
                  "num_attention_heads": options.heads, "intermediate_size": options.ffn,
                  "image_size": options.image_size, "patch_size": options.patch_size}
        job = {"config": config, "values": str(folder / "values"), "labels": str(folder / "labels"),
               "threads": options.threads, "batch_size": options.batch_size, "warmup_steps": options.warmup_steps,
               "steps": options.steps}
        peers = {}
        for compute in ["float32"] if options.compute == "float32" else ["float32", "bfloat16"]:
            ways = {way: {**job, "bfloat16": compute == "bfloat16", "compile": way == "compiled"} for way in options.ways}
            trials = {way: train_torch(ways[way], folder)[0] for way in ways}
            best = max(trials, key=trials.get)
            print(f"PyTorch {torch.__version__} {compute}: " +
                  ", ".join(f"{rate:.0f} pictures/s {way}" for way, rate in trials.items()) + f"; {best} runs the race",
                  flush=True)
            peers[f"PyTorch {compute}"] = ways[best]

        ours = f"headlight {options.compute}"
        rates, peaks = {ours: []} | {peer: [] for peer in peers}, {}
        for repeat in range(options.repeats):
            rate, peak, _ = train_headlight(options, folder / f"repeat{repeat}", paths)
            rates[ours].append(rate)
            peaks[ours] = max(peak, peaks.get(ours, 0))
            for peer, way in peers.items():
                rate, peak = train_torch(way, folder)
                rates[peer].append(rate)
                peaks[peer] = max(peak, peaks.get(peer, 0))

    print(f"\n{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians\n")
    print(f"{'':18} {'pictures/s':>10} {'(min to max)':>16} {'peak memory':>12}")
    for name, measured in rates.items():
        spread = f"({min(measured):.0f} to {max(measured):.0f})"
        print(f"{name:18} {statistics.median(measured):10.1f} {spread:>16} {peaks[name]:9.0f} MB")
    for peer in peers:
        ratio = statistics.median(rates[ours]) / statistics.median(rates[peer])
        print(f"{'over ' + peer:18} {ratio:10.2f} {'':16} {peaks[ours] / peaks[peer]:12.2f}")


if __name__ == "__main__":
    main()
