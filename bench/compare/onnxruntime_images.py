"""Encodes random images with models of random weights in headlight, ONNX Runtime and PyTorch, in alternating runs, and
prints the speeds.

Each model is exported for ONNX Runtime without transformer optimisations, and also with them if they support the model.
For int8, it is quantized in several ways. The fastest setting is used. PyTorch runs Transformers' model with fused
attention, in float32 and bfloat16. DETR is compiled. The models score 1,000 classes. DETR scores 91 classes for each of
100 queries in images of 1066 x 800 pixels. Before the measurement, the float32 scores of a few images must agree.
detr-r50-mixed uses batches of four images of different sizes. The peers pad them to the largest size, with a mask.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("ONNX Runtime")  # must precede the import of a peer

from results import record

HEADLIGHT = "build/release/headlight"
MODELS = ("vit-b16", "dinov2-s", "resnet-50", "detr-r50", "detr-r50-mixed")
SIDE = 224
DETECTED = (800, 1066)  # height and width of DETR's input images
# Sizes of a mixed batch: photographs with aspect ratios of 4:3, 3:4, 5:3 and 1:1, resized by DETR's processor.
MIXED = ((800, 1066), (1066, 800), (800, 1333), (800, 800))
# The peers for each compute type of headlight.
PEERS = {"float32": ("onnx float32", "torch float32"), "bfloat16": ("onnx float32", "torch bfloat16"),
         "int8": ("onnx int8", "onnx float32")}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--compute", nargs="+", default=list(PEERS), choices=list(PEERS), help="of headlight")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="of one side's turn, at least one batch")
    parser.add_argument("--work", help="a folder to keep the models in, for another run")
    # The worker runs a peer in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(name, folder):
    import torch
    import transformers

    torch.manual_seed(1)
    if name == "vit-b16":
        model = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
    elif name == "dinov2-s":
        model = transformers.Dinov2ForImageClassification(transformers.Dinov2Config(
            hidden_size=384, num_attention_heads=6, image_size=SIDE, patch_size=14, num_labels=1000))
    elif name == "resnet-50":
        model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000))
    else:
        model = transformers.DetrForObjectDetection(transformers.DetrConfig(
            use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, num_labels=91,
            backbone_config=transformers.ResNetConfig(out_features=["stage4"])))
    for module in model.modules():  # in a trained network, running means are not 0 and variances not 1
        if hasattr(module, "running_var"):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    model.eval()
    pixels = torch.from_numpy(random_pixels(2, sizes=sizes_of(folder))[0])
    with torch.no_grad():  # makes probabilities differ between images, with none close to 1
        for parameter_name, parameter in model.named_parameters():
            if "classifier" in parameter_name and parameter.dim() == 2:
                parameter.normal_()
                parameter /= model(pixel_values=pixels).logits.std()
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(
        {"image_processor_type": "ViTImageProcessor", "do_resize": False}))


def detects(folder):
    return Path(folder).name.startswith("detr")


def is_mixed(folder):
    return Path(folder).name.endswith("mixed")


def sizes_of(folder):
    """Returns the heights and widths of the images in a batch. They are used cyclically."""
    return MIXED if is_mixed(folder) else (DETECTED,) if detects(folder) else ((SIDE, SIDE),)


def load(folder):
    import transformers

    of = transformers.DetrForObjectDetection if detects(folder) else transformers.AutoModelForImageClassification
    return of.from_pretrained(folder).eval()


def random_pixels(count, seed=1, sizes=((SIDE, SIDE),)):
    """Returns pixels [count, 3, height, width] in -1..1, as returned by the processor, padded to the largest image.
    Also returns their mask [count, height, width], and the bytes of the images."""
    import numpy

    random = numpy.random.default_rng(seed)
    images = [random.integers(0, 256, (*sizes[i % len(sizes)], 3), dtype=numpy.uint8) for i in range(count)]
    height, width = (max(image.shape[side] for image in images) for side in (0, 1))
    pixels, mask = numpy.zeros((count, 3, height, width), numpy.float32), numpy.zeros((count, height, width), numpy.int64)
    for i, image in enumerate(images):
        own = (image.transpose(2, 0, 1) / numpy.float32(255) - 0.5) / 0.5
        pixels[i, :, :own.shape[1], :own.shape[2]] = own
        mask[i, :own.shape[1], :own.shape[2]] = 1
    return pixels, mask, images


def export(folder, to):
    """Exports the model for ONNX Runtime. Returns {kind: file} for the kinds of float32 and int8."""
    import torch
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    if (to / "done").exists():
        return json.loads((to / "done").read_text())
    to.mkdir(exist_ok=True)
    model = load(folder)
    encodes = hasattr(model.config, "num_attention_heads") and not detects(folder)
    if encodes or detects(folder):
        model.set_attn_implementation("eager")

    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pixels, *mask):
            return self.model(pixels, *mask).logits

    pixels, mask, _ = random_pixels(max(2, len(sizes_of(folder))), sizes=sizes_of(folder))
    inputs = {"pixels": torch.from_numpy(pixels)} | ({"mask": torch.from_numpy(mask)} if is_mixed(folder) else {})
    torch.onnx.export(Scores(), tuple(inputs.values()), str(to / "exported.onnx"), input_names=list(inputs),
                      output_names=["scores"], dynamic_axes={name: {0: "batch"} for name in [*inputs, "scores"]},
                      dynamo=False)  # the optimiser supports graphs of the exporter without dynamo
    kinds = {"float32": "exported.onnx"}
    if detects(folder):
        pass
    elif encodes:
        from onnxruntime.transformers import optimizer

        fused = optimizer.optimize_model(str(to / "exported.onnx"), model_type="vit",
                                         num_heads=model.config.num_attention_heads,
                                         hidden_size=model.config.hidden_size)
        fused.save_model_to_file(str(to / "fused.onnx"))
        kinds["float32 fused"] = "fused.onnx"
        for source in ("exported", "fused"):
            for per_channel in (False, True):
                kind = f"int8 {source}{' by columns' if per_channel else ''}"
                kinds[kind] = f"{kind}.onnx"
                quantize_dynamic(to / f"{source}.onnx", to / kinds[kind], weight_type=QuantType.QInt8,
                                 per_channel=per_channel, op_types_to_quantize=["MatMul", "Gemm", "Attention"],
                                 extra_options={"DefaultTensorType": 1})  # float32, for tensors with unknown types
    else:  # int8 convolutions are fast only with static scales

        class Images(CalibrationDataReader):
            def __init__(self):
                self.left = iter(random_pixels(8, seed=2)[0])

            def get_next(self):
                pixels = next(self.left, None)
                return None if pixels is None else {"pixels": pixels[None]}

        quant_pre_process(str(to / "exported.onnx"), str(to / "prepared.onnx"))
        kinds["int8 static"] = "static.onnx"
        quantize_static(to / "prepared.onnx", to / "static.onnx", Images(), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True)
    kinds = {kind: str(to / file) for kind, file in kinds.items()}
    (to / "done").write_text(json.dumps(kinds))
    return kinds


def worker(job):
    """Scores batches of random images repeatedly until the time is up. For 0 seconds, prints the scores of the
    images."""
    pixels, mask, _ = random_pixels(job["batch"], sizes=sizes_of(job["folder"]))
    inputs = {"pixels": pixels} | ({"mask": mask} if is_mixed(job["folder"]) else {})
    if job["file"]:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = job["threads"]
        session = onnxruntime.InferenceSession(job["file"], settings, providers=["CPUExecutionProvider"])

        def read():
            return session.run(None, inputs)[0]
    else:
        import torch

        torch.set_num_threads(job["threads"])
        dtype = getattr(torch, job["dtype"])
        model = load(job["folder"]).to(dtype)
        if detects(job["folder"]) and job["seconds"] > 0:
            model = torch.compile(model)
        values = [torch.from_numpy(pixels).to(dtype), *([torch.from_numpy(mask)] if "mask" in inputs else [])]

        def read():
            with torch.inference_mode():
                return model(*values).logits.float().numpy()

    if job["seconds"] == 0:
        return print(json.dumps(read().tolist()))
    for _ in range(2):
        read()
    images, began = 0, time.perf_counter()
    while images == 0 or time.perf_counter() - began < job["seconds"]:
        read()
        images += job["batch"]
    print(json.dumps(images / (time.perf_counter() - began)))


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"onnxruntime_images: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr[-2000:]}")
    return finished.stdout


def probabilities(scores):
    import numpy

    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def scores_of_ours(folder, compute, threads, images, work):
    """Returns float32 scores [images, labels] for the image files that headlight reads. For a detector, returns
    [images, queries, labels]."""
    import numpy
    from PIL import Image

    if detects(folder):
        from safetensors.numpy import load_file, save_file

        pixels, mask, _ = random_pixels(len(images), sizes=sizes_of(folder))
        save_file({"pixel_values": pixels, "pixel_mask": mask}, work / "in.safetensors")
        run([HEADLIGHT, "forward", folder, work / "in.safetensors", "--out", work / "out.safetensors", "--threads", threads,
             "--quiet"])
        return probabilities(load_file(work / "out.safetensors")["logits"])
    shown = work / "shown"
    shown.mkdir(exist_ok=True)
    for number, pixels in enumerate(images):
        Image.fromarray(pixels).save(shown / f"{number}.png")
    labels = json.loads((folder / "config.json").read_text())["label2id"]
    lines = run([HEADLIGHT, "classify", folder, shown, "--json", "--compute", compute, "--threads", threads, "--quiet"])
    rows = [json.loads(line)["classes"] for line in lines.splitlines()]
    scores = numpy.zeros((len(rows), len(labels)))
    for row, classes in enumerate(rows):
        for one in classes:
            scores[row, labels[one["label"]]] = one["score"]
    return scores


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import numpy
    import onnxruntime
    import torch

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(options.work or temporary)
        print(f"{options.threads} threads; ONNX Runtime {onnxruntime.__version__}, PyTorch {torch.__version__}; medians of "
              f"{options.repeats} turns; off: the largest difference of a probability from PyTorch's in float32, by its "
              "scale\n")
        print(f"{'model':14} {'images':>8} {'headlight':>19} {'off':>7} {'products':>8}   {'peer':>24} {'ratio':>6}")
        for name in options.models:
            folder = work / name
            if not folder.exists():
                make(name, folder)
            kinds = export(folder, work / f"{name}.exported")

            def ours(batch, compute, repetitions):
                return json.loads(run([
                    HEADLIGHT, "bench", "encode", folder, "--batch-size", batch, "--compute", compute, "--threads",
                    options.threads, "--repetitions", repetitions, "--json", "--quiet", "--image-size",
                    *(f"{width}x{height}" for height, width in sizes_of(folder))]))

            def theirs(peer, kind, batch, seconds=options.seconds):
                job = {"file": kinds[kind] if kind else "", "folder": str(folder), "dtype": peer.split()[-1],
                       "batch": batch, "threads": options.threads, "seconds": seconds}
                return json.loads(run([sys.executable, __file__, "--worker", json.dumps(job)]))

            few = len(MIXED) if is_mixed(folder) else 1 if detects(folder) else 3
            computes = [compute for compute in options.compute if compute != "int8" or not detects(folder)]
            reference = probabilities(numpy.array(theirs("torch float32", None, few, 0)))
            off = {}
            for compute in ["float32"] if detects(folder) else computes:
                scores = scores_of_ours(folder, compute, options.threads, random_pixels(few, sizes=sizes_of(folder))[2], work)
                off[compute] = float(numpy.abs(scores - reference).max() / reference.max())
            if off.get("float32", 0) > 1e-3:
                sys.exit(f"onnxruntime_images: {name}: the two do not compute the same thing, {off['float32']:.2g} off")
            for batch in [few] if detects(folder) else options.batches:
                best = {}  # the fastest kind of model for each peer
                for peer in sorted({peer for compute in computes for peer in PEERS[compute]}):
                    runtime, dtype = peer.split()
                    ways = [kind for kind in kinds if kind.startswith(dtype)] if runtime == "onnx" else [None]
                    speeds = {kind: theirs(peer, kind, batch, 1) for kind in ways} if len(ways) > 1 else {ways[0]: 0}
                    best[peer] = max(speeds, key=speeds.get)
                for compute in computes:
                    repetitions = max(1, round(options.seconds * 1000 / ours(batch, compute, 1)["latency_ms"]["p50"]))
                    mine, shares, others = [], [], {peer: [] for peer in PEERS[compute]}
                    for _ in range(options.repeats):
                        measured = ours(batch, compute, repetitions)
                        mine.append(measured["images_per_second"])
                        shares.append(measured["gemm_share"])
                        for peer in others:
                            others[peer].append(theirs(peer, best[peer], batch))
                    a = statistics.median(mine)
                    left = (f"{name:14} {batch:8} {compute:>9} {a:9.2f} "
                            f"{format(off[compute], '.1g') if compute in off else '':>7} {statistics.median(shares):8.0%}")
                    for peer, speeds in others.items():
                        b = statistics.median(speeds)
                        print(f"{left:{len(left)}}   {peer:>15} {b:8.2f} {a / b:6.2f}"
                              + (f"  {best[peer]}" if best[peer] else ""), flush=True)
                        runtime, dtype = peer.split()
                        version = (f"ONNX Runtime {onnxruntime.__version__}" if runtime == "onnx"
                                   else f"PyTorch {torch.__version__}")
                        record(options, version, f"read images with {name}", f"batch {batch}, {compute}, peer {dtype}",
                               "images/s", a, b)
                        left = " " * len(left)


if __name__ == "__main__":
    main()
