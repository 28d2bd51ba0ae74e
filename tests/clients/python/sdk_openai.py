"""The official `openai` SDK: chat completions, Responses, legacy completions."""

import openai
from scenarios import ANSWERS, PICTURE, TIMEOUT_S, Answer, Sdk

PICTURE_URL = f"data:image/png;base64,{PICTURE}"
PARAMETERS = {"type": "object", "properties": {}}


class OpenAi(Sdk):
    errors = {
        400: openai.BadRequestError,
        404: openai.NotFoundError,
        413: openai.APIStatusError,
        429: openai.RateLimitError,
        502: openai.InternalServerError,
        "stream": openai.APIError,
    }

    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="anything", max_retries=0, timeout=TIMEOUT_S)

    def names(self):
        return [model.id for model in self.client.models.list()]


class Chat(OpenAi):
    def create(self, model, text, picture=False, tools=False, client=None, **more):
        content = text
        if picture:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]
        if tools:
            more["tools"] = [{"type": "function", "function": {"name": "get_time", "parameters": PARAMETERS}}]
        client = client or self.client
        messages = [{"role": "user", "content": content}]
        return client.chat.completions.create(model=model, messages=messages, **more)

    def ask(self, model, text, **more):
        reply = self.create(model, text, **more)
        choice, usage = reply.choices[0], reply.usage
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, usage
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        return Answer(choice.message.content, reply.model, choice.finish_reason, tokens)

    def stream(self, model, text):
        for chunk in self.create(model, text, stream=True, stream_options={"include_usage": True}):
            for choice in chunk.choices:
                yield choice.delta.content or ""
            if chunk.usage:
                assert chunk.choices == [], chunk
                yield chunk.usage.prompt_tokens, chunk.usage.completion_tokens

    def retrieves_a_model(self):
        model = self.client.models.retrieve("bench/chat-core")
        assert (model.id, model.owned_by) == ("bench/chat-core", "benchwarmers"), model
        assert model.model_extra["members"] == ["alpha-chat", "beta-chat"], model

    def reads_bench(self):
        bench = self.create("bench/chat-core", "hi").model_extra["bench"]
        seats = {seat["alias"]: seat for seat in bench["seats"]}
        assert seats["alpha-chat"]["answer"] == ANSWERS[0]
        assert seats["beta-chat"]["status"] == "ok"
        assert seats["beta-chat"]["call"] == bench["panel"] + ".member2"

    def reads_bench_of_a_stream(self):
        chunks = list(self.create("bench/chat-core", "hi", stream=True))
        assert [chunk for chunk in chunks if chunk.usage] == [], "usage, and nobody asked for it"
        (bench,) = [chunk.model_extra["bench"] for chunk in chunks if "bench" in (chunk.model_extra or {})]
        text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
        assert all(f"`{seat['call']}`" in text and seat["answer"] in text for seat in bench["seats"]), text

    def reads_headers(self):
        messages = [{"role": "user", "content": "hi"}]
        raw = self.client.chat.completions.with_raw_response.create(model="bench/chat-core", messages=messages)
        assert raw.headers["x-bench-panel"] == raw.parse().model_extra["bench"]["panel"]
        assert raw.request_id

    def errors_say_more(self):
        """The code and the type, and of a provider's failure the seats."""
        found = {}
        for model in ("bench/nope", "bench/chat-refused"):
            try:
                self.create(model, "hi")
            except openai.APIStatusError as error:
                found[model] = error
        assert (found["bench/nope"].code, found["bench/nope"].type) == ("collection_not_found", "not_found_error")
        refused = found["bench/chat-refused"].response.json()
        assert refused["bench"]["seats"][0]["status"] == "error", refused

    def bad_body(self):
        try:
            self.create("bench/chat-core", 5)
        except openai.BadRequestError as error:
            assert error.type == "invalid_request_error" and "messages[0].content" in str(error), str(error)
        else:
            raise AssertionError("a number was taken for content")

    def routed(self):
        reply = self.create("bench/chat-core:route", "hi")
        assert reply.bench["reply"] == "route" and reply.bench["alias"], reply.bench
        assert reply.choices[0].message.content

    def a_retry_is_a_panel_of_its_own(self):
        # The first attempt is limited with a short wait, the SDK waits and asks again.
        reply = self.create("bench/once", "gate-python", client=self.client.with_options(max_retries=1))
        assert "Second time lucky." in reply.choices[0].message.content


class Responses(OpenAi):
    stop = "completed"
    # The API's error events are events like others to this SDK; what it raises is the connection that breaks.
    errors = OpenAi.errors | {"stream": openai.APIConnectionError}
    cut = "Connection error"

    def create(self, model, text, picture=False, tools=False, **more):
        question = text
        if picture:
            parts = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": PICTURE_URL}]
            question = [{"role": "user", "content": parts}]
        if tools:
            more["tools"] = [{"type": "function", "name": "get_time", "parameters": PARAMETERS, "strict": False}]
        return self.client.responses.create(model=model, input=question, **more)

    def ask(self, model, text, **more):
        reply = self.create(model, text, **more)
        return Answer(reply.output_text, reply.model, reply.status, of(reply.usage))

    def stream(self, model, text):
        for event in self.create(model, text, stream=True):
            if event.type == "response.output_text.delta":
                yield event.delta
            if event.type == "response.completed":
                yield of(event.response.usage)

    def events_are_in_order(self):
        events = list(self.create("bench/chat-core", "hi", stream=True))
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        assert events[-1].response.output_text == "".join(deltas)

    def a_failed_stream_says_why_first(self):
        events = []
        try:
            for event in self.create("bench/chat-broken", "hi", stream=True):
                events.append(event)
        except openai.APIConnectionError:
            pass
        else:
            raise AssertionError("it ended like one that finished")
        error, failed = events[-2:]
        assert (error.type, failed.type, failed.response.status) == ("error", "response.failed", "failed")
        assert "Lost my thread" in error.message and "Lost my thread" in failed.response.error.message

    def is_kept_and_gone_on_from(self):
        responses = self.client.responses
        first = self.create("bench/chat-core", "What is the sky?")
        assert responses.retrieve(first.id).output_text == first.output_text
        # A streamed turn goes on from a plain one, and is kept as well.
        events = list(self.create("bench/chat-core", "And the sea?", previous_response_id=first.id, stream=True))
        second = events[-1].response
        assert second.previous_response_id == first.id, second
        asked = [item.content[0].text for item in responses.input_items.list(second.id, order="asc", limit=1)]
        assert (asked[0], asked[-1]) == ("What is the sky?", "And the sea?") and len(asked) == 3, asked
        responses.delete(second.id)
        forgotten = self.create("bench/chat-core", "Forget this.", store=False)
        for gone in (second.id, forgotten.id):
            try:
                responses.retrieve(gone)
            except openai.NotFoundError:
                continue
            raise AssertionError(f"{gone} is still kept")

    def goes_on_from_nothing(self):
        try:
            self.create("bench/chat-core", "hi", previous_response_id="resp_1")
        except openai.NotFoundError as error:
            assert error.code == "previous_response_not_found", error
        else:
            raise AssertionError("it went on from a response that never was")


class Completions(OpenAi):
    def ask(self, model, text):
        reply = self.client.completions.create(model=model, prompt=text)
        choice, usage = reply.choices[0], reply.usage
        return Answer(choice.text, reply.model, choice.finish_reason, (usage.prompt_tokens, usage.completion_tokens))

    def stream(self, model, text):
        options = {"include_usage": True}
        for chunk in self.client.completions.create(model=model, prompt=text, stream=True, stream_options=options):
            for choice in chunk.choices:
                yield choice.text
            if chunk.usage:
                yield chunk.usage.prompt_tokens, chunk.usage.completion_tokens


def of(usage):
    return usage.input_tokens, usage.output_tokens
