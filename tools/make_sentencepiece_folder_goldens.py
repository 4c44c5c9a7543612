#!/usr/bin/env python3
"""Makes headlight/text/tokenizers/testdata/spm_*.model, tiny SentencePiece models, and
tests/testdata/sentencepiece_folders.json: folders in published layouts with such a model and no tokenizer.json, and the
results of Transformers' tokenizers for difficult texts and pairs: ids, spans (begin, end, begin, end, ... in
characters) and texts. The texts are given by their indices in tokenizers.json.

Needs transformers, sentencepiece and protobuf. Their versions are in the golden files. With --check FILE..., it writes
no golden files, but compares `headlight tokenize` with Transformers on every line of these files (plain or gzip). The
models are trained on these files with SentencePiece's own normalization.

In two cases, the golden files follow the model file, as SentencePiece does, and not Transformers 5. First, texts of
mBART and DeBERTa are normalized by the model's rules. Transformers 5 omits these rules, but its converter, which made
the published tokenizer.json files, applies them. Second, a model with byte pieces uses them.
"""

import argparse
import gzip
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import sentencepiece
import tokenizers
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, processors
from transformers import DebertaV2Tokenizer, MBart50Tokenizer, MBartTokenizer, T5Tokenizer, XLMRobertaTokenizer
from transformers.convert_slow_tokenizer import generate_merges, import_protobuf

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "headlight" / "text" / "tokenizers" / "testdata"
GOLDENS = ROOT / "tests" / "testdata" / "sentencepiece_folders.json"
MORE = ["A <extra_id_0> dog <extra_id_1>.", "de_DE A <mask> dog", "<extra_id_99>", "A [MASK] dog[SEP]", "  A\u00a0 dog  ",
        "x\u0000y", "\u3000\u3000dog\t", "Zwei½ Männer…", "日本 dog \U0001f642\U0001f642", "user", "a user ab<0x41>",
        "\u0001ab \u00ad\u0301c", "x\u00a0\u0301y\u00a8\u0323z\u00adb \u00a8\u00ad\u00adc", "\u00a0\u0301\u0323d\u0001\u0001e"]
MASK = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}
DEBERTA = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "bos_piece": "[CLS]",
           "eos_piece": "[SEP]", "unk_piece": "[UNK]", "user_defined_symbols": ["user"]}
T5 = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
# For each folder: the SentencePiece model, its file name in the folder, the configuration files, and the class.
FOLDERS = {
    "t5": ("t5", "spiece.model", {"tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}}, T5Tokenizer),
    "mt5": ("bytes", "spiece.model", {
        "config.json": {"model_type": "mt5"}, "tokenizer_config.json": {"extra_ids": 0},
        "special_tokens_map.json": {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}}, T5Tokenizer),
    "xlm_roberta": ("fairseq", "sentencepiece.bpe.model", {
        "tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizer", "mask_token": MASK}}, XLMRobertaTokenizer),
    "mbart": ("fairseq", "sentencepiece.bpe.model", {
        "config.json": {"model_type": "mbart"}, "tokenizer_config.json": {"src_lang": "de_DE"}}, MBartTokenizer),
    "mbart50": ("fairseq", "sentencepiece.bpe.model", {
        "tokenizer_config.json": {"tokenizer_class": "MBart50Tokenizer"}}, MBart50Tokenizer),
    "deberta": ("deberta", "spm.model", {"tokenizer_config.json": {"do_lower_case": False, "vocab_type": "spm"},
                                         "config.json": {"model_type": "deberta-v2"}}, DebertaV2Tokenizer),
    "deberta_lower": ("deberta", "spm.model", {
        "tokenizer_config.json": {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": True, "split_by_punct": True}},
        DebertaV2Tokenizer),
    "bpe": ("bpe", "spiece.model", {"tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": 3}},
            T5Tokenizer),
}


def train(lines, size, rules, **more):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, character_coverage=1.0, num_threads=1,
        minloglevel=2, **({"normalization_rule_tsv": rules} if rules else {}), **more)
    return model.getvalue()


def trained(lines, size, rules):
    return {"t5": train(lines, size, rules, **T5), "fairseq": train(lines, size, rules),
            "deberta": train(lines, size, rules, **DEBERTA), "bpe": train(lines, size, rules, model_type="bpe", **T5),
            "bytes": train(lines, size + 256, rules, byte_fallback=True, **T5)}


def write_folder(folder, name, data):
    model, file, more, _ = FOLDERS[name]
    folder.mkdir(exist_ok=True)
    (folder / file).write_bytes(data[model])
    for path, content in more.items():
        (folder / path).write_text(json.dumps(content))


def reference(folder, name):
    """Returns the tokenizer that Transformers loads from the folder, with the two changes that the top of this file
    describes."""
    _, file, _, kind = FOLDERS[name]
    tokenizer = kind.from_pretrained(folder).backend_tokenizer
    proto = import_protobuf().ModelProto()
    proto.ParseFromString((folder / file).read_bytes())
    precompiled = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    if name == "mbart":
        tokenizer.normalizer = precompiled
    if name.startswith("deberta"):
        lower = [normalizers.Lowercase()] if name == "deberta_lower" else []
        tokenizer.normalizer = normalizers.Sequence(
            lower + [normalizers.Strip(), precompiled, normalizers.Replace(Regex(" {2,}"), " ")])
    if name == "mt5":
        pieces = [(piece.piece, piece.score) for piece in proto.pieces]
        tokenizer.model = models.Unigram(pieces, 2, True)
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), tokenizer.decoder])
    if name == "bpe":
        pieces = [piece.piece for piece in proto.pieces] + [f"<extra_id_{i}>" for i in (2, 1, 0)]
        scores = [(piece.piece, piece.score) for piece in proto.pieces if piece.type == 1]
        vocabulary = {piece: i for i, piece in enumerate(pieces)}
        tokenizer.model = models.BPE(vocabulary, generate_merges(vocabulary, scores), unk_token="<unk>", fuse_unk=True)
    return tokenizer


def byte_fallback_json(model):
    """Returns a BPE tokenizer.json with byte pieces, as in the LLaMA family."""
    proto = import_protobuf().ModelProto()
    proto.ParseFromString(model)
    vocabulary = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    scores = [(piece.piece, piece.score) for piece in proto.pieces if piece.type == 1]
    tokenizer = Tokenizer(models.BPE(vocabulary, generate_merges(vocabulary, scores), unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="</s> $A", pair="</s> $A </s> $B", special_tokens=[("</s>", 1)])
    return tokenizer


def cases(tokenizer, texts, pairs):
    result = {"texts": [], "pairs": []}
    for text in texts:
        encoding = tokenizer.encode(text)
        result["texts"].append({"ids": encoding.ids, "spans": [end for span in encoding.offsets for end in span],
                                "decoded": tokenizer.decode(encoding.ids)})
    for first, second in pairs:
        encoding = tokenizer.encode(first, second)
        result["pairs"].append({"ids": encoding.ids, "type_ids": encoding.type_ids})
    return result


def make():
    from make_tokenizer_goldens import ENGLISH, GERMAN, rules_file
    others = json.loads((ROOT / "tests" / "testdata" / "tokenizers.json").read_text())
    places = list(range(0, len(others["texts"]), 3))
    texts = [others["texts"][i] for i in places] + MORE
    goldens = {"transformers": transformers.__version__, "tokenizers": tokenizers.__version__,
               "sentencepiece": sentencepiece.__version__, "places": places, "more": MORE, "folders": {}}
    with tempfile.TemporaryDirectory() as temporary:
        rules = rules_file(temporary)
        data = trained(GERMAN + ENGLISH, 90, rules)
        llama = byte_fallback_json(train(GERMAN + ENGLISH, 340, rules, model_type="bpe", byte_fallback=True, **T5))
        for name, model in data.items():
            (OUT / f"spm_{name}.model").write_bytes(model)
        for name, (model, file, more, _) in FOLDERS.items():
            write_folder(Path(temporary) / name, name, data)
            tokenizer = reference(Path(temporary) / name, name)
            goldens["folders"][name] = {"model": f"spm_{model}.model", "file": file, "more": more,
                                        **cases(tokenizer, texts, others["pairs"])}
        llama.save(str(OUT / "family_byte_fallback.json"), pretty=False)
        goldens["folders"]["byte_fallback"] = {"model": "family_byte_fallback.json", "file": "tokenizer.json", "more": {},
                                               **cases(llama, texts, others["pairs"])}
    GOLDENS.write_text(
        json.dumps(goldens, ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{") + "\n")


def check(paths, size, program):
    lines = []
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as file:
            lines += [line.removesuffix("\n").removesuffix("\r") for line in file]
    with tempfile.TemporaryDirectory() as temporary:
        data = trained(lines, size, None)
        text = Path(temporary) / "text"
        text.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        for name in FOLDERS:
            folder = Path(temporary) / name
            write_folder(folder, name, data)
            ours = subprocess.run([program, "tokenize", folder, text, "--json", "--quiet"], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
            theirs = reference(folder, name).encode_batch(lines)
            tokens = 0
            for line, row, encoding in zip(lines, ours, theirs, strict=True):
                got = json.loads(row)
                tokens += len(got["ids"])
                if got["ids"] != encoding.ids or [tuple(span) for span in got["characters"]] != encoding.offsets:
                    sys.exit(f"{name}: differs: {line!r}\n{got}\n{encoding.ids}\n{encoding.offsets}")
            print(f"{name}: {len(lines)} lines, {tokens} tokens: the same ids and offsets", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", metavar="FILE")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--program", default="build/release/headlight")
    options = parser.parse_args()
    check(options.check, options.vocabulary, options.program) if options.check else make()


if __name__ == "__main__":
    main()
