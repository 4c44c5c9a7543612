#!/usr/bin/env python3
"""Makes headlight/image/testdata/processors.json: settings of image processors, and Transformers' results.

    pip install torch transformers==5.23.0 pillow && tools/make_image_processor_goldens.py

Each item has a config, the size of the image of make_image_goldens.py, and the height, width and CRC32 of the float32
pixel_values as [height, width, channels], or of the int64 input_ids. The results must be bit-identical.
"""

import importlib
import json
import pathlib
import zlib

import numpy as np
from PIL import Image

MODULES = {"ViT": "vit", "DeiT": "deit", "CLIP": "clip", "Bit": "bit", "Siglip": "siglip", "Blip": "blip",
           "ConvNext": "convnext", "Detr": "detr", "Vilt": "vilt", "ImageGPT": "imagegpt"}
SIZES = [(30, 20), (20, 30), (25, 25), (70, 9), (5, 3)]


def image(width, height):
    i = np.arange(width * height * 3, dtype=np.int64)
    return Image.fromarray(((i * i // 7 + 31 * i) % 256).astype(np.uint8).reshape(height, width, 3))


rng = np.random.default_rng(3)
clusters = rng.uniform(-1, 1, (16, 3)).round(4).tolist()
small = {"height": 12, "width": 10}
configs = [(kind, settings) for kind, all_settings in {
    "ViT": [{"size": 12}, {"size": small, "resample": 3}, {"size": small, "do_normalize": False},
            {"size": small, "do_rescale": False}, {"do_resize": False, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.6, 0.7]},
            {"size": {"shortest_edge": 14}}, {"size": {"max_height": 9, "max_width": 13}}],
    "DeiT": [{"size": 14, "crop_size": 11}, {"size": 8, "crop_size": {"height": 13, "width": 6}}, {"size": 14, "do_center_crop": False}],
    "CLIP": [{"size": 16, "crop_size": 16}, {"size": {"shortest_edge": 9}, "crop_size": 12}, {"size": 16, "resample": 1, "crop_size": 7}],
    "Bit": [{"size": {"shortest_edge": 12}, "crop_size": {"height": 10, "width": 10}}],
    "Siglip": [{"size": small}], "Blip": [{"size": small}],
    "ConvNext": [{"size": {"shortest_edge": 14}, "crop_pct": 0.9}, {"size": 15}],
    "Detr": [{"size": {"shortest_edge": 16, "longest_edge": 24}}, {"size": 16, "max_size": 20}, {"size": {"shortest_edge": 20, "longest_edge": 100}}],
    "Vilt": [{"size": {"shortest_edge": 16}, "size_divisor": 4}],
    "ImageGPT": [{"size": small, "clusters": clusters}],
# The first settings of each kind are the class's defaults.
}.items() for settings in [{"clusters": clusters} if kind == "ImageGPT" else {}, *all_settings]]
items = []
for kind, settings in configs:
    module = importlib.import_module(f"transformers.models.{MODULES[kind]}.image_processing_pil_{MODULES[kind]}")
    processor = getattr(module, f"{kind}ImageProcessorPil").from_dict(dict(settings))
    for width, height in SIZES:
        try:
            result = processor(images=image(width, height), return_tensors="np")
        except Exception as error:
            print(kind, settings, width, height, type(error).__name__, error)
            continue
        item = {"config": {"image_processor_type": f"{kind}ImageProcessor", **settings}, "image": [width, height]}
        if "input_ids" in result:
            values = np.asarray(result["input_ids"][0], np.int64)
        else:
            values = np.ascontiguousarray(np.asarray(result["pixel_values"][0]).transpose(1, 2, 0).astype(np.float32))
            item["size"] = [values.shape[0], values.shape[1]]
        items.append({**item, "crc32": zlib.crc32(values.tobytes())})
out = pathlib.Path(__file__).parent.parent / "headlight/image/testdata/processors.json"
out.write_text("[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]\n")
