#!/usr/bin/env python3
"""Makes headlight/text/metrics/testdata/class_scores.json: logits and features, and their scores by scikit-learn 1.9.1.

    pip install scikit-learn==1.9.1
    tools/make_class_score_goldens.py > headlight/text/metrics/testdata/class_scores.json
"""
import json

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (accuracy_score, confusion_matrix, f1_score, log_loss, precision_recall_fscore_support,
                             top_k_accuracy_score)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

assert sklearn.__version__ == "1.9.1"
generator = np.random.default_rng(1)


def numbers(array):
    return [round(float(number), 3) for number in np.asarray(array).ravel()]


def logits(examples=50, classes=7):
    right = generator.integers(0, classes - 1, examples)  # the last class is never correct
    values = np.array(numbers(generator.normal(size=(examples, classes)) + 1.2 * np.eye(classes)[right])).reshape(
        examples, classes)
    found, labels = values.argmax(axis=1), range(classes)
    probabilities = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    precision, recall, f1, count = precision_recall_fscore_support(right, found, labels=labels, zero_division=0)
    return {
        "classes": classes, "right": right.tolist(), "logits": numbers(values),
        "accuracy": accuracy_score(right, found),
        "macro_f1": f1_score(right, found, average="macro"),
        "top5_accuracy": top_k_accuracy_score(right, values, k=5, labels=labels),
        "loss": log_loss(right, probabilities, labels=labels),
        "confusions": confusion_matrix(right, found, labels=labels).ravel().tolist(),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "count": count.tolist(),
    }


def features(known=60, asked=30, dimension=6, classes=3, neighbours=5):
    right = np.arange(known + asked) % classes
    centres = generator.normal(size=(classes, dimension))
    vectors = np.array(numbers((centres[right] + generator.normal(size=(known + asked, dimension))) *
                               np.arange(1, dimension + 1) + 0.5)).reshape(-1, dimension)
    train, test = vectors[:known], vectors[known:]
    nearest = KNeighborsClassifier(neighbours, metric="cosine", weights=lambda distance: np.exp((1 - distance) / 0.07))
    probe = make_pipeline(StandardScaler(), LogisticRegression(C=1, tol=1e-10, max_iter=10000))
    return {
        "dimension": dimension, "neighbours": neighbours, "known": numbers(train), "known_classes": right[:known].tolist(),
        "asked": numbers(test), "asked_classes": right[known:].tolist(),
        "neighbour_classes": nearest.fit(train, right[:known]).predict(test).tolist(),
        "probabilities": probe.fit(train, right[:known]).predict_proba(test).ravel().tolist(),
    }


print(json.dumps({"logits": logits(), "features": features()}))
