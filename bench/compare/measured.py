"""Runs a command and measures it with `run`, for the comparisons in this folder.

This file is also the program that starts the command. The peak memory that the system reports for a process starts with
the memory of its parent process, which is large if Python has loaded PyTorch.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(command):
    """Returns the command's output, its seconds and its peak memory in MB."""
    command = list(map(str, command))
    with tempfile.NamedTemporaryFile() as measures:
        finished = subprocess.run([sys.executable, "-S", __file__, measures.name, *command], stdout=subprocess.PIPE)
        if finished.returncode != 0:
            sys.exit(f"{Path(sys.argv[0]).stem}: exit code {finished.returncode} of {' '.join(command)}")
        seconds, bytes_held = json.load(measures)
    return finished.stdout.decode(), seconds, bytes_held / 1e6


if __name__ == "__main__":
    began = time.perf_counter()
    process = subprocess.Popen(sys.argv[2:])
    _, status, usage = os.wait4(process.pid, 0)
    with open(sys.argv[1], "w") as file:
        json.dump([time.perf_counter() - began, usage.ru_maxrss * 1024], file)
    sys.exit(os.waitstatus_to_exitcode(status))
