#!/usr/bin/env python3
"""Makes headlight/text/tokenizers/testdata/tokenizer_*: tiny SentencePiece models, and the results of other libraries
for difficult texts.

Usage: make_tokenizer_goldens.py BUILD, a build folder whose `test_text` is up to date. Needs sentencepiece, tokenizers
and transformers. Their versions are in the golden files.
"""

import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

import sentencepiece  # noqa: E402
import tokenizers  # noqa: E402
import transformers  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "text" / "tokenizers" / "testdata"

GERMAN = [
    "Ein kleiner Hund läuft über die grüne Wiese.",
    "Zwei Männer fahren mit dem Fahrrad durch die Straße.",
    "Eine Frau läuft mit ihrem Hund am Strand.",
    "Der Mann liest ein Buch über 1000 Hunde.",
    "Die Kinder spielen auf der Straße Fußball.",
] * 3
ENGLISH = [
    "A small dog runs across the green meadow.",
    "Two men are riding bicycles through the street.",
    "A woman walks her dog along the beach.",
    "The man reads a book about 1000 dogs.",
    "The children are playing football in the street.",
] * 3
SPECIALS = ["< / > s u n k p a d"]
# MarianTokenizer maps everything that looks like a language code to <unk>. headlight treats an unknown code as text.
UNKNOWN_CODE = ">>de<<"

# A few rules replace the 237 kB of nmt_nfkc: deletion, spaces, compatibility, composition, a rule that is a prefix of
# another rule, and a replacement that begins with a space.
RULES = {
    "\u0001": "", "\u00ad": "", "\t": " ", "\u00a0": " ", "\u3000": " ", "\u200b": " ", "\u00a8": " \u0308",
    "\ufb01": "fi", "\uff21": "A", "a\u0308": "ä", "o\u0308": "ö", "u\u0308": "ü", "ss\u030c": "ß", "s\u030c": "š",
}


def rules_file(folder):
    path = pathlib.Path(folder) / "rules.tsv"
    codes = lambda text: " ".join(f"{ord(c):X}" for c in text)
    path.write_text("".join(f"{codes(old)}\t{codes(new)}\n" for old, new in RULES.items()))
    return str(path)


def train(lines, algorithm, size, rules, **more):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type=algorithm, vocab_size=size,
        character_coverage=1.0, normalization_rule_tsv=rules, num_threads=1, minloglevel=2, **more)
    return model.getvalue()


def hard_texts(unicode=unicodedata):
    """Returns natural sentences, and texts with many scripts, combining marks, emoji, controls, spaces, long words and
    special tokens."""
    texts = GERMAN[:5] + ENGLISH[:5] + [
        "", " ", "   ", "\t \u00a0", "▁", "▁▁ ▁", " Hund", "Hund ", "  zwei   Hunde  ", "a ▁ b", "▁Hund▁", "Hund▁ ",
        "</s>", "Der</s> Hund", "<pad><unk></s>", "<s>", UNKNOWN_CODE + " Hund", "1000 0001 100000", "Straßenhundefußballkinder",
        "dog" * 60, "x" * 300, "läuft la\u0308uft La\u0308uft", "Stra\u0073\u0073\u030ce", "\u00a8 \u00a8\u00a8 a\u00a8",
        "a\u0001b\u0001 \u0001c", "\u0001", "co\u00adop", "ﬁne ﬁ", "Ａ ＡＢ", "日本語のテキスト", "日本 dog 語", "한국어", "각",
        "Ünï¢ødé", "Привет, собака", "नमस्ते दुनिया", "مرحبا بالعالم", "שלום עולם", "สวัสดี", "👩‍👩‍👧 🏳️‍🌈 🙂", "ｶﾞｷﾞ", "e\u0301\u0323",
        "z\u0335\u0321\u0311a\u0338\u0322l\u0334g\u0337o\u0336", "\ufeffdog", "a\u2028b\u2029c", "①②½ﬃ", "\U0001d573\U0001d58e",
        "the the the the", "ththththe", "sss ssss sssss", "aaaaaaaaaa",
    ]
    rng = random.Random(7)
    assigned = [chr(c) for c in range(0x20, 0x30000) if unicode.category(chr(c)) not in ("Cn", "Co", "Cs")]
    letters = list("adehilnorstuDHM .,") + ["ß", "ä", "\u0308", "\u00a0", "▁", "dog", "Hund", "Stra"]
    for _ in range(40):
        texts.append("".join(rng.choice(letters) for _ in range(rng.randrange(1, 40))))
    for _ in range(40):
        texts.append("".join(rng.choice(assigned if rng.random() < 0.4 else letters) for _ in range(rng.randrange(1, 20))))
    return texts


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def save(name, value):
    (OUT / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{") + "\n")


def sentencepiece_goldens(name, model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    cases = []
    for text in hard_texts():
        proto = processor.encode(text, return_type="proto")
        ids = [piece.id for piece in proto.pieces]
        cases.append({"text": text, "ids": ids, "spans": [[piece.begin, piece.end] for piece in proto.pieces],
                      "decoded": processor.decode(ids).strip(" ")})
    save(f"tokenizer_{name}.json", {"sentencepiece": sentencepiece.__version__, "cases": cases})


def nfkc_goldens():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(ENGLISH), model_writer=model, model_type="char",
                                             vocab_size=40, hard_vocab_limit=False, minloglevel=2)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    texts = hard_texts(unicodedata.ucd_3_2_0)  # nmt_nfkc depends on the Unicode version; the library's may be older
    rng = random.Random(11)
    for code in list(range(0xA0, 0x250)) + list(range(0x2000, 0x2070)) + list(range(0xFF00, 0xFFEF, 3)):
        texts[-1 - code % 20] += " " + chr(code)
    marks = [chr(c) for c in range(0x300, 0x370)] + ["\u3099", "\u309a", "\u0323"]
    for _ in range(60):
        texts.append("".join(rng.choice("aeiouAEOsczｶﾊかは가") + rng.choice(marks) * rng.randrange(0, 3) for _ in range(12)))
    texts += ["\u1112\u1161\u11ab\u1100\u1173\u11af", "\uac00\u11a8", "ﷺ ﷽", "Ǆ ǆ ĳ ŀ", "\u0344 \u0387 \u2126 \u212b"]
    save("tokenizer_nfkc.json", [[text, processor.normalize(text)] for text in texts])


def marian_folder(rules):
    """Makes a folder in the published layout: one model per language, and one vocabulary for both in a different
    order."""
    folder = OUT / "tokenizer_marian"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pieces = []
    for side, lines in (("source", GERMAN), ("target", ENGLISH)):
        model = train(lines, *(("unigram", 50) if side == "source" else ("bpe", 90)), rules)
        (folder / f"{side}.spm").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces += [processor.id_to_piece(i) for i in range(3, len(processor))]
    random.Random(3).shuffle(pieces)
    pieces = list(dict.fromkeys(["</s>", "<unk>"] + pieces + [">>eng<<", "<pad>"]))
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "MarianTokenizer", "source_lang": "de", "target_lang": "en",
         "eos_token": {"__type": "AddedToken", "content": "</s>"}}))
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder, split_special_tokens=True)
    cases = []
    for text in hard_texts() + [">>eng<< Ein Hund", ">>eng<<Hund", "x >>eng<<"]:
        if text.startswith(UNKNOWN_CODE):
            continue
        source = tokenizer(text).input_ids
        target = tokenizer(text_target=text).input_ids
        decoded = tokenizer.decode([i for i in target if i != 1], skip_special_tokens=True)
        cases.append({"text": text, "source": source, "target": target, "decoded": decoded})
    save("tokenizer_marian.json", {"transformers": transformers.__version__, "cases": cases})


def saved_goldens(build, name):
    """Writes golden files for the folder of Tokenizer::Save, loaded with Transformers in all supported ways."""
    folder = build / f"tokenizer_saved_{name}"
    ways = []
    with tempfile.TemporaryDirectory() as copy:
        for config in (transformers.MarianConfig(), transformers.PegasusConfig()):
            path = pathlib.Path(copy) / config.model_type
            shutil.copytree(folder, path)
            config.save_pretrained(path)
            ways.append(transformers.AutoTokenizer.from_pretrained(path))
        ways.append(transformers.PreTrainedTokenizerFast.from_pretrained(folder))
        cases, strange = [], []
        for text in hard_texts():
            if text.startswith(UNKNOWN_CODE):
                continue
            ids = [way(text).input_ids for way in ways]
            assert ids[0] == ids[1], text
            # The tokenizers library normalizes graphemes, while SentencePiece normalizes the text.
            strange += [text] if ids[2] != ids[0] else []
            cases.append({"text": text, "ids": ids[0]})
    print(f"{name}: tokenizer.json differs on {len(strange)} of {len(cases)} texts: {[ascii(t) for t in strange]}")
    save(f"tokenizer_saved_{name}.json", {
        "transformers": transformers.__version__, "tokenizers": tokenizers.__version__,
        "files": {path.name: fnv1a(path.read_bytes()) for path in sorted(folder.iterdir())}, "cases": cases})


def main():
    build = pathlib.Path(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rules = rules_file(folder)
        for name, size in (("bpe", 110), ("unigram", 70)):
            model = train(GERMAN + ENGLISH + SPECIALS, name, size, rules, eos_id=0, unk_id=1, bos_id=-1, pad_id=size - 1)
            (OUT / f"tokenizer_{name}.model").write_bytes(model)
            sentencepiece_goldens(name, model)
        marian_folder(rules)
    nfkc_goldens()
    # This test writes the folders to the build folder. It may fail, because its golden files are only made below.
    subprocess.run([build / "test_text", "--gtest_filter=Tokenizer.SavesWhat*"], stdout=subprocess.DEVNULL)
    for name in ("bpe", "unigram"):
        saved_goldens(build, name)
        # The fuzzer uses this file as a seed.
        shutil.copy(build / f"tokenizer_saved_{name}" / "tokenizer.json", OUT / f"tokenizer_saved_{name}_seed.json")


if __name__ == "__main__":
    main()
