#!/usr/bin/env python3
"""Makes tests/testdata/transformers/: tiny models saved by Hugging Face Transformers, and PyTorch's outputs for them.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_transformer_goldens.py

One folder per model: config.json, generation_config.json and model.safetensors as save_pretrained writes them, and
golden.safetensors. It has three padded sentence pairs. Their outputs are computed in double precision without dropout,
and stored in single precision:
    logits, loss               with label smoothing 0.1, the mean over the labels that are not padding
    encoder_attentions.L, decoder_attentions.L, cross_attentions.L
    gradient.NAME              of every parameter, under its name in model.safetensors
    steps.loss, steps.norm     before each of ten Adam steps; the norm is computed before clipping
    after.NAME                 every parameter after these steps
and beams.json: the output of generate() for the sources in single precision.
"""

import json
import math
import os
import pathlib
import random
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import MarianConfig, MarianMTModel, PegasusConfig, PegasusForConditionalGeneration  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "transformers"

# Heads of size 6 do not fill a vector register. The encoder and the decoder have different sizes where possible.
LARGE = dict(d_model=12, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
             encoder_ffn_dim=20, decoder_ffn_dim=20, max_position_embeddings=24, vocab_size=24)
SMALL = dict(LARGE, d_model=8, encoder_layers=1, encoder_attention_heads=4, encoder_ffn_dim=10, decoder_ffn_dim=14)
MARIAN = dict(eos_token_id=0, pad_token_id=23, decoder_start_token_id=23)
PEGASUS = dict(eos_token_id=1, pad_token_id=0, decoder_start_token_id=0)

MODELS = {
    "marian_relu": MarianConfig(**LARGE, **MARIAN, activation_function="relu", scale_embedding=True),
    "marian_swish_untied_output": MarianConfig(**SMALL, **MARIAN, activation_function="swish", scale_embedding=True,
                                               share_encoder_decoder_embeddings=False, tie_word_embeddings=False),
    "marian_gelu_two_tables": MarianConfig(**dict(SMALL, vocab_size=27), **MARIAN, decoder_vocab_size=24,
                                           activation_function="gelu", share_encoder_decoder_embeddings=False),
    "pegasus_gelu": PegasusConfig(**LARGE, **PEGASUS, activation_function="gelu", scale_embedding=True),
    "pegasus_relu_unscaled": PegasusConfig(**SMALL, **PEGASUS, activation_function="relu"),
}
BEAMS = ["marian_relu", "pegasus_gelu"]

SOURCES = [[3, 7, 12, 5, 21], [9, 4], [14, 2, 2, 18, 6, 11, 8, 20]]
TARGETS = [[5, 16, 2], [10, 8, 19, 3, 3, 15, 22], [7]]

LABEL_SMOOTHING = 0.1
STEPS, WARMUP, PEAK, CLIP_NORM = 10, 6, 0.01, 2.1


def sinusoids(positions, model):
    """Returns sinusoidal positions in double precision. Transformers rounds them to single precision."""
    angles = torch.tensor([[p / 10000 ** (2 * i / model) for i in range(model // 2)] for p in range(positions)],
                          dtype=torch.float64)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*model.named_parameters(), ("final_logits_bias", model.final_logits_bias)]:
            if "embed_positions" in name:
                continue
            noise = torch.randn(value.shape, generator=generator)
            if "norm.weight" in name:
                value.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                value.copy_(0.2 * noise)
            else:
                value.copy_(0.45 * noise)


def padded(sentences, value):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in sentences], batch_first=True, padding_value=value)


def teach(model, generator):
    """Trains the model partially on a few sentences, so that beams differ and end at different lengths."""
    config = model.config
    words = lambda length: [generator.randrange(2, 23) for _ in range(length)] + [config.eos_token_id]
    source = padded([s + [config.eos_token_id] for s in SOURCES] + [words(length) for length in range(1, 8)],
                    config.pad_token_id)
    labels = padded([words(generator.randrange(2, 9)) for _ in source], -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        model(input_ids=source, attention_mask=(source != config.pad_token_id).long(), labels=labels).loss.backward()
        optimizer.step()


def in_double(model):
    """Converts the model to double precision. Also enables training of the padding token's embedding. PyTorch disables
    it, although every target sentence begins with this token."""
    model.double()
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    for stack in (model.model.encoder, model.model.decoder):
        weight = stack.embed_positions.weight
        weight.requires_grad_(False)
        weight.copy_(sinusoids(*weight.shape))


def trained(model, path):
    """Returns the parameters by their names in the file, in the order of the file. Each tied parameter is included
    only once."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    with safe_open(path, "pt") as file:
        names = [name for name in file.keys() if name in parameters and parameters[name].requires_grad]
    assert len({id(parameters[name]) for name in names}) == len(names) == sum(1 for p in model.parameters()
                                                                              if p.requires_grad)
    return {name: parameters[name] for name in names}


def golden(model, folder):
    config = model.config
    eos, pad = config.eos_token_id, config.pad_token_id
    inputs = {
        "input_ids": padded([s + [eos] for s in SOURCES], pad),
        "attention_mask": padded([[1] * (len(s) + 1) for s in SOURCES], 0),
        "decoder_input_ids": padded([[config.decoder_start_token_id] + t for t in TARGETS], pad),
    }
    labels = padded([t + [eos] for t in TARGETS], -100)
    in_double(model)
    parameters = trained(model, folder / "model.safetensors")
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=LABEL_SMOOTHING)
    optimizer = torch.optim.Adam(parameters.values(), lr=1, betas=(0.9, 0.98), eps=1e-9)
    tensors = {**inputs, "labels": labels}
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        output = model(**inputs, output_attentions=True)
        loss = loss_of(output.logits.flatten(0, 1), labels.flatten())
        loss.backward()
        if step == 1:
            tensors["logits"], tensors["loss"] = output.logits, loss
            for kind in ("encoder_attentions", "decoder_attentions", "cross_attentions"):
                for layer, weights in enumerate(output[kind]):
                    tensors[f"{kind}.{layer}"] = weights
            tensors |= {f"gradient.{name}": parameter.grad.clone() for name, parameter in parameters.items()}
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(parameters.values(), CLIP_NORM).item())
        # The paper's schedule, scaled so that its maximum is PEAK.
        factor = PEAK * math.sqrt(config.d_model * WARMUP)
        for group in optimizer.param_groups:
            group["lr"] = factor * config.d_model**-0.5 * min(step**-0.5, step * WARMUP**-1.5)
        optimizer.step()
    assert min(norms) < CLIP_NORM < max(norms), norms
    tensors |= {f"after.{name}": parameter for name, parameter in parameters.items()}
    tensors["steps.loss"], tensors["steps.norm"] = torch.tensor(losses).double(), torch.tensor(norms).double()
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        if value.dtype == torch.float64 and value.numel() > STEPS:
            tensors[name] = value.float()
        elif value.dtype == torch.int64:
            tensors[name] = value.int()
    save_file(tensors, folder / "golden.safetensors")
    print(folder.name, "loss", *(f"{value:.3f}" for value in losses), "norm", *(f"{value:.2f}" for value in norms))


def generated(model, beam_size, length_penalty, max_length):
    """Returns [(ids, score), ...] for each source. In contrast to headlight, Transformers counts the start token."""
    config = model.config
    options = dict(num_beams=beam_size, num_return_sequences=beam_size, length_penalty=length_penalty,
                   early_stopping=False, max_length=max_length + 1, bad_words_ids=[[config.pad_token_id]],
                   forced_eos_token_id=None, do_sample=False, return_dict_in_generate=True, output_scores=True)
    input_ids = padded([s + [config.eos_token_id] for s in SOURCES], config.pad_token_id)
    mask = padded([[1] * (len(s) + 1) for s in SOURCES], 0)
    if beam_size == 1:
        options.pop("length_penalty")
        options.pop("early_stopping")
    output = model.generate(input_ids, attention_mask=mask, **options)
    results = [[] for _ in SOURCES]
    for i, row in enumerate(output.sequences.tolist()):
        sentence = i // beam_size
        ids = row[1:]
        if config.eos_token_id in ids:
            ids = ids[: ids.index(config.eos_token_id) + 1]
        # generate() returns no score for greedy search. Here, it is the sum of the generated tokens' log-probabilities.
        words = torch.tensor([row[: len(ids) + 1]])
        with torch.no_grad():
            logits = model(input_ids[sentence:sentence + 1], attention_mask=mask[sentence:sentence + 1],
                           decoder_input_ids=words[:, :-1]).logits
        sums = logits.log_softmax(-1).gather(2, words[:, 1:, None]).sum().item()
        score = sums / len(ids) ** length_penalty
        if beam_size > 1:
            assert abs(score - output.sequences_scores[i].item()) < 1e-4
            score = output.sequences_scores[i].item()
        results[sentence].append([ids, score])
    return results


def beams(model):
    cases = []
    for beam_size in (1, 2, 4):
        for length_penalty in (0.0, 0.6, 1.0, 2.0):
            for max_length in (5, 20):
                cases.append({"beam_size": beam_size, "length_penalty": length_penalty, "max_length": max_length,
                              "sentences": generated(model, beam_size, length_penalty, max_length)})
    return cases


def rounded(value):
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, config) in enumerate(MODELS.items()):
        config._attn_implementation = "eager"  # the only implementation that returns attention weights
        kind = PegasusForConditionalGeneration if name.startswith("pegasus") else MarianMTModel
        model = kind(config).eval()
        initialize(model, seed)
        if name in BEAMS:
            teach(model, random.Random(seed))
        folder = OUT / name
        model.save_pretrained(folder)
        if name in BEAMS:
            cases = beams(model)
            lengths = {len(ids) for case in cases for sentence in case["sentences"] for ids, _ in sentence}
            print(name, "lengths", sorted(lengths))
            lines = [json.dumps({**case, "sentences": rounded(case["sentences"])}, separators=(",", ":"))
                     for case in cases]
            (folder / "beams.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
        golden(model, folder)


main()
