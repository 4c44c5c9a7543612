#!/usr/bin/env python3
"""Makes headlight/image/metrics/testdata/detection_scores.json: random boxes, and their scores by pycocotools.

    pip install pycocotools==2.0.10 numpy && tools/make_detection_score_goldens.py

Each case has images. Their `truth` is [left, top, right, bottom, class, area, crowd], and their `found` is [left, top,
right, bottom, class, score]. It also has `classes`, and `stats`, the twelve numbers of COCOeval.summarize (-1: no
objects). Sides are multiples of 1/2 and scores are multiples of 1/20, so that some overlaps equal thresholds and some
scores are equal.
"""

import contextlib
import io
import json
import pathlib

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "image" / "metrics" / "testdata"


def case(seed, images, classes, most, crowds, noise, largest):
    rng = np.random.default_rng(seed)
    images, result = [], []
    annotations, detections = [], []
    for image in range(1, images + 1):
        images.append({"id": image, "width": 640, "height": 480})
        truth, found = [], []
        for _ in range(rng.integers(0, most + 1)):
            side = rng.integers(4, largest, 2) / 2
            left, top = rng.integers(0, 500, 2) / 2
            label = int(rng.integers(0, classes))
            area = float(side[0] * side[1] * (1 if rng.random() < 0.5 else 0.5))
            crowd = int(rng.random() < crowds)
            box = [float(left), float(top), float(left + side[0]), float(top + side[1])]
            truth.append([*box, label, area, crowd])
            for _ in range(rng.integers(0, 4)):
                shift = np.round(rng.normal(0, noise, 4) * np.tile(side, 2) * 2) / 2
                moved = np.array(box) + shift
                if moved[2] <= moved[0] or moved[3] <= moved[1]:
                    continue
                other = label if rng.random() < 0.85 else int(rng.integers(0, classes))
                found.append([*map(float, moved), other, float(rng.integers(1, 20)) / 20])
        for box in truth:
            annotations.append({"id": len(annotations) + 1, "image_id": image, "category_id": box[4] + 1, "area": box[5], "iscrowd": box[6],
                                "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]]})
        for box in found:
            detections.append({"image_id": image, "category_id": box[4] + 1, "score": box[5],
                               "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]]})
        result.append({"truth": truth, "found": found})
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {"images": images, "annotations": annotations, "categories": [{"id": i + 1, "name": str(i)} for i in range(classes)]}
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(detections), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return {"classes": classes, "stats": [float(x) for x in evaluation.stats], "images": result}


def main():
    cases = [
        case(1, 20, 3, 6, 0.15, 0.08, 300),
        case(2, 12, 1, 14, 0.0, 0.15, 90),  # more than ten boxes per class, and few large boxes
        case(3, 15, 5, 3, 0.4, 0.05, 60),  # small and crowded objects, but no large objects
    ]
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "detection_scores.json").write_text(json.dumps(cases, separators=(",", ":")).replace(".0,", ",").replace(".0]", "]").replace('{"truth"', '\n{"truth"') + "\n")


main()
