"""Gives the peers of a comparison the instruction set to which HEADLIGHT_CPU restricts headlight."""

import os
import sys
from pathlib import Path

# The environment variables of CTranslate2, oneDNN, PyTorch's own kernels and MKL. "avx512" allows everything except
# AMX.
VARIABLES = ("CT2_FORCE_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS")
VALUES = {
    "avx2": ("AVX2", "AVX2", "avx2", "AVX2"),
    "avx-vnni": ("AVX2", "AVX2_VNNI", "avx2", "AVX2"),
    "avx512": ("AVX512", "AVX512_CORE_FP16", "avx512", "AVX512_E3"),
}
# The newer instruction sets that each limit excludes, as named in /proc/cpuinfo.
NEWER = {"avx2": {"avx_vnni", "avx512f"}, "avx-vnni": {"avx512f"}, "avx512": {"amx_tile"}}
UNLIMITED = "ONNX Runtime"  # has no such variable
NATIVE = "llama.cpp"  # is compiled for this processor


def processor_flags():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def exceeds(peer):
    """Returns true if the peer may use newer instructions than headlight."""
    limit = os.environ.get("HEADLIGHT_CPU")
    return limit in NEWER and peer.startswith((UNLIMITED, NATIVE)) and bool(NEWER[limit] & processor_flags())


def limit_peers(*peers):
    """Sets the variables for this process and the workers that it starts. Must be called before a peer is imported. Ends
    the program if a peer cannot be restricted, except ONNX Runtime, for which it prints a warning."""
    limit = os.environ.get("HEADLIGHT_CPU")
    if not limit or "--worker" in sys.argv:  # a worker inherits its parent's environment
        return
    script = Path(sys.argv[0]).stem
    if limit not in VALUES:
        sys.exit(f"{script}: HEADLIGHT_CPU may be {', '.join(VALUES)}, not {limit}")
    for peer in filter(exceeds, peers):
        if peer == NATIVE:
            sys.exit(f"{script}: {peer} is compiled for this processor and cannot be restricted to {limit}")
        print(f"{script}: warning: {peer} cannot be restricted to {limit}; only headlight is", file=sys.stderr)
    settings = dict(zip(VARIABLES, VALUES[limit]))
    os.environ.update(settings)
    print(f"HEADLIGHT_CPU={limit} restricts headlight; " + " ".join(map("=".join, settings.items())) +
          " restrict the peers", flush=True)
