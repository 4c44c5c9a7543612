"""Makes structures and indices for `headlight train folding` and `evaluate` from two published protein data sets:

  make_protein_sets.py cgdms CGDMS OUT        from the repository psipred/cgdms: OUT/train and OUT/val, with a PDB file per chain of
                                              N, CA and C, and CB from ideal geometry. Training chains are omitted if val has
                                              a chain of the same entry, or the same sequence
  make_protein_sets.py covariation SETS OUT   from Kortemme-Lab/covariation: OUT/index.tsv, domains with their natural alignments. The
                                              first row of an alignment is the sequence of the structure
"""

import re
import sys
from pathlib import Path

NAMES = dict(zip("ARNDCQEGHILKMFPSTWYV",
                 "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL".split()))
LETTERS = {name: letter for letter, name in NAMES.items()} | {"MSE": "M"}


def pdb_line(serial, atom, name, number, at):
    return (f"ATOM  {serial:5}  {atom:<3} {name} A{number:4}    {at[0]:8.3f}{at[1]:8.3f}{at[2]:8.3f}  1.00  0.00"
            f"           {atom[0]}  \n")


def beta(n, alpha, c):
    """Returns the position of CB with ideal angles around CA."""
    b = [alpha[k] - n[k] for k in range(3)]
    d = [c[k] - alpha[k] for k in range(3)]
    a = [b[1] * d[2] - b[2] * d[1], b[2] * d[0] - b[0] * d[2], b[0] * d[1] - b[1] * d[0]]
    return [-0.58273431 * a[k] + 0.56802827 * b[k] - 0.54067466 * d[k] + alpha[k] for k in range(3)]


def make_cgdms(source, out):
    entries, sequences = set(), set()  # of the chains in val
    for part in ("val", "train"):
        (out / part).mkdir(parents=True)
        for chain in (source / "datasets" / f"{part}.txt").read_text().split():
            lines = (source / "protein_data" / "train_val" / f"{chain}.txt").read_text().split("\n")
            entry = chain.split("_")[0]
            if part == "val":
                entries.add(entry)
                sequences.add(lines[0])
            elif entry in entries or lines[0] in sequences:
                continue
            text, serial = "", 0
            for number, (letter, row) in enumerate(zip(lines[0], lines[2:]), 1):
                at = [float(word) for word in row.split()]
                atoms = {"N": at[0:3], "CA": at[3:6], "C": at[6:9]}
                if letter != "G":
                    atoms["CB"] = beta(*atoms.values())
                for atom, place in atoms.items():
                    serial += 1
                    text += pdb_line(serial, atom, NAMES[letter], number, place)
            (out / part / f"{chain}.pdb").write_text(text + "TER\n")


def make_covariation(source, out):
    out.mkdir(parents=True)
    index = ""
    for line in (source / "analysis" / "domain_sequences.txt").read_text().splitlines():
        domain, chain, row = line.split()
        structure = source / "input" / "domains" / domain / f"{chain}.pdb"
        alignment = source / "analysis" / "natural_alignments" / f"{domain}.align.80"
        if not structure.exists() or not alignment.exists():
            continue
        residues = {}  # the atoms' lines by residue number and insertion code
        for atom in structure.read_text().splitlines():
            if atom.startswith(("ATOM", "HETATM")) and atom[17:20] in LETTERS:
                residues.setdefault(atom[22:27], []).append(atom)
        letters = "".join(LETTERS[atoms[0][17:20]] for atoms in residues.values())
        begin = letters.find(re.sub("[-.]", "", row).upper())
        if begin < 0:
            sys.exit(f"make_protein_sets: {domain}: its row of the alignment is no part of {chain}")
        kept = list(residues.values())[begin:begin + len(re.sub("[-.]", "", row))]
        (out / f"{domain}.pdb").write_text("\n".join(atom for atoms in kept for atom in atoms) + "\nTER\n")
        (out / f"{domain}.fasta").write_text(f">{chain}\n{row.upper()}\n" + alignment.read_text().upper())
        index += f"{domain}.pdb\t\t{domain}.fasta\n"
    (out / "index.tsv").write_text(index)


if __name__ == "__main__":
    makers = {"cgdms": make_cgdms, "covariation": make_covariation}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    makers[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
