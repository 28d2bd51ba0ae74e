import { describe, expect, test, vi } from 'vitest';
import type { LiveEvent } from '../src/host/gen';
import type { Link } from '../src/host/host';
import { httpHost, takeToken } from '../src/host/http';
import { NdjsonDecoder } from '../src/host/ndjson';

const EVENTS: LiveEvent[] = [
  { type: 'snapshot', panels: [], alerts: [], conversations: [] },
  { type: 'seat_delta', panel: 'p1', call: 'p1.member1', at: 0, text: 'ünï 😀 "quoted"\n' },
  { type: 'missed' },
];
const WIRE = new TextEncoder().encode(EVENTS.map((e) => `${JSON.stringify(e)}\n`).join('\n'));

describe('NDJSON', () => {
  test('cut at every byte, into two pieces', () => {
    for (let cut = 0; cut <= WIRE.length; cut++) {
      const decoder = new NdjsonDecoder();
      expect([...decoder.push(WIRE.slice(0, cut)), ...decoder.push(WIRE.slice(cut))]).toEqual(EVENTS);
    }
  });

  test('byte by byte', () => {
    const decoder = new NdjsonDecoder();
    expect([...WIRE].flatMap((byte) => decoder.push(Uint8Array.of(byte)))).toEqual(EVENTS);
  });

  test('a line that is not JSON throws; an unfinished one waits', () => {
    expect(() => new NdjsonDecoder().push(new TextEncoder().encode('{"a":\n'))).toThrow(SyntaxError);
    expect(new NdjsonDecoder().push(new TextEncoder().encode('{"a":1}'))).toEqual([]);
  });
});

describe('commands', () => {
  const answering = (status: number, body: string) =>
    vi.fn(async () => new Response(body, { status })) as unknown as typeof fetch & ReturnType<typeof vi.fn>;

  test('go out as a POST with the token, and the answer comes back', async () => {
    const fetch = answering(200, '{"panel":"p1"}');
    const args = { collection: 'core', prompt: 'x', system: '', client: 'window' };
    await expect(httpHost('s3cret', fetch).call('ask', args)).resolves.toEqual({ panel: 'p1' });
    expect(fetch.mock.calls[0]).toEqual([
      '/bench/admin/ask',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret' },
        body: JSON.stringify(args),
      },
    ]);
  });

  test.each([
    [
      'a refusal',
      400,
      '{"error":{"code":"bad_input","message":"no","field":"name"}}',
      { code: 'bad_input', message: 'no', field: 'name' },
    ],
    [
      'an error of the guard',
      500,
      '{"error":{"message":"broken","code":"boom"}}',
      { code: 'internal', message: 'broken', field: null },
    ],
    [
      'no JSON',
      502,
      '<html>',
      { code: 'internal', message: 'The gateway answered with status 502.', field: null },
    ],
  ])('%s rejects as a control error', async (_, status, body, error) => {
    await expect(httpHost('t', answering(status, body)).call('status', {})).rejects.toEqual(error);
  });

  test('a stale token is said, and how to get another', async () => {
    await expect(httpHost('t', answering(401, '{}')).call('status', {})).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining('bench serve --ui'),
    });
  });

  test('a gateway that is gone rejects as a control error', async () => {
    const fetch = vi.fn(async () => Promise.reject(new TypeError('network')));
    await expect(httpHost('t', fetch).call('status', {})).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('did not answer'),
    });
  });
});

describe('events', () => {
  function stream(...chunks: Uint8Array[]) {
    return new Response(
      new ReadableStream({
        start(c) {
          for (const chunk of chunks) c.enqueue(chunk);
          c.close();
        },
      }),
    );
  }

  test('read to the end, then connect again; the loss is said', async () => {
    vi.useFakeTimers();
    const replies = [stream(WIRE.slice(0, 50), WIRE.slice(50)), stream(WIRE)];
    const fetch = vi.fn(async () => replies.shift() ?? new Promise<Response>(() => {}));
    const events: LiveEvent[] = [];
    const links: Link[] = [];
    const stop = await httpHost('t', fetch).listen(
      (e) => events.push(e),
      (l) => links.at(-1) !== l && links.push(l),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toEqual(EVENTS);
    expect(links).toEqual(['up', 'lost']);
    await vi.advanceTimersByTimeAsync(5000);
    expect(events).toEqual([...EVENTS, ...EVENTS]);
    expect(links).toEqual(['up', 'lost', 'up', 'lost']);
    const before = fetch.mock.calls.length;
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fetch.mock.calls.length).toBe(before);
    vi.useRealTimers();
  });

  test('a stream that falls silent is taken for dead', async () => {
    vi.useFakeTimers();
    const fetch = vi.fn(
      async (_: unknown, init?: RequestInit) =>
        new Response(
          new ReadableStream({
            start(c) {
              c.enqueue(WIRE);
              init?.signal?.addEventListener('abort', () => c.error(new Error('aborted')));
            },
          }),
        ),
    );
    const links: Link[] = [];
    const stop = await httpHost('t', fetch).listen(
      () => {},
      (l) => links.push(l),
    );
    await vi.advanceTimersByTimeAsync(44_000);
    expect(links).toEqual(['up']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(links).toEqual(['up', 'lost']);
    stop();
    vi.useRealTimers();
  });

  test('a refused token ends it: trying again would not help', async () => {
    const links: Link[] = [];
    const fetch = vi.fn(async () => new Response('{}', { status: 401 }));
    await httpHost('t', fetch).listen(
      () => {},
      (l) => links.push(l),
    );
    await vi.waitFor(() => expect(links).toEqual(['refused']));
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

test('the token is taken out of the address and kept for the tab', () => {
  history.replaceState(null, '', '/?x=1#token=s3cret');
  expect(takeToken(location, history, sessionStorage)).toBe('s3cret');
  expect(location.href).not.toContain('s3cret');
  expect(location.search).toBe('?x=1');
  expect(takeToken(location, history, sessionStorage)).toBe('s3cret');
});
