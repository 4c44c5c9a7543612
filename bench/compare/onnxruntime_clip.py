"""Embeds random images, and random texts of mixed lengths, with a CLIP ViT-B/32 of random weights in headlight and in
ONNX Runtime, in alternating runs, and prints the speeds.

Each tower is exported for ONNX Runtime, with and without ONNX Runtime's transformer optimisations. For int8, the towers
are quantized dynamically, per tensor and per column. Texts are padded to the longest text of a batch, or of each part
of a batch that is sorted by length. The fastest setting is used, and padding tokens are not counted. The speed with all
texts padded to 77 tokens, an option of CLIP's processor, is also printed. Before the measurement, the float32 vectors
must agree.
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
SIDE, LONGEST = 224, 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--towers", nargs="+", default=["images", "texts"], choices=["images", "texts"])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--length", default="8:30", help="tokens of a text")
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one side's turn, at least one batch")
    parser.add_argument("--work", help="a folder to keep the models in, for another run")
    # The worker runs ONNX Runtime in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(folder):
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(1)
    config = CLIPConfig(vision_config={"patch_size": 32}, text_config={"bos_token_id": 49406, "eos_token_id": 49407})
    CLIPModel(config).save_pretrained(folder)


def export(folder, to, tower):
    """Exports a tower for ONNX Runtime. Returns {kind: file}."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer
    from transformers import CLIPModel

    if (to / "done").exists():
        return json.loads((to / "done").read_text())
    to.mkdir(exist_ok=True)
    model = CLIPModel.from_pretrained(folder, attn_implementation="eager").eval()
    images = tower == "images"

    class Vectors(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tower = model.vision_model if images else model.text_model
            self.projection = model.visual_projection if images else model.text_projection

        def forward(self, inputs):
            vectors = self.projection(self.tower(inputs).pooler_output)
            return vectors / vectors.norm(dim=-1, keepdim=True)

    example = torch.randn(2, 3, SIDE, SIDE) if images else torch.full((2, 9), 49407)
    torch.onnx.export(Vectors(), (example,), str(to / "exported.onnx"), input_names=["inputs"], output_names=["vectors"],
                      dynamic_axes={"inputs": {0: "batch"} if images else {0: "batch", 1: "length"},
                                    # The optimiser supports graphs of the exporter without dynamo.
                                    "vectors": {0: "batch"}}, dynamo=False)
    config = model.config.vision_config if images else model.config.text_config
    fused = optimizer.optimize_model(str(to / "exported.onnx"), model_type="vit" if images else "clip",
                                     num_heads=config.num_attention_heads, hidden_size=config.hidden_size)
    fused.save_model_to_file(str(to / "fused.onnx"))
    kinds = {"float32": "exported.onnx", "float32 fused": "fused.onnx"}
    for source in ("exported", "fused"):
        for per_channel in (False, True):
            kind = f"int8 {source}{' by columns' if per_channel else ''}"
            kinds[kind] = f"{kind}.onnx"
            quantize_dynamic(to / f"{source}.onnx", to / kinds[kind], weight_type=QuantType.QInt8, per_channel=per_channel,
                             op_types_to_quantize=["MatMul", "Gemm", "Attention"],
                             extra_options={"DefaultTensorType": 1})  # float32, for tensors with unknown types
    kinds = {kind: str(to / file) for kind, file in kinds.items()}
    (to / "done").write_text(json.dumps(kinds))
    return kinds


def padded(texts, length=0):
    import numpy

    ids = numpy.full((len(texts), length or max(map(len, texts))), 49407, numpy.int64)  # padding as in CLIP's processor
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
    return ids


def worker(job):
    """Embeds batches repeatedly until the time is up. For 0 seconds, prints the vectors of the texts or
    images."""
    import numpy
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = job["threads"]
    session = onnxruntime.InferenceSession(job["file"], settings, providers=["CPUExecutionProvider"])
    if job["texts"]:
        with open(job["texts"]) as file:
            texts = [json.loads(line)["ids"] for line in file]
        batches = []
        for begin in range(0, len(texts), job["batch"]):
            batch = texts[begin:begin + job["batch"]]
            if job["parts"] > 1:
                batch = sorted(batch, key=len)
            ends = [len(batch) * part // max(1, job["parts"]) for part in range(max(1, job["parts"]) + 1)]
            parts = [padded(batch[begin:end], LONGEST if job["parts"] == 0 else 0)
                     for begin, end in zip(ends, ends[1:]) if end > begin]
            batches.append((parts, sum(map(len, batch))))
    else:
        pixels = numpy.random.default_rng(1).standard_normal((job["batch"], 3, SIDE, SIDE), numpy.float32)
        batches = [([pixels], job["batch"])]
    if job["seconds"] == 0:
        return print(json.dumps([vector.tolist() for parts, _ in batches for part in parts
                                 for vector in session.run(None, {"inputs": part})[0]]))
    for part in batches[0][0]:
        session.run(None, {"inputs": part})
    counted, turn, began = 0, 0, time.perf_counter()
    while turn == 0 or time.perf_counter() - began < job["seconds"]:
        parts, units = batches[turn % len(batches)]
        for part in parts:
            session.run(None, {"inputs": part})
        counted += units
        turn += 1
    print(json.dumps(counted / (time.perf_counter() - began)))


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"onnxruntime_clip: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr[-2000:]}")
    return finished.stdout


def image_vectors_agree(folder, file, threads, work):
    """Returns the relative difference of the vectors of random pixels from `headlight forward` and the exported
    tower."""
    import numpy
    import onnxruntime
    from safetensors.numpy import load_file, save_file

    pixels = numpy.random.default_rng(2).standard_normal((2, 3, SIDE, SIDE), numpy.float32)
    save_file({"pixel_values": pixels, "input_ids": numpy.full((2, 2), 49407, numpy.int32)}, work / "in.safetensors")
    run([HEADLIGHT, "forward", folder, work / "in.safetensors", "--out", work / "out.safetensors", "--threads", threads, "--quiet"])
    ours = load_file(work / "out.safetensors")["image_embeds"]
    theirs = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"inputs": pixels})[0]
    return float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max())


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import numpy
    import onnxruntime

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(options.work or temporary)
        folder = work / "clip-b32"
        if not folder.exists():
            make(folder)
        print(f"{options.threads} threads; ONNX Runtime {onnxruntime.__version__}; medians of {options.repeats} turns\n")
        print(f"{'tower':9} {'batch':>5} {'headlight':>20} {'products':>8} {'ONNX Runtime':>12} {'ratio':>6}")
        for tower in options.towers:
            kinds = export(folder, work / f"clip-b32.{tower}", tower)
            texts = Path(temporary) / "texts.jsonl" if tower == "texts" else None

            def ours(batch, compute, repetitions, *more):
                return json.loads(run([
                    HEADLIGHT, "bench", "encode", folder, "--batch-size", batch, "--compute", compute, "--threads",
                    options.threads, "--repetitions", repetitions, "--json", "--quiet",
                    *(["--length", options.length] if texts else []), *more]))

            def theirs(kind, batch, parts, seconds=options.seconds):
                job = {"file": kinds[kind], "texts": str(texts or ""), "batch": batch, "threads": options.threads,
                       "parts": parts, "seconds": seconds}
                return json.loads(run([sys.executable, __file__, "--worker", json.dumps(job)]))

            if texts:
                ours(4, "float32", 1, "--states", texts)
                mine = numpy.array([json.loads(line)["vector"] for line in texts.open()])
                reference = numpy.array(theirs("float32", 4, 1, 0))
                off = numpy.abs(mine - reference).max() / numpy.abs(reference).max()
            else:
                off = image_vectors_agree(folder, kinds["float32"], options.threads, Path(temporary))
            if off > 1e-3:
                sys.exit(f"onnxruntime_clip: the two do not compute the same thing, {off:.2g} off")
            for batch in options.batches:
                if texts:
                    ours(batch, "float32", 2 + 64 // batch, "--states", texts)
                speed = "tokens_per_second" if texts else "images_per_second"
                best = {}  # the fastest setting of each type
                for dtype in ("float32", "int8"):
                    ways = [(kind, parts) for kind in kinds if kind.startswith(dtype)
                            for parts in ((1, 2, 4) if texts and batch > 4 else (1,))]
                    best[dtype] = max(ways, key=lambda way: theirs(way[0], batch, way[1], min(1, options.seconds)))
                for compute in options.compute:
                    way = best["int8" if compute == "int8" else "float32"]
                    repetitions = max(1, round(options.seconds * 1000 / ours(batch, compute, 1)["latency_ms"]["p50"]))
                    mine, others, shares = [], [], []
                    for _ in range(options.repeats):
                        measured = ours(batch, compute, repetitions)
                        mine.append(measured[speed])
                        shares.append(measured["gemm_share"])
                        others.append(theirs(way[0], batch, way[1]))
                    a, b = statistics.median(mine), statistics.median(others)
                    print(f"{tower:9} {batch:5} {compute:>9} {a:10.1f} {statistics.median(shares):8.0%} {b:12.1f} "
                          f"{a / b:6.2f}  {way[0]}" + (f", {way[1]} parts" if way[1] > 1 else "")
                          + (f"; padded to {LONGEST}: {theirs(way[0], batch, 0):.1f}" if texts else ""), flush=True)
                    record(options, f"ONNX Runtime {onnxruntime.__version__}", f"embed {tower} with CLIP ViT-B/32",
                           f"batch {batch}, {compute}, peer {way[0]}", speed.replace("_per_second", "/s"), a, b)


if __name__ == "__main__":
    main()
