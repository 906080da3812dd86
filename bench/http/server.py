"""A server that is measured: started from a command, asked over HTTP or HTTPS, watched from outside."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from dataclasses import dataclass

from bench.figures import CannotMeasure
from bench.http.machine import HZ

START_SECONDS_MAX = 300
STOP_SECONDS_MAX = 120


@dataclass(frozen=True)
class Tls:
    """How clients reach a server over HTTPS: what Python's need, and what the environment of `wrk` needs."""

    context: ssl.SSLContext
    wrk_environment: dict


class Server:
    """`command` is for a shell, which it replaces; `{port}` and `{data}` stand for a free port and a folder.

    `tls`: a `Tls` with a certificate that the server trusts; `None`: the server speaks plain HTTP.
    """

    def __init__(self, name, command, work, tls=None):
        self.name, self.command, self.work, self.tls = name, command, work, tls
        self.port = free_port()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.folder = self.process = None

    def start(self, probe="/build/version", fresh=True):
        """Starts it, with an empty folder if `fresh`; seconds until `probe` is answered with 200."""
        if fresh:
            self.forget()
            self.folder = tempfile.mkdtemp(prefix=f"{self.name}-", dir=self.work)
        command = self.command.replace("{port}", str(self.port)).replace("{data}", self.data)
        with open(os.path.join(self.folder, "log"), "ab") as log:
            begin = time.perf_counter()
            self.process = subprocess.Popen(
                ["sh", "-c", f"exec env {command}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        while not self._answers(probe):
            if self.process.poll() is not None or time.perf_counter() - begin > START_SECONDS_MAX:
                raise CannotMeasure(f"{self.name} did not start: {self._end_of_log()}")
            time.sleep(0.002)
        return time.perf_counter() - begin

    @property
    def data(self):
        return os.path.join(self.folder, "data")

    def connect(self, timeout_seconds):
        """A connection for requests, which is opened by the first of them."""
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout_seconds, context=self.tls.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_seconds)

    def open_socket(self):
        """An open connection for bytes."""
        connection = socket.create_connection(("127.0.0.1", self.port))
        return self.tls.context.wrap_socket(connection, server_hostname="127.0.0.1") if self.tls else connection

    def _answers(self, path):
        try:
            connection = self.connect(60)
            connection.request("GET", path)
            status = connection.getresponse().status
            connection.close()
            return status == 200
        except OSError:
            return False

    def _end_of_log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return " ".join(log.read().split())[-300:]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def forget(self):
        """Stops it, and removes what it kept."""
        self.stop()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def ask(self, method, path, body=None, may_fail=False):
        """The parsed answer, `None` if it has no body."""
        connection = self.connect(600)
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        if response.status >= 400 and not may_fail:
            raise CannotMeasure(f"{self.name} answers {method} {path} with {response.status}: {raw[:200]!r}")
        return json.loads(raw) if raw else None

    def remove(self, database):
        """Removes a database, if there is one of that name."""
        names = {"DatabaseNames": [database], "HardDelete": True, "TimeToWaitForConfirmation": "00:00:30"}
        self.ask("DELETE", "/admin/databases", names, may_fail=True)

    def create(self, database):
        """Makes an empty database, in the place of one of that name."""
        self.remove(database)
        record = {"DatabaseName": database, "Settings": {}, "Disabled": False}
        self.ask("PUT", f"/admin/databases?name={database}&replicationFactor=1", record)

    def document_count(self, database):
        return self.ask("GET", f"/databases/{database}/stats")["CountOfDocuments"]

    def cpu_seconds(self):
        """CPU time of the process so far; 0 when it does not run."""
        if self.process is None:
            return 0.0
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / HZ

    def memory(self):
        """MiB: what is in memory now, the anonymous part of it, and the most there ever was."""
        kib = {}
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "RssAnon", "VmHWM"):
                    kib[name] = int(value.split()[0]) / 1024
        return kib["VmRSS"], kib["RssAnon"], kib["VmHWM"]

    def disk(self):
        """MiB that the data folder takes on the device."""
        blocks = 0
        for folder, _, names in os.walk(self.data):
            for name in names:
                try:
                    blocks += os.stat(os.path.join(folder, name)).st_blocks
                except OSError:
                    pass  # It went in between.
        return blocks * 512 / (1 << 20)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
