#!/usr/bin/env python3
"""Makes tests/testdata/generation_settings.json: Transformers' outputs for each setting of generation_config.json.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_generation_setting_goldens.py

"texts": a model folder of tests/testdata, the content of generation_config.json, the input, and the tokens that the
model or its decoder generates, including end tokens. "pieces": the text of each token, for stop_strings. "sampling":
scores of a vocabulary, settings, and the probabilities after Transformers' processors.
"""

import json
import os
import pathlib

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from tokenizers import Tokenizer, decoders, models  # noqa: E402
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GenerationConfig  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from transformers.generation import logits_process as processors  # noqa: E402
from transformers.modeling_outputs import BaseModelOutput  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata"
INPUTS = {"gpt/gpt2": [[3, 5, 9, 11], [7, 4, 4, 8, 13, 6, 17]],
          "encoder_decoders/bart_gelu": [[5, 9, 11, 2], [7, 4, 4, 8, 13, 6, 2]],
          "encoder_decoders/t5_relu": [[5, 9, 11, 1], [7, 4, 4, 8, 13, 6, 1]]}


PIECES = ["a", "b", "c", "d", "e", "f", "ab", "bc", "cd", "de", "ef", "fa", "aab", "g", "h", "gh", "hg", "i", "ia", "j", "aj",
          "k", "kk", "l"]


def tokenizer_of_pieces():
    tokenizer = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(PIECES)}, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


CACHED_GUIDANCE = processors.UnbatchedClassifierFreeGuidanceLogitsProcessor.get_unconditional_logits


def unconditional_logits(guidance, ids):
    """Returns the unconditional logits of guidance. Transformers does not reorder its cache for beams, so beams run
    without a cache. It does not support encoder-decoders, so their decoder attends to one state of zeros, as in
    MusicGen."""
    config = guidance.model.config
    context = guidance.unconditional_context
    prompt = context.setdefault("prompt", ids.shape[1] - 1)
    if not config.is_encoder_decoder and len(ids) == 1:
        return CACHED_GUIDANCE(guidance, ids)
    if not config.is_encoder_decoder:
        return guidance.model(ids[:, prompt:], use_cache=False).logits
    states = torch.zeros(len(ids), 1, config.d_model, dtype=guidance.model.dtype)
    return guidance.model(encoder_outputs=BaseModelOutput(states), decoder_input_ids=ids, use_cache=False).logits


processors.UnbatchedClassifierFreeGuidanceLogitsProcessor.get_unconditional_logits = unconditional_logits


def generate(model, inputs, settings):
    config = GenerationConfig(**{"pad_token_id": 0 if model.config.pad_token_id is None else model.config.pad_token_id, "bos_token_id": 0, "eos_token_id": model.config.eos_token_id,
                                 "decoder_start_token_id": getattr(model.config, "decoder_start_token_id", None),
                                 **settings})
    config._from_model_config = False
    outputs = []
    for ids in inputs:
        tokenizer = {"tokenizer": tokenizer_of_pieces()} if "stop_strings" in settings else {}
        found = model.generate(torch.tensor([ids]), generation_config=config, **tokenizer)[0].tolist()
        outputs.append(found[1:] if model.config.is_encoder_decoder else found[len(ids):])
    return outputs


def settings_for(model, inputs):
    """Yields settings that change the generated text. They contain tokens that the model generates without the
    settings."""
    length = {"max_new_tokens": 9}
    plain = generate(model, inputs, {**length, "num_beams": 1})
    first, second = plain[0][0], plain[0][1]
    often = max(set(sum(plain, [])), key=sum(plain, []).count)
    end = model.config.eos_token_id
    text = [PIECES[token] for token in plain[0]]
    written_before = PIECES[model.config.decoder_start_token_id if model.config.is_encoder_decoder else inputs[0][-1]]
    one = [
        {"max_new_tokens": 4},
        {"max_new_tokens": 5, "min_new_tokens": 5},
        {"max_length": 12, "min_length": 10},
        {"bad_words_ids": [[first], [second, often], [end]]},
        {"bad_words_ids": [[first, second]], "suppress_tokens": [often]},
        {"sequence_bias": [[[first], -4.0], [[second, often], 3.0], [[6], 2.5]]},
        {"begin_suppress_tokens": [first, 6]},
        {"suppress_tokens": [first, second]},
        {"encoder_repetition_penalty": 4.0},
        {"encoder_repetition_penalty": 0.3, "repetition_penalty": 1.8},
        {"repetition_penalty": 2.5, "no_repeat_ngram_size": 2},
        {"encoder_no_repeat_ngram_size": 1},
        {"encoder_no_repeat_ngram_size": 2, "sequence_bias": [[[5], 4.0], [[5, 9], 6.0]]},
        {"exponential_decay_length_penalty": [2, 1.9]},
        {"exponential_decay_length_penalty": [1, 0.5], "bad_words_ids": [[often]]},
        {"eos_token_id": [end, often]},
        {"eos_token_id": [often, second], "min_new_tokens": 3},
        {"forced_eos_token_id": end, "max_new_tokens": 5},
        {"forced_eos_token_id": [end, 19], "max_new_tokens": 5},
        {"forced_eos_token_id": 19, "max_new_tokens": 4},
        {"stop_strings": [text[2][-1] + text[3][0]]},
        {"stop_strings": "".join(text[1:4])},
        {"stop_strings": ["xyz", text[4]], "min_new_tokens": 6},
        {"stop_strings": [written_before[-1] + text[0]], "max_new_tokens": 5},
        {"stop_strings": [text[3], text[4][-1]], "eos_token_id": [end, second]},
    ]
    if model.config.is_encoder_decoder:
        one += [
            {"forced_bos_token_id": 6},
            {"forced_bos_token_id": 6, "begin_suppress_tokens": [first, second, often]},
            {"decoder_start_token_id": 8},
            {"decoder_start_token_id": 8, "bad_words_ids": [[8, first], [first]]},
            {"sequence_bias": [[[model.config.pad_token_id], 9.0]]},
            {"sequence_bias": [[[model.config.pad_token_id], 9.0]], "bad_words_ids": [[model.config.pad_token_id]]},
        ]
    else:
        one += [{"forced_bos_token_id": 6}, {"decoder_start_token_id": 8}]
    # With penalties, a constant that is added to all scores changes the result.
    one += [{"guidance_scale": 1.8}, {"guidance_scale": 0.4, "suppress_tokens": [often]},
            {"guidance_scale": 1.8, "repetition_penalty": 2.5}, {"guidance_scale": 1.8, "repetition_penalty": 0.6},
            {"guidance_scale": 2.5, "encoder_repetition_penalty": 3.0},
            {"guidance_scale": 2.5, "exponential_decay_length_penalty": [1, 1.9]}]
    for settings in one:
        lengths = {} if "max_new_tokens" in settings or "max_length" in settings else length
        for beams in (1, 3):
            # With beams, Transformers does not specify the order of several forced end tokens.
            if beams == 1 or not isinstance(settings.get("forced_eos_token_id"), list):
                yield {**lengths, **settings, "num_beams": beams}
    for renormalize in (False, True):
        yield {**length, "num_beams": 3, "renormalize_logits": renormalize, "suppress_tokens": [first, often]}
        yield {**length, "num_beams": 3, "renormalize_logits": renormalize, "repetition_penalty": 3.0}


WARPERS = {"temperature": processors.TemperatureLogitsWarper, "top_h": processors.TopHLogitsWarper,
           "top_k": processors.TopKLogitsWarper, "top_p": processors.TopPLogitsWarper,
           "min_p": processors.MinPLogitsWarper, "typical_p": processors.TypicalLogitsWarper,
           "epsilon_cutoff": processors.EpsilonLogitsWarper, "eta_cutoff": processors.EtaLogitsWarper}


def sampling():
    generator = torch.Generator().manual_seed(4)
    runs = []
    for size, spread in ((12, 1.5), (150, 2.0), (150, 0.2)):
        scores = torch.randn(size, generator=generator) * spread
        for settings in ({}, {"temperature": 0.6}, {"top_h": 0.4}, {"top_h": 0.8, "temperature": 2.0}, {"top_k": 7},
                         {"top_p": 0.6}, {"min_p": 0.2}, {"min_p": 0.05, "temperature": 3.0}, {"typical_p": 0.5},
                         {"typical_p": 0.95, "top_k": 9}, {"epsilon_cutoff": 0.02}, {"epsilon_cutoff": 0.5},
                         {"eta_cutoff": 0.03}, {"eta_cutoff": 0.002, "temperature": 1.7},
                         {"top_h": 0.9, "top_k": 11, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.9,
                          "epsilon_cutoff": 0.01, "eta_cutoff": 0.02, "temperature": 1.4}):
            kept = scores[None]
            for name, warper in WARPERS.items():
                if name in settings:
                    kept = warper(settings[name])(None, kept)
            runs.append({"scores": scores.tolist(), "settings": settings, "probabilities": kept.softmax(-1)[0].tolist()})
    return runs


def main():
    texts = []
    for name, inputs in INPUTS.items():
        kind = AutoModelForCausalLM if name.startswith("gpt") else AutoModelForSeq2SeqLM
        model = kind.from_pretrained(DATA / name).double().eval()
        model.generation_config = GenerationConfig()  # the model's own configuration would provide defaults
        settings = [(one, inputs) for one in settings_for(model, inputs)]
        if not model.config.is_encoder_decoder:  # no first token is forced for longer prompts
            short = [[inputs[0][0]], [inputs[1][0]]]
            for beams in (1, 3):
                for one in ({"forced_bos_token_id": 6}, {"forced_bos_token_id": 6, "begin_suppress_tokens": [1, 15, 17]}):
                    settings.append(({"max_new_tokens": 6, **one, "num_beams": beams}, short))
        for settings, inputs in settings:
            texts.append({"model": name, "settings": settings, "inputs": inputs,
                          "outputs": generate(model, inputs, settings)})
    (DATA / "generation_settings.json").write_text(json.dumps({"pieces": PIECES, "texts": texts, "sampling": sampling()}) + "\n")


main()
