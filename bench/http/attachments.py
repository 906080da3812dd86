#!/usr/bin/env python3
"""How fast does a server store and read attachments of 1 KiB, 1 MiB and 1 GiB, at what cost of processor and memory?

    attachments.py --start ours='rookery --ServerUrl=http://127.0.0.1:{port} --DataDir={data}' --start ref='COMMAND' [--large GiB]

Each server is started by its command ({port} and {data} are replaced) with an empty data folder, alone, and measured in turn, `--rounds`
times. Small and middle sizes are driven by wrk with 16 connections: PUT of new attachments of 1,000 documents with contents that differ,
then GET of them at random. The large one goes over one connection; its rate stands beside that of the device: the same bytes with pwrite
of 8 MiB and one fdatasync at the end, and a read of that file. A row for each measurement: operations or MiB per second, processor time
of the server for one operation, and its highest memory so far. Needs wrk; standard library only.
"""
import argparse
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

MIB = 1 << 20
PIECE = 8 * MIB
CONNECTIONS = 16
DOCUMENTS = 1000
TICKS = os.sysconf("SC_CLK_TCK")

# A content that differs in its first bytes, under a name of its own.
PUT = """
local size, number, thread = {size}, 0, 0
local rest = string.rep("x", size - 24)
function setup(t) thread = thread + 1; t:set("id", thread) end
function request()
    number = number + 1
    local path = string.format("/databases/bench/attachments?id=files/%d&name={prefix}%d-%d", number % {documents}, id, number)
    return wrk.format("PUT", path, nil, string.format("%08d%016d", id, number) .. rest)
end
"""
GET = """
local number = 0
function request()
    -- wrk asks for some requests that it does not send.
    number = math.random(100, {count})
    return wrk.format("GET", string.format("/databases/bench/attachments?id=files/%d&name={prefix}1-%d", number % {documents}, number))
end
"""


class Server:
    """A server that was started."""

    def __init__(self, command, port, folder):
        self.port, self.folder = port, folder
        data = folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "log", "w")
        command = "exec " + command.format(port=port, data=data)
        self.process = subprocess.Popen(["bash", "-c", command], stdout=self.log, stderr=self.log)
        while not self.answers():
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended: see {folder / 'log'}")
            time.sleep(0.05)

    def answers(self):
        try:
            return self.call("GET", "/build/version") == 200
        except OSError:
            return False

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, body)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def stat(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}").read_text()

    def cpu(self):
        """Seconds of processor time so far."""
        fields = self.stat("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak(self):
        """The highest memory so far, in MiB."""
        line = next(line for line in self.stat("status").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) // 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


def wrk(server, script, seconds):
    """Requests per second; errors end the measurement."""
    path = server.folder / "script.lua"
    path.write_text(script)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(path), f"http://127.0.0.1:{server.port}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(text)
    count = next(int(line.split()[0]) for line in text.splitlines() if "requests in" in line)
    rate = next(float(line.split()[1]) for line in text.splitlines() if line.startswith("Requests/sec"))
    return rate, count


def row(name, what, rate, unit, micros, server):
    print(f"{name:>6}  {what:<10} {rate:12,.1f} {unit}  {micros:10,.0f} us/op  {server.peak():6,} MiB", flush=True)


def small(name, server, size, label, seconds):
    prefix = f"s{size}-"
    before = server.cpu()
    rate, count = wrk(server, PUT.format(size=size, prefix=prefix, documents=DOCUMENTS), seconds)
    row(name, f"PUT {label}", rate, "op/s ", (server.cpu() - before) / count * 1e6, server)
    before = server.cpu()
    # The last ones may not have been answered.
    count = max(101, count - 10 * CONNECTIONS)
    rate, reads = wrk(server, GET.format(count=count, prefix=prefix, documents=DOCUMENTS), seconds)
    row(name, f"GET {label}", rate, "op/s ", (server.cpu() - before) / reads * 1e6, server)


def large(name, server, size):
    pieces = size // PIECE
    piece = os.urandom(PIECE)
    target = "/databases/bench/attachments?id=files/0&name=large"
    before, start = server.cpu(), time.perf_counter()
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"PUT {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {pieces * PIECE}\r\n\r\n".encode())
        for _ in range(pieces):
            connection.sendall(piece)
        status = connection.recv(64).split()[1]
    took = time.perf_counter() - start
    if status != b"201":
        raise SystemExit(f"PUT of the large attachment: {status}")
    row(name, "PUT large", pieces * PIECE / MIB / took, "MiB/s", (server.cpu() - before) * 1e6, server)
    before, start, read = server.cpu(), time.perf_counter(), 0
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    connection.request("GET", target)
    answer = connection.getresponse()
    buffer = bytearray(MIB)
    while count := answer.readinto(buffer):
        read += count
    took = time.perf_counter() - start
    connection.close()
    if read != pieces * PIECE:
        raise SystemExit(f"GET of the large attachment: {read} bytes")
    row(name, "GET large", read / MIB / took, "MiB/s", (server.cpu() - before) * 1e6, server)


def device(folder, size):
    """What the device gives for the same bytes."""
    path, piece = folder / "device", os.urandom(PIECE)
    start = time.perf_counter()
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // PIECE):
            file.write(piece)
        os.fdatasync(file.fileno())
    write = size / MIB / (time.perf_counter() - start)
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.read(MIB):
            pass
    read = size / MIB / (time.perf_counter() - start)
    path.unlink()
    print(f"device  write {write:,.0f} MiB/s, read {read:,.0f} MiB/s (from the page cache)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--large", type=float, default=1.0, metavar="GIB", help="size of the large attachment")
    parser.add_argument("--port", type=int, default=9480)
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    size = int(arguments.large * 1024 * MIB) // PIECE * PIECE
    for number in range(arguments.rounds):
        for start in arguments.start:
            name, command = start.split("=", 1)
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"attachments-{name}.", dir=arguments.scratch))
            device(folder, size)
            server = Server(command, arguments.port + number, folder)
            try:
                server.call("PUT", "/admin/databases?name=bench", '{"DatabaseName":"bench"}')
                for document in range(DOCUMENTS):
                    server.call("PUT", f"/databases/bench/docs?id=files/{document}", "{}")
                small(name, server, 1024, "1 KiB", arguments.seconds)
                small(name, server, MIB, "1 MiB", arguments.seconds)
                large(name, server, size)
            finally:
                server.stop()
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
