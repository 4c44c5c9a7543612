#!/usr/bin/env python3
"""Makes headlight/nn/testdata/detection_loss.json: DETR's loss and its gradients, computed by Transformers.

    pip install torch transformers==5.23.0 scipy && tools/make_detection_loss_goldens.py

Each case has `images` (labels and boxes of the objects in each image), and for each layer `logits`
[images * queries, classes + 1] and `boxes` [images * queries, 4]. It also has the loss of all layers, and the gradients
with respect to logits and boxes.
"""

import json
import pathlib

import torch
from transformers import DetrConfig
from transformers.loss.loss_for_object_detection import ForObjectDetectionLoss

torch.set_default_dtype(torch.float64)  # the class weights also need double precision
OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "nn" / "testdata"


def rounded(x):
    return [float(f"{v:.12g}") for v in x.detach().flatten().tolist()]


def case(seed, counts, queries, classes, layers, **options):
    generator = torch.Generator().manual_seed(seed)
    rand = lambda *shape: torch.rand(*shape, generator=generator, dtype=torch.float64)
    config = DetrConfig(num_labels=classes, auxiliary_loss=True, num_queries=queries, **options)
    logits = (rand(layers, len(counts), queries, classes + 1) * 6 - 3).round(decimals=3).requires_grad_()
    boxes = (torch.cat([rand(layers, len(counts), queries, 2), 0.05 + 0.5 * rand(layers, len(counts), queries, 2)], -1)).round(decimals=3).requires_grad_()
    images = [{"class_labels": torch.randint(0, classes, (n,), generator=generator),
                 "boxes": torch.cat([rand(n, 2), 0.05 + 0.5 * rand(n, 2)], -1).round(decimals=3)} for n in counts]
    loss, _, _ = ForObjectDetectionLoss(logits[-1], images, "cpu", boxes[-1], config, outputs_class=logits, outputs_coord=boxes)
    loss.backward()
    return {"options": {key: value for key, value in options.items()}, "queries": queries, "classes": classes, "loss": loss.item(),
            "images": [{"labels": p["class_labels"].tolist(), "boxes": rounded(p["boxes"])} for p in images],
            "layers": [{"logits": rounded(logits[i]), "boxes": rounded(boxes[i]), "d_logits": rounded(logits.grad[i]), "d_boxes": rounded(boxes.grad[i])}
                       for i in range(layers)]}


cases = [
    case(1, [2, 0, 3], 5, 3, 2),
    case(2, [0], 2, 1, 1),  # an image without objects
    case(3, [4, 1], 3, 2, 1, eos_coefficient=0.3, class_cost=2, bbox_cost=3, giou_cost=4, bbox_loss_coefficient=2, giou_loss_coefficient=3),
]
OUT.mkdir(exist_ok=True)
(OUT / "detection_loss.json").write_text("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]\n")
