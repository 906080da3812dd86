"""The programs of bench/compare and bench/micro: building, running, and reading the lines that they print."""

import os
import subprocess

from bench.figures import CannotMeasure
from bench.settings import ROOT


def cargo(name, target, arguments):
    """Builds the crate `name` of bench/; gives the folder of its programs."""
    manifest = ROOT / "bench" / name / "Cargo.toml"
    run(["cargo", "build", "--release", "--manifest-path", manifest, "--target-dir", target, *arguments])
    return target / "release"


def run(command):
    if subprocess.run([str(word) for word in command]).returncode != 0:
        raise CannotMeasure(f"failed: {named(command)}")


def lines(command):
    """What a program prints, line by line."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise CannotMeasure(f"failed: {named(command)}")
    return done.stdout.splitlines()


def named(command):
    return " ".join([os.path.basename(str(command[0])), *map(str, command[1:3])])


def read(printed, figures):
    """Takes lines of `who, repetition, figure, value, unit, load`, with tabs between them; shows those that begin with `#`."""
    for line in printed:
        fields = line.split("\t")
        if line.startswith("#"):
            print(line, flush=True)
        elif len(fields) == 6:
            figures.add(fields[0], fields[2], float(fields[3]))
