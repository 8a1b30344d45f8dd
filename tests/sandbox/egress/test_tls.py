"""Connected by address, trusted by name."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from omni.sandbox.egress.client import Request, Response, fetch
from omni.sandbox.egress.errors import Unreachable

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For api.example, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "api.example")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("api.example")]), False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


def secured(connection: socket.socket, context: ssl.SSLContext) -> None:
    with context.wrap_socket(connection, server_side=True) as wrapped:
        wrapped.recv(65536)
        wrapped.sendall(OK)


class TlsServer:
    """Answers one handshake after another on a free port."""

    def __init__(self, certificate: Path) -> None:
        self.names: list[str] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.sni_callback = lambda sock, name, ctx: self.names.append(name)
        self._context = context
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            try:
                secured(connection, self._context)
            except OSError:
                connection.close()

    def stop(self) -> None:
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self._thread.join(10)


@pytest.mark.req("TOOL-10")
def test_the_server_proves_the_name_that_was_asked_for(certificate: Path) -> None:
    """Connected by address, yet SNI and certificate are those of the name."""
    server = TlsServer(certificate)
    trust = ssl.create_default_context(cafile=str(certificate))

    def ask(host: str, tls: ssl.SSLContext | None) -> Response:
        place = f"{host}:{server.port}"
        return fetch(
            Request("GET", f"https://{place}/"),
            hosts=frozenset({host}),
            allow_private=frozenset({place}),
            lookup=lambda host, port: ["127.0.0.1"],
            tls=tls,
        )

    try:
        assert ask("api.example", trust).body == b"ok"
        assert server.names == ["api.example"]
        with pytest.raises(Unreachable, match="not trusted"):
            ask("other.example", trust)
        with pytest.raises(Unreachable, match="not trusted"):
            ask("api.example", None)
    finally:
        server.stop()
