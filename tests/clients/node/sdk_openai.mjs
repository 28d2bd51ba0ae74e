// The official `openai` SDK: chat completions, Responses, legacy completions.
import assert from "node:assert/strict";
import { packaged } from "./packages.mjs";
import { ANSWERS, PICTURE, TIMEOUT_MS, holdsBoth } from "./scenarios.mjs";

const { OpenAI } = packaged("openai");
const PICTURE_URL = `data:image/png;base64,${PICTURE}`;
const PARAMETERS = { type: "object", properties: {} };

class OpenAiSdk {
  stop = "stop";
  errors = {
    400: "BadRequestError",
    404: "NotFoundError",
    413: "APIError",
    429: "RateLimitError",
    502: "InternalServerError",
    stream: "APIError",
  };

  constructor(url) {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "anything", maxRetries: 0, timeout: TIMEOUT_MS });
  }

  async names() {
    const names = [];
    for await (const model of this.client.models.list()) names.push(model.id);
    return names;
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
}

export class OpenAiChat extends OpenAiSdk {
  create(model, text, { picture, tools, client = this.client, ...more } = {}) {
    const parts = [
      { type: "text", text },
      { type: "image_url", image_url: { url: PICTURE_URL } },
    ];
    const question = { model, messages: [{ role: "user", content: picture ? parts : text }], ...more };
    if (tools) question.tools = [{ type: "function", function: { name: "get_time", parameters: PARAMETERS } }];
    return client.chat.completions.create(question);
  }

  async ask(model, text, more) {
    const reply = await this.create(model, text, more);
    const [choice] = reply.choices;
    const { prompt_tokens, completion_tokens, total_tokens } = reply.usage;
    assert.equal(total_tokens, prompt_tokens + completion_tokens);
    const tokens = [prompt_tokens, completion_tokens];
    return { text: choice.message.content, model: reply.model, finished: choice.finish_reason, tokens };
  }

  async *stream(model, text) {
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await this.create(model, text, options)) {
      for (const choice of chunk.choices) yield choice.delta.content ?? "";
      if (chunk.usage) {
        assert.deepEqual(chunk.choices, []);
        yield [chunk.usage.prompt_tokens, chunk.usage.completion_tokens];
      }
    }
  }

  async retrieves_a_model() {
    const model = await this.client.models.retrieve("bench/chat-core");
    assert.deepEqual([model.id, model.members], ["bench/chat-core", ["alpha-chat", "beta-chat"]]);
  }

  async reads_bench() {
    const { bench } = await this.create("bench/chat-core", "hi");
    const [alpha, beta] = bench.seats;
    assert.equal(alpha.answer, ANSWERS[0]);
    assert.equal(beta.status, "ok");
    assert.equal(beta.call, `${bench.panel}.member2`);
  }

  async reads_bench_of_a_stream() {
    let text = "";
    const panels = [];
    const finished = [];
    for await (const chunk of await this.create("bench/chat-core", "hi", { stream: true })) {
      assert.ok(!chunk.usage, "nobody asked for it");
      for (const choice of chunk.choices) {
        text += choice.delta.content ?? "";
        if (choice.finish_reason) finished.push(choice.finish_reason);
      }
      if (chunk.bench) panels.push(chunk.bench);
    }
    assert.deepEqual([finished, panels.length], [["stop"], 1]);
    for (const seat of panels[0].seats) assert.ok(text.includes(seat.answer) && text.includes(`\`${seat.call}\``));
  }

  async reads_headers() {
    const { data, response, request_id } = await this.create("bench/chat-core", "hi").withResponse();
    assert.equal(response.headers.get("x-bench-panel"), data.bench.panel);
    assert.ok(request_id);
  }

  async streams_through_the_runner() {
    // The SDK's own accumulator is stricter about chunks than a loop over them.
    const messages = [{ role: "user", content: "hi" }];
    const reply = await this.client.chat.completions
      .stream({ model: "bench/chat-core", messages })
      .finalChatCompletion();
    assert.equal(reply.choices[0].message.role, "assistant");
    holdsBoth(reply.choices[0].message.content);
  }

  async errors_say_more() {
    const missing = await this.create("bench/nope", "hi").then(assert.fail, (error) => error);
    assert.deepEqual([missing.code, missing.type], ["collection_not_found", "not_found_error"]);
    const limited = await this.create("bench/chat-limited", "hi").then(assert.fail, (error) => error);
    assert.equal(limited.type, "rate_limit_error");
  }

  async bad_body() {
    const error = await this.create("bench/chat-core", 5).then(assert.fail, (error) => error);
    assert.deepEqual([error.constructor.name, error.type], ["BadRequestError", "invalid_request_error"]);
    assert.ok(error.message.includes("messages[0].content"), error.message);
  }

  async routed() {
    const reply = await this.create("bench/chat-core:route", "hi");
    assert.equal(reply.bench.reply, "route");
    assert.ok(reply.bench.alias && reply.choices[0].message.content);
  }

  async a_retry_is_a_panel_of_its_own() {
    // The first attempt is limited with a short wait, the SDK waits and asks again.
    const client = this.client.withOptions({ maxRetries: 1 });
    const reply = await this.create("bench/once", "gate-node", { client });
    assert.ok(reply.choices[0].message.content.includes("Second time lucky."));
  }
}

export class OpenAiResponses extends OpenAiSdk {
  stop = "completed";
  // The API's error events are events like others to this SDK; what it raises is the connection that breaks.
  errors = { ...this.errors, stream: "TypeError" };
  cut = "terminated";

  question(model, text, { picture, tools } = {}) {
    const parts = [
      { type: "input_text", text },
      { type: "input_image", image_url: PICTURE_URL, detail: "auto" },
    ];
    const question = { model, input: picture ? [{ role: "user", content: parts }] : text };
    if (tools) question.tools = [{ type: "function", name: "get_time", parameters: PARAMETERS, strict: false }];
    return question;
  }

  async ask(model, text, more) {
    const reply = await this.client.responses.create(this.question(model, text, more));
    return { text: reply.output_text, model: reply.model, finished: reply.status, tokens: tokensOf(reply) };
  }

  async *stream(model, text) {
    for await (const event of await this.client.responses.create({ ...this.question(model, text), stream: true })) {
      if (event.type === "response.output_text.delta") yield event.delta;
      if (event.type === "response.completed") yield tokensOf(event.response);
    }
  }

  async is_kept_and_gone_on_from() {
    const { responses } = this.client;
    const first = await responses.create(this.question("bench/chat-core", "What is the sky?"));
    assert.equal((await responses.retrieve(first.id)).output_text, first.output_text);
    // A streamed turn goes on from a plain one, and is kept as well.
    let second;
    const question = { ...this.question("bench/chat-core", "And the sea?"), previous_response_id: first.id };
    for await (const event of await responses.create({ ...question, stream: true }))
      if (event.type === "response.completed") second = event.response;
    assert.equal(second.previous_response_id, first.id);
    const asked = [];
    for await (const item of responses.inputItems.list(second.id, { order: "asc", limit: 1 }))
      asked.push(item.content[0].text);
    assert.deepEqual([asked.length, asked[0], asked[2]], [3, "What is the sky?", "And the sea?"]);
    await responses.delete(second.id);
    const forgotten = await responses.create({ ...this.question("bench/chat-core", "Forget this."), store: false });
    for (const gone of [second.id, forgotten.id])
      await assert.rejects(responses.retrieve(gone), { name: "Error", status: 404 });
  }

  async a_failed_stream_says_why_first() {
    const events = [];
    const read = async () => {
      const question = { ...this.question("bench/chat-broken", "hi"), stream: true };
      for await (const event of await this.client.responses.create(question)) events.push(event);
    };
    await assert.rejects(read);
    const [error, failed] = events.slice(-2);
    assert.deepEqual([error.type, failed.type, failed.response.status], ["error", "response.failed", "failed"]);
    for (const told of [error, failed.response.error])
      assert.ok(told.message.includes("Lost my thread"), told.message);
  }

  async streams_through_the_runner() {
    const stream = this.client.responses.stream(this.question("bench/chat-core", "hi"));
    const reply = await stream.finalResponse();
    assert.equal(reply.status, "completed");
    holdsBoth(reply.output_text);
  }
}

export class OpenAiCompletions extends OpenAiSdk {
  async ask(model, prompt) {
    const reply = await this.client.completions.create({ model, prompt });
    const [choice] = reply.choices;
    const tokens = [reply.usage.prompt_tokens, reply.usage.completion_tokens];
    return { text: choice.text, model: reply.model, finished: choice.finish_reason, tokens };
  }

  async *stream(model, prompt) {
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await this.client.completions.create({ model, prompt, ...options })) {
      for (const choice of chunk.choices) yield choice.text;
      if (chunk.usage) yield [chunk.usage.prompt_tokens, chunk.usage.completion_tokens];
    }
  }
}

const tokensOf = ({ usage }) => [usage.input_tokens, usage.output_tokens];
