#!/usr/bin/env python3
"""Makes headlight/text/metrics/testdata/bleu.json: texts, and what sacreBLEU 2.6.0 says of them.

    pip install sacrebleu==2.6.0
    tools/make_bleu_goldens.py > headlight/text/metrics/testdata/bleu.json
"""
import json
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

assert sacrebleu.__version__ == "2.6.0"

ENGLISH = """A man in an orange hat starring at something.
A Boston Terrier is running on lush green grass in front of a white fence.
A girl in karate uniform breaking a stick with a front kick.
Five people wearing winter jackets and helmets stand in the snow, with snowmobiles in the background.
People are fixing the roof of a house.
A man in light colored clothing photographs a group of men wearing dark suits.""".split("\n")

HARD = [
    "",
    " \t ",
    "3.14, 1,000.5, .5 5. 1-2 a-b 3--4 -1 e.g. U.S.A.... ,.,",
    "&quot;q&quot; &amp;lt;b&amp;gt; &lt;skipped&gt; a<skipped>b <skip<skipped>ped> & &am;",
    "It's o'clock: (yes) [no] {maybe} a/b\\c ^_^ `x` ~$5.00% #1 @you +1=2 <3; why?!",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ. ὈΔΥΣΣΕΎΣ İstanbul DIŞ Straße ẞ Ǆungla ŉ",
    "中文，句子。 日本語、です。１２．５ ٣.٤,٥ १,२.३ 1٫5 «Ça» „so“ – na…",
    "no\u00a0break thin\u2009space ideo\u3000graphic \u1680 zero\u200bwidth \u2028 line\u0085 \x1c\x1d\x1e\x1f end\u00a0",
    "e\u0301 \u00e9 o\u0308\u0323 \U0001d400\U0001f600\U0001f468\u200d\U0001f469 \ufeffbom \u00adsoft",
]


def mutated(line, generator):
    """The line with a few of its words dropped, doubled, exchanged or in another case."""
    words = line.split(" ")
    for _ in range(generator.randrange(4)):
        at = generator.randrange(len(words))
        other = generator.randrange(len(words))
        change = generator.randrange(4)
        if change == 0:
            words[at] = ""
        elif change == 1:
            words[at] += " " + words[at]
        elif change == 2:
            words[at], words[other] = words[other], words[at]
        else:
            words[at] = words[at].upper()
    return " ".join(words)


def case(name, hypotheses, references, lowercase=False):
    bleu_metric, chrf_metric = BLEU(lowercase=lowercase), CHRF(lowercase=lowercase)
    bleu, chrf = bleu_metric.corpus_score(hypotheses, references), chrf_metric.corpus_score(hypotheses, references)
    return {
        "name": name,
        "hypotheses": hypotheses,
        "references": references,
        "lowercase": lowercase,
        "bleu": bleu.score,
        "precisions": bleu.precisions,
        "matches": bleu.counts,
        "totals": bleu.totals,
        "brevity_penalty": bleu.bp,
        "hypothesis_length": bleu.sys_len,
        "reference_length": bleu.ref_len,
        "bleu_line": bleu.format(width=2, signature=bleu_metric.get_signature().format()),
        "chrf": chrf.score,
        "chrf_line": chrf.format(width=2, signature=chrf_metric.get_signature().format()),
    }


def main():
    generator = random.Random(17)
    mixed = [mutated(line, generator) for line in ENGLISH]
    other = [mutated(line, generator) for line in ENGLISH]
    hard = [mutated(line, generator) for line in HARD]
    cases = [case("the same", ENGLISH, [ENGLISH])]
    for lowercase in (False, True):
        cases += [
            case("one reference", mixed, [ENGLISH], lowercase),
            case("two references", mixed, [ENGLISH, other], lowercase),
            case("hard text", hard, [HARD], lowercase),
            case("hard text, two references", hard, [HARD, HARD[::-1]], lowercase),
        ]
    cases += [
        case("too short", [line[:25] for line in ENGLISH], [ENGLISH]),
        case("nothing in common", ["x y z w v"], [["a b c d e"]]),
        case("words in common, no pair", ["a b c d e"], [["e d c b a"]]),
        case("pairs in common, no more", ["a b x c d y"], [["c d z a b w"]]),
        case("three words", ["a b c"], [["a b c"]]),
        case("no words", ["", ""], [["a b c", ""]]),
        case("no words in the reference", ["a b c d"], [[""]]),
        case("two references as near", ["a b c d e"], [["a b c d e f"], ["a b c d"]]),
    ]
    lines = ENGLISH[:1] + HARD + [line.lower() for line in HARD[4:6]]
    tokenize = Tokenizer13a()
    words = [{"line": line, "words": tokenize(line.rstrip()).split(), "lower": line.lower()} for line in lines]
    print(json.dumps({"sacrebleu": sacrebleu.__version__, "tokenized": words, "cases": cases}, indent=0))


main()
