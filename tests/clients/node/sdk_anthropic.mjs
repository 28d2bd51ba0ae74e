// The official `@anthropic-ai/sdk`.
import assert from "node:assert/strict";
import { packaged } from "./packages.mjs";
import { PICTURE, TIMEOUT_MS, holdsBoth } from "./scenarios.mjs";

const { Anthropic: Client } = packaged("@anthropic-ai/sdk");

export class Anthropic {
  stop = "end_turn";
  errors = {
    400: "BadRequestError",
    404: "NotFoundError",
    413: "ContentTooLargeError",
    429: "RateLimitError",
    502: "InternalServerError",
    stream: "APIError",
  };

  constructor(url) {
    this.client = new Client({ baseURL: url, apiKey: "anything", maxRetries: 0, timeout: TIMEOUT_MS });
  }

  async names() {
    const names = [];
    for await (const model of this.client.models.list()) names.push(model.id);
    return names;
  }

  question(model, text, { picture, tools } = {}) {
    const source = { type: "base64", media_type: "image/png", data: PICTURE };
    const blocks = [
      { type: "image", source },
      { type: "text", text },
    ];
    const messages = [{ role: "user", content: picture ? blocks : text }];
    const question = { model, max_tokens: 500, messages };
    if (tools) question.tools = [{ name: "get_time", input_schema: { type: "object" } }];
    return question;
  }

  async ask(model, text, more) {
    const reply = await this.client.messages.create(this.question(model, text, more));
    return { text: reply.content[0].text, model: reply.model, finished: reply.stop_reason, tokens: tokensOf(reply) };
  }

  async *stream(model, text) {
    for await (const event of await this.client.messages.create({ ...this.question(model, text), stream: true })) {
      if (event.type === "content_block_delta") yield event.delta.text;
      if (event.type === "message_delta") yield tokensOf(event);
    }
  }

  async count(model, text) {
    const { messages } = this.question(model, text);
    return (await this.client.messages.countTokens({ model, messages })).input_tokens;
  }

  status(error) {
    return error.status;
  }

  header(error, name) {
    return error.headers.get(name);
  }

  saying(error) {
    return error.message;
  }

  async reads_bench() {
    const reply = await this.client.messages.create(this.question("bench/chat-core", "hi"));
    assert.equal(reply.bench.seats[0].alias, "alpha-chat");
  }

  async final_message() {
    // The SDK's own accumulator is stricter about events than a loop over them.
    const final = await this.client.messages.stream(this.question("bench/chat-core", "hi")).finalMessage();
    holdsBoth(final.content[0].text);
    assert.deepEqual([final.stop_reason, final.usage.output_tokens], ["end_turn", 9]);
  }
}

const tokensOf = ({ usage }) => [usage.input_tokens, usage.output_tokens];
