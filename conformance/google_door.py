"""The door of Google Cloud Storage: takes requests with a service account's token, and passes them on to a store of S3.

Google's XML interface has the requests of S3 (objects, lists in version 2, multipart uploads, errors), and credentials of its own. The door
checks these as Google does: a token is a JSON Web Token in `Authorization: Bearer ..`, signed by RS256 with the key of the account, not
expired, with a scope that may write. Then it signs the request for S3 (AWS Signature Version 4) and passes it on.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.parse

ACCOUNT = "backups@rookery-tests.example.com"
SCOPES = {"https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/devstorage.full_control"}
TIMEOUT_SECONDS = 120
# RFC 8017, 9.2: what precedes a SHA-256 in a signature.
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
EXPONENT = 65537
BITS = 2048
UNAUTHENTICATED = (
    b"<?xml version='1.0' encoding='UTF-8'?><Error><Code>AuthenticationRequired</Code><Message>Authentication required.</Message></Error>"
)


class Key:
    """A key of RSA as Google makes it for a service account. Needs `openssl`."""

    def __init__(self):
        command = ["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{BITS}"]
        self.private = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        command = ["openssl", "rsa", "-noout", "-modulus"]
        shown = subprocess.run(command, input=self.private, check=True, capture_output=True, text=True).stdout
        self.modulus = int(shown.strip().removeprefix("Modulus="), 16)
        self.id = hashlib.sha256(shown.encode()).hexdigest()[:40]

    def has_signed(self, text, signature):
        expected = b"\x00\x01" + b"\xff" * (BITS // 8 - 3 - len(SHA256_INFO) - 32) + b"\x00" + SHA256_INFO + hashlib.sha256(text).digest()
        return pow(int.from_bytes(signature, "big"), EXPONENT, self.modulus) == int.from_bytes(expected, "big")


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Listener(http.server.ThreadingHTTPServer):
    """Says nothing of connections that are cut: the tests cut them."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Door:
    """Listens on a free `port` until it is closed. `requests` counts those that it let through."""

    def __init__(self, key, target, access, secret, region):
        self.key, self.target, self.access, self.secret, self.region = key, target, access, secret, region
        self.requests = 0
        door = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                door.pass_on(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        self.server = Listener(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def is_allowed(self, authorization):
        """Whether a header has a token that the key signed for its account, and that still holds."""
        try:
            kind, token = authorization.split(" ")
            head, claims, signature = token.split(".")
            properties, claimed = json.loads(decoded(head)), json.loads(decoded(claims))
            is_signed = self.key.has_signed(f"{head}.{claims}".encode(), decoded(signature))
            is_its = properties["alg"] == "RS256" and properties["kid"] == self.key.id and claimed["iss"] == ACCOUNT
            return kind == "Bearer" and is_signed and is_its and claimed["iat"] - 60 < time.time() < claimed["exp"] and claimed["scope"] in SCOPES
        except (ValueError, KeyError, AttributeError):
            return False

    def pass_on(self, request):
        size = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(size)
        if len(body) < size:
            request.close_connection = True
            return None
        if not self.is_allowed(request.headers.get("Authorization")):
            return self.answer(request, 401, {"Content-Type": "application/xml"}, UNAUTHENTICATED)
        self.requests += 1
        passed = {"range", "if-match", "if-none-match", "content-type"}
        headers = {name.lower(): value for name, value in request.headers.items() if name.lower() in passed}
        target = self.signed(request.command, request.path, headers)
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(request.command, target, body, headers)
            answer = connection.getresponse()
            shown = {name: value for name, value in answer.getheaders() if name.lower() not in {"connection", "transfer-encoding", "date", "server"}}
            self.answer(request, answer.status, shown, answer.read())
        finally:
            connection.close()

    def answer(self, request, status, headers, body):
        request.send_response(status)
        for name, value in headers.items():
            if name.lower() != "content-length" or request.command == "HEAD":
                request.send_header(name, value)
        if request.command != "HEAD":
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)

    def signed(self, method, target, headers):
        """Adds what S3 asks for to the headers, and returns the path and the query in the form that was signed."""
        parts = urllib.parse.urlsplit(target)
        path = urllib.parse.quote(urllib.parse.unquote(parts.path), safe="/~")
        query = sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        query = "&".join(f"{urllib.parse.quote(name, safe='~')}={urllib.parse.quote(value, safe='~')}" for name, value in query)
        now = datetime.datetime.now(datetime.timezone.utc)
        date, moment = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
        headers |= {"host": f"127.0.0.1:{self.target}", "x-amz-date": moment, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name].strip()}\n" for name in sorted(headers))
        canonical = f"{method}\n{path}\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
        scope = f"{date}/{self.region}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = f"AWS4{self.secret}".encode()
        for part in [date, self.region, "s3", "aws4_request"]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={names}, Signature={signature}"
        return f"{path}?{query}" if query else path

    def close(self):
        self.server.shutdown()
        self.server.server_close()
