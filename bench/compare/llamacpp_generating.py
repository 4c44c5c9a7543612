"""Continues random prompts with random GPT-2 weights in headlight and in llama.cpp, in alternating runs, and prints the
speeds.

Both use the weights of the same GPT-2 folder. They are also written as a GGUF file, which llama.cpp quantizes by its
own rules. Both get the same ids, and continue them greedily. In float32, the tokens must agree. llama.cpp runs with and
without flash attention, and the faster setting is used. llama.cpp's cache is float16, which is the default.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("llama.cpp")  # must precede the import of a peer

from results import record

HEADLIGHT = "build/release/headlight"
PEERS = {"float32": ["f32"], "int8": ["q8_0"], "int4": ["q4_0", "q4_0_pure"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--model", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--prompt-length", type=int, default=128)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--compute", nargs="+", default=["float32", "int8", "int4"], choices=list(PEERS))
    parser.add_argument("--draft", action="store_true", help="headlight drafts where it can: one text, in float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of one side's turn, at least one batch")
    parser.add_argument("--llamacpp", type=Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def make_models(options, work):
    """Creates a GPT-2 folder with random weights, and the same model as GGUF files."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    sys.path.insert(0, str(options.llamacpp / "vendor/llama.cpp/gguf-py"))
    from gguf import GGUFWriter

    torch.manual_seed(1)
    config = GPT2Config(n_layer=options.layers, n_embd=options.model, n_head=options.heads,
                        vocab_size=options.vocabulary, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # nonzero biases, so that an error would be visible
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.normal_(std=0.02)
    model.save_pretrained(work / "model")

    writer = GGUFWriter(work / "f32.gguf", "gpt2")
    writer.add_context_length(config.n_positions)
    writer.add_embedding_length(config.n_embd)
    writer.add_feed_forward_length(4 * config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_head_count(config.n_head)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    writer.add_file_type(0)
    names = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "ln_1": "attn_norm",
             "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
             "mlp.c_proj": "ffn_down"}
    for name, weight in model.transformer.state_dict().items():
        module, kind = name.rsplit(".", 1)
        layer = ""
        if module.startswith("h."):
            _, number, module = module.split(".", 2)
            layer = f"blk.{number}."
        transposed = kind == "weight" and module.count(".") == 1
        writer.add_tensor(f"{layer}{names[module]}.{kind}", (weight.T if transposed else weight).contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for kind in ("q8_0", "q4_0", "q4_0_pure"):
        run([options.llamacpp / "worker", "quantize", work / "f32.gguf", work / f"{kind}.gguf", kind])


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"llamacpp_generating: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr}")
    return finished.stdout


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_models(options, work)

        def ours(batch, compute, repetitions, tokens):
            output = run([HEADLIGHT, "bench", "generate", work / "model", "--batch-size", batch, "--compute", compute,
                          "--prompt-length", options.prompt_length, "--new-tokens", options.length, "--threads",
                          options.threads, "--repetitions", repetitions, "--output-tokens", tokens, "--json", "--quiet"]
                         + (["--draft"] if options.draft and compute == "float32" and batch == 1 else []))
            return json.loads(output)

        def theirs(batch, kind, flash, cache="f16", seconds=options.seconds):
            result = json.loads(run([options.llamacpp / "worker", "generate", work / f"{kind}.gguf", work / "prompts",
                                     batch, options.length, options.threads, seconds, flash, cache]))
            return (batch * options.prompt_length / statistics.median(result["read"]),
                    batch * options.length / statistics.median(result["continued"]), result["texts"])

        print(f"{options.layers} layers, model {options.model}, vocabulary {options.vocabulary}; {options.threads} "
              f"threads; prompts of {options.prompt_length}, then {options.length} words; medians of "
              f"{options.repeats} turns, tokens per second\n")
        print(f"{'':8}{'':>5} {'prompts':>8} {'llama.cpp':>20} {'ratio':>6} {'words':>9} {'llama.cpp':>20} "
              f"{'ratio':>6}  {'read':>5}  same words")
        for compute in options.compute:
            for batch in options.batches:
                tokens = work / "tokens.jsonl"
                first = ours(batch, compute, 2, tokens)
                lines = [json.loads(line) for line in tokens.read_text().splitlines()]
                (work / "prompts").write_text("".join(" ".join(map(str, line["prompt"])) + "\n" for line in lines))
                seconds = (first["prompt_latency_ms"] + options.length * first["latency_ms"]["p50"]) / 1000
                repetitions = max(1, min(200, round(options.seconds / seconds)))

                written = theirs(batch, PEERS[compute][0], 0, "f32", 0)[2]
                same = statistics.mean(mine["text"] == other for mine, other in zip(lines, written))

                ways = [(kind, flash) for kind in PEERS[compute] for flash in (0, 1)]
                mine, others = [], {way: [] for way in ways}
                for _ in range(options.repeats):
                    mine.append(ours(batch, compute, repetitions, work / "more.jsonl"))
                    for way in ways:
                        others[way].append(theirs(batch, *way))

                row = f"{compute:8}{batch:5}"
                for part, key in enumerate(["prompt_tokens_per_second", "target_tokens_per_second"]):
                    speed = statistics.median(turn[key] for turn in mine)
                    best = max(ways, key=lambda way: statistics.median(turn[part] for turn in others[way]))
                    other = statistics.median(turn[part] for turn in others[best])
                    way = best[0] + (" flash" if best[1] else "")
                    row += f" {speed:8.1f} {way:>12} {other:7.1f} {speed / other:6.2f}"
                    work_of = (f"read prompts of {options.prompt_length} tokens" if part == 0
                               else f"generate {options.length} tokens after each prompt")
                    record(options, "llama.cpp", f"{work_of}, {options.layers} layers of {options.model}",
                           f"{batch} at once, {compute}, peer {way}", "tokens/s", speed, other)
                share = statistics.median(turn["weights_read_share"] for turn in mine)
                print(f"{row}  {share:5.0%}  {same:.0%}", flush=True)
                if compute == "float32" and same < 0.9:
                    sys.exit("llamacpp_generating: the two do not compute the same thing")


if __name__ == "__main__":
    main()
