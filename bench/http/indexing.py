"""The phases of indexes and queries: building over what is there, and asking in every way. See `workloads` for what."""

import json
import time
import urllib.parse

from bench.figures import CannotMeasure
from bench.http import load, workloads
from bench.http.workloads import ASKED, BUILDS, PLACES, QUERIES, USERS

DOCUMENTS = 500_000
BUILD_SECONDS_MAX = 600
POLL_SECONDS = 0.02
# A step that runs too when the other one does, which is compared with it.
BESIDE = {"index-map": "index-map-script"}


class Indexing:
    """Runs as a part of `phases.Run`, whose servers, figures and repetitions it takes."""

    def __init__(self, run):
        self.run, self.steps, self.settings = run, run.steps, run.settings
        self.count = self.settings.count(DOCUMENTS)

    def all(self):
        builds = [step for step in BUILDS if step in self.steps or step in BESIDE and BESIDE[step] in self.steps]
        queries = [step for step in self.steps if step.startswith("query-")]
        if not builds and not queries:
            return
        kinds = [step if step in BUILDS else kind_of(step) for step in builds + queries]
        self.fill({(BUILDS.get(kind) or QUERIES[kind])[0] for kind in kinds})
        for step in builds:
            self.build(step)
        self.ask(queries)

    def fill(self, databases):
        documents = {USERS: load.document, PLACES: workloads.places()}
        for database in sorted(databases):
            body = load.stream(self.count, documents[database])
            for server in self.run.servers:
                server.create(database)
                load.bulk_insert(server, database, self.count, body)
            self.run.check_count(database, self.count)

    def build(self, step):
        """From the definition to an index that has all documents: documents/s, CPU for each, MiB on disk."""
        database, definition, entries = BUILDS[step]

        def build(server, tag):
            before = server.disk()
            values = self.put(server, database, f"{step}/{tag}", definition, entries(self.count))
            time.sleep(3 if not self.settings.quick else 0)
            return {**values, "disk": server.disk() - before}

        def forget(server):
            for name in server.ask("GET", f"/databases/{database}/indexes?namesOnly=true")["Results"]:
                if name.startswith("index-"):
                    server.ask("DELETE", f"/databases/{database}/indexes?name={quoted(name)}")

        self.run.repeat(step, build, before=forget)
        for server in self.run.servers:
            forget(server)

    def put(self, server, database, name, definition, entries):
        """Makes an index and waits until it has all its entries; that it says to be up to date is not enough."""
        cpu, begin = server.cpu_seconds(), time.perf_counter()
        server.ask("PUT", f"/databases/{database}/admin/indexes", {"Indexes": [{**definition, "Name": name}]})
        while is_stale(server, database, name) or entries_of(server, database, name) != entries:
            if time.perf_counter() - begin > BUILD_SECONDS_MAX:
                raise CannotMeasure(f"{server.name}: {name} does not get its {entries} entries")
            time.sleep(POLL_SECONDS)
        seconds = time.perf_counter() - begin
        return {"rate": self.count / seconds, "cpu": (server.cpu_seconds() - cpu) / self.count * 1e6}

    def ask(self, steps):
        asked = set()
        for step in steps:
            kind = kind_of(step)
            database, make = QUERIES[kind]
            bodies = self.settings.work / f"{kind}.jsonl"
            if kind not in asked:
                asked.add(kind)
                workloads.write_questions(bodies, make, self.count)
                most = max(connections_of(step) for step in steps if kind_of(step) == kind)
                self.prepare(kind, database, bodies, most)
            connections = connections_of(step)

            def ask(server, tag):
                seed = 1 + int(tag.split(".")[0])
                return self.wrk(server, connections, self.settings.seconds, database, bodies, seed)

            is_compared = step == "query-1-hit-16"
            if is_compared and self.run.postgres:
                if not self.run.postgres.count:
                    self.run.postgres.fill(self.count)
                self.run.postgres.run(kind, connections, self.settings.warm_seconds)
            self.run.repeat(step, ask, by_postgres=(kind, connections) if is_compared else None)

    def prepare(self, kind, database, bodies, connections):
        """The first query, for which an index is made where it asks none by name; then some to get warm."""
        with open(bodies) as file:
            question = json.loads(file.readline())
        for server in self.run.servers:
            for name, (place, definition) in ASKED.items():
                if f"'{name}'" in question["Query"] and not is_there(server, place, name):
                    self.put(server, place, name, definition, self.count)
            cpu, begin = server.cpu_seconds(), time.perf_counter()
            patience = {"WaitForNonStaleResults": True, "WaitForNonStaleResultsTimeout": "00:10:00"}
            answer = server.ask("POST", f"/databases/{database}/queries", {**question, **patience})
            seconds = time.perf_counter() - begin
            if not answer["TotalResults"]:
                raise CannotMeasure(f"{server.name}: nothing found by {question}")
            first = {"rate": self.count / seconds, "cpu": (server.cpu_seconds() - cpu) / self.count * 1e6}
            self.run.note(kind.replace("query-", "first-"), server, first, f"found {answer['TotalResults']}")
            self.wrk(server, connections, self.settings.warm_seconds, database, bodies, 99)

    def wrk(self, server, connections, seconds, database, bodies, seed):
        more = {"BENCH_PATH": f"/databases/{database}/queries", "BENCH_BODIES": bodies, "BENCH_SEED": seed}
        return self.run.wrk(server, "post.lua", connections, seconds, database, **more)


def kind_of(step):
    """`query-in-16` is the kind `query-in` at 16 connections."""
    return step.rsplit("-", 1)[0]


def connections_of(step):
    return int(step.rsplit("-", 1)[1])


def quoted(name):
    return urllib.parse.quote(name, safe="")


def is_stale(server, database, name):
    return server.ask("GET", f"/databases/{database}/indexes/staleness?name={quoted(name)}")["IsStale"]


def entries_of(server, database, name):
    return server.ask("GET", f"/databases/{database}/indexes/stats?name={quoted(name)}")["Results"][0]["EntriesCount"]


def is_there(server, database, name):
    return name in server.ask("GET", f"/databases/{database}/indexes?namesOnly=true")["Results"]
