"""C05: a connection goes to exactly the address that was judged, with the name's certificate, past every detour."""

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from agents.addresses import BadProvider, check_address, connectable
from llm import pinned
from llm.client import ChatMessage, ChatRequest, ModelError
from llm.openai import OpenAIModel
from tests.encryption.vault_server import certificate
from tests.stub_server import Script, serving

REQUEST = ChatRequest("stub-1", (ChatMessage("user", "Hello."),))
PUBLIC = "93.184.215.14"
METADATA = "169.254.169.254"
type Names = Callable[..., list[str]]


@pytest.fixture
def strict(settings: Settings) -> Settings:
    settings.ALLOW_PRIVATE_PROVIDERS = False
    return settings


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Let a name answer differently each time it is looked up; return the names that were looked up, in order."""
    look_up = socket.getaddrinfo

    def answer(name: str, *answers: list[str]) -> list[str]:
        asked: list[str] = []

        def getaddrinfo(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
            if host != name:
                return look_up(host, port, *rest, **more)
            asked.append(host)
            now = answers[min(len(asked), len(answers)) - 1]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in now]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return asked

    return answer


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a connection was tried; none is made."""
    tried: list[str] = []

    def refuse(address: tuple[str, int], *_rest: Any, **_more: Any) -> Any:
        tried.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def call(base_url: str, **more: Any) -> str:
    """Return the reply, or the code of the refusal."""
    model = OpenAIModel(
        **{"base_url": base_url, "api_key": "sk-1", "timeout": 3.0, "attempts": 1, "resolve": connectable, **more}
    )
    try:
        return model.complete(REQUEST).text
    except ModelError as error:
        return error.code


def test_c05_a_name_is_looked_up_once_and_that_answer_is_connected(
    strict: Settings, names: Names, connected: list[str]
) -> None:
    asked = names("models.example", [PUBLIC], ["127.0.0.1"])
    assert call("https://models.example/v1") == "unreachable"
    assert (asked, connected) == (["models.example"], [PUBLIC])


def test_c05_a_name_that_answers_differently_the_second_time_is_judged_again(
    strict: Settings, names: Names, connected: list[str]
) -> None:
    names("models.example", [PUBLIC], [PUBLIC], ["127.0.0.1"])
    check_address("https://models.example/v1")
    assert call("https://models.example/v1") == "unreachable"
    assert call("https://models.example/v1") == "refused_address"
    assert connected == [PUBLIC]


@pytest.mark.parametrize("answer", [[PUBLIC, "10.0.0.1"], ["::ffff:7f00:1"], ["64:ff9b::a9fe:a9fe"], [METADATA]])
def test_c05_one_bad_address_among_the_answers_refuses_the_name(
    strict: Settings, names: Names, connected: list[str], answer: list[str]
) -> None:
    names("models.example", answer)
    assert call("https://models.example/v1") == "refused_address"
    assert connected == []


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]", "localhost", "①②⑦.0.0.1", "127。0。0。1"]
)
def test_c05_loopback_is_refused_however_it_is_written(strict: Settings, connected: list[str], host: str) -> None:
    assert call(f"https://{host}/v1") in ("refused_address", "unreachable", "bad_answer")
    assert connected == []
    with pytest.raises(BadProvider):
        check_address(f"https://{host}/v1")


def test_c05_a_name_with_a_trailing_dot_is_judged_like_any_other(
    strict: Settings, names: Names, connected: list[str]
) -> None:
    names("localhost.", ["127.0.0.1"])
    assert call("https://localhost./v1") == "refused_address"
    with pytest.raises(BadProvider, match="private network"):
        check_address("https://localhost./v1")
    assert connected == []


@pytest.mark.parametrize("address", [METADATA, "[fe80::1]", "[fd00:ec2::254]", "224.0.0.1", f"[::ffff:{METADATA}]"])
def test_c05_metadata_and_multicast_are_refused_also_where_private_addresses_are_allowed(
    connected: list[str], address: str
) -> None:
    with pytest.raises(BadProvider, match="never used"):
        check_address(f"http://{address}/v1")
    assert call(f"http://{address}/v1") == "refused_address"
    assert connected == []


def test_c05_a_local_name_may_be_unknown_when_it_is_set_up_and_is_unreachable_when_called(names: Names) -> None:
    check_address("http://ollama.invalid:11434/v1")
    assert call("http://ollama.invalid:11434/v1") == "unreachable"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_c05_a_redirect_is_not_followed(model_server: Script, status: int) -> None:
    with serving(Script()) as elsewhere:
        for target in (f"{elsewhere.url}/chat/completions", f"http://{METADATA}/latest/meta-data/"):
            model_server.answers = [{"status": status, "headers": {"Location": target}}]
            assert call(model_server.url) == "refused_request"
        assert elsewhere.requests == []
    assert len(model_server.requests) == 2


def test_c05_a_proxy_in_the_environment_is_not_used(model_server: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Script()) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert call(model_server.url) == "Hello."
        assert proxy.requests == []


def test_c05_the_next_address_is_tried_where_the_first_does_not_answer(model_server: Script, names: Names) -> None:
    names("models.example", ["127.0.0.2", "127.0.0.1"])
    assert call(model_server.url.replace("127.0.0.1", "models.example")) == "Hello."


# --- TLS --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tls_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Script, list[str | None]]]:
    """A server with the certificate of models.example, which this process trusts, and the names it was asked for."""
    pem, private = certificate(tmp_path, host="models.example")
    context, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[str | None]()
    context.load_cert_chain(pem, private)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    monkeypatch.setattr(pinned, "_tls", lambda: ssl.create_default_context(cafile=pem))
    with serving(Script(), tls=context) as script:
        yield script, asked


def test_c05_tls_is_verified_against_the_name_and_not_the_address(
    tls_server: tuple[Script, list[str | None]], names: Names
) -> None:
    server, asked = tls_server
    names("models.example", ["127.0.0.1"])
    assert call(server.url.replace("127.0.0.1", "models.example")) == "Hello."
    assert asked == ["models.example"]
    assert call(server.url) == "unreachable"
    names("other.example", ["127.0.0.1"])
    assert call(server.url.replace("127.0.0.1", "other.example")) == "unreachable"
    assert len(server.requests) == 1


def test_c05_a_certificate_that_nobody_signed_is_refused(
    tls_server: tuple[Script, list[str | None]], names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _asked = tls_server
    monkeypatch.setattr(pinned, "_tls", ssl.create_default_context)
    names("models.example", ["127.0.0.1"])
    assert call(server.url.replace("127.0.0.1", "models.example")) == "unreachable"
    assert server.requests == []
