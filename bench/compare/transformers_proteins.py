"""Encodes random proteins with an ESM-2, and folds them with blocks of ESMFold's trunk, in alternating runs. Compares
headlight with Transformers, and for ESM-2 also with ONNX Runtime. Prints the speeds. All weights are random.

ESM-2: the peers get the batch as one padded batch, and in parts that are sorted by length. Transformers uses its
fastest attention in inference mode. ONNX Runtime runs the exported model with all its optimisations. The fastest
setting is used, and padding tokens are not counted. A block of ESMFold: headlight folds with one block and with three
blocks, and the time of a block is half of the difference. Transformers' block is timed separately, with the fastest of
several chunk sizes.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("Transformers", "ONNX Runtime")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"
SIZES = {"esm2-8m": (320, 6, 20), "esm2-35m": (480, 12, 20), "esm2-150m": (640, 30, 20), "esm2-650m": (1280, 33, 20)}
FEW, MANY = 1, 3  # numbers of blocks in the models


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["esm2-35m", "esm2-650m", "esmfold"], choices=[*SIZES, "esmfold"])
    parser.add_argument("--lengths", nargs="+", default=["256", "50:500"], help="of 8 proteins for an ESM-2")
    parser.add_argument("--residues", type=int, nargs="+", default=[128, 256], help="of a protein to fold")
    parser.add_argument("--peers", nargs="+", default=["Transformers", "ONNX Runtime"])
    parser.add_argument("--compute", nargs="+", default=["float32"], help="of headlight; the peers run in float32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of one side's turn, at least one batch")
    parser.add_argument("--worker", help=argparse.SUPPRESS)  # the worker runs a peer in a separate process
    return parser.parse_args()


def esm_config(name, **more):
    from transformers import EsmConfig

    width, layers, heads = SIZES[name]
    return EsmConfig(vocab_size=33, mask_token_id=32, pad_token_id=1, hidden_size=width, num_hidden_layers=layers,
                     num_attention_heads=heads, intermediate_size=4 * width, position_embedding_type="rotary",
                     token_dropout=True, layer_norm_eps=1e-5, max_position_embeddings=1026, **more)


def trunk(blocks):
    return dict(fp16_esm=False, trunk=dict(num_blocks=blocks, max_recycles=1))


def make(name, folder, blocks=None):
    import torch
    from transformers import EsmForMaskedLM, EsmForProteinFolding

    torch.manual_seed(1)
    if blocks is None:
        return EsmForMaskedLM(esm_config(name)).save_pretrained(folder)
    config = esm_config("esm2-8m", is_folding_model=True, esmfold_config=trunk(blocks))
    EsmForProteinFolding(config).save_pretrained(folder)


def export(folder, to):
    import torch
    from transformers import EsmModel

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = EsmModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    ids = torch.full((2, 16), 5)
    mask = torch.ones_like(ids)
    mask[1, 10:] = 0
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(States().eval(), (ids, mask), str(to), input_names=["ids", "mask"], output_names=["states"],
                      dynamic_axes={name: axes for name in ("ids", "mask", "states")}, dynamo=False)


def padded(texts):
    import numpy

    length = max(map(len, texts))
    ids, mask = numpy.ones((len(texts), length), numpy.int64), numpy.zeros((len(texts), length), numpy.int64)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
        mask[row, :len(text)] = 1
    return ids, mask


def reader(job):
    """Returns a function from ids and mask to hidden states."""
    if job["peer"] == "ONNX Runtime":
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = job["threads"]
        session = onnxruntime.InferenceSession(job["model"], settings, providers=["CPUExecutionProvider"])
        return lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0]
    import torch
    from transformers import EsmModel

    torch.set_num_threads(job["threads"])
    model = EsmModel.from_pretrained(job["model"], attn_implementation="sdpa", add_pooling_layer=False).eval()

    def read(ids, mask):
        with torch.inference_mode():
            return model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state.numpy()
    return read


def time_reading(job):
    read = reader(job)
    with open(job["texts"]) as file:
        texts = [json.loads(line)["ids"] for line in file][:job["batch"]]
    order = sorted(range(len(texts)), key=lambda text: len(texts[text]))
    speeds, means = {}, [None] * len(texts)
    for count in job["parts"]:
        ends = [len(texts) * part // count for part in range(count + 1)]
        picks = [order[begin:end] for begin, end in zip(ends, ends[1:])]
        parts = [padded([texts[text] for text in pick]) for pick in picks]
        for pick, part in zip(picks, parts):
            for row, (text, states) in enumerate(zip(pick, read(*part))):
                means[text] = states[:len(texts[text])].mean(0, dtype="float64").tolist()
        turns, began = 0, time.perf_counter()
        while turns == 0 or time.perf_counter() - began < job["seconds"]:
            for part in parts:
                read(*part)
            turns += 1
        speeds[count] = turns * sum(map(len, texts)) / (time.perf_counter() - began)
    best = max(speeds, key=speeds.get)
    print(json.dumps({"speed": speeds[best], "parts": best, "means": means}))


def time_block(job):
    import torch
    from transformers.models.esm.modeling_esmfold import EsmFoldTriangularSelfAttentionBlock

    torch.set_num_threads(job["threads"])
    config = esm_config("esm2-8m", is_folding_model=True, esmfold_config=trunk(1)).esmfold_config.trunk
    block, residues = EsmFoldTriangularSelfAttentionBlock(config).eval(), job["residues"]
    sequence = torch.randn(1, residues, config.sequence_state_dim)
    pair = torch.randn(1, residues, residues, config.pairwise_state_dim)
    mask = torch.ones(1, residues)
    seconds = {}
    with torch.inference_mode():
        for chunk in (None, 64, 16):
            for _ in range(2):  # the first iteration is a warm-up
                began = time.perf_counter()
                block(sequence, pair, mask=mask, chunk_size=chunk)
                seconds[chunk] = time.perf_counter() - began
    print(json.dumps(min(seconds.values())))


def peer(job):
    output, _, peak = run([sys.executable, "-W", "ignore", __file__, "--worker", json.dumps(job)])
    return json.loads(output.splitlines()[-1]), peak


def compare_reading(name, options, work):
    import numpy

    folder, exported, texts = work / name, work / f"{name}.onnx", work / "texts.jsonl"
    make(name, folder)
    models = {"Transformers": str(folder), "ONNX Runtime": str(exported)}
    if "ONNX Runtime" in options.peers:
        export(folder, exported)
    for length in options.lengths:
        for compute in options.compute:
            def ours(repetitions, *more):
                output, _, peak = run([HEADLIGHT, "bench", "encode", folder, "--batch-size", options.batch, "--length", length,
                                       "--compute", compute, "--threads", options.threads, "--repetitions", repetitions,
                                       "--json", "--quiet", *more])
                return json.loads(output), peak

            first, _ = ours(1, "--states", texts)
            repetitions = max(1, round(options.seconds * 1000 / first["latency_ms"]["p50"]))
            with open(texts) as file:
                means = numpy.array([json.loads(line)["mean"] for line in file][:options.batch])
            mine, peaks, others = [], {}, {which: [] for which in options.peers}
            for _ in range(options.repeats):
                measured, peaks["headlight"] = ours(repetitions)
                mine.append(measured["tokens_per_second"])
                for which in options.peers:
                    job = {"peer": which, "model": models[which], "texts": str(texts), "batch": options.batch,
                           "threads": options.threads, "seconds": options.seconds / 2,
                           "parts": [1, 2, 4] if ":" in length else [1, 2]}
                    measured, peaks[which] = peer(job)
                    others[which].append(measured["speed"])
                    off = float(numpy.abs(means - measured["means"]).max() / numpy.abs(means).max())
                    if compute == "float32" and off > 1e-3:
                        sys.exit(f"transformers_proteins: {which} does not compute the same thing, {off:.2g} off")
            own = statistics.median(mine)
            print(f"{name:10} {options.batch} of {length:7} {compute:9} {own:8.0f} residues/s, {peaks['headlight']:5.0f} MB", end="")
            for which in options.peers:
                theirs = statistics.median(others[which])
                print(f" | {which} {theirs:.0f}, {peaks[which]:.0f} MB: {own / theirs:.2f}", end="")
                record(options, which, f"encode {options.batch} proteins of {length} residues with {name}",
                       f"{compute}, peer float32", "residues/s", own, theirs)
            print(flush=True)


def compare_folding(options, work):
    folders = {blocks: work / f"esmfold{blocks}" for blocks in (FEW, MANY)}
    for blocks, folder in folders.items():
        make("esmfold", folder, blocks)
    for residues in options.residues:
        for compute in options.compute:
            def seconds(blocks):
                output, _, _ = run([HEADLIGHT, "bench", "fold", folders[blocks], "--residues", residues, "--recycles", 0,
                                    "--repetitions", 3, "--compute", compute, "--threads", options.threads, "--json", "--quiet"])
                return json.loads(output)["latency_ms"]["p50"] / 1000

            mine, others = [], []
            for _ in range(options.repeats):
                mine.append((seconds(MANY) - seconds(FEW)) / (MANY - FEW))
                others.append(peer({"residues": residues, "threads": options.threads})[0])
            own, theirs = statistics.median(mine), statistics.median(others)
            print(f"esmfold, a block, {residues} residues, {compute}: {own:.3f} s | Transformers {theirs:.3f} s: {theirs / own:.2f}",
                  flush=True)
            record(options, "Transformers", f"run a block of ESMFold's trunk, {residues} residues",
                   f"{compute}, peer float32", "s", own, theirs)


def main():
    options = arguments()
    if options.worker:
        job = json.loads(options.worker)
        return time_block(job) if "residues" in job else time_reading(job)
    print(f"{options.threads} threads, medians of {options.repeats} turns")
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models:
            if name == "esmfold":
                compare_folding(options, Path(temporary))
            else:
                compare_reading(name, options, Path(temporary))


if __name__ == "__main__":
    main()
