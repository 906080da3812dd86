"""PostgreSQL as a peer: one `jsonb` row for each document, asked through its own protocol by its own load generator, pgbench.

A cluster of its own with the defaults: a commit is acknowledged when it is on the device. Statements are prepared. It takes part
where its programs are installed (Debian: postgresql, postgresql-contrib).
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from bench.figures import CannotMeasure
from bench.http.machine import HZ
from bench.http.server import free_port

NAME = "postgres"
# Debian keeps them out of PATH, one folder for each version.
FOLDERS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
# With a space before what pgbench would take for a variable, such as :30.
REST = (
    '"age": 30,"city":"city-7","country":"country-7","score": 7.5,"active": true,"tags":["t1","t2","t3"],'
    '"bio":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor"}'
)


def document(n):
    """An SQL expression of a document whose number is the expression `n`."""
    return f"""('{{"name":"User ' || {n} || '","email":"user' || {n} || '@example.com",{REST}')::jsonb"""


SCRIPTS = {
    # Numbers that do not come twice in a run.
    "put": "\\set n random(1, 1000000000000000)\n"
    f"INSERT INTO puts VALUES ('put/' || :n::bigint, {document(':n::bigint')});",
    "get": "\\set n random(1, :count)\nSELECT doc FROM docs WHERE id = 'users/' || :n::bigint;",
    "query-1-hit": "\\set n random(1, :count)\n"
    "SELECT doc FROM docs WHERE doc->>'email' = 'user' || :n::bigint || '@example.com';",
}


def program(name):
    found = shutil.which(name, path=os.pathsep.join([*map(str, FOLDERS), os.environ.get("PATH", "")]))
    if not found:
        raise CannotMeasure("needs postgresql and postgresql-contrib")
    return found


class Postgres:
    """A cluster in a temporary folder below `work`, with `count` documents once `fill` ran."""

    name = NAME

    def __init__(self, work):
        self.initdb, self.server, self.psql, self.pgbench = map(program, ("initdb", "postgres", "psql", "pgbench"))
        # It refuses to run as root.
        self.user = ["runuser", "-u", NAME, "--"] if os.geteuid() == 0 else []
        for folder in [work, *work.parents] if self.user else []:
            if not os.stat(folder).st_mode & 0o001:
                raise CannotMeasure(f"the user {NAME} cannot enter {folder}")
        self.folder = tempfile.mkdtemp(prefix=f"{NAME}-", dir=work)
        if self.user:
            shutil.chown(self.folder, NAME)
        self.port, self.process, self.count = free_port(), None, 0

    def start(self):
        data = f"{self.folder}/data"
        self._run([*self.user, self.initdb, "--pgdata", data, "--auth", "trust", "--username", NAME, "--locale", "C"])
        command = [self.server, "-D", data, "-p", str(self.port), "-k", self.folder, "-c", "listen_addresses=127.0.0.1"]
        with open(f"{self.folder}/log", "ab") as log:
            # Not through runuser, whose process would be the one that is watched.
            self.process = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, user=NAME if self.user else None
            )
        self._run([program("pg_isready"), *self._where()], tries=200)
        self.sql("CREATE TABLE puts (id text PRIMARY KEY, doc jsonb)")

    def fill(self, count):
        """Stores the documents that are read and queried."""
        self.sql(
            "CREATE TABLE docs (id text PRIMARY KEY, doc jsonb);"
            f"INSERT INTO docs SELECT 'users/' || n, {document('n')} FROM generate_series(1, {count}) n;"
            "CREATE INDEX ON docs ((doc->>'email')); VACUUM ANALYZE docs; CHECKPOINT"
        )
        self.count = count

    def run(self, kind, connections, seconds):
        """One run of pgbench: {"rate": transactions/s, "cpu": us of all its processes for each}."""
        script = pathlib.Path(self.folder) / f"{kind}.sql"
        script.write_text(SCRIPTS[kind])
        cpu = self.cpu_seconds()
        command = [self.pgbench, *self._where(), "-n", "-M", "prepared", "-c", str(connections), "-j", "1"]
        output = self._run([*command, "-T", str(seconds), "-D", f"count={max(self.count, 1)}", "-f", str(script), NAME])
        cpu = self.cpu_seconds() - cpu
        done = re.search(r"number of transactions actually processed: (\d+)", output)
        rate = re.search(r"tps = ([\d.]+)", output)
        if not done or not rate or int(done.group(1)) == 0:
            raise CannotMeasure(f"pgbench: {output.strip()[-300:]}")
        return {"rate": float(rate.group(1)), "cpu": cpu / int(done.group(1)) * 1e6}

    def sql(self, text):
        for statement in filter(None, map(str.strip, text.split(";"))):
            self._run([self.psql, *self._where(), "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, NAME])

    def cpu_seconds(self):
        """CPU time of the server's processes, those of ended connections included; 0 when it does not run."""
        if self.process is None:
            return 0.0
        ticks, server = 0, self.process.pid
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue  # It ended.
            if int(entry) == server:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == server:
                ticks += sum(map(int, fields[11:13]))
        return ticks / HZ

    def forget(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
        self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _where(self):
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", NAME]

    def _run(self, command, tries=1):
        """The output of a command, which is tried again for a while until it succeeds."""
        for left in range(tries, 0, -1):
            run = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=self.folder)
            if run.returncode == 0:
                return run.stdout
            if left > 1:
                time.sleep(0.1)
        raise CannotMeasure(f"{pathlib.Path(command[0]).name}: {(run.stdout + run.stderr).strip()[-300:]}")
