"""The steps that copy a database: export and import of a dump, backup, snapshot and their restores, of a million documents.

An export is read to its end and thrown away; an import is of the server's own dump. Both are of documents alone. The backups have
two indexes, a map and a map-reduce; a restore ends when they are up to date.
"""

import json
import shutil
import subprocess
import time
from contextlib import contextmanager

from bench.bars import OURS
from bench.figures import CannotMeasure
from bench.http import load
from bench.http.indexing import Indexing, entries_of, is_stale
from bench.http.workloads import BUILDS

DOCUMENTS = 1_000_000
DATABASE, IMPORTED, RESTORED = "bench-copied", "bench-imported", "bench-restored"
INDEXES = ("index-map", "index-map-reduce")
SECONDS_MAX = 600
POLL_SECONDS = 0.02
READ_SIZE = 1 << 20
HEAD = '--XX\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'


class Copies:
    """Runs as a part of `phases.Run`, whose servers, figures and repetitions it takes."""

    def __init__(self, run):
        self.run, self.settings, self.servers = run, run.settings, run.servers
        self.steps = {"export", "import", "backup", "snapshot"} & set(run.steps)
        self.count = self.settings.count(DOCUMENTS)

    def all(self):
        if not self.steps:
            return
        self.body = load.stream(self.count)
        for server in self.servers:
            server.create(DATABASE)
            load.bulk_insert(server, DATABASE, self.count, self.body)
        self.run.check_count(DATABASE, self.count)
        if "export" in self.steps:
            self.run.repeat("export", self.export)
        if "import" in self.steps:
            self.import_dumps()
        if {"backup", "snapshot"} & self.steps:
            for server in self.servers:
                for name in INDEXES:
                    _, definition, entries = BUILDS[name]
                    Indexing(self.run).put(server, DATABASE, name, definition, entries(self.count))
        if "backup" in self.steps:
            self.back_up("backup", "Backup")
        if "snapshot" in self.steps:
            self.back_up("snapshot", "Snapshot")

    def export(self, server, _tag):
        """Over HTTP, and ours by its command, too, into a file."""
        with timed(server, self.count) as values:
            size = sum(map(len, pieces_of_dump(server)))
        values["bytes"] = size / self.count
        if server.name == OURS:
            begin = time.perf_counter()
            export_by_command(self.run.program, server, self.settings.work / "copy.ravendbdump")
            values["command-rate"] = self.count / (time.perf_counter() - begin)
        return values

    def import_dumps(self):
        """Ours beside a bulk insert of the same documents, which take turns."""
        dumps = {server.name: b"".join(pieces_of_dump(server)) for server in self.servers}

        def take(server, _tag):
            values = {}
            if server.name == OURS:
                inserted = load.bulk_insert(server, IMPORTED, self.count, self.body)
                values = {f"bulk-{what}": value for what, value in inserted.items()}
                server.create(IMPORTED)
            with timed(server, self.count) as imported:
                import_dump(server, dumps[server.name])
            return imported | values

        self.run.repeat("import", take, before=lambda server: server.create(IMPORTED))
        self.run.check_count(IMPORTED, self.count)

    def back_up(self, step, kind):
        """Seconds of a backup, and of its restore until all indexes are up to date."""
        willing = [server for server in self.servers if self.is_willing(server, step, kind)]

        def copy(server, _tag):
            folder = self.folder(server)
            with timed(server) as made:
                make_backup(server, kind, folder)
            backup = max(folder.iterdir())
            made["size"] = sum(file.stat().st_size for file in backup.rglob("*") if file.is_file()) / (1 << 20)
            with timed(server) as restored:
                restore(server, backup)
                restored["served"] = time.perf_counter() - restored["begin"]
                self.wait_for_indexes(server)
            if server.document_count(RESTORED) != self.count:
                raise CannotMeasure(f"{server.name} restored {server.document_count(RESTORED)} documents of {self.count}")
            shutil.rmtree(folder)
            return made | {f"restore-{what}": value for what, value in restored.items() if what != "begin"}

        self.run.repeat(step, copy, before=lambda server: server.remove(RESTORED), servers=willing)
        for server in willing:
            server.remove(RESTORED)

    def folder(self, server):
        folder = self.settings.work / f"{server.name}-backups"
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def is_willing(self, server, step, kind):
        """False for a server whose licence refuses such a backup."""
        if server.name == OURS:
            return True
        try:
            make_backup(server, kind, self.folder(server))
            return True
        except CannotMeasure as why:
            if " 402" not in str(why):
                raise
            self.run.figures.lacks(server.name, "its licence refuses it (402)", f"http-{step}")
            print(f"{step} {server.name}: {why}", flush=True)
            return False

    def wait_for_indexes(self, server):
        end = time.perf_counter() + SECONDS_MAX
        for name in INDEXES:
            entries = BUILDS[name][2](self.count)
            while is_stale(server, RESTORED, name) or entries_of(server, RESTORED, name) != entries:
                if time.perf_counter() > end:
                    raise CannotMeasure(f"{server.name}: {name} does not get its {entries} entries")
                time.sleep(POLL_SECONDS)


@contextmanager
def timed(server, count=None):
    """Gives a dictionary that has, afterwards, {"rate": documents/s, "cpu": us for each} of `count`, or {"seconds", "cpu": seconds}."""
    begin, cpu = time.perf_counter(), server.cpu_seconds()
    values = {"begin": begin} if count is None else {}
    yield values
    seconds, cpu = time.perf_counter() - begin, server.cpu_seconds() - cpu
    values |= {"seconds": seconds, "cpu": cpu} if count is None else {"rate": count / seconds, "cpu": cpu / count * 1e6}


def pieces_of_dump(server):
    """The dump of all documents, as it comes."""
    connection = server.connect(SECONDS_MAX)
    body = json.dumps({"OperateOnTypes": "Documents"})
    connection.request("POST", f"/databases/{DATABASE}/smuggler/export", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise CannotMeasure(f"{server.name} answers an export with {answer.status}: {answer.read()[:200]!r}")
    while piece := answer.read(READ_SIZE):
        yield piece
    connection.close()


def export_by_command(program, server, file):
    command = [program, "export", "--url", server.url, "--database", DATABASE, "--format", "ravendbdump", "--types", "Documents"]
    done = subprocess.run([*command, "--quiet", "--output", file], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotMeasure(f"the export: {done.stderr.strip()[-300:]}")


def import_dump(server, dump):
    options = HEAD.format("importOptions", "") + json.dumps({"OperateOnTypes": "Documents"}) + "\r\n"
    head = (options + HEAD.format("file", '; filename="x.ravendbdump"')).encode()
    connection = server.connect(SECONDS_MAX)
    kind = {"Content-Type": "multipart/form-data; boundary=XX"}
    connection.request("POST", f"/databases/{IMPORTED}/smuggler/import", b"".join([head, dump, b"\r\n--XX--\r\n"]), kind)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200:
        raise CannotMeasure(f"{server.name} answers an import with {answer.status}: {text[:200]!r}")


def make_backup(server, kind, folder):
    configuration = {"BackupType": kind, "LocalSettings": {"FolderPath": str(folder)}}
    started = server.ask("POST", f"/databases/{DATABASE}/admin/backup", configuration)
    finish(server, f"/databases/{DATABASE}/operations/state", started)


def restore(server, backup):
    request = {"Type": "Local", "DatabaseName": RESTORED, "BackupLocation": str(backup)}
    finish(server, "/operations/state", server.ask("POST", "/admin/restore/database", request))


def finish(server, path, started):
    """Waits for the end of an operation."""
    end = time.perf_counter() + SECONDS_MAX
    while (state := server.ask("GET", f"{path}?id={started['OperationId']}"))["Status"] == "InProgress":
        if time.perf_counter() > end:
            raise CannotMeasure(f"{server.name}: {path} does not end")
        time.sleep(POLL_SECONDS)
    if state["Status"] != "Completed":
        raise CannotMeasure(f"{server.name}: {path} ends with {json.dumps(state['Result'])[:300]}")
