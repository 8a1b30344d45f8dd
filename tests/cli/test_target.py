"""Which server is called with which token; a token never reaches a server it was not meant for."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Installation


class Listener:
    """A server that notes what it receives and answers 200 with an empty object."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.received.append(connection.recv(65536))
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
                )

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def other_server() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.mark.req("CLI-1")
def test_on_this_machine_nothing_needs_to_be_set_up(omni: Cli, installation: Installation) -> None:
    me = omni.json("whoami")
    assert me["email"] == "admin@omni.local"
    assert me["server"] == installation.url
    assert me["token_from"] == "this machine"
    assert set(me["scopes"]) == {"read", "write", "secrets", "admin"}


@pytest.mark.req("CLI-1")
def test_a_remote_server_is_used_with_a_token(ada: Cli, installation: Installation) -> None:
    me = ada.json("whoami")
    assert (me["email"], me["token_from"]) == ("ada@example.org", "OMNI_TOKEN")
    assert me["server"] == installation.url


@pytest.mark.req("CLI-1")
def test_login_saves_and_logout_forgets(alone: Cli, installation: Installation) -> None:
    file = Path(alone.env["HOME"]) / ".config/omni/credentials.json"
    said = alone("login", f"{installation.url}/api/", input=installation.tokens["ada"] + "\n")
    assert "ada@example.org" in said.stdout
    assert installation.tokens["ada"] not in said.stdout + said.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(file.read_text())["servers"]) == [installation.url]
    assert alone.json("whoami")["token_from"] == "saved login"
    assert alone.json("logout") == {"server": installation.url, "forgotten": True}
    assert installation.tokens["ada"] not in file.read_text()
    alone("whoami", code=3)
    alone("logout", code=6)


@pytest.mark.req("SEC-3")
def test_login_asks_without_echo(alone: Cli, installation: Installation) -> None:
    shown = alone.terminal("login", installation.url, typed=installation.tokens["ada"] + "\n")
    assert shown.code == 0
    assert "ada@example.org" in shown.text
    assert installation.tokens["ada"] not in shown.raw


@pytest.mark.req("CLI-1")
def test_login_saves_nothing_that_does_not_work(alone: Cli, installation: Installation) -> None:
    alone("login", installation.url, input="omni_not-a-token-of-anybody", code=4)
    alone("login", installation.url, input="two words", code=4)
    assert not (Path(alone.env["HOME"]) / ".config/omni/credentials.json").exists()


@pytest.mark.req("SEC-3")
def test_saved_logins_that_others_can_read_are_refused(
    alone: Cli, installation: Installation
) -> None:
    alone("login", installation.url, input=installation.tokens["ada"])
    (Path(alone.env["HOME"]) / ".config/omni/credentials.json").chmod(0o644)
    assert "chmod 600" in alone("whoami", code=1).stderr


@pytest.mark.req("SEC-3")
def test_a_token_goes_only_where_it_was_meant_to_go(
    ada: Cli, installation: Installation, other_server: Listener
) -> None:
    """OMNI_TOKEN belongs to OMNI_URL, a saved token to its server, this machine's to it."""
    ada("login", installation.url, input=installation.tokens["eve"])
    ada("whoami", "--url", other_server.url, code=4)
    assert other_server.received == []


@pytest.mark.req("SEC-3")
def test_the_local_token_is_not_given_to_whoever_took_the_port(
    alone: Cli, other_server: Listener
) -> None:
    """Nothing of ours runs, so what listens there is a stranger."""
    home = Path(alone.env["OMNI_HOME"])
    (home / "keys").mkdir(parents=True)
    (home / "keys/cli.token").write_text("omni_the-token-of-this-machine")
    alone("whoami", code=3, OMNI_PORT=other_server.url.rpartition(":")[2])
    assert other_server.received == []


@pytest.mark.req("SEC-1")
def test_a_token_is_not_sent_over_http_to_another_machine(alone: Cli, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("omni_of-somebody")
    arguments = ("whoami", "--token-file", str(tmp_path / "token"), "--url")
    refused = alone(*arguments, "http://192.0.2.1", code=5)
    assert "not encrypted" in refused.stderr
    assert "--insecure" in refused.stderr
    alone(*arguments, "http://localhost.example.org", code=5)
    alone("login", "http://192.0.2.1", input="omni_of-somebody", code=5)


@pytest.mark.req("SEC-1")
def test_insecure_sends_it_all_the_same(alone: Cli, other_server: Listener, tmp_path: Path) -> None:
    """0.0.0.0 is no loopback address by its spelling, though it leads here."""
    (tmp_path / "token").write_text("omni_of-somebody")
    url = other_server.url.replace("127.0.0.1", "0.0.0.0")
    arguments = ("api", "GET", "/api/me", "--url", url, "--token-file", str(tmp_path / "token"))
    alone(*arguments, code=5)
    assert other_server.received == []
    alone(*arguments, "--insecure")
    assert b"Bearer omni_of-somebody" in other_server.received[0]


@pytest.mark.req("SEC-3")
def test_a_redirect_does_not_carry_the_token_away(alone: Cli, other_server: Listener) -> None:
    elsewhere = other_server.url
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            head = f"HTTP/1.1 302 Found\r\nLocation: {elsewhere}/\r\n"
            connection.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())

    thread = threading.Thread(target=answer)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    result = alone("whoami", code=1, OMNI_URL=url, OMNI_TOKEN="omni_of-somebody")
    thread.join()
    listener.close()
    assert elsewhere in result.stderr
    assert other_server.received == []


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("url", ["ftp://example.org", "http://", "https://me:pw@example.org", ":1"])
def test_what_is_no_address_is_refused(alone: Cli, url: str) -> None:
    assert alone("whoami", "--url", url, code=2).stderr.startswith("omni: ")
