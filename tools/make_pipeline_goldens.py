#!/usr/bin/env python3
"""Makes pipelines.json in tests/testdata/encoders/tag and answer: Transformers' outputs for single tokens, for
long texts in windows, and for several answers.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_pipeline_goldens.py

tools/make_encoder_goldens.py makes the models. Transformers 5 has no question answering pipeline, so the rules of 4.57
are implemented in this script.
"""

import json
import os
import pathlib

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy  # noqa: E402
import torch  # noqa: E402
from transformers import (  # noqa: E402
    BertForQuestionAnswering, BertForTokenClassification, PreTrainedTokenizerFast, pipeline)

torch.set_num_threads(1)

FOLDERS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "encoders"
TOKENS = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
              model_input_names=["input_ids", "token_type_ids", "attention_mask"])
PASSAGE = "A small dog runs across the green meadow. Two men are playing. "


def load(name, kind, **more):
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDERS / name / "tokenizer.json"), **TOKENS, **more)
    return kind.from_pretrained(FOLDERS / name, attn_implementation="eager").eval(), tokenizer


def tag():
    model, tokenizer = load("tag", BertForTokenClassification, model_max_length=24)
    texts = ["Two men, two dögs.", "The children are playing ☃ dogs.", PASSAGE * 3 + "dogs.", "dog"]
    golden = {"texts": texts, "windows": []}
    run = pipeline("token-classification", model=model, tokenizer=tokenizer)
    golden["none"] = [[[one["entity"], one["start"], one["end"], float(one["score"])] for one in run(text)]
                      for text in texts[:2]]
    for stride in (0, 5, 12):
        for strategy in ("simple", "first", "average", "max"):
            run = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy=strategy,
                           stride=stride)
            golden["windows"].append({
                "stride": stride, "aggregation": strategy,
                "expected": [[[one["entity_group"], one["start"], one["end"], float(one["score"])] for one in run(text)]
                             for text in texts]})
    (FOLDERS / "tag" / "pipelines.json").write_text(json.dumps(golden) + "\n")


def answers(model, tokenizer, question, passage, length, stride, top_k, align, decline, longest=5):
    encoded = tokenizer(question, passage, truncation="only_second", max_length=length, stride=stride,
                        return_overflowing_tokens=True, return_offsets_mapping=True)
    found, null = {}, 1e6
    for window, ids in enumerate(encoded["input_ids"]):
        with torch.no_grad():
            output = model(torch.tensor([ids]), token_type_ids=torch.tensor([encoded["token_type_ids"][window]]))
        inside = numpy.array([part == 1 for part in encoded.sequence_ids(window)])
        seen = inside | (numpy.array(ids) == tokenizer.cls_token_id)
        start, end = (torch.where(torch.tensor(seen), logits[0], -10000.0).softmax(0).numpy()
                      for logits in (output.start_logits, output.end_logits))
        null = min(null, float(start[0] * end[0]))
        scores = numpy.tril(numpy.triu(numpy.outer(start * inside, end * inside)), longest - 1)
        for at in numpy.argsort(-scores.ravel(), kind="stable")[:2 * top_k + 10 if align else top_k]:
            first, last = numpy.unravel_index(at, scores.shape)
            if scores[first, last] == 0:
                continue
            if align:
                first_char, last_char = (
                    encoded[window].word_to_chars(encoded[window].token_to_word(int(token)), 1)[side]
                    for token, side in ((first, 0), (last, 1)))
            else:
                first_char, last_char = encoded["offset_mapping"][window][first][0], encoded["offset_mapping"][window][last][1]
            text = passage[first_char:last_char].lower()
            score, first_char, last_char = found.get(text, (0.0, first_char, last_char))
            found[text] = (score + float(scores[first, last]), first_char, last_char)
    result = list(found.values()) + ([(null, 0, 0)] if decline else [])
    return sorted(result, key=lambda answer: -answer[0])[:top_k]


def answer():
    model, tokenizer = load("answer", BertForQuestionAnswering)
    questions = [["dogs?", "Two men, two dogs."], ["Who runs?", PASSAGE], ["Two children?", PASSAGE * 3], ["men", "men"]]
    golden = {"questions": questions, "cases": []}
    for length, stride in ((24, 12), (20, 3), (24, 0)):
        for top_k in (1, 3, 10):
            for align in (True, False):
                golden["cases"].append({
                    "max_input_length": length, "stride": stride, "top_k": top_k, "align_words": align,
                    "expected": [answers(model, tokenizer, *question, length, stride, top_k, align, True)
                                 for question in questions]})
    (FOLDERS / "answer" / "pipelines.json").write_text(json.dumps(golden) + "\n")


tag()
answer()
