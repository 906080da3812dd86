"""What puts load on a server: wrk with a script, one prepared stream of documents, the published Node.js client."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from bench.figures import CannotMeasure
from bench.settings import ROOT

HERE = pathlib.Path(__file__).resolve().parent


def wrk(server, script, connections, seconds, **environment):
    """One run of wrk: {"rate": requests/s, "cpu": us of the server for each, "p50" and "p99": ms}.

    One thread: a second one gives no more requests where client and server share two cores, but ten times the p99.
    """
    cpu = server.cpu_seconds()
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", HERE / script, server.url]
    names = {name: str(value) for name, value in environment.items()} | (server.tls.wrk_environment if server.tls else {})
    run = subprocess.run(command, env={**os.environ, **names}, capture_output=True, text=True)
    cpu = server.cpu_seconds() - cpu
    result = next((line for line in run.stdout.splitlines() if line.startswith("RESULT")), None)
    if result is None:
        raise CannotMeasure(f"wrk: {(run.stdout + run.stderr).strip()[-300:]}")
    requests, micros, wrong, broken, p50, _p90, p99, *_ = map(int, result.split()[1:])
    if wrong + broken > requests / 1000 or requests == 0:
        raise CannotMeasure(f"{wrong + broken} of {requests} requests failed")
    return {"rate": requests / micros * 1e6, "cpu": cpu / requests * 1e6, "p50": p50 / 1000, "p99": p99 / 1000}


def document(n):
    """A command that puts a document of about 300 bytes."""
    return (
        f'{{"Id":"users/{n}","Type":"PUT","Document":{{"name":"User {n}","email":"user{n}@example.com",'
        f'"age":{n % 80 + 18},"city":"city-{n % 25000}","country":"country-{n % 100}","score":{n % 1000}.5,'
        f'"active":{"true" if n % 2 == 0 else "false"},"tags":["t{n % 7}","t{n % 11}","t{n % 13}"],'
        '"bio":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor",'
        '"@metadata":{"@collection":"Users"}}}'
    )


def stream(count, document=document):
    """The body of a bulk insert in chunked coding, made beforehand so that it costs nothing while it is sent."""
    body, part, size = [], [], 0
    for n in range(1, count + 1):
        text = ("[" if n == 1 else ",") + document(n) + ("]" if n == count else "")
        part.append(text)
        size += len(text)
        if size > 1 << 16 or n == count:
            content = "".join(part).encode()
            body.append(b"%x\r\n%s\r\n" % (len(content), content))
            part, size = [], 0
    return b"".join(body) + b"0\r\n\r\n"


def bulk_insert(server, database, count, body):
    """Sends a stream of `count` documents: {"rate": documents/s, "cpu": us of the server for each}."""
    operation = server.ask("GET", f"/databases/{database}/operations/next-operation-id")["Id"]
    head = (
        f"POST /databases/{database}/bulk_insert?id={operation}&skipOverwriteIfUnchanged=false HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with server.open_socket() as connection:
        begin, cpu = time.perf_counter(), server.cpu_seconds()
        connection.sendall(head.encode())
        view = memoryview(body)
        for start in range(0, len(view), 1 << 20):
            connection.sendall(view[start : start + (1 << 20)])
        answer = connection.recv(65536)
        seconds = time.perf_counter() - begin
    if b" 20" not in answer[:15]:
        raise CannotMeasure(f"{server.name} answers a bulk insert with {answer[:200]!r}")
    return {"rate": count / seconds, "cpu": (server.cpu_seconds() - cpu) / count * 1e6}


def install_client(folder):
    """Installs the client's package, of the version that conformance/ has, into a folder for work."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise CannotMeasure("needs node and npm")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "conformance" / "node" / name, folder / name)
    command = ["npm", "ci", "--silent", "--no-fund", "--no-audit"]
    if not (folder / "node_modules" / "ravendb").exists() and subprocess.run(command, cwd=folder).returncode != 0:
        raise CannotMeasure("the Node.js client could not be installed")


def client_insert(server, database, count, folder):
    """The same as `bulk_insert`, by the client that `install_client` has put into `folder`."""
    cpu = server.cpu_seconds()
    environment = {**os.environ, "CLIENT_FOLDER": str(folder)}
    command = ["node", HERE / "bulk_client.mjs", server.url, database, str(count)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        raise CannotMeasure(f"the Node.js client: {(run.stdout + run.stderr).strip()[-300:]}")
    seconds = json.loads(run.stdout.splitlines()[-1])["seconds"]
    return {"rate": count / seconds, "cpu": (server.cpu_seconds() - cpu) / count * 1e6}
