"""Runs GGUF files in headlight and in llama.cpp, in alternating runs, and prints the speeds.

Both read random prompts of one length and generate the same number of tokens for each. llama.cpp runs its
llama-batched-bench with and without flash attention, and the faster setting counts.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("llama.cpp")

from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="+", help="GGUF files")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--prompt-length", type=int, default=512)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"llamacpp_gguf: exit code {finished.returncode} of {' '.join(map(str, command))}\n{finished.stderr}")
    return finished.stdout


def main():
    options = arguments()

    def ours(model, batch):
        result = json.loads(run([HEADLIGHT, "bench", "generate", model, "--batch-size", batch, "--prompt-length",
                                 options.prompt_length, "--new-tokens", options.length, "--threads", options.threads,
                                 "--repetitions", 3, "--json", "--quiet"]))
        return (result["prompt_tokens_per_second"], result["target_tokens_per_second"], result["read_share"],
                result["peak_memory_bytes"] / model.stat().st_size)

    def theirs(model, batch, flash):
        context = batch * (options.prompt_length + options.length)
        lines = run([Path(os.environ["LLAMACPP_TOOLS"]) / "llama-batched-bench", "-m", model, "-t", options.threads, "-npp",
                     options.prompt_length, "-ntg", options.length, "-npl", batch, "-c", context, "-fa", flash,
                     "--output-format", "jsonl"]).splitlines()
        result = next(json.loads(line) for line in lines if line.startswith("{"))
        return result["speed_pp"], result["speed_tg"]

    print(f"{options.threads} threads; prompts of {options.prompt_length} tokens, then {options.length} tokens each; "
          f"medians of {options.repeats} runs, tokens per second\n")
    print(f"{'model':28} {'batch':>5} {'prompts':>9} {'llama.cpp':>9} {'ratio':>6} {'tokens':>9} {'llama.cpp':>9} "
          f"{'ratio':>6} {'reads':>6} {'peak/file':>9}")
    for model in options.models:
        for batch in options.batches:
            mine, others = [], {"off": [], "on": []}
            for _ in range(options.repeats):
                mine.append(ours(model, batch))
                for flash in others:
                    others[flash].append(theirs(model, batch, flash))
            row = f"{model.name:28} {batch:5}"
            for part, task in enumerate((f"read prompts of {options.prompt_length} tokens",
                                         f"generate {options.length} tokens after each prompt")):
                speed = statistics.median(one[part] for one in mine)
                peer = max(statistics.median(one[part] for one in runs) for runs in others.values())
                row += f" {speed:9.1f} {peer:9.1f} {speed / peer:6.2f}"
                record(options, "llama.cpp", f"{task}, {model.stem}", f"{batch} at once", "tokens/s", speed, peer)
            share, memory = (statistics.median(one[part] for one in mine) for part in (2, 3))
            print(f"{row} {share:6.0%} {memory:9.2f}", flush=True)


if __name__ == "__main__":
    main()
