#!/usr/bin/env python3
"""Checks that Hugging Face Transformers loads model folders that headlight wrote, and computes the same outputs.

    pip install torch transformers sentencepiece
    tools/check_transformers_loads.py build/release/headlight TEXT FOLDER...

TEXT is a file of sentences in the source language. For a language model, it is a file of prompts. A few dozen lines are
enough. For each model folder, these properties are checked:
- no tensor is missing, is unexpected or has a different shape;
- the logits of random ids equal the logits of `headlight forward` to 1e-4 of their scale;
- if it has a tokenizer: AutoTokenizer and tokenizer.json give the same ids. The two best translations of each sentence,
  with their scores, equal the results of `headlight translate`. For a language model, the greedy and beam search
  continuations of each prompt, and the prompt's log-probability, equal the results of `headlight generate` and `score`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import (AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer,  # noqa: E402
                          PreTrainedTokenizerFast)

BEAMS = dict(num_beams=4, length_penalty=0.6, max_new_tokens=60)


def padded(sentences, value):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in sentences], batch_first=True, padding_value=value)


def check_logits(program, folder, model):
    config, generator = model.config, torch.Generator().manual_seed(1)
    longest = min(40, getattr(config, "max_position_embeddings", 40))  # T5 has no maximum number of positions
    words = lambda size: torch.randint(size, (int(torch.randint(1, longest, (1,), generator=generator)),),
                                       generator=generator).tolist()
    sources = [words(config.vocab_size) for _ in range(5)]
    if not config.is_encoder_decoder:
        inputs = {"input_ids": padded(sources, 0), "attention_mask": padded([[1] * len(s) for s in sources], 0)}
        return compare_logits(program, folder, model, inputs, inputs, inputs["attention_mask"])
    targets = [[config.decoder_start_token_id] + words(model.lm_head.out_features) for _ in sources]
    inputs = {"input_ids": padded(sources, config.pad_token_id),
              "attention_mask": padded([[1] * len(s) for s in sources], 0),
              "decoder_input_ids": padded(targets, config.pad_token_id)}
    mask = padded([[1] * len(t) for t in targets], 0)
    return compare_logits(program, folder, model, inputs, {**inputs, "decoder_attention_mask": mask}, mask)


def compare_logits(program, folder, model, inputs, to_headlight, mask):
    with torch.no_grad():
        expected = model(**inputs).logits
    with tempfile.TemporaryDirectory() as temporary:
        into, out = f"{temporary}/in.safetensors", f"{temporary}/out.safetensors"
        save_file(to_headlight, into)
        subprocess.run([program, "forward", folder, into, "--out", out], check=True)
        logits = load_file(out)["logits"]
    difference = ((logits - expected).abs().amax(-1) * mask).max().item() / expected.abs().max().item()
    assert difference < 1e-4, f"{folder}: logits differ by {difference} of their scale"
    return f"logits differ by {difference:.1e} of their scale"


def check_text(program, folder, model, text):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    lines = [line for line in pathlib.Path(text).read_text().splitlines() if line.strip()]
    ids = [tokenizer(line).input_ids for line in lines]
    if (pathlib.Path(folder) / "tokenizer.json").exists():
        fast = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
        for line, expected in zip(lines, ids):
            assert fast(line).input_ids == expected, f"{folder}: the tokenizers differ on {line!r}"
    arguments = ["--beam-size", BEAMS["num_beams"], "--length-penalty", BEAMS["length_penalty"],
                 "--max-length", BEAMS["max_new_tokens"], "--n-best", 2, "--quiet"]
    output = subprocess.run([program, "translate", folder, "-", *map(str, arguments)], check=True, text=True,
                            input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE).stdout
    ours = [line.split("\t") for line in output.splitlines()]
    assert len(ours) == 2 * len(lines), f"{folder}: {len(ours)} translations of {len(lines)} lines"
    for i, line in enumerate(lines):
        # Transformers' own settings force </s> at the length limit, but headlight does not.
        found = model.generate(torch.tensor([ids[i]]), **BEAMS, num_return_sequences=2, forced_eos_token_id=None,
                               return_dict_in_generate=True, output_scores=True)
        for n in range(2):
            theirs = tokenizer.decode(found.sequences[n], skip_special_tokens=True)
            score = found.sequences_scores[n].item()
            _, our_score, translation = ours[2 * i + n]
            assert translation == theirs, f"{folder}: {line!r}: {translation!r} is not {theirs!r}"
            assert abs(float(our_score) - score) < 1e-3, f"{folder}: {line!r}: {our_score} is not {score}"
    return f"{len(lines)} lines: ids, translations and scores are the same"


def check_continuations(program, folder, model, text):
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
    lines = [line for line in pathlib.Path(text).read_text().splitlines() if line.strip()]
    ask = lambda *arguments: [json.loads(row) for row in subprocess.run(
        [program, *arguments, "--json", "--quiet"], check=True, text=True, input="".join(line + "\n" for line in lines),
        stdout=subprocess.PIPE).stdout.splitlines()]
    for beams in (1, 4):
        ours = ask("generate", folder, "--max-new-tokens", "20", "--beam-size", str(beams), "--no-sample")
        for line, row in zip(lines, ours):
            ids = tokenizer(line, return_tensors="pt").input_ids
            found = model.generate(ids, num_beams=beams, do_sample=False, max_new_tokens=20, pad_token_id=0)[0]
            # Decode with the prompt, because some decoders add a space before the first word only after a prompt.
            read = lambda ids: tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            theirs = read(found).removeprefix(read(ids[0]))
            assert row["text"] == theirs, f"{folder}: {line!r}, {beams} beams: {row['text']!r} is not {theirs!r}"
    first = model.config.bos_token_id
    for line, row in zip(lines, ask("score", folder)):
        ids = torch.tensor([([] if first is None else [first]) + tokenizer(line).input_ids])
        with torch.no_grad():
            logs = model(ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None]).sum().item()
        assert abs(logs - row["log_probability"]) <= 1e-4 * abs(logs), f"{folder}: {line!r}: {row} is not {logs}"
    return f"{len(lines)} lines: texts and log-probabilities are the same"


def main():
    program, text, *folders = sys.argv[1:]
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    for folder in folders:
        translates = AutoConfig.from_pretrained(folder).is_encoder_decoder
        kind = AutoModelForSeq2SeqLM if translates else AutoModelForCausalLM
        model, loading = kind.from_pretrained(folder, output_loading_info=True)
        wrong = {what: names for what, names in loading.items() if names}
        assert not wrong, f"{folder}: {wrong}"
        model.eval()
        print(f"{folder}: {type(model).__name__}: {check_logits(program, folder, model)}")
        if translates and (pathlib.Path(folder) / "tokenizer_config.json").exists():
            print(f"{folder}: {check_text(program, folder, model, text)}")
        if not translates and (pathlib.Path(folder) / "tokenizer.json").exists():
            print(f"{folder}: {check_continuations(program, folder, model, text)}")


main()
