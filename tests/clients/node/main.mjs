// Runs the cases named by its arguments, `node-SDK::UPSTREAM::SCENARIO`, against the gateway at BENCH_URL.
//
// Each outcome is told as a JSON line: {"case": …, "ok": …, "detail": …}. Cases run at once, and one that hangs is
// given up: nothing here may wait for ever. The SDKs are in the folder BENCH_PACKAGES; the collections they ask are
// made by tests/tests/clients/members.rs.
import { Case, scenarios } from "./scenarios.mjs";
import { AiAnthropic, AiGoogle, AiOpenAiChat, AiOpenAiResponses } from "./sdk_ai.mjs";
import { Anthropic } from "./sdk_anthropic.mjs";
import { GenAi } from "./sdk_genai.mjs";
import { OllamaChat, OllamaGenerate } from "./sdk_ollama.mjs";
import { OpenAiChat, OpenAiCompletions, OpenAiResponses } from "./sdk_openai.mjs";

const AT_ONCE = 8;
// Longer than any SDK's own timeout, so that theirs is seen first.
const PATIENCE_MS = 45_000;

const SDKS = {
  "openai-chat": OpenAiChat,
  "openai-responses": OpenAiResponses,
  "openai-completions": OpenAiCompletions,
  anthropic: Anthropic,
  genai: GenAi,
  ollama: OllamaChat,
  "ollama-generate": OllamaGenerate,
  "ai-openai-chat": AiOpenAiChat,
  "ai-openai-responses": AiOpenAiResponses,
  "ai-anthropic": AiAnthropic,
  "ai-google": AiGoogle,
};

const connected = {};
const tell = (outcome) => process.stdout.write(`${JSON.stringify(outcome)}\n`);
// Only outcomes are told on standard output, whatever an SDK has to say.
console.log = console.info = console.error;

async function play(name) {
  const [client, upstream, scenario] = name.split("::");
  connected[client] ??= new SDKS[client.replace("node-", "")](process.env.BENCH_URL);
  const sdk = connected[client];
  // What an SDK plays beside the others is its own method.
  if (!scenarios[scenario]) return sdk[scenario]();
  return scenarios[scenario](new Case(sdk, upstream === "any" ? "chat" : upstream, name));
}

async function attempt(name) {
  let timer;
  const hung = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hung: no end after ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    await Promise.race([play(name), hung]);
    tell({ case: name, ok: true, detail: "" });
  } catch (error) {
    tell({ case: name, ok: false, detail: String(error?.stack ?? error) });
  } finally {
    clearTimeout(timer);
  }
}

const names = process.argv.slice(2);
const worker = async () => {
  for (let name = names.shift(); name; name = names.shift()) await attempt(name);
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
// A hung case still holds its connection; what is told must be out first.
process.stdout.end(() => process.exit(0));
