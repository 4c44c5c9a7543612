"""Measures AlphaFold 2's full-size modules in headlight and in OpenFold on the CPU, in alternating runs. The time of a
whole prediction is the sum of the modules' times, each multiplied by the number of modules.

    git clone https://github.com/aqlaboratory/openfold
    bench/compare/openfold_folding openfold

The features of the chain are random, because the time does not depend on them. tests/alphafold_parity_test.cc checks
that both compute the same results. headlight is timed with models of few blocks, and the time of a block is computed
from the difference of two such times. OpenFold's blocks and structure module are timed separately, without gradients,
with the fastest of several chunk sizes. OpenFold's other computations are not counted. Needs ml_collections, dm-tree
and scipy in addition to PyTorch.
"""

import argparse
import importlib
import importlib.util
import inspect
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("OpenFold")  # must precede the import of a peer

import torch
from measured import run
from results import record
from safetensors.torch import save_file

HEADLIGHT = "build/release/headlight"
PARTS = ["evoformer block", "extra block", "the rest"]
FEW = {"blocks": (1, 4), "extra": (1, 3)}  # numbers of blocks in the timed models


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("openfold", nargs="?", help="OpenFold's folder")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--residues", type=int, default=256)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--extra-rows", type=int, default=1024)
    parser.add_argument("--recycles", type=int, default=3)
    parser.add_argument("--chunks", type=int, nargs="+", default=[0, 16, 64], help="OpenFold's chunk sizes; 0: none")
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; OpenFold runs in float32 and, for bfloat16, also in that")
    return parser.parse_args()


def load_openfold(folder):
    path = Path(__file__).resolve().parent.parent.parent / "tools" / "make_alphafold_goldens.py"
    spec = importlib.util.spec_from_file_location("make_alphafold_goldens", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    torch.set_default_dtype(torch.float32)
    tool.load_openfold(folder)
    config = importlib.import_module("openfold.config").model_config("model_3_ptm")
    config.model.template.enabled = False
    return config


def write_model(openfold, folder, blocks, extra, **settings):
    """Returns the configuration of an OpenFold model of published sizes with this number of blocks, and other
    settings."""
    config = load_openfold(openfold)
    config.model.evoformer_stack.no_blocks = blocks
    config.model.extra_msa.extra_msa_stack.no_blocks = extra
    model = importlib.import_module("openfold.model.model").AlphaFold(config)
    folder.mkdir()
    save_file({name: value.detach().contiguous() for name, value in model.named_parameters()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({
        "model_type": "alphafold2", "evoformer_stack": {"no_blocks": blocks}, "extra_msa_stack": {"no_blocks": extra},
        **settings}))


def time_headlight(options, folder):
    output, _, peak = run([
        HEADLIGHT, "bench", "fold", folder, "--residues", options.residues, "--rows", options.rows, "--extra-rows",
        options.extra_rows, "--recycles", 0, "--repetitions", 1, "--compute", options.compute, "--threads",
        options.threads, "--json"])
    return json.loads(output)["latency_ms"]["p50"] / 1000, peak


def headlight_parts(options, models):
    base, peak = time_headlight(options, models["base"])
    block = (time_headlight(options, models["blocks"])[0] - base) / (FEW["blocks"][1] - FEW["blocks"][0])
    extra = (time_headlight(options, models["extra"])[0] - base) / (FEW["extra"][1] - FEW["extra"][0])
    return [block, extra, max(0.0, base - block - extra)], peak


def work(job):
    """Measures OpenFold's modules in a separate process, so that its memory can be measured. Prints one JSON object."""
    torch.set_num_threads(job["threads"])
    config = load_openfold(job["openfold"]).model
    evoformer = importlib.import_module("openfold.model.evoformer")
    structure = importlib.import_module("openfold.model.structure_module")
    dtype = torch.bfloat16 if job["bfloat16"] else torch.float32
    residues = job["residues"]
    pair = torch.randn(1, residues, residues, 128, dtype=dtype)
    stack, extra = dict(config.evoformer_stack), dict(config.extra_msa.extra_msa_stack)

    def best(call):
        seconds = {}
        for chunk in job["chunks"]:
            times = []
            for _ in range(2):  # the first iteration is a warm-up
                began = time.perf_counter()
                call(chunk or None)
                times.append(time.perf_counter() - began)
            seconds[chunk] = times[-1]
        return min(seconds.values())

    def block(kind, settings, rows, width):
        wanted = inspect.signature(kind.__init__).parameters
        made = kind(**{key: value for key, value in settings.items() if key in wanted},
                    **({"no_column_attention": False} if "no_column_attention" in wanted and "no_column_attention" not in settings else {}))
        made = made.to(dtype).eval()
        cells = torch.randn(1, rows, residues, width, dtype=dtype)
        marks = {"msa_mask": torch.ones(1, rows, residues, dtype=dtype), "pair_mask": torch.ones(1, residues, residues, dtype=dtype)}
        return best(lambda chunk: made(cells.clone(), pair.clone(), chunk_size=chunk, **marks))

    with torch.no_grad():
        parts = [block(evoformer.EvoformerBlock, stack, job["rows"], 256),
                 block(evoformer.ExtraMSABlock, extra | {"ckpt": False}, job["extra_rows"], 64)]
        module = structure.StructureModule(**config.structure_module).to(dtype).eval()
        single, types = torch.randn(1, residues, 384, dtype=dtype), torch.randint(0, 20, (1, residues))
        parts.append(best(lambda chunk: module({"single": single, "pair": pair}, types)))
    print(json.dumps(parts))


def time_openfold(job, folder):
    path = Path(folder) / "job.json"
    path.write_text(json.dumps(job))
    output, _, peak = run([sys.executable, "-W", "ignore", __file__, "--worker", path])
    return json.loads(output.splitlines()[-1]), peak


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(Path(options.worker).read_text()))
    if not options.openfold:
        sys.exit("openfold_folding: OpenFold's folder is needed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        models = {"base": folder / "base", "blocks": folder / "blocks", "extra": folder / "extra"}
        write_model(options.openfold, models["base"], FEW["blocks"][0], FEW["extra"][0])
        write_model(options.openfold, models["blocks"], FEW["blocks"][1], FEW["extra"][0])
        write_model(options.openfold, models["extra"], FEW["blocks"][0], FEW["extra"][1])
        ours = f"headlight {options.compute}"
        job = {"openfold": options.openfold, "threads": options.threads, "residues": options.residues,
               "rows": options.rows, "extra_rows": options.extra_rows, "chunks": options.chunks}
        peers = {"OpenFold float32": {**job, "bfloat16": False}}
        if options.compute == "bfloat16":
            peers["OpenFold bfloat16"] = {**job, "bfloat16": True}
        turns, peaks = {name: [] for name in [ours, *peers]}, {}
        for _ in range(options.repeats):
            parts, peaks[ours] = headlight_parts(options, models)
            turns[ours].append(parts)
            for peer, its in peers.items():
                parts, peaks[peer] = time_openfold(its, folder)
                turns[peer].append(parts)

    counts = [48, 4, 1]
    medians = {name: [statistics.median(turn[part] for turn in measured) for part in range(3)] for name, measured in turns.items()}
    whole = {name: (1 + options.recycles) * sum(count * seconds for count, seconds in zip(counts, parts))
             for name, parts in medians.items()}
    print(f"\n{options.residues} residues, {options.rows} rows, {options.extra_rows} extra rows, {options.recycles} recyclings; "
          f"{options.repeats} turns, medians in seconds; the whole is 48 blocks, 4 extra blocks and the rest, each pass\n")
    print(f"{'':18} {PARTS[0]:>16} {PARTS[1]:>12} {PARTS[2]:>9} {'whole':>8} {'peak memory':>12}")
    for name, parts in medians.items():
        print(f"{name:18} {parts[0]:16.2f} {parts[1]:12.2f} {parts[2]:9.2f} {whole[name]:8.0f} {peaks[name]:9.0f} MB")
    for peer in peers:
        ratios = [theirs / own if own > 0 else float("nan") for own, theirs in zip(medians[ours], medians[peer])]
        print(f"{'over ' + peer:18} {ratios[0]:16.2f} {ratios[1]:12.2f} {ratios[2]:9.2f} {whole[peer] / whole[ours]:8.2f} "
              f"{peaks[ours] / peaks[peer]:12.2f}")
        for part in (0, 1):
            record(options, peer.split()[0], f"run a block of AlphaFold, {PARTS[part]}, {options.residues} residues",
                   f"{options.compute}, peer {peer.split()[-1]}", "s", medians[ours][part], medians[peer][part])


if __name__ == "__main__":
    main()
