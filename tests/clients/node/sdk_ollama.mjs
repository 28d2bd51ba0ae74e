// The official `ollama` SDK: chat and generate.
import assert from "node:assert/strict";
import { packaged } from "./packages.mjs";
import { PICTURE, holdsBoth } from "./scenarios.mjs";

const { Ollama } = packaged("ollama");
const PARAMETERS = { type: "object", properties: {} };

class OllamaSdk {
  stop = "stop";
  errors = {
    ...Object.fromEntries([400, 404, 413, 429, 502].map((kind) => [kind, "ResponseError"])),
    // A line that holds an error is raised without a class of its own.
    stream: "Error",
  };

  constructor(url) {
    this.client = new Ollama({ host: url });
  }

  async names() {
    return (await this.client.list()).models.map((model) => model.model);
  }

  status(error) {
    return error.status_code;
  }

  header() {
    return undefined;
  }

  saying(error) {
    return error.message;
  }
}

export class OllamaChat extends OllamaSdk {
  question(model, text, { picture, tools } = {}) {
    const message = { role: "user", content: text, ...(picture && { images: [PICTURE] }) };
    const question = { model, messages: [message] };
    if (tools) question.tools = [{ type: "function", function: { name: "get_time", parameters: PARAMETERS } }];
    return question;
  }

  async ask(model, text, more) {
    const reply = await this.client.chat(this.question(model, text, more));
    return { text: reply.message.content, model: reply.model, finished: reply.done_reason, tokens: tokensOf(reply) };
  }

  async *stream(model, text) {
    for await (const reply of await this.client.chat({ ...this.question(model, text), stream: true })) {
      yield reply.message.content;
      if (reply.done) yield tokensOf(reply);
    }
  }

  async asked_by_bare_name() {
    for (const model of ["chat-core", "bench/chat-core:latest"]) holdsBoth((await this.ask(model, "hi")).text);
  }

  async shows() {
    assert.ok((await this.client.show({ model: "bench/chat-core" })).capabilities.includes("completion"));
    assert.deepEqual((await this.client.ps()).models, []);
  }
}

export class OllamaGenerate extends OllamaSdk {
  question(model, prompt, { picture } = {}) {
    return { model, prompt, ...(picture && { images: [PICTURE] }) };
  }

  async ask(model, text, more) {
    const reply = await this.client.generate(this.question(model, text, more));
    return { text: reply.response, model: reply.model, finished: reply.done_reason, tokens: tokensOf(reply) };
  }

  async *stream(model, text) {
    for await (const reply of await this.client.generate({ ...this.question(model, text), stream: true })) {
      yield reply.response;
      if (reply.done) yield tokensOf(reply);
    }
  }
}

const tokensOf = (reply) => [reply.prompt_eval_count, reply.eval_count];
