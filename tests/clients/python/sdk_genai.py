"""The official `google-genai` SDK."""

from google import genai
from google.genai import errors, types
from scenarios import PICTURE_BYTES, TIMEOUT_S, Answer, Sdk


class GenAi(Sdk):
    stop = types.FinishReason.STOP
    errors = {
        400: errors.ClientError,
        404: errors.ClientError,
        413: errors.ClientError,
        429: errors.ClientError,
        502: errors.ServerError,
        "stream": errors.ServerError,
    }

    def __init__(self, url):
        once = types.HttpRetryOptions(attempts=1)
        options = types.HttpOptions(base_url=url, timeout=TIMEOUT_S * 1000, retry_options=once)
        self.client = genai.Client(api_key="anything", http_options=options)

    def names(self):
        return [model.name for model in self.client.models.list()]

    def question(self, model, text, picture=False, tools=False):
        question = {"model": model, "contents": text}
        if picture:
            question["contents"] = [types.Part.from_bytes(data=PICTURE_BYTES, mime_type="image/png"), text]
        if tools:
            declared = types.FunctionDeclaration(name="get_time", description="The time.")
            question["config"] = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
        return question

    def ask(self, model, text, **more):
        reply = self.client.models.generate_content(**self.question(model, text, **more))
        return Answer(reply.text, reply.model_version, reply.candidates[0].finish_reason, of(reply))

    def stream(self, model, text):
        for chunk in self.client.models.generate_content_stream(**self.question(model, text)):
            yield chunk.text or ""
            if chunk.usage_metadata and chunk.candidates[0].finish_reason:
                yield of(chunk)

    def count(self, model, text):
        return self.client.models.count_tokens(model=model, contents=text).total_tokens

    def status(self, error):
        return error.code

    def errors_have_their_word(self):
        words = {"bench/nope": "NOT_FOUND", "bench/chat-limited": "RESOURCE_EXHAUSTED", "bench/small": "INVALID_ARGUMENT"}
        for model, word in words.items():
            try:
                self.ask(model, "word " * 1000)
            except errors.ClientError as error:
                assert error.status == word, error
            else:
                raise AssertionError(f"{model} answered")


def of(reply):
    return reply.usage_metadata.prompt_token_count, reply.usage_metadata.candidates_token_count
