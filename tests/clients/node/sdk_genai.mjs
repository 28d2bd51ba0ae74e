// The official `@google/genai` SDK.
import { packaged } from "./packages.mjs";
import { PICTURE, TIMEOUT_MS } from "./scenarios.mjs";

const { GoogleGenAI } = packaged("@google/genai");

export class GenAi {
  stop = "STOP";
  errors = Object.fromEntries([400, 404, 413, 429, 502, "stream"].map((kind) => [kind, "ApiError"]));

  constructor(url) {
    const httpOptions = { baseUrl: url, timeout: TIMEOUT_MS, retryOptions: { attempts: 1 } };
    this.client = new GoogleGenAI({ apiKey: "anything", httpOptions });
  }

  async names() {
    const names = [];
    for await (const model of await this.client.models.list()) names.push(model.name);
    return names;
  }

  question(model, text, { picture, tools } = {}) {
    const parts = [{ inlineData: { mimeType: "image/png", data: PICTURE } }, { text }];
    const question = { model, contents: picture ? parts : text };
    if (tools)
      question.config = { tools: [{ functionDeclarations: [{ name: "get_time", description: "The time." }] }] };
    return question;
  }

  async ask(model, text, more) {
    const reply = await this.client.models.generateContent(this.question(model, text, more));
    const finished = reply.candidates[0].finishReason;
    return { text: reply.text, model: reply.modelVersion, finished, tokens: tokensOf(reply) };
  }

  async *stream(model, text) {
    for await (const chunk of await this.client.models.generateContentStream(this.question(model, text))) {
      yield chunk.text ?? "";
      if (chunk.usageMetadata && chunk.candidates[0].finishReason) yield tokensOf(chunk);
    }
  }

  async count(model, text) {
    return (await this.client.models.countTokens({ model, contents: text })).totalTokens;
  }

  status(error) {
    return error.status;
  }

  header() {
    return undefined;
  }

  saying(error) {
    return error.message;
  }
}

const tokensOf = ({ usageMetadata }) => [usageMetadata.promptTokenCount, usageMetadata.candidatesTokenCount];
