"""The Rust gates: one build of all tests and of the program, then the test programs one after another."""

import json
import os
import pathlib
import re

from gates import counting
from gates.process import HIDDEN, ROOT

# From nothing, which is how it runs where it counts, incremental compilation only costs time and disk.
os.environ.setdefault("CARGO_INCREMENTAL", "0")

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
# The server that the tests of clients, examples and browsers run: built with the tests, in their profile.
ROOKERY = TARGET / "debug" / "rookery"

# Who tests the tests: bugs that are planted in the engine, and must be found.
PLANTED = ["--package", "rookery-storage", "--features", "planted-bugs", "--test", "planted"]
# The features of the engine that only tests and benchmarks build.
ENGINE = ["--package", "rookery-storage", "--features", "planted-bugs,counters", "--all-targets"]

# The test programs that `build` made: (name, program, folder of its package, name of its package).
programs = []


def lints(runner):
    """Clippy of everything, and of the engine with the features that the workspace does not turn on."""
    return counting.total(
        counting.command(runner, ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
        counting.command(runner, ["cargo", "clippy", *ENGINE, "--locked", "--", "-D", "warnings"]),
    )


def build(runner):
    """Every test program and the server, which has the studio if its files are there (without Node.js they are not)."""
    features = ["--features", "rookery-cli/studio"] if (ROOT / "studio" / "dist" / "index.html").exists() else []
    command = ["cargo", "test", "--workspace", *features, "--no-run", "--locked"]
    found = []

    def watch(line):
        if not line.startswith("{"):
            return None
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            package = pathlib.Path(message["manifest_path"]).parent
            crate = re.search(r"#([^@]+)@", message["package_id"])
            name = f"{package.name} {pathlib.Path(message['target']['src_path']).relative_to(package)}"
            found.append((name, message["executable"], package, crate.group(1) if crate else package.name))
        return HIDDEN

    code = runner.stream([*command, "--message-format=json-render-diagnostics"], watch)
    programs[:] = sorted(found)
    return (1, 0) if code == 0 and programs else (0, 1)


def tests(runner):
    """Runs what `build` made, the examples in the documentation, and the tests with planted bugs."""
    counts = [(0, 1)] if not programs else []
    for name, program, folder, package in programs:
        runner.say(f"-- {name}")
        # As cargo sets them: a randomised test prints how it is repeated; property tests have one seed (.cargo/config.toml).
        counts.append(run(runner, [program], folder, CARGO_PKG_NAME=package, PROPTEST_RNG_SEED="1"))
    counts.append(run(runner, ["cargo", "test", "--workspace", "--doc", "--locked"], ROOT, is_timed=False))
    planted = run(runner, ["cargo", "test", *PLANTED, "--locked"], ROOT, is_timed=False)
    counts.append(planted if sum(planted) > 0 else (0, 1))
    return counting.total(*counts)


def run(runner, command, folder, is_timed=True, **environment):
    """(passed, failed) of test programs: the sum of their `test result:` lines; one failure if they failed without a line.

    * `folder`: where they run, as under cargo that of their package.
    * `is_timed`: the command is a test program itself, which is asked how long each test took.
    """
    passed = failed = 0
    results = 0

    def watch(line):
        nonlocal passed, failed, results
        result = re.match(r"test result: \w+\. (\d+) passed; (\d+) failed;", line)
        if result:
            results += 1
            passed += int(result.group(1))
            failed += int(result.group(2))
        timed = re.match(r"test (.*) \.\.\. \w+ <(\d+\.\d+)s>$", line)
        if timed:
            counting.times.append((float(timed.group(2)), runner.name, timed.group(1)))

    # The test harness gives times only to who asks for unstable options; the variable permits them for this run alone.
    environment |= {"RUSTC_BOOTSTRAP": "1"} if is_timed else {}
    options = ["-Z", "unstable-options", "--report-time"] if is_timed else []
    code = runner.stream([*command, *options], watch, cwd=folder, **environment)
    if (code != 0 or results == 0) and failed == 0:
        failed += 1
    return passed, failed


def documentation(runner):
    """The documentation of all items, private ones too, without a dead link."""
    command = ["cargo", "doc", "--workspace", "--no-deps", "--document-private-items", "--locked"]
    return counting.command(runner, command, RUSTDOCFLAGS="-D warnings")
