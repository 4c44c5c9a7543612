#!/usr/bin/env python3
"""Makes headlight/text/metrics/testdata/bleu.json: texts, and their scores by sacreBLEU 2.6.0.

    pip install sacrebleu==2.6.0 numpy sentencepiece==0.2.3
    tools/make_bleu_goldens.py > headlight/text/metrics/testdata/bleu.json
"""
import json
import logging
import pathlib
import random

import numpy
import sacrebleu
import sentencepiece
from sacrebleu import significance
from sacrebleu.metrics import BLEU, CHRF, TER
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

# Texts in other languages, with Unicode punctuation, numbers and symbols, combining marks, emoji, and scripts without
# spaces.
MORE = [
    "他说：“今天（2024年5月1日）气温为３１．５℃，比昨天高2.5度……”　我不信！",
    "東京タワーは、高さ333メートルの「電波塔」です。ﾊﾝｶｸ カナ・ｶﾅ！",
    "안녕하세요, 세계! 3.14는 원주율이다.",
    "\U00020000\U0002A6D6 \u2000\u2001\u2026\u2014 \u2a6d\u2a6e \u2f80\u2fa1 ☀☂ ✈ ㍿ ㈱ ⼀ ⿰ 丂 龻 龼 \uff9e \ufe30",
    "👍🏽 👨‍👩‍👧 🇩🇪 e\u0301te\u0301 n\u0303 क्षि ٣٫٤ ৫.৬ ½.½ Ⅳ.Ⅴ a.Ⅳ",
    "  3.  4 ,5, €5.00 5€. a–b 1–2 «x»y ¿qué? ¡a!b ... !? $1,000.50% x²+y³=z™ 2020.",
    "2020. ",
    "",
    "word",
    "。",
    "a b a b a b c a b a b d",
    "(hi) 'tis rock'n'roll, \"q\" '' ' .. a. .a é. .é é 中. .中",
]
SPM = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "text" / "tokenizers" / "testdata"
SPM_MODELS = ["tokenizer_unigram.model", "tokenizer_bpe.model", "spm_bytes.model"]


def mutated(line, generator):
    """Returns the line with a few words removed, duplicated, swapped or in a different case."""
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


def tokenizer_of(name):
    """Returns a tokenizer of sacreBLEU. If `name` is a model file, returns SentencePiece with the options of
    sacreBLEU's spm tokenizers."""
    if name.endswith(".model"):
        processor = sentencepiece.SentencePieceProcessor()
        processor.Load(str(SPM / name))
        return lambda line: " ".join(processor.EncodeAsPieces(line))
    return BLEU(tokenize=name).tokenizer


def tokenizations():
    result = []
    for name in ["13a", "zh", "intl", "char", "none", *SPM_MODELS]:
        tokenize = tokenizer_of(name)
        words = [{"line": line, "words": tokenize(line.rstrip()).split()} for line in HARD + MORE]
        result.append({"name": name, "lines": words})
    return result


def metric_of(name, tokenization, lowercase):
    if name == "bleu":
        metric = BLEU(lowercase=lowercase, tokenize="none" if tokenization.endswith(".model") else tokenization)
        sentence = BLEU(lowercase=lowercase, tokenize=metric.tokenizer.signature(), effective_order=True)
        if tokenization.endswith(".model"):
            metric.tokenizer = sentence.tokenizer = tokenizer_of(tokenization)
            for one in (metric, sentence):
                one.tokenizer_signature = "spm-" + pathlib.Path(tokenization).stem
        return metric, sentence
    if name == "ter":
        return TER(), TER()
    metric = CHRF(lowercase=lowercase, word_order=2 if name == "chrf++" else 0)
    return metric, metric


def metric_case(name, hypotheses, references, tokenization="13a", lowercase=False):
    """Returns all scores of a corpus, and of each of its lines."""
    scores = []
    for metric_name in ["bleu", "chrf", "chrf++", "ter"]:
        metric, sentence = metric_of(metric_name, tokenization, lowercase)
        corpus = metric.corpus_score(hypotheses, references)
        lines = [sentence.sentence_score(line, [lines[i] for lines in references]).score for i, line in enumerate(hypotheses)]
        scores.append({
            "metric": metric_name,
            "score": corpus.score,
            "line": corpus.format(width=2, signature=metric.get_signature().format()),
            "sentences": lines,
            "sentence_signature": sentence.get_signature().format(),
        })
    return {"name": name, "hypotheses": hypotheses, "references": references, "tokenization": tokenization,
            "lowercase": lowercase, "scores": scores}


def shuffled(generator, words, length):
    """Returns a line and its reference, for the shifts of TER. The line has a few different words and moved blocks."""
    reference = [generator.choice(words) for _ in range(length)]
    line = list(reference)
    for _ in range(generator.randrange(5)):
        if len(line) < 2:
            break
        begin = generator.randrange(len(line))
        block = line[begin:begin + generator.randrange(1, 13)]
        del line[begin:begin + len(block)]
        at = generator.randrange(len(line) + 1)
        line[at:at] = block
    for _ in range(generator.randrange(3)):
        change = generator.randrange(3)
        at = generator.randrange(len(line) + 1)
        if change == 0:
            line.insert(at, generator.choice(words))
        elif change == 1 and line:
            del line[min(at, len(line) - 1)]
        elif line:
            line[min(at, len(line) - 1)] = "x"
    return " ".join(line), " ".join(reference)


def shift_cases(generator):
    """Returns cases for TER: few and many different words, short and long lines, very different lengths, and too many
    shift candidates."""
    pairs = [shuffled(generator, "abcde"[:size], length) for size in (1, 2, 3, 5) for length in (1, 2, 3, 5, 8, 13, 30)]
    many = [str(i) for i in range(40)]
    pairs += [shuffled(generator, many, length) for length in (5, 10, 20, 40, 80, 120) for _ in range(3)]
    pairs += [
        ("a b", " ".join(many * 3)),
        (" ".join(many * 3), "a 7"),
        ("7", " ".join(many * 3)),
        (" ".join(many[20:] + many[:20]), " ".join(many)),
        (" ".join(["x"] * 60 + many), " ".join(many + ["x"] * 60)),
        ("a b c", ""),
        ("", "a b c"),
        ("", ""),
    ]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def paired_case(hypotheses, baseline, references):
    """Returns a paired bootstrap case. sacreBLEU adds in single precision. This function computes the scores of the
    same samples in double precision."""
    names = ["bleu", "chrf", "chrf++", "ter"]
    metrics = [metric_of(name, "13a", False)[0] for name in names]
    _, results = significance.PairedTest([("baseline", baseline), ("system", hypotheses)],
                                         dict(zip(names, metrics)), references, test_type="bs", n_samples=200)()
    choices = numpy.random.default_rng(12345).choice(len(hypotheses), size=(200, len(hypotheses)), replace=True)
    cases = []
    for name, metric in zip(names, metrics):
        score = metric.corpus_score(hypotheses, references)
        system, other = [numpy.array(metric._extract_corpus_statistics(lines, references), dtype="float64")
                         for lines in (hypotheses, baseline)]
        samples, others = [
            numpy.array([metric._compute_score_from_stats(list(rows.sum(0))).score for rows in stats[choices]])
            for stats in (system, other)]
        differences = numpy.abs(samples - others)
        difference = abs(score.score - metric.corpus_score(baseline, references).score)
        p = significance._compute_p_value(differences - differences.mean(), difference)
        mean, width = significance.estimate_ci(samples)
        other_mean, other_width = significance.estimate_ci(others)
        its = results[score.name]
        assert its[1].p_value == p and abs(its[1].mean - mean) < 1e-4 and abs(its[0].ci - other_width) < 1e-4, name
        cases.append({"metric": name, "mean": mean, "half_width": width, "baseline_mean": other_mean,
                      "baseline_half_width": other_width, "p_value": p})
    return {"hypotheses": hypotheses, "baseline": baseline, "references": references, "samples": 200, "metrics": cases,
            "choices": [numpy.random.default_rng(seed).choice(count, size=20, replace=True).tolist()
                        for seed, count in ((12345, 7), (0, 1), (1 << 40, 1000), (5, (1 << 31) + 3))]}


def metric_cases(generator):
    hard, more = [mutated(line, generator) for line in HARD], [mutated(line, generator) for line in MORE]
    cases = [
        metric_case("english", [mutated(line, generator) for line in ENGLISH], [ENGLISH]),
        metric_case("two references", hard + more, [HARD + MORE, HARD[::-1] + MORE]),
        metric_case("lower case", hard + more, [HARD + MORE], lowercase=True),
        metric_case("the same", MORE, [MORE]),
        metric_case("one word", ["a", "b", "c", "", "e f"], [["a", "c", "", "d", "f"]]),
    ]
    for tokenization in ["zh", "intl", "char", "none", *SPM_MODELS]:
        cases.append(metric_case(tokenization, hard + more, [HARD + MORE], tokenization))
    hypotheses, references = shift_cases(generator)
    cases.append(metric_case("shifts", hypotheses, [references]))
    cases.append(metric_case("shifts, two references", hypotheses, [references, references[1:] + references[:1]]))
    return cases


def main():
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
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
    generator = random.Random(18)
    system, baseline = [[mutated(line, generator) for line in ENGLISH * 4] for _ in range(2)]
    golden = {"sacrebleu": sacrebleu.__version__, "tokenized": words, "cases": cases,
              "tokenizations": tokenizations(), "metrics": metric_cases(generator),
              "paired": paired_case(system, baseline, [ENGLISH * 4])}
    print(json.dumps(golden, indent=0))


main()
