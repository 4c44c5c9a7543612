#!/usr/bin/env python3
"""Checks that Transformers' AutoTokenizer gives the same ids as headlight for folders that headlight trained. Writes
small folders with the ids to tests/testdata/auto_tokenizers.

    pip install torch transformers
    tools/make_auto_tokenizer_goldens.py build/release/headlight TEXT

TEXT is plain text or gzip, with one sentence per line. For each kind of tokenizer and each training of headlight, a
tiny model is trained for one step. AutoTokenizer must give the ids of `headlight tokenize` for every line of TEXT.
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

from transformers import AutoTokenizer  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "auto_tokenizers"
BART = ["--byte-level", *sum((["--special", t] for t in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")), [])]
TOKENIZERS = {
    "wordpiece": ["--subword-type", "wordpiece", "--lowercase", "--strip-accents"],
    "byte_level": ["--byte-level"],
    "byte_level_bart": BART,
    "bpe": ["--special", "<pad>", "--special", "</s>", "--special", "<unk>", "--special", "<mask>"],
    "unigram": ["--subword-type", "unigram", "--sentinels", "4"],
}
SMALL = ["--layers", "1", "--model-dim", "16", "--heads", "2", "--positions", "256", "--steps", "2", "--warmup", "1", "--batch-tokens",
         "500", "--quiet"]
# For each golden folder: the training, the files and the tokenizer.
TRAININGS = {
    "masked_wordpiece": ("masked-language-model", "text", "wordpiece"),
    "masked_bpe": ("masked-language-model", "text", "bpe"),
    "classes_wordpiece": ("classification", "classes", "wordpiece"),
    "classes_unigram": ("classification", "classes", "unigram"),
    "tags_wordpiece": ("tagging", "tags", "wordpiece"),
    "answers_wordpiece": ("question-answering", "questions", "wordpiece"),
    "language_model_byte_level": ("language-model", "text", "byte_level"),
    "denoising_byte_level": ("denoising", "text", "byte_level_bart"),
    "seq2seq_bpe": ("seq2seq", "pairs", "bpe"),
    "seq2seq_byte_level": ("seq2seq", "pairs", "byte_level_bart"),
    "spans_unigram": ("span-corruption", "text", "unigram"),
}
TEXTS = ["A small dog runs.", "Two DOGS, two cafés \uFF21.", "", "日本 x_y 1000", "The dog's 3.14!"]


def read(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    return [line.rstrip("\n") for line in opened]


def write_files(folder, lines):
    files = {
        "text": ("text.txt", lines),
        "classes": ("classes.tsv", [f"{line}\t{'long' if len(line) > 60 else 'short'}" for line in lines]),
        "pairs": ("pairs.tsv", [f"{line}\t{line}" for line in lines]),
        "tags": ("tags.conll", sum(([*(f"{word} O" for word in line.split()), ""] for line in lines), [])),
        "questions": ("questions.jsonl",
                      [json.dumps({"question": "Who?", "context": line,
                                   "answers": [{"text": line.split()[0], "start": line.index(line.split()[0])}]})
                       for line in lines]),
    }
    for name, text in files.values():
        (folder / name).write_text("".join(line + "\n" for line in text))
    return {kind: str(folder / name) for kind, (name, _) in files.items()}


def main():
    program, text = sys.argv[1:]
    lines = [line.replace("\t", " ") for line in read(text)]
    shutil.rmtree(OUT, ignore_errors=True)
    run = lambda *arguments, **more: subprocess.run([program, *arguments], check=True, text=True, **more)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = write_files(folder, [line for line in lines if line.split()][:200])
        for name, options in TOKENIZERS.items():
            run("train", "tokenizer", files["text"], "--vocabulary-size", "400", *options, "--out", str(folder / name),
                "--quiet")
        for name, (task, kind, tokenizer) in TRAININGS.items():
            model = folder / ("model_" + name)
            run("train", task, "--train", files[kind], "--valid", files[kind], "--tokenizer", str(folder / tokenizer),
                "--out", str(model), *SMALL, stdout=subprocess.DEVNULL)
            theirs = AutoTokenizer.from_pretrained(str(model))
            ids = lambda texts: [[int(i) for i in row.split()] for row in run(
                "tokenize", str(model), "--ids", "--quiet", input="".join(t + "\n" for t in texts),
                stdout=subprocess.PIPE).stdout.split("\n")[:-1]]
            for line, ours in zip(lines + TEXTS, ids(lines + TEXTS)):
                found = theirs(line).input_ids
                assert found == ours, f"{name}: {line!r}: AutoTokenizer gives {found}, headlight {ours}"
            golden = OUT / name
            golden.mkdir(parents=True)
            for file in ("tokenizer.json", "tokenizer_config.json"):
                shutil.copy(model / file, golden / file)
            (golden / "golden.json").write_text(json.dumps(
                {"texts": TEXTS, "ids": [theirs(line).input_ids for line in TEXTS], "task": task, "special": {
                    key: getattr(theirs, key) for key in ("bos_token", "eos_token", "unk_token", "pad_token",
                                                          "mask_token", "cls_token", "sep_token")},
                 "longest": theirs.model_max_length, "inputs": theirs.model_input_names}, ensure_ascii=False) + "\n")
            print(f"{name}: {type(theirs).__name__}: {len(lines)} lines have the same ids")


main()
