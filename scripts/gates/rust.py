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
# Clippy is the compiler: it lints what it compiles, so that lints cost no second pass over all packages. Cargo keeps what it
# makes apart from what `cargo test` by hand makes.
os.environ["RUSTC_WORKSPACE_WRAPPER"] = "clippy-driver"

# The server that the tests of clients, examples and browsers run: built with the tests, in their profile.
ROOKERY = TARGET / "debug" / "rookery"

# Who tests the tests: bugs that are planted in the engine, and must be found. It has all features of the engine that the workspace does
# not turn on, so that they are linted too.
PLANTED = ["--package", "rookery-storage", "--features", "planted-bugs,counters", "--test", "planted"]
# The test programs that `build` made: (name, program, folder of its package, name of its package).
programs = []
# Characters of a line of a failure that are repeated at the end of the output.
FAILURE_SHOWN = 500


def build(runner):
    """Every test program and the server, without a warning of the compiler or of clippy. The server has the studio if its files are there
    (without Node.js they are not)."""
    features = ["--features", "rookery-cli/studio"] if (ROOT / "studio" / "dist" / "assets").exists() else []
    command = ["cargo", "test", "--workspace", *features, "--no-run", "--locked"]
    found = []
    lints = Lints()

    def watch(line):
        if not line.startswith("{"):
            return lints.watch(line)
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            package = pathlib.Path(message["manifest_path"]).parent
            crate = re.search(r"#([^@]+)@", message["package_id"])
            name = f"{package.name} {pathlib.Path(message['target']['src_path']).relative_to(package)}"
            found.append((name, message["executable"], package, crate.group(1) if crate else package.name))
        return HIDDEN

    code = runner.stream([*command, "--message-format=json-render-diagnostics"], watch)
    programs[:] = sorted(found)
    return counting.total((1, 0) if code == 0 and programs else (0, 1), lints.counts())


class Lints:
    """Looks for warnings in what cargo prints. It repeats those of packages that it finds compiled."""

    def __init__(self):
        self.warning_count = 0

    def watch(self, line):
        self.warning_count += line.startswith("warning: ")

    def counts(self):
        return (1, 0) if self.warning_count == 0 else (0, 1)


def tests(runner):
    """Runs what `build` made, and the examples in the documentation of the crates."""
    counts = [(0, 1)] if not programs else []
    for name, program, folder, package in programs:
        runner.say(f"-- {name}")
        # As cargo sets them: a randomised test prints how it is repeated; property tests have one seed (.cargo/config.toml).
        counts.append(run(runner, [program], folder, CARGO_PKG_NAME=package, PROPTEST_RNG_SEED="1"))
    counts.append(run(runner, ["cargo", "test", "--workspace", "--doc", "--locked"], ROOT, is_timed=False))
    return counting.total(*counts)


def run(runner, command, folder, is_timed=True, **environment):
    """(passed, failed) of test programs: the sum of their `test result:` lines; one failure if they failed without a line.

    * `folder`: where they run, as under cargo that of their package.
    * `is_timed`: the command is a test program itself, which is asked how long each test took.
    """
    passed = failed = 0
    results = 0
    is_message = False

    def watch(line):
        nonlocal passed, failed, results, is_message
        result = re.match(r"test result: \w+\. (\d+) passed; (\d+) failed;", line)
        if result:
            results += 1
            passed += int(result.group(1))
            failed += int(result.group(2))
        timed = re.match(r"test (.*) \.\.\. \w+ <(\d+\.\d+)s>$", line)
        if timed:
            counting.times.append((float(timed.group(2)), runner.name, timed.group(1)))
        # A panic's first line says which test and where, the next why.
        if is_message or re.match(r"test .* \.\.\. FAILED|thread '.*' .*panicked at ", line):
            counting.failures.append((runner.name, line[:FAILURE_SHOWN]))
            is_message = line.startswith("thread ")

    # The test harness gives times only to who asks for unstable options; the variable permits them for this run alone.
    environment |= {"RUSTC_BOOTSTRAP": "1"} if is_timed else {}
    options = ["-Z", "unstable-options", "--report-time"] if is_timed else []
    code = runner.stream([*command, *options], watch, cwd=folder, **environment)
    if (code != 0 or results == 0) and failed == 0:
        failed += 1
    return passed, failed


def packages(runner):
    """Packages of the crates that are published: all but those of the server and of tests. They are not built anew from them."""
    others = ["rookery-cli", "rookery-server", "rookery-testing", "rookery-fuzzing"]
    excluded = [word for name in others for word in ("--exclude", name)]
    options = ["--no-verify", "--allow-dirty", "--locked"]
    return counting.command(runner, ["cargo", "package", "--workspace", *excluded, *options])
