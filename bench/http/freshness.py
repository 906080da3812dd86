"""How soon an index has what was written, and what indexes cost writes: ten indexes over what `put.lua` writes."""

import http.client
import json
import statistics
import threading
import time

from bench.figures import CannotMeasure
from bench.http.workloads import index

DATABASE = "bench-fresh"
INDEXES = 10
WRITES_PER_SECOND = 1000
SAMPLES = 400
SAMPLE_SECONDS_MAX = 10


def document(n):
    return json.dumps(
        {"name": f"User {n}", "age": n % 80, "city": f"city-{n % 25000}", "score": n % 1000, "@metadata": {"@collection": "Users"}}
    )


class Client:
    """One connection that is kept."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def put(self, id, n):
        self.ask("PUT", f"/databases/{DATABASE}/docs?id={id}", document(n))

    def ask(self, method, path, body):
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise CannotMeasure(f"{method} {path}: {response.status} {content[:200]!r}")
        return content


def make_indexes(server):
    fields = "u.name, u.age, u.city, u.score"
    definitions = [{**index(f"from u in docs.Users select new {{ {fields} }}"), "Name": f"Fresh{n}"} for n in range(INDEXES)]
    server.ask("PUT", f"/databases/{DATABASE}/admin/indexes", {"Indexes": definitions})


def measure(server):
    """{"p50", "p99"}: ms from the answer to a PUT to the document in an index, while others are written."""
    is_over, failures = threading.Event(), []

    def write():
        client, begin, n = Client(server), time.perf_counter(), 0
        try:
            while not is_over.is_set():
                n += 1
                client.put(f"others/{n}", n)
                time.sleep(max(0.0, begin + n / WRITES_PER_SECOND - time.perf_counter()))
        except (OSError, CannotMeasure) as error:
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        waits = [sample(Client(server), number) for number in range(SAMPLES)]
    finally:
        is_over.set()
        writer.join()
    if failures:
        raise CannotMeasure(str(failures[0]))
    waits.sort()
    return {"p50": statistics.median(waits), "p99": waits[len(waits) * 99 // 100]}


def sample(client, number):
    """Writes a document of its own name, and asks one of the indexes until it is there: ms."""
    n = 10_000_000 + number
    client.put(f"samples/{number}", n)
    begin = time.perf_counter()
    name = f"Fresh{number % INDEXES}"
    body = json.dumps({"Query": f"from index '{name}' where name = $name", "QueryParameters": {"name": f"User {n}"}})
    while not json.loads(client.ask("POST", f"/databases/{DATABASE}/queries", body))["Results"]:
        if time.perf_counter() - begin > SAMPLE_SECONDS_MAX:
            raise CannotMeasure(f"{name} does not get samples/{number}")
    return (time.perf_counter() - begin) * 1000
