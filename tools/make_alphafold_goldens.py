#!/usr/bin/env python3
"""Makes tests/testdata/alphafold/: modules of a tiny AlphaFold 2 of OpenFold, with their inputs, outputs and gradients.

    pip install torch==2.15.0 safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_alphafold_goldens.py openfold

Computed in double precision without dropout, and stored in single precision. Parameters have OpenFold's names. `loss`
is the sum of the outputs, with each number weighted by sin(index + 1). gradient.NAME is the gradient of a parameter,
and d_NAME is the gradient of an input.
    evoformer.safetensors, extra_msa.safetensors
        inputs m [rows, residues, ...], z [residues, residues, ...], mask [rows, residues]; outputs m_out
        (0 at absent cells), z_out
    structure_module.safetensors
        inputs single [residues, ...], pair [residues, residues, ...], aatype [residues]; outputs single_out, and for
        each block B frames.B [residues, 7], group_frames.B [residues, 8, 12] (rotation, translation), atoms.B [residues, 14, 3],
        unnormalized_angles.B and angles.B [residues, 7, 2]
    template_embedder.safetensors
        inputs m [rows, residues, ...], z [residues, residues, ...] and three templates (see below); the second is absent
        (template_mask); outputs z_out and m_out, in which the rows of m precede the torsion rows of the other templates
    model/
        a whole model, config.json and model.safetensors, and golden.safetensors with two passes. Their features are
        aatype, residue_index [residues] and target.P [residues, 22], msa.P [rows, residues, 49], mask.P [rows, residues],
        extra.P [extra rows, residues, 25] of pass P. The outputs of the last pass have OpenFold's names, and msa
        is 0 at absent cells. Also has the gradients of the parameters. without_extra_rows.safetensors: pair and positions
        of pass 0, if all its extra rows are absent
    templates/
        also a whole model, with templates in both passes
    template_features.safetensors
        template_aatype, template_all_atom_positions and template_all_atom_mask of a template, from which the other features
        are computed
Templates are stored with OpenFold's feature names: template_aatype [templates, residues], template_pseudo_beta,
template_torsion_angles_sin_cos and so on.
"""

import importlib
import json
import pathlib
import sys
import types

import torch
from safetensors.torch import save_file

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "alphafold"


def load_openfold(folder):
    """Imports OpenFold without its modules for GPUs, alignments and relaxation."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    for name in ["openfold", "openfold.data", "openfold.model", "openfold.np", "openfold.utils", "openfold.utils.kernel"]:
        module(name).__path__ = [str(pathlib.Path(folder, *name.split(".")))]

    def attention_core(query, key, value, *biases):
        scores = query @ key.transpose(-1, -2)
        for bias in biases:
            scores = scores + (0 if bias is None else bias)
        return scores.softmax(-1) @ value

    module("openfold.np.protein")
    module("openfold.utils.kernel.attention_core", attention_core=attention_core)
    module("attn_core_inplace_cuda", forward_=lambda scores, *_: scores.copy_(scores.softmax(-1)))


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention and different gates."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if "layer_norm" in name and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            else:
                value.copy_(noise * (0.3 if value.ndim == 1 else value.shape[1] ** -0.5))


def weigh(x):
    x = x.reshape(-1)
    return (x * torch.sin(torch.arange(x.numel(), dtype=x.dtype) + 1)).sum()


def save(name, model, inputs, outputs, others=(), with_parameters=True):
    """Saves inputs, outputs, loss and gradients. `inputs` need gradients. The loss is computed from `outputs`."""
    loss = sum(weigh(x) for x in outputs.values())
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, [*inputs.values(), *named.values()], allow_unused=True)
    assert all(gradient is not None for gradient in gradients)
    tensors = dict(others) | inputs | outputs | {"loss": loss}
    tensors |= {f"d_{key}": gradient for key, gradient in zip(inputs, gradients)}
    if with_parameters:
        tensors |= {f"parameter.{key}": value for key, value in named.items()}
    tensors |= {f"gradient.{key}": gradient for key, gradient in zip(named, gradients[len(inputs):])}
    path = OUT / f"{name}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({key: value.detach().to(torch.float32 if value.is_floating_point() else torch.int32).contiguous()
               for key, value in tensors.items()}, path)
    print(path, path.stat().st_size, "bytes")


BLOCK = dict(c_m=8, c_z=6, c_hidden_msa_att=3, c_hidden_opm=3, c_hidden_mul=4, c_hidden_pair_att=3, no_heads_msa=2,
             no_heads_pair=2, transition_n=2, msa_dropout=0.15, pair_dropout=0.25, opm_first=False,
             fuse_projection_weights=False, inf=1e9, eps=1e-10)


def make_blocks(name, blocks, seed):
    rows, residues = 5, 6
    model = torch.nn.Module()
    model.blocks = torch.nn.ModuleList(blocks)
    initialize(model, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    inputs = {"m": torch.randn(rows, residues, 8, generator=generator).requires_grad_(),
              "z": torch.randn(residues, residues, 6, generator=generator).requires_grad_()}
    mask = (torch.rand(rows, residues, generator=generator) > 0.2).double()
    mask[0] = 1
    mask[3] = 0
    m, z = inputs["m"], inputs["z"]
    for block in model.blocks:
        block.eval()
        m, z = block(m, z, msa_mask=mask, pair_mask=torch.ones(residues, residues), _mask_trans=False)
    save(name, model, inputs, {"m_out": m * mask[..., None], "z_out": z}, {"mask": mask})


def template_features(aatype, seed):
    """Returns features of templates aatype [templates, residues], with some missing atoms."""
    constants = importlib.import_module("openfold.np.residue_constants")
    transforms = importlib.import_module("openfold.data.data_transforms")
    generator = torch.Generator().manual_seed(seed)
    known = torch.tensor(constants.restype_atom37_mask, dtype=torch.float64)
    # X has C beta and O. A gap has no atoms.
    known = torch.cat([known[:20], torch.tensor([[1.0] * 5 + [0.0] * 32, [0.0] * 37])])[aatype]
    known = known * (torch.rand(known.shape, generator=generator) > 0.04)
    places = 12 * torch.randn(*aatype.shape, 1, 3, generator=generator) + torch.randn(*known.shape, 3, generator=generator)
    places = ((places + 7) * known[..., None]).float().double()
    features = {"template_aatype": aatype, "template_all_atom_positions": places, "template_all_atom_mask": known,
                "template_mask": torch.ones(aatype.shape[0])}
    features = transforms.make_pseudo_beta("template_")(features)
    features = transforms.atom37_to_torsion_angles("template_")(features)
    # Round the features to the stored precision.
    return {key: value.float().double() if value.is_floating_point() else value for key, value in features.items()}


def make_template_features():
    features = template_features(torch.tensor([[*range(21), 21, 15, 7, 21, 21, 2, 0, 18, 13]]), 8)
    path = OUT / "template_features.safetensors"
    save_file({key: value.to(torch.float32 if value.is_floating_point() else torch.int32).contiguous()
               for key, value in features.items()}, path)
    print(path, path.stat().st_size, "bytes")


def make_template_embedder():
    rows, residues = 2, 6
    config = openfold_config("model_1_ptm").model.template
    model = importlib.import_module("openfold.model.embedders").TemplateEmbedder(config).eval()
    initialize(model, 9)
    generator = torch.Generator().manual_seed(10)
    inputs = {"m": torch.randn(rows, residues, SIZES["c_m"], generator=generator).requires_grad_(),
              "z": torch.randn(residues, residues, SIZES["c_z"], generator=generator).requires_grad_()}
    features = template_features(torch.tensor([[1, 7, 21, 3, 18, 20], [0, 1, 2, 3, 4, 5], [10, 13, 21, 21, 6, 15]]), 11)
    features["template_mask"][1] = 0
    embedded = model(features, inputs["z"], torch.ones(residues, residues), 0, None)
    rows = embedded["template_single_embedding"][[0, 2]]
    save("template_embedder", model, inputs, {"m_out": torch.cat([inputs["m"], rows]),
                                              "z_out": inputs["z"] + embedded["template_pair_embedding"]}, features)


def make_structure_module():
    residues = 21
    module = importlib.import_module("openfold.model.structure_module")
    model = module.StructureModule(c_s=10, c_z=6, c_ipa=3, c_resnet=5, no_heads_ipa=2, no_qk_points=2, no_v_points=3,
                                   dropout_rate=0.1, no_blocks=2, no_transition_layers=1, no_resnet_blocks=2, no_angles=7,
                                   trans_scale_factor=10, epsilon=1e-8, inf=1e5).eval()
    initialize(model, 3)
    generator = torch.Generator().manual_seed(4)
    inputs = {"single": torch.randn(residues, 10, generator=generator).requires_grad_(),
              "pair": torch.randn(residues, residues, 6, generator=generator).requires_grad_()}
    aatype = torch.randperm(residues, generator=generator)
    made = model(inputs, aatype)
    outputs = {"single_out": made["single"]}
    for block in range(2):
        frames = made["sidechain_frames"][block]
        outputs |= {f"frames.{block}": made["frames"][block],
                    f"group_frames.{block}": torch.cat([frames[..., :3, :3].flatten(-2), frames[..., :3, 3]], -1),
                    f"atoms.{block}": made["positions"][block],
                    f"unnormalized_angles.{block}": made["unnormalized_angles"][block],
                    f"angles.{block}": made["angles"][block]}
    save("structure_module", model, inputs, outputs, {"aatype": aatype})


# The sizes of a tiny model, with the names of OpenFold's configuration and headlight's config.json.
SIZES = {
    "c_m": 8, "c_z": 6, "c_e": 5, "c_s": 7, "relpos_k": 3,
    "evoformer_stack": dict(c_hidden_msa_att=3, no_heads_msa=2, c_hidden_opm=3, c_hidden_mul=4, c_hidden_pair_att=3,
                            no_heads_pair=2, no_blocks=2, transition_n=2, msa_dropout=0.15, pair_dropout=0.25),
    "extra_msa_stack": dict(c_hidden_msa_att=2, no_heads_msa=2, c_hidden_opm=2, c_hidden_mul=3, c_hidden_pair_att=2,
                            no_heads_pair=1, no_blocks=1, transition_n=2, msa_dropout=0.15, pair_dropout=0.25),
    "structure_module": dict(c_ipa=3, no_heads_ipa=2, no_qk_points=2, no_v_points=3, c_resnet=5, no_blocks=2,
                             no_transition_layers=1, no_resnet_blocks=2, dropout_rate=0.1, trans_scale_factor=10,
                             epsilon=1e-8),
    "plddt_hidden": 4, "plddt_bins": 50, "distogram_bins": 6,
}
TEMPLATE_SIZES = {
    "c_t": 5,
    "template_pair_stack": dict(c_hidden_tri_mul=4, c_hidden_tri_att=3, no_heads=2, no_blocks=2, pair_transition_n=2,
                                dropout_rate=0.25),
    "template_pointwise_attention": dict(c_hidden=3, no_heads=2),
}


def openfold_config(name):
    config = importlib.import_module("openfold.config").model_config(name)
    model = config.model
    template = model.template
    template.template_single_embedder.c_out = SIZES["c_m"]
    template.template_pair_embedder.c_out = template.template_pair_stack.c_t = TEMPLATE_SIZES["c_t"]
    template.template_pair_stack.update(TEMPLATE_SIZES["template_pair_stack"])
    template.template_pair_stack.blocks_per_ckpt = None
    template.template_pointwise_attention.update(TEMPLATE_SIZES["template_pointwise_attention"])
    template.template_pointwise_attention.update(c_t=TEMPLATE_SIZES["c_t"], c_z=SIZES["c_z"])
    for section in [model.input_embedder, model.recycling_embedder, model.evoformer_stack, model.extra_msa.extra_msa_stack,
                    model.structure_module]:
        section.c_z = SIZES["c_z"]
    for section in [model.input_embedder, model.recycling_embedder, model.evoformer_stack, model.heads.masked_msa]:
        section.c_m = SIZES["c_m"]
    for section in [model.evoformer_stack, model.structure_module]:
        section.c_s = SIZES["c_s"]
    model.input_embedder.relpos_k = SIZES["relpos_k"]
    model.extra_msa.extra_msa_embedder.c_out = model.extra_msa.extra_msa_stack.c_m = SIZES["c_e"]
    model.evoformer_stack.update(SIZES["evoformer_stack"])
    model.extra_msa.extra_msa_stack.update(SIZES["extra_msa_stack"])
    model.structure_module.update(SIZES["structure_module"])
    model.evoformer_stack.blocks_per_ckpt = None
    model.extra_msa.extra_msa_stack.ckpt = False
    heads = model.heads
    heads.lddt.update(c_in=SIZES["c_s"], c_hidden=SIZES["plddt_hidden"], no_bins=SIZES["plddt_bins"])
    heads.distogram.update(c_z=SIZES["c_z"], no_bins=SIZES["distogram_bins"])
    heads.tm.update(c_z=SIZES["c_z"], no_bins=SIZES["distogram_bins"], enabled=True)
    heads.experimentally_resolved.c_in = heads.experimentally_resolved.c_s = SIZES["c_s"]
    return config


def make_model(folder, name, seed):
    residues, rows, extra_rows, passes = 6, 4, 5, 2
    constants = importlib.import_module("openfold.np.residue_constants")
    transforms = importlib.import_module("openfold.data.data_transforms")
    model = importlib.import_module("openfold.model.model").AlphaFold(openfold_config(name)).eval()
    initialize(model, seed)
    generator = torch.Generator().manual_seed(seed + 1)

    def random(*shape):
        return torch.rand(*shape, passes, generator=generator)

    aatype = torch.tensor([7, 1, 18, 14, 20, 4])  # glycine has no C beta, X has no side chain
    assert constants.restypes[7] == "G"
    atoms = transforms.make_atom14_masks({"aatype": aatype})
    batch = {
        "aatype": aatype, "residue_index": torch.tensor([3, 4, 5, 9, 10, 30]), "seq_mask": torch.ones(residues),
        "residx_atom37_to_atom14": atoms["residx_atom37_to_atom14"], "atom37_atom_exists": atoms["atom37_atom_exists"],
        "extra_msa_mask": torch.ones(extra_rows, residues)}
    batch = {key: value[..., None].expand(*value.shape, passes) for key, value in batch.items()}
    batch |= {"target_feat": random(residues, 22), "msa_feat": random(rows, residues, 49),
              "msa_mask": (random(rows, residues) > 0.2).double(),
              "extra_msa": (random(extra_rows, residues) * 23).long(),
              "extra_has_deletion": (random(extra_rows, residues) > 0.5).double(),
              "extra_deletion_value": random(extra_rows, residues)}
    batch["msa_mask"][0] = 1
    templates = {}
    if model.template_config.enabled:
        templates = template_features(torch.tensor([[7, 1, 18, 21, 20, 4], [10, 7, 21, 3, 5, 6]]), seed + 2)
        batch |= {key: value[..., None].expand(*value.shape, passes) for key, value in templates.items()}
    # All passes compute gradients, as in training. Without gradients, OpenFold works in place with indices that newer
    # PyTorch versions interpret differently.
    previous = [None, None, None]
    for number in range(passes):
        made, *previous, _ = model.iteration({key: value[..., number].clone() for key, value in batch.items()}, previous)
        previous = [x.detach() for x in previous]
    made |= model.aux_heads(made)
    mask = batch["msa_mask"][..., -1]
    outputs = {"msa": made["msa"] * mask[..., None], "pair": made["pair"], "single": made["single"],
               "frames": made["sm"]["frames"][-1], "positions": made["sm"]["positions"][-1],
               "angles": made["sm"]["angles"][-1], "masked_msa_logits": made["masked_msa_logits"] * mask[..., None]}
    for name in ["lddt_logits", "distogram_logits", "experimentally_resolved_logits", "tm_logits"]:
        outputs[name] = made[name]
    others = {"aatype": aatype, "residue_index": batch["residue_index"][..., 0], **templates}
    extra = importlib.import_module("openfold.utils.feats").build_extra_msa_feat
    for number in range(passes):
        its = {key: value[..., number] for key, value in batch.items()}
        others |= {f"target.{number}": its["target_feat"], f"msa.{number}": its["msa_feat"], f"mask.{number}": its["msa_mask"],
                   f"extra.{number}": extra(its)}
    save(f"{folder}/golden", model, {}, outputs, others, with_parameters=False)
    save_file({name: value.detach().float().contiguous() for name, value in model.named_parameters()},
              OUT / folder / "model.safetensors")
    config = {"model_type": "alphafold2", **SIZES}
    if templates:
        config |= {"max_templates": 4, "template": TEMPLATE_SIZES}
    (OUT / folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if templates:
        return
    # A pass without extra rows. OpenFold pads them with absent rows.
    alone = {key: value[..., 0].clone() for key, value in batch.items()}
    alone["extra_msa_mask"] = torch.zeros(extra_rows, residues)
    with torch.enable_grad():
        made, *_ = model.iteration(alone, [None, None, None])
    save_file({"pair": made["pair"].detach().float().contiguous(),
               "positions": made["sm"]["positions"][-1].detach().float().contiguous()},
              OUT / folder / "without_extra_rows.safetensors")


def main():
    load_openfold(sys.argv[1])
    evoformer = importlib.import_module("openfold.model.evoformer")
    make_blocks("evoformer", [evoformer.EvoformerBlock(no_column_attention=False, **BLOCK) for _ in range(2)], 1)
    make_blocks("extra_msa", [evoformer.ExtraMSABlock(ckpt=False, **BLOCK) for _ in range(2)], 2)
    make_structure_module()
    make_model("model", "model_3_ptm", 5)
    make_template_features()
    make_template_embedder()
    make_model("templates", "model_1_ptm", 12)


if __name__ == "__main__":
    main()
