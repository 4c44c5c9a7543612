#!/usr/bin/env python3
"""Makes headlight/protein/testdata/structure_scores.json: random structures and their scores.

    apt-get install tm-align    # for the program TMscore (Zhang and Skolnick), which computes TM-score, GDT-TS and GDT-HA
    tools/make_structure_score_goldens.py

RMSD after superposition (Kabsch, by a singular value decomposition), dRMSD and lDDT (Mariani et al., 2013) are computed
in NumPy by their definitions.
"""
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np

PATH = pathlib.Path(__file__).parent.parent / "headlight/protein/testdata/structure_scores.json"
ATOMS = {"ALA": "N CA C O CB", "GLY": "N CA C O", "ASP": "N CA C O CB CG OD1 OD2",
         "PHE": "N CA C O CB CG CD1 CD2 CE1 CE2 CZ", "LEU": "N CA C O CB CG CD1 CD2"}
SWAPS = {"ASP": {"OD1": "OD2"}, "PHE": {"CD1": "CD2", "CE1": "CE2"}, "LEU": {"CD1": "CD2"}}


def helix(length, random):
    """Returns the CA positions of helices with different axes."""
    points, frame, origin = [], np.eye(3), np.zeros(3)
    for i in range(length):
        if i % 14 == 13:
            frame = frame @ np.linalg.qr(random.normal(size=(3, 3)))[0]
            frame[:, 2] *= np.sign(np.linalg.det(frame))
        angle = np.radians(100) * i
        origin = origin + frame @ np.array([0, 0, 1.5])
        points.append(origin + frame @ np.array([2.3 * np.cos(angle), 2.3 * np.sin(angle), 0]))
    return np.array(points)


def superposed(moving, fixed):
    a, b = moving - moving.mean(0), fixed - fixed.mean(0)
    u, _, vt = np.linalg.svd(a.T @ b)
    flip = np.diag([1, 1, np.sign(np.linalg.det(u @ vt))])
    return a @ u @ flip @ vt + fixed.mean(0)


def pdb(points, residues):
    lines = ["ATOM  %5d  CA  ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00           C" % (n, n, *p)
             for n, p in zip(residues, points)]
    return "\n".join(lines) + "\nTER\n"


def tmscore(model, reference, residues):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("model.pdb", "reference.pdb")]
        paths[0].write_text(pdb(model[residues], np.array(residues) + 1))
        paths[1].write_text(pdb(reference, np.arange(len(reference)) + 1))
        out = subprocess.run(["TMscore", *map(str, paths)], capture_output=True, text=True, check=True).stdout
    value = lambda name: float(re.search(name + r"\s*=\s*([0-9.]+)", out).group(1))
    return {"tm_score": value("TM-score"), "gdt_ts": value("GDT-TS-score"), "gdt_ha": value("GDT-HA-score")}


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def kept(model, reference, pairs):
    difference = np.abs(distances(model) - distances(reference))
    return np.mean([(difference < most) & pairs for most in (0.5, 1, 2, 4)], axis=0)


def lddt(model, reference, owners):
    """Returns the lDDT of atoms [n, 3] over all pairs, and per residue. `owners` are the residues of the atoms."""
    pairs = (distances(reference) < 15) & (owners[:, None] != owners[None])
    share = kept(model, reference, pairs)
    by_residue = [share[owners == r].sum() / pairs[owners == r].sum() for r in range(owners.max() + 1)]
    return share.sum() / pairs.sum(), by_residue


def lddt_all(model, reference, residues):
    """Returns the lDDT of all atoms. `residues` is [(type, {atom: index})]. Symmetric atoms can be named in two
    ways. Uses the names that keep more distances to unambiguous atoms."""
    owners, certain = np.zeros(len(model), int), np.ones(len(model), bool)
    for r, (name, atoms) in enumerate(residues):
        owners[list(atoms.values())] = r
        for pair in SWAPS.get(name, {}).items():
            certain[[atoms[a] for a in pair]] = False
    pairs = (distances(reference) < 15) & (owners[:, None] != owners[None]) & certain[None]
    best = model.copy()
    for name, atoms in residues:
        order = np.arange(len(model))
        for a, b in SWAPS.get(name, {}).items():
            order[[atoms[a], atoms[b]]] = order[[atoms[b], atoms[a]]]
        moved = order != np.arange(len(model))
        if kept(model[order], reference, pairs)[moved].sum() > kept(model, reference, pairs)[moved].sum():
            best[moved] = model[order][moved]
    return lddt(best, reference, owners)


def main():
    random = np.random.default_rng(7)
    rounded = lambda x: np.asarray(x).round(3)
    golden = {"chains": []}
    for length, noise, missing in ((40, 0.6, 0), (65, 2.0, 5), (24, 6.0, 0)):
        reference = rounded(helix(length, random))
        steps = np.cumsum(random.normal(size=(length, 3)), axis=0)
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        turn[:, 2] *= np.sign(np.linalg.det(turn))
        model = rounded((reference + noise * (0.3 * steps + random.normal(size=(length, 3)))) @ turn.T + [9, -7, 3])
        residues = sorted(random.permutation(length)[missing:].tolist())
        a, b = model[residues], reference[residues]
        score, by_residue = lddt(a, b, np.arange(len(a)))
        golden["chains"].append({
            "model": model.ravel().tolist(), "reference": reference.ravel().tolist(), "residues": residues,
            **tmscore(model, reference, residues),
            "rmsd": float(np.sqrt(((superposed(a, b) - b) ** 2).sum(-1).mean())),
            "drmsd": float(np.sqrt(((distances(a) - distances(b))[np.triu_indices(len(a), 1)] ** 2).mean())),
            "lddt_ca": float(score), "lddt_ca_by_residue": [round(float(x), 6) for x in by_residue]})
    ca = helix(25, random)
    names = [list(ATOMS)[i] for i in random.integers(0, len(ATOMS), 25)]
    residues, reference = [], []
    for centre, name in zip(ca, names):
        atoms = ATOMS[name].split()
        residues.append((name, {a: len(reference) + i for i, a in enumerate(atoms)}))
        reference += [centre if a == "CA" else centre + random.normal(size=3) * 1.7 for a in atoms]
    reference = rounded(reference)
    model = rounded(reference + random.normal(size=reference.shape) * 0.5)
    for name, atoms in residues:  # swap the names of some symmetric atoms
        if name in ("ASP", "PHE") and random.uniform() < 0.5:
            for a, b in SWAPS[name].items():
                model[[atoms[a], atoms[b]]] = model[[atoms[b], atoms[a]]]
    score, by_residue = lddt_all(model, reference, residues)
    golden["atoms"] = {"residues": [[name, *atoms] for name, atoms in residues], "model": model.ravel().tolist(),
                       "reference": reference.ravel().tolist(), "lddt": float(score),
                       "lddt_by_residue": [round(float(x), 6) for x in by_residue]}
    PATH.write_text(json.dumps(golden, separators=(",", ":")).replace('"model"', '\n"model"') + "\n")


main()
