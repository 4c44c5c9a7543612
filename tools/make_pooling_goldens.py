#!/usr/bin/env python3
"""Writes tests/testdata/bert/sentences/poolings.json: the outputs of sentence-transformers for this folder with each
pooling, and with a prompt.

    pip install torch transformers sentence-transformers
    tools/make_pooling_goldens.py
"""

import json
import os
import pathlib
import shutil
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "bert" / "sentences"
MODES = ["mean_tokens", "cls_token", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
PROMPT = {"prompts": {"query": "Two dogs: "}, "default_prompt_name": "query"}


def vectors(mode, texts, prompt):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "model"
        shutil.copytree(FOLDER, folder)
        modules = json.loads((folder / "modules.json").read_text())
        (folder / "modules.json").write_text(json.dumps(modules[:2]))  # without normalization
        size = json.loads((folder / "config.json").read_text())["hidden_size"]
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(
            {"word_embedding_dimension": size, **{f"pooling_mode_{other}": other == mode for other in MODES}}))
        (folder / "tokenizer_config.json").write_text(json.dumps(
            {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "unk_token": "[UNK]",
             "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}))
        if prompt:
            (folder / "config_sentence_transformers.json").write_text(json.dumps(PROMPT))
        model = SentenceTransformer(str(folder), device="cpu").eval()
        return [[round(number, 7) for number in vector] for vector in model.encode(texts, batch_size=1).tolist()]


def main():
    torch.set_num_threads(1)
    texts = ["A small dog runs across the green meadow.", "Two men, two dogs."]
    golden = {"texts": texts, "prompt": PROMPT, "poolings": {mode: vectors(mode, texts, False) for mode in MODES},
              "prompted": vectors("mean_tokens", texts, True)}
    (FOLDER / "poolings.json").write_text(json.dumps(golden) + "\n")


main()
