#!/usr/bin/env python3
"""Checks that commit subjects read `area: verb object` in at most 72 characters.

    tools/check_commit_subjects.py              checks the commits since the rule was introduced
    tools/check_commit_subjects.py RANGE        checks the commits that `git log RANGE` lists
"""

import re
import subprocess
import sys

SINCE = "2026-11-28T14:40:00+00:00"
LONGEST = 72
AREA = r"[a-z][a-z0-9_./-]*(?:, [a-z][a-z0-9_./-]*)*"
# Matches subjects that do not begin with an imperative verb: the first word begins a noun phrase, or is a past tense or
# an -ing form.
NOT_A_VERB = r"(?:the|a|an|no|some|more|new|its|this)\b|\w+(?:ing|ed)\b"
EXCEPTIONS = {"embed", "feed", "need", "seed", "speed", "shed", "bring", "string"}


def fault(subject):
    if subject.startswith(("Merge ", "Revert ")):
        return None
    if len(subject) > LONGEST:
        return f"{len(subject)} characters; at most {LONGEST} are allowed"
    found = re.fullmatch(rf"({AREA}): (\S.*)", subject)
    if not found:
        return "expected `area: verb object`, such as `generate: let sequences join a running batch`"
    action = found.group(2)
    if action[0].isupper() and not action.split()[0].isupper():
        return "the verb after the area is in lower case"
    if re.match(NOT_A_VERB, action) and action.split()[0] not in EXCEPTIONS:
        return "the area is followed by a verb in the imperative"
    if action.endswith("."):
        return "a subject ends without a full stop"
    return None


def main():
    wanted = sys.argv[1:] or [f"--since={SINCE}"]
    log = subprocess.run(["git", "log", "--no-merges", "--format=%h %s", *wanted], check=True, capture_output=True, text=True)
    faults = 0
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        reason = fault(subject)
        if reason:
            faults += 1
            print(f"{commit}: {subject}\n  {reason}", file=sys.stderr)
    print(f"{len(log.stdout.splitlines())} commit subjects, {faults} with a fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
