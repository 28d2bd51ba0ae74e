"""The official SDKs of the other APIs against a running gateway: Anthropic, Google GenAI, Ollama, and OpenAI's
Responses and legacy completions. Like `sdk.py`, with the same collections.
"""

import os
from types import SimpleNamespace

from cases import case, main, raised

MESSAGES = [{"role": "user", "content": "hi"}]
BOTH = ("Answer of alpha, word by word.", "Answer of beta.")


def holds_both(text):
    assert all(answer in text for answer in BOTH), text


def holds_both_in_pieces(pieces):
    assert len(pieces) > 1, pieces
    holds_both("".join(pieces))


@case
def anthropic_lists(to):
    assert "bench/core" in [model.id for model in to.anthropic.models.list()]


@case
def anthropic_asks_plainly(to):
    reply = to.anthropic.messages.create(model="bench/core", max_tokens=500, messages=MESSAGES)
    holds_both(reply.content[0].text)
    assert (reply.stop_reason, reply.model) == ("end_turn", "bench/core")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (22, 9), reply.usage
    assert reply.model_extra["bench"]["seats"][0]["alias"] == "alpha"


@case
def anthropic_streams(to):
    with to.anthropic.messages.stream(model="bench/core", max_tokens=500, messages=MESSAGES) as stream:
        holds_both_in_pieces(list(stream.text_stream))
        final = stream.get_final_message()
    assert (final.stop_reason, final.usage.output_tokens) == ("end_turn", 9)


@case
def anthropic_counts(to):
    count = to.anthropic.messages.count_tokens(model="bench/core", messages=MESSAGES, system="s" * 400)
    assert count.input_tokens > 100, count


@case
def anthropic_errors_are_typed(to):
    import anthropic

    def ask(model, **more):
        return lambda: to.anthropic.messages.create(model=model, max_tokens=5, messages=MESSAGES, **more)

    assert "bench/core" in str(raised(anthropic.NotFoundError, ask("bench/nope")))
    tool = {"name": "get_time", "input_schema": {"type": "object"}}
    assert ":route" in str(raised(anthropic.BadRequestError, ask("bench/core", tools=[tool])))
    assert raised(anthropic.RateLimitError, ask("bench/limited")).response.headers["retry-after"] == "7"
    assert raised(anthropic.APIStatusError, ask("bench/refused")).status_code == 502


@case
def anthropic_failed_stream_raises(to):
    import anthropic

    def read():
        with to.anthropic.messages.stream(model="bench/broken", max_tokens=5, messages=MESSAGES) as stream:
            list(stream.text_stream)

    raised(anthropic.APIError, read)


@case
def genai_lists(to):
    assert "models/bench/core" in [model.name for model in to.genai.models.list()]


@case
def genai_asks_plainly(to):
    reply = to.genai.models.generate_content(model="bench/core", contents="hi")
    holds_both(reply.text)
    usage = reply.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count) == (22, 9), usage


@case
def genai_streams(to):
    stream = to.genai.models.generate_content_stream(model="bench/core", contents="hi")
    holds_both_in_pieces([chunk.text for chunk in stream if chunk.text])


@case
def genai_counts(to):
    assert to.genai.models.count_tokens(model="bench/core", contents="w" * 400).total_tokens == 110


@case
def genai_errors_are_typed(to):
    from google.genai import errors

    def ask(model):
        return lambda: to.genai.models.generate_content(model=model, contents="hi")

    error = raised(errors.ClientError, ask("bench/nope"))
    assert (error.code, error.status) == (404, "NOT_FOUND"), error
    assert raised(errors.ClientError, ask("bench/limited")).status == "RESOURCE_EXHAUSTED"
    assert raised(errors.ServerError, ask("bench/refused")).code == 502


@case
def genai_failed_stream_raises(to):
    raised(Exception, lambda: list(to.genai.models.generate_content_stream(model="bench/broken", contents="hi")))


@case
def ollama_lists(to):
    assert "bench/core" in [model.model for model in to.ollama.list().models]
    assert "completion" in to.ollama.show("bench/core").capabilities
    assert list(to.ollama.ps().models) == []


@case
def ollama_chats(to):
    reply = to.ollama.chat(model="bench/core", messages=MESSAGES)
    holds_both(reply.message.content)
    assert (reply.done_reason, reply.prompt_eval_count, reply.eval_count) == ("stop", 22, 9), reply
    pieces = list(to.ollama.chat(model="core", messages=MESSAGES, stream=True))
    holds_both_in_pieces([piece.message.content for piece in pieces if piece.message.content])
    assert pieces[-1].done


@case
def ollama_generates(to):
    holds_both(to.ollama.generate(model="core", prompt="hi").response)
    holds_both_in_pieces([piece.response for piece in to.ollama.generate(model="core", prompt="hi", stream=True)])


@case
def ollama_errors_are_typed(to):
    import ollama

    error = raised(ollama.ResponseError, lambda: to.ollama.chat(model="nope", messages=MESSAGES))
    assert error.status_code == 404 and "bench/core" in error.error, error
    raised(ollama.ResponseError, lambda: list(to.ollama.chat(model="broken", messages=MESSAGES, stream=True)))


@case
def responses_plain(to):
    reply = to.openai.responses.create(model="bench/core", input="hi")
    holds_both(reply.output_text)
    assert (reply.status, reply.model, reply.usage.total_tokens) == ("completed", "bench/core", 31), reply


@case
def responses_stream(to):
    events = list(to.openai.responses.create(model="bench/core", input="hi", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    holds_both_in_pieces([event.delta for event in events if event.type == "response.output_text.delta"])
    holds_both(events[-1].response.output_text)


@case
def responses_errors_are_typed(to):
    import openai

    def ask(**more):
        return lambda: to.openai.responses.create(input="hi", **more)

    assert raised(openai.NotFoundError, ask(model="bench/nope")).code == "collection_not_found"
    error = raised(openai.NotFoundError, ask(model="bench/core", previous_response_id="resp_1"))
    assert error.code == "previous_response_not_found", error
    raised(openai.APIError, lambda: list(to.openai.responses.create(model="bench/broken", input="hi", stream=True)))


@case
def completions(to):
    holds_both(to.openai.completions.create(model="bench/core", prompt="hi").choices[0].text)
    stream = to.openai.completions.create(model="bench/core", prompt="hi", stream=True)
    holds_both_in_pieces([choice.text for chunk in stream for choice in chunk.choices if choice.text])


def connect():
    import anthropic
    import ollama
    import openai
    from google import genai
    from google.genai import types

    openai_base = os.environ["BENCH_BASE_URL"]
    base = openai_base.removesuffix("/v1")
    return SimpleNamespace(
        anthropic=anthropic.Anthropic(base_url=base, api_key="anything", max_retries=0, timeout=30),
        genai=genai.Client(api_key="anything", http_options=types.HttpOptions(base_url=base, timeout=30_000)),
        ollama=ollama.Client(host=base, timeout=30),
        openai=openai.OpenAI(base_url=openai_base, api_key="anything", max_retries=0, timeout=30),
    )


main(connect)
