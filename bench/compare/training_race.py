"""Compares the training speeds of headlight and PyTorch in alternating runs, for the comparisons in this folder."""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import torch
from measured import run
from results import record


def add_arguments(parser, steps, warmup_steps):
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=steps, help="measured steps of a run")
    parser.add_argument("--warmup-steps", type=int, default=warmup_steps, help="steps before them that do not count")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32 and, for bfloat16, also in that")
    parser.add_argument("--ways", nargs="+", default=["eager", "compiled"], choices=["eager", "compiled"],
                        help="of PyTorch; each runs once before the race, and the faster one races")


def parsed(parser):
    options = parser.parse_args()
    if options.steps % options.warmup_steps != 0:
        parser.error("--steps must be a multiple of --warmup-steps, at which headlight writes its log")
    return options


def check_same(options, loss, reported):
    """Exits if PyTorch's validation loss of a model differs from the loss that headlight reported."""
    print(f"the model that headlight trained: validation loss {loss:.5f} in PyTorch, {reported:.5f} in headlight")
    if abs(loss - reported) > (1e-3 if options.compute == "float32" else 3e-2):
        sys.exit(f"{Path(sys.argv[0]).stem}: the two do not compute the same thing")


def train_here(job, model, examples, batch_of, per_example=1, **compile_options):
    """Runs one training in PyTorch, in a separate process so that its memory can be measured. Prints the examples per
    second. If an example has `per_example` units, prints the units per second. `batch_of` returns the model's arguments
    for rows of the examples."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    step_of = torch.compile(model, **compile_options) if job["compile"] else model
    seconds = 0.0
    for step in range(job["warmup_steps"] + job["steps"]):
        batch = batch_of(torch.arange(step * job["batch_size"], (step + 1) * job["batch_size"]) % examples)
        began = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["bfloat16"]):
            loss = step_of(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step >= job["warmup_steps"]:
            seconds += time.perf_counter() - began
    print(json.dumps(job["steps"] * job["batch_size"] * per_example / seconds))


def train_torch(job, folder):
    path = Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    output, _, peak = run([sys.executable, sys.argv[0], "--worker", path])
    return json.loads(output), peak


def race(options, unit, job, folder, train_headlight):
    """Prints the training speed of both sides in examples per second. `unit` is the name of the examples.
    `train_headlight` trains a model into a folder. It returns the training speed and the peak memory."""
    job = {**job, "threads": options.threads, "batch_size": options.batch_size, "warmup_steps": options.warmup_steps,
           "steps": options.steps}
    peers = {}
    for compute in ["float32"] if options.compute == "float32" else ["float32", "bfloat16"]:
        ways = {way: {**job, "bfloat16": compute == "bfloat16", "compile": way == "compiled"} for way in options.ways}
        trials = {way: train_torch(ways[way], folder)[0] for way in ways}
        best = max(trials, key=trials.get)
        print(f"PyTorch {torch.__version__} {compute}: " +
              ", ".join(f"{rate:.0f} {unit}/s {way}" for way, rate in trials.items()) + f"; {best} runs the race",
              flush=True)
        peers[f"PyTorch {compute}"] = ways[best]

    ours = f"headlight {options.compute}"
    rates, peaks = {ours: []} | {peer: [] for peer in peers}, {}
    for repeat in range(options.repeats):
        rate, peak, *_ = train_headlight(folder / f"repeat{repeat}")
        rates[ours].append(rate)
        peaks[ours] = max(peak, peaks.get(ours, 0))
        for peer, way in peers.items():
            rate, peak = train_torch(way, folder)
            rates[peer].append(rate)
            peaks[peer] = max(peak, peaks.get(peer, 0))

    print(f"\n{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians\n")
    print(f"{'':18} {unit + '/s':>10} {'(min to max)':>16} {'peak memory':>12}")
    for name, measured in rates.items():
        spread = f"({min(measured):.0f} to {max(measured):.0f})"
        print(f"{name:18} {statistics.median(measured):10.1f} {spread:>16} {peaks[name]:9.0f} MB")
    for peer in peers:
        ratio = statistics.median(rates[ours]) / statistics.median(rates[peer])
        print(f"{'over ' + peer:18} {ratio:10.2f} {'':16} {peaks[ours] / peaks[peer]:12.2f}")
        medians = {name: statistics.median(measured) for name, measured in rates.items()}
        for what, its_unit, values in (("train", f"{unit}/s", medians), ("peak memory of that training", "MB", peaks)):
            record(options, f"PyTorch {torch.__version__}", what, f"{options.compute}, peer {peer.split()[-1]}",
                   its_unit, values[ours], values[peer])
