#!/usr/bin/env python3
"""Writes docs/benchmarks/results.md from docs/benchmarks/results/*.json, which the scripts in bench/compare record.

    tools/make_benchmarks.py           writes the page
    tools/make_benchmarks.py --check   fails if the page differs, or if a file does not follow the schema
"""

import argparse
import collections
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks" / "results.md"
RUN = {"title": str, "command": str, "commit": str, "date": str, "processor": str, "threads": int, "repeats": int,
       "rows": list}
ROW = {"work": str, "conditions": str, "unit": str, "headlight": (int, float), "peer": str, "peer_value": (int, float)}


def complaint(name, value, fields, optional=()):
    missing = [key for key in fields if key not in value]
    unknown = [key for key in value if key not in fields and key not in optional]
    wrong = [key for key, kind in fields.items() if key in value and not isinstance(value[key], kind)]
    for what, keys in (("lacks", missing), ("has unknown", unknown), ("has a value of another type in", wrong)):
        if keys:
            sys.exit(f"{name} {what} {', '.join(keys)}; allowed are {', '.join([*fields, *optional])}")


def read_runs():
    runs = []
    for path in sorted(FOLDER.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        complaint(path.name, run, RUN, optional=("note",))
        for index, row in enumerate(run["rows"]):
            complaint(f"{path.name}, row {index}", row, ROW)
            if row["headlight"] <= 0 or row["peer_value"] <= 0:
                sys.exit(f"{path.name}, row {index}: a figure must be positive")
        runs.append(run)
    return runs


def ratio(row):
    """Returns how many times better headlight is than the peer. Larger rates are better, and smaller times and memory
    are better."""
    quotient = row["headlight"] / row["peer_value"]
    return quotient if row["unit"].endswith("/s") else 1 / quotient


def figure(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def page(runs):
    rows = [row for run in runs for row in run["rows"]]
    losses = [(run["processor"], row) for run in runs for row in run["rows"] if ratio(row) < 1]
    lines = [
        "# Benchmark results", "",
        "`tools/make_benchmarks.py` writes this page from the files in [results/](results).",
        "[Methodology](methodology.md) explains the columns.", "",
        f"There are {len(rows)} comparisons. headlight is slower in {len(losses)} of them{':' if losses else '.'}", ""]
    if losses:
        lines += table([{**row, "conditions": f"{row['conditions']}; {chip}"} for chip, row in losses])
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["date"], run["commit"], run["processor"]].append(run)
    for (date, commit, processor), members in sorted(groups.items(), reverse=True):
        lines += ["", f"## {date}, commit {commit}, {processor}", ""]
        for run in members:
            lines.append(f"- **{run['title']}**: `{run['command']}`, {run['threads']} "
                         f"thread{'s' if run['threads'] > 1 else ''}, "
                         + (f"median of {run['repeats']} runs." if run["repeats"] > 1 else "one run.")
                         + (f" {run['note']}" if run.get("note") else ""))
        lines += ["", *table([row for run in members for row in run["rows"]])]
    return "\n".join(lines) + "\n"


def table(rows):
    """Returns the table lines. The first cell of a row is empty if its work is the same as in the row above."""
    lines = ["| work | conditions | unit | headlight | peer | its figure | ratio |", "|---|---|---|---|---|---|---|"]
    for before, row in zip([None, *rows], rows):
        work = "" if before and before["work"] == row["work"] else row["work"]
        times = ratio(row)
        shown = f"{times:.1f}x" if times >= 10 else f"{times:.2f}x"
        lines.append(f"| {work} | {row['conditions']} | {row['unit']} | {figure(row['headlight'])} | {row['peer']} | "
                     f"{figure(row['peer_value'])} | {f'**{shown}**' if times < 1 else shown} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is not current")
    args = parser.parse_args()
    text = page(read_runs())
    if not args.check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/benchmarks/results.md is not what tools/make_benchmarks.py writes; run it")


if __name__ == "__main__":
    main()
