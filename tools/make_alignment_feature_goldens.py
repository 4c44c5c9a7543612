#!/usr/bin/env python3
"""Makes headlight/protein/testdata/alignment.a3m and alignment_features.safetensors. The latter has the features that
OpenFold's data pipeline computes from this alignment, and its random choices.

    pip install torch==2.15.0 safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_alignment_feature_goldens.py openfold

    rows, deletions [distinct rows, residues], profile [residues, 22]: of the whole alignment, without duplicates
    centres, extra: the selected rows; letters, own, replaced [centres, residues]: the letters with masking, the letters
        without masking, and the masked positions
    substitutes [centres, residues, 23]: the probabilities of the letters that replace a masked letter
    target, msa, extra_msa: the features
"""

import importlib
import pathlib
import random
import sys
import unittest.mock

import torch
from safetensors.torch import save_file

from make_alphafold_goldens import load_openfold

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "protein" / "testdata"


def make_alignment():
    """Returns an alignment of rows similar to the query, with gaps, insertions, unknown letters and duplicates."""
    draw = random.Random(3)
    query = "MKVLAEYTWGRD"
    rows = [("query", query)]
    for number in range(16):
        row = ""
        for letter in query:
            if draw.random() < 0.12:
                row += "".join(draw.choice("acdefgw") for _ in range(draw.randint(1, 9)))
            row += draw.choice("-ARNDCQEGHILKMFPSTWYVX") if draw.random() < 0.45 else letter
        rows.append((f"row {number}", row))
    rows.insert(4, ("like the query, with insertions", "MKVLAaaEYTWGRD"))
    rows.insert(9, ("again", rows[3][1]))
    return "".join(f">{name}\n{row}\n" for name, row in rows)


def main():
    load_openfold(sys.argv[1])
    torch.set_default_dtype(torch.float32)
    # Replaces the pipeline's modules for templates, complexes and searches, which are imported but not used.
    for name in ["data.templates", "data.mmcif_parsing", "data.msa_pairing", "data.feature_processing_multimer", "data.tools",
                 "np.protein"]:
        sys.modules[f"openfold.{name}"] = unittest.mock.MagicMock()
    parsers = importlib.import_module("openfold.data.parsers")
    pipeline = importlib.import_module("openfold.data.data_pipeline")
    transforms = importlib.import_module("openfold.data.data_transforms")
    config = importlib.import_module("openfold.config").config.data.common

    alignment = make_alignment()
    (OUT / "alignment.a3m").write_text(alignment)
    query = alignment.split("\n")[1]
    features = pipeline.make_sequence_features(query, "query", len(query))
    features |= pipeline.make_msa_features([parsers.parse_a3m(alignment)])
    features["deletion_matrix"] = features.pop("deletion_matrix_int").astype("float32")
    protein = {key: torch.tensor(features[key]) for key in
               ["aatype", "between_segment_residues", "residue_index", "seq_length", "deletion_matrix", "msa",
                "num_alignments"]}
    protein["row"] = torch.arange(len(protein["msa"]))
    transforms.MSA_FEATURE_NAMES.append("row")
    torch.manual_seed(11)
    for transform in [transforms.cast_to_64bit_ints, transforms.correct_msa_restypes, transforms.squeeze_features,
                      transforms.make_seq_mask, transforms.make_msa_mask, transforms.make_hhblits_profile]:
        protein = transform(protein)
    out = {"rows": protein["msa"], "deletions": protein["deletion_matrix"], "profile": protein["hhblits_profile"]}

    categorical = transforms.shaped_categorical

    def record(probabilities):
        out["substitutes"] = probabilities
        return categorical(probabilities)

    transforms.shaped_categorical = record
    for transform in [transforms.sample_msa(5, keep_extra=True), transforms.make_masked_msa(config.masked_msa, 0.3, None),
                      transforms.nearest_neighbor_clusters(), transforms.summarize_clusters(),
                      transforms.crop_extra_msa(4), transforms.make_msa_feat()]:
        protein = transform(protein)
    extra = importlib.import_module("openfold.utils.feats").build_extra_msa_feat(protein)
    out |= {"centres": protein["row"], "extra": protein["extra_row"], "letters": protein["msa"], "own": protein["true_msa"],
            "replaced": protein["bert_mask"], "target": protein["target_feat"], "msa": protein["msa_feat"],
            "extra_msa": extra}
    assert (protein["msa"] == 22).any() and protein["bert_mask"].sum() > (protein["msa"] == 22).sum()
    path = OUT / "alignment_features.safetensors"
    save_file({key: value.to(torch.float32 if value.is_floating_point() else torch.int32).contiguous()
               for key, value in out.items()}, path)
    print(path, path.stat().st_size, "bytes;", len(out["rows"]), "distinct rows")


if __name__ == "__main__":
    main()
