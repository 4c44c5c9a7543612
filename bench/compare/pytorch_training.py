"""Trains the same configuration in headlight and in PyTorch, in alternating runs, and prints the speeds.

Both use the same text with headlight's tokenizer, in batches with the same number of target tokens. Before the
measurement, both compute the logits of the same weights on the same sentences. The logits must agree.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

import headlight_training
import torch
from measured import run
from results import record
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch.nn import functional as F
from torch_transformer import Transformer, from_marian
from torch_worker import collate

WORKER = Path(__file__).with_name("torch_worker.py")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    headlight_training.add_arguments(parser)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32 and, for bfloat16, also in that")
    parser.add_argument("--ways", nargs="+", default=["eager", "compiled"], choices=["eager", "compiled"],
                        help="of PyTorch; each runs once before the race, and the faster one races. Compiling takes minutes")
    return headlight_training.parsed(parser)


def train_torch(job, folder):
    path = Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    output, _, peak = run([sys.executable, WORKER, path])
    return json.loads(output), peak


def read_pairs(options, tokenizer, name, end):
    sides = []
    for language in ("de", "en"):
        with gzip.open(f"{options.data}/{name}.{language}.gz", "rt", encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
        sides.append([encoding.ids for encoding in tokenizer.encode_batch(lines, add_special_tokens=False)])
    return [(source + [end], target + [end]) for source, target in zip(*sides)]


def check_same_computation(folder, config, shape, pairs):
    """Compares logits and loss of headlight's trained weights on the same sentences, in headlight and in PyTorch."""
    model = Transformer(dropout=0.0, **shape).eval()
    model.load_state_dict(from_marian(load_file(Path(folder) / "model.safetensors")))
    batch = collate(pairs, config["decoder_start_token_id"], config["pad_token_id"])
    with torch.no_grad():
        hidden = model(batch["source"], batch["mask"], batch["target_in"])
        ours = F.linear(hidden, model.embedding.weight, model.logits_bias)
    mask = batch["mask"]
    mask = torch.ones_like(batch["source"]) if mask is None else mask[:, 0, 0].long()
    inputs, outputs = Path(folder) / "inputs.safetensors", Path(folder) / "outputs.safetensors"
    save_file({"input_ids": batch["source"], "attention_mask": mask.contiguous(),
               "decoder_input_ids": batch["target_in"]}, inputs)
    run([headlight_training.HEADLIGHT, "forward", folder, inputs, "--out", outputs])
    theirs = load_file(outputs)["logits"]
    width = batch["target_in"].shape[1]
    real = torch.arange(width) < torch.tensor(batch["target_lengths"]).unsqueeze(1)
    losses = [F.cross_entropy(logits[real], batch["labels"], label_smoothing=0.1).item() for logits in (ours, theirs)]
    difference = (ours[real] - theirs[real]).abs().max().item()
    print(f"same weights, same sentences: loss {losses[0]:.6f} in PyTorch, {losses[1]:.6f} in headlight; "
          f"logits differ by at most {difference:.1e}")
    if not difference < 1e-3:
        sys.exit("pytorch_training: the two do not compute the same thing")


def gemm_rate(options):
    """Returns the machine's GEMM throughput in GFLOP/s for this run's type: the larger of PyTorch's and headlight's."""
    torch.set_num_threads(options.threads)
    a, b = (torch.rand(2048, 2048).to(getattr(torch, options.compute)) for _ in range(2))
    best = float("inf")
    for _ in range(30):
        began = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - began)
    ours, _, _ = run([
        headlight_training.HEADLIGHT, "bench", "train", "--train", f"{options.data}/val.de.gz", f"{options.data}/val.en.gz", "--quiet", "--json",
        "--layers", 1, "--model-dim", 64, "--heads", 1, "--ffn-dim", 64, "--vocabulary-size", 500, "--batch-tokens", 100,
        "--steps", 1, "--warmup-steps", 1, "--threads", options.threads, "--compute", options.compute])
    return max(2 * 2048**3 / best / 1e9, json.loads(ours)["machine"]["gemm_gflops"])


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "model"
        # This run creates the tokenizer and the weights for the comparison. It is not measured.
        headlight_training.train(options, folder, options.threads)
        config = json.loads((folder / "config.json").read_text())
        shape = {"vocabulary": config["vocab_size"], "layers": options.layers, "model": options.model,
                 "heads": options.heads, "ffn": options.ffn}
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        pairs = read_pairs(options, tokenizer, "train", config["eos_token_id"])
        check_same_computation(folder, config, shape, pairs[:64])
        (Path(work) / "pairs.json").write_text(json.dumps(pairs))
        job = {"shape": shape, "pairs": str(Path(work) / "pairs.json"), "threads": options.threads, "seed": 1,
               "dropout": 0.1, "label_smoothing": 0.1, "batch_tokens": options.batch_tokens,
               "start": config["decoder_start_token_id"], "padding": config["pad_token_id"],
               "warmup_steps": options.warmup_steps, "steps": options.steps}
        peers = {}
        for compute in ["float32"] if options.compute == "float32" else ["float32", "bfloat16"]:
            ways = {way: {**job, "bfloat16": compute == "bfloat16", "compile": way == "compiled"} for way in options.ways}
            best = options.ways[0]
            if len(ways) > 1:
                trials = {way: train_torch(ways[way], work)[0]["tokens_per_second"] for way in ways}
                best = max(trials, key=trials.get)
                print(f"PyTorch {torch.__version__} {compute}: {trials['eager']:.0f} target tokens/s eager, "
                      f"{trials['compiled']:.0f} compiled; {best} runs the race", flush=True)
            peers[f"PyTorch {compute}"] = ways[best]

        ours = f"headlight {options.compute}"
        rates, peaks, gemm, work_per_token = {ours: []} | {peer: [] for peer in peers}, {}, [], 0
        for repeat in range(options.repeats):
            gemm.append(gemm_rate(options))
            rate, peak = headlight_training.train(options, Path(work) / f"repeat{repeat}", options.threads)
            rates[ours].append(rate)
            peaks[ours] = max(peak, peaks.get(ours, 0))
            for peer, way in peers.items():
                result, peak = train_torch(way, work)
                rates[peer].append(result["tokens_per_second"])
                peaks[peer] = max(peak, peaks.get(peer, 0))
                work_per_token = result["operations_per_token"]

    machine = max(gemm)
    print(f"\n{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians; "
          f"{work_per_token / 1e6:.1f} MFLOP a target token; {options.compute} GEMM {machine:.0f} GFLOP/s on "
          f"{options.threads} threads\n")
    print(f"{'':18} {'target tokens/s':>15} {'(min to max)':>16} {'of GEMM rate':>12} {'peak memory':>12}")
    for name, values in rates.items():
        rate = statistics.median(values)
        spread = f"({min(values):.0f} to {max(values):.0f})"
        print(f"{name:18} {rate:15.0f} {spread:>16} {rate * work_per_token / machine / 1e9:12.0%} {peaks[name]:9.0f} MB")
    for peer in peers:
        ratio = statistics.median(rates[ours]) / statistics.median(rates[peer])
        print(f"{'over ' + peer:18} {ratio:15.2f} {'':16} {'':12} {peaks[ours] / peaks[peer]:12.2f}")
        layers = f"{options.layers} + {options.layers} layers of {options.model}, ffn {options.ffn}"
        types = f"{options.compute}, peer {peer.split()[-1]}, steps of {options.batch_tokens} target tokens"
        version = f"PyTorch {torch.__version__}"
        record(options, version, f"train a translation model, {layers}", types, "target tokens/s",
               statistics.median(rates[ours]), statistics.median(rates[peer]))
        record(options, version, f"peak memory of that training, {layers}", types, "MB", peaks[ours], peaks[peer])


if __name__ == "__main__":
    main()
