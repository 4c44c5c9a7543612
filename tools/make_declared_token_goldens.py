#!/usr/bin/env python3
"""Writes tests/testdata/declared_tokens.json: tokenizer folders whose files declare special and added tokens, with the
ids that Transformers' AutoTokenizer (5.24) gives.

    pip install transformers sentencepiece protobuf
    tools/make_declared_token_goldens.py [build/release/headlight [FOLDERS]]

If the program is given, the ids of FOLDERS (default 200) additional random folders are compared with the output of
`headlight tokenize`.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

from transformers import AutoTokenizer  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTDATA = ROOT / "headlight" / "text" / "tokenizers" / "testdata"
GOLDENS = 45
# The kinds of folders: the family of the vocabulary, the file name, and the tokenizer class.
KINDS = {
    "bert": ("bert_uncased", "vocab.txt", "BertTokenizer"),
    "gpt2": ("gpt2", "merges.txt", "GPT2Tokenizer"),
    "roberta": ("roberta", "merges.txt", "RobertaTokenizer"),
    "bart": ("roberta", "merges.txt", "BartTokenizer"),
    "gpt1": ("gpt1", "merges.txt", "OpenAIGPTTokenizer"),
    "clip": ("clip", "merges.txt", "CLIPTokenizer"),
    "t5": ("spm_t5.model", "spiece.model", "T5Tokenizer"),
    "xlm_roberta": ("spm_fairseq.model", "sentencepiece.bpe.model", "XLMRobertaTokenizer"),
    "class_bert": ("bert_uncased", "tokenizer.json", "BertTokenizer"),
    "class_gpt2": ("gpt2", "tokenizer.json", "GPT2Tokenizer"),
    "class_roberta": ("roberta", "tokenizer.json", "RobertaTokenizer"),
    "class_convbert": ("bert_uncased", "tokenizer.json", "ConvBertTokenizer"),  # a class without its own code
    "fast_bert": ("bert_uncased", "tokenizer.json", "PreTrainedTokenizerFast"),
    "fast_gpt2": ("gpt2", "tokenizer.json", "PreTrainedTokenizerFast"),
    "fast_added": ("added", "tokenizer.json", "PreTrainedTokenizerFast"),
    "fast_t5": ("t5", "tokenizer.json", "PreTrainedTokenizerFast"),
}
CONTENTS = ["[E1]", "[/E1]", "<|user|>", "new york", "Zürich", "dog", "he", "of the", "@", "ing", "<image>"]
TEXTS = ["The [E1] dog [/E1] runs.", "<|user|>Hi,new york <|user|>  ", "dogs dog DOG hedge he", "New York, zürich Zürich.",
         "x @@ @y of theory of the @", "  [E1]ing <image><image> running ", "Don't go , they 've l\u00e4uft 日本 !", "<s> a [MASK] <mask> </s>", "[e1] \t[/e1]\nend"]
FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


def vocabulary_files(kind):
    """Returns the contents of the vocabulary's files by name."""
    family, file, _ = KINDS[kind]
    if file.endswith(".model"):
        return {}
    data = json.loads((TESTDATA / f"family_{family}.json").read_text())
    if file == "tokenizer.json":
        return {file: json.dumps(data, ensure_ascii=False)}
    vocabulary = dict(data["model"]["vocab"])
    vocabulary.update({token["content"]: token["id"] for token in data["added_tokens"]})
    if file == "vocab.txt":
        return {file: "".join(piece + "\n" for piece in sorted(vocabulary, key=vocabulary.get))}
    merges = "".join((merge if isinstance(merge, str) else " ".join(merge)) + "\n" for merge in data["model"]["merges"])
    return {"vocab.json": json.dumps(vocabulary, ensure_ascii=False), "merges.txt": "#version: 0.2\n" + merges}


def declared_files(kind, vocabulary, rng):
    """Returns random files that declare tokens, by name. Tokens that are not in the vocabulary get the next ids."""
    config = {"tokenizer_class": KINDS[kind][2]}
    files = {"tokenizer_config.json": config}
    contents = rng.sample(CONTENTS, rng.randint(1, 5))
    new = [content for content in contents if content not in vocabulary]
    ids = {content: vocabulary.get(content, len(vocabulary) + i) for i, content in
           enumerate(new + [content for content in contents if content not in new])}
    flags = lambda: {flag: rng.random() < 0.3 for flag in FLAGS}
    if rng.random() < 0.3:
        config["split_special_tokens"] = True
    if rng.random() < 0.5:
        config["clean_up_tokenization_spaces"] = rng.random() < 0.7
    if "bert" in kind and kind != "fast_bert":
        config.update(do_lower_case=rng.random() < 0.5, tokenize_chinese_chars=rng.random() < 0.5)
        if rng.random() < 0.5:
            config["strip_accents"] = rng.choice([None, True, False])
    if kind in ("gpt2", "roberta", "bart", "class_gpt2", "class_roberta"):
        config["add_prefix_space"] = rng.random() < 0.5
    if kind in ("roberta", "bart", "class_roberta"):
        config["mask_token"] = {"__type": "AddedToken", "content": "<mask>", "normalized": False, "lstrip": True}
    if kind == "gpt2":
        config.update({key: rng.random() < 0.5 for key in ("add_bos_token", "add_eos_token") if rng.random() < 0.5})
    style = rng.choice(["decoder", "added", "additional", "map", "role", "both"])
    if style == "decoder":
        config["added_tokens_decoder"] = {
            str(id): {"content": content, "special": rng.random() < 0.5, **flags()} for content, id in ids.items()}
        # Declare the other added tokens of the tokenizer.json too. These classes would otherwise omit them.
        if kind.startswith("class_"):
            for token in json.loads(vocabulary_files(kind)["tokenizer.json"])["added_tokens"]:
                config["added_tokens_decoder"][str(token.pop("id"))] = token
        if rng.random() < 0.5:  # this file is then ignored
            files["special_tokens_map.json"] = {"additional_special_tokens": ["run"]}
    if style in ("added", "both"):
        files["added_tokens.json"] = ids
    if style == "both":
        config["additional_special_tokens"] = contents[: len(contents) // 2 + 1]
    if style == "additional":
        config["additional_special_tokens"] = contents
    if style == "map":
        role = "bos_token" if kind.startswith("class_") else "sep_token"  # a role whose token is not added to texts
        files["special_tokens_map.json"] = {role: {"content": "<sep>", **flags()}}
        if kind not in ("t5", "xlm_roberta"):  # these classes ignore this list in 5.24, but not in 4.57
            files["special_tokens_map.json"]["additional_special_tokens"] = contents
    if style == "role":
        config["image_token"] = contents[0]
        config["extra_special_tokens"] = {f"role_{i}": content for i, content in enumerate(contents[1:])}
    if kind == "t5" and "additional_special_tokens" in config:
        config["additional_special_tokens"] = [f"<extra_id_{i}>" for i in range(100)] + config["additional_special_tokens"]
    return files


def conflicts():
    """Yields folders that declare a token twice with different flags, and settings that only some classes use."""
    token = lambda content, **flags: {"__type": "AddedToken", "content": content, "normalized": False, "special": True, **flags}
    left, right, word = token("[E1]", lstrip=True), token("[E1]", rstrip=True), token("[E1]", single_word=True)
    configs = [{"bos_token": left, "additional_special_tokens": ["[E1]"]}, {"bos_token": "[E1]", "additional_special_tokens": [left]},
               {"bos_token": right, "extra_special_tokens": [left]}, {"additional_special_tokens": [left, right]},
               {"bos_token": left, "image_token": right}, {"mask_token": token("<mask>", rstrip=True)}, {"mask_token": "<mask>"}, {},
               {"mask_token": token("<mask>", rstrip=True), "additional_special_tokens": [token("<mask>")]}]
    for kind in ("roberta", "class_roberta", "fast_gpt2"):
        for config in configs:
            yield kind, {"tokenizer_config.json": {"tokenizer_class": KINDS[kind][2], **config}}
    roberta = {"tokenizer_class": "RobertaTokenizer"}
    yield "roberta", {"tokenizer_config.json": roberta, "special_tokens_map.json": {"pad_token": left, "additional_special_tokens": [right]}}
    yield "roberta", {"tokenizer_config.json": {**roberta, "bos_token": left}, "added_tokens.json": {"[E1]": 361}}
    decoder = {"361": word, "360": token("<mask>", lstrip=True)}
    yield "roberta", {"tokenizer_config.json": {**roberta, "additional_special_tokens": [left], "added_tokens_decoder": decoder}}
    fast = {"tokenizer_class": "PreTrainedTokenizerFast"}
    yield "fast_bert", {"tokenizer_config.json": {**fast, "do_lower_case": False, "tokenize_chinese_chars": False}}
    yield "fast_gpt2", {"tokenizer_config.json": {**fast, "add_prefix_space": True}}


def contradictions(rng):
    """Yields folders in which added_tokens_decoder and tokenizer.json have different added tokens, or skip ids. If only
    one of the two declares a token as special, decoding is not compared, because the library then skips the token."""
    for kind in [kind for kind in KINDS if KINDS[kind][1] == "tokenizer.json"]:
        for style in ("omitted", "missing", "interleaved", "flags", "gaps"):
            file = json.loads(vocabulary_files(kind)["tokenizer.json"])
            first = max(vocabulary_of(kind).values()) + 1
            step = 3 if style == "gaps" else 1
            flags = lambda: {"special": rng.random() < 0.5, **{flag: rng.random() < 0.3 for flag in FLAGS}}
            decoder = {str(token["id"]): {key: token[key] for key in token if key != "id"}
                       for token in file["added_tokens"] if rng.random() < 0.7}
            known = set(vocabulary_of(kind))
            for i, content in enumerate(rng.sample([content for content in CONTENTS if content not in known], 4)):
                id = first + i * step + step - 1
                token = {"content": content, **flags()}
                if style == "omitted" or (style == "interleaved" and i % 2) or style in ("flags", "gaps"):
                    file["added_tokens"].append({"id": id, **token})
                if style == "flags":
                    token.update(flags())
                if style != "omitted" and not (style == "interleaved" and i % 2):
                    decoder[str(id)] = token
            yield kind, {"tokenizer.json": file, "tokenizer_config.json": {
                "tokenizer_class": KINDS[kind][2], "added_tokens_decoder": decoder}}, style != "flags"


def defaults():
    """Yields a tokenizer.json that contradicts the class's defaults, and settings that do not override the defaults."""
    for kind in ("class_bert", "class_convbert", "fast_bert"):
        file = json.loads(vocabulary_files(kind)["tokenizer.json"])
        file["normalizer"].update(lowercase=False, strip_accents=False, handle_chinese_chars=False)
        yield kind, {"tokenizer.json": file, "tokenizer_config.json": {"tokenizer_class": KINDS[kind][2]}}
    for kind in ("class_gpt2", "class_roberta", "fast_gpt2"):
        file = json.loads(vocabulary_files(kind)["tokenizer.json"])
        file["pre_tokenizer"]["add_prefix_space"] = True
        yield kind, {"tokenizer.json": file, "tokenizer_config.json": {"tokenizer_class": KINDS[kind][2]}}


def write_folder(folder, kind, files):
    family, file, _ = KINDS[kind]
    for name, text in vocabulary_files(kind).items():
        (folder / name).write_text(text)
    if file.endswith(".model"):
        shutil.copy(TESTDATA / family, folder / file)
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False))


def changed(kind, files):
    """Returns the files without the tokenizer.json, and the parts of the tokenizer.json that differ from the kind's
    file."""
    if "tokenizer.json" not in files:
        return {"files": files}
    usual, given = json.loads(vocabulary_files(kind)["tokenizer.json"]), files["tokenizer.json"]
    return {"files": {name: file for name, file in files.items() if name != "tokenizer.json"},
            "changes": {part: given[part] for part in given if given[part] != usual[part]}}


def vocabulary_of(kind):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_folder(folder, kind, {"tokenizer_config.json": {"tokenizer_class": KINDS[kind][2]}})
        return AutoTokenizer.from_pretrained(folder).get_vocab()


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else None
    count = GOLDENS + (int(sys.argv[2]) if len(sys.argv) > 2 else 200 if program else 0)
    rng = random.Random(46)
    vocabularies = {kind: vocabulary_of(kind) for kind in KINDS}
    goldens, differing = [], 0
    kinds = [kind for kind in KINDS if kind != "class_convbert"]
    kinds = [kinds[number % len(kinds)] for number in range(count)]
    folders = [(kind, declared_files(kind, vocabularies[kind], rng)) for kind in kinds]
    fixed = list(conflicts()) + list(contradictions(random.Random(1))) + list(defaults())
    for number, (kind, files, *decodes) in enumerate(fixed + folders):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            write_folder(folder, kind, files)
            theirs = AutoTokenizer.from_pretrained(folder)
            texts = [text for text in TEXTS if "\n" not in text]
            ids = [theirs(text).input_ids for text in TEXTS]
            if number < len(fixed) + GOLDENS:
                goldens.append({"kind": kind, "vocabulary": KINDS[kind][0], "file": KINDS[kind][1], **changed(kind, files),
                                # This class decodes with additional steps that are not in its decoder.
                                "ids": ids, "decoded": None if kind == "clip" or decodes == [False] else
                                [theirs.decode(row, skip_special_tokens=True) for row in ids]})
            if program is None:
                continue
            done = subprocess.run([program, "tokenize", str(folder), "--ids", "--quiet"], text=True, capture_output=True,
                                  input="".join(text + "\n" for text in texts))
            ours = done.stdout.split("\n")[:-1]
            expected = [" ".join(map(str, theirs(text).input_ids)) for text in texts]
            if ours != expected:
                differing += 1
                wrong = [(t, o, e) for t, o, e in zip(texts, ours, expected) if o != e]
                print(f"{number} {kind}: {json.dumps(files, ensure_ascii=False)[:600]}\n  {done.stderr.strip()} {wrong[:1]}")
    (ROOT / "tests" / "testdata" / "declared_tokens.json").write_text(
        json.dumps({"texts": TEXTS, "folders": goldens}, ensure_ascii=False, indent=0) + "\n")
    if program:
        print(f"{differing} of {len(fixed) + count} folders differ")


main()
