#!/usr/bin/env python3
"""Runs the commands of a documentation page in order, on small models and data in place of those that the page names.

    run_commands.py --make STAGE BUILD     makes the models and data in the folder STAGE, with the programs in BUILD
    run_commands.py PAGE STAGE BUILD       runs the commands of PAGE in a copy of STAGE

Trainings stop after two steps, and generators make a few examples. A command fails the test if its exit code is not 0.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = re.compile(r"(\$ )?(headlight |build/release/|tools/|(echo|printf|cat|paste|jq|cut|head|mkdir|for|mpirun|srun) [^(])")
# Commands that a test cannot run, and why.
SKIPPED = {
    r"headlight pull": "needs the network",
    r"\.\.\.|ORG/NAME": "is incomplete",
    r"sbatch|srun|mpirun|cat hosts": "needs a cluster or MPI",
    r"tools/|\bsets/|finetuning_ptm": "needs a published model or data set",
    r"build/release/bench_": "is a benchmark",
}
# Parts of commands that do not fit the small models and data, and what they are replaced by.
REPLACED = {
    r"--layer \d+": "--layer 1",
    r"--patch \d+:\d+": "--patch 1:1",
    r"--keep-rows \d+": "--keep-rows 1",
    r"--validate-split 0\.\d+": "--validate-split 0.5",
    r"--knn \d+": "--knn 2",
    r"look detr --image easy/valid/\d+.png": "look detr --threshold 0 --image easy/valid/1.png",
    r"an armchair in the shape of an avocado": "a",
}
# Pages use a name such as train.tsv for data of several kinds, or model for several models. Before a command that
# matches, the files of the stage's folder `kinds` are copied to the page's folder.
KINDS = {
    r"train classification|evaluate (bert-sentiment|classifier)|check reviews": "labels",
    r"source-column de": "languages",
    r"train question-answering": "questions",
    r"train captions|contrastive --train pairs": "captions",
    r"contrastive --train questions": "texts",
    r"train image-text-pretraining": "regions",
    r"train folding|evaluate model valid.tsv": "structures",
    r"evaluate vit t10k": "digits",
    r"evaluate vit photos": "animals",
    r"evaluate untrained test": "classes",
    r"(image-codes|text-to-image) --train scenes/train": "drawings",
    r"train seq2seq --train train.jsonl": "pairs",
    r"(fold|look) model --(sequence|file)": "folding",
}
MOST_EXAMPLES = 24  # of a generator
COMMAND_SECONDS = 120


def commands_of(page):
    """Returns the shell commands in a page's code, each with its continuation lines."""
    commands, language, fence = [], None, False
    for line in page.read_text().split("\n"):
        if line.startswith("```"):
            fence = not fence
            language = line[3:].split(" ")[0] if fence else None
            continue
        if not (language in ("", "sh") if fence else line.startswith("    ")):
            continue
        line = line.strip()
        joins = commands and (commands[-1].endswith("\\") or
                              (commands[-1].startswith("for ") and not re.search(r"(^|;|\n)\s*done$", commands[-1])))
        if joins:
            commands[-1] += "\n" + line
        elif COMMANDS.match(line):
            commands.append(line.removeprefix("$ "))
    return commands


def bounded(arguments):
    """Returns the arguments of headlight with which a training ends after two steps and replaces its folder."""
    if arguments[:1] != ["train"] or arguments[1:2] == ["tokenizer"]:
        return arguments
    kept, i = [], 0
    while i < len(arguments):
        if arguments[i] in ("--steps", "--epochs", "--minutes", "--warmup", "--teacher-warmup"):
            i += 2
            continue
        if arguments[i] == "--out" and "--resume" not in arguments:
            remove(Path(arguments[i + 1]))
        kept.append(arguments[i])
        i += 1
    return kept + ["--steps", "2"]


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run_bounded(build, name, arguments):
    """Replaces this process by the program, called with bounded arguments."""
    if name == "headlight":
        arguments = bounded(arguments)
        if "--threads" not in arguments and arguments[:1] != ["help"]:
            arguments += ["--threads", "1"]
    elif len(arguments) > 1:
        arguments = [min(argument, str(MOST_EXAMPLES), key=int) if argument.isdigit() and i == first_number(arguments)
                     else argument for i, argument in enumerate(arguments)]
    program = str(Path(build) / name)
    os.execv(program, [program, *arguments])


def first_number(arguments):
    return next((i for i, argument in enumerate(arguments) if argument.isdigit()), None)


def write_wrappers(folder, build):
    """Writes programs that call run_bounded: headlight, and the documentation's examples in build/release."""
    for path in (folder / "bin", folder / "build" / "release"):
        path.mkdir(parents=True, exist_ok=True)
        for program in ["headlight", *(file.name for file in Path(build).glob("example_*") if file.is_file())]:
            wrapper = path / program
            wrapper.write_text(f"#!/bin/sh\nexec {sys.executable} {__file__} --bounded {build} {program} \"$@\"\n")
            wrapper.chmod(0o755)


def has_bfloat16():
    """Returns true if the processor has AVX-512 BF16, and the environment allows it."""
    return "HEADLIGHT_CPU" not in os.environ and "avx512_bf16" in Path("/proc/cpuinfo").read_text().split()


def link_if_large(source, target):
    """Copies a small file. Links a large one: these are weights, which programs replace and do not change."""
    (os.link if os.path.getsize(source) > 100_000 else shutil.copy2)(source, target)


def run_page(page, stage, build):
    commands = commands_of(page)
    replaced = REPLACED | ({} if has_bfloat16() else {r"--compute bfloat16": "--compute float32"})
    failed = ran = 0
    with tempfile.TemporaryDirectory(dir=stage.parent) as temporary:
        folder = Path(temporary) / "page"
        shutil.copytree(stage, folder, copy_function=link_if_large)
        write_wrappers(folder, build)
        path = f"{folder}/bin:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "HOME": temporary, "HF_HUB_OFFLINE": "1"}
        for command in commands:
            reason = next((why for pattern, why in SKIPPED.items() if re.search(pattern, command)), None)
            if reason:
                print(f"skipped, it {reason}: {command}")
                continue
            ran += 1
            for pattern, text in replaced.items():
                command = re.sub(pattern, text, command)
            for kind in (kind for pattern, kind in KINDS.items() if re.search(pattern, command)):
                for path in (folder / "kinds" / kind).iterdir():
                    remove(folder / path.name)
                    (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
            result = subprocess.run(
                ["timeout", str(COMMAND_SECONDS), "bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment,
                text=True, stdin=subprocess.DEVNULL, capture_output=True)
            if result.returncode != 0:
                failed += 1
                print(f"FAILED with exit code {result.returncode}: {command}\n{result.stderr[-1500:]}\n")
    print(f"{page.relative_to(ROOT)}: {ran} of {len(commands)} commands ran, {failed} failed")
    return failed == 0 and len(commands) > 0


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "--bounded":
        run_bounded(sys.argv[2], sys.argv[3], sys.argv[4:])
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    first, stage, build = sys.argv[1:]
    if first == "--make":
        sys.dont_write_bytecode = True
        import stand_ins

        stand_ins.make(Path(stage).resolve(), Path(build).resolve())
    elif not run_page((ROOT / first).resolve(), Path(stage).resolve(), Path(build).resolve()):
        sys.exit(1)


if __name__ == "__main__":
    main()
