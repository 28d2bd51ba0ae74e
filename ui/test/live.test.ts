import { describe, expect, test } from 'vitest';
import type { LiveEvent } from '../src/host/gen';
import { addOlder, adopt, apply, isJudgeable, isOver, type Live, NOTHING_YET } from '../src/state/live';
import { chairs, tally } from '../src/seat/chairs';
import { panel, seat, verdict } from './views';

const play = (...events: LiveEvent[]): Live => events.reduce(apply, NOTHING_YET);
const delta = (at: number, text: string, call = 'p1.member1'): LiveEvent => ({
  type: 'seat_delta',
  panel: 'p1',
  call,
  at,
  text,
});
const answer = (live: Live) => live.panels[0]?.seats[0]?.answer;
const alert = {
  kind: 'key_refused',
  subject: 'groq',
  message: 'refused',
  at: '2026-11-29T15:00:00Z',
} as const;

describe('a panel as it runs', () => {
  test('started, told piece by piece, ended', () => {
    const running = play(
      { type: 'snapshot', panels: [], alerts: [], conversations: [] },
      { type: 'panel_started', panel: panel() },
      delta(0, 'Two '),
      delta(4, 'places.'),
    );
    expect(answer(running)).toBe('Two places.');
    expect(running.panels[0]?.seats[0]?.status).toBe('answering');
    expect(running.holes).toEqual([]);

    const over = seat({ status: 'ok', answer: 'Two places.', seconds: 2.5 });
    const ended = [
      { type: 'seat_changed', panel: 'p1', seat: over },
      { type: 'panel_ended', panel: panel({ state: 'done', seconds: 2.5, seats: [over] }) },
    ].reduce((live, e) => apply(live, e as LiveEvent), running);
    expect(ended.panels).toHaveLength(1);
    expect(ended.panels[0]).toMatchObject({ state: 'done', seconds: 2.5 });
    expect(ended.panels[0]?.seats[0]).toEqual(over);
  });

  test('offsets are UTF-16 code units', () => {
    const live = play({ type: 'panel_started', panel: panel() }, delta(0, 'a😀'), delta(3, 'b'));
    expect(answer(live)).toBe('a😀b');
  });

  test.each([
    ['the same piece again', [delta(0, 'abc'), delta(0, 'abc')], 'abc'],
    ['a piece that overlaps', [delta(0, 'abc'), delta(1, 'bcde')], 'abcde'],
    ['an older piece', [delta(0, 'abcdef'), delta(2, 'cd')], 'abcdef'],
  ])('%s adds nothing twice', (_, deltas, text) => {
    const live = play({ type: 'panel_started', panel: panel() }, ...deltas);
    expect(answer(live)).toBe(text);
    expect(live.holes).toEqual([]);
  });

  test('a gap is a hole: nothing is glued over it, and the panel is asked for whole', () => {
    const live = play({ type: 'panel_started', panel: panel() }, delta(0, 'abc'), delta(5, 'f'));
    expect(answer(live)).toBe('abc');
    expect(live.holes).toEqual(['p1']);

    const mended = adopt(live, panel({ seats: [seat({ status: 'answering', answer: 'abcdef' })] }));
    expect(answer(mended)).toBe('abcdef');
    expect(mended.holes).toEqual([]);
  });

  test('news of an unknown panel or seat is a hole', () => {
    expect(play(delta(0, 'x')).holes).toEqual(['p1']);
    expect(play({ type: 'panel_started', panel: panel() }, delta(0, 'x', 'p1.other')).holes).toEqual(['p1']);
    expect(play(delta(0, 'x'), delta(1, 'y')).holes).toEqual(['p1']);
  });

  test('a first-token event that carries less text than was told keeps the longer', () => {
    const live = play({ type: 'panel_started', panel: panel() }, delta(0, 'abc'), {
      type: 'seat_changed',
      panel: 'p1',
      seat: seat({ status: 'answering', first_token_s: 0.4, answer: 'a' }),
    });
    expect(live.panels[0]?.seats[0]).toMatchObject({ answer: 'abc', first_token_s: 0.4 });
  });

  test('an ended seat has the last word over the pieces', () => {
    const live = play(
      { type: 'panel_started', panel: panel() },
      delta(0, 'abc'),
      { type: 'seat_changed', panel: 'p1', seat: seat({ status: 'error', answer: 'ab', error: 'reset' }) },
      delta(3, 'late piece'),
    );
    expect(live.panels[0]?.seats[0]).toMatchObject({ status: 'error', answer: 'ab' });
  });

  test('untouched seats and panels stay the same objects, so that they are not drawn again', () => {
    const other = panel({ id: 'p0', at: '2026-11-29T15:00:00Z' });
    const two = panel({ seats: [seat(), seat({ call: 'p1.member2', alias: 'beta' })] });
    const before = play({ type: 'snapshot', panels: [two, other], alerts: [], conversations: [] });
    const after = apply(before, delta(0, 'x'));
    expect(after.panels[1]).toBe(before.panels[1]);
    expect(after.panels[0]?.seats[1]).toBe(before.panels[0]?.seats[1]);
    expect(after.panels[0]?.seats[0]).not.toBe(before.panels[0]?.seats[0]);
  });
});

describe('snapshots', () => {
  test('newest first, whatever the order told', () => {
    const old = panel({ id: 'p0', at: '2026-11-29T15:00:00Z' });
    const live = play({ type: 'snapshot', panels: [old, panel()], alerts: [], conversations: [] });
    expect(live.panels.map((p) => p.id)).toEqual(['p1', 'p0']);
    expect(live.ready).toBe(true);
  });

  test('after missed events the snapshot replaces what was half known', () => {
    const live = play({ type: 'panel_started', panel: panel() }, delta(0, 'ab'), { type: 'missed' });
    expect(live.catchingUp).toBe(true);
    const full = panel({ state: 'done', seats: [seat({ status: 'ok', answer: 'abcd' })] });
    const caught = apply(live, { type: 'snapshot', panels: [full], alerts: [], conversations: [] });
    expect(caught.catchingUp).toBe(false);
    expect(answer(caught)).toBe('abcd');
  });

  test('older pages stay; a panel that ran and is told no more is asked for', () => {
    const old = panel({ id: 'p0', at: '2026-11-29T15:00:00Z', state: 'done' });
    const live = apply(
      play({ type: 'panel_started', panel: panel() }, { type: 'panel_started', panel: old }),
      {
        type: 'snapshot',
        panels: [],
        alerts: [],
        conversations: [],
      },
    );
    expect(live.panels.map((p) => p.id)).toEqual(['p1', 'p0']);
    expect(live.holes).toEqual(['p1']);
  });

  test('a page of older panels does not overwrite what the stream told', () => {
    const judged = panel({ seats: [seat({ status: 'ok', verdict: verdict() })] });
    const live = addOlder(play({ type: 'snapshot', panels: [judged], alerts: [], conversations: [] }), [
      panel(),
      panel({ id: 'p0', at: '2026-11-28T00:00:00Z' }),
    ]);
    expect(live.panels.map((p) => p.id)).toEqual(['p1', 'p0']);
    expect(live.panels[0]).toBe(judged);
  });

  test('an answer to an old question does not bring an ended panel back to life', () => {
    const ended = panel({ state: 'done', seats: [seat({ status: 'ok', answer: 'all' })] });
    const live = adopt(play({ type: 'panel_ended', panel: ended }), panel());
    expect(live.panels[0]).toEqual(ended);
  });
});

describe('who joins a panel as it runs', () => {
  const passed = { seat: 'member1', call: 'p1.member1', from: 'alpha', to: 'gamma', why: '429, wait 40 s' };
  const reserve = seat({
    call: 'p1.member1.r1',
    seat: 'member1.r1',
    kind: 'reserve',
    alias: 'gamma',
    stood_in_for: 'alpha',
  });
  const explorer = seat({ call: 'p1.explorer', seat: 'explorer', kind: 'explorer', why: 'never asked' });
  const failed = seat({ status: 'error', error: 'slow down', seconds: 0.4 });
  const handover: LiveEvent[] = [
    { type: 'panel_started', panel: panel({ shape: '', shape_by: '' }) },
    { type: 'seat_changed', panel: 'p1', seat: failed },
    { type: 'noticed', alert: { ...alert, kind: 'failed_over' } },
    { type: 'seat_failed_over', panel: 'p1', failed_over: passed },
    { type: 'seat_added', panel: 'p1', seat: reserve },
  ];

  test('a seat that fails, and who takes it', () => {
    const live = play(...handover, delta(0, 'Well.', 'p1.member1.r1'));
    expect(live.panels[0]?.failed_over).toEqual([passed]);
    expect(live.panels[0]?.seats.map((it) => [it.alias, it.status])).toEqual([
      ['alpha', 'error'],
      ['gamma', 'answering'],
    ]);
    expect(live.holes).toEqual([]);
  });

  test('a notice does not join the standing alerts', () => {
    expect(play(...handover).alerts).toEqual([]);
  });

  test('the shape comes later, and with it who was left out', () => {
    const skipped = [{ seat: 'explorer', alias: 'old', why: 'retired' }];
    const live = play(
      { type: 'panel_started', panel: panel({ shape: '', shape_by: '' }) },
      { type: 'panel_shaped', panel: 'p1', shape: 'review', shape_by: 'chosen by jury', skipped },
      { type: 'seat_added', panel: 'p1', seat: explorer },
    );
    expect(live.panels[0]).toMatchObject({ shape: 'review', shape_by: 'chosen by jury', skipped });
    expect(live.panels[0]?.seats.map((it) => it.kind)).toEqual(['member', 'explorer']);
  });

  test('each told twice is there once', () => {
    const twice = handover.flatMap<LiveEvent>((event) =>
      event.type === 'panel_started' ? [event] : [event, event],
    );
    const live = play(...twice);
    expect(live.panels[0]?.seats).toHaveLength(2);
    expect(live.panels[0]?.failed_over).toHaveLength(1);
  });

  test.each([
    [{ type: 'seat_added', panel: 'p1', seat: explorer }],
    [{ type: 'panel_shaped', panel: 'p1', shape: 'review', shape_by: 'x', skipped: [] }],
    [{ type: 'seat_failed_over', panel: 'p1', failed_over: passed }],
  ] as LiveEvent[][])('of a panel that is not known: it is asked for whole', (event) => {
    expect(play(event!)).toMatchObject({ panels: [], holes: ['p1'] });
  });

  test('a late seat runs on after its panel: its words grow, and its end comes last', () => {
    const late = { ...explorer, status: 'late', answer: 'Half ' } as const;
    const ended = play(
      { type: 'panel_started', panel: panel({ seats: [explorer] }) },
      delta(0, 'Half ', 'p1.explorer'),
      { type: 'seat_changed', panel: 'p1', seat: late },
      { type: 'panel_ended', panel: panel({ state: 'done', seats: [late] }) },
      delta(5, 'a word', 'p1.explorer'),
    );
    const runs = ended.panels[0]!.seats[0]!;
    expect(runs).toMatchObject({ status: 'late', answer: 'Half a word' });
    expect([isOver(runs), isJudgeable(runs)]).toEqual([false, false]);
    const came = { ...explorer, status: 'ok', seconds: 80, answer: 'Half a word.' } as const;
    const live = apply(ended, { type: 'seat_changed', panel: 'p1', seat: came });
    expect(live.panels[0]).toMatchObject({ state: 'done', seats: [came] });
    expect(isJudgeable(live.panels[0]!.seats[0]!)).toBe(true);
  });

  test('a snapshot in the middle of it all is where the rest goes on from', () => {
    const merger = seat({
      call: 'p1.merger',
      seat: 'merger',
      kind: 'merger',
      status: 'answering',
      answer: 'We ',
    });
    const whole = panel({ seats: [failed, reserve, merger], failed_over: [passed], reply: 'merged' });
    const live = play(
      ...handover,
      { type: 'missed' },
      { type: 'snapshot', panels: [whole], alerts: [], conversations: [] },
      delta(0, 'We ', 'p1.merger'),
      delta(3, 'agree.', 'p1.merger'),
      { type: 'seat_failed_over', panel: 'p1', failed_over: passed },
    );
    expect(live.catchingUp).toBe(false);
    expect(live.panels[0]?.seats.map((it) => it.call)).toEqual(whole.seats.map((it) => it.call));
    expect(live.panels[0]?.seats[2]?.answer).toBe('We agree.');
    expect(live.panels[0]?.failed_over).toEqual([passed]);
  });

  test('who joined while the panel was asked for whole is not lost', () => {
    const before = panel({ shape: '', shape_by: '', seats: [failed] });
    const known = play(...handover, {
      type: 'panel_shaped',
      panel: 'p1',
      shape: 'review',
      shape_by: 'chosen by jury',
      skipped: [],
    });
    const live = adopt(known, before);
    expect(live.panels[0]).toMatchObject({ shape: 'review', failed_over: [passed] });
    expect(live.panels[0]?.seats.map((it) => it.alias)).toEqual(['alpha', 'gamma']);
  });

  test('a stand-in sits beside the seat it took, explorers last, mergers apart', () => {
    const second = seat({ call: 'p1.member2', seat: 'member2', alias: 'beta', status: 'ok' });
    const merger = seat({ call: 'p1.merger', seat: 'merger', kind: 'merger', status: 'ok' });
    const told = panel({
      seats: [failed, second, explorer, { ...reserve, status: 'ok' }, merger],
      failed_over: [passed],
    });
    const sorted = chairs(told);
    expect(sorted.seats.map((it) => it.seat)).toEqual(['member1', 'member1.r1', 'member2', 'explorer']);
    expect(sorted.mergers).toEqual([merger]);
    expect([...sorted.handedOver.keys()]).toEqual(['p1.member1']);
    expect(tally(told)).toEqual({ members: 2, explorers: 1, answered: 2 });
  });
});

describe('verdicts and alerts', () => {
  test('given, superseded, withdrawn', () => {
    const base = play({
      type: 'panel_ended',
      panel: panel({ state: 'done', seats: [seat({ status: 'ok' })] }),
    });
    const given = apply(base, {
      type: 'verdict_changed',
      panel: 'p1',
      call: 'p1.member1',
      verdict: verdict({ useful: false }),
      owed: 3,
    });
    expect(given.panels[0]?.seats[0]?.verdict?.useful).toBe(false);
    expect(given.owed).toBe(3);
    const back = apply(given, {
      type: 'verdict_changed',
      panel: 'p1',
      call: 'p1.member1',
      verdict: null,
      owed: 4,
    });
    expect(back.panels[0]?.seats[0]?.verdict).toBeNull();
    expect(back.owed).toBe(4);
  });

  test('a verdict on a panel we do not show tells the count and asks for nothing', () => {
    const live = play({ type: 'verdict_changed', panel: 'p9', call: 'p9.member1', verdict: null, owed: 7 });
    expect(live.owed).toBe(7);
    expect(live.holes).toEqual([]);
  });

  test('one alert a kind and subject', () => {
    const live = play(
      { type: 'alert_raised', alert },
      { type: 'alert_raised', alert: { ...alert, message: 'again' } },
      { type: 'alert_raised', alert: { ...alert, subject: 'openai' } },
    );
    expect(live.alerts.map((a) => [a.subject, a.message])).toEqual([
      ['openai', 'refused'],
      ['groq', 'again'],
    ]);
    const cleared = apply(live, { type: 'alert_cleared', kind: 'key_refused', subject: 'groq' });
    expect(cleared.alerts.map((a) => a.subject)).toEqual(['openai']);
  });

  test.each([
    ['ok', 'x', true],
    ['late', 'x', false],
    ['late', '', false],
    ['empty', '', false],
    ['error', 'half an answer', false],
    ['answering', 'x', false],
    ['cancelled', 'x', false],
  ] as const)('a seat that is %s with %j can be judged: %s', (status, text, can) => {
    expect(isJudgeable(seat({ status, answer: text }))).toBe(can);
  });
});
