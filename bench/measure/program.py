"""The programs of bench/compare and bench/micro: building, running, and reading the lines that they print."""

import os
import pathlib
import subprocess

from bench.figures import CannotMeasure
from bench.settings import ROOT

DROP_CACHES = pathlib.Path("/proc/sys/vm/drop_caches")


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


def empty_page_cache():
    """Has the system give up what it keeps of files, if we may: when its memory is full, each page that is written costs the
    search for one to give up, which has nothing to do with what is measured."""
    os.sync()
    try:
        DROP_CACHES.write_text("1")
    except OSError:
        print("# the page cache was not emptied: that needs root", flush=True)


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
