#!/usr/bin/env python3
"""Adds typing errors to a text, to evaluate how well a model translates typed text: `add_typos.py test.de > typos.de`

The given share of the words with at least four letters gets one error each. The first letter is never changed. Two
neighboring letters are swapped, or a letter is omitted, doubled or replaced by another letter of the text, with equal
probabilities. The same file and options give the same errors.
"""

import argparse
import random
import re


def mistyped(word, letters, generator):
    typed = word
    while typed == word:  # swapping equal letters or replacing a letter by itself changes nothing
        at = generator.randrange(1, len(word) - 1)
        typed = generator.choice([word[:at] + word[at + 1] + word[at] + word[at + 2:], word[:at] + word[at + 1:],
                                  word[:at] + word[at] + word[at:], word[:at] + generator.choice(letters) + word[at + 1:]])
    return typed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="a file of one sentence per line")
    parser.add_argument("--share", type=float, default=0.1, help="share of the words that get an error [0.1]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    with open(options.text, encoding="utf-8") as file:
        text = file.read()
    letters = sorted(set(re.findall(r"[^\W\d_]", text.lower())))

    def maybe(match):
        return mistyped(match[0], letters, generator) if generator.random() < options.share else match[0]

    print(re.sub(r"[^\W\d_]{4,}", maybe, text), end="")


if __name__ == "__main__":
    main()
