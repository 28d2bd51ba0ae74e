// What every SDK plays. The same scenarios are in ../python/scenarios.py.
//
// An SDK here has
// - errors: the name of its class for an HTTP status, and for a failed `stream`;
// - stop: why an answer ended, in the words of the API; names(): the ids its list of models has;
// - ask(model, text, {picture, tools}): {text, model, finished, tokens: [in, out]};
// - stream(model, text): yields each piece of text as it comes, and the tokens as often as they are told;
// - count(model, text); status(error); header(error, name), undefined where the SDK does not keep them;
// - saying(error): its text for a person;
// - cut: what it says of a stream that failed, where it heeds the connection that breaks and no error event.
import assert from "node:assert/strict";

export const ANSWERS = ["Answer of alpha, word by word.", "Answer of beta."];
// The scripted providers count 11 tokens in for each of the two members, and one out for each word.
export const TOKENS = [22, 9];
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const TIMEOUT_MS = 30_000;

export class Case {
  constructor(sdk, upstream, name) {
    this.sdk = sdk;
    this.upstream = upstream;
    // A word for the question, by which the providers tell this case from others.
    this.gate = `gate-${name.replaceAll("::", "-").replaceAll("_", "-")}`;
  }

  collection(name) {
    return `bench/${this.upstream}-${name}`;
  }

  /** The error of the class that the SDK has for this kind, and no other, that run() rejects with. */
  async rejected(kind, run) {
    try {
      await run();
    } catch (error) {
      assert.equal(error.constructor.name, this.sdk.errors[kind], String(error.stack ?? JSON.stringify(error)));
      if (kind !== "stream") assert.equal(this.sdk.status(error), kind, String(error));
      return error;
    }
    assert.fail(`no error of the kind ${kind}`);
  }
}

export const scenarios = {
  async lists({ sdk }) {
    const names = await sdk.names();
    // Gemini's names have one more prefix.
    for (const collection of ["chat-core", "ollama-core", "opener"]) {
      assert.ok(
        names.some((name) => name.endsWith(`bench/${collection}`)),
        names.join(),
      );
    }
  },

  async plain(test) {
    const answer = await test.sdk.ask(test.collection("core"), "hi");
    holdsBoth(answer.text);
    assert.equal(answer.model, test.collection("core"));
    assert.equal(answer.finished, test.sdk.stop);
  },

  async streamed(test) {
    const pieces = [];
    for await (const piece of texts(test.sdk.stream(test.collection("core"), "hi"))) pieces.push(piece);
    // What has come by the time of a piece goes out with it: that it comes piece by piece, `seat_by_seat` holds.
    assert.ok(pieces.length > 0);
    const joined = pieces.join("");
    holdsBoth(joined);
    const whole = await test.sdk.ask(test.collection("core"), "hi");
    assert.deepEqual(shape(joined), shape(whole.text));
  },

  async seat_by_seat(test) {
    let text = "";
    let opened = false;
    let pieces = 0;
    for await (const piece of texts(test.sdk.stream(test.collection("slow"), test.gate))) {
      text += piece;
      pieces += 1;
      if (text.includes("Answer of alpha") && !opened) {
        assert.ok(!text.includes("## member — slow"), text);
        await test.sdk.ask("bench/opener", test.gate);
        opened = true;
      }
    }
    assert.ok(pieces > 1);
    assert.ok(opened && text.includes("Answer of slow."), text);
  },

  async merged(test) {
    // One answer word by word: its last word waits until the first ones are here.
    const model = `${test.collection("edited")}:merged`;
    const pieces = [];
    let opened = false;
    for await (const piece of texts(test.sdk.stream(model, test.gate))) {
      pieces.push(piece);
      if (pieces.join("").includes("merged") && !opened) {
        assert.ok(!pieces.join("").includes("answer."), pieces.join("|"));
        await test.sdk.ask("bench/opener", test.gate);
        opened = true;
      }
    }
    const joined = pieces.join("");
    assert.ok(opened && pieces.length > 2, pieces.join("|"));
    assert.ok(joined.startsWith("One merged answer.\n"), joined);
    assert.ok(joined.includes(`Merged by editor-${test.upstream}`) && !joined.includes("## member"), joined);
    const whole = await test.sdk.ask(model, test.gate);
    assert.deepEqual(shape(whole.text), shape(joined));
    assert.deepEqual(whole.tokens, [TOKENS[0] + 11, TOKENS[1] + 3]);
  },

  async image(test) {
    // The provider says what it was sent.
    const { text } = await test.sdk.ask(test.collection("seer"), "hi", { picture: true });
    assert.ok(text.includes(`I see ${PICTURE}`), text);
  },

  async usage(test) {
    assert.deepEqual((await test.sdk.ask(test.collection("core"), "hi")).tokens, TOKENS);
  },

  async streamed_usage(test) {
    const tokens = [];
    for await (const piece of test.sdk.stream(test.collection("core"), "hi")) {
      if (typeof piece !== "string") tokens.push(piece);
    }
    assert.deepEqual(tokens.at(-1), TOKENS);
  },

  async refused(test) {
    // Not the class for 401: the caller's own key is not at fault.
    const error = await test.rejected(502, () => test.sdk.ask(test.collection("refused"), "hi"));
    said(test, error, "Incorrect API key");
  },

  async limited(test) {
    const error = await test.rejected(429, () => test.sdk.ask(test.collection("limited"), "hi"));
    assert.ok(["7", undefined].includes(test.sdk.header(error, "retry-after")));
    said(test, error, "Slow down");
  },

  async overloaded(test) {
    const error = await test.rejected(502, () => test.sdk.ask(test.collection("overloaded"), "hi"));
    said(test, error, "Over capacity");
  },

  async broken_stream(test) {
    let seen = "";
    const error = await test.rejected("stream", async () => {
      for await (const piece of texts(test.sdk.stream(test.collection("broken"), "hi"))) seen += piece;
    });
    // The sections of the seats that failed come before the error.
    for (const alias of ["cut", "erring"]) assert.ok(seen.includes(`## member — ${alias}-${test.upstream}`), seen);
    assert.ok(seen.includes("Lost my thread"), seen);
    said(test, error, test.sdk.cut ?? "Lost my thread");
  },

  async wrong_model(test) {
    said(test, await test.rejected(404, () => test.sdk.ask("bench/nope", "hi")), "bench/chat-core");
  },

  async tools_in_a_panel(test) {
    const run = () => test.sdk.ask(test.collection("core"), "hi", { tools: true });
    said(test, await test.rejected(400, run), "bench/chat-core:route");
  },

  async prompt_too_large(test) {
    const run = () => test.sdk.ask("bench/small", "word ".repeat(1000));
    said(test, await test.rejected(413, run), "small");
  },

  async body_too_large(test) {
    const run = () => test.sdk.ask(test.collection("core"), "w".repeat(21_000_000));
    said(test, await test.rejected(413, run), "20 MB");
  },

  async counts(test) {
    // A quarter of the letters and a tenth, and little more.
    const count = await test.sdk.count(test.collection("core"), "w".repeat(400));
    assert.ok(count >= 110 && count < 120, String(count));
  },
};

export function holdsBoth(text) {
  for (const answer of ANSWERS) assert.ok(text.includes(answer), text);
}

function said(test, error, words) {
  const text = test.sdk.saying(error);
  assert.ok(text.includes(words), text);
}

async function* texts(pieces) {
  for await (const piece of pieces) if (typeof piece === "string" && piece) yield piece;
}

/** A reply without what differs between any two panels: ids, seconds, the order of seats. */
const shape = (text) =>
  text
    .replace(/p\d{8}-\d{6}-[0-9a-f]{8}/g, "PANEL")
    .replace(/\d+\.\d s/g, "SECONDS")
    .split("\n")
    .filter(Boolean)
    .sort();
