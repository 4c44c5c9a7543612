#!/usr/bin/env python3
"""Makes tests/testdata/siglip_tokenizers.json: the ids of Transformers' SigLIP tokenizer with SentencePiece
models of headlight/text/tokenizers/testdata, for the texts of tokenizers.json and of SIGLIP_TEXTS.

    pip install transformers==5.24.0 tokenizers sentencepiece protobuf
    tools/make_siglip_tokenizer_goldens.py
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

from transformers import AutoTokenizer  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TESTDATA = ROOT / "headlight" / "text" / "tokenizers" / "testdata"
TEXTS = json.loads((ROOT / "tests" / "testdata" / "tokenizers.json").read_text())["texts"]
# White space at both ends, special tokens in a text, U+2581, added tokens, and letter case that depends on the context.
SIGLIP_TEXTS = [
    "a photo of </s> a cat", "a</s>b", "a</s>  b", "a  </s>b", "  a cat", "</s>", "</s> x", "x </s>", "x </s> ", "<unk> x",
    "x <unk> y", "a\u2581b", "\u2581a", "</S> a", "<s> a", "<pad> a", "a </s></s> b", "...", "", " ", "x\x1cy", "x\x85y",
    "\u0391\u03a3 \u03a3\u0391\u03a3. \u0391\u03a3\u0301 \u0391\u03a3\u0301a", "\u0130stanbul", "a [E1] b", "a[E1]  b", "[e1]", "[E1]", "[E1] [E1]</s>",
    "a</s>.b", "a </s> . b", "cat.</s>dog", "\uff21 \uff42", "\u3000x", "x  y   z", "\uff1c/s\uff1e", "a. . b"]
# Settings for tokenizer_config.json, and the contents of tokenizer.json, of which only the added tokens are used.
SPECIAL = {"lstrip": True, "rstrip": True, "normalized": False, "single_word": False, "special": True}
OWN = {**SPECIAL, "lstrip": False, "rstrip": False}
JSON = {"added_tokens": json.loads((TESTDATA / "family_t5.json").read_text())["added_tokens"][:3]}
SIGLIP_FOLDERS = [
    ("spm_t5.model", {}, {}), ("spm_bpe.model", {}, {}), ("spm_fairseq.model", {}, {}),
    ("spm_t5.model", {"do_lower_case": False}, {}), ("spm_t5.model", {"legacy": False}, {}),
    ("spm_t5.model", {"additional_special_tokens": ["[E1]"]}, {}), ("spm_t5.model", {"pad_token": "<pad>"}, {}),
    ("spm_t5.model", {"added_tokens_decoder": {
        "1": {**SPECIAL, "content": "</s>"}, "2": {**SPECIAL, "content": "<unk>"},
        "400": {**OWN, "content": "[E1]", "special": False, "normalized": True}}}, {}),
    ("spm_t5.model", {}, {"added_tokens.json": {"[E1]": 90}}), ("spm_t5.model", {"split_special_tokens": True}, {}), ("spm_t5.model", {}, {"tokenizer.json": JSON}),
    ("spm_t5.model", {"added_tokens_decoder": {"1": {**SPECIAL, "content": "</s>"}}}, {"tokenizer.json": JSON})]


def siglip():
    folders = []
    for model, config, other in SIGLIP_FOLDERS:
        files = {"tokenizer_config.json": {"tokenizer_class": "SiglipTokenizer", **config}, "config.json": {"model_type": "siglip"}}
        files.update(other)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(TESTDATA / model, Path(folder) / "spiece.model")
            for name, value in files.items():
                (Path(folder) / name).write_text(json.dumps(value))
            tokenizer = AutoTokenizer.from_pretrained(folder)
            folders.append({"model": model, "files": files, "ids": [tokenizer(text)["input_ids"] for text in TEXTS + SIGLIP_TEXTS],
                            "pair": tokenizer(" a </s>", "b </s>")["input_ids"]})
    return {"texts": TEXTS + SIGLIP_TEXTS, "folders": folders}


(ROOT / "tests" / "testdata" / "siglip_tokenizers.json").write_text(
    json.dumps(siglip(), separators=(",", ":")).replace("],", "],\n") + "\n")
