"""RavenDB and this server side by side, for tests that compare them.

`Reference` starts RavenDB out of the files of a prepared one; a `Node` is a server of either kind, a `Database` one of its databases.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

START_SECONDS_MAX = 120
REQUEST_SECONDS_MAX = 120
# What belongs to one server, or to features that are missing here, or is compared apart.
OWN_METADATA = {"@change-vector", "@flags", "@attachments", "@counters", "@timeseries"}


class Reference:
    """A RavenDB of our own, with a data folder of its own."""

    def __init__(self, home):
        self.folder = tempfile.mkdtemp(prefix="ravendb-dumps-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        environment = {
            **os.environ,
            "DOTNET_ROOT": str(home / "dotnet"),
            "DOTNET_ROLL_FORWARD": "Major",
            "DOTNET_GCDynamicAdaptationMode": "0",
            "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
            "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        }
        settings = ["--non-interactive", f"--ServerUrl={self.url}", "--ServerUrl.Tcp=tcp://127.0.0.1:0", "--Setup.Mode=None"]
        settings += [f"--DataDir={self.folder}/data", f"--Logs.Path={self.folder}/logs", "--License.Eula.Accepted=true"]
        settings += ["--Security.UnsecuredAccessAllowed=PublicNetwork"]
        self.log = open(f"{self.folder}/output", "w")
        self.process = subprocess.Popen(
            [str(home / "server" / "Raven.Server"), *settings],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
        )
        end = time.monotonic() + START_SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{self.url}/build/version", timeout=5).read()
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        sys.exit("RavenDB did not start")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Skipped(Exception):
    """A test that cannot be run here, with the reason."""


class Node:
    """A server of either kind, by its URL."""

    def __init__(self, name, url):
        self.name = name
        self.url = url
        self.databases = 0
        self.names = []

    def send(self, method, path, body=b"", kind="application/json"):
        request = urllib.request.Request(self.url + path, body or None, {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS_MAX) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{self.name} answers {error.code} to {method} {path}: {error.read()[:500]}") from None

    def json(self, path):
        return json.loads(self.send("GET", path))

    def database(self):
        name = self.next_name()
        body = json.dumps({"DatabaseName": name}).encode()
        self.send("PUT", f"/admin/databases?name={name}&replicationFactor=1", body)
        return Database(self, name)

    def next_name(self):
        """The name of a database that is made now."""
        self.databases += 1
        self.names.append(f"Dumps{self.databases}")
        return self.names[-1]

    def delete_databases(self):
        """Those that were made so far. RavenDB takes some hundred megabytes for each."""
        if self.names:
            body = json.dumps({"HardDelete": True, "DatabaseNames": self.names}).encode()
            self.send("DELETE", "/admin/databases", body)
        self.names = []


class Database:
    def __init__(self, node, name):
        self.node = node
        self.path = f"/databases/{name}"

    def query(self, text):
        return self.node.json(f"{self.path}/queries?pageSize=10000&query={urllib.parse.quote(text)}")

    def put(self, id, document):
        self.node.send("PUT", f"{self.path}/docs?id={urllib.parse.quote(id)}", json.dumps(document).encode())

    def export(self, **options):
        return self.node.send("POST", f"{self.path}/smuggler/export", json.dumps(options).encode())

    def take(self, dump, **options):
        """Imports a dump; gives what was counted."""
        head = b'--XX\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
        parts = [head % (b"importOptions", b""), json.dumps(options).encode(), b"\r\n"]
        parts += [head % (b"file", b'; filename="x.ravendbdump"'), dump, b"\r\n--XX--\r\n"]
        return json.loads(
            self.node.send("POST", f"{self.path}/smuggler/import", b"".join(parts), "multipart/form-data; boundary=XX")
        )

    def wait(self, path, started):
        """Waits for the end of an operation."""
        end = time.monotonic() + REQUEST_SECONDS_MAX
        while (state := self.node.json(f"{path}?id={started['OperationId']}"))["Status"] == "InProgress":
            assert time.monotonic() < end, "the operation does not end"
            time.sleep(0.1)
        assert state["Status"] == "Completed", state["Result"]

    def back_up(self, folder):
        """Makes one full backup; gives its folder."""
        configuration = {"BackupType": "Backup", "LocalSettings": {"FolderPath": folder}}
        started = self.node.send("POST", f"{self.path}/admin/backup", json.dumps(configuration).encode())
        self.wait(f"{self.path}/operations/state", json.loads(started))
        return max(entry.path for entry in os.scandir(folder))

    def restore(self, folder):
        """Makes a database out of a backup."""
        name = self.node.next_name()
        request = {"Type": "Local", "DatabaseName": name, "BackupLocation": folder}
        started = self.node.send("POST", "/admin/restore/database", json.dumps(request).encode())
        self.wait("/operations/state", json.loads(started))
        return Database(self.node, name)

    def documents(self, is_exact=True):
        """By id, without what belongs to one server.

        `is_exact`: with the dates of documents with counters, which RavenDB's import changes.
        """
        found = {}
        for document in json.loads(self.node.send("GET", f"{self.path}/streams/docs"))["Results"]:
            metadata = document["@metadata"]
            left_out = OWN_METADATA if is_exact or "@counters" not in metadata else OWN_METADATA | {"@last-modified"}
            found[metadata["@id"]] = {**document, "@metadata": {k: v for k, v in metadata.items() if k not in left_out}}
        return found

    def identities(self):
        return self.node.json(f"{self.path}/debug/identities")

    def put_value(self, key, value, index=0):
        path = f"{self.path}/cmpxchg?key={urllib.parse.quote(key)}&index={index}"
        answer = json.loads(self.node.send("PUT", path, json.dumps(value).encode()))
        assert answer["Successful"], answer
        return answer["Index"]

    def values(self):
        """Compare-exchange values by key, without atomic guards."""
        found = self.node.json(f"{self.path}/cmpxchg?pageSize=1000")["Results"]
        return {value["Key"]: value["Value"] for value in found if not value["Key"].startswith("rvn-atomic/")}

    def indexes(self):
        """By name: maps, reduce and options of fields."""
        found = {}
        for index in self.node.json(f"{self.path}/indexes?pageSize=1000")["Results"]:
            def set_options(options):
                return {k: v for k, v in options.items() if v not in (None, False, "No", "Default")}

            fields = {name: set_options(options) for name, options in index["Fields"].items()}
            definition = [index["Maps"], index["Reduce"], {name: options for name, options in fields.items() if options}]
            is_automatic = index["Name"].startswith("Auto/")
            found[index["Name"]] = None if is_automatic else definition
        return found

    def wait_for_indexes(self):
        end = time.monotonic() + REQUEST_SECONDS_MAX
        while any(index["IsStale"] for index in self.node.json(f"{self.path}/stats")["Indexes"]):
            assert time.monotonic() < end, "the indexes stay stale"
            time.sleep(0.1)


def same(what, left, right):
    """Fails with the first difference."""
    if left == right:
        return
    for key in sorted(set(left) | set(right)):
        if left.get(key) != right.get(key):
            raise AssertionError(f"{what} '{key}' differ: {left.get(key)!r} and {right.get(key)!r}")
