#!/usr/bin/env python3
"""Divides parallel text by topic, to train on some topics and evaluate on others. This measures how well a model
translates topics that are missing in its training text.

  hold_out_topics.py train.de train.en                               lists the topics
  hold_out_topics.py train.de train.en --hold 16 25 26 --out split   writes split/rest.de, split/rest.en, split/held.de, split/held.en

A topic is a cluster of the lines of the second file: spherical k-means (Dhillon and Modha, "Concept Decompositions for
Large Sparse Text Data Using Clustering", 2001) over their words, weighted by inverse document frequency and projected
to 100 dimensions. The same files and options give the same topics. Needs numpy.
"""

import argparse
import collections
import os
import re

import numpy


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--topics", type=int, default=40, help="number of topics [40]")
    parser.add_argument("--hold", type=int, nargs="+", default=[], help="topics to hold out")
    parser.add_argument("--out", default=".", help="folder of the divided files")
    return parser.parse_args()


def vectors(lines):
    """Returns the lines' unit vectors [lines, 100], and the words of each line that affect its vector."""
    words = [set(re.findall(r"\w+", line.lower())) for line in lines]
    frequency = collections.Counter(word for line in words for word in line)
    kept = [word for word, count in sorted(frequency.items()) if 15 <= count <= len(lines) / 15]
    column = {word: i for i, word in enumerate(kept)}
    x = numpy.zeros((len(lines), len(kept)), numpy.float32)
    for row, line in enumerate(words):
        for word in line & column.keys():
            x[row, column[word]] = numpy.log(len(lines) / frequency[word])
    x /= numpy.maximum(1e-6, numpy.linalg.norm(x, axis=1, keepdims=True))
    # Compute the singular vectors of the largest singular values with a random projection (Halko et al., 2011).
    start = numpy.random.default_rng(0).normal(size=(len(kept), 120)).astype(numpy.float32)
    basis = numpy.linalg.qr(x @ (x.T @ (x @ start)))[0]
    y = x @ numpy.linalg.svd(basis.T @ x, full_matrices=False)[2][:100].T
    return y / numpy.maximum(1e-6, numpy.linalg.norm(y, axis=1, keepdims=True)), [line & column.keys() for line in words]


def clusters(y, topics):
    centres = y[numpy.random.default_rng(1).choice(len(y), topics, replace=False)]
    for _ in range(30):
        nearest = numpy.argmax(y @ centres.T, axis=1)
        for topic in range(topics):
            mean = y[nearest == topic].sum(axis=0)
            centres[topic] = mean / max(1e-6, numpy.linalg.norm(mean))
    return nearest


def main():
    options = arguments()
    texts = [open(path, encoding="utf-8").read().splitlines() for path in (options.source, options.target)]
    if len(texts[0]) != len(texts[1]):
        raise SystemExit(f"{options.source} has {len(texts[0])} lines, {options.target} {len(texts[1])}")
    y, words = vectors(texts[1])
    topic_of = clusters(y, options.topics)
    if not options.hold:
        frequency = collections.Counter(word for line in words for word in line)
        for topic in range(options.topics):
            inside = collections.Counter(word for line in numpy.flatnonzero(topic_of == topic) for word in words[line])
            best = sorted(inside, key=lambda word: (inside[word] * numpy.log(len(words) / frequency[word]), word))[-8:]
            print(f"{topic:3} {numpy.sum(topic_of == topic):6} lines: {' '.join(reversed(best))}")
        return
    held = numpy.isin(topic_of, options.hold)
    os.makedirs(options.out, exist_ok=True)
    for path, lines in zip((options.source, options.target), texts):
        for name, chosen in (("rest", ~held), ("held", held)):
            with open(os.path.join(options.out, name + os.path.splitext(path)[1]), "w", encoding="utf-8") as file:
                file.writelines(lines[i] + "\n" for i in numpy.flatnonzero(chosen))
    print(f"{held.sum()} of {len(held)} lines are held out")


main()
