"""The official `anthropic` SDK."""

import anthropic
from scenarios import PICTURE, TIMEOUT_S, Answer, Sdk, holds_both


class Anthropic(Sdk):
    stop = "end_turn"
    errors = {
        400: anthropic.BadRequestError,
        404: anthropic.NotFoundError,
        413: anthropic.ContentTooLargeError,
        429: anthropic.RateLimitError,
        502: anthropic.InternalServerError,
        "stream": anthropic.APIStatusError,
    }

    def __init__(self, url):
        self.client = anthropic.Anthropic(base_url=url, api_key="anything", max_retries=0, timeout=TIMEOUT_S)

    def names(self):
        return [model.id for model in self.client.models.list()]

    def question(self, model, text, picture=False, tools=False):
        content = text
        if picture:
            source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
            content = [{"type": "image", "source": source}, {"type": "text", "text": text}]
        question = {"model": model, "max_tokens": 500, "messages": [{"role": "user", "content": content}]}
        if tools:
            question["tools"] = [{"name": "get_time", "input_schema": {"type": "object"}}]
        return question

    def ask(self, model, text, **more):
        reply = self.client.messages.create(**self.question(model, text, **more))
        return Answer(reply.content[0].text, reply.model, reply.stop_reason, of(reply.usage))

    def stream(self, model, text):
        for event in self.client.messages.create(**self.question(model, text), stream=True):
            if event.type == "content_block_delta":
                yield event.delta.text
            if event.type == "message_delta":
                yield of(event.usage)

    def count(self, model, text):
        question = self.question(model, text)
        del question["max_tokens"]
        return self.client.messages.count_tokens(**question).input_tokens

    def reads_bench(self):
        reply = self.client.messages.create(**self.question("bench/chat-core", "hi"))
        assert reply.model_extra["bench"]["seats"][0]["alias"] == "alpha-chat"

    def final_message(self):
        # The SDK's own accumulator is stricter about events than a loop over them.
        with self.client.messages.stream(**self.question("bench/chat-core", "hi")) as stream:
            streamed = "".join(stream.text_stream)
            final = stream.get_final_message()
        holds_both(streamed)
        assert final.content[0].text == streamed
        assert (final.stop_reason, final.usage.output_tokens) == ("end_turn", 9)

    def counts_the_system_prompt(self):
        question = self.question("bench/chat-core", "hi")
        del question["max_tokens"]
        assert self.client.messages.count_tokens(**question, system="s" * 400).input_tokens > 110


def of(usage):
    return usage.input_tokens, usage.output_tokens
