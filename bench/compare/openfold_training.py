"""Trains an AlphaFold 2 of the published widths and few blocks on crops of a chain with an alignment, in headlight and
in OpenFold on the CPU, in alternating runs. Prints the seconds of a step and the memory.

    git clone https://github.com/aqlaboratory/openfold
    bench/compare/openfold_training openfold

A step is the forward and backward pass of one crop without recycling. Both recompute the blocks' activations in the
backward pass. headlight's step has all losses and the optimizer, like `train folding`. OpenFold's loss is a sum of its
outputs, and its step has no optimizer, so OpenFold has less work. Needs ml_collections, dm-tree and scipy in addition
to PyTorch.
"""

import argparse
import importlib
import json
import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measured import run
from results import record
from openfold_folding import load_openfold, write_model

HEADLIGHT = "build/release/headlight"
LETTERS = "ARNDCQEGHILKMFPSTWYV"
NAMES = "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("openfold", nargs="?", help="OpenFold's folder")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--residues", type=int, default=128)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--extra-rows", type=int, default=512)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--extra-blocks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3, help="of a turn, after one to warm up")
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16"], help="of headlight; OpenFold runs in float32")
    return parser.parse_args()


def openfold_model(job):
    config = load_openfold(job["openfold"])
    config.model.evoformer_stack.no_blocks = job["blocks"]
    config.model.extra_msa.extra_msa_stack.no_blocks = job["extra_blocks"]
    config.globals.chunk_size = None  # as in OpenFold's training
    config.model.evoformer_stack.blocks_per_ckpt = 1
    config.model.extra_msa.extra_msa_stack.ckpt = True
    return importlib.import_module("openfold.model.model").AlphaFold(config)


def work(job):
    """Measures the seconds of OpenFold's steps."""
    import torch

    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    torch.set_grad_enabled(True)
    model = openfold_model(job).train()
    transforms = importlib.import_module("openfold.data.data_transforms")
    residues, rows, extra = job["residues"], job["rows"], job["extra_rows"]
    aatype = torch.randint(0, 20, (residues,))
    atoms = transforms.make_atom14_masks({"aatype": aatype})
    batch = {"aatype": aatype, "residue_index": torch.arange(residues), "seq_mask": torch.ones(residues),
             "residx_atom37_to_atom14": atoms["residx_atom37_to_atom14"],
             "atom37_atom_exists": atoms["atom37_atom_exists"], "extra_msa_mask": torch.ones(extra, residues),
             "target_feat": torch.rand(residues, 22), "msa_feat": torch.rand(rows, residues, 49),
             "msa_mask": torch.ones(rows, residues), "extra_msa": torch.randint(0, 23, (extra, residues)),
             "extra_has_deletion": torch.zeros(extra, residues), "extra_deletion_value": torch.zeros(extra, residues)}
    seconds = []
    for _ in range(1 + job["steps"]):
        began = time.perf_counter()
        made, *_ = model.iteration({key: value.clone() for key, value in batch.items()}, [None, None, None])
        made |= model.aux_heads(made)
        loss = sum(made[name].float().mean() for name in (
            "masked_msa_logits", "lddt_logits", "distogram_logits", "experimentally_resolved_logits", "tm_logits"))
        (loss + made["sm"]["positions"].mean() + made["sm"]["unnormalized_angles"].mean()).backward()
        model.zero_grad()
        seconds.append(time.perf_counter() - began)
    print(json.dumps(statistics.median(seconds[1:])))


def write_chain(options, folder):
    """Writes a helix of random residues with an alignment, as an index of structures."""
    rng = random.Random(1)
    letters = "".join(rng.choices(LETTERS, k=options.residues))
    with open(folder / "chain.pdb", "w") as file:
        serial = 0
        for place, letter in enumerate(letters):
            for atom, radius, degrees, rise in (("N", 1.55, -28, -0.9), ("CA", 2.3, 0, 0), ("C", 1.68, 26, 1.1)):
                serial += 1
                angle = math.radians(100 * place + degrees)
                x, y, z = radius * math.cos(angle), radius * math.sin(angle), 1.5 * place + rise
                file.write(f"ATOM  {serial:5}  {atom:<3} {NAMES[LETTERS.index(letter)]} A{place + 1:4}    "
                           f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {atom[0]}  \n")
        file.write("TER\n")
    with open(folder / "chain.a3m", "w") as file:
        file.write(f">chain\n{letters}\n")
        for row in range(2 * (options.rows + options.extra_rows)):
            file.write(f">{row}\n" + "".join(rng.choice(LETTERS + "-") if rng.random() < 0.4 else c for c in letters) + "\n")
    (folder / "index.tsv").write_text("chain.pdb\t\tchain.a3m\n")


def time_headlight(options, compute, folder, out):
    index = folder / "index.tsv"
    _, _, peak = run([HEADLIGHT, "train", "folding", "--from", folder / "model", "--train", index, "--valid", index, "--out", out,
                      "--steps", 1 + options.steps, "--validate-every", 1000, "--log-every", 1, "--batch-size", 1,
                      "--crop", options.residues, "--compute", compute, "--threads", options.threads, "--quiet"])
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    since = [line["seconds"] for line in lines if "seconds" in line]  # seconds since the start
    return statistics.median(after - before for before, after in zip(since, since[1:])), peak


def main():
    options = arguments()
    if options.worker:
        return work(json.loads(options.worker))
    if not options.openfold:
        sys.exit("openfold_training: OpenFold's folder is needed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_chain(options, folder)
        write_model(options.openfold, folder / "model", options.blocks, options.extra_blocks, max_msa_clusters=options.rows,
                    max_extra_msa=options.extra_rows, max_recycling_iters=0)
        turns, peaks = {}, {}
        for turn in range(options.repeats):
            for compute in options.compute:
                name = f"headlight {compute}"
                seconds, peaks[name] = time_headlight(options, compute, folder, folder / f"{compute}{turn}")
                turns.setdefault(name, []).append(seconds)
            output, _, peaks["OpenFold float32"] = run([sys.executable, "-W", "ignore", __file__, "--worker", json.dumps(vars(options))])
            turns.setdefault("OpenFold float32", []).append(json.loads(output.splitlines()[-1]))
    theirs = statistics.median(turns["OpenFold float32"])
    print(f"\n{options.residues} residues, {options.rows} rows, {options.extra_rows} extra rows, {options.blocks} blocks and "
          f"{options.extra_blocks} extra; {options.threads} threads; {options.repeats} turns, medians\n")
    for name, seconds in turns.items():
        own = statistics.median(seconds)
        print(f"{name:18} {own:7.2f} s a step, {peaks[name]:6.0f} MB; OpenFold's over it: {theirs / own:.2f}, "
              f"its memory of OpenFold's: {peaks[name] / peaks['OpenFold float32']:.2f}")
        if name != "OpenFold float32":
            record(options, "OpenFold", f"one step of training, {options.blocks} + {options.extra_blocks} blocks, "
                   f"{options.residues} residues", f"{name.split()[-1]}, peer float32", "s", own, theirs)


if __name__ == "__main__":
    main()
