#!/usr/bin/env python3
"""Counts patterns of unclear English in comments, messages and docs.

    tools/count_wordings.py            prints each count next to its limit; exit code 1 if a count is above its limit
    tools/count_wordings.py --list P   prints the matches of pattern P with their files and lines
    tools/count_wordings.py --save     writes the current counts as the new limits, if none has increased

Limits are in tools/wording_limits.json. Counts may only decrease. Some matches are correct English, such as "where" for
a location, so that a limit need not be zero.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ROOT / "tools" / "wording_limits.json"
EXEMPT = {"tools/count_wordings.py"}

PATTERNS = {
    "Of X, the Y": r"(?:^|[.;:] )Of (?:the|these|those|them|each|both|all|a|an|two|several|what|its|\w+s\b)",
    "where": r"\bwhere\b",
    "alone": r"\balone\b",
    "beside": r"\bbeside\b",
    "stands, lies": r"\b(?:stands?|lies)\b",
    "in the place of": r"\bin the place of\b",
    "of its own": r"\bof (?:its|their) own\b",
    "likewise": r"\blikewise\b",
    "turns": r"\bturns?\b(?! (?:on|off|into|out|it|them))",
    "learned": r"\b(?:learns|learned|learnt)\b",
    "picture": r"(?<![</])\bpictures?\b",
    "anew, heeded, seldom": r"\b(?:anew|heeded|heeds|seldom)\b",
    "is to do": r"\b(?:is|are) to (?:be|find|have|take|give|say|tell|hold)\b",
    "that which, what follows": r"\b(?:[Tt]hat which|[Tt]hose which|[Ww]ho(?:ever)? is asked)\b",
    "sentence starts with What": r"(?:^|[.] )What (?:a|an|the|is|it|has|was|no|every|each|one)\b(?![^.]*\?)",
    "never saw": r"\bnever (?:saw|seen)\b",
    "by their names": r"\bby their names?\b",
    "near miss": r"\bnear miss(?:es)?\b",
    "sink": r"\bsinks?\b",
    "British spelling": r"\b(?:initialis|normalis|minimis|colour|centre[ds]?\b|behaviour|neighbour|favour|honour|labelled|"
    r"modelling|cancell(?:ed|ing)|grey|learnt|licence|dialogue)",
    "more than 25 words": None,
}

# Wordings that a review replaced and that must not be used again.
PHRASES = """
sentences it never saw
One attention can look at one thing
It is for one beam
refuses by name what it does not have
Who embeds text links no decoder
is held against its checksum
is not heeded
has slow minutes
Masks are no embedding but zeros
are slow to become places
has become the star
is to find its own text among
what never has to be told apart
times as far as the model learned
does well to say yes
follow the places of all atoms
what a model is unsure of
It adds up what it can
What is not hidden is what
line by line a pair
Write a model's folder anew
with so many channels in each stage
whose outputs one after another
finds that they fit it
Of the rows and masked letters
a fault of headlight itself
are its own open slots
of what everything follows from
a number that equal ones share
What a part is, its task knows
that the system does not grant
What comes of a text
a score is due to
each look takes from the processor
names the thing, the place and the rule
Of these follows
""".strip().splitlines()


def comments_and_strings(text):
    """Yields the comment blocks and long string literals of C++ source, each with the number of its first line."""
    block, start = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*///?(?!/) ?(.*)", line)
        if match:
            if not block:
                start = number
            block.append(match.group(1))
            continue
        if block:
            yield start, "\n".join(block)
            block = []
        trailing = re.search(r";\s+// (.*)", line)
        if trailing:
            yield number, trailing.group(1)
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if literal.count(" ") >= 2:
                yield number, literal
    if block:
        yield start, "\n".join(block)


def prose(text):
    """Yields the paragraphs, list items and table cells of Markdown outside code blocks."""
    paragraph, start, code = [], 0, False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            code = not code
            line = ""
        elif code or line.startswith("    ") and not paragraph:
            continue
        begins = re.match(r"\s*(?:[-*|#]|\d+\.) ?", line)
        if (not line.strip() or begins) and paragraph:
            yield start, "\n".join(paragraph)
            paragraph = []
        if line.strip():
            if not paragraph:
                start = number
            paragraph.append(line[begins.end() :] if begins else line)


def long_sentences(text):
    if "|" in text or "::" in text:
        return []
    text = re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$", "Equation", text)
    text = re.sub(r"`[^`]*`", "Code", re.sub(r"</?[a-z][^<>]*>|\]\([^)]*\)", "", text))
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z0-9\[\"*$])|\n\s*\n", text)
    return [s for s in sentences if len(re.findall(r"[\w'-]*[A-Za-z][\w'-]*", s)) > 25]


def matches(name, pattern, passages):
    for path, line, text in passages:
        if pattern is None:
            for sentence in long_sentences(text):
                yield path, line, " ".join(sentence.split())
            continue
        for found in re.finditer(pattern, text, re.MULTILINE):
            row = text.count("\n", 0, found.start())
            yield path, line + row, text.splitlines()[row].strip()


def read_passages():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    passages = {"code": [], "docs": []}
    for name in files:
        if name in EXEMPT or name.startswith("tests/testdata/"):
            continue
        if name.endswith((".cc", ".h")):
            kind, split = "code", comments_and_strings
        elif name.endswith(".md") and name != "CHANGELOG.md":
            kind, split = "docs", prose
        else:
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        passages[kind] += [(name, line, passage) for line, passage in split(text)]
    return passages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="PATTERN", help="print the matches of one pattern, or of all phrases: 'phrases'")
    parser.add_argument("--save", action="store_true", help="write today's counts as limits")
    args = parser.parse_args()
    passages = read_passages()
    patterns = dict(PATTERNS)
    patterns["phrases"] = "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in PHRASES)
    if args.list:
        if args.list not in patterns:
            parser.error(f"no pattern '{args.list}'; there are {', '.join(patterns)}")
        for path, line, text in matches(args.list, patterns[args.list], passages["code"] + passages["docs"]):
            print(f"{path}:{line}: {text}")
        return 0
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else {}
    grown = False
    counts = {}
    print(f"{'pattern':28} {'code':>6} {'limit':>6} {'docs':>6} {'limit':>6}")
    for name, pattern in patterns.items():
        counts[name] = {kind: sum(1 for _ in matches(name, pattern, passages[kind])) for kind in ("code", "docs")}
        row = [f"{name:28}"]
        for kind in ("code", "docs"):
            limit = limits.get(name, {}).get(kind)
            row += [f"{counts[name][kind]:6}", f"{'' if limit is None else limit:>6}"]
            if limit is not None and counts[name][kind] > limit:
                grown = True
                row.append("above the limit")
        print(" ".join(row))
    if grown:
        print("A count is above its limit: see --list PATTERN, and use plainer words.", file=sys.stderr)
        return 1
    if args.save:
        LIMITS.write_text(json.dumps(counts, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
