#!/usr/bin/env python3
"""Makes headlight/text/metrics/testdata/rouge.json: texts, and their scores by rouge-score 0.1.2 (with NLTK).

    pip install rouge-score==0.1.2
    tools/make_rouge_goldens.py > headlight/text/metrics/testdata/rouge.json
"""
import importlib.metadata
import json
import random

from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

assert importlib.metadata.version("rouge-score") == "0.1.2"

ROOTS = """relate condition rational valence digit conform radical differ vile analog vietnam predic operat feudal decis
hope call formal sensit triplic form electr good reviv allow infer airlin gyroscop adjust defens irrit replac depend adopt
communi activ angular homolog effect bowdler probat rat ceas control roll plaster motor siz troubl hopp tann fall hiss fizz
fil happ sk enjo spy fly tr syzyg toy owe ya ox w x7 psycho philoso bio ap""".split()
SUFFIXES = """ s es ies ied eed ed ing y ly ally fully bly ational tional enci anci ence ance izer izing ization ation ator
alism iveness fulness ousness aliti iviti biliti logi logy icate ative alize iciti ical ful ness al er ic able ible ant ement
ment ent ion sion tion ou ism ate iti ous ive ize ll lled lling ss sses eli entli""".split(" ")
SUFFIXES = [part for suffix in SUFFIXES for part in (suffix.split("\n") if suffix else [""])]
IRREGULAR = """skies sky dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed
ties dies tied died yes yyyy a is the""".split()

REFERENCES = [
    "A man in an orange hat is starring at something.",
    "Five people wearing winter jackets and helmets stand in the snow, with snowmobiles in the background.",
    "The cat sat on the mat.\nThe dog was running after the cat, and the cat ran.\n\nNobody was surprised.",
    "Relations between nations' operators, 3.14 times: U.S.A. it's o'clock a_b.",
    "the the the the cat",
    "a b c d e f",
    "",
    "Ärger über Straßen; \u212aelvin \u0130stanbul 中文 Ελλάδα",
    "one two three\nfour five six",
    "a c\nb d\n",
]
TEXTS = [
    "a man with an orange hat stares at something",
    "Five persons who wear jackets stood in snow with a snowmobile in the background background.",
    "The cats sat on mats.\nA dog runs after cats\nand the cat ran.",
    "The relation of national operations: 3 14 timing; usa its clock ab.",
    "the cat the",
    "f e d c b a",
    "nothing",
    "arger uber strassen kelvin istanbul",
    "six five four\nthree two one",
    "a b\nc d",
]


def numbers(scores):
    return {name: [score.precision, score.recall, score.fmeasure] for name, score in scores.items()}


def main():
    generator = random.Random(5)
    words = {generator.choice(ROOTS) + generator.choice(SUFFIXES) + generator.choice(["", "", "s", "ly", "ed"])
             for _ in range(500)}
    words = sorted(words | set(IRREGULAR) | {root + "e" for root in ROOTS})
    stemmer = PorterStemmer()
    cases = []
    for stem in (False, True):
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stem)
        cases += [{"reference": reference, "text": text, "stem": stem, **numbers(scorer.score(reference, text))}
                  for reference, text in list(zip(REFERENCES, TEXTS)) + [(TEXTS[2], REFERENCES[2]), (TEXTS[1], "")]]
    print(json.dumps({"stems": {word: stemmer.stem(word) for word in words}, "cases": cases}, indent=0))


main()
