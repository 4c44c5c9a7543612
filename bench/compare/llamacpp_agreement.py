"""Compares the next-token distributions of a quantized GGUF file in headlight and in llama.cpp.

The baseline of both is the same file with its weights converted to float32. Prints each program's mean Kullback-Leibler
divergence from its own baseline, and its perplexity, for the second half of each chunk of tokens. The tokenizer of the
file must add a token at the beginning of a text.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="quantized GGUF file")
    parser.add_argument("text", type=Path, help="text file in UTF-8")
    parser.add_argument("--chunk", type=int, default=512, help="tokens of a chunk")
    parser.add_argument("--chunks", type=int, default=20,
                        help="chunks to read; llama.cpp stores their probabilities, 2 bytes for each token of the "
                             "vocabulary at each scored position")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def run(*command, text=None):
    finished = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"llamacpp_agreement: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr}")
    return finished.stdout


def chunks_of(options):
    """Returns the beginning of the text, and the texts of its chunks, each with the text of its first half."""
    text = options.text.read_text(encoding="utf-8")
    line = json.dumps({"text": text}) + "\n"
    tokens = json.loads(run(HEADLIGHT, "tokenize", options.model, "--format", "jsonl", "--json", "--quiet", text=line))
    spans = tokens["character_spans"]
    wanted = options.chunk * options.chunks
    if options.chunks < 2:
        sys.exit("llamacpp_agreement: --chunks must be at least 2")
    if len(spans) < wanted:
        sys.exit(f"llamacpp_agreement: {options.text} has {len(spans)} tokens, and {wanted} are needed")
    chunks = []
    for first in range(0, wanted, options.chunk):
        begin, middle = spans[first + 1][0], spans[first + options.chunk // 2][1]
        end = spans[first + options.chunk - 1][1]
        chunks.append((text[begin:end], text[begin:middle]))
    return text[:end], chunks


def ours(options, chunks, baseline):
    """Scores the second half of each chunk, which is the whole less the first half."""
    def score(model, *more):
        lines = "".join(json.dumps({"text": text}) + "\n" for chunk in chunks for text in chunk)
        printed = run(HEADLIGHT, "score", model, "--format", "jsonl", "--json", "--quiet", "--threads", options.threads, *more,
                      text=lines)
        scores = [json.loads(line) for line in printed.splitlines()]

        def total(values):
            return sum(values[0::2]) - sum(values[1::2])

        tokens = total([score["tokens"] for score in scores])
        divergence = total([score["tokens"] * score.get("kl_divergence", 0) for score in scores]) / tokens
        return divergence, math.exp(-total([score["log_probability"] for score in scores]) / tokens)

    divergence, perplexity = score(options.model, "--baseline", baseline)
    return divergence, perplexity, score(baseline)[1]


def theirs(options, text, baseline, folder):
    file, probabilities = folder / "text", folder / "probabilities"
    file.write_text(text, encoding="utf-8")
    tool = [Path(os.environ["LLAMACPP_TOOLS"]) / "llama-perplexity", "-t", options.threads, "-c", options.chunk, "-f",
            file, "--kl-divergence-base", probabilities]
    run(*tool, "-m", baseline)
    printed = run(*tool, "-m", options.model, "--kl-divergence")
    return tuple(float(re.search(pattern + r"\s*:\s*([-0-9.]+)", printed)[1])
                 for pattern in ("Mean +KLD", r"Mean PPL\(Q\)", r"Mean PPL\(base\)"))


def main():
    options = arguments()
    text, chunks = chunks_of(options)
    with tempfile.TemporaryDirectory(dir=options.model.parent) as name:
        baseline = Path(name) / "float32.gguf"
        run(HEADLIGHT, "convert", options.model, "--out", baseline, "--type", "F32", "--quiet")
        print(f"{options.model.name}, {options.chunks} chunks of {options.chunk} tokens of {options.text.name}\n")
        print(f"{'program':10} {'KL divergence':>13} {'perplexity':>10} {'float32':>10} {'difference':>10}")
        for program, (divergence, perplexity, plain) in (("headlight", ours(options, chunks, baseline)),
                                                         ("llama.cpp", theirs(options, text, baseline, Path(name)))):
            print(f"{program:10} {divergence:13.6f} {perplexity:10.4f} {plain:10.4f} {perplexity / plain - 1:10.3%}",
                  flush=True)


if __name__ == "__main__":
    main()
