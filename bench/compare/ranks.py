"""Trains one configuration as one process of N threads and as N ranks of one thread, in alternating turns, checks that
both end with the same bits, and prints how fast each was.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from measured import run

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder of train.de.gz, train.en.gz, val.de.gz ...")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40, help="measured steps of a run")
    parser.add_argument("--warmup-steps", type=int, default=10, help="steps before them that do not count")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--model", type=int, default=256)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--more", nargs="*", default=[], help="further options of the ranks, without their dashes: shard-optimizer")
    options = parser.parse_args()
    if options.steps % options.warmup_steps != 0:
        parser.error("--steps must be a multiple of --warmup-steps, at which headlight writes its log")
    return options


def train(options, folder, ranks):
    """Target tokens per second after the warm-up."""
    last_step = options.warmup_steps + options.steps
    start = ["mpirun", "--quiet", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    run(start + [
        HEADLIGHT, "train", "translation", "--quiet", "--out", folder,
        "--train", f"{options.data}/train.de.gz", f"{options.data}/train.en.gz",
        "--valid", f"{options.data}/val.de.gz", f"{options.data}/val.en.gz",
        "--layers", options.layers, "--model-dim", options.model, "--heads", 8, "--ffn-dim", 4 * options.model,
        "--vocabulary-size", options.vocabulary, "--seed", 1, "--batch-tokens", options.batch_tokens,
        "--accumulation", options.accumulation, "--threads", 1 if ranks > 1 else options.ranks,
        "--compute", options.compute, "--steps", last_step, "--log-every", options.warmup_steps,
        "--validate-every", last_step] + [f"--{name}" for name in options.more if ranks > 1])
    with open(Path(folder) / "metrics.jsonl") as file:
        steps = {record["step"]: record for record in map(json.loads, file) if "target_tokens" in record}
    first, last = steps[options.warmup_steps], steps[last_step]
    return (last["target_tokens"] - first["target_tokens"]) / (last["seconds"] - first["seconds"])


def main():
    options = arguments()
    if os.geteuid() == 0:  # as in a container
        os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    rates = {1: [], options.ranks: []}
    with tempfile.TemporaryDirectory() as work:
        for repeat in range(options.repeats):
            weights = []
            for ranks, found in rates.items():
                folder = Path(work) / f"{repeat}-{ranks}"
                found.append(train(options, folder, ranks))
                weights.append((folder / "last/model.safetensors").read_bytes())
            if weights[0] != weights[1]:
                sys.exit("ranks: the two trainings end with different weights")
    print(f"{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians; the same weights at the end")
    for ranks, found in rates.items():
        name = f"{ranks} ranks of 1 thread" if ranks > 1 else f"1 process of {options.ranks} threads"
        print(f"{name:26} {statistics.median(found):9.0f} target tokens/s ({min(found):.0f} to {max(found):.0f})")
    print(f"{'ratio':26} {statistics.median(rates[options.ranks]) / statistics.median(rates[1]):9.3f}")


if __name__ == "__main__":
    main()
