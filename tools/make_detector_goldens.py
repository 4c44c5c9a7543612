#!/usr/bin/env python3
"""Makes tests/testdata/detectors/: tiny detectors saved by Hugging Face Transformers, and their outputs.

    pip install torch==2.15.0 transformers==5.23.0
    tools/make_detector_goldens.py

One folder per model: config.json, model.safetensors and preprocessor_config.json as save_pretrained writes them, and
golden.safetensors, computed in double precision without dropout and stored in single precision. The cells are the cells
that pixel_mask does not mask, with one image after another:
    pixel_values               [images, height, width, channels]
    pixel_mask                 [images, height, width], optional
    logits.L, pred_boxes.L     [images * queries, ...] of each decoder layer, after the final norm
    last_hidden_state          [images * queries, model]
    pred_masks                 [images * queries, height * width], of a model with masks
    encoder_last_hidden_state  [cells, model]
    encoder_attentions.L, decoder_attentions.L, cross_attentions.L   [heads, query, key] of one image after another
    loss, gradient.NAME        of every parameter, under its name in model.safetensors
and found.json: the boxes that Transformers finds in each image of headlight/image/testing.h. For a model with masks, it
also has the segments, and the segment of each pixel, from 1 (0: none). segments.json has the segments of random masks
and classes, with several thresholds.
"""

import json
import os
import pathlib
import shutil
import types

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import DetrConfig, DetrForObjectDetection, DetrForSegmentation, ResNetConfig  # noqa: E402
from transformers.models.detr.image_processing_pil_detr import DetrImageProcessorPil  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "detectors"

SMALL = dict(d_model=8, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=4, encoder_ffn_dim=10,
             decoder_ffn_dim=6, num_queries=3, num_labels=2)


def backbone(**more):
    return ResNetConfig(**{**dict(embedding_size=4, hidden_sizes=[4, 8, 8, 8], depths=[1, 1, 2, 1], layer_type="bottleneck",
                                  out_features=["stage4"]), **more})


# For each model: the config, the height and width of the images, and the visible parts of the images.
MODELS = {
    "detr": (DetrConfig(use_timm_backbone=False, backbone_config=backbone(), **SMALL), (33, 70), None),
    "detr_padded": (DetrConfig(use_timm_backbone=False, backbone_config=backbone(layer_type="basic", depths=[1, 1, 1, 1]), **SMALL),
                    (65, 70), [(65, 40), (33, 70)]),
    "detr_learned": (DetrConfig(use_timm_backbone=False, backbone_config=backbone(hidden_sizes=[4, 8, 8, 12]), position_embedding_type="learned",
                                activation_function="gelu", auxiliary_loss=True, **{**SMALL, "encoder_layers": 1}), (64, 33), None),
    "detr_masks": (DetrConfig(use_timm_backbone=False, backbone_config=backbone(depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"]),
                              **{**SMALL, "d_model": 16, "encoder_attention_heads": 8, "encoder_layers": 1, "decoder_layers": 1}),
                   (65, 70), [(65, 40), (33, 70)]),
}


def initialize(model, seed):
    """Sets random values that are large enough for sharp attention. Every bias, gain and statistic matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            noise = torch.randn(value.shape, generator=generator)
            if name.endswith("running_var"):
                value.copy_(0.5 + torch.rand(value.shape, generator=generator))
            elif "norm" in name and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            elif value.ndim == 4:  # weights of convolutions
                value.copy_(noise * 1.5 / (value[0].numel() ** 0.5))
            else:
                value.copy_((0.2 if value.ndim == 1 else 0.35) * noise)


def weigh(x):
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


def golden(model, folder, size, seen, seed):
    generator = torch.Generator().manual_seed(100 + seed)
    pixels = torch.randn(2, 3, *size, generator=generator).float().double()
    model.double()
    for value in model.parameters():
        value.requires_grad_(True)
    tensors, mask = {"pixel_values": pixels.permute(0, 2, 3, 1)}, None
    if seen is not None:
        mask = torch.zeros(2, *size, dtype=torch.int64)
        for image, (height, width) in enumerate(seen):
            mask[image, :height, :width] = 1
            pixels[image, :, height:] = 0
            pixels[image, :, :, width:] = 0
        tensors["pixel_mask"] = mask
    detector = model.detr if isinstance(model, DetrForSegmentation) else model
    states, norm = [], detector.model.decoder.layernorm
    hooks = [layer.register_forward_hook(lambda _, __, out: states.append(out)) for layer in detector.model.decoder.layers]
    output = model(pixels, pixel_mask=mask, output_attentions=True)
    for hook in hooks:
        hook.remove()
    # The outputs of a layer are computed from the layer's normalized state, but the next layer uses the state itself.
    if model.config.auxiliary_loss:
        heads = [norm(state) for state in states[:-1]] + [output.last_hidden_state]
    else:
        heads = [norm(state) for state in states]
    loss = 0
    for layer, state in enumerate(heads):
        tensors[f"logits.{layer}"] = detector.class_labels_classifier(state).flatten(0, 1)
        tensors[f"pred_boxes.{layer}"] = detector.bbox_predictor(state).sigmoid().flatten(0, 1)
        loss = loss + weigh(tensors[f"logits.{layer}"]) + weigh(tensors[f"pred_boxes.{layer}"])
    assert torch.allclose(tensors[f"logits.{len(heads) - 1}"], output.logits.flatten(0, 1))
    assert torch.allclose(tensors[f"pred_boxes.{len(heads) - 1}"], output.pred_boxes.flatten(0, 1))
    cells = [-(-side // 32) for side in size]
    cell_mask = torch.ones(2, *cells, dtype=torch.bool) if mask is None else torch.nn.functional.interpolate(mask[None].float(), size=cells)[0].bool()
    cell_mask = cell_mask.flatten(1)
    assert output.encoder_last_hidden_state.shape[1] == cell_mask.shape[1], (output.encoder_last_hidden_state.shape, cells)
    tensors["encoder_last_hidden_state"] = output.encoder_last_hidden_state[cell_mask]
    tensors["last_hidden_state"] = output.last_hidden_state.flatten(0, 1)
    loss = loss + weigh(tensors["encoder_last_hidden_state"])
    if isinstance(model, DetrForSegmentation):
        tensors["pred_masks"] = output.pred_masks.flatten(0, 1).flatten(1)
        loss = loss + weigh(tensors["pred_masks"])
    loss.backward()
    tensors["loss"] = loss
    for layer, weights in enumerate(output.encoder_attentions):
        tensors[f"encoder_attentions.{layer}"] = torch.cat([weights[i][:, cell_mask[i]][:, :, cell_mask[i]].flatten() for i in range(2)])
    for layer, weights in enumerate(output.decoder_attentions):
        tensors[f"decoder_attentions.{layer}"] = weights.flatten()
    for layer, weights in enumerate(output.cross_attentions):
        tensors[f"cross_attentions.{layer}"] = torch.cat([weights[i][:, :, cell_mask[i]].flatten() for i in range(2)])
    published = {}  # maps names in memory to names in the file
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            published[name] = file.get_tensor(name)
    for name, value in model.named_parameters():
        same = [key for key, stored in published.items() if stored.shape == value.shape and torch.equal(stored, value.float())]
        assert len(same) == 1, (name, same)
        tensors[f"gradient.{same[0]}"] = value.grad if value.grad is not None else torch.zeros_like(value)
    for name, value in tensors.items():
        value = value.detach().contiguous()
        tensors[name] = value.to(torch.uint8) if name == "pixel_mask" else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def pattern(width, height):
    """Returns the same image as headlight/image/testing.h."""
    return numpy.array([(i * i // 7 + 31 * i) % 256 for i in range(width * height * 3)], numpy.uint8).reshape(height, width, 3)


def find(model, processor, folder):
    """Writes found.json with the boxes (corners in pixels) in the order of the queries."""
    sizes, outputs = [(50, 30), (20, 41), (33, 33), (8, 70)], []
    for width, height in sizes:
        inputs = processor(images=pattern(width, height), return_tensors="pt")
        outputs.append(model(inputs["pixel_values"].double(), pixel_mask=inputs["pixel_mask"]))
    scores = sorted(torch.cat([output.logits.softmax(-1)[0, :, :-1].max(-1).values for output in outputs]).tolist())
    gap = max(range(len(scores) - 1), key=lambda i: scores[i + 1] - scores[i])
    threshold, images = round((scores[gap] + scores[gap + 1]) / 2, 3), []
    for (width, height), output in zip(sizes, outputs):
        found = processor.post_process_object_detection(output, threshold=threshold, target_sizes=torch.tensor([(height, width)]))[0]
        images.append({"width": width, "height": height, **{key: value.tolist() for key, value in found.items()}})
        if isinstance(model, DetrForSegmentation):
            found = processor.post_process_panoptic_segmentation(output, threshold=threshold, target_sizes=[(height, width)])[0]
            images[-1]["segments"] = [[segment["id"], segment["label_id"], segment["score"]] for segment in found["segments_info"]]
            images[-1]["segmentation"] = found["segmentation"].clamp(min=0).int().flatten().tolist()
    (folder / "found.json").write_text(json.dumps({"threshold": threshold, "images": images}) + "\n")


def segments():
    """Writes segments.json for smooth masks [queries, height, width] and logits in the format of DetrForSegmentation's
    output."""
    generator = torch.Generator().manual_seed(7)
    processor, cases = DetrImageProcessorPil(), []
    for case in range(4):
        queries, height, width = 8, 5, 7
        masks = torch.nn.functional.interpolate(torch.randn(1, queries, 3, 3, generator=generator) * 6, size=(height, width), mode="bilinear")
        logits = torch.randn(1, queries, 4, generator=generator) * 4 - torch.tensor([0, 0, 0, 4])
        output = types.SimpleNamespace(logits=logits, pred_masks=masks)
        threshold, mask_threshold, overlap = [(0.5, 0.5, 0.2), (0.3, 0.5, 0.25), (0.3, 0.3, 0.4), (0.4, 0.1, 0.1)][case]
        size = [(23, 31), (4, 9), (40, 11), (5, 7)][case]
        found = processor.post_process_panoptic_segmentation(output, threshold, mask_threshold, overlap, target_sizes=[size])[0]
        cases.append({"height": height, "width": width, "masks": masks.flatten().tolist(), "logits": logits.flatten().tolist(),
                      "threshold": threshold, "mask_threshold": mask_threshold, "overlap": overlap, "size": size,
                      "segments": [[segment["id"], segment["label_id"], segment["score"]] for segment in found["segments_info"]],
                      "segmentation": found["segmentation"].clamp(min=0).int().flatten().tolist()})
        assert len(cases[-1]["segments"]) >= 2, cases[-1]["segments"]
    (OUT / "segments.json").write_text(json.dumps(cases) + "\n")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, (name, (config, size, seen)) in enumerate(MODELS.items(), start=30):
        folder = OUT / name
        folder.mkdir(parents=True)
        kind = DetrForSegmentation if name == "detr_masks" else DetrForObjectDetection
        model = kind._from_config(config, attn_implementation="eager").eval()
        initialize(model, seed)
        model.save_pretrained(folder)
        golden(model, folder, size, seen, seed)
        processor = DetrImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 128})
        processor.save_pretrained(folder)
        find(model, processor, folder)
        print(name)
    segments()


main()
