#!/usr/bin/env python3
"""Writes docs/reference/unicode.md, which lists the code points that headlight's tokenizers treat differently from the
tokenizers library, because their Unicode versions differ. They are listed for each tokenizer component that uses
character properties.

Usage: list_unicode_differences.py [--program build/release/headlight]. headlight and the library tokenize a short text
with each code point. They use small tokenizer.json files, and the ids or spans show the result. Needs tokenizers.
"""

import argparse
import base64
import json
import subprocess
import tempfile
import unicodedata
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "reference" / "unicode.md"
# All code points except line breaks, surrogates, and the private or unassigned code points in the omitted ranges.
CODES = [c for c in [*range(1, 0x34000), *range(0xE0000, 0xE0200)] if not 0xD800 <= c < 0xE000 and c not in (0xA, 0xD)]


def bytes_of(normalizer):
    """Returns a tokenizer that gives the bytes of the normalized text as ids."""
    alphabet = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({character: i for i, character in enumerate(alphabet)}, []))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer


def words_of(pre_tokenizer):
    """Returns a tokenizer that makes one token per word. Each word is an unknown token."""
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def graphemes():
    """Returns a tokenizer with the normalization rules of a SentencePiece model, which replace short graphemes as a
    whole."""
    path = ROOT / "headlight" / "text" / "tokenizers" / "testdata" / "tokenizer_saved_unigram_seed.json"
    rules = json.loads(path.read_text())["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    return bytes_of(normalizers.Precompiled(base64.b64decode(rules)))


def classes():
    """Returns a tokenizer that shows whether GPT-2's regular expression keeps characters together. If a letter, a digit
    or a sign is not separated from the following byte, both are one token."""
    alphabet = sorted(ByteLevel.alphabet())
    vocabulary = {character: i for i, character in enumerate(alphabet)}
    merges = []
    for first in "a1!":
        for character in alphabet:
            vocabulary.setdefault(first + character, len(vocabulary))
            merges.append((first, character))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


def single_word():
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("token", single_word=True, normalized=False)])
    return tokenizer


def bert(**flags):
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**off, **flags})


# For each tokenizer component: its name, a tokenizer with this component, and a text with the code point.
PARTS = [
    ("`NFC`", bytes_of(normalizers.NFC()), "a\u0301{}\u0323"),
    ("`NFD`", bytes_of(normalizers.NFD()), "a\u0301{}\u0323"),
    ("`NFKC`", bytes_of(normalizers.NFKC()), "a\u0301{}\u0323"),
    ("`NFKD`", bytes_of(normalizers.NFKD()), "a\u0301{}\u0323"),
    ("`Lowercase`", bytes_of(normalizers.Lowercase()), "{}"),
    ("`StripAccents`", bytes_of(normalizers.StripAccents()), "a{}"),
    ("`BertNormalizer`, `clean_text`", bytes_of(bert(clean_text=True)), "a{}"),
    ("`BertNormalizer`, `strip_accents`", bytes_of(bert(strip_accents=True)), "a{}"),
    ("`BertNormalizer`, `handle_chinese_chars`", bytes_of(bert(handle_chinese_chars=True)), "a{}"),
    ("`Precompiled`, its graphemes", graphemes(), "\u00a0{}"),
    ("`BertPreTokenizer`", words_of(pre_tokenizers.BertPreTokenizer()), "a{}b"),
    ("`Punctuation`", words_of(pre_tokenizers.Punctuation(behavior="isolated")), "a{}b"),
    ("`WhitespaceSplit`", words_of(pre_tokenizers.WhitespaceSplit()), "a{}b"),
    ("`ByteLevel`, its regular expression", classes(), "a{0}1{0}!{0}"),
    ("added tokens, `single_word`", single_word(), "{}token"),
]


def rows(program, folder, tokenizer, texts):
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "text").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    ours = subprocess.run([program, "tokenize", folder, folder / "text", "--json", "--quiet"], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    for row, encoding in zip(ours, tokenizer.encode_batch(texts), strict=True):
        got = json.loads(row)
        yield got["ids"] == encoding.ids and [tuple(span) for span in got["characters"]] == encoding.offsets


def ranges(codes):
    result = []
    for code in codes:
        if result and result[-1][1] == code - 1:
            result[-1][1] = code
        else:
            result.append([code, code])
    return ", ".join(f"U+{a:04X}" if a == b else f"U+{a:04X} to U+{b:04X}" for a, b in result)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "headlight"))
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, tokenizer, text in PARTS:
            texts = [text.format(chr(code)) for code in CODES]
            same = list(rows(options.program, Path(temporary), tokenizer, texts))
            codes = [code for code, equal in zip(CODES, same) if not equal]
            lines.append(f"| {name} | {len(codes)} | {ranges(codes) or 'none'} |")
            print(lines[-1][:300], flush=True)
    OUT.write_text(f"""# Characters that changed

Tokenizers use the character properties of Unicode. headlight takes them from ICU 72, which has Unicode 15.0; the tokenizers
library {tokenizers.__version__} has several tables of its own, older and newer. So the two treat the following code points differently, and
no others: all assigned code points were tried, each in a short text, by
[tools/list_unicode_differences.py](../../tools/list_unicode_differences.py), which wrote this list.

| part | code points | which |
|---|---|---|
""" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
