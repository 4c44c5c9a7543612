#!/usr/bin/env python3
"""Makes headlight/text/tokenizers/testdata/llama_settings.json: token ids for settings of folders with the class
LlamaTokenizer.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_llama_tokenizer_goldens.py

The tokenizer.json is family_byte_fallback.json with the components of published Llama 2 folders, or of newer folders.
LlamaTokenizer ignores these components, and builds its own from the settings. `parts`: the changed members of the
tokenizer.json; `config`: the settings in tokenizer_config.json; `ids`: the ids of each text.
"""

import json
import os
import pathlib
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

from transformers import AutoTokenizer  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "text" / "tokenizers" / "testdata"
SPACE = "\u2581"
PUBLISHED = {
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE},
                                                       {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]},
    "pre_tokenizer": None,
}
NEWER = {"normalizer": None,
         "pre_tokenizer": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first", "split": False}}
TEXTS = ["the dog", " the dog", "a  b   c ", "<s>the dog</s>the cat", "a <s> the", "<unk>the", "", " ", "1 Hund läuft",
         f"the{SPACE}dog", f"{SPACE}the", "東京 \U0001F642", "tab\tthe\n\nthe", "the <s>", "x</s>"]


def main():
    base, cases = json.loads((DATA / "family_byte_fallback.json").read_text()), []
    for parts in [PUBLISHED, NEWER]:
        for tokenizer_class in ["LlamaTokenizer", "LlamaTokenizerFast", "PreTrainedTokenizerFast"]:
            for more in [{}, {"legacy": True}, {"legacy": False}, {"legacy": None, "add_prefix_space": True},
                         {"add_prefix_space": False}]:
                config = {"tokenizer_class": tokenizer_class, "bos_token": "<s>", "eos_token": "</s>",
                          "unk_token": "<unk>", **more}
                with tempfile.TemporaryDirectory() as folder:
                    pathlib.Path(folder, "tokenizer.json").write_text(json.dumps({**base, **parts}))
                    pathlib.Path(folder, "tokenizer_config.json").write_text(json.dumps(config))
                    pathlib.Path(folder, "config.json").write_text('{"model_type": "llama"}')
                    tokenizer = AutoTokenizer.from_pretrained(folder)
                    ids = [tokenizer(text).input_ids for text in TEXTS]
                    texts = [tokenizer.decode(row, clean_up_tokenization_spaces=False) for row in ids]
                cases.append({"parts": parts, "config": config, "ids": ids, "decoded": texts})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (DATA / "llama_settings.json").write_text(f'{{"texts": {json.dumps(TEXTS)},\n"cases": [\n{lines}\n]}}\n')


main()
