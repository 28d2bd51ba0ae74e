"""The official OpenAI SDK for Python against a running gateway.

`sdk.py --list` prints the names of the cases; `sdk.py` runs them all and prints a JSON line for each:
{"case": …, "ok": …, "detail": …}. BENCH_BASE_URL is the gateway's, with /v1. The collections it asks are made by
tests/tests/clients.rs.
"""

import json
import os

from cases import case, main, raised


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, model, **more):
    return client.chat.completions.create(model=model, messages=user("hi"), **more)


@case
def lists_models(client):
    models = {model.id: model for model in client.models.list()}
    assert "bench/core" in models, sorted(models)
    assert models["bench/core"].owned_by == "benchwarmers"
    assert models["bench/core"].model_extra["members"] == ["alpha", "beta"]


@case
def retrieves_a_model(client):
    assert client.models.retrieve("bench/core").id == "bench/core"


@case
def asks_plainly(client):
    reply = ask(client, "bench/core")
    text = reply.choices[0].message.content
    assert "Answer of alpha, word by word." in text and "Answer of beta." in text, text
    assert reply.choices[0].finish_reason == "stop"
    assert reply.model == "bench/core"


@case
def reads_bench(client):
    bench = ask(client, "bench/core").model_extra["bench"]
    seats = {seat["alias"]: seat for seat in bench["seats"]}
    assert seats["alpha"]["answer"] == "Answer of alpha, word by word."
    assert seats["beta"]["status"] == "ok"
    assert seats["beta"]["call"] == bench["panel"] + ".member2"


@case
def reads_headers(client):
    raw = client.chat.completions.with_raw_response.create(model="bench/core", messages=user("hi"))
    assert raw.headers["x-bench-panel"] == raw.parse().model_extra["bench"]["panel"]
    assert raw.request_id


@case
def reads_usage(client):
    usage = ask(client, "bench/core").usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (22, 9, 31), usage


@case
def streams(client):
    deltas, bench, finished = [], [], []
    for chunk in ask(client, "bench/core", stream=True):
        deltas += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        finished += [choice.finish_reason for choice in chunk.choices if choice.finish_reason]
        if "bench" in (chunk.model_extra or {}):
            bench.append(chunk.model_extra["bench"])
    assert len(deltas) > 1 and finished == ["stop"] and len(bench) == 1
    joined = "".join(deltas)
    for seat in bench[0]["seats"]:
        assert seat["answer"] in joined, joined
        assert f"`{seat['call']}`" in joined, joined
    # Streamed and whole say the same but for the order of the seats, the ids and the seconds.
    whole = ask(client, "bench/core")
    assert shape(joined, bench[0]["panel"]) == shape(
        whole.choices[0].message.content, whole.model_extra["bench"]["panel"]
    )


def shape(text, panel):
    text = text.replace(panel, "PANEL")
    return sorted(line for line in "".join(c for c in text if not c.isdigit() and c != ".").splitlines() if line)


@case
def streams_usage(client):
    chunks = list(ask(client, "bench/core", stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 31, chunks[-1]
    assert [chunk for chunk in chunks[:-1] if chunk.usage] == []


@case
def sections_come_as_seats_finish(client):
    text = ""
    opened = False
    for chunk in ask(client, "bench/slow", stream=True):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        if "Answer of alpha" in text and not opened:
            assert "## member — slow" not in text, text
            ask(client, "bench/opener")
            opened = True
    assert opened and "Answer of slow." in text, text


@case
def wrong_model(client):
    import openai

    error = raised(openai.NotFoundError, lambda: ask(client, "bench/nope"))
    assert error.status_code == 404 and error.code == "collection_not_found" and error.type == "not_found_error"
    assert "bench/core" in str(error), str(error)


@case
def bad_body(client):
    import openai

    error = raised(
        openai.BadRequestError,
        lambda: client.chat.completions.create(model="bench/core", messages=[{"role": "user", "content": 5}]),
    )
    assert error.type == "invalid_request_error" and "messages[0].content" in str(error), str(error)


@case
def tools_in_a_panel(client):
    import openai

    tool = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
    error = raised(openai.BadRequestError, lambda: ask(client, "bench/core", tools=[tool]))
    assert error.code == "tools_in_panel" and ":route" in str(error), str(error)


@case
def not_yet(client):
    import openai

    error = raised(openai.InternalServerError, lambda: ask(client, "bench/core:merged"))
    assert error.status_code == 501, error.status_code


@case
def key_refused_by_the_provider(client):
    import openai

    # Not an AuthenticationError: the caller's own key is not at fault.
    error = raised(openai.InternalServerError, lambda: ask(client, "bench/refused"))
    assert error.status_code == 502 and "Incorrect API key" in json.dumps(error.response.json())
    assert error.response.json()["bench"]["seats"][0]["status"] == "error"


@case
def every_seat_rate_limited(client):
    import openai

    error = raised(openai.RateLimitError, lambda: ask(client, "bench/limited"))
    assert error.response.headers["retry-after"] == "7" and error.type == "rate_limit_error"


@case
def a_failed_stream_raises(client):
    import openai

    seen = []

    def read():
        for chunk in ask(client, "bench/broken", stream=True):
            seen.extend(choice.delta.content or "" for choice in chunk.choices)

    error = raised(openai.APIError, read)
    assert error.type == "server_error", error.type
    assert "## member — cut" in "".join(seen), seen


@case
def a_retry_is_a_panel_of_its_own(client):
    # The first attempt is limited with a short wait, the SDK waits and asks again.
    reply = ask(client.with_options(max_retries=1), "bench/once")
    assert "Second time lucky." in reply.choices[0].message.content


def connect():
    import openai

    return openai.OpenAI(base_url=os.environ["BENCH_BASE_URL"], api_key="anything", max_retries=0, timeout=30)


main(connect)
