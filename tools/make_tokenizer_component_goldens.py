#!/usr/bin/env python3
"""Writes tests/testdata/tokenizer_components.json: random pipelines of a tokenizer.json's normalizers, pre-tokenizers,
models and decoders, with the ids, offsets and decoded texts of the tokenizers library (0.23.3).

    pip install tokenizers
    tools/make_tokenizer_component_goldens.py [build/release/headlight [PIPELINES]]

If the program is given, PIPELINES (default 300) additional pipelines are compared with `headlight tokenize`.
"""

import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDENS = 60
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
REGEXES = [GPT2, CL100K, CLIP, r"\s+", r"\w+|[^\w\s]+", r"\d", r"[0-9]+", " {2,}", r"\s{2,}|[\n\r\t]", r"[!-/:-@\[-`{-~]", r"[^\x00-\x7f]",
           r"\p{P}", r"\bt", r"x*", r"(?=[A-Z])", r"^\s*", r"$", r"\A +", r" +\z", r".", r"(.)\1", r"[\p{Lu}&&[A-M]]", r"(?<=e)r", r"\.+|,",
           r"(?i)the", r"[[:alpha:]]+", r"é", r"(?:ab|a)b", r"\x{e9}|\u00fc", "a|", r"[\s]", r"\S++", r"\p{Han}", r"[-\s]", r"[^a-z]"]
STRINGS = [" ", "e", "the", "-", "  ", "a|b", "日", "\u2581"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
TEXTS = ["The cat's 12 hats, 3.5-inch!!", "  Two\t\tdogs\n\nrun ... fast  ", "Müller's café – naïve façade", "日本語 と 한국어 123４５", "a|b-c--d_e f\u200bg\u00adh\ufeff",
         "HELLO hello, I'LL go; we'Ve \r\n gone\r", "e\u0301e\u0302 \u0301x A\u030a\u00a0\u3000z", "", " ", "xxabxx abab..the-the 🙂👍🏽 ½²", "\u2581a \u2581\u2581b <|endoftext|>x",
         "l1\nl2\n\n l3\u2028l4\u0085l5\x0bl6\x0cl7\x1f\x7f."]


def pattern(rng):
    return {"Regex": rng.choice(REGEXES)} if rng.random() < 0.75 else {"String": rng.choice(STRINGS)}


def normalizer(rng):
    kind = rng.choice(["Nmt", "Replace", "Replace", "Replace", "Lowercase", "NFD", "NFKC", "StripAccents", "Strip", "Prepend"])
    more = {"Replace": lambda: {"pattern": pattern(rng), "content": rng.choice(["", " ", "-", "xy", "é"])},
            "Strip": lambda: {"strip_left": rng.random() < 0.5, "strip_right": rng.random() < 0.5},
            "Prepend": lambda: {"prepend": "\u2581"}}
    return {"type": kind, **more.get(kind, dict)()}


def pre_tokenizer(rng):
    kind = rng.choice(["Whitespace", "Split", "Split", "Split", "Punctuation", "WhitespaceSplit", "Digits", "CharDelimiterSplit", "BertPreTokenizer", "Metaspace"])
    more = {"Split": lambda: {"pattern": pattern(rng), "behavior": rng.choice(BEHAVIORS), "invert": rng.random() < 0.3},
            "Punctuation": lambda: {"behavior": rng.choice(BEHAVIORS)},
            "Digits": lambda: {"individual_digits": rng.random() < 0.5},
            "CharDelimiterSplit": lambda: {"delimiter": rng.choice(["-", " ", "日"])},
            "Metaspace": lambda: {"replacement": "\u2581", "prepend_scheme": rng.choice(["always", "never"]), "split": True}}
    return {"type": kind, **more.get(kind, dict)()}


def several(make, key, name, rng):
    steps = [make(rng) for _ in range(rng.randint(0, 2))]
    return None if not steps else steps[0] if len(steps) == 1 else {"type": "Sequence", key: steps}


def words_of(file):
    """Returns the normalized and pre-tokenized words of the texts."""
    probe = Tokenizer.from_str(json.dumps({**file, "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}}))
    words = set()
    for text in TEXTS:
        normalized = probe.normalizer.normalize_str(text) if probe.normalizer else text
        words.update(word for word, _ in (probe.pre_tokenizer.pre_tokenize_str(normalized) if probe.pre_tokenizer else [(normalized, 0)]))
    return sorted(words - {""})


def pipeline(rng):
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "post_processor": None, "decoder": None,
            "normalizer": several(normalizer, "normalizers", "n", rng), "pre_tokenizer": several(pre_tokenizer, "pretokenizers", "p", rng)}
    if rng.random() < 0.2:
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        steps = [file["pre_tokenizer"], byte_level] if file["pre_tokenizer"] else [byte_level]
        file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    words = words_of(file)
    kind = rng.choice(["WordPiece", "WordPiece", "WordLevel", "Unigram"])
    if file["pre_tokenizer"] and "ByteLevel" in json.dumps(file["pre_tokenizer"]):
        kind = "WordLevel"
    characters = sorted({c for word in words for c in word})
    if kind == "WordLevel":
        known = [word for word in words if rng.random() < 0.8]
        vocab = {piece: i for i, piece in enumerate(["<unk>", *known])}
        file["model"] = {"type": kind, "vocab": vocab, "unk_token": "<unk>"}
    elif kind == "WordPiece":  # mark the beginning of each word
        pieces = ["[UNK]", *characters, *("##" + c for c in characters)]
        file["model"] = {"type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                         "vocab": {piece: i for i, piece in enumerate(pieces)}}
    else:
        pieces = sorted({*characters, *(w[:2] for w in words), *(w[-3:] for w in words)})
        file["model"] = {"type": kind, "unk_id": None, "byte_fallback": False, "vocab": [[p, -1.0 - i % 7] for i, p in enumerate(pieces)]}
    if rng.random() < 0.4:
        file["decoder"] = {"type": "Replace", "pattern": pattern(rng), "content": rng.choice(["", "_"])}
    return file


def result(theirs, text):
    encoded = theirs.encode(text)
    return {"ids": encoded.ids, "spans": [end for span in encoded.offsets for end in span], "decoded": theirs.decode(encoded.ids)}


def cut_pairs():
    """Returns rows of [tokens of the first text, tokens of the second text, maximum with three special tokens, tokens
    kept of each text]."""
    words = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2, "[SEP]": 3}, "unk_token": "<unk>"}
    part = lambda name, value: {name: {"id": value, "type_id": 0}}
    sep, first, second = part("SpecialToken", "[SEP]"), part("Sequence", "A"), part("Sequence", "B")
    around = {"type": "TemplateProcessing", "single": [sep, first, sep], "pair": [sep, first, sep, second, sep],
              "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}}
    theirs = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "decoder": None, "model": words,
                                            "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": around}))
    rows = []
    for first, second, most in itertools.product((0, 1, 2, 3, 5, 8), (0, 1, 2, 4, 5, 9), range(3, 14)):
        theirs.enable_truncation(most, strategy="longest_first")
        ids = theirs.encode("a " * first, "b " * second).ids
        rows.append([first, second, most, ids.count(1), ids.count(2)])
    return rows


SPACES = ["<x> y", "<x>  y", "a<x> y b", "<x>  <x> <z>", "<x>   <z>", "<x>     a", " y <z>", "<x>   ya", "  <z> y", "a <y>b<y> b"]
CLASSES = [r"[[:punct:]]+", r"[^[:punct:]\s]", r"[[:word:]]+", r"[[:^word:]]", r"\h+", r"[\h-]+", r"\H", r"[[:xdigit:]]{2}", r"[[:graph:]]+",
           r"[[:print:]&&[^a-z]]", r"\p{^L}+", r"[\p{^Alphabetic}]", r"\p{Word}+", r"\v|\e", "[:alpha:]"]


def special_files():
    """Yields unusual files: vocabularies with missing ids, added tokens with overlapping spaces, templates, and
    classes."""
    words = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"}
    empty = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "post_processor": None,
             "decoder": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": words}
    added = lambda id, content, **flags: {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                                          "normalized": False, "special": True, **flags}
    # Some ids have no piece. The next added token gets the number of pieces as its id.
    yield {**empty, "model": {**words, "vocab": {"<unk>": 3, "a": 1, "b": 9}}}
    yield {**empty, "model": {**words, "vocab": {"<unk>": 0, "a": 1, "b": 9}}, "added_tokens": [added(3, "<x>"), added(4, "<z>")]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    alphabet = {piece: 2 * i for i, piece in enumerate("abxyz<>\u0120")}
    yield {**empty, "pre_tokenizer": byte_level, "decoder": byte_level, "model": {
        "type": "BPE", "vocab": {**alphabet, "ab": 41, "\u0120a": 31}, "merges": [["a", "b"], ["\u0120", "a"]]}}
    yield {**empty, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}, "model": {
        "type": "WordPiece", "vocab": {"[UNK]": 5, "a": 0, "##b": 9, "y": 4}, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100}}
    # A token that begins with a space follows a token that strips spaces.
    for flags in ({}, {"special": False}, {"normalized": True, "special": False}):
        yield {**empty, "added_tokens": [added(3, "<x>", rstrip=True, **flags), added(4, " y", **flags), added(5, "  ", **flags),
                                         added(6, "<z>", lstrip=True, **flags), added(7, " <y>", lstrip=True, single_word=True, **flags)]}
    part = lambda name, value, type_id=0: {name: {"id": value, "type_id": type_id}}
    a, first, second = part("SpecialToken", "a", 1), part("Sequence", "A"), part("Sequence", "B", 1)
    for single, pair in (([first], [first, a]), ([first], [second]), ([first], []), ([a], [first, second]), ([], [second, a, first]),
                         ([first, a, first], [first, first, second, second])):
        yield {**empty, "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair,
                                           "special_tokens": {"a": {"id": "a", "ids": [1, 2], "tokens": ["a", "b"]}}}}
    for regex in CLASSES:
        yield {**empty, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}}


def special_goldens():
    goldens = []
    for file in special_files():
        theirs = Tokenizer.from_str(json.dumps(file))
        texts = TEXTS if "Split" in json.dumps(file) else SPACES
        pairs = [theirs.encode(first, second) for first, second in (("a", "b b"), ("", "a"))]
        goldens.append({"file": file, "texts": texts, "results": [result(theirs, text) for text in texts],
                        "pairs": [{"ids": pair.ids, "type_ids": pair.type_ids} for pair in pairs],
                        "decoded": [theirs.decode([id, 0], skip_special_tokens=False) for id in range(12)]})
    return goldens


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else None
    more = int(sys.argv[2]) if len(sys.argv) > 2 else 300 if program else 0
    rng = random.Random(7)
    goldens, differing = [], 0
    while len(goldens) < GOLDENS + more:
        try:
            file = pipeline(rng)
            theirs = Tokenizer.from_str(json.dumps(file))
            results = [result(theirs, text) for text in TEXTS]
        except BaseException as error:  # the library panics if a replacement makes a text empty
            if "PanicException" not in type(error).__name__:
                raise
            continue
        goldens.append({"file": file, "results": results})
        if program is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "tokenizer.json").write_text(json.dumps(file))
            pathlib.Path(folder, "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
            done = subprocess.run([program, "tokenize", folder, folder + "/texts.jsonl", "--json", "--quiet"], text=True,
                                  capture_output=True)
        ours = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        ours = [{"ids": one["ids"], "spans": [end for span in one["character_spans"] for end in span]} for one in ours]
        expected = [{"ids": one["ids"], "spans": one["spans"]} for one in results]
        if ours != expected:
            differing += 1
            parts = {key: file[key] for key in ("normalizer", "pre_tokenizer")} | {"model": file["model"]["type"]}
            wrong = [(t, o, e) for t, o, e in zip(TEXTS, ours, expected) if o != e][:1]
            print(f"{len(goldens) - 1}: {json.dumps(parts, ensure_ascii=False)}\n  {done.stderr.strip()[:300]} {wrong}")
    (ROOT / "tests" / "testdata" / "tokenizer_components.json").write_text(json.dumps(
        {"texts": TEXTS, "pipelines": goldens[:GOLDENS], "special": special_goldens(), "cut_pairs": cut_pairs()}, ensure_ascii=False, separators=(",", ":")) + "\n")
    if program:
        print(f"{differing} of {len(goldens)} pipelines differ")


main()
