"""Runs a short training of headlight on parallel text and measures its speed, for the comparisons in this folder."""

import json
from pathlib import Path

from measured import run

HEADLIGHT = "build/release/headlight"


def add_arguments(parser):
    parser.add_argument("--data", required=True, help="folder of train.de.gz, train.en.gz, val.de.gz ...")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40, help="measured steps of a run")
    parser.add_argument("--warmup-steps", type=int, default=10, help="steps before them that do not count")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--model", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--ffn", type=int, default=1024)
    parser.add_argument("--vocabulary", type=int, default=8000)


def parsed(parser):
    options = parser.parse_args()
    if options.steps % options.warmup_steps != 0:
        parser.error("--steps must be a multiple of --warmup-steps, at which headlight writes its log")
    return options


def train(options, folder, threads, start=(), more=()):
    """Trains a model into the folder. Returns target tokens per second after the warm-up, and the peak memory. `start`
    precedes the program in the command, and `more` are additional options."""
    last_step = options.warmup_steps + options.steps
    _, _, peak = run([
        *start, HEADLIGHT, "train", "translation", "--quiet", "--out", folder,
        "--train", f"{options.data}/train.de.gz", f"{options.data}/train.en.gz",
        "--valid", f"{options.data}/val.de.gz", f"{options.data}/val.en.gz",
        "--layers", options.layers, "--model-dim", options.model, "--heads", options.heads, "--ffn-dim", options.ffn,
        "--vocabulary-size", options.vocabulary, "--dropout", 0.1, "--label-smoothing", 0.1, "--seed", 1,
        "--batch-tokens", options.batch_tokens, "--threads", threads, "--compute", options.compute,
        "--steps", last_step, "--log-every", options.warmup_steps, "--validate-every", last_step, *more])
    with open(Path(folder) / "metrics.jsonl") as file:
        steps = {record["step"]: record for record in map(json.loads, file) if "target_tokens" in record}
    first, last = steps[options.warmup_steps], steps[last_step]
    return (last["target_tokens"] - first["target_tokens"]) / (last["seconds"] - first["seconds"]), peak
