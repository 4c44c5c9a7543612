"""Runs a command and writes, to the file named before it, the seconds it took and the most memory it held, in bytes.

A program of its own, since the peak that the system reports of a process begins with that of whoever started it, which
is much where Python has loaded PyTorch.
"""

import json
import os
import subprocess
import sys
import time

began = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump({"seconds": time.perf_counter() - began, "peak_memory": usage.ru_maxrss * 1024}, file)
sys.exit(os.waitstatus_to_exitcode(status))
