#!/usr/bin/env python3
"""Makes headlight/pipelines/testdata/scores.json: log-probabilities of the tokens of long texts, computed in windows.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_score_goldens.py > headlight/pipelines/testdata/scores.json

The model is tests/testdata/gpt/gpt2. The windows follow the page "Perplexity of fixed-length models" of Transformers'
documentation. Each window begins `stride` tokens after the previous window, and scores the tokens after the end of the
previous window. The labels of all other tokens are -100. Computed in double precision.
"""

import json
import os
import pathlib
import random

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

MODEL = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "gpt" / "gpt2"


def score(model, ids, window, stride):
    """Returns the log-probability of each token except the first."""
    found, previous_end = [], 0
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        labels = torch.tensor([ids[begin:end]])
        inputs = labels.clone()
        labels[:, :max(previous_end - begin, 0)] = -100
        with torch.no_grad():
            output = model(inputs, labels=labels)
        scored = [i for i in range(1, end - begin) if labels[0, i] != -100]
        steps = torch.log_softmax(output.logits[0], -1)
        found += [steps[i - 1, labels[0, i]].item() for i in scored]
        if scored:
            mean = -sum(found[-len(scored):]) / len(scored)
            assert abs(output.loss.item() - mean) < 1e-6, (output.loss.item(), mean)
        previous_end = end
        if end == len(ids):
            break
    assert len(found) == len(ids) - 1
    return found


def main():
    model = AutoModelForCausalLM.from_pretrained(MODEL).double().eval()
    positions, vocabulary = model.config.n_positions, model.config.vocab_size
    start = model.config.bos_token_id
    generator = random.Random(5)
    cases = []
    for length, window, stride in [(2 * positions + 3, positions, positions // 2), (40, 6, 2), (40, 6, 5), (17, 2, 1),
                                   (5, 6, 1), (24, positions, 1)]:
        ids = [generator.choice([i for i in range(vocabulary) if i != start]) for _ in range(length)]
        for with_start in (True, False):
            read = [start] * with_start + ids
            cases.append({"ids": ids, "window": window, "stride": stride, "start_token": with_start,
                          "log_probabilities": score(model, read, window, stride)})
    print(json.dumps({"vocabulary": vocabulary, "cases": cases}))


main()
