#!/usr/bin/env python3
"""Makes tests/testdata/encoders/classify/problems.safetensors: losses and gradients of Transformers' BERT for each
problem_type.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_problem_goldens.py

The model is made by tools/make_encoder_goldens.py, and runs in double precision without dropout. For regression and
multi_label_classification, the file has PROBLEM.loss, and PROBLEM.gradient.NAME of every parameter. The texts and their
targets are the same as in tests/problem_training_test.cc.
"""

import os
import pathlib

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import BertForSequenceClassification  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "encoders" / "classify"
TEXTS = [[2, 5, 6, 7, 3], [2, 9, 3], [2, 4, 8, 10, 11, 12, 3]]
TARGETS = {"regression": [[0.5, -1.25, 3.0], [2.0, 0.0, -0.75], [-4.0, 1.5, 0.25]],
           "multi_label_classification": [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]}

longest = max(map(len, TEXTS))
ids = torch.tensor([text + [0] * (longest - len(text)) for text in TEXTS])
mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in TEXTS])
tensors = {}
for problem, targets in TARGETS.items():
    model = BertForSequenceClassification.from_pretrained(FOLDER, problem_type=problem, attn_implementation="eager")
    model = model.double().eval()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    loss = model(ids, attention_mask=mask, labels=torch.tensor(targets, dtype=torch.float64)).loss
    loss.backward()
    tensors[f"{problem}.loss"] = loss.detach().reshape(1)
    for name, parameter in model.named_parameters():
        tensors[f"{problem}.gradient.{name}"] = parameter.grad.float()
save_file(tensors, FOLDER / "problems.safetensors")
