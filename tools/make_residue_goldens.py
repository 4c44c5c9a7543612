#!/usr/bin/env python3
"""Makes headlight/protein/testdata/residues.json: OpenFold's residue tables.

    tools/make_residue_goldens.py RESIDUE_CONSTANTS STEREO_CHEMICAL_PROPS

RESIDUE_CONSTANTS is openfold/np/residue_constants.py of aqlaboratory/openfold; STEREO_CHEMICAL_PROPS is the file of
bonds and angles that OpenFold's setup downloads. Values are sums over each table's axes, weighted by the index, so
that a value at a wrong index is detected. The frames and bounds of some types are stored completely.
"""
import importlib.util
import json
import pathlib
import sys
import types

import numpy as np


def map_structure(function, value):
    return [map_structure(function, item) for item in value] if isinstance(value, list) else function(value)


def weighted(table):
    """Reduces [types, ...] to a weighted sum per type. The value at flat index i has the weight 1 + i % 97."""
    flat = np.asarray(table, dtype=np.float64).reshape(len(table), -1)
    return (flat * (1 + np.arange(flat.shape[1]) % 97)).sum(axis=1).round(6).tolist()


def main():
    constants, properties = sys.argv[1:]
    sys.modules["tree"] = types.SimpleNamespace(map_structure=map_structure)
    spec = importlib.util.spec_from_file_location("residue_constants", constants)
    rc = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rc)
    rc.resources = types.SimpleNamespace(read_text=lambda *_: pathlib.Path(properties).read_text())
    bounds = rc.make_atom14_dists_bounds()
    upper = np.where(bounds["upper_bound"] > 1e9, 1000, bounds["upper_bound"])
    periodic = np.asarray(rc.chi_pi_periodic)
    some = [rc.restype_order[letter] for letter in "RHPW"]
    golden = {
        "letters": "".join(rc.restypes_with_x),
        "names": rc.resnames,
        "atoms": rc.atom_types,
        "has_atom14": weighted(rc.RESTYPE_ATOM14_MASK),
        "has_atom37": weighted(rc.RESTYPE_ATOM37_MASK),
        "atom14_to_atom37": weighted(rc.RESTYPE_ATOM14_TO_ATOM37),
        "atom37_to_atom14": weighted(rc.RESTYPE_ATOM37_TO_ATOM14),
        "atom14_group": weighted(rc.restype_atom14_to_rigid_group),
        "atom14_position": weighted(rc.restype_atom14_rigid_group_positions),
        "atom14_swap": weighted(rc.restype_atom14_ambiguous_atoms_swap_idx),
        "atom14_ambiguous": weighted(rc.restype_atom14_ambiguous_atoms),
        "has_group": weighted(rc.RESTYPE_RIGIDGROUP_MASK),
        "chi_ambiguous": weighted(periodic),
        "group_frame": weighted(rc.restype_rigid_group_default_frame),
        "group_atoms": weighted(rc.RESTYPE_RIGIDGROUP_BASE_ATOM37_IDX),
        "chi_atoms": weighted(rc.CHI_ATOM_INDICES),
        "least": weighted(bounds["lower_bound"]),
        "most": weighted(upper),
        "deviation": weighted(bounds["stddev"]),
        "some": some,
        "frames_of_some": rc.restype_rigid_group_default_frame[some][:, :, :3].round(6).ravel().tolist(),
    }
    path = pathlib.Path(__file__).parent.parent / "headlight/protein/testdata/residues.json"
    path.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in golden.items()) + "\n}\n")


main()
