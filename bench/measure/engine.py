"""Bars a to j: drives `kv` of bench/compare with the workloads and peers that the bars need, and no others."""

import os
import subprocess
import tempfile

from bench.bars import OURS
from bench.measure.program import cargo, lines, read, run

# Engines that build from their crates alone.
BUILT_IN = ["lmdb", "redb", "fjall", "sqlite"]
# One child process of `kv` may take so long.
CHILD_SECONDS_MAX = 900


def measure(bars, settings, figures):
    peers_of_build = BUILT_IN + [peer for peer in settings.more_peers if peer not in BUILT_IN]
    if has_rocksdb() and "rocksdb" not in peers_of_build:
        peers_of_build.append("rocksdb")
    for bar in bars:
        if bar.peer not in (None, OURS, *peers_of_build):
            needs = "needs librocksdb-dev" if bar.peer == "rocksdb" else f"{bar.peer} is not in this build"
            figures.lacks(bar.peer, needs, "engine")
    kv = build(peers_of_build, settings)
    settings.results.mkdir(parents=True, exist_ok=True)
    out = settings.results / "engine.tsv"
    out.unlink(missing_ok=True)
    settings.work.mkdir(parents=True, exist_ok=True)
    for step, engines, parts in plan(bars, peers_of_build, settings.more_peers):
        with tempfile.TemporaryDirectory(dir=settings.work) as folder:
            run([kv, *arguments(step, engines, parts, settings), "--dir", folder, "--out", out])
    read(out.read_text().splitlines() if out.exists() else [], figures)
    # All that was measured, also what no bar is about, as a table for BENCHMARKS.md.
    (settings.results / "engine.md").write_text("\n".join(lines([kv, "report", "--out", out])) + "\n")


def plan(bars, peers_of_build, more_peers):
    """(step, engines, parts) of what has to run, in the order of the table."""
    for step in dict.fromkeys(bar.step for bar in bars):
        here = [bar for bar in bars if bar.step == step]
        wanted = {bar.peer for bar in here} | set(more_peers)
        engines = [OURS] + [peer for peer in peers_of_build if peer in wanted]
        yield step, engines, list(dict.fromkeys(bar.part for bar in here if bar.part))


def arguments(step, engines, parts, settings):
    common = ["--engines", ",".join(engines), "--reps", str(settings.reps), "--scale", str(settings.scale)]
    if step == "duel":
        return ["duel", *common]
    return ["all", "--groups", step, "--parts", ",".join(parts), "--limit", str(CHILD_SECONDS_MAX), *common]


def has_rocksdb():
    """Whether a program can be linked with the system's RocksDB."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["cc", "-x", "c", "-", "-lrocksdb", "-o", os.path.join(folder, "probe")]
        try:
            return subprocess.run(command, input=b"int main(void){return 0;}", capture_output=True).returncode == 0
        except OSError:
            return False


def build(peers, settings):
    features = ["--bin", "kv", "--no-default-features", "--features", ",".join(["rookery", *peers])]
    return cargo("compare", settings.target / "compare", features) / "kv"
