"""Trains one CLIP in headlight and in PyTorch (Transformers' CLIP), in alternating turns, and prints how fast each was.

Both see the same pictures with texts of mixed lengths in batches of one size, headlight from PNG files through its whole
path of data, PyTorch as tensors that are ready, its texts padded to the longest of a batch. Before the race PyTorch
computes the validation loss of a model that headlight trained, which must be the one that headlight reports.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from measured import run
from PIL import Image
from transformers import AutoTokenizer, CLIPConfig, CLIPModel

HEADLIGHT = "build/release/headlight"
VALIDATED = 256  # pairs, compared all with all
WORDS = "a the small large red green blue black circle square star ring on under above left right of in and".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10, help="measured steps of a run")
    parser.add_argument("--warmup-steps", type=int, default=2, help="steps before them that do not count")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--words", type=int, nargs=2, default=[6, 28], help="the fewest and the most of a text")
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--patch-size", type=int, default=8)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--model", type=int, default=192)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32 and, for bfloat16, also in that")
    parser.add_argument("--ways", nargs="+", default=["eager", "compiled"], choices=["eager", "compiled"],
                        help="of PyTorch; each runs once before the race, and the faster one races")
    options = parser.parse_args()
    if options.steps % options.warmup_steps != 0:
        parser.error("--steps must be a multiple of --warmup-steps, at which headlight writes its log")
    return options


def write_pairs(options, folder, name, count, seed):
    """A TSV of pictures and texts; the pictures are PNG files beside it."""
    rng, words = np.random.default_rng(seed), random.Random(seed)
    pairs = []
    for i in range(count):
        # Coarse noise, whose files are as small as those of drawings.
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        coarse.resize((options.image_size,) * 2, Image.NEAREST).save(folder / f"{name}{i}.png")
        text = " ".join(words.choice(WORDS) for _ in range(words.randint(*options.words)))
        pairs.append((folder / f"{name}{i}.png", text))
    path = folder / f"{name}.tsv"
    path.write_text("".join(f"{picture}\t{text}\n" for picture, text in pairs))
    return path, pairs


def train_headlight(options, folder, train, valid, tokens):
    """Pairs per second after the warm-up, the peak memory and the last validation's loss."""
    last_step = options.warmup_steps + options.steps
    _, _, peak = run([
        HEADLIGHT, "train", "contrastive", "--quiet", "--out", folder, "--train", train, "--valid", valid,
        "--tokenizer", tokens, "--image-size", options.image_size, "--patch-size", options.patch_size,
        "--layers", options.layers, "--model-dim", options.model, "--heads", options.heads,
        "--batch-size", options.batch_size, "--threads", options.threads, "--compute", options.compute, "--seed", 1,
        "--steps", last_step, "--warmup", options.warmup_steps, "--log-every", options.warmup_steps,
        "--validate-every", last_step])
    records = [json.loads(line) for line in (Path(folder) / "metrics.jsonl").read_text().splitlines()]
    steps = {record["step"]: record for record in records if "seconds" in record}
    first, last = steps[options.warmup_steps], steps[last_step]
    rate = (last["pairs"] - first["pairs"]) / (last["seconds"] - first["seconds"])
    return rate, peak, [record["validation_loss"] for record in records if "validation_loss" in record][-1]


def tensors(pairs, model):
    """The pixels and ids of pairs for a model that headlight trained, which says how both are prepared."""
    prepared = json.loads((model / "preprocessor_config.json").read_text())
    mean, std = (np.array(prepared[f"image_{name}"], np.float32) for name in ("mean", "std"))
    pixels = np.stack([(np.asarray(Image.open(picture), np.float32) / 255 - mean) / std for picture, _ in pairs])
    tokenizer = AutoTokenizer.from_pretrained(model)
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous(), [tokenizer(text)["input_ids"] for _, text in pairs]


def padded(texts, end):
    ids = torch.full((len(texts), max(map(len, texts))), end)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = torch.tensor(text)
    return ids


def work(job):
    """One training run in PyTorch, in a process of its own so that its memory can be told: prints one JSON object."""
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    model = CLIPModel(CLIPConfig.from_pretrained(job["model"])).train()
    pixels, texts = torch.load(job["pairs"])
    end = model.config.text_config.eos_token_id
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    step_of = torch.compile(model, dynamic=True) if job["compile"] else model
    seconds = 0.0
    for step in range(job["warmup_steps"] + job["steps"]):
        rows = torch.arange(step * job["batch_size"], (step + 1) * job["batch_size"]) % len(texts)
        pictures, ids = pixels[rows], padded([texts[row] for row in rows.tolist()], end)
        began = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["bfloat16"]):
            loss = step_of(pixel_values=pictures, input_ids=ids, return_loss=True).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step >= job["warmup_steps"]:
            seconds += time.perf_counter() - began
    print(json.dumps({"pairs_per_second": job["steps"] * job["batch_size"] / seconds}))


def train_torch(job, folder):
    path = Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    output, _, peak = run([sys.executable, __file__, "--worker", path])
    return json.loads(output)["pairs_per_second"], peak


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        train, pairs = write_pairs(options, folder, "train", 4 * options.batch_size, seed=1)
        valid, others = write_pairs(options, folder, "valid", VALIDATED, seed=2)
        (folder / "texts.txt").write_text("".join(f"{text}\n" for _, text in pairs))
        run([HEADLIGHT, "train", "tokenizer", "--quiet", "--algorithm", "wordpiece", "--vocabulary-size", 100,
             "--out", folder / "tokens", folder / "texts.txt"])
        _, _, reported = train_headlight(options, folder / "model", train, valid, folder / "tokens")
        model = CLIPModel.from_pretrained(folder / "model").eval()
        pixels, texts = tensors(others, folder / "model")
        with torch.no_grad():
            loss = model(pixel_values=pixels, input_ids=padded(texts, model.config.text_config.eos_token_id),
                         return_loss=True).loss.item()
        print(f"the model that headlight trained: validation loss {loss:.5f} in PyTorch, {reported:.5f} in headlight")
        if abs(loss - reported) > (1e-3 if options.compute == "float32" else 3e-2):
            sys.exit("pytorch_contrastive_training: the two do not compute the same thing")
        torch.save(tensors(pairs, folder / "model"), folder / "pairs")
        job = {"model": str(folder / "model"), "pairs": str(folder / "pairs"), "threads": options.threads,
               "batch_size": options.batch_size, "warmup_steps": options.warmup_steps, "steps": options.steps}
        peers = {}
        for compute in ["float32"] if options.compute == "float32" else ["float32", "bfloat16"]:
            ways = {way: {**job, "bfloat16": compute == "bfloat16", "compile": way == "compiled"} for way in options.ways}
            trials = {way: train_torch(ways[way], folder)[0] for way in ways}
            best = max(trials, key=trials.get)
            print(f"PyTorch {torch.__version__} {compute}: " +
                  ", ".join(f"{rate:.0f} pairs/s {way}" for way, rate in trials.items()) + f"; {best} runs the race",
                  flush=True)
            peers[f"PyTorch {compute}"] = ways[best]

        ours = f"headlight {options.compute}"
        rates, peaks = {ours: []} | {peer: [] for peer in peers}, {}
        for repeat in range(options.repeats):
            rate, peak, _ = train_headlight(options, folder / f"repeat{repeat}", train, valid, folder / "tokens")
            rates[ours].append(rate)
            peaks[ours] = max(peak, peaks.get(ours, 0))
            for peer, way in peers.items():
                rate, peak = train_torch(way, folder)
                rates[peer].append(rate)
                peaks[peer] = max(peak, peaks.get(peer, 0))

    print(f"\n{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians\n")
    print(f"{'':18} {'pairs/s':>10} {'(min to max)':>16} {'peak memory':>12}")
    for name, measured in rates.items():
        spread = f"({min(measured):.0f} to {max(measured):.0f})"
        print(f"{name:18} {statistics.median(measured):10.1f} {spread:>16} {peaks[name]:9.0f} MB")
    for peer in peers:
        ratio = statistics.median(rates[ours]) / statistics.median(rates[peer])
        print(f"{'over ' + peer:18} {ratio:10.2f} {'':16} {peaks[ours] / peaks[peer]:12.2f}")


if __name__ == "__main__":
    main()
