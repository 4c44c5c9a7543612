#!/usr/bin/env python3
"""Makes tests/testdata/bert/: tiny models saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_bert_goldens.py

One folder per model: config.json and model.safetensors as save_pretrained writes them, and golden.safetensors. It has a
batch of texts of several lengths, with padding on the right or the left. Its outputs are computed in double precision
without dropout, and stored in single precision:
    last_hidden_state, and if the model has them, pooler_output, logits, seq_relationship_logits
    attentions.L
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
"""

import json
import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining, BertModel  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "bert"

# Heads of sizes 6 and 5 do not fill a vector register.
LARGE = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, vocab_size=23,
             max_position_embeddings=16, type_vocab_size=2)
ODD = dict(hidden_size=15, num_hidden_layers=1, num_attention_heads=3, intermediate_size=7, vocab_size=19,
           max_position_embeddings=11, type_vocab_size=3)

MODELS = {
    "gelu": (BertModel, BertConfig(**LARGE), "right"),
    "relu_odd_left": (BertModel, BertConfig(**ODD, hidden_act="relu", layer_norm_eps=1e-5), "left"),
    "masked_words": (BertForMaskedLM, BertConfig(**LARGE, hidden_act="gelu_new"), "right"),
    "pretraining_left": (BertForPreTraining, BertConfig(**ODD, hidden_act="silu"), "left"),
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
            value.copy_(1 + 0.2 * noise if "LayerNorm.weight" in name else (0.2 if name.endswith("bias") else 0.45) * noise)


def golden(model, folder, side):
    config = model.config
    inputs = {
        "input_ids": padded(TEXTS, side, config.pad_token_id),
        "attention_mask": padded([[1] * len(text) for text in TEXTS], side, 0),
        "token_type_ids": padded([[i * config.type_vocab_size // len(text) for i in range(len(text))] for text in TEXTS], side, 0),
    }
    model.double()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    output = model(**inputs, output_attentions=True, output_hidden_states=True)
    real = inputs["attention_mask"].bool()
    hidden = output.hidden_states[-1]
    tensors = {**inputs, "last_hidden_state": hidden}
    # Transformers pools the first column, which may be padding if texts are padded on the left. This script pools the
    # first token of each text.
    bert = model if isinstance(model, BertModel) else model.bert
    if bert.pooler is not None:
        first = real.int().argmax(1)
        pooled = bert.pooler(hidden[torch.arange(len(first)), first].unsqueeze(1))
        if "pooler_output" in output:
            output["pooler_output"] = pooled
        if "seq_relationship_logits" in output:
            output["seq_relationship_logits"] = model.cls.seq_relationship(pooled)
    # The loss is a weighted sum of all outputs. Every output therefore has a gradient.
    weigh = lambda x: (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()
    loss = weigh(hidden[real])
    for name in ("pooler_output", "prediction_logits", "logits", "seq_relationship_logits"):
        value = getattr(output, name, None)
        if value is None:
            continue
        tensors[name.replace("prediction_", "")] = value
        loss = loss + weigh(value[real] if value.dim() == 3 else value)
    loss.backward()
    tensors["loss"] = loss
    for layer, weights in enumerate(output.attentions):
        tensors[f"attentions.{layer}"] = weights
    parameters = dict(model.named_parameters(remove_duplicate=False))
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            if name in parameters and parameters[name].grad is not None:
                tensors[f"gradient.{name}"] = parameters[name].grad
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.int() if value.dtype == torch.int64 else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def sentences():
    """Makes a sentence-transformers folder with a tokenizer of text/tokenizers/testdata, and the outputs of its modules
    for some texts."""
    folder = OUT / "sentences"
    folder.mkdir()
    path = OUT.parent.parent.parent / "headlight" / "text" / "tokenizers" / "testdata" / "family_bert_uncased.json"
    shutil.copy(path, folder / "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    config = BertConfig(**dict(LARGE, vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=24))
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    initialize(model, 9)
    model.save_pretrained(folder)
    (folder / "modules.json").write_text(json.dumps([
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": config.hidden_size, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
         "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 20, "do_lower_case": False}))
    texts = ["A small dog runs across the green meadow.", "dog", "", "Two men, two dogs.", "The children are playing."]
    vectors = []
    model.double()
    for text in texts:
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        vectors.append(torch.nn.functional.normalize(hidden.mean(0), dim=0).tolist())
    (folder / "golden.json").write_text(json.dumps({"texts": texts, "vectors": vectors}) + "\n")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, side)) in enumerate(MODELS.items()):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        golden(model, folder, side)
        (folder / "generation_config.json").unlink(missing_ok=True)
        print(name, sorted(load_file(folder / "golden.safetensors"))[:6])
    sentences()


main()
