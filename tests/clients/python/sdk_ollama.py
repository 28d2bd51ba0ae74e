"""The official `ollama` SDK: chat and generate."""

import ollama
from scenarios import PICTURE_BYTES, TIMEOUT_S, Answer, Sdk, holds_both

TOOL = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


class Ollama(Sdk):
    errors = dict.fromkeys([400, 404, 413, 429, 502, "stream"], ollama.ResponseError)

    def __init__(self, url):
        self.client = ollama.Client(host=url, timeout=TIMEOUT_S)

    def names(self):
        return [model.model for model in self.client.list().models]

    def headers(self, error):
        return None


class Chat(Ollama):
    def question(self, model, text, picture=False, tools=False):
        message = {"role": "user", "content": text}
        if picture:
            message["images"] = [PICTURE_BYTES]
        return {"model": model, "messages": [message]} | ({"tools": [TOOL]} if tools else {})

    def ask(self, model, text, **more):
        reply = self.client.chat(**self.question(model, text, **more))
        return Answer(reply.message.content, reply.model, reply.done_reason, of(reply))

    def stream(self, model, text):
        for reply in self.client.chat(**self.question(model, text), stream=True):
            yield reply.message.content or ""
            if reply.done:
                yield of(reply)

    def asked_by_bare_name(self):
        for model in ("chat-core", "bench/chat-core:latest"):
            holds_both(self.ask(model, "hi").text)

    def shows(self):
        assert "completion" in self.client.show("bench/chat-core").capabilities
        assert list(self.client.ps().models) == []


class Generate(Ollama):
    def question(self, model, text, picture=False):
        return {"model": model, "prompt": text} | ({"images": [PICTURE_BYTES]} if picture else {})

    def ask(self, model, text, **more):
        reply = self.client.generate(**self.question(model, text, **more))
        return Answer(reply.response, reply.model, reply.done_reason, of(reply))

    def stream(self, model, text):
        for reply in self.client.generate(**self.question(model, text), stream=True):
            yield reply.response or ""
            if reply.done:
                yield of(reply)


def of(reply):
    return reply.prompt_eval_count, reply.eval_count
