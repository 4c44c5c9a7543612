"""Trains the same GPT-2 from random weights in headlight and in PyTorch, in alternating runs, and prints the loss and
the speed of each.

Both use the ids of headlight's tokenizer, and the same number of steps and tokens. Both form batches of sentences of
similar length, in random order. Both use Adam with the same learning rates, and initial weights from the same
distribution. The bits per byte of validation text are compared. PyTorch also computes this score for the weights that
headlight trained. It must equal the score that headlight reports.
"""

import argparse
import gzip
import json
import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", help="a text per line, gzip")
    parser.add_argument("--valid", help="the same")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3, help="turns, each with another seed")
    parser.add_argument("--warmup-steps", type=int, default=50, help="until the learning rate's peak")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--model", type=int, default=320)
    parser.add_argument("--heads", type=int, default=5)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--positions", type=int, default=256)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32")
    parser.add_argument("--worker", help=argparse.SUPPRESS)  # the worker runs PyTorch once, in a separate process
    return parser.parse_args()


def batches_of(texts, batch_tokens, shuffle):
    """Returns the batches of an epoch. The texts are shuffled and sorted by length within pools of a hundred batches.
    The pools are divided into batches, and the batches are shuffled."""
    order = list(range(len(texts)))
    shuffle.shuffle(order)
    pools, size = [[]], 0
    for text in order:
        pools[-1].append(texts[text])
        size += len(texts[text])
        if size > 100 * batch_tokens:
            pools.append([])
            size = 0
    batches = []
    for pool in pools:
        batch, size = [], 0
        for text in sorted(pool, key=len):
            if batch and size + len(text) > batch_tokens:
                batches.append(batch)
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            batches.append(batch)
    shuffle.shuffle(batches)
    return batches


def loss_of(model, batch, end):
    """Returns the sum of -log p of each text's tokens and its end token."""
    import torch

    inputs = [[end] + text[:-1] for text in batch]  # each text already ends with the end token
    width = max(map(len, inputs))
    ids = torch.tensor([text + [end] * (width - len(text)) for text in inputs])
    labels = torch.tensor([text + [-1] * (width - len(text)) for text in batch]).flatten()
    # With padding on the right, the causal mask is sufficient.
    hidden = model.transformer(input_ids=ids, use_cache=False)[0].flatten(0, 1)
    real = labels >= 0
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[real]), labels[real], reduction="sum")


def bits_per_byte(model, texts, size, end):
    import torch

    model.eval()
    with torch.no_grad():
        total = sum(loss_of(model, texts[begin:begin + 64], end).item() for begin in range(0, len(texts), 64))
    return total / math.log(2) / size


def worker(job):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(job["threads"])
    torch.manual_seed(job["seed"])
    shuffle = random.Random(job["seed"])
    with open(job["ids"]) as file:
        texts = json.load(file)
    end, steps, warmup, peak = job["end"], job["steps"], job["warmup"], 1e-3
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=job["vocabulary"], n_positions=job["positions"], n_embd=job["model"], n_layer=job["layers"],
        n_head=job["heads"], bos_token_id=end, eos_token_id=end, attn_implementation="sdpa"))
    optimizer = torch.optim.Adam(model.parameters(), lr=peak, betas=(0.9, 0.98), eps=1e-9, fused=True)
    model.train()
    tokens, step, began = 0, 0, time.perf_counter()
    while step < steps:
        for batch in batches_of(texts["train"], job["batch_tokens"], shuffle):
            step += 1
            count = sum(map(len, batch))
            for group in optimizer.param_groups:
                group["lr"] = peak * (step / warmup if step < warmup else
                                      (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2)
            (loss_of(model, batch, end) / count).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            tokens += count
            if step == steps:
                break
    seconds = time.perf_counter() - began
    print(json.dumps({"tokens_per_second": tokens / seconds, "parameters": model.num_parameters(),
                      "bits_per_byte": bits_per_byte(model, texts["valid"], job["bytes"], end)}))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    if not options.train or not options.valid:
        sys.exit("pytorch_language_model: --train FILE and --valid FILE are needed")
    import torch
    from tokenizers import Tokenizer
    from transformers import GPT2LMHeadModel

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run([HEADLIGHT, "train", "tokenizer", "--byte-level", "--vocabulary-size", options.vocabulary, "--out",
             work / "tokenizer", "--quiet", options.train])
        tokenizer = Tokenizer.from_file(str(work / "tokenizer" / "tokenizer.json"))
        end, texts, size = tokenizer.token_to_id("<|endoftext|>"), {}, 0
        for name, path in (("train", options.train), ("valid", options.valid)):
            with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
                lines = [line.rstrip("\n") for line in file]
            # The size in bytes with line ends. After the loop, it is the size of the validation text.
            size = sum(len(line.encode()) + 1 for line in lines)
            texts[name] = [encoding.ids + [end] for encoding in tokenizer.encode_batch(lines)]
        (work / "ids.json").write_text(json.dumps(texts))

        print(f"GPT-2 of {options.layers} layers, model {options.model}, vocabulary {options.vocabulary}; "
              f"{options.epochs} epochs; {options.threads} threads; PyTorch {torch.__version__}\n")
        print(f"{'seed':>6} {'':18} {'tokens/s':>9} {'bits/byte':>10} {'memory, MB':>11}")
        rates, bits, checked = {"headlight": [], "PyTorch": []}, {"headlight": [], "PyTorch": []}, []
        for seed in range(1, options.repeats + 1):
            model = work / f"model{seed}"
            _, _, peak = run([
                HEADLIGHT, "train", "language-model", "--train", options.train, "--valid", options.valid, "--tokenizer",
                work / "tokenizer", "--out", model, "--layers", options.layers, "--model-dim", options.model, "--heads",
                options.heads, "--positions", options.positions, "--batch-tokens", options.batch_tokens, "--epochs",
                options.epochs, "--warmup", options.warmup_steps, "--validate-every", 1000000, "--log-every", 1,
                "--seed", seed, "--compute",
                options.compute, "--threads", options.threads, "--quiet"])
            with open(model / "metrics.jsonl") as file:
                records = list(map(json.loads, file))
            steps = [record for record in records if "target_tokens" in record]
            ours = {"tokens_per_second": steps[-1]["target_tokens"] / steps[-1]["seconds"],
                    "bits_per_byte": records[-1]["bits_per_byte"]}
            checked.append(bits_per_byte(GPT2LMHeadModel.from_pretrained(model), texts["valid"], size, end))
            job = {"ids": str(work / "ids.json"), "seed": seed, "steps": steps[-1]["step"], "end": end, "bytes": size,
                   "warmup": options.warmup_steps,
                   "threads": options.threads, "vocabulary": tokenizer.get_vocab_size(),
                   "positions": options.positions, "model": options.model, "layers": options.layers,
                   "heads": options.heads, "batch_tokens": options.batch_tokens}
            output, _, peers_peak = run([sys.executable, __file__, "--worker", json.dumps(job)])
            theirs = json.loads(output)
            for name, result, memory in (("headlight", ours, peak), ("PyTorch", theirs, peers_peak)):
                rates[name].append(result["tokens_per_second"])
                bits[name].append(result["bits_per_byte"])
                compute = options.compute if name == "headlight" else "float32"
                print(f"{seed:6} {name + ' ' + compute:18} {result['tokens_per_second']:9.0f} "
                      f"{result['bits_per_byte']:10.4f} {memory:11.0f}", flush=True)
            if abs(checked[-1] - ours["bits_per_byte"]) > 1e-3:
                sys.exit(f"pytorch_language_model: headlight's weights have {checked[-1]:.4f} bits per byte in PyTorch")
    ratio = statistics.median(rates["headlight"]) / statistics.median(rates["PyTorch"])
    less = statistics.mean(bits["PyTorch"]) - statistics.mean(bits["headlight"])
    print(f"\n{theirs['parameters'] / 1e6:.1f} M parameters, {job['steps']} steps. Tokens/s over PyTorch's: "
          f"{ratio:.2f}. Bits a byte below PyTorch's: {less:+.4f}, the mean of {options.repeats}.")
    record(options, f"PyTorch {torch.__version__}", f"train a GPT-2, {options.layers} layers of {options.model}",
           f"{options.compute}, peer float32", "tokens/s", statistics.median(rates["headlight"]),
           statistics.median(rates["PyTorch"]))


if __name__ == "__main__":
    main()
