#!/usr/bin/env python3
"""Converts a checkpoint of ViLBERT's authors, a pickle without a configuration, to a model folder.

    pip install torch safetensors
    tools/convert_vilbert.py pytorch_model_9.bin vilbert-multi-task/config/bert_base_6layer_6conect.json OUT \\
        --tokenizer bert-base-uncased [--answers answers.txt]

Writes config.json, model.safetensors and the tokenizer files of a BERT folder to OUT. The answers file has the labels
of the head vil_prediction, one per line, in the order of its outputs. Without this file, the labels are LABEL_0,
LABEL_1, ...
"""

import argparse
import json
import pathlib
import shutil

import torch
from safetensors.torch import save_file

TOKENIZER = ["tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--answers", type=pathlib.Path)
    options = parser.parse_args()

    weights = torch.load(options.checkpoint, map_location="cpu", weights_only=True)
    weights = {name.removeprefix("module."): value for name, value in weights.items()}
    table = weights["bert.embeddings.word_embeddings.weight" if any(n.startswith("bert.") for n in weights) else "embeddings.word_embeddings.weight"]
    tied = weights.pop("cls.predictions.decoder.weight", table)
    if not torch.equal(tied, table):
        raise SystemExit("the scores of words are not tied to their embeddings, as they are in every ViLBERT")

    config = json.loads(options.config.read_text())
    config["model_type"] = "vilbert"
    # The configuration file does not contain this setting, because it is an option of the authors' training program.
    config["task_specific_tokens"] = any(name.endswith("embeddings.task_embeddings.weight") for name in weights)
    if "vil_prediction.logit_fc.3.weight" in weights:
        count = weights["vil_prediction.logit_fc.3.weight"].shape[0]
        answers = options.answers.read_text().splitlines() if options.answers else [f"LABEL_{i}" for i in range(count)]
        if len(answers) != count:
            raise SystemExit(f"{options.answers}: {len(answers)} answers, and the model has {count}")
        config["id2label"] = {str(i): answer for i, answer in enumerate(answers)}
        config["label2id"] = {answer: i for i, answer in enumerate(answers)}

    options.out.mkdir(parents=True)
    save_file({name: value.contiguous().float() for name, value in weights.items()}, options.out / "model.safetensors")
    (options.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for name in TOKENIZER:
        if (options.tokenizer / name).exists():
            shutil.copy(options.tokenizer / name, options.out / name)


if __name__ == "__main__":
    main()
