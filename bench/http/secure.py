"""The steps over HTTPS: GET beside plain HTTP, and what a connection costs, each on servers that ask for a client certificate.

RavenDB reads RSA keys alone, so beside it both have one of 2,048 bits; else ours has the P-256 key that `rookery cert` makes.
"""

import json
import shutil
import ssl
import subprocess

from bench.bars import HTTP, OURS, REFERENCE
from bench.figures import CannotMeasure
from bench.http import load
from bench.http.load import HERE
from bench.http.server import Server, Tls

DOCUMENTS = 1_000_000
CONNECTIONS = 16
EXTENSIONS = """subjectAltName=IP:127.0.0.1
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
"""


class Secure:
    """Runs as a part of `phases.Run`, whose figures and repetitions it takes; its servers are its own."""

    def __init__(self, run):
        self.run, self.settings = run, run.settings
        self.steps = [step for step in run.steps if step.startswith("tls-")]

    def all(self):
        if not self.steps:
            return
        for server in self.run.servers:
            server.stop()
        plain, ours, ours_rsa, reference = self.servers()
        running = [server for server in (reference, plain, ours, ours_rsa) if server]
        try:
            self.fill(running)
            for step, way, servers in [
                ("tls-16", {}, [reference, plain, ours]),
                ("tls-new-16", {"BENCH_CLOSE": 1}, [plain, ours]),
                ("tls-new-rsa-16", {"BENCH_CLOSE": 1}, [reference, ours_rsa]),
            ]:
                if step in self.steps:
                    self.get(step, way, [server for server in servers if server])
        finally:
            for server in running:
                server.forget()

    def servers(self):
        """Ours with plain HTTP, with a P-256 key, with an RSA key; the reference with that, or `None`."""
        work, command = self.settings.work, f"{self.run.program} serve --DataDir={{data}} --ServerUrl="
        library = preload(work)
        made, rsa = by_program(self.run.program, work / "certificates"), by_openssl(work / "rsa")
        reference = None
        if self.settings.reference:
            # The last of two settings of one name counts.
            https = f"{self.settings.reference} --ServerUrl=https://127.0.0.1:{{port}} {rsa.arguments}"
            reference = Server(REFERENCE, https, work, rsa.tls(library))
        plain = Server(HTTP, f"{command}http://127.0.0.1:{{port}}", work)
        ours, ours_rsa = (
            Server(OURS, f"{command}https://127.0.0.1:{{port}} {identity.arguments}", work, identity.tls(library))
            for identity in (made, rsa)
        )
        return plain, ours, ours_rsa, reference

    def fill(self, servers):
        count = self.settings.count(DOCUMENTS)
        body = load.stream(count)
        for server in servers:
            server.start()
            server.create("bench")
            load.bulk_insert(server, "bench", count, body)
            there = server.document_count("bench")
            if there != count:
                raise CannotMeasure(f"{server.name} has {there} documents of {count}")
        for server in servers:
            self.wrk(server, self.settings.warm_seconds, 99)

    def get(self, step, way, servers):
        def get(server, tag):
            return self.wrk(server, self.settings.seconds, 1 + int(tag.split(".")[0]), **way)

        self.run.repeat(step, get, servers=servers)

    def wrk(self, server, seconds, seed, **way):
        count = self.settings.count(DOCUMENTS)
        return self.run.wrk(server, "get.lua", CONNECTIONS, seconds, "bench", BENCH_N=count, BENCH_SEED=seed, **way)


class Identity:
    """Files of a server and of its operator, who is a client, and the settings with which a server takes them."""

    def __init__(self, authority, server_pfx, client_pem, thumbprint):
        self.authority, self.client_pem = authority, client_pem
        self.arguments = f"--Security.Certificate.Path={server_pfx} --Security.WellKnownCertificates.Admin={thumbprint}"

    def tls(self, library):
        context = ssl.create_default_context(cafile=self.authority)
        context.load_cert_chain(self.client_pem)
        return Tls(context, {"LD_PRELOAD": str(library), "BENCH_CERTIFICATE": str(self.client_pem)})


def by_program(program, folder):
    """As users make them."""
    shutil.rmtree(folder, ignore_errors=True)
    execute([program, "cert", "create", "127.0.0.1", "--folder", folder])
    settings = json.loads((folder / "settings.json").read_text())
    thumbprint = settings["Security.WellKnownCertificates.Admin"]
    return Identity(folder / "ca.crt", folder / "server.pfx", folder / "admin.pem", thumbprint)


def by_openssl(folder):
    """With keys that RavenDB reads: RSA of 2,048 bits."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "extensions").write_text(EXTENSIONS)

    def path(name):
        return folder / name

    new_key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", path("ca.key"), "-out", path("ca.crt"), "-days", "30", "-subj", "/CN=authority")
    for name in ("server", "admin"):
        key, certificate, request = path(f"{name}.key"), path(f"{name}.crt"), path(f"{name}.csr")
        openssl("req", *new_key, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        signed_by = ["-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial", "-extfile", path("extensions")]
        openssl("x509", "-req", "-in", request, *signed_by, "-days", "30", "-out", certificate)
        openssl("pkcs12", "-export", "-inkey", key, "-in", certificate, "-out", path(f"{name}.pfx"), "-passout", "pass:")
        path(f"{name}.pem").write_text(certificate.read_text() + key.read_text())
    shown = openssl("x509", "-in", path("admin.crt"), "-noout", "-fingerprint", "-sha1")
    thumbprint = shown.strip().split("=")[1].replace(":", "")
    return Identity(path("ca.crt"), path("server.pfx"), path("admin.pem"), thumbprint)


def preload(folder):
    """Builds what gives wrk a client certificate."""
    library = folder / "client_certificate.so"
    execute(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "client_certificate.c"])
    return library


def openssl(*arguments):
    return execute(["openssl", *arguments])


def execute(command):
    """What the program prints."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except FileNotFoundError:
        raise CannotMeasure(f"needs {command[0]}") from None
    if done.returncode != 0:
        raise CannotMeasure(f"{command[0]} {command[1]}: {done.stderr.strip()[-300:]}")
    return done.stdout
