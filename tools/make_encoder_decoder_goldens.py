#!/usr/bin/env python3
"""Makes tests/testdata/encoder_decoders/: tiny T5 and BART models saved by Hugging Face Transformers, and PyTorch's
outputs for them.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_encoder_decoder_goldens.py [decoded]

"decoded" makes only decoded.json from the existing models.

One folder per model: config.json, generation_config.json and model.safetensors as save_pretrained writes them, and
golden.safetensors. It has padded sources and targets of several lengths. Their outputs are computed in double precision
without dropout, and stored in single precision:
    encoder_hidden, decoder_hidden, logits     decoder_hidden is the input of the output matrix
    encoder_attentions.L, decoder_attentions.L, cross_attentions.L
    loss, gradient.NAME                        of every parameter, under its name in model.safetensors
and for some models, decoded.json: the output of generate() for the sources, by settings.

A folder whose name ends in _text also has a tokenizer from headlight/text/testdata, and golden.json with the outputs
for a few texts: with the folder's settings, with the settings of a task, with a prefix, and from one language to
another.

buckets.json has T5's buckets of relative positions by number of buckets, largest distance and direction.
"""

import json
import os
import pathlib
import random
import shutil
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import (BartConfig, BartForConditionalGeneration, BartModel, MBartConfig,  # noqa: E402
                          MBartForConditionalGeneration, MT5Config, MT5ForConditionalGeneration, T5Config,
                          T5ForConditionalGeneration)
from transformers.models.t5.modeling_t5 import T5Attention  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "encoder_decoders"

# Heads of size 5 do not fill a vector register, and 2 x 5 differs from 12. There are few buckets, so short sentences
# reach the last bucket.
T5 = dict(d_model=12, d_kv=5, d_ff=14, num_layers=2, num_heads=2, vocab_size=24, decoder_start_token_id=0,
          relative_attention_num_buckets=8, relative_attention_max_distance=9)
ODD = dict(T5, d_model=15, d_kv=4, d_ff=7, num_layers=1, num_decoder_layers=2, num_heads=3)
BART = dict(d_model=12, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=14, decoder_ffn_dim=14, max_position_embeddings=24, vocab_size=24)
SMALL = dict(BART, d_model=9, encoder_layers=1, decoder_attention_heads=3, encoder_attention_heads=1, decoder_ffn_dim=7)

# For each folder: the class, the configuration, and the side of the sources' padding. BART counts positions from the
# first column, including padding, so its sources are not padded on the left.
MODELS = {
    "t5_relu": (T5ForConditionalGeneration, T5Config(**T5), "right"),
    "t5_gated_gelu_untied": (T5ForConditionalGeneration,
                             T5Config(**ODD, feed_forward_proj="gated-gelu", tie_word_embeddings=False), "left"),
    "mt5_gated_silu": (MT5ForConditionalGeneration,
                       MT5Config(**dict(ODD, relative_attention_num_buckets=7), feed_forward_proj="gated-silu"), "left"),
    "bart_gelu": (BartForConditionalGeneration, BartConfig(**BART), "right"),
    "bart_relu_plain": (BartModel, BartConfig(**SMALL, activation_function="relu", scale_embedding=True), "right"),
    "mbart_gelu": (MBartForConditionalGeneration,
                   MBartConfig(**SMALL, scale_embedding=True, decoder_start_token_id=2), "right"),
}
DECODED = ["t5_relu", "bart_gelu"]

SOURCES = [[3, 7, 12, 5, 21], [9, 4], [14, 12, 2, 18, 6, 11, 8, 20, 14, 3, 3, 22]]
TARGETS = [[5, 16, 2], [10, 8, 19, 3, 3, 15, 22, 4, 11, 11, 9], [7]]

# The settings of generate(). Unlike in published models, no end token is forced at the length limit.
SETTINGS = [
    dict(num_beams=1),
    dict(num_beams=3),
    dict(num_beams=1, no_repeat_ngram_size=2),
    dict(num_beams=3, no_repeat_ngram_size=1),
    dict(num_beams=4, no_repeat_ngram_size=3, length_penalty=2.0, min_length=9),
    dict(num_beams=1, min_length=12, forced_bos_token_id=17),
    dict(num_beams=3, forced_bos_token_id=17, early_stopping=True),
    dict(num_beams=2, early_stopping="never", length_penalty=0.7),
    dict(num_beams=2, early_stopping="never", length_penalty=-0.5),
    dict(num_beams=4, early_stopping=True, length_penalty=0.5),
    dict(num_beams=3, prefix=[13, 6], no_repeat_ngram_size=2, length_penalty=0.5),
    dict(num_beams=1, prefix=[13, 6], min_length=8),
    dict(num_beams=1, repetition_penalty=1.4),
    dict(num_beams=3, repetition_penalty=1.6),
    dict(num_beams=3, repetition_penalty=0.7, no_repeat_ngram_size=3),
    dict(num_beams=4, repetition_penalty=1.3, prefix=[13, 6], min_length=8),
]
LONGEST = 16


def padded(sentences, value, side="right"):
    longest = max(map(len, sentences))
    fill = [[value] * (longest - len(s)) for s in sentences]
    return torch.tensor([s + more if side == "right" else more + s for s, more in zip(sentences, fill)])


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    values = list(model.named_parameters())
    if hasattr(model, "final_logits_bias"):
        values.append(("final_logits_bias", model.final_logits_bias))
    with torch.no_grad():
        for name, value in values:
            noise = torch.randn(value.shape, generator=generator)
            gain = "norm" in name and name.endswith("weight")
            scale = 1.0 if "relative" in name else 0.2 if name.endswith("bias") else 0.4
            value.copy_(1 + 0.2 * noise if gain else scale * noise)


def untie(model, seed):
    generator = torch.Generator().manual_seed(seed)
    weight = 0.4 * torch.randn(model.lm_head.weight.shape, generator=generator)
    model.lm_head.weight = torch.nn.Parameter(weight)


def teach(model, generator):
    """Trains the model partially on a few sentences, so that beams differ and end at different lengths."""
    config = model.config
    words = lambda length: [generator.randrange(3, 23) for _ in range(length)] + [config.eos_token_id]
    source = padded([s + [config.eos_token_id] for s in SOURCES] + [words(length) for length in range(1, 8)],
                    config.pad_token_id)
    labels = padded([words(generator.randrange(3, 12)) for _ in source], -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(50):
        optimizer.zero_grad()
        model(input_ids=source, attention_mask=(source != config.pad_token_id).long(), labels=labels).loss.backward()
        optimizer.step()


def golden(model, folder, side):
    config = model.config
    eos, pad = config.eos_token_id, config.pad_token_id
    sources, targets = [s + [eos] for s in SOURCES], [[config.decoder_start_token_id] + t for t in TARGETS]
    inputs = {
        "input_ids": padded(sources, pad, side),
        "attention_mask": padded([[1] * len(s) for s in sources], 0, side),
        "decoder_input_ids": padded(targets, pad),
        "decoder_attention_mask": padded([[1] * len(t) for t in targets], 0),
    }
    model.double()
    model.zero_grad()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    output = model(**inputs, output_attentions=True, output_hidden_states=True)
    real, written = inputs["attention_mask"].bool(), inputs["decoder_attention_mask"].bool()
    decoder_hidden = output.decoder_hidden_states[-1]
    if getattr(config, "scale_decoder_outputs", False):
        decoder_hidden = decoder_hidden * config.d_model**-0.5
    tensors = {**inputs, "encoder_hidden": output.encoder_last_hidden_state, "decoder_hidden": decoder_hidden}
    # The loss is a weighted sum of all outputs. Every output therefore has a gradient.
    weigh = lambda x: (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()
    loss = weigh(output.encoder_last_hidden_state[real]) + weigh(decoder_hidden[written])
    if "logits" in output:
        tensors["logits"] = output.logits
        loss = loss + weigh(output.logits[written])
    loss.backward()
    tensors["loss"] = loss
    for kind in ("encoder_attentions", "decoder_attentions", "cross_attentions"):
        for layer, weights in enumerate(output[kind]):
            tensors[f"{kind}.{layer}"] = weights
    parameters = dict(model.named_parameters(remove_duplicate=False))
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            if name in parameters:
                tensors[f"gradient.{name}"] = parameters[name].grad
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.int() if value.dtype == torch.int64 else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def decoded(model, settings):
    """Returns [[(ids, score), ...] for each source]. The ids follow the start token and include the end token. Greedy
    results have no score."""
    config = model.config
    options = dict(settings)
    beams, prefix = options["num_beams"], options.pop("prefix", [])
    sources = [s + [config.eos_token_id] for s in SOURCES]
    if prefix:
        options["decoder_input_ids"] = torch.tensor([[config.decoder_start_token_id] + prefix] * len(sources))
    output = model.generate(padded(sources, config.pad_token_id),
                            attention_mask=padded([[1] * len(s) for s in sources], 0), num_return_sequences=beams,
                            max_length=LONGEST + 1, bad_words_ids=[[config.pad_token_id]], forced_eos_token_id=None,
                            do_sample=False, return_dict_in_generate=True, output_scores=True, **options)
    results = [[] for _ in sources]
    for i, row in enumerate(output.sequences.tolist()):
        ids = row[1:]
        if config.eos_token_id in ids:
            ids = ids[: ids.index(config.eos_token_id) + 1]
        score = [round(output.sequences_scores[i].item(), 6)] if beams > 1 else []
        results[i // beams].append([ids, *score])
    return results


def buckets():
    cases = []
    for count, longest in [(32, 128), (8, 9), (7, 9), (12, 64), (32, 200)]:
        for both in (True, False):
            distances = torch.arange(-longest, longest + 1)
            found = T5Attention._relative_position_bucket(distances, both, count, longest)
            cases.append(dict(buckets=count, max_distance=longest, both_directions=both, expected=found.tolist()))
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (OUT / "buckets.json").write_text(f"[\n{lines}\n]\n")


TEXTS = ["A small dog runs across the green meadow.", "Two men, two dogs.", "The children are playing.",
         "Ein Mann liest ein Buch."]
SUMMARIES = dict(num_beams=4, length_penalty=2.0, max_length=18, min_length=7, no_repeat_ngram_size=3,
                 early_stopping=True)


def with_languages(tokenizer):
    """Adds mBART's two languages to the tokenizer. One language token follows the end token of a source."""
    size = tokenizer.get_vocab_size()
    tokenizer.add_special_tokens(["de_DE", "en_XX"])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s> en_XX", pair="$A $B </s> en_XX",
        special_tokens=[("</s>", tokenizer.token_to_id("</s>")), ("en_XX", size + 1)])
    return tokenizer


def text_models():
    """Returns {name: (tokenizer file, function that changes the tokenizer, model, configuration, general settings,
    cases of (headlight's options, settings))}."""
    t5 = dict(T5, d_model=8, num_layers=1, d_ff=10)
    bart = dict(BART, d_model=8, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=10, decoder_ffn_dim=10,
                max_position_embeddings=40)
    return {
        "t5_text": ("family_t5.json", lambda tokenizer: tokenizer, T5ForConditionalGeneration,
                    lambda size: T5Config(**dict(t5, vocab_size=size + 5), task_specific_params={
                        "summarization": dict(SUMMARIES, prefix="summarize: ")}),
                    dict(max_length=18, num_beams=2),
                    [(dict(), {}), (dict(prefix="translate English to German: "), {}),
                     (dict(task="summarization"), SUMMARIES)]),
        "bart_text": ("family_roberta.json", lambda tokenizer: tokenizer, BartForConditionalGeneration,
                      lambda size: BartConfig(**dict(bart, vocab_size=size)),
                      dict(SUMMARIES, forced_bos_token_id=0, forced_eos_token_id=None), [(dict(), {})]),
        "mbart_text": ("family_t5.json", with_languages, MBartForConditionalGeneration,
                       lambda size: MBartConfig(**dict(bart, vocab_size=size), eos_token_id=1, pad_token_id=0,
                                                bos_token_id=None, decoder_start_token_id=1),
                       dict(max_length=18, num_beams=2, forced_eos_token_id=None),
                       [(dict(), {}), (dict(source_language="de_DE", target_language="en_XX"),
                                       dict(forced_bos_token_id="en_XX"))]),
    }


def text_golden(name, seed, file, change, kind, config_of, general, cases):
    folder = OUT / name
    folder.mkdir()
    testdata = OUT.parent.parent.parent / "headlight" / "text" / "tokenizers" / "testdata"
    tokenizer = change(tokenizers.Tokenizer.from_file(str(testdata / file)))
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = config_of(tokenizer.get_vocab_size())
    model = kind._from_config(config).eval()
    initialize(model, seed)
    # Train the model partially to map each text to another text.
    ids = [tokenizer.encode(text).ids for text in TEXTS]
    source, labels = padded(ids, config.pad_token_id), padded(ids[1:] + ids[:1], -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        model(input_ids=source, attention_mask=(source != config.pad_token_id).long(), labels=labels).loss.backward()
        optimizer.step()
    for key, value in general.items():
        setattr(model.generation_config, key, value)
        if hasattr(config, key):
            setattr(config, key, value)
    model.save_pretrained(folder)
    results = []
    for options, settings in cases:
        settings = dict(settings)
        if "forced_bos_token_id" in settings:
            settings["forced_bos_token_id"] = tokenizer.token_to_id(settings["forced_bos_token_id"])
        prefix = options.get("prefix", "summarize: " if "task" in options else "")
        expected = []
        for text in TEXTS:
            tokens = tokenizer.encode(prefix + text).ids
            if "source_language" in options:
                tokens = tokens[:-1] + [tokenizer.token_to_id(options["source_language"])]
            output = model.generate(torch.tensor([tokens]), do_sample=False, bad_words_ids=[[config.pad_token_id]],
                                    **settings)
            expected.append(tokenizer.decode(output[0].tolist(), skip_special_tokens=True))
        results.append(dict(options=options, expected=expected))
    (folder / "golden.json").write_text(json.dumps(dict(texts=TEXTS, cases=results), indent=1) + "\n")
    print(name, [result["expected"] for result in results])


def write_decoded(model, folder):
    cases = [dict(settings, sentences=decoded(model, settings)) for settings in SETTINGS]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (folder / "decoded.json").write_text(f"[\n{lines}\n]\n")
    print(folder.name, [[len(hypotheses[0][0]) for hypotheses in case["sentences"]] for case in cases])


def main():
    if sys.argv[1:] == ["decoded"]:
        for name in DECODED:
            write_decoded(MODELS[name][0].from_pretrained(OUT / name, attn_implementation="eager").eval(), OUT / name)
        return
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (kind, config, side)) in enumerate(MODELS.items()):
        folder = OUT / name
        folder.mkdir(parents=True)
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        if "untied" in name:
            untie(model, seed + 100)
        if name in DECODED:
            teach(model, random.Random(seed))
        model.save_pretrained(folder)
        if name in DECODED:
            write_decoded(model, folder)
        golden(model, folder, side)
        print(name, sum(file.stat().st_size for file in folder.iterdir()), "bytes",
              sorted(load_file(folder / "model.safetensors"))[:3])
    for seed, (name, parts) in enumerate(text_models().items()):
        text_golden(name, seed, *parts)
    buckets()


main()
