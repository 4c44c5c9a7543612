"""Translates a text with a model that headlight trained, in headlight and in CTranslate2, in alternating runs.

For headlight, the whole process is timed: loading, tokenizing, translating and writing. For CTranslate2, the time
starts after Python has loaded its modules and the model. It includes tokenizing with Hugging Face's tokenizers,
translating and detokenizing. The fastest of several batch sizes is used, with one worker for all threads or one worker
per thread. Then the time of a process that translates one sentence is measured for both.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("CTranslate2")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a folder that headlight trained")
    parser.add_argument("--source", help="a text, a sentence per line")
    parser.add_argument("--beams", type=int, nargs="+", default=[4, 5])
    parser.add_argument("--compute", nargs="+", default=["float32", "int8"], choices=["float32", "int8"])
    parser.add_argument("--length-penalty", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    # The worker runs CTranslate2 once, in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.worker and not (options.model and options.source):
        parser.error("--model and --source are needed")
    return options


def convert(folder, to):
    """Converts the model for CTranslate2, with the embedding of its start token. CTranslate2's own converter for
    MarianMT would use zeros."""
    from ctranslate2.converters.transformers import MarianMTLoader
    from transformers import MarianMTModel

    class Loader(MarianMTLoader):
        def set_decoder(self, spec, decoder):
            super().set_decoder(spec, decoder)
            spec.start_from_zero_embedding = False

        def _remove_pad_weights(self, spec):
            pass

    model = MarianMTModel.from_pretrained(folder).eval()
    model.final_logits_bias[0, model.config.pad_token_id] = -1e9  # the padding token is never generated
    spec = Loader().get_model_spec(model)
    vocabulary = json.loads((folder / "vocab.json").read_text())
    words = sorted(vocabulary, key=vocabulary.get)
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.eos_token = words[model.config.eos_token_id]
    spec.config.decoder_start_token = words[model.config.decoder_start_token_id]
    spec.config.unk_token = "<unk>"
    spec.validate()
    spec.optimize(quantization=None)
    to.mkdir()
    spec.save(str(to))


def worker(job):
    import ctranslate2
    from tokenizers import Tokenizer

    translator = ctranslate2.Translator(
        job["model"], device="cpu", compute_type=job["compute"], inter_threads=job["workers"],
        intra_threads=job["threads"] // job["workers"])
    tokenizer = Tokenizer.from_file(job["tokenizer"])
    with open(job["source"], encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    began = time.perf_counter()
    sources = [encoding.tokens for encoding in tokenizer.encode_batch(lines)]
    results = translator.translate_batch(sources, beam_size=job["beam"], length_penalty=job["length_penalty"],
                                         max_batch_size=job["batch"], max_decoding_length=128)
    ids = [[tokenizer.token_to_id(token) for token in result.hypotheses[0]] for result in results]
    texts = tokenizer.decode_batch(ids)
    print(json.dumps({"seconds": time.perf_counter() - began, "texts": texts}))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    folder = Path(options.model)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        convert(folder, work / "ctranslate2")
        one = work / "one.txt"
        with open(options.source, encoding="utf-8") as file:
            one.write_text(file.readline(), encoding="utf-8")

        def ours(source, beam, model, compute):
            return run([HEADLIGHT, "translate", model, source, "--beam-size", beam, "--length-penalty",
                        options.length_penalty, "--threads", options.threads, "--compute", compute, "--quiet"])

        def theirs(source, beam, compute, batch, workers):
            job = {"model": str(work / "ctranslate2"), "tokenizer": str(folder / "tokenizer.json"), "compute": compute,
                   "source": str(source), "beam": beam, "batch": batch, "workers": workers,
                   "threads": options.threads, "length_penalty": options.length_penalty}
            output, seconds, memory = run([sys.executable, __file__, "--worker", json.dumps(job)])
            return json.loads(output), seconds, memory

        print(f"{options.source}, {options.threads} threads, medians of {options.repeats} turns\n")
        print(f"{'beam':>4} {'':8} {'headlight':>12} {'CTranslate2':>24} {'ratio':>6}  same lines")
        for compute in options.compute:
            for beam in options.beams:
                layouts = [(batch, workers) for batch in (32, 64, 128, 1024) for workers in (1, options.threads)]
                best = min(layouts, key=lambda layout: theirs(options.source, beam, compute, *layout)[0]["seconds"])
                mine, others = [], []
                for _ in range(options.repeats):
                    text, seconds, _ = ours(options.source, beam, folder, compute)
                    mine.append(seconds)
                    result, _, _ = theirs(options.source, beam, compute, *best)
                    others.append(result["seconds"])
                pairs = list(zip(text.splitlines(), result["texts"], strict=True))
                same = sum(one == other for one, other in pairs) / len(pairs)
                a, b = statistics.median(mine), statistics.median(others)
                print(f"{beam:4} {compute:8} {a:10.2f} s {b:10.2f} s ({best[1]} x {options.threads // best[1]}, "
                      f"{best[0]:4}) {b / a:6.2f}  {same:.0%}", flush=True)
                record(options, "CTranslate2", f"translate {Path(options.source).name}", f"beam {beam}, {compute}", "s", a,
                       b)
                if compute == "float32" and same < 0.9:
                    sys.exit("ctranslate2_text: the two do not compute the same thing")

        small = work / "int8"
        run([HEADLIGHT, "convert", folder, "--out", small, "--compute", "int8"])
        starts, their_starts = [], []
        for _ in range(options.repeats):
            starts.append(ours(one, 4, small, "int8")[1:])
            their_starts.append(theirs(one, 4, "int8", 32, 1)[1:])
        for what, unit, index in (("one sentence, whole process, int8", "s", 0), ("its memory", "MB", 1)):
            a, b = (statistics.median(start[index] for start in side) for side in (starts, their_starts))
            print(f"{what:36} {a:8.3f} {unit:2} {b:8.3f} {unit:2} {b / a:6.2f}")
            record(options, "CTranslate2 in Python", what, "beam 4", unit, a, b)


if __name__ == "__main__":
    main()
