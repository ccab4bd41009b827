"""Checks over real HTTP that a redirect never carries the prompt or the key to another origin, and that
the error names the origin that was refused and no secret."""

from urllib.parse import urlsplit

import pytest
from asking import ASK, SECRET, ask, ask_all, fails
from chat_server import Answer, ChatServer, in_pieces, says
from peirce.agents import EndpointRefused


def redirect(target, code=307):
    return lambda request: Answer(b"", code, {"Location": target})


def elsewhere(url, kind):
    """The same server under another name, another port or another scheme."""
    port = urlsplit(url).port
    return {
        "port": url,
        "host": f"http://localhost:{port}/v1",
        "scheme": f"https://127.0.0.1:{port}/v1",
        "no scheme": f"//127.0.0.1:{port}/v1",
    }[kind]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("stream", [False, True])
def test_a_redirect_to_another_port_is_not_followed(monkeypatch, code, stream):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    with ChatServer([says("x")]) as other:
        error, server = fails(redirect(f"{other.url}/chat/completions", code), stream=stream)
        assert other.requests == other.got == [] and other.connections == 0
    assert isinstance(error, EndpointRefused) and len(server.requests) == 1
    assert f"a redirect to {other.url.removesuffix('/v1')}, which is not followed" in str(error)


@pytest.mark.parametrize("kind", ["port", "host", "scheme", "no scheme"])
def test_an_origin_is_scheme_host_and_port(kind):
    with ChatServer([says("x")]) as other:
        target = elsewhere(other.url, kind)
        error, _ = fails(redirect(f"{target}/chat/completions"))
        assert other.connections == 0
    assert isinstance(error, EndpointRefused) and urlsplit(target).netloc in str(error)


def test_the_same_server_under_another_name_is_another_origin():
    def behave(request):
        host = request["headers"]["host"].replace("127.0.0.1", "localhost")
        return Answer(b"", 307, {"Location": f"http://{host}/v1/chat/completions"})

    error, server = fails(behave)
    assert len(server.requests) == 1 and "http://localhost:" in str(error)


def test_the_error_of_a_redirect_holds_no_credentials_and_no_key(monkeypatch):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    target = f"http://me:{SECRET}@{SECRET}.invalid:81/{SECRET}?key={SECRET}#{SECRET}"
    error, _ = fails(redirect(target))
    assert SECRET not in str(error) and "http://***.invalid:81," in str(error)
    error, _ = fails(redirect("http://me:word@127.0.0.1:9/path?token=1"))
    assert "http://127.0.0.1:9," in str(error) and not {"me", "word", "token"} & set(
        str(error).replace(":", " ").replace("@", " ").split()
    )


@pytest.mark.parametrize("target", ["/v1/elsewhere", "{url}/elsewhere", "elsewhere"])
def test_a_redirect_within_the_origin_is_followed_with_the_prompt_and_the_key(monkeypatch, target):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)

    def away(request):
        url = f"http://{request['headers']['host']}/v1"
        return Answer(b"", 307, {"Location": target.format(url=url)})

    for answer, stream in ((says("x"), False), (in_pieces(says("x")), True)):
        reply, server = ask(away, answer, stream=stream)
        assert reply.text == "x" and "elsewhere" in server.requests[1]["path"]
        assert server.requests[1]["messages"] == ASK
        assert server.requests[1]["headers"]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("target", ["http://[", "http://a:b/", "ftp://127.0.0.1/"])
def test_a_redirect_to_what_is_no_url_is_a_fault(target):
    error, server = fails(redirect(target), retries=0)
    assert len(server.requests) == 1 and len(str(error)) < 400


def test_a_redirect_that_goes_round_in_circles_ends():
    error, server = fails(redirect("/v1/chat/completions"), retries=0)
    assert len(server.requests) == 21 and "TooManyRedirects" in str(error)


def test_an_endless_body_of_a_redirect_is_not_read_to_its_end():
    endless = Answer(status=307, headers={"Location": "/v1/b"}, pieces=(b"x" * 100_000,) * 400)
    reply, _ = ask(lambda request: endless, says("x"), timeout_s=20)
    assert reply.text == "x"


def test_the_look_up_of_the_context_is_not_redirected_either(monkeypatch):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    with ChatServer([says("x")], {"/v1/models": {"data": [{"id": "m", "n_ctx": 1}]}}) as other:
        away = Answer(b"", 302, {"Location": f"{other.url}/models"})
        reply, server = ask(says("x"), gets={"/v1/models": away})
        assert other.connections == 0
    assert reply.text == "x" and server.got == ["/v1/models"]


def test_a_redirect_after_good_answers_fails_one_problem():
    away = redirect("http://127.0.0.1:9/v1")
    with ChatServer([says("x"), away, says("y")]) as server:
        told = ask_all(server, [(ASK, (), 1)] * 3)
    assert [getattr(one, "text", type(one).__name__) for one in told] == ["x", "Unavailable", "y"]
