#!/usr/bin/env python3
"""Makes headlight/text/tokenizers/testdata/family_clip.json, a tiny tokenizer.json for CLIP, and
tests/testdata/clip_tokenizers.json: the ids of Transformers' CLIP tokenizer for the difficult texts of tokenizers.json.

    pip install transformers==5.23.0 tokenizers
    tools/make_clip_tokenizer_goldens.py
"""

import json
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import CLIPTokenizer

from make_tokenizer_goldens import ENGLISH, GERMAN

ROOT = Path(__file__).resolve().parent.parent
TESTDATA = ROOT / "headlight" / "text" / "tokenizers" / "testdata"
TEXTS = json.loads((ROOT / "tests" / "testdata" / "tokenizers.json").read_text())["texts"]


def clip():
    """Returns a tokenizer with the vocabulary in CLIP's order: bytes, bytes that end words, merges, special tokens."""
    learned = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    learned.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    learned.train_from_iterator([text.lower() for text in GERMAN + ENGLISH], trainers.BpeTrainer(
        vocab_size=400, end_of_word_suffix="</w>", initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    merges = [tuple(merge) for merge in json.loads(learned.to_str())["model"]["merges"]]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = alphabet + [byte + "</w>" for byte in alphabet] + ["".join(merge) for merge in merges]
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={piece: i for i, piece in enumerate(dict.fromkeys(pieces))}, merges=merges)


def main():
    made = clip()
    made.backend_tokenizer.save(str(TESTDATA / "family_clip.json"), pretty=False)
    goldens = {"clip": [made(text)["input_ids"] for text in TEXTS]}
    (ROOT / "tests" / "testdata" / "clip_tokenizers.json").write_text(json.dumps(goldens, separators=(",", ":")).replace("],", "],\n") + "\n")


main()
