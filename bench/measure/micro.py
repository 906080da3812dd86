"""Rows m and bulk: the programs of bench/micro."""

import tempfile

from bench.measure.program import cargo, empty_page_cache, lines, read

OPERATIONS = 1_000_000
# Rounds take some milliseconds, so there are more of them than repetitions elsewhere.
ROUNDS_MIN = 9
GROWN_TO = 5_000_000
COMPARED = 50_000


def measure(bars, settings, figures):
    program = cargo("micro", settings.target / "micro", []) / "micro"
    rounds = max(settings.reps, 1 if settings.quick else ROUNDS_MIN)
    effort = ["--rounds", rounds, "--operations", settings.count(OPERATIONS)]
    read(lines([program, *dict.fromkeys(bar.step for bar in bars), *effort]), figures)


def measure_bulk(bars, settings, figures):
    steps = {bar.step for bar in bars}
    settings.work.mkdir(parents=True, exist_ok=True)
    if "compares" in steps:
        # Always of this size: what is counted is the same each time.
        target = settings.target / "micro"
        program = cargo("micro", target, ["--bin", "bulk", "--features", "counters"]) / "bulk"
        insert([program, "compares"], COMPARED, settings, figures)
    if "growth" in steps:
        program = cargo("micro", settings.target / "micro", ["--bin", "bulk"]) / "bulk"
        for _ in range(settings.reps):
            empty_page_cache()
            insert([program, "growth"], settings.count(GROWN_TO), settings, figures)


def insert(command, count, settings, figures):
    with tempfile.TemporaryDirectory(dir=settings.work) as folder:
        read(lines([*command, folder, "--documents", count]), figures)
