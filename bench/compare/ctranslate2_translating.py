"""Translates random sentences with random weights in headlight and in CTranslate2, in alternating runs, and prints the
speeds.

Both use the weights of the same MarianMT, T5 or BART folder. Both get the same ids, and generate translations of the
same fixed length. In float32, the tokens must agree. CTranslate2 runs as one worker with all threads, or as one worker
per thread. For one sentence at a time, one worker with one thread is also tried. The fastest setting is used.
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

limit_peers("CTranslate2")  # must precede the import of a peer

from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="marian", choices=["marian", "t5", "bart"])
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--ffn", type=int, default=2048)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32, 128])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--compute", nargs="+", default=["float32", "int8"], choices=["float32", "bfloat16", "int8"],
                        help="of headlight; CTranslate2 runs int8 beside int8 and float32 beside the others")
    parser.add_argument("--draft", action="store_true", help="headlight drafts where it can: one sentence, one beam")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of one side's turn, at least one batch")
    # The worker runs CTranslate2 once, in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def marian(options):
    """Returns a model with random weights, its CTranslate2 version, its vocabulary, and its end-of-text token."""
    import torch
    from ctranslate2.converters.transformers import MarianMTLoader
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=options.vocabulary, decoder_vocab_size=options.vocabulary, d_model=options.model,
        encoder_layers=options.layers, decoder_layers=options.layers, encoder_attention_heads=options.heads,
        decoder_attention_heads=options.heads, encoder_ffn_dim=options.ffn, decoder_ffn_dim=options.ffn,
        activation_function="relu", max_position_embeddings=512, scale_embedding=True, init_std=options.model**-0.5,
        eos_token_id=0, forced_eos_token_id=0, bos_token_id=None, pad_token_id=options.vocabulary - 1,
        decoder_start_token_id=options.vocabulary - 1)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        model.model.shared.weight[config.pad_token_id] = 0  # CTranslate2 starts decoding from zeros
    spec = MarianMTLoader().get_model_spec(model)
    spec.config.decoder_start_token = "w0"
    return model, spec, options.vocabulary - 1, 0


def t5(options):
    import torch
    from ctranslate2.converters.transformers import T5Loader
    from transformers import T5Config, T5ForConditionalGeneration

    model = T5ForConditionalGeneration(T5Config(
        vocab_size=options.vocabulary, d_model=options.model, d_kv=options.model // options.heads, d_ff=options.ffn,
        num_layers=options.layers, num_heads=options.heads, tie_word_embeddings=False, decoder_start_token_id=0)).eval()
    with torch.no_grad():
        model.lm_head.weight *= options.model**-0.5
        model.lm_head.weight[0] = 0  # the padding token, which headlight never generates
    spec = T5Loader().get_model_spec(model)
    spec.config.decoder_start_token = "w0"
    return model, spec, options.vocabulary, 1


def bart(options):
    from ctranslate2.converters.transformers import BartLoader
    from transformers import BartConfig, BartForConditionalGeneration

    model = BartForConditionalGeneration(BartConfig(
        vocab_size=options.vocabulary, d_model=options.model, encoder_layers=options.layers,
        decoder_layers=options.layers, encoder_attention_heads=options.heads, decoder_attention_heads=options.heads,
        encoder_ffn_dim=options.ffn, decoder_ffn_dim=options.ffn, max_position_embeddings=512,
        init_std=options.model**-0.5, forced_eos_token_id=None)).eval()
    model.config.normalize_before, model.config.normalize_embedding = False, True  # required by CTranslate2
    spec = BartLoader().get_model_spec(model)
    del model.config.normalize_before, model.config.normalize_embedding
    spec.config.decoder_start_token = "w2"
    return model, spec, options.vocabulary, 2


def make_models(options, work):
    """Creates a folder with random weights, and the same model for CTranslate2, whose tokens are named by their ids."""
    import torch

    torch.manual_seed(1)
    model, spec, words, eos = {"marian": marian, "t5": t5, "bart": bart}[options.family](options)
    model.save_pretrained(work / "model")
    names = [f"w{index}" for index in range(words)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.eos_token = f"w{eos}"
    spec.config.unk_token = "w3"
    spec.validate()
    spec.optimize(quantization=None)
    (work / "ctranslate2").mkdir()
    spec.save(str(work / "ctranslate2"))


def worker(job):
    """Translates batches of the given sentences repeatedly until the time is up."""
    import ctranslate2

    translator = ctranslate2.Translator(
        job["model"], device="cpu", compute_type=job["compute"], inter_threads=job["workers"],
        intra_threads=job["threads"])
    with open(job["tokens"]) as file:
        sentences = [[f"w{word}" for word in json.loads(line)["source"]] for line in file]
    batches = [sentences[begin:begin + job["batch"]] for begin in range(0, len(sentences), job["batch"])]

    def translate(batch):
        part = -(-len(batch) // job["workers"])  # number of sentences per worker
        results = translator.translate_batch(
            batch, beam_size=job["beam"], max_decoding_length=job["length"], min_decoding_length=job["length"],
            max_batch_size=part)
        return [[int(word[1:]) for word in result.hypotheses[0]] for result in results]

    written = [translate(batch) for batch in batches]
    tokens, began = 0, time.perf_counter()
    while tokens == 0 or time.perf_counter() - began < job["seconds"]:
        for batch in batches:
            tokens += sum(map(len, translate(batch)))
    seconds = time.perf_counter() - began
    print(json.dumps({"tokens_per_second": tokens / seconds, "targets": sum(written, [])}))


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"ctranslate2_translating: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr}")
    return finished.stdout


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    length = 25
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_models(options, work)

        def ours(batch, beam, compute, repetitions, tokens):
            output = run([HEADLIGHT, "bench", "translate", work / "model", "--batch-size", batch, "--beam-size", beam,
                          "--compute", compute, "--source-length", "10:30", "--target-length", length, "--threads",
                          options.threads, "--repetitions", repetitions, "--output-tokens", tokens, "--json", "--quiet"]
                         + (["--draft"] if options.draft and compute != "int8" and batch == beam == 1 else []))
            return json.loads(output)

        def theirs(batch, beam, compute, layout, tokens):
            workers, threads = layout
            job = {"model": str(work / "ctranslate2"), "compute": compute, "workers": workers, "batch": batch,
                   "threads": threads, "beam": beam, "length": length, "tokens": str(tokens),
                   "seconds": options.seconds}
            return json.loads(run([sys.executable, __file__, "--worker", json.dumps(job)]))

        import ctranslate2
        print(f"{options.family}: {options.layers} + {options.layers} layers, model {options.model}, ffn "
              f"{options.ffn}, vocabulary {options.vocabulary}; {options.threads} threads; "
              f"CTranslate2 {ctranslate2.__version__}; medians of {options.repeats} turns\n")
        print(f"{'batch':>5} {'beam':>4} {'headlight':>18} {'CTranslate2':>28} {'ratio':>6}  same tokens")
        for compute in options.compute:
            peer = "int8" if compute == "int8" else "float32"
            for batch in options.batches:
                for beam in options.beams:
                    tokens = work / "tokens.jsonl"
                    first = ours(batch, beam, compute, 2, tokens)
                    per_batch = first["latency_ms"]["p50"] / 1000
                    repetitions = max(1, min(200, round(options.seconds / per_batch)))
                    ours(batch, beam, compute, min(repetitions, 16), tokens)
                    with open(tokens) as file:
                        written = [json.loads(line)["target"] for line in file]
                    first_turns = {layout: theirs(batch, beam, peer, layout, tokens)
                                   for layout in [(1, options.threads), (1, 1) if batch == 1 else (options.threads, 1)]}
                    layout = max(first_turns, key=lambda key: first_turns[key]["tokens_per_second"])
                    pairs = list(zip(written, first_turns[layout]["targets"]))
                    same = sum(mine == other for mine, other in pairs) / len(pairs)
                    mine, others = [], []
                    for _ in range(options.repeats):
                        mine.append(ours(batch, beam, compute, repetitions, work / "more.jsonl")
                                    ["target_tokens_per_second"])
                        others.append(theirs(batch, beam, peer, layout, tokens)["tokens_per_second"])
                    a, b = statistics.median(mine), statistics.median(others)
                    print(f"{batch:5} {beam:4} {compute:>9} {a:8.0f} {peer:>9} {b:8.0f} ({layout[0]} x "
                          f"{layout[1]}) {a / b:6.2f}  {same:.0%}", flush=True)
                    record(options, f"CTranslate2 {ctranslate2.__version__}",
                           f"translate 10 to 30 tokens to {length} with a {options.family} of {options.layers} + "
                           f"{options.layers} layers of {options.model}, vocabulary {options.vocabulary}",
                           f"batch {batch}, beam {beam}, {compute}, peer {peer}", "target tokens/s", a, b)
                    if compute == "float32" and same < 0.99:
                        sys.exit("ctranslate2_translating: the two do not compute the same thing")


if __name__ == "__main__":
    main()
