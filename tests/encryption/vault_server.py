"""A local stand-in for Vault's Transit engine, over TLS, from its documented protocol; asserts nothing.

`POST /v1/MOUNT/encrypt/NAME` takes `plaintext` and `associated_data` in base64 and answers `{"data": {"ciphertext":
"vault:vN:…"}}`; `decrypt` takes them back. Errors are `{"errors": […]}`: 400 for a ciphertext that does not open, 403
for a token that may not, 503 while sealed.
"""

import base64
import datetime
import ipaddress
import json
import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from cryptography import x509
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID

TOKEN = "hvs.a-token-for-tests"


@dataclass
class FakeVault:
    """Its keys by name and version, and what it was asked. `status` and `body` override every answer."""

    address: str = ""
    ca_file: Path = Path()
    keys: dict[str, list[bytes]] = field(default_factory=lambda: {"memory": [os.urandom(32)]})
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    namespaces: list[str | None] = field(default_factory=list)
    status: int = 0
    body: bytes = b""
    delay: threading.Event | None = None

    def rotate(self, name: str = "memory") -> None:
        self.keys[name].append(os.urandom(32))

    def answer(self, verb: str, name: str, body: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if name not in self.keys:
            return 400, {"errors": ["encryption key not found"]}
        associated = base64.b64decode(body.get("associated_data", ""))
        versions = self.keys[name]
        if verb == "encrypt":
            nonce = os.urandom(12)
            sealed = nonce + AESGCM(versions[-1]).encrypt(nonce, base64.b64decode(body["plaintext"]), associated)
            text = f"vault:v{len(versions)}:{base64.b64encode(sealed).decode()}"
            return 200, {"data": {"ciphertext": text, "key_version": len(versions)}}
        try:
            prefix, version, encoded = body["ciphertext"].split(":")
            sealed = base64.b64decode(encoded)
            key = versions[int(version.removeprefix("v")) - 1]
            plain = AESGCM(key).decrypt(sealed[:12], sealed[12:], associated)
        except (ValueError, IndexError, InvalidTag):
            return 400, {"errors": ["cipher: message authentication failed"]}
        return (200, {"data": {"plaintext": base64.b64encode(plain).decode()}}) if prefix == "vault" else (400, {})


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        fake = cast("Any", self.server).fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _empty, _v1, _mount, verb, name = self.path.split("/")
        fake.asked.append((f"{verb}/{name}", body))
        fake.namespaces.append(self.headers["X-Vault-Namespace"])
        if fake.delay is not None:
            fake.delay.wait(10)
        if fake.status:
            status, text = fake.status, fake.body
        elif self.headers["X-Vault-Token"] != TOKEN:
            status, text = 403, b'{"errors": ["permission denied"]}'
        else:
            status, answer = fake.answer(verb, name, body)
            text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if status == 307:
            self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


def certificate(folder: Path, *, host: str = "") -> tuple[Path, Path]:
    """Write a self-signed certificate of a host, or of 127.0.0.1, and its key; return both files."""
    subject = x509.DNSName(host) if host else x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "vault for tests")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / "vault.pem", folder / "vault.key"
    pem.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, private


@contextmanager
def serving(folder: Path) -> Iterator[FakeVault]:
    fake = FakeVault()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.ca_file, private = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(fake.ca_file, private)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    cast("Any", server).fake = fake
    fake.address = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
