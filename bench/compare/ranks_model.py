"""Predicts the efficiency of a training on many ranks with a model of its step, and prints a table.

A step computes `tokens` target tokens in micro-batches of 2,560 tokens. Each rank has at most ceil(parts / ranks)
micro-batches. A micro-batch takes 6 * parameters * 2560 / flops seconds, two thirds of it in the backward pass. Each
rank sends and receives the gradient, with `bytes` bytes per number, twice, without its own share. This takes
2 * bytes * parameters * (ranks - 1) / ranks / bandwidth seconds. It is hidden behind the backward pass of the last micro-batch,
except for the parameters whose gradient is complete only at its end (--late). Each message costs `overhead` seconds of
an additional processor, or of waiting. Messages of a piece are exchanged with all ranks. Three times per step, all
ranks exchange a short message with all others, which takes `latency`, and an overhead for each of them. The update of
the weights reads and writes 28 bytes per parameter.

  step = ceil(parts / ranks) * part + max(0, sending - (1 - late) * back) + 3 * (latency + (ranks - 1) * overhead) + update
  efficiency = step of one rank / (ranks * step)
"""

import argparse
import math

# The number of tokens in a micro-batch (train/objectives/token_task.cc), and the number of elements in a block
# (kernels/adam.h).
PART, BLOCK = 2560, 16384
RANKS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]


def pieces(parameters, ranks):
    """Returns the number of pieces that PiecesOf (train/rank_sum.cc) gives."""
    blocks = math.ceil(parameters / BLOCK)
    return math.ceil(blocks / min(64, max(1, blocks // (8 * ranks))))


def step(options, parameters, ranks):
    """Returns the seconds of a step, and the seconds of its communication that are not hidden."""
    parts = math.ceil(options.tokens / PART)
    part = 6 * parameters * PART / options.flops
    sending = 0.0
    if ranks > 1:
        sending = 2 * options.bytes * parameters * (ranks - 1) / ranks / options.bandwidth + options.latency
        # The messages of a rank for the pieces that it owns, and for the pieces of other owners.
        sending += 4 * pieces(parameters, ranks) / ranks * (ranks - 1) * options.overhead
    exposed = max(0.0, sending - (1 - options.late) * part * 2 / 3)
    short = 3 * (options.latency + (ranks - 1) * options.overhead) if ranks > 1 else 0.0
    update = 28 * parameters / options.memory / (ranks if options.shard_optimizer else 1)
    return math.ceil(parts / ranks) * part + exposed + short + update, exposed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=float, nargs="+", default=[15e6, 100e6, 1e9])
    parser.add_argument("--tokens", type=float, default=1e6, help="target tokens of a step")
    parser.add_argument("--flops", type=float, default=1e12, help="of a rank, as it trains")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes/s in each direction of a rank")
    parser.add_argument("--latency", type=float, default=50e-6, help="seconds of a short message")
    parser.add_argument("--overhead", type=float, default=2e-6, help="seconds of a processor for a message")
    parser.add_argument("--memory", type=float, default=40e9, help="bytes/s that a rank reads and writes")
    parser.add_argument("--bytes", type=int, default=4, help="of a number that is sent; 2 with --gradient-type bfloat16")
    parser.add_argument("--late", type=float, default=0.1, help="share of the parameters whose gradients are known only at the end of the backward pass")
    parser.add_argument("--shard-optimizer", action="store_true")
    options = parser.parse_args()
    print(f"{'ranks':>6}" + "".join(f"{f'{p / 1e6:.0f} M':>10}{'exposed':>10}" for p in options.parameters))
    one = {p: step(options, p, 1)[0] for p in options.parameters}
    for ranks in RANKS:
        row = f"{ranks:6}"
        for parameters in options.parameters:
            seconds, exposed = step(options, parameters, ranks)
            row += f"{one[parameters] / ranks / seconds:10.0%}{exposed / seconds:10.0%}"
        print(row)


if __name__ == "__main__":
    main()
