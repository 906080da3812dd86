#!/usr/bin/env python3
"""What belongs to documents, beside another server: counters, subscriptions, revisions.

    kinds.py --start ours='rookery --ServerUrl=http://127.0.0.1:{port} --DataDir={data}' --start ref='COMMAND'

Servers are started as `attachments.py` does it, each alone, in turn, `--rounds` times. A row for each measurement:

* `counter`: 16 connections raise one counter; `counters`: one of 10,000 (100 documents with 100 each), by chance. Needs wrk.
* `subscribe`: one worker takes `--documents` documents in batches of 1,000, each acknowledged before the next; then the time from the answer of
  a write to its delivery (from a commit to the worker), of 200 writes.
* `idle`: memory and threads that 1,000 workers of as many subscriptions cost, which have nothing to take.
* `revisions`: bytes that the data folder grows by, when a document of 10 KiB is written 100 times with small changes. The servers are
  stopped before each look, so that what they hold back is written.
"""
import argparse
import json
import pathlib
import random
import shutil
import socket
import tempfile
import time
import urllib.request

from attachments import Server, wrk

# Requests are made before the measurement: making one costs wrk more than sending it.
COUNTER = """
local headers = {{ ["Content-Type"] = "application/json" }}
local first = '{{"Documents":[{{"DocumentId":"things/%d","Operations":[{{"Type":"Increment","CounterName":"c%d","Delta":1}}]}}]}}'
local requests = {{}}
function init()
    for number = 0, {count} - 1 do
        requests[number] = wrk.format("POST", "/databases/bench/counters", headers, string.format(first, number // 100, number % 100))
    end
end
function request()
    return requests[math.random(0, {count} - 1)]
end
"""
REVISIONS = 100
CHANGED_SIZE = 10 << 10
LATENCIES = 200
IDLE = 1000


def row(name, what, text):
    print(f"{name:>6}  {what:<10} {text}", flush=True)


def ask(server, method, path, body=None):
    """A request that has to succeed."""
    status = server.call(method, path, None if body is None else json.dumps(body))
    if not 200 <= status < 300:
        raise SystemExit(f"{method} {path}: {status}")


def read(server, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}") as answer:
        return json.loads(answer.read())


def counters(name, server, seconds):
    for document in range(100):
        ask(server, "PUT", f"/databases/bench/docs?id=things/{document}", {"@metadata": {"@collection": "Things"}})
        raised = [{"Type": "Increment", "CounterName": f"c{number}", "Delta": 1} for number in range(100)]
        ask(server, "POST", "/databases/bench/counters", {"Documents": [{"DocumentId": f"things/{document}", "Operations": raised}]})
    for what, count in [("counter", 1), ("counters", 10_000)]:
        before = server.cpu()
        rate, done = wrk(server, COUNTER.format(count=count), seconds)
        micros = (server.cpu() - before) / done * 1e6
        row(name, what, f"{rate:12,.0f} op/s  {micros:8,.1f} us/op")


class Worker:
    """One worker of a subscription, over the protocol of the clients."""

    def __init__(self, server, subscription):
        path = f"/info/remote-task/tcp?database=bench&remote-task={subscription}&tag=bench&verify-database=true"
        port = int(read(server, path)["Url"].rsplit(":", 1)[1])
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.say({"DatabaseName": "bench", "Operation": "Subscription", "OperationVersion": 53000, "LicensedFeatures": {"DataCompression": False}})
        self.socket.recv(4096)
        self.say(
            {
                "SubscriptionName": subscription,
                "Strategy": "OpenIfFree",
                "MaxDocsPerBatch": 1000,
                "TimeToWaitBeforeConnectionRetry": "00:00:05",
                "MaxErroneousPeriod": "00:05:00",
            }
        )

    def say(self, message):
        self.socket.sendall(json.dumps(message).encode())

    def batch(self):
        """Documents of the next batch, without parsing them."""
        tail, count, mark = b"", 0, b'"Type":"Data"'
        while b"EndOfBatch" not in tail:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise SystemExit(f"the connection was closed: {tail[-300:]}")
            overlap = tail[-len(mark) + 1 :]
            count += (overlap + piece).count(mark)
            tail = (tail + piece)[-200:]
        return count

    def acknowledge(self):
        self.say({"Type": "Acknowledge"})
        tail = b""
        while b"Confirm" not in tail:
            tail += self.socket.recv(4096)


def subscribe(name, server, count):
    text = "lorem ipsum dolor sit amet " * 8
    for first in range(0, count, 1000):
        puts = [
            {"Type": "PUT", "Id": f"users/{n}", "Document": {"Name": f"u{n}", "Age": n % 90, "Text": text, "@metadata": {"@collection": "Users"}}}
            for n in range(first, first + 1000)
        ]
        ask(server, "POST", "/databases/bench/bulk_docs", {"Commands": puts})
    for what, query in [("all", "from Users"), ("where", "from Users where Age >= 0")]:
        ask(server, "PUT", "/databases/bench/subscriptions", {"Name": what, "Query": query})
        before, start, taken = server.cpu(), time.perf_counter(), 0
        worker = Worker(server, what)
        wanted = read(server, "/databases/bench/collections/stats")["Collections"]["Users"]
        while taken < wanted:
            taken += worker.batch()
            worker.acknowledge()
        took, cpu = time.perf_counter() - start, server.cpu() - before
        waits = []
        for number in range(LATENCIES):
            document = {"Age": 1, "@metadata": {"@collection": "Users"}}
            ask(server, "PUT", f"/databases/bench/docs?id=users/{what}-{number}", document)
            start = time.perf_counter()
            worker.batch()
            waits.append((time.perf_counter() - start) * 1000)
            worker.acknowledge()
        waits.sort()
        worker.socket.close()
        rate, micros = taken / took, cpu / taken * 1e6
        p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
        row(name, what, f"{rate:12,.0f} doc/s {micros:8,.1f} us/doc, answer of a write to its delivery p50 {p50:.2f} ms p99 {p99:.2f} ms")


def status(server, name):
    """A number of the process: threads, or memory in KiB."""
    return next(int(line.split()[1]) for line in server.stat("status").splitlines() if line.startswith(name + ":"))


def idle(name, server):
    for number in range(IDLE):
        ask(server, "PUT", "/databases/bench/subscriptions", {"Name": f"idle-{number}", "Query": "from Nobodies"})
    memory, threads = status(server, "VmRSS"), status(server, "Threads")
    workers = [Worker(server, f"idle-{number}") for number in range(IDLE)]
    for worker in workers:
        # What it is told when it is connected.
        worker.socket.recv(4096)
    memory, threads = status(server, "VmRSS") - memory, status(server, "Threads") - threads
    for worker in workers:
        worker.socket.close()
    row(name, "idle", f"{memory / 1024:12,.1f} MiB and {threads} threads for {IDLE} workers")


def folder_size(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def revisions(name, start, port, folder):
    """Bytes of 100 revisions of each of 20 documents, for a document."""
    documents, sizes = 20, []
    for step in range(2):
        server = Server(start, port, folder)
        if step == 0:
            ask(server, "PUT", "/admin/databases?name=bench", {"DatabaseName": "bench"})
            limits = {"Disabled": False, "MinimumRevisionsToKeep": REVISIONS}
            ask(server, "POST", "/databases/bench/admin/revisions/config", {"Default": None, "Collections": {"Things": limits}})
        chance = random.Random(7)
        for document in range(documents):
            words = [f"word{chance.randrange(10_000)}" for _ in range(CHANGED_SIZE // 9)]
            for version in range(1 if step == 0 else REVISIONS):
                words[chance.randrange(len(words))] = f"new{version}"
                body = {"Version": version, "Text": " ".join(words), "@metadata": {"@collection": "Things"}}
                ask(server, "PUT", f"/databases/bench/docs?id=things/{document}", body)
        server.stop()
        sizes.append(folder_size(folder / "data"))
    grown = (sizes[1] - sizes[0]) / documents
    row(name, "revisions", f"{grown / 1024:12,.0f} KiB for {REVISIONS} revisions of {CHANGED_SIZE >> 10} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--port", type=int, default=9490)
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    for number in range(arguments.rounds):
        for start in arguments.start:
            name, command = start.split("=", 1)
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"kinds-{name}.", dir=arguments.scratch))
            server = Server(command, arguments.port + number, folder)
            try:
                ask(server, "PUT", "/admin/databases?name=bench", {"DatabaseName": "bench"})
                counters(name, server, arguments.seconds)
                subscribe(name, server, arguments.documents)
                idle(name, server)
            finally:
                server.stop()
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            revisions(name, command, arguments.port + number, folder)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
