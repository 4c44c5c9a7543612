"""Trains a configuration as one process of N threads and as N ranks of one thread, in alternating runs. Checks that
both give bit-identical results. Prints the speeds, and the share of the communication that is hidden behind
computation.

With --pytorch, the same model is also trained by PyTorch's DistributedDataParallel over gloo, as N ranks of one thread
and as one process, in batches with the same number of tokens. With --rate or --delay, each rank has its own host. The
hosts are network namespaces, connected by a bridge with this rate and delay (needs root and iproute2). If the kernel
has no netem, a separate process delays the frames (delayed_network.py).
"""

import argparse
import contextlib
import gzip
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

import headlight_training
from measured import run

WORKER = Path(__file__).with_name("torch_worker.py")
RELAY = Path(__file__).with_name("delayed_network.py")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    headlight_training.add_arguments(parser)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--more", nargs="*", default=[], help="further options of the ranks, without their dashes: shard-optimizer, gradient-type=bfloat16")
    parser.add_argument("--pytorch", action="store_true", help="also by DistributedDataParallel; needs torch and tokenizers")
    parser.add_argument("--rate", help="of each host's network, such as 1gbit")
    parser.add_argument("--delay", help="of a message between two hosts, such as 1ms")
    return headlight_training.parsed(parser)


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


def number(text, units):
    """Parses "1gbit" or "0.1ms", in the notation of tc."""
    amount, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    return float(amount) * units[unit]


def relay(options, names):
    """Starts the process that connects the hosts if the kernel has no netem."""
    delay = number(options.delay, {"s": 1, "ms": 1e-3, "us": 1e-6})
    rate = number(options.rate, {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}) if options.rate else 0
    process = subprocess.Popen([sys.executable, RELAY, str(delay), str(rate), *names], stdout=subprocess.PIPE)
    if not process.stdout.readline():
        sys.exit("ranks: the kernel has no netem, and the hosts cannot be joined by a process either")
    return process


@contextlib.contextmanager
def hosts(options, work):
    """Yields the beginning of a command that runs on all ranks. If a rate or a delay is given, each rank runs on its
    own host."""
    start = ["mpirun", "--quiet", "--bind-to", "none", "-n", options.ranks]
    if not options.rate and not options.delay:
        yield start
        return
    names = [f"headlight-bench-{rank}" for rank in range(options.ranks)]
    addresses = [f"10.203.78.{rank + 1}" for rank in range(options.ranks)]
    joining = None
    try:
        ip("netns", "add", "headlight-bench-net")
        ip("-n", "headlight-bench-net", "link", "add", "bridge", "up", "type", "bridge")
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        shaped = ["netem", "delay", options.delay, *(["rate", options.rate] if options.rate else [])]
        if not options.delay:  # netem is only needed for delays
            shaped = ["tbf", "rate", options.rate, "burst", "1mb", "latency", "50ms"]
        elif subprocess.run(["tc", "-n", "headlight-bench-net", "qdisc", "add", "dev", "lo", "root", *shaped],
                            stderr=subprocess.DEVNULL, check=False).returncode != 0:
            joining = relay(options, names)
        for rank, (name, address) in enumerate(zip(names, addresses)):
            if not joining:
                ip("-n", name, "link", "add", "hl0", "type", "veth",
                   "peer", "name", f"to{rank}", "netns", "headlight-bench-net")
                ip("-n", "headlight-bench-net", "link", "set", f"to{rank}", "master", "bridge", "up")
                ip("-n", name, "link", "set", "hl0", "up")
                subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "hl0", "root", *shaped], check=True)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "hl0")
        agent = Path(work) / "agent"
        spaces = "".join(f"{address}) space={name} ;;\n" for name, address in zip(names, addresses))
        agent.write_text(f"#!/bin/sh\ncase $1 in\n{spaces}esac\nshift\n"
                         'exec ip netns exec $space unshare --uts sh -c "hostname $space; exec $*"\n')
        agent.chmod(0o755)
        yield ["ip", "netns", "exec", names[0], *start, "--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", "hl0",
               "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "hl0", "--map-by", "node", "--host", ",".join(addresses)]
    finally:
        if joining:
            joining.kill()
        for name in [*names, "headlight-bench-net"]:
            subprocess.run(["ip", "netns", "del", name], check=False)


def train(options, folder, start, threads, more):
    """Returns target tokens per second."""
    return headlight_training.train(options, folder, threads, start, ["--accumulation", options.accumulation, *more])[0]


def hidden(options, folder, start):
    """Returns rank 0's report on its communication."""
    command = [*start, headlight_training.HEADLIGHT, "train", "translation", "--out", folder, "--profile", "--steps", 30, "--threads", 1,
               "--train", f"{options.data}/train.de.gz", f"{options.data}/train.en.gz",
               "--valid", f"{options.data}/val.de.gz", f"{options.data}/val.en.gz", "--validate-every", 30,
               "--layers", options.layers, "--model-dim", options.model, "--heads", options.heads, "--ffn-dim", options.ffn,
               "--vocabulary-size", options.vocabulary, "--batch-tokens", options.batch_tokens,
               "--accumulation", options.accumulation, "--compute", options.compute, *[f"--{name}" for name in options.more]]
    printed = subprocess.run(list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=True).stderr.decode()
    return re.search(r"\d+ ranks; in each step.*", printed).group()


class PyTorch:
    def __init__(self, options, work):
        from tokenizers import Tokenizer

        folder = Path(work) / "for-pytorch"
        train(options, folder, [], options.ranks, [])
        config = json.loads((folder / "config.json").read_text())
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        sides = []
        for language in ("de", "en"):
            with gzip.open(f"{options.data}/train.{language}.gz", "rt", encoding="utf-8") as file:
                lines = [line.rstrip("\n") for line in file]
            sides.append([encoding.ids + [config["eos_token_id"]] for encoding in tokenizer.encode_batch(lines, add_special_tokens=False)])
        (Path(work) / "pairs.json").write_text(json.dumps(list(zip(*sides))))
        self.work = work
        self.job = {"shape": {"vocabulary": config["vocab_size"], "layers": options.layers, "model": options.model,
                              "heads": options.heads, "ffn": options.ffn},
                    "pairs": str(Path(work) / "pairs.json"), "seed": 1, "dropout": 0.1, "label_smoothing": 0.1,
                    "start": config["decoder_start_token_id"], "padding": config["pad_token_id"],
                    "warmup_steps": options.warmup_steps, "steps": options.steps, "compile": False,
                    "bfloat16": options.compute == "bfloat16"}

    def train(self, options, ranks, accumulation=1):
        """Returns target tokens per second of all ranks. A step of all ranks together has as many tokens as a step of
        headlight."""
        path = Path(self.work) / "job.json"
        path.write_text(json.dumps({**self.job, "threads": options.ranks // ranks, "accumulation": accumulation,
                                    "batch_tokens": options.batch_tokens // (ranks * accumulation)}))
        if ranks == 1:
            return json.loads(run([sys.executable, WORKER, path])[0])["tokens_per_second"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        workers = [subprocess.Popen([sys.executable, WORKER, path], stdout=subprocess.PIPE,
                                    env=os.environ | {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                                                      "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"})
                   for rank in range(ranks)]
        outputs = [worker.communicate()[0] for worker in workers]
        if any(worker.returncode != 0 for worker in workers):
            sys.exit("ranks: a rank of PyTorch failed")
        return json.loads(outputs[0])["tokens_per_second"]


def main():
    options = arguments()
    if os.geteuid() == 0:  # for runs as root, such as in a container
        os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    alone, ranks = f"1 process of {options.ranks} threads", f"{options.ranks} ranks of 1 thread"
    rates = {alone: [], ranks: []}
    more = [f"--{name}" for name in options.more]
    # The gradient type is set for both sides, because it changes the results.
    of_both = [option for option in more if option.startswith("--gradient-type")]
    with tempfile.TemporaryDirectory() as work, hosts(options, work) as start:
        peer = PyTorch(options, work) if options.pytorch else None
        for repeat in range(options.repeats):
            folders = [Path(work) / f"{repeat}-{name}" for name in ("alone", "ranks")]
            rates[alone].append(train(options, folders[0], [], options.ranks, of_both))
            rates[ranks].append(train(options, folders[1], start, 1, more))
            weights = [(folder / "last/model.safetensors").read_bytes() for folder in folders]
            if weights[0] != weights[1]:
                sys.exit("ranks: the two trainings end with different weights")
            if peer:
                # The single process also runs with batches as small as the ranks' batches. The faster setting is used.
                whole, parts = peer.train(options, 1), peer.train(options, 1, options.ranks)
                rates.setdefault(f"PyTorch, {alone}", []).append(max(whole, parts))
                rates.setdefault(f"PyTorch, {ranks}", []).append(peer.train(options, options.ranks))
                print(f"PyTorch's process: {whole:.0f} tokens/s in whole steps, {parts:.0f} in batches of the ranks' size", flush=True)
        sending = hidden(options, Path(work) / "profiled", start)
    print(f"{options.repeats} turns of {options.steps} steps after {options.warmup_steps}, medians; the same weights at the end")
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, found in rates.items():
        print(f"{name:34} {medians[name]:9.0f} target tokens/s ({min(found):.0f} to {max(found):.0f})")
    print(f"{'ranks over the process':34} {medians[ranks] / medians[alone]:9.3f}")
    for name in (alone, ranks) if peer else ():
        print(f"{'over PyTorch, ' + name:34} {medians[name] / medians[f'PyTorch, {name}']:9.3f}")
    print(sending)


if __name__ == "__main__":
    main()
