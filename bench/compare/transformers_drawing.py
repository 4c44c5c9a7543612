"""Generates image codes with a DALL-E of random weights in headlight, and the same number of tokens with a GPT-2 of the
same size in Transformers with its cache, in alternating runs. Prints the speeds.

headlight's decoder has the paper's row, column and convolutional attention. Its gated feed-forward networks have 1.5
times as many weights as GPT-2's. Its time is the time for all rows of codes except the first, minus the time for the
last row. This excludes loading the model and decoding the image.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("Transformers")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"
LAYERS, MODEL, HEADS, TEXT, SIDE = 12, 768, 12, 64, 32  # SIDE is the side of the grid of codes


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 8], help="images drawn at once")
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    # The worker runs Transformers in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(work):
    """Creates a DALL-E with one training step."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(1)
    lines = ""
    for number in range(4):
        Image.fromarray(random.integers(0, 256, (8 * SIDE, 8 * SIDE, 3), dtype=numpy.uint8)).save(work / f"{number}.png")
        lines += f"{number}.png\ta image with the number {number}\n"
    pairs = work / "pairs.tsv"
    pairs.write_text(lines)
    for command in (
            ["image-codes", "--image-size", 8 * SIDE, "--codes", 8192, "--out", work / "vae", "--batch-size", 2],
            ["tokenizer", pairs, "--vocabulary-size", 60, "--out", work / "words"],
            ["text-to-image", "--vae", work / "vae", "--tokenizer", work / "words", "--layers", LAYERS, "--model-dim", MODEL,
             "--heads", HEADS, "--text-positions", TEXT, "--out", work / "dalle", "--batch-size", 2]):
        data = [] if command[0] == "tokenizer" else ["--train", pairs, "--valid", pairs, "--steps", 1]
        run([HEADLIGHT, "train", *command, *data, "--quiet"])


def worker(job):
    """Measures the seconds that Transformers takes for the codes."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=8192, n_positions=TEXT + SIDE * SIDE + 1, n_embd=MODEL, n_layer=LAYERS,
                                       n_head=HEADS, eos_token_id=None, bos_token_id=None)).eval()
    ids = torch.randint(0, 8000, (job["count"], TEXT + SIDE))

    def write(tokens):
        with torch.inference_mode():
            model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=tokens, min_new_tokens=tokens,
                           use_cache=True, pad_token_id=0)

    write(4)
    began = time.perf_counter()
    write(SIDE * (SIDE - 2))
    print(json.dumps(time.perf_counter() - began))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import transformers

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        make(work)

        def ours(compute, count, rows):
            return run([HEADLIGHT, "draw", work / "dalle", "an image", "--image", work / "0.png", "--keep-rows", rows, "--n-best", count,
                        "--compute", compute, "--threads", options.threads, "--out", work / "drawn.png", "--quiet"])[1]

        codes = SIDE * (SIDE - 2)
        print(f"{options.threads} threads; Transformers {transformers.__version__}; medians of {options.repeats} turns; codes/s "
              "of all images\n")
        for count in options.counts:
            for compute in options.compute:
                mine, others = [], []
                for _ in range(options.repeats):
                    mine.append(ours(compute, count, 1) - ours(compute, count, SIDE - 1))
                    job = {"count": count, "threads": options.threads}
                    finished = subprocess.run([sys.executable, __file__, "--worker", json.dumps(job)],
                                              stdout=subprocess.PIPE, check=True)
                    others.append(json.loads(finished.stdout))
                a, b = statistics.median(mine), statistics.median(others)
                print(f"{count} at once: headlight {compute:9} {count * codes / a:8.1f}   Transformers float32 "
                      f"{count * codes / b:8.1f}   ratio {b / a:.2f}", flush=True)
                record(options, f"Transformers {transformers.__version__}", "generate image codes with a DALL-E",
                       f"{count} at once, {compute}, peer float32", "codes/s", count * codes / a, count * codes / b)


if __name__ == "__main__":
    main()
