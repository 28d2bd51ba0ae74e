"""What every SDK plays, in terms of `Sdk` below. The same scenarios are in ../node/scenarios.mjs."""

import base64
import re
from dataclasses import dataclass

ANSWERS = ("Answer of alpha, word by word.", "Answer of beta.")
# The scripted providers count 11 tokens in for each of the two members, and one out for each word.
TOKENS = (22, 9)
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PICTURE_BYTES = base64.b64decode(PICTURE)
TIMEOUT_S = 30
ALL = {}


@dataclass
class Answer:
    text: str
    model: str
    finished: str
    # In and out.
    tokens: tuple[int, int]


class Sdk:
    """What the scenarios need of an SDK. `errors` has its class for an HTTP status, and for a failed `stream`."""

    errors: dict
    # Why an answer ended, in the words of the API.
    stop = "stop"
    # What it says of a stream that failed: the error's text, or of the connection where it heeds no error event.
    cut = "Lost my thread"

    def names(self):
        """The ids its list of models has."""
        raise NotImplementedError

    def ask(self, model, text, picture=False, tools=False) -> Answer:
        raise NotImplementedError

    def stream(self, model, text):
        """Yields each piece of text as it comes, and the tokens, in and out, as often as they are told."""
        raise NotImplementedError

    def count(self, model, text) -> int:
        raise NotImplementedError

    def status(self, error):
        return error.status_code

    def headers(self, error):
        """None where the SDK does not keep them."""
        return error.response.headers


@dataclass
class Case:
    sdk: Sdk
    upstream: str
    name: str

    def collection(self, name):
        return f"bench/{self.upstream}-{name}"

    @property
    def gate(self):
        """A word for the question, by which the providers tell this case from others."""
        return "gate-" + self.name.replace("::", "-").replace("_", "-")

    def raised(self, kind, run):
        """The error of the class that the SDK has for this kind, and no other, that run() raises."""
        try:
            run()
        except Exception as error:
            expected = self.sdk.errors[kind]
            assert type(error) is expected, f"{type(error)} for {expected}: {error}"
            if isinstance(kind, int):
                assert self.sdk.status(error) == kind, error
            return error
        raise AssertionError(f"no error of the kind {kind}")


def scenario(play):
    ALL[play.__name__] = play
    return play


@scenario
def lists(case):
    names = case.sdk.names()
    # Ollama's models need no prefix, and Gemini's have one more.
    for collection in ("chat-core", "ollama-core", "opener"):
        assert any(name.endswith(f"bench/{collection}") for name in names), names


@scenario
def plain(case):
    answer = case.sdk.ask(case.collection("core"), "hi")
    holds_both(answer.text)
    assert answer.model == case.collection("core"), answer
    assert answer.finished == case.sdk.stop, answer


@scenario
def streamed(case):
    pieces = list(texts(case.sdk.stream(case.collection("core"), "hi")))
    # What has come by the time of a piece goes out with it: that it comes piece by piece, `seat_by_seat` holds.
    assert pieces
    joined = "".join(pieces)
    holds_both(joined)
    assert shape(joined) == shape(case.sdk.ask(case.collection("core"), "hi").text)


@scenario
def seat_by_seat(case):
    text, opened, pieces = "", False, 0
    for piece in texts(case.sdk.stream(case.collection("slow"), case.gate)):
        text += piece
        pieces += 1
        if "Answer of alpha" in text and not opened:
            assert "## member — slow" not in text, text
            case.sdk.ask("bench/opener", case.gate)
            opened = True
    assert pieces > 1, text
    assert opened and "Answer of slow." in text, text


@scenario
def merged(case):
    # One answer word by word: its last word waits until the first ones are here.
    model, pieces, opened = case.collection("edited") + ":merged", [], False
    for piece in texts(case.sdk.stream(model, case.gate)):
        pieces.append(piece)
        if "merged" in "".join(pieces) and not opened:
            assert "answer." not in "".join(pieces), pieces
            case.sdk.ask("bench/opener", case.gate)
            opened = True
    joined = "".join(pieces)
    assert opened and len(pieces) > 2, pieces
    assert joined.startswith("One merged answer.\n"), joined
    assert f"Merged by editor-{case.upstream}" in joined and "## member" not in joined, joined
    whole = case.sdk.ask(model, case.gate)
    assert shape(whole.text) == shape(joined), whole.text
    assert whole.tokens == (TOKENS[0] + 11, TOKENS[1] + 3), whole.tokens


@scenario
def image(case):
    # The provider says what it was sent.
    assert f"I see {PICTURE}" in case.sdk.ask(case.collection("seer"), "hi", picture=True).text


@scenario
def usage(case):
    assert case.sdk.ask(case.collection("core"), "hi").tokens == TOKENS


@scenario
def streamed_usage(case):
    tokens = [piece for piece in case.sdk.stream(case.collection("core"), "hi") if not isinstance(piece, str)]
    assert tokens and tokens[-1] == TOKENS, tokens


@scenario
def refused(case):
    # Not the class for 401: the caller's own key is not at fault.
    error = case.raised(502, lambda: case.sdk.ask(case.collection("refused"), "hi"))
    assert "Incorrect API key" in str(error), str(error)


@scenario
def limited(case):
    error = case.raised(429, lambda: case.sdk.ask(case.collection("limited"), "hi"))
    headers = case.sdk.headers(error)
    assert headers is None or headers["retry-after"] == "7", headers


@scenario
def overloaded(case):
    error = case.raised(502, lambda: case.sdk.ask(case.collection("overloaded"), "hi"))
    assert "Over capacity" in str(error), str(error)


@scenario
def broken_stream(case):
    seen = []

    def read():
        for piece in texts(case.sdk.stream(case.collection("broken"), "hi")):
            seen.append(piece)

    error = case.raised("stream", read)
    # The sections of the seats that failed come before the error.
    for words in (f"## member — cut-{case.upstream}", f"## member — erring-{case.upstream}", "Lost my thread"):
        assert words in "".join(seen), seen
    assert case.sdk.cut in str(error), str(error)


@scenario
def wrong_model(case):
    error = case.raised(404, lambda: case.sdk.ask("bench/nope", "hi"))
    assert "bench/chat-core" in str(error), str(error)


@scenario
def tools_in_a_panel(case):
    error = case.raised(400, lambda: case.sdk.ask(case.collection("core"), "hi", tools=True))
    assert "bench/chat-core:route" in str(error), str(error)


@scenario
def prompt_too_large(case):
    error = case.raised(413, lambda: case.sdk.ask("bench/small", "word " * 1000))
    assert "small" in str(error), str(error)


@scenario
def body_too_large(case):
    error = case.raised(413, lambda: case.sdk.ask(case.collection("core"), "w" * 21_000_000))
    assert "20 MB" in str(error), str(error)


@scenario
def counts(case):
    # A quarter of the letters and a tenth, and little more.
    count = case.sdk.count(case.collection("core"), "w" * 400)
    assert 110 <= count < 120, count


def texts(pieces):
    return (piece for piece in pieces if isinstance(piece, str) and piece)


def holds_both(text):
    assert all(answer in text for answer in ANSWERS), text


def shape(text):
    """A reply without what differs between any two panels: ids, seconds, the order of seats."""
    text = re.sub(r"p\d{8}-\d{6}-[0-9a-f]{8}", "PANEL", text)
    text = re.sub(r"\d+\.\d s", "SECONDS", text)
    return sorted(line for line in text.splitlines() if line)
