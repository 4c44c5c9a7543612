#!/usr/bin/env python3
"""Makes data sets of emoji with their names in four languages, for `headlight train contrastive` and `evaluate`:

  make_emoji_sets.py EMOJI OUT    reads EMOJI/png/128 (googlefonts/noto-emoji) and EMOJI/cldr_annotations*_LANGUAGE.json
                                  (unicode-org/cldr-json)

One name in ten, selected by its hash, is held out. Images with a skin tone are omitted.

  OUT/train.jsonl              the other images with names and keywords in three languages
  OUT/other.jsonl              the same images with their names in the fourth language, which is not used in training
  OUT/held_out.LANGUAGE.jsonl  held-out images with their names
  OUT/texts.txt                the texts of train.jsonl, for `headlight train tokenizer`
"""

import hashlib
import json
import sys
from pathlib import Path

LANGUAGES = ("en", "de", "fr", "es")
SKIN_TONES = range(0x1F3FB, 0x1F400)


def hash_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def read_names(source, language):
    """Returns {code points: {"tts": [name], "default": keywords}}."""
    names = {}
    for kind, key in (("annotations", "annotations"), ("annotations-derived", "annotationsDerived")):
        file = json.loads((source / f"cldr_{kind}_{language}.json").read_text())
        names.update(file[key]["annotations"])
    return names


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True)
    names = {language: read_names(source, language) for language in LANGUAGES}
    train, other, texts = [], [], []
    held_out = {language: [] for language in LANGUAGES}
    for image in sorted((source / "png" / "128").glob("*.png")):
        points = [int(point, 16) for point in image.stem.removeprefix("emoji_u").split("_")]
        if any(point in SKIN_TONES for point in points):
            continue
        key = "".join(map(chr, points))
        told = {}
        for language in LANGUAGES:
            entry = names[language].get(key) or names[language].get(key.replace("\ufe0f", ""))
            if entry and "tts" in entry:
                told[language] = entry
        if len(told) < len(LANGUAGES):
            continue
        path = str(image.resolve())
        name = told["en"]["tts"][0]
        if hash_of(name) % 10 == 0:
            for language in LANGUAGES:
                held_out[language].append({"path": path, "text": told[language]["tts"][0]})
            continue
        unseen = LANGUAGES[hash_of(name) // 10 % len(LANGUAGES)]
        other.append({"path": path, "text": told[unseen]["tts"][0]})
        learned = []
        for language in LANGUAGES:
            if language != unseen:
                learned += told[language]["tts"] + told[language].get("default", [])
        train.append({"path": path, "captions": list(dict.fromkeys(learned))})
        texts += train[-1]["captions"]
    for file, records in (("train", train), ("other", other), *((f"held_out.{k}", v) for k, v in held_out.items())):
        (out / f"{file}.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records))
    (out / "texts.txt").write_text("".join(text + "\n" for text in texts))


if __name__ == "__main__":
    main()
