// The Vercel AI SDK, `ai`, with its providers for OpenAI (chat and Responses), Anthropic and Google.
import assert from "node:assert/strict";
import { packaged } from "./packages.mjs";
import { PICTURE, TIMEOUT_MS } from "./scenarios.mjs";

const { generateText, jsonSchema, streamText, tool } = packaged("ai");
const { createAnthropic } = packaged("@ai-sdk/anthropic");
const { createGoogleGenerativeAI } = packaged("@ai-sdk/google");
const { createOpenAI } = packaged("@ai-sdk/openai");

const get_time = tool({ description: "The time.", inputSchema: jsonSchema({ type: "object", properties: {} }) });

class Ai {
  stop = "stop";
  // A provider's error event is given as it came.
  errors = {
    ...Object.fromEntries([400, 404, 413, 429, 502].map((kind) => [kind, "APICallError"])),
    stream: "Object",
  };

  question(model, text, { picture, tools } = {}) {
    const parts = [
      { type: "text", text },
      { type: "image", image: PICTURE, mediaType: "image/png" },
    ];
    return {
      model: this.model(model),
      messages: [{ role: "user", content: picture ? parts : text }],
      maxOutputTokens: 500,
      maxRetries: 0,
      abortSignal: AbortSignal.timeout(TIMEOUT_MS),
      ...(tools && { tools: { get_time } }),
    };
  }

  async ask(model, text, more) {
    const reply = await generateText(this.question(model, text, more));
    return {
      text: reply.text,
      model: reply.response.modelId,
      finished: reply.finishReason,
      tokens: tokensOf(reply.usage),
    };
  }

  async *stream(model, text) {
    // Errors are parts of this stream; the plain text stream ends without a word.
    for await (const part of streamText({ ...this.question(model, text), onError() {} }).fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") yield part.text;
      if (part.type === "finish") yield tokensOf(part.totalUsage);
    }
  }

  async a_busy_reader_sees_the_error() {
    // Piped streams drop what they hold when the connection breaks, and this reader is slower than the provider.
    let text = "";
    const read = async () => {
      for await (const piece of this.stream("bench/chat-broken", "hi")) {
        text += piece;
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    const error = await read().then(assert.fail, (error) => error);
    assert.ok(error.message.includes("Lost my thread"), String(error.message));
    assert.ok(text.includes("## member — erring-chat"), text);
  }

  status(error) {
    return error.statusCode;
  }

  header(error, name) {
    return error.responseHeaders[name];
  }

  saying(error) {
    return error.message;
  }
}

export class AiOpenAiChat extends Ai {
  constructor(url) {
    super();
    const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: "anything" });
    this.model = (name) => provider.chat(name);
  }
}

export class AiOpenAiResponses extends Ai {
  constructor(url) {
    super();
    const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: "anything" });
    this.model = (name) => provider.responses(name);
  }
}

export class AiAnthropic extends Ai {
  constructor(url) {
    super();
    const provider = createAnthropic({ baseURL: `${url}/v1`, apiKey: "anything" });
    this.model = (name) => provider(name);
  }
}

export class AiGoogle extends Ai {
  constructor(url) {
    super();
    const provider = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: "anything" });
    this.model = (name) => provider(name);
    this.errors.stream = "APICallError";
  }
}

const tokensOf = (usage) => [usage.inputTokens, usage.outputTokens];
