"""Trains a CLIP model in headlight and in PyTorch (Transformers' CLIP), in alternating runs, and prints the speeds.

Both use the same images with texts of mixed lengths in batches of the same size. headlight reads PNG files with its
whole data pipeline. PyTorch gets prepared tensors, with texts padded to the longest of a batch. Before the measurement,
PyTorch computes the validation loss of a model that headlight trained. It must equal the loss that headlight reports.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

import numpy as np
import torch
import training_race
from measured import run
from PIL import Image
from transformers import AutoTokenizer, CLIPConfig, CLIPModel

HEADLIGHT = "build/release/headlight"
VALIDATED = 256  # number of pairs; each image is compared with each text
WORDS = "a the small large red green blue black circle square star ring on under above left right of in and".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    training_race.add_arguments(parser, steps=10, warmup_steps=2)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--words", type=int, nargs=2, default=[6, 28], help="the fewest and the most of a text")
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--patch-size", type=int, default=8)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--model", type=int, default=192)
    parser.add_argument("--heads", type=int, default=3)
    return training_race.parsed(parser)


def write_pairs(options, folder, name, count, seed):
    """Writes a TSV file of images and texts, and the images as PNG files in the same folder."""
    rng, words = np.random.default_rng(seed), random.Random(seed)
    pairs = []
    for i in range(count):
        # Coarse noise gives files that are as small as files of drawings.
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        coarse.resize((options.image_size,) * 2, Image.NEAREST).save(folder / f"{name}{i}.png")
        text = " ".join(words.choice(WORDS) for _ in range(words.randint(*options.words)))
        pairs.append((folder / f"{name}{i}.png", text))
    path = folder / f"{name}.tsv"
    path.write_text("".join(f"{image}\t{text}\n" for image, text in pairs))
    return path, pairs


def train_headlight(options, folder, train, valid, tokens):
    """Trains with headlight. Returns pairs per second after the warm-up, the peak memory and the loss of the last
    validation."""
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
    """Returns the pixels and ids of pairs for a model that headlight trained. The model's folder defines the
    preprocessing."""
    prepared = json.loads((model / "preprocessor_config.json").read_text())
    mean, std = (np.array(prepared[f"image_{name}"], np.float32) for name in ("mean", "std"))
    pixels = np.stack([(np.asarray(Image.open(image), np.float32) / 255 - mean) / std for image, _ in pairs])
    tokenizer = AutoTokenizer.from_pretrained(model)
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous(), [tokenizer(text)["input_ids"] for _, text in pairs]


def padded(texts, end):
    ids = torch.full((len(texts), max(map(len, texts))), end)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = torch.tensor(text)
    return ids


def work(job):
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    model = CLIPModel(CLIPConfig.from_pretrained(job["model"]))
    pixels, texts = torch.load(job["pairs"])
    end = model.config.text_config.eos_token_id
    training_race.train_here(job, model, len(texts), lambda rows: {
        "pixel_values": pixels[rows], "input_ids": padded([texts[row] for row in rows.tolist()], end),
        "return_loss": True}, dynamic=True)


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        train, pairs = write_pairs(options, folder, "train", 4 * options.batch_size, seed=1)
        valid, others = write_pairs(options, folder, "valid", VALIDATED, seed=2)
        (folder / "texts.txt").write_text("".join(f"{text}\n" for _, text in pairs))
        run([HEADLIGHT, "train", "tokenizer", "--quiet", "--subword-type", "wordpiece", "--vocabulary-size", 100,
             "--out", folder / "tokens", folder / "texts.txt"])
        _, _, reported = train_headlight(options, folder / "model", train, valid, folder / "tokens")
        model = CLIPModel.from_pretrained(folder / "model").eval()
        pixels, texts = tensors(others, folder / "model")
        with torch.no_grad():
            loss = model(pixel_values=pixels, input_ids=padded(texts, model.config.text_config.eos_token_id),
                         return_loss=True).loss.item()
        training_race.check_same(options, loss, reported)
        torch.save(tensors(pairs, folder / "model"), folder / "pairs")
        job = {"model": str(folder / "model"), "pairs": str(folder / "pairs")}
        training_race.race(options, "pairs", job, folder,
                           lambda to: train_headlight(options, to, train, valid, folder / "tokens"))


if __name__ == "__main__":
    main()
