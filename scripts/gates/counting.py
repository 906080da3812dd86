"""What the commands of a gate passed and failed: (passed, failed) from their output, and how long each test took."""

import re

# (seconds, gate, test) of every test that says how long it took.
times = []
# (gate, line) of every test that failed, its name and then the first lines of its reason, for the end of the output: the middle of a
# long log is easily lost.
failures = []
# Lines of a reason that are kept.
REASON_LINES = 12


def total(*counts):
    """The sum of several counts."""
    return tuple(map(sum, zip(*counts)))


def command(runner, words, **environment):
    """A command that passes or fails as a whole."""
    return (1, 0) if runner.stream(words, **environment) == 0 else (0, 1)


def closing_total(runner, *words):
    """A command that counts by itself: its closing `N passed, M failed`. None if it prints a line that begins with `SKIPPED` and succeeds."""
    totals = []
    is_skipped = False
    # Lines that may still belong to the reason of a failure.
    reason_lines = 0

    def watch(line):
        nonlocal is_skipped, reason_lines
        found = re.fullmatch(r"(\d+) passed, (\d+) failed", line)
        if found:
            totals.append((int(found.group(1)), int(found.group(2))))
        found = re.fullmatch(r"(?:ok|FAILED) +(.*) \((\d+) ms\)", line)
        if found:
            times.append((int(found.group(2)) / 1000, runner.name, found.group(1)))
            reason_lines = 0
        if line.startswith("FAILED "):
            failures.append((runner.name, line.removeprefix("FAILED ").strip()))
            reason_lines = REASON_LINES
        elif reason_lines > 0 and line.strip():
            failures.append((runner.name, f"    {line}"))
            reason_lines -= 1
        is_skipped |= line.startswith("SKIPPED")

    code = runner.stream(words, watch)
    if is_skipped and code == 0 and not totals:
        return None
    passed, failed = totals[-1] if totals else (0, 0)
    # Where nothing ran nothing was proved.
    if (code != 0 or passed + failed == 0) and failed == 0:
        failed += 1
    return passed, failed
