"""The phases of a run against our server and the reference: repetitions take turns, and are done again when others were busy.

Figures are `{step} {what}`: `put-16 rate`, `load memory`; each phase runs only if a bar needs a step of it.
"""

import time

from bench.bars import OURS
from bench.figures import CannotMeasure
from bench.http import freshness, load
from bench.http.copies import Copies
from bench.http.indexing import Indexing
from bench.http.machine import Account, settle
from bench.http.secure import Secure

DOCUMENTS = 1_000_000
STREAMED = 500_000
BY_CLIENT = 100_000
# How a step's name asks wrk's script for more than a plain GET.
GET_WAYS = {"": {}, "-gzip": {"BENCH_GZIP": 1}, "-new": {"BENCH_CLOSE": 1}}


class Run:
    """`program`: the path of ours. `postgres`: takes its turn in some of the steps; `None`: it does not."""

    def __init__(self, servers, steps, settings, figures, program, postgres=None):
        self.servers, self.steps, self.settings, self.figures = servers, steps, settings, figures
        self.program, self.postgres = program, postgres

    def all(self):
        # What the last rows say is about the end of all that runs, so they come last.
        self.start()
        self.idle()
        self.writes("put", "put")
        self.writes("save", "batch")
        self.bulk()
        self.client()
        self.load_and_get()
        Indexing(self).all()
        self.fresh()
        self.end()
        self.reopen()
        Copies(self).all()
        Secure(self).all()

    def repeat(self, step, work, before=None, by_postgres=None, servers=None):
        """Measures a step on each server in turn; `work(server, tag)` gives its figures.

        `by_postgres`: kind and connections of what PostgreSQL does for it. `servers`: others than those of the run.
        """
        servers = servers or self.servers
        if self.postgres and by_postgres:
            servers = [self.postgres, *servers]
        for repetition in range(self.settings.reps):
            for server in servers:
                best, least = None, None
                for attempt in range(self.settings.tries):
                    if before:
                        before(server)
                    if self.settings.tries > 1:
                        settle(servers, self.settings.foreign_max)
                    account = Account(servers)
                    if server is self.postgres:
                        values = server.run(*by_postgres, self.settings.seconds)
                    else:
                        values = work(server, f"{repetition}.{attempt}")
                    foreign = account.foreign_cores()
                    if least is None or foreign < least:
                        best, least = values, foreign
                    if foreign <= self.settings.foreign_max:
                        break
                self.note(step, server, best, f"foreign {least:.2f}")

    def note(self, step, server, values, more=""):
        for what, value in values.items():
            self.figures.add(server.name, f"{step} {what}", value)
        shown = " ".join(f"{what} {value:.4g}" for what, value in values.items())
        print(f"{time.strftime('%H:%M:%S')} {step:12} {server.name:10} {shown} {more}", flush=True)

    def start(self):
        def again(server, _tag):
            return {"seconds": server.start()}

        if "start" in self.steps:
            self.repeat("start", again, before=lambda server: server.stop())
        for server in self.servers:
            if server.process is None:
                server.start()

    def idle(self):
        if "idle" in self.steps:
            time.sleep(10 if not self.settings.quick else 1)
            for server in self.servers:
                self.note("idle", server, {"memory": server.memory()[0]})

    def writes(self, phase, mode):
        """One new document for each request, as a PUT or as a batch of one command."""
        database = f"bench-{phase}"
        steps = [step for step in self.steps if step.startswith(f"{phase}-")]
        for server in self.servers if steps else []:
            server.create(database)
            self.wrk(server, "put.lua", 16, self.settings.warm_seconds, database, BENCH_RUN="warm", BENCH_MODE=mode)
        for step in steps:
            connections = int(step.split("-")[1])

            def put(server, tag):
                run = f"c{connections}r{tag}"
                return self.wrk(
                    server, "put.lua", connections, self.settings.seconds, database, BENCH_RUN=run, BENCH_MODE=mode
                )

            # A document in a batch of one command is no other row.
            self.repeat(step, put, by_postgres=("put", connections) if phase == "put" else None)

    def wrk(self, server, script, connections, seconds, database, **environment):
        return load.wrk(server, script, connections, seconds, BENCH_DB=database, **environment)

    def bulk(self):
        if "bulk" not in self.steps:
            return
        count = self.settings.count(STREAMED)
        body = load.stream(count)
        self.repeat(
            "bulk",
            lambda server, _tag: load.bulk_insert(server, "bench-bulk", count, body),
            before=lambda server: server.create("bench-bulk"),
        )
        self.check_count("bench-bulk", count)

    def client(self):
        if "client" not in self.steps:
            return
        folder = self.settings.work / "client"
        try:
            load.install_client(folder)
        except CannotMeasure as why:
            self.figures.lacks(OURS, str(why), "http-client")
            print(f"the Node.js client: {why}")
            return
        count = self.settings.count(BY_CLIENT)
        self.repeat(
            "client",
            lambda server, _tag: load.client_insert(server, "bench-client", count, folder),
            before=lambda server: server.create("bench-client"),
        )
        self.check_count("bench-client", count)

    def load_and_get(self):
        steps = [step for step in self.steps if step.startswith("get-")]
        if not steps and not {"load", "reopen", "end"} & set(self.steps):
            return
        count = self.settings.count(DOCUMENTS)
        body = load.stream(count)
        for server in self.servers:
            server.create("bench")
            load.bulk_insert(server, "bench", count, body)
            time.sleep(3 if not self.settings.quick else 0)
            memory, anonymous, _ = server.memory()
            self.note("load", server, {"memory": memory, "anonymous": anonymous, "disk": server.disk()})
        del body
        self.check_count("bench", count)
        if self.postgres and "get-16" in steps:
            self.postgres.fill(count)
            self.postgres.run("get", 16, self.settings.warm_seconds)
        for server in self.servers if steps else []:
            self.wrk(server, "get.lua", 16, self.settings.warm_seconds, "bench", BENCH_N=count, BENCH_SEED=99)
        for step in steps:
            _, connections, *way = step.split("-")
            more = GET_WAYS["".join(f"-{word}" for word in way)]

            def get(server, tag):
                seed = 1 + int(tag.split(".")[0])
                return self.wrk(
                    server, "get.lua", int(connections), self.settings.seconds, "bench", BENCH_N=count, BENCH_SEED=seed, **more
                )

            self.repeat(step, get, by_postgres=("get", 16) if step == "get-16" else None)

    def check_count(self, database, count):
        for server in self.servers:
            there = server.document_count(database)
            if there != count:
                raise CannotMeasure(f"{server.name} has {there} documents of {count}")

    def fresh(self):
        """Indexes beside writes; the writes once without indexes, for what these cost."""
        if "fresh" not in self.steps:
            return
        database = freshness.DATABASE

        def put(server, tag):
            return self.wrk(server, "put.lua", 16, self.settings.seconds, database, BENCH_RUN=f"f{tag}", BENCH_MODE="put")

        for server in self.servers:
            server.create(database)
            self.wrk(server, "put.lua", 16, self.settings.warm_seconds, database, BENCH_RUN="warm", BENCH_MODE="put")
        self.repeat("fresh-bare", put)
        for server in self.servers:
            server.create(database)
            freshness.make_indexes(server)
        self.repeat("fresh", lambda server, _tag: freshness.measure(server))
        self.repeat("fresh-put", put)

    def end(self):
        if "end" in self.steps:
            for server in self.servers:
                memory, _, peak = server.memory()
                self.note("end", server, {"memory": memory, "peak": peak, "disk": server.disk()})

    def reopen(self):
        if "reopen" in self.steps:
            probe = "/databases/bench/docs?id=users%2F1"
            self.repeat(
                "reopen",
                lambda server, _tag: {"seconds": server.start(probe, fresh=False)},
                before=lambda server: server.stop(),
            )
