import { beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import type { SeatView } from '../src/host/gen';
import { controlError } from '../src/host/host';
import { neighbour, nextUnjudged } from '../src/seat/judge';
import { Judging } from '../src/state/judging.svelte';
import { seat, verdict } from './views';

let fixture: Fixture;
let judging: Judging;
/** The seat as the gateway has it now. */
const now = (): SeatView => fixture.panels[0]!.seats[0]!;

beforeEach(() => {
  fixture = new Fixture({ past: 1 });
  judging = new Judging(fixture, () => {});
});

describe('verdicts', () => {
  test('given, given again, changed', async () => {
    expect(await judging.give(now(), true)).toBe(true);
    expect(now().verdict?.useful).toBe(true);
    expect(await judging.give(now(), true)).toBe(false);
    expect(await judging.give(now(), false)).toBe(true);
    expect(now().verdict?.useful).toBe(false);
    expect(fixture.calls.filter(([name]) => name === 'give_verdict')).toHaveLength(2);
  });

  test('words said before the verdict go with it', async () => {
    await judging.mark(now(), 'real', 'a claim');
    await judging.note(now(), 'a note');
    expect(fixture.calls).toEqual([]);
    expect(judging.draft(now())).toMatchObject({ real: ['a claim'], note: 'a note' });
    await judging.give(now(), false);
    expect(now().verdict).toMatchObject({ useful: false, note: 'a note', real: ['a claim'], false: [] });
  });

  test('words said after it change it at once', async () => {
    await judging.give(now(), true);
    await judging.mark(now(), 'false', 'a claim');
    expect(now().verdict).toMatchObject({ useful: true, false: ['a claim'] });
    await judging.unmark(now(), 'a claim');
    expect(now().verdict?.false).toEqual([]);
  });

  test('undone step by step, back to none', async () => {
    const { call } = now();
    await judging.mark(now(), 'real', 'a claim');
    await judging.give(now(), true);
    await judging.give(now(), false);
    expect(await judging.undo()).toBe(call);
    expect(now().verdict).toMatchObject({ useful: true, real: ['a claim'] });
    expect(await judging.undo(call)).toBe(call);
    expect(now().verdict).toBeNull();
    expect(judging.draft(now()).real).toEqual(['a claim']);
    expect(judging.canUndo(call)).toBe(false);
    expect(await judging.undo()).toBeNull();
  });

  test('a verdict from before is withdrawn, and the withdrawal can be undone', async () => {
    now().verdict = verdict({ call: now().call, note: 'kept' });
    await judging.withdraw(now());
    expect(now().verdict).toBeNull();
    expect(judging.draft(now()).note).toBe('kept');
    await judging.undo();
    expect(now().verdict).toMatchObject({ useful: true, note: 'kept' });
  });

  test('a refusal is kept to be shown, and nothing can be undone', async () => {
    fixture.refuse.set('give_verdict', controlError('internal', 'Recording stopped: the disk is full.'));
    expect(await judging.give(now(), true)).toBe(false);
    expect(judging.errors.get(now().call)?.message).toBe('Recording stopped: the disk is full.');
    expect(judging.canUndo(now().call)).toBe(false);
    expect(judging.busy.size).toBe(0);
  });

  test('a claim too many is said, not dropped', async () => {
    for (let i = 0; i < 20; i++) await judging.mark(now(), 'real', `claim ${i}`);
    expect(await judging.mark(now(), 'real', 'one more')).toBe(false);
    expect(judging.errors.get(now().call)?.message).toContain('20 claims');
    expect(judging.draft(now()).real).toHaveLength(20);
  });

  test('a second press while the first is on its way does nothing', async () => {
    const both = await Promise.all([judging.give(now(), true), judging.give(now(), false)]);
    expect(both).toEqual([true, false]);
    expect(now().verdict?.useful).toBe(true);
  });
});

describe('moving between seats', () => {
  const seats = [
    seat({ call: 'a', status: 'ok', verdict: verdict() }),
    seat({ call: 'b', status: 'ok' }),
    seat({ call: 'c', status: 'error' }),
    seat({ call: 'd', status: 'ok' }),
  ];
  test.each([
    ['a', 1, 'b'],
    ['a', -1, 'a'],
    ['d', 1, 'd'],
    [null, 1, 'a'],
  ] as const)('from %s by %s to %s', (from, by, to) => expect(neighbour(seats, from, by)).toBe(to));

  test.each([
    [null, 'b'],
    ['a', 'b'],
    ['b', 'd'],
    ['d', 'b'],
  ])('after %s the next to judge is %s', (from, to) => expect(nextUnjudged(seats, from)).toBe(to));

  test('none left', () => expect(nextUnjudged([seats[0]!, seats[2]!], 'a')).toBeNull());
});
