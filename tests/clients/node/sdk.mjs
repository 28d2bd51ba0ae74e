// The official OpenAI SDK for Node against a running gateway.
//
// `sdk.mjs --list` prints the names of the cases; `sdk.mjs` runs them all and prints a JSON line for each:
// {"case": …, "ok": …, "detail": …}. BENCH_BASE_URL is the gateway's, with /v1; BENCH_PACKAGES is the folder in
// which the SDK is installed. The collections it asks are made by tests/tests/clients.rs.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const user = (content) => [{ role: "user", content }];
const ask = (client, model, more = {}) => client.chat.completions.create({ model, messages: user("hi"), ...more });

/** The error of this very kind that run() rejects with. */
async function rejected(kind, run) {
  try {
    await run();
  } catch (error) {
    assert.equal(error.constructor.name, kind.name, String(error));
    return error;
  }
  assert.fail(`no ${kind.name}`);
}

/** A reply without what differs between any two panels: ids, seconds, the order of seats. */
const shape = (text, panel) =>
  text.replaceAll(panel, "PANEL").replace(/[\d.]/g, "").split("\n").filter(Boolean).sort();

const cases = {
  async lists_models(client) {
    const models = new Map();
    for await (const model of client.models.list()) models.set(model.id, model);
    assert.ok(models.has("bench/core"), [...models.keys()].join());
    assert.deepEqual(models.get("bench/core").members, ["alpha", "beta"]);
  },

  async retrieves_a_model(client) {
    assert.equal((await client.models.retrieve("bench/core")).id, "bench/core");
  },

  async asks_plainly(client) {
    const reply = await ask(client, "bench/core");
    const text = reply.choices[0].message.content;
    assert.ok(text.includes("Answer of alpha, word by word.") && text.includes("Answer of beta."), text);
    assert.equal(reply.choices[0].finish_reason, "stop");
    assert.equal(reply.model, "bench/core");
  },

  async reads_bench(client) {
    const { bench } = await ask(client, "bench/core");
    const [alpha, beta] = bench.seats;
    assert.equal(alpha.answer, "Answer of alpha, word by word.");
    assert.equal(beta.status, "ok");
    assert.equal(beta.call, `${bench.panel}.member2`);
  },

  async reads_headers(client) {
    const { data, response, request_id } = await ask(client, "bench/core").withResponse();
    assert.equal(response.headers.get("x-bench-panel"), data.bench.panel);
    assert.ok(request_id);
  },

  async reads_usage(client) {
    const { usage } = await ask(client, "bench/core");
    assert.deepEqual([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens], [22, 9, 31]);
  },

  async streams(client) {
    const deltas = [];
    const panels = [];
    const finished = [];
    for await (const chunk of await ask(client, "bench/core", { stream: true })) {
      for (const choice of chunk.choices) {
        if (choice.delta.content) deltas.push(choice.delta.content);
        if (choice.finish_reason) finished.push(choice.finish_reason);
      }
      if (chunk.bench) panels.push(chunk.bench);
    }
    assert.ok(deltas.length > 1);
    assert.deepEqual(finished, ["stop"]);
    assert.equal(panels.length, 1);
    const joined = deltas.join("");
    for (const seat of panels[0].seats) {
      assert.ok(joined.includes(seat.answer), joined);
      assert.ok(joined.includes(`\`${seat.call}\``), joined);
    }
    const whole = await ask(client, "bench/core");
    assert.deepEqual(shape(joined, panels[0].panel), shape(whole.choices[0].message.content, whole.bench.panel));
  },

  async streams_usage(client) {
    const chunks = [];
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await ask(client, "bench/core", options)) chunks.push(chunk);
    const last = chunks.pop();
    assert.deepEqual(last.choices, []);
    assert.equal(last.usage.total_tokens, 31);
    assert.ok(chunks.every((chunk) => !chunk.usage));
  },

  async streams_through_the_runner(client) {
    // The SDK's own accumulator is stricter about chunks than a loop over them.
    const stream = client.chat.completions.stream({ model: "bench/core", messages: user("hi") });
    const reply = await stream.finalChatCompletion();
    assert.equal(reply.choices[0].message.role, "assistant");
    assert.ok(reply.choices[0].message.content.includes("Answer of beta."));
  },

  async sections_come_as_seats_finish(client) {
    let text = "";
    let opened = false;
    for await (const chunk of await ask(client, "bench/slow", { stream: true })) {
      for (const choice of chunk.choices) text += choice.delta.content ?? "";
      if (text.includes("Answer of alpha") && !opened) {
        assert.ok(!text.includes("## member — slow"), text);
        await ask(client, "bench/opener");
        opened = true;
      }
    }
    assert.ok(opened && text.includes("Answer of slow."), text);
  },

  async wrong_model(client, OpenAI) {
    const error = await rejected(OpenAI.NotFoundError, () => ask(client, "bench/nope"));
    assert.deepEqual([error.status, error.code, error.type], [404, "collection_not_found", "not_found_error"]);
    assert.ok(error.message.includes("bench/core"), error.message);
  },

  async bad_body(client, OpenAI) {
    const run = () => client.chat.completions.create({ model: "bench/core", messages: user(5) });
    const error = await rejected(OpenAI.BadRequestError, run);
    assert.equal(error.type, "invalid_request_error");
    assert.ok(error.message.includes("messages[0].content"), error.message);
  },

  async tools_in_a_panel(client, OpenAI) {
    const tools = [{ type: "function", function: { name: "get_time", parameters: { type: "object", properties: {} } } }];
    const error = await rejected(OpenAI.BadRequestError, () => ask(client, "bench/core", { tools }));
    assert.equal(error.code, "tools_in_panel");
    assert.ok(error.message.includes(":route"), error.message);
  },

  async not_yet(client, OpenAI) {
    const error = await rejected(OpenAI.InternalServerError, () => ask(client, "bench/core:merged"));
    assert.equal(error.status, 501);
  },

  async key_refused_by_the_provider(client, OpenAI) {
    // Not an AuthenticationError: the caller's own key is not at fault.
    const error = await rejected(OpenAI.InternalServerError, () => ask(client, "bench/refused"));
    assert.equal(error.status, 502);
  },

  async every_seat_rate_limited(client, OpenAI) {
    const error = await rejected(OpenAI.RateLimitError, () => ask(client, "bench/limited"));
    assert.equal(error.headers.get("retry-after"), "7");
    assert.equal(error.type, "rate_limit_error");
  },

  async a_failed_stream_raises(client, OpenAI) {
    let seen = "";
    const error = await rejected(OpenAI.APIError, async () => {
      for await (const chunk of await ask(client, "bench/broken", { stream: true })) {
        for (const choice of chunk.choices) seen += choice.delta.content ?? "";
      }
    });
    assert.equal(error.type, "server_error");
    assert.ok(seen.includes("## member — cut"), seen);
  },

  async a_retry_is_a_panel_of_its_own(client) {
    const reply = await ask(client.withOptions({ maxRetries: 1 }), "bench/once");
    assert.ok(reply.choices[0].message.content.includes("Second time lucky."));
  },
};

if (process.argv[2] === "--list") {
  console.log(Object.keys(cases).join("\n"));
} else {
  const { OpenAI } = createRequire(`${process.env.BENCH_PACKAGES}/`)("openai");
  const client = new OpenAI({
    baseURL: process.env.BENCH_BASE_URL,
    apiKey: "anything",
    maxRetries: 0,
    timeout: 30_000,
  });
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run(client, OpenAI);
      console.log(JSON.stringify({ case: name, ok: true, detail: "" }));
    } catch (error) {
      console.log(JSON.stringify({ case: name, ok: false, detail: String(error.stack) }));
    }
  }
}
