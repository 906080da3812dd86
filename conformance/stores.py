"""Object stores that the tests of backups start: S3, Azure Blob Storage, and Google Cloud Storage.

Each is a server of its own on a free port, with one bucket in a temporary folder:

* `S3`: versitygw.
* `Azure`: Azurite, Microsoft's emulator.
* `Google`: versitygw behind a door (`google_door.py`). Google's XML interface is that of S3 but for the credentials: it takes tokens that
  are signed with the key of a service account. The door checks those, and signs the requests for versitygw.

A `Proxy` stands between the server and a store, and cuts or slows the connections.
"""

import base64
import datetime
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import xml.etree.ElementTree

import google_door

START_SECONDS_MAX = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Store:
    """A store with one bucket. `property` is the name of its settings, `kind` that of its kind in requests."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="rookery-store-")
        self.port = free_port()
        self.log = open(f"{self.folder}/log", "w")

    def start(self, command, **environment):
        self.process = subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT
        )
        end = time.monotonic() + START_SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        self.log.flush()
        output = pathlib.Path(self.log.name).read_text()[-2000:]
        self.stop()
        sys.exit(f"the store for {self.kind} did not start: {output}")

    def place(self, folder, port=None, **others):
        """Settings of a destination, by the name of their property.

        * `port`: of a proxy; without it the store's own.
        * `others`: properties in place of the right ones, `None` to leave one out.
        """
        settings = {**self.settings(port or self.door_port()), "RemoteFolderName": folder, **others}
        return {self.property: {name: value for name, value in settings.items() if value is not None}}

    def door_port(self):
        return self.port

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class S3(Store):
    kind, property = "S3", "S3Settings"
    access, secret, region = "AKIAROOKERYTESTS0000", "a-secret-of-the-tests-of-rookery", "eu-1"

    def __init__(self, program):
        super().__init__()
        os.makedirs(f"{self.folder}/root/bucket")
        os.makedirs(f"{self.folder}/metadata")
        # Metadata beside the files: not every file system has extended attributes.
        command = [program, "--access", self.access, "--secret", self.secret, "--region", self.region]
        command += ["--port", f"127.0.0.1:{self.port}", "--quiet", "--keep-alive"]
        self.start([*command, "posix", "--sidecar", f"{self.folder}/metadata", f"{self.folder}/root"])

    def settings(self, port):
        place = {"CustomServerUrl": f"http://127.0.0.1:{port}", "ForcePathStyle": True, "AwsRegionName": self.region, "BucketName": "bucket"}
        return {**place, "AwsAccessKey": self.access, "AwsSecretKey": self.secret}

    def refusals(self):
        """Properties that are wrong, and what the error says about them."""
        return [
            ({"AwsSecretKey": "not-the-secret-of-the-tests"}, "Correct 'AwsSecretKey'"),
            ({"AwsAccessKey": "AKIANOBODYKNOWSTHIS0"}, "Correct 'AwsAccessKey'"),
            ({"BucketName": "zork"}, "Create it, or correct 'BucketName'"),
        ]

    def secrets(self):
        return [self.access, self.secret]

    def files(self):
        """The objects, by their keys, with sizes; without what the store keeps for itself."""
        root = pathlib.Path(self.folder) / "root" / "bucket"
        found = {str(path.relative_to(root)): path.stat().st_size for path in root.rglob("*") if path.is_file()}
        return {key: size for key, size in found.items() if not key.startswith(".sgwtmp")}

    def parts(self):
        """What is left of uploads that were begun and did not end."""
        root = pathlib.Path(self.folder) / "root" / "bucket" / ".sgwtmp" / "multipart"
        return [path for path in root.rglob("*") if path.is_file()]


class Google(S3):
    kind, property = "GoogleCloud", "GoogleCloudSettings"

    def __init__(self, program):
        super().__init__(program)
        self.key = google_door.Key()
        self.door = google_door.Door(self.key, self.port, self.access, self.secret, self.region)

    def door_port(self):
        return self.door.port

    def settings(self, port):
        return {"BucketName": "bucket", "GoogleCredentialsJson": self.credentials(self.key, port)}

    def credentials(self, key, port):
        """The file of a service account's key, which leads to this store."""
        return json.dumps({
            "type": "service_account",
            "project_id": "rookery-tests",
            "private_key_id": key.id,
            "private_key": key.private,
            "client_email": google_door.ACCOUNT,
            "token_uri": "https://oauth2.googleapis.com/token",
            "gcs_base_url": f"http://127.0.0.1:{port}",
        })

    def refusals(self):
        other = google_door.Key()
        return [
            ({"GoogleCredentialsJson": self.credentials(other, self.door.port)}, "Correct 'GoogleCredentialsJson'"),
            ({"BucketName": "zork"}, "Create it, or correct 'BucketName'"),
        ]

    def secrets(self):
        return [self.key.id, self.key.private.splitlines()[1]]

    def stop(self):
        self.door.close()
        super().stop()


class Azure(Store):
    kind, property = "Azure", "AzureSettings"
    account, container = "rookerytests", "backups"
    # Of the requests that the tests make themselves.
    version = "2021-12-02"

    def __init__(self, program):
        super().__init__()
        self.key = base64.b64encode(hashlib.sha512(os.urandom(64)).digest()).decode()
        command = [program, "--blobHost", "127.0.0.1", "--blobPort", str(self.port), "--location", self.folder]
        # The crate of the server may be newer than the emulator.
        command += ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
        self.start(command, AZURITE_ACCOUNTS=f"{self.account}:{self.key}")
        self.request("PUT", f"/{self.container}", {"restype": "container"})

    def settings(self, port):
        place = {"CustomServerUrl": f"http://127.0.0.1:{port}/{self.account}", "StorageContainer": self.container}
        return {**place, "AccountName": self.account, "AccountKey": self.key}

    def sign(self, text):
        return base64.b64encode(hmac.new(base64.b64decode(self.key), text.encode(), hashlib.sha256).digest()).decode()

    def token(self, permissions="rwdlc", minutes=60):
        """A signature for the whole account (SAS) that ends so many minutes from now."""
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
        end = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        parts = [self.account, permissions, "b", "sco", "", end, "", "", self.version, "", ""]
        fields = {"sv": self.version, "ss": "b", "srt": "sco", "sp": permissions, "se": end, "sig": self.sign("\n".join(parts))}
        return urllib.parse.urlencode(fields)

    def request(self, method, path, query):
        """One request that is signed with the key; the answer's body."""
        path = f"/{self.account}{path}"
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": self.version, "Content-Length": "0"}
        signed = "".join(f"{name}:{headers[name]}\n" for name in ["x-ms-date", "x-ms-version"])
        resource = f"/{self.account}{path}" + "".join(f"\n{name}:{query[name]}" for name in sorted(query))
        signature = self.sign(method + "\n" * 12 + signed + resource)
        headers["Authorization"] = f"SharedKey {self.account}:{signature}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS_MAX)
        connection.request(method, f"{path}?{urllib.parse.urlencode(query)}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status < 300, f"{answer.status} to {method} {path}: {body.decode()}"
        return body

    def listed(self, **query):
        body = self.request("GET", f"/{self.container}", {"restype": "container", "comp": "list", **query})
        blobs = xml.etree.ElementTree.fromstring(body).iter("Blob")
        return {blob.findtext("Name"): int(blob.findtext("Properties/Content-Length") or 0) for blob in blobs}

    def refusals(self):
        other = base64.b64encode(os.urandom(64)).decode()
        return [
            ({"AccountKey": other}, "'AccountKey' or 'SasToken'"),
            ({"AccountKey": None, "SasToken": self.token(minutes=-5)}, "'AccountKey' or 'SasToken'"),
            ({"StorageContainer": "zork"}, "Create it, or correct 'StorageContainer'"),
        ]

    def secrets(self):
        return [self.key]

    def files(self):
        return self.listed()

    def parts(self):
        """Files of which blocks came that were not made into a file yet."""
        return sorted(self.listed(include="uncommittedblobs").keys() - self.listed().keys())


class Proxy:
    """Passes connections on to a port, and cuts or slows them.

    * `cut_up`, `cut_down`: bytes of one connection to and from the store after which it is cut; `times` connections.
    * `rate_up`: bytes in a second of each connection.
    """

    def __init__(self, port, cut_up=None, cut_down=None, times=0, rate_up=None):
        self.target = port
        self.cut_up, self.cut_down, self.times, self.rate_up = cut_up, cut_down, times, rate_up
        self.cuts = self.sent = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            store = socket.create_connection(("127.0.0.1", self.target))
            for source, sink, limit, rate in [(client, store, self.cut_up, self.rate_up), (store, client, self.cut_down, None)]:
                threading.Thread(target=self._copy, args=(source, sink, limit, rate, (client, store)), daemon=True).start()

    def _copy(self, source, sink, limit, rate, both):
        total = 0
        try:
            while piece := source.recv(16 << 10):
                total += len(piece)
                if limit is not None and total > limit and self._may_cut():
                    break
                sink.sendall(piece)
                if sink is both[1]:
                    with self.lock:
                        self.sent += len(piece)
                if rate:
                    time.sleep(len(piece) / rate)
        except OSError:
            pass
        for one in both:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _may_cut(self):
        with self.lock:
            if self.cuts >= self.times:
                return False
            self.cuts += 1
            return True

    def close(self):
        self.listener.close()
