"""Rows of the server: starts ours and the reference, runs the phases of bench/http against both in turn."""

import shutil
import subprocess

from bench.bars import OURS, POSTGRES, REFERENCE
from bench.figures import CannotMeasure
from bench.http.phases import Run
from bench.http.postgres import Postgres
from bench.http.server import Server
from bench.settings import ROOT


def measure(bars, settings, figures):
    steps = list(dict.fromkeys(bar.step for bar in bars if not bar.not_yet))
    if not steps:
        return
    if subprocess.run([ROOT / "scripts" / "need", "wrk"]).returncode != 0:
        raise CannotMeasure("needs wrk")
    settings.work.mkdir(parents=True, exist_ok=True)
    program = build(settings)
    ours = f"{program} serve --ServerUrl=http://127.0.0.1:{{port}} --DataDir={{data}}"
    servers = [Server(OURS, ours, settings.work)]
    if settings.reference:
        # The reference first: ours takes its turn when the caches are as warm as they get.
        servers.insert(0, Server(REFERENCE, settings.reference, settings.work))
    else:
        figures.lacks(REFERENCE, "no reference given", "http")
    postgres = None
    try:
        if any(bar.peer == POSTGRES for bar in bars):
            postgres = start_postgres(settings, figures)
        Run(servers, steps, settings, figures, program, postgres).all()
    finally:
        if postgres:
            postgres.forget()
        for server in servers:
            server.forget()


def start_postgres(settings, figures):
    """PostgreSQL with nothing in it, if it is installed."""
    postgres = None
    try:
        postgres = Postgres(settings.work)
        postgres.start()
        return postgres
    except CannotMeasure as why:
        if postgres:
            postgres.forget()
        figures.lacks(POSTGRES, str(why), "http")
        print(f"PostgreSQL: {why}")
        return None


def build(settings):
    """The program to measure: the one that `ROOKERY` names, or that of these sources."""
    if settings.binary:
        found = shutil.which(settings.binary)
        if not found:
            raise CannotMeasure(f"there is no program {settings.binary}")
        return found
    command = ["cargo", "build", "--release", "--locked", "--package", "rookery-cli"]
    if subprocess.run([*command, "--target-dir", settings.target], cwd=ROOT).returncode != 0:
        raise CannotMeasure("the server does not build")
    return settings.target / "release" / "rookery"
