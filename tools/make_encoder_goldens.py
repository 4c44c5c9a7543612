#!/usr/bin/env python3
"""Makes tests/testdata/encoders/: tiny encoders saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_encoder_goldens.py [NAME...]

One folder per model: config.json and model.safetensors as save_pretrained writes them, and golden.safetensors. It has a
batch of texts of several lengths, with padding on the right or the left. Its outputs are computed in double precision
without dropout, and stored in single precision:
    last_hidden_state, and if the model has them, pooler_output, logits, start_logits, end_logits
    attentions.L
    contacts.I of text I, for ESM
    loss, gradient.NAME        of every parameter, under its name in model.safetensors

The folders fill_mask, classify, tag and answer also have a tokenizer of text/tokenizers/testdata, and golden.json with
texts and the outputs of Transformers' pipelines. Transformers 5 has no question answering pipeline, so its rules are
implemented in this script.
"""

import json
import os
import pathlib
import shutil
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import (  # noqa: E402
    BertConfig, BertForQuestionAnswering, BertForSequenceClassification, BertForTokenClassification, DebertaConfig,
    DebertaForMaskedLM, DebertaForSequenceClassification, DebertaModel, DebertaV2Config, DebertaV2ForMaskedLM,
    DebertaV2ForQuestionAnswering, DebertaV2ForSequenceClassification, DebertaV2ForTokenClassification, DebertaV2Model,
    DistilBertConfig, DistilBertForMaskedLM, DistilBertForQuestionAnswering, DistilBertForSequenceClassification,
    DistilBertForTokenClassification, DistilBertModel,
    EsmConfig, EsmForMaskedLM, EsmForSequenceClassification, EsmForTokenClassification, EsmModel, GPT2Config,
    GPT2ForSequenceClassification,
    RobertaConfig, RobertaForMaskedLM, RobertaForQuestionAnswering, RobertaForSequenceClassification, RobertaModel,
    PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForTokenClassification, pipeline)
from transformers.models.deberta import modeling_deberta  # noqa: E402
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "encoders"

# Heads of sizes 6 and 5 do not fill a vector register.
LARGE = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, vocab_size=23,
             max_position_embeddings=16, type_vocab_size=2, bos_token_id=None, eos_token_id=None)
ODD = dict(hidden_size=15, num_hidden_layers=1, num_attention_heads=3, intermediate_size=7, vocab_size=19,
           max_position_embeddings=11, type_vocab_size=1, bos_token_id=None, eos_token_id=None)
NAMES = dict(id2label={0: "O", 1: "B-PER", 2: "I-PER"}, label2id={"O": 0, "B-PER": 1, "I-PER": 2})
RELATIVE = dict(relative_attention=True, pos_att_type=["c2p", "p2c"])

MODELS = {
    "bert_classes_left": (BertForSequenceClassification, BertConfig(**LARGE, num_labels=3), "left"),
    "bert_tags": (BertForTokenClassification, BertConfig(**ODD, **NAMES, hidden_act="silu"), "right"),
    "bert_answers_left": (BertForQuestionAnswering, BertConfig(**LARGE), "left"),
    "roberta": (RobertaModel, RobertaConfig(**LARGE), "right"),
    "roberta_masked_left": (RobertaForMaskedLM, RobertaConfig(**ODD, hidden_act="relu"), "left"),
    "roberta_classes": (RobertaForSequenceClassification,
                        RobertaConfig(**LARGE, num_labels=3, problem_type="multi_label_classification"), "right"),
    "roberta_answers": (RobertaForQuestionAnswering, RobertaConfig(**ODD), "right"),
    "xlm_tags_left": (XLMRobertaForTokenClassification, XLMRobertaConfig(**LARGE, **NAMES, pad_token_id=1), "left"),
    # DeBERTa: texts have up to 9 tokens, so relative positions exceed 4.
    "deberta": (DebertaModel, DebertaConfig(**LARGE, **RELATIVE, max_relative_positions=4), "right"),
    "deberta_masked_left": (DebertaForMaskedLM, DebertaConfig(**LARGE, **RELATIVE, position_biased_input=False), "left"),
    "deberta_classes": (DebertaForSequenceClassification,
                        DebertaConfig(**dict(ODD, type_vocab_size=0), relative_attention=True, pos_att_type=["p2c"],
                                      position_biased_input=False, num_labels=2, legacy=False), "right"),
    "deberta_absolute": (DebertaForMaskedLM, DebertaConfig(**ODD, hidden_act="gelu_new", legacy=False), "right"),
    "deberta_v2": (DebertaV2ForMaskedLM,
                   DebertaV2Config(**LARGE, **RELATIVE, max_relative_positions=-1, position_buckets=4, conv_kernel_size=3,
                                   conv_act="gelu", norm_rel_ebd="layer_norm", share_att_key=True,
                                   position_biased_input=False), "right"),
    "deberta_v2_left": (DebertaV2Model,
                        DebertaV2Config(**dict(ODD, type_vocab_size=0), **RELATIVE, conv_kernel_size=5), "left"),
    "deberta_v3_masked": (DebertaV2ForMaskedLM,
                          DebertaV2Config(**LARGE, **RELATIVE, max_relative_positions=-1, position_buckets=6,
                                          norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False,
                                          legacy=False), "left"),
    "deberta_v3_classes": (DebertaV2ForSequenceClassification,
                           DebertaV2Config(**LARGE, relative_attention=True, pos_att_type="c2p", position_buckets=4,
                                           norm_rel_ebd="layer_norm", share_att_key=False, position_biased_input=False,
                                           num_labels=3), "left"),
    "deberta_v3_tags": (DebertaV2ForTokenClassification,
                        DebertaV2Config(**ODD, relative_attention=True, pos_att_type="p2c", share_att_key=True,
                                        position_biased_input=True, **NAMES), "right"),
    "deberta_v3_answers": (DebertaV2ForQuestionAnswering,
                           DebertaV2Config(**LARGE, **RELATIVE, max_relative_positions=8, position_buckets=4,
                                           share_att_key=True), "left"),
}
DISTILLED = dict(dim=12, n_layers=2, n_heads=2, hidden_dim=20, vocab_size=23, max_position_embeddings=16)
ODDLY_DISTILLED = dict(dim=15, n_layers=1, n_heads=3, hidden_dim=7, vocab_size=19, max_position_embeddings=11,
                       activation="relu")
MODELS |= {
    "distilbert": (DistilBertModel, DistilBertConfig(**ODDLY_DISTILLED), "right"),
    "distilbert_masked_left": (DistilBertForMaskedLM, DistilBertConfig(**DISTILLED), "left"),
    "distilbert_classes": (DistilBertForSequenceClassification, DistilBertConfig(**DISTILLED, num_labels=3), "right"),
    "distilbert_tags": (DistilBertForTokenClassification, DistilBertConfig(**ODDLY_DISTILLED, **NAMES), "right"),
    "distilbert_answers_left": (DistilBertForQuestionAnswering,
                                DistilBertConfig(**DISTILLED, sinusoidal_pos_embds=True), "left"),
}
# ESM: token 7 is the mask. Heads of size 6 are rotated in pairs.
ESM = dict({key: value for key, value in LARGE.items() if key != "type_vocab_size"}, pad_token_id=1, mask_token_id=7,
           layer_norm_eps=1e-5, token_dropout=True)
MODELS |= {
    "esm": (EsmModel, EsmConfig(**ESM, position_embedding_type="rotary"), "right"),
    "esm_masked_left": (EsmForMaskedLM, EsmConfig(**ESM, position_embedding_type="rotary"), "left"),
    "esm_1b_masked": (EsmForMaskedLM, EsmConfig(**dict(ESM, token_dropout=False), position_embedding_type="absolute",
                                                emb_layer_norm_before=True), "right"),
    "esm_classes_left": (EsmForSequenceClassification, EsmConfig(**ESM, num_labels=3), "left"),
    "esm_tags": (EsmForTokenClassification, EsmConfig(**ESM, **NAMES, position_embedding_type="rotary"), "right"),
}
MODELS |= {
    "gpt2_classes": (GPT2ForSequenceClassification,
                     GPT2Config(n_embd=12, n_layer=2, n_head=2, vocab_size=23, n_positions=16, bos_token_id=2, eos_token_id=2,
                                pad_token_id=1, num_labels=3), "right"),
}
TEXTS = [[3, 7, 12, 5, 16, 2], [9], [14, 2, 2, 18, 6, 11, 8, 10, 4]]


def padded(texts, side, value):
    longest = max(map(len, texts))
    fill = [[value] * (longest - len(text)) for text in texts]
    return torch.tensor([text + more if side == "right" else more + text for text, more in zip(texts, fill)])


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            norm = name.lower().replace("_", "").endswith("layernorm.weight")
            value.copy_(1 + 0.2 * noise if norm else (0.2 if name.endswith("bias") else 0.45) * noise)


def golden(model, folder, side):
    config = model.config
    segments = getattr(config, "type_vocab_size", 0)
    types = [[i * segments // len(text) for i in range(len(text))] for text in TEXTS]
    inputs = {
        "input_ids": padded(TEXTS, side, config.pad_token_id),
        "attention_mask": padded([[1] * len(text) for text in TEXTS], side, 0),
        "token_type_ids": padded(types, side, 0),
    }
    model.double()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    known = {name: value for name, value in inputs.items() if segments or name != "token_type_ids"}
    output = model(**known, output_attentions=True, output_hidden_states=True)
    real = inputs["attention_mask"].bool()
    hidden = output.hidden_states[-1]
    tensors = {**inputs, "last_hidden_state": hidden}
    # Transformers pools the first column, which may be padding if texts are padded on the left. This script pools the
    # first token of each text.
    at_first = hidden[torch.arange(len(TEXTS)), real.int().argmax(1)].unsqueeze(1)
    base = getattr(model, model.base_model_prefix, model)
    if "pooler_output" in output:
        output["pooler_output"] = base.pooler(at_first)
    if "SequenceClassification" in type(model).__name__ and not hasattr(model, "score"):
        pooler = getattr(model, "pooler", None) or getattr(base, "pooler", None)
        if hasattr(model, "pre_classifier"):
            pooler = lambda states: model.pre_classifier(states[:, 0]).relu()
        output["logits"] = model.classifier(at_first if pooler is None else pooler(at_first))
    # The loss is a weighted sum of all outputs. Every output therefore has a gradient.
    weigh = lambda x: (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()
    loss = weigh(hidden[real])
    for name in ("pooler_output", "logits", "start_logits", "end_logits"):
        value = getattr(output, name, None)
        if value is None:
            continue
        tensors[name] = value
        loss = loss + weigh(value[real] if value.shape[:2] == real.shape else value)
    loss.backward()
    tensors["loss"] = loss
    if hasattr(base, "contact_head"):
        for i, text in enumerate(TEXTS):
            if len(text) > 2:
                ids = torch.tensor([text])
                tensors[f"contacts.{i}"] = base.predict_contacts(ids, torch.ones_like(ids))[0]
    for layer, weights in enumerate(output.attentions):
        tensors[f"attentions.{layer}"] = weights
    parameters = dict(model.named_parameters(remove_duplicate=False))
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            # In ESM's files, Transformers names the parameters of norms gamma and beta.
            own = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
            if own in parameters and parameters[own].grad is not None:
                tensors[f"gradient.{own}"] = parameters[own].grad
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.int() if value.dtype == torch.int64 else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def task(name, kind, config, tokenizer, seed, **special):
    """Makes a folder with a model and the tokenizer with this name. Returns the folder, the model and the tokenizer."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = OUT.parent.parent.parent / "headlight" / "text" / "tokenizers" / "testdata" / f"family_{tokenizer}.json"
    shutil.copy(path, folder / "tokenizer.json")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), **special)
    config.vocab_size = len(tokenizer)
    model = kind._from_config(config, attn_implementation="eager").eval()
    initialize(model, seed)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return folder, model, tokenizer


BERT_TOKENS = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
                   model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def pipelines():
    size = dict(LARGE, max_position_embeddings=24)
    folder, model, tokenizer = task("fill_mask", RobertaForMaskedLM, RobertaConfig(**dict(size, type_vocab_size=1)),
                                    "roberta", 40, pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")
    texts = ["A small <mask> runs.", "<mask> dogs, <mask> men.", "The<mask>."]
    filled = pipeline("fill-mask", model=model, tokenizer=tokenizer)(texts, top_k=3)
    filled = [masks if isinstance(masks[0], list) else [masks] for masks in filled]
    expected = [[[[word["token"], word["token_str"], word["score"]] for word in mask] for mask in masks] for masks in filled]
    (folder / "golden.json").write_text(json.dumps({"texts": texts, "expected": expected}) + "\n")

    folder, model, tokenizer = task("classify", BertForSequenceClassification,
                                    BertConfig(**size, id2label={0: "no", 1: "maybe", 2: "yes"},
                                               label2id={"no": 0, "maybe": 1, "yes": 2}), "bert_uncased", 41, **BERT_TOKENS)
    texts = [["A small dog runs."], ["Two men.", "Two dogs."], ["dog"], ["The children", "are playing in the meadow."]]
    run = pipeline("text-classification", model=model, tokenizer=tokenizer)
    inputs = [dict(zip(("text", "text_pair"), text)) for text in texts]
    golden = {"texts": texts}
    for problem in ("single_label_classification", "multi_label_classification", "regression"):
        model.config.problem_type = problem
        scores = [{one["label"]: one["score"] for one in run(text, top_k=None)} for text in inputs]
        golden[problem] = [[score[label] for label in ("no", "maybe", "yes")] for score in scores]
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")

    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    folder, model, tokenizer = task("tag", BertForTokenClassification,
                                    BertConfig(**size, id2label=dict(enumerate(names)),
                                               label2id={name: i for i, name in enumerate(names)}),
                                    "bert_cased", 47, **BERT_TOKENS)
    # Without this file, the tokenizer class would be BertTokenizer, which converts texts to lower case.
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}) + "\n")
    texts = ["A small dog runs across the green meadow.", "dog", "Two men, two dögs.", "The children are playing ☃ dogs."]
    golden = {"texts": texts}
    for labels in (names, ["O", "B-PER", "E-PER", "S-LOC", "LOC"]):
        model.config.id2label = dict(enumerate(labels))
        expected = {}
        for strategy in ("simple", "first", "average", "max"):
            run = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy=strategy)
            expected[strategy] = [[[one["entity_group"], one["start"], one["end"], float(one["score"])] for one in run(text)]
                                  for text in texts]
        golden["expected" if labels is names else "other_labels"] = expected
    golden["labels"] = labels
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")

    folder, model, tokenizer = task("answer", BertForQuestionAnswering, BertConfig(**size), "bert_uncased", 47, **BERT_TOKENS)
    passage = "A small dog runs across the green meadow. Two men are playing. "
    questions = [["dogs?", "Two men, two dogs."], ["Who runs?", passage], ["Two children?", passage * 4], ["men", "men men"], ["men", "men"]]
    golden = {"questions": questions, "expected": [], "always": []}
    for question, passage in questions:
        encoded = tokenizer(question, passage, truncation="only_second", max_length=24, stride=12,
                            return_overflowing_tokens=True, return_offsets_mapping=True)
        found, null = {}, 1e6  # for each text: the score and the first position
        for window, ids in enumerate(encoded["input_ids"]):
            with torch.no_grad():
                output = model(torch.tensor([ids]), token_type_ids=torch.tensor([encoded["token_type_ids"][window]]))
            inside = numpy.array([part == 1 for part in encoded.sequence_ids(window)])
            seen = inside | (numpy.array(ids) == tokenizer.cls_token_id)
            start, end = (torch.where(torch.tensor(seen), logits[0], -10000.0).softmax(0).numpy()
                          for logits in (output.start_logits, output.end_logits))
            null = min(null, float(start[0] * end[0]))
            scores = numpy.tril(numpy.triu(numpy.outer(start * inside, end * inside)), 4)
            for at in numpy.argsort(-scores.ravel(), kind="stable")[:12]:  # as in the pipeline of Transformers 4.57
                first, last = numpy.unravel_index(at, scores.shape)
                if scores[first, last] == 0:
                    continue
                begin, end = (encoded[window].word_to_chars(encoded[window].token_to_word(int(token)), 1)[side]
                              for token, side in ((first, 0), (last, 1)))
                text = passage[begin:end].lower()
                score, begin, end = found.get(text, (0.0, begin, end))
                found[text] = (score + float(scores[first, last]), begin, end)
        best = max(found.values(), key=lambda answer: answer[0])
        golden["always"].append(best)
        golden["expected"].append((null, 0, 0) if null > best[0] else best)
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")


def main():
    # DeBERTa's own norm computes in single precision.
    modeling_deberta.DebertaLayerNorm.forward = lambda self, x: torch.nn.functional.layer_norm(
        x, x.shape[-1:], self.weight, self.bias, self.variance_epsilon)
    for seed, (name, (kind, config, side)) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder = OUT / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        golden(model, folder, side)
        (folder / "generation_config.json").unlink(missing_ok=True)
        print(name)
    # The bucket of each distance 0, 1, ... for each pair of the number of buckets and the maximum distance.
    buckets = {f"{count},{most}": make_log_bucket_position(torch.arange(most), count, most).long().tolist()
               for count, most in ((256, 512), (32, 128), (6, 9))}
    (OUT / "buckets.json").write_text(json.dumps(buckets) + "\n")
    if not sys.argv[1:] or "pipelines" in sys.argv[1:]:
        pipelines()


main()
