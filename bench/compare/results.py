"""Records a comparison as JSON, with one file per run. tools/make_benchmarks.py writes docs/benchmarks/results.md from
these files.

    HEADLIGHT_RESULTS=docs/benchmarks/results/NAME.json bench/compare/NAME ...

Without this variable, `record` does nothing.
"""

import datetime
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from instruction_limits import exceeds

ROOT = Path(__file__).resolve().parents[2]


def processor():
    """Returns the processor's name, its family, and the instruction set extensions that determine which kernels run."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first)}
    flags = set(fields.get("flags", "").split())
    known = {"amx_bf16": "AMX", "avx512_bf16": "AVX-512 bfloat16", "avx512_vnni": "VNNI", "avx512f": "AVX-512",
             "avx2": "AVX2"}
    extensions = ", ".join(name for flag, name in known.items() if flag in flags)
    return f"{fields.get('model name', 'unknown')}, family {fields.get('cpu family', '?')}; {extensions}"


def commit():
    """Returns the commit of the working tree, with the suffix `-changed` if a tracked file is modified."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "headlight", "cmake", "CMakeLists.txt")
    return git("rev-parse", "--short=8", "HEAD") + ("-changed" if changed else "")


def record(options, peer, work, conditions, unit, ours, theirs):
    """Appends one row. `work` is the task of both sides. `conditions` are the types, batch sizes and beam sizes. If
    `unit` ends in "/s", larger is better. Otherwise, such as for "s", smaller is better."""
    name = os.environ.get("HEADLIGHT_RESULTS")
    if not name:
        return
    path = Path(name)
    threads = getattr(options, "threads", 1)
    script = Path(sys.argv[0]).stem
    limit = os.environ.get("HEADLIGHT_CPU")
    command = ([f"HEADLIGHT_CPU={limit}"] if limit else []) + [f"bench/compare/{script}", *sys.argv[1:]]
    head = {"title": script, "command": shlex.join(command), "commit": commit(),
            "date": datetime.date.today().isoformat(), "processor": processor(),
            "threads": max(threads) if isinstance(threads, list) else threads, "repeats": options.repeats}
    run = json.loads(path.read_text()) if path.exists() else {**head, "rows": []}
    if any(run[key] != value for key, value in head.items() if key != "title"):
        sys.exit(f"{script}: {path} holds another run; name a new file in HEADLIGHT_RESULTS")
    run["rows"].append({"work": work, "conditions": conditions, "unit": unit, "headlight": float(f"{ours:.4g}"),
                        "peer": peer, "peer_value": float(f"{theirs:.4g}")})
    if exceeds(peer):
        run["note"] = f"HEADLIGHT_CPU does not restrict {peer}."
    path.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
