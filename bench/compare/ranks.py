"""Trains one configuration as one process of N threads and as N ranks of one thread, in alternating turns, checks that
both end with the same bits, and prints how fast each was.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import headlight_training


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    headlight_training.add_arguments(parser)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--more", nargs="*", default=[], help="further options of the ranks, without their dashes: shard-optimizer")
    return headlight_training.parsed(parser)


def train(options, folder, ranks):
    """Target tokens per second."""
    several = ranks > 1
    start = ["mpirun", "--quiet", "--bind-to", "none", "-n", ranks] if several else []
    more = [f"--{name}" for name in options.more if several]
    return headlight_training.train(options, folder, 1 if several else options.ranks, start,
                                    ["--accumulation", options.accumulation, *more])[0]


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
