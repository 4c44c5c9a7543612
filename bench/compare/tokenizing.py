"""Tokenizes a text in headlight and in Hugging Face's tokenizers library, in alternating runs.

The tokenizers are of the kinds of the published text families, with vocabularies that are trained on this text. For
headlight, the whole process is timed: loading, reading the text, tokenizing, and printing the ids. For the tokenizers
library, only the call that encodes a list of lines in one batch is timed, with or without offsets (the faster variant
is used). Before the measurement, the ids and the character offsets of all lines are compared.
"""

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("tokenizers")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", nargs="+", help="texts, plain or gzip")
    parser.add_argument("--tokenizer", nargs="*", default=[], help="folders with a tokenizer.json, to race as well")
    parser.add_argument("--vocabulary", type=int, default=30000, help="at most; of the tokenizers that are learned")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--times", type=int, default=1, help="how often the text is repeated for the race")
    # The worker runs the tokenizers library once, in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.worker and not options.text:
        parser.error("--text is needed")
    return options


def learned(lines, size):
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    bert = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bert.normalizer, bert.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    bert.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    bert.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    yield "bert", bert

    for name, specials in (("gpt2", ["<|endoftext|>"]), ("roberta", ["<s>", "<pad>", "</s>", "<unk>"])):
        bytes_ = Tokenizer(models.BPE())
        bytes_.pre_tokenizer, bytes_.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        bytes_.train_from_iterator(lines, trainers.BpeTrainer(
            vocab_size=size, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False))
        if name == "roberta":
            bytes_.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
            bytes_.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
        else:
            bytes_.post_processor = processors.ByteLevel(trim_offsets=False)
        yield name, bytes_

    gpt1 = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    gpt1.normalizer, gpt1.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    gpt1.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
    gpt1.decoder = decoders.BPEDecoder(suffix="</w>")
    yield "gpt1", gpt1

    t5 = Tokenizer(models.Unigram())
    t5.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t5.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t5.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    t5.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    t5.decoder = decoders.Metaspace()
    yield "t5", t5


def read(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n").removesuffix("\r") for line in file]


def worker(job):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(job["tokenizer"])
    lines = read(job["text"])
    began = time.perf_counter()
    getattr(tokenizer, job["call"])(lines)
    print(json.dumps({"seconds": time.perf_counter() - began}))


def compare(name, folder, text, lines):
    """Exits unless all ids and offsets are equal."""
    from tokenizers import Tokenizer

    ours, _, _ = run([HEADLIGHT, "tokenize", folder, text, "--json", "--quiet"])
    theirs = Tokenizer.from_file(str(folder / "tokenizer.json")).encode_batch(lines)
    tokens = 0
    for number, (row, encoding) in enumerate(zip(ours.splitlines(), theirs, strict=True), 1):
        got = json.loads(row)
        tokens += len(got["ids"])
        if got["ids"] != encoding.ids or [tuple(span) for span in got["character_spans"]] != encoding.offsets:
            sys.exit(f"tokenizing: {name}: line {number} differs: {lines[number - 1]!r}")
    return tokens


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import tokenizers

    lines = [line for path in options.text for line in read(path)]
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        text, race = work / "text", work / "race"
        text.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        race.write_text("".join(line + "\n" for line in lines) * options.times, encoding="utf-8")
        folders = [(Path(folder).name, Path(folder)) for folder in options.tokenizer]
        for name, tokenizer in learned(lines, options.vocabulary):
            (work / name).mkdir()
            tokenizer.save(str(work / name / "tokenizer.json"))
            folders.append((name, work / name))
        print(f"{len(lines)} lines, raced {options.times} times over, medians of {options.repeats} turns; "
              f"tokenizers {tokenizers.__version__}\n")
        print(f"{'':10} {'tokens':>10} {'threads':>7} {'headlight':>11} {'tokenizers':>11} {'ratio':>6}")
        for name, folder in folders:
            tokens = compare(name, folder, text, lines)
            for threads in options.threads:
                os.environ.update(RAYON_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM=str(threads > 1).lower())

                def theirs(call):
                    job = {"tokenizer": str(folder / "tokenizer.json"), "text": str(race), "call": call}
                    return json.loads(run([sys.executable, __file__, "--worker", json.dumps(job)])[0])["seconds"]

                def ours():
                    return run([HEADLIGHT, "tokenize", folder, race, "--ids", "--quiet", "--threads", threads])[1]

                call = min(("encode_batch", "encode_batch_fast"), key=theirs)
                turns = [(ours(), theirs(call)) for _ in range(options.repeats)]
                a, b = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
                print(f"{name:10} {tokens:10} {threads:7} {a:9.3f} s {b:9.3f} s {b / a:6.2f}", flush=True)
                record(options, f"tokenizers {tokenizers.__version__}",
                       f"tokenize {len(lines) * options.times} lines with {name}", f"threads {threads}", "s", a, b)


if __name__ == "__main__":
    main()
