import { describe, expect, test } from 'vitest';
import { call, conversation, turn } from '../dev/routed';
import { begunAfter, isConversation, items, newest } from '../src/pages/live/items';
import { cost, rate, stateOf, tokens, totals } from '../src/conversation/words';
import type { LiveEvent } from '../src/host/gen';
import { addConversations, addTurns, closeTurns, openTurns, shadowsOf } from '../src/state/conversations';
import { apply, type Live, NOTHING_YET } from '../src/state/live';
import { dollars, short } from '../src/text/numbers';
import { panel, verdict } from './views';

const play = (...events: LiveEvent[]): Live => events.reduce(apply, NOTHING_YET);
const at = (minute: number, second: string) => `2026-11-29T15:${String(minute).padStart(2, '0')}:${second}Z`;
const view = (id: string, minute: number, over = {}) =>
  conversation({ id, at: at(minute, '00'), last_at: at(minute, '30'), ...over });
const told = (id: string, n: number, status: 'running' | 'ok', over = {}): LiveEvent => ({
  type: 'turn_changed',
  conversation: view(id, 40 + n, { turns: n, running: status === 'running' }),
  turn: turn(id, n, { status, ...over }),
});
const snapshot = (...conversations: ReturnType<typeof view>[]): LiveEvent => ({
  type: 'snapshot',
  panels: [],
  alerts: [],
  conversations,
});
const numbers = (live: Live, id: string) => live.routed.turns[id]?.list.map((it) => it.turn);
const opened = (live: Live, id: string): Live => ({ ...live, routed: openTurns(live.routed, id) });

describe('conversations as they are told', () => {
  test('the newest turn first, each once', () => {
    const live = play(
      snapshot(view('r1', 10), view('r2', 20)),
      told('r1', 1, 'running'),
      told('r1', 1, 'ok'),
    );
    expect(live.routed.conversations.map((it) => [it.id, it.running])).toEqual([
      ['r1', false],
      ['r2', false],
    ]);
  });

  test('turns are kept of those that are looked at, without their texts', () => {
    const event = told('r1', 1, 'ok', { question: 'a whole session', answer: 'x' });
    expect(play(event).routed.turns).toEqual({});
    const live = apply(opened(NOTHING_YET, 'r1'), event);
    expect(live.routed.turns['r1']?.list[0]).toMatchObject({ turn: 1, question: '', answer: '' });
    expect(closeTurns(live.routed, 'r1').turns).toEqual({});
  });

  test('a page adds what is older, and what the stream told stays where it is further', () => {
    let live = opened(play(snapshot(view('r1', 10))), 'r1');
    live = [told('r1', 3, 'running'), told('r1', 4, 'running')].reduce(apply, live);
    const page = [turn('r1', 3), turn('r1', 2)];
    live = { ...live, routed: addTurns(live.routed, 'r1', page, true) };
    expect(live.routed.turns['r1']?.list.map((it) => [it.turn, it.status])).toEqual([
      [4, 'running'],
      [3, 'ok'],
      [2, 'ok'],
    ]);
    live = { ...live, routed: addTurns(live.routed, 'r1', [turn('r1', 3, { alias: 'old' })], false) };
    expect(live.routed.turns['r1']).toMatchObject({ more: false });
    expect(live.routed.turns['r1']?.list[1]?.alias).toBe('qwen3-coder');
  });

  test('after missed events turns are asked for again, and nothing that is not told of runs', () => {
    const before = opened(play(told('r1', 1, 'running')), 'r1');
    const after = apply(before, snapshot(view('r2', 50)));
    expect(numbers(after, 'r1')).toBeUndefined();
    expect(after.routed.conversations.map((it) => [it.id, it.running])).toEqual([
      ['r2', false],
      ['r1', false],
    ]);
  });

  test('a verdict reaches its call, and is neither owed nor forgotten by the next turn', () => {
    const judged = { type: 'verdict_changed', panel: 'r1', call: 'r1.1', owed: 3 } as const;
    const first = play(
      snapshot(view('r1', 10, { calls: [call('r1.1', 'beta'), call('r1.1.s1', 'gamma', { shadow: true })] })),
    );
    const given = apply(first, { ...judged, verdict: verdict({ call: 'r1.1' }) });
    expect(given.routed.conversations[0]?.calls[0]?.verdict?.useful).toBe(true);
    expect([given.owed, given.holes]).toEqual([3, []]);
    // A gateway that was started anew tells of the call alone, and not of how it was judged.
    const next = {
      ...told('r1', 2, 'ok'),
      conversation: view('r1', 42, { calls: [call('r1.1', 'beta')] }),
    } as LiveEvent;
    const later = apply(given, next).routed.conversations[0];
    expect(later?.calls.map((it) => [it.call, it.verdict?.useful])).toEqual([
      ['r1.1', true],
      ['r1.1.s1', undefined],
    ]);
    const withdrawn = apply(given, { ...judged, verdict: null });
    expect(withdrawn.routed.conversations[0]?.calls[0]?.verdict).toBeNull();
  });

  test('a shadow that has answered joins its conversation', () => {
    const shadow = call('r1.1.s1', 'gamma', { shadow: true, turn: 3 });
    const live = play(snapshot(view('r1', 10)), {
      type: 'conversation_changed',
      conversation: view('r1', 10, { calls: [call('r1.1', 'beta'), shadow] }),
    });
    expect([...shadowsOf(live.routed.conversations[0]!)]).toEqual([[3, [shadow]]]);
  });

  test('a page of older ones does not replace what the stream has told', () => {
    const live = play(told('r1', 2, 'running'));
    const routed = addConversations(live.routed, [view('r1', 10), view('r0', 5)]);
    expect(routed.conversations.map((it) => [it.id, it.running])).toEqual([
      ['r1', true],
      ['r0', false],
    ]);
  });
});

describe('panels and conversations in one list', () => {
  const all = items(
    [panel({ id: 'p1', at: '2026-11-29T15:30:00Z' }), panel({ id: 'p2', at: '2026-11-29T15:10:00Z' })],
    [view('r1', 20, { last_at: '2026-11-29T15:55:00Z' }), view('r2', 5)],
  );

  test('whatever happened last is first; what began last is followed', () => {
    expect(all.map((it) => it.id)).toEqual(['r1', 'p1', 'p2', 'r2']);
    expect(newest(all)?.id).toBe('p1');
    expect(all.map((it) => begunAfter(all, it))).toEqual([1, 0, 2, 3]);
    expect(newest([])).toBeNull();
    expect(['p1', 'r1'].map(isConversation)).toEqual([false, true]);
  });
});

describe('words', () => {
  test.each([
    [null, null, 'tokens unknown'],
    [1_284_000, 15_580, '1.28M in, 15.6K out'],
    [812, null, '812 in, unknown out'],
    [0, 0, '0 in, 0 out'],
  ])('tokens %s and %s: %s', (read, written, said) => expect(tokens(read, written)).toBe(said));

  test.each([
    [null, 3, 'cost unknown'],
    [0, 0, '$0'],
    [0.00002, 0, 'under $0.0001'],
    [0.0061, 0, '$0.0061'],
    [12.4, 1, '$12.40 and 1 turn of unknown cost'],
  ])('cost %s with %s unknown: %s', (known, unknown, said) => expect(cost(known, unknown)).toBe(said));

  test('n stands beside every rate', () => {
    expect([rate(0, 0), rate(0, 3), rate(9, 12)]).toEqual(['no evidence yet', '0 %, n 3', '75 %, n 12']);
    expect([short(47_000), short(999), dollars(0.05)]).toEqual(['47K', '999', '$0.0500']);
  });

  test.each([
    [{ running: true, status: 'error' }, 'running', 'running'],
    [{ running: false, status: 'ok' }, 'done', 'waits for its client'],
    [{ running: false, status: 'empty' }, 'failed', 'the last turn was empty'],
    [{ running: false, status: 'error' }, 'failed', 'the last turn failed'],
    [{ running: false, status: 'cancelled' }, 'stopped', 'the last turn was cancelled'],
  ] as const)('%o is said to be %s', (over, tone, words) =>
    expect(stateOf(conversation(over))).toEqual({ tone, words }),
  );

  test('what a conversation took', () => {
    expect(totals(conversation({ turns: 1, tool_calls: 2 }))).toEqual([
      '1 turn',
      '2 tool calls',
      'tokens unknown',
      'cost unknown',
    ]);
  });
});
