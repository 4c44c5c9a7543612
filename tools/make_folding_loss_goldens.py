#!/usr/bin/env python3
"""Makes tests/testdata/alphafold/loss.safetensors: labels of a synthetic structure, and OpenFold's losses of AlphaFold
2.

    pip install torch==2.15.0 safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_folding_loss_goldens.py openfold STEREO_CHEMICAL_PROPS

STEREO_CHEMICAL_PROPS is the file of bonds and angles that OpenFold's setup downloads. Computed in double precision and
stored in single precision.
    the structure       aatype, residue_index [residues]; all_atom_positions [residues, 37, 3], all_atom_mask
    its labels          atom14_gt_positions, atom14_gt_exists and their alternatives, frames and alt_frames [residues, 8, 12]
                        (rotation, translation), frames_exist, torsions and alt_torsions [residues, 7, 2], torsion_mask,
                        pseudo_beta, pseudo_beta_mask; for the prediction: alt_naming_is_better
    a prediction        for each block B: frames.B [residues, 7], angles.B and unnormalized_angles.B [residues, 14]; for
                        the last block: group_frames [residues, 8, 12] and atoms [residues, 14, 3]; logits distogram, lddt, msa,
                        resolved, tm; true_msa and bert_mask [rows, residues]
    losses              loss.NAME, and their weighted sum `loss`, with its gradients d_NAME by the prediction
"""

import importlib
import pathlib
import sys
import types

import torch
from safetensors.torch import save_file

from make_alphafold_goldens import load_openfold

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "alphafold" / "loss.safetensors"
BINS = 9
WEIGHTS = dict(distogram=0.3, experimentally_resolved=0.01, fape=1.0, plddt_loss=0.01, masked_msa=2.0, supervised_chi=1.0,
               violation=1.0, tm=0.1)
CLAMPED = 0.7


def to_rows(frames):
    return torch.cat([frames[..., :3, :3].flatten(-2), frames[..., :3, 3]], -1)


def to_matrices(rows):
    frames = torch.zeros(*rows.shape[:-1], 4, 4)
    frames[..., :3, :3] = rows[..., :9].unflatten(-1, (3, 3))
    frames[..., :3, 3] = rows[..., 9:]
    frames[..., 3, 3] = 1
    return frames


def random_frames(rigid, residues, generator):
    """Returns random frames along a random walk with the step length of a protein chain."""
    quaternions = torch.randn(residues, 4, generator=generator)
    steps = torch.randn(residues, 3, generator=generator)
    places = torch.cumsum(3.8 * steps / steps.norm(dim=-1, keepdim=True), 0)
    return torch.cat([quaternions / quaternions.norm(dim=-1, keepdim=True), places], -1)


def build_atoms(rigid, feats, constants, frames, torsions, aatype):
    """Returns the atoms [residues, 14, 3] and group frames [residues, 8, 4, 4] for backbone frames and torsions."""
    def tensor(name):
        return torch.tensor(getattr(constants, name), dtype=torch.get_default_dtype())

    groups = feats.torsion_angles_to_frames(rigid.from_tensor_7(frames), torsions, aatype,
                                            tensor("restype_rigid_group_default_frame"))
    atoms = feats.frames_and_literature_positions_to_atom14_pos(
        groups, aatype, tensor("restype_rigid_group_default_frame"),
        torch.tensor(constants.restype_atom14_to_rigid_group), tensor("restype_atom14_mask"),
        tensor("restype_atom14_rigid_group_positions"))
    return atoms, groups.to_tensor_4x4()


def random_torsions(residues, generator):
    torsions = torch.randn(residues, 7, 2, generator=generator)
    return torsions / torsions.norm(dim=-1, keepdim=True)


def main():
    load_openfold(sys.argv[1])
    constants = importlib.import_module("openfold.np.residue_constants")
    properties = pathlib.Path(sys.argv[2]).read_text()
    constants.resources = types.SimpleNamespace(read_text=lambda *_: properties)
    feats = importlib.import_module("openfold.utils.feats")
    transforms = importlib.import_module("openfold.data.data_transforms")
    rigid = importlib.import_module("openfold.utils.rigid_utils").Rigid
    loss = importlib.import_module("openfold.utils.loss")
    config = importlib.import_module("openfold.config").model_config("model_3_ptm", train=True).loss

    generator = torch.Generator().manual_seed(1)
    aatype = torch.cat([torch.randperm(21, generator=generator), torch.tensor([3, 13])])  # the last two are D and F
    residues = len(aatype)
    places = torch.arange(residues) + 5 * (torch.arange(residues) > 11)  # with a gap after residue 11
    true_frames = random_frames(rigid, residues, generator)
    atoms14, _ = build_atoms(rigid, feats, constants, true_frames, random_torsions(residues, generator), aatype)
    batch = transforms.make_atom14_masks({"aatype": aatype})
    index = batch["residx_atom37_to_atom14"][..., None].expand(-1, -1, 3)
    mask = batch["atom37_atom_exists"].double() * (torch.rand(residues, 37, generator=generator) > 0.06)
    mask[5] = 0
    # Two symmetric atoms are either both known or both unknown. Otherwise, OpenFold would place the unknown atom at the
    # origin, and its loss would depend on the position of the structure.
    for name, swap in constants.residue_atom_renaming_swaps.items():
        for pair in swap.items():
            both = [constants.atom_order[atom] for atom in pair]
            its = torch.nonzero(aatype == constants.restype_order[constants.restype_3to1[name]])
            mask[its, both] = mask[its, both].min(-1, keepdim=True)[0]
    batch |= {"residue_index": places, "seq_mask": torch.ones(residues), "all_atom_mask": mask,
              "all_atom_positions": torch.gather(atoms14, 1, index) * mask[..., None]}
    for transform in [transforms.make_atom14_positions, transforms.atom37_to_frames, transforms.atom37_to_torsion_angles(""),
                      transforms.make_pseudo_beta(""), transforms.get_backbone_frames, transforms.get_chi_angles]:
        batch = transform(batch)

    # Part of the prediction is close to the truth. Some errors are therefore clamped, and some bonds are valid.
    near = true_frames.clone()
    near[:, 4:] += 0.3 * torch.randn(residues, 3, generator=generator)
    near[10:] = random_frames(rigid, residues - 10, generator)
    atoms, groups = build_atoms(rigid, feats, constants, near, random_torsions(residues, generator), aatype)
    atoms += 0.05 * torch.randn(atoms.shape, generator=generator)
    atoms[15] = atoms[14] + 0.4  # these residues clash
    inputs = {"group_frames": to_rows(groups), "atoms": atoms}
    for block, frames in enumerate([random_frames(rigid, residues, generator), near]):
        inputs |= {f"frames.{block}": frames, f"angles.{block}": random_torsions(residues, generator).flatten(1),
                   f"unnormalized_angles.{block}": torch.randn(residues, 14, generator=generator)}
    rows = 2
    for name, shape in [("distogram", (residues, residues, BINS)), ("tm", (residues, residues, BINS)), ("lddt", (residues, BINS)),
                        ("msa", (rows, residues, 23)), ("resolved", (residues, 37))]:
        inputs[name] = torch.randn(shape, generator=generator)
    inputs = {name: x.detach().requires_grad_() for name, x in inputs.items()}
    both = [inputs[f"{name}.{block}"] for name in ["frames", "angles", "unnormalized_angles"] for block in (0, 1)]
    predicted = torch.zeros(residues, 37, 3)
    predicted[:, 1] = inputs["atoms"][:, 1]
    out = {
        "sm": {"frames": torch.stack(both[:2])[:, None], "angles": torch.stack(both[2:4]).view(2, 1, residues, 7, 2),
               "unnormalized_angles": torch.stack(both[4:]).view(2, 1, residues, 7, 2),
               "sidechain_frames": to_matrices(inputs["group_frames"])[None, None], "positions": inputs["atoms"][None, None]},
        "final_atom_positions": predicted[None], "final_affine_tensor": inputs["frames.1"][None],
        "distogram_logits": inputs["distogram"][None], "tm_logits": inputs["tm"][None], "lddt_logits": inputs["lddt"][None],
        "masked_msa_logits": inputs["msa"][None], "experimentally_resolved_logits": inputs["resolved"][None]}
    batch |= {"true_msa": (22 * torch.rand(rows, residues, generator=generator)).long(),
              "bert_mask": (torch.rand(rows, residues, generator=generator) < 0.3).double(),
              "seq_length": torch.tensor(residues), "resolution": torch.tensor(2.0), "use_clamped_fape": torch.tensor(CLAMPED)}
    labels = batch
    batch = {name: x[None] for name, x in batch.items()}
    config.distogram.no_bins = config.plddt_loss.no_bins = config.tm.no_bins = BINS
    for name, weight in WEIGHTS.items():
        config[name].weight = weight
    total, parts = loss.AlphaFoldLoss(config)(out, batch, _return_breakdown=True)
    gradients = torch.autograd.grad(total, list(inputs.values()))
    tensors = dict(inputs) | {f"d_{name}": x for name, x in zip(inputs, gradients)} | {
        f"loss.{name}": parts[name] for name in WEIGHTS} | {"loss": total}
    for name in ["aatype", "residue_index", "all_atom_positions", "all_atom_mask", "atom14_gt_positions", "atom14_gt_exists",
                 "atom14_alt_gt_positions", "atom14_alt_gt_exists", "pseudo_beta", "pseudo_beta_mask", "true_msa", "bert_mask"]:
        tensors[name] = labels[name]
    tensors |= {"frames": to_rows(labels["rigidgroups_gt_frames"]), "alt_frames": to_rows(labels["rigidgroups_alt_gt_frames"]),
                "frames_exist": labels["rigidgroups_gt_exists"], "torsions": labels["torsion_angles_sin_cos"],
                "alt_torsions": labels["alt_torsion_angles_sin_cos"], "torsion_mask": labels["torsion_angles_mask"],
                "alt_naming_is_better": batch["alt_naming_is_better"][0]}
    save_file({name: x.detach().to(torch.float32 if x.is_floating_point() else torch.int32).contiguous()
               for name, x in tensors.items()}, OUT)
    print(OUT, OUT.stat().st_size, "bytes", {name: float(x) for name, x in parts.items()})


if __name__ == "__main__":
    main()
