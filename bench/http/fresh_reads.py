"""What a query directly after a write takes, and whether it has the write: as it is, and with fresh reads.

`python3 -m bench.http.fresh_reads http://127.0.0.1:8080 [freshReads | WaitForNonStaleResults]`, against a running server. One connection
writes a document, and queries for it as soon as the write is answered; the time is that of the query. The second half runs beside other
writes to the same collection. The option is the parameter of the query string, or the property of the body that clients send.
"""

import http.client
import json
import statistics
import sys
import threading
import time
import urllib.parse

DATABASE = "bench-fresh-reads"
SAMPLES = 2000
WRITES_PER_SECOND = 1000
DOCUMENTS = 10_000


class Client:
    """One connection that is kept."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None)
        response = self.connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise SystemExit(f"{method} {path}: {response.status} {content[:200]!r}")
        return json.loads(content) if content else None

    def put(self, id, name):
        document = {"name": name, "age": 7, "@metadata": {"@collection": "Users"}}
        self.ask("PUT", f"/databases/{DATABASE}/docs?id={id}", document)


def measure(url, round, option):
    """(p50, p99) in ms, and the share of queries that did not have their write."""
    client, times, missed = Client(url), [], 0
    parameters = "?freshReads=true" if option == "freshReads" else ""
    body = {"Query": "from Users where name = $name"}
    if option == "WaitForNonStaleResults":
        body["WaitForNonStaleResults"] = True
    for number in range(SAMPLES):
        name = f"Sample {round} {number}"
        client.put(f"samples/{round}-{number}", name)
        begin = time.perf_counter()
        answer = client.ask("POST", f"/databases/{DATABASE}/queries{parameters}", {**body, "QueryParameters": {"name": name}})
        times.append((time.perf_counter() - begin) * 1000)
        missed += not answer["Results"]
    times.sort()
    return statistics.median(times), times[len(times) * 99 // 100], missed / SAMPLES


def write_others(url, is_over):
    client, begin, number = Client(url), time.perf_counter(), 0
    while not is_over.is_set():
        number += 1
        client.put(f"others/{number % DOCUMENTS}", f"Other {number}")
        time.sleep(max(0.0, begin + number / WRITES_PER_SECOND - time.perf_counter()))


def main(url, option):
    client = Client(url)
    client.ask("DELETE", "/admin/databases", {"DatabaseNames": [DATABASE], "HardDelete": True})
    client.ask("PUT", f"/admin/databases?name={DATABASE}", {"DatabaseName": DATABASE})
    for number in range(DOCUMENTS):
        client.put(f"others/{number}", f"Other {number}")
    client.ask("POST", f"/databases/{DATABASE}/queries", {"Query": "from Users where name = 'x'", "WaitForNonStaleResults": True})
    for beside in (0, WRITES_PER_SECOND):
        is_over = threading.Event()
        writer = threading.Thread(target=write_others, args=(url, is_over))
        if beside:
            writer.start()
        for asked in (None, option):
            p50, p99, missed = measure(url, f"{beside}-{asked}", asked)
            print(f"{beside:5} other writes/s  {asked or 'as it is':24} p50 {p50:6.2f} ms  p99 {p99:6.2f} ms  without the write {missed:6.1%}")
        is_over.set()
        if beside:
            writer.join()
    client.ask("DELETE", "/admin/databases", {"DatabaseNames": [DATABASE], "HardDelete": True})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "freshReads")
