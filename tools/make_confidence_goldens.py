#!/usr/bin/env python3
"""Makes headlight/protein/testdata/confidence.safetensors: OpenFold's confidence scores for random
logits. One chain is shorter than 19 residues, the minimum of the TM-score's scale, and one is longer.

    pip install torch==2.15.0 safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_confidence_goldens.py openfold
"""

import importlib
import pathlib
import sys

import torch
from safetensors.torch import save_file

from make_alphafold_goldens import load_openfold

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "protein" / "testdata"


def main():
    load_openfold(sys.argv[1])
    torch.set_default_dtype(torch.float32)
    loss = importlib.import_module("openfold.utils.loss")
    generator = torch.Generator().manual_seed(5)
    out = {}
    for name, residues, bins in [("small", 5, 64), ("large", 23, 8)]:
        lddt = 3 * torch.randn(residues, 50, generator=generator)
        errors = 3 * torch.randn(residues, residues, bins, generator=generator)
        out |= {f"{name}.lddt_logits": lddt, f"{name}.error_logits": errors, f"{name}.lddt": loss.compute_plddt(lddt),
                f"{name}.errors": loss.compute_predicted_aligned_error(errors, no_bins=bins)["predicted_aligned_error"],
                f"{name}.tm": loss.compute_tm(errors, no_bins=bins)}
    path = OUT / "confidence.safetensors"
    save_file(out, path)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
