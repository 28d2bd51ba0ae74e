import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import { endpoint, model, type FixtureOptions } from '../dev/made';
import App from '../src/App.svelte';
import type { Alert, ModelRecord, QuotaView, SeatView, SpendRow } from '../src/host/gen';
import {
  headersOf,
  headersText,
  limitsOf,
  ofEndpoint,
  quotaTimes,
  typedOf,
  usedShare,
  wrongLimits,
} from '../src/pages/endpoints/limits';
import { notYet } from '../src/pages/endpoints/found';
import { check, draftOf, toSave } from '../src/pages/collections/draft';
import { factOf, optionsOf, overridden, typedFact } from '../src/pages/models/facts';
import { factChips, rowsOf, sorted, wanted } from '../src/pages/models/roster';
import { budgetOf } from '../src/pages/spend/budget';
import { costText, together } from '../src/pages/spend/money';
import { panelCost } from '../src/seat/cost';
import { actionsOf, isBad } from '../src/shell/alerts';
import { span } from '../src/text/numbers';
import { panel, seat } from './views';

const NOW = Date.parse('2026-11-30T10:00:00.000Z');
const quota = (over: Partial<QuotaView> = {}): QuotaView => ({
  model: 'm',
  metric: 'requests',
  window_s: 60,
  limit: 30,
  remaining: 6,
  resets_at: '2026-11-30T10:00:41.000Z',
  seen_at: '2026-11-30T09:59:48.000Z',
  ...over,
});

describe('limits', () => {
  test('what is typed is saved, and nothing is none', () => {
    const typed = { ...typedOf({ rpm: 30, rpd: null, tpm: null, tpd: null, rpmo: null }), tpm: ' 6000 ' };
    expect(typed.rpm).toBe('30');
    expect(wrongLimits(typed)).toEqual({});
    expect(limitsOf(typed)).toEqual({ rpm: 30, rpd: null, tpm: 6000, tpd: null, rpmo: null });
    expect(Object.keys(wrongLimits({ ...typed, rpd: '0', tpd: '1.5', rpmo: 'many' }))).toEqual([
      'rpd',
      'rpmo',
      'tpd',
    ]);
  });

  test('quotas: how much is used, and that what was said is over', () => {
    expect(usedShare(quota(), NOW)).toBeCloseTo(0.8);
    expect(usedShare(quota(), NOW + 42_000)).toBe(0);
    expect(usedShare(quota({ limit: null }), NOW)).toBeNull();
    expect(usedShare(quota({ remaining: null }), NOW)).toBeNull();
    expect(quotaTimes(quota(), NOW)).toBe('seen 12 s ago, whole again in 41 s');
    expect(quotaTimes(quota(), NOW + 42_000)).toBe('seen 54 s ago, whole again by now');
    expect(quotaTimes(quota({ resets_at: null }), NOW)).toBe('seen 12 s ago');
  });

  test('a hub’s connections are its own, and a model’s rest is its endpoint’s', () => {
    const it = (name: string, is_connection: boolean) => ({ name, is_connection, until: '', why: '' });
    const view = {
      connections: [
        { connection: 'hub/one', endpoint: 'hub', in_flight: 0, rules: [], stated: [], quota: [] },
        { connection: 'hubble', endpoint: 'hubble', in_flight: 0, rules: [], stated: [], quota: [] },
      ],
      cooling: [it('alpha', false), it('hub/one', true), it('hubble', true), it('beta', false)],
      budgets: [],
    };
    const of = ofEndpoint(view, 'hub', new Set(['alpha']));
    expect(of.connections.map((c) => c.connection)).toEqual(['hub/one']);
    expect(of.cooling.map((c) => c.name)).toEqual(['alpha', 'hub/one']);
  });

  test('a runtime that is an endpoint already is not offered, however it is spelled', () => {
    const found = (base: string) => ({ preset: 'p', title: 'P', base, models: [] });
    const known = [endpoint('box', 'http://localhost:11434/v1', 'local')];
    const offered = notYet([found('http://127.0.0.1:11434'), found('http://127.0.0.1:1234/v1')], known);
    expect(offered.map((it) => it.base)).toEqual(['http://127.0.0.1:1234/v1']);
  });

  test('headers, one a line', () => {
    const text = 'X-Title: bench\n\n HTTP-Referer:https://a.b/c \n';
    expect(headersOf(text)).toEqual({
      headers: { 'X-Title': 'bench', 'HTTP-Referer': 'https://a.b/c' },
      wrong: '',
    });
    expect(headersOf('X-Title bench').wrong).toBe('X-Title bench');
    expect(headersText(headersOf(text).headers)).toBe('X-Title: bench\nHTTP-Referer: https://a.b/c');
  });

  test.each([
    [0, '0 s'],
    [-5, '0 s'],
    [12_000, '12 s'],
    [61_000, '1 min 1 s'],
    [754_000, '12 min'],
    [6_180_000, '1 h 43 min'],
    [26 * 3_600_000, '1 d 2 h'],
  ])('%i ms is %s', (ms, words) => expect(span(ms)).toBe(words));
});

describe('models', () => {
  const record = (alias: string, over: Partial<ModelRecord>): [string, ModelRecord] => [
    alias,
    {
      alias,
      state: 'ready',
      why: '',
      until: null,
      offloads: 0,
      last_at: null,
      useful: 0,
      judged: 0,
      answers: 0,
      seconds: null,
      first_token_s: null,
      ...over,
    },
  ];
  const models = [
    model('b', 'x', 's/b', 'general'),
    model('a', 'y', 's/a', 'code'),
    model('c', 'x', 's/c', 'light'),
  ];
  const rows = rowsOf(
    models,
    new Map([
      record('a', { offloads: 3, useful: 1, judged: 4, seconds: 9 }),
      record('b', { offloads: 7, state: 'resting', useful: 3, judged: 4, seconds: 2 }),
    ]),
    new Map(),
  );
  const order = (by: Parameters<typeof sorted>[1], down: boolean) =>
    sorted(rows, by, down).map((row) => row.model.alias);

  test('sorted either way, what is not known last', () => {
    expect(order('alias', false)).toEqual(['a', 'b', 'c']);
    expect(order('work', true)).toEqual(['b', 'a', 'c']);
    expect(order('useful', true)).toEqual(['b', 'a', 'c']);
    expect(order('time', false)).toEqual(['b', 'a', 'c']);
    expect(order('time', true)).toEqual(['a', 'b', 'c']);
    expect(order('state', false)).toEqual(['a', 'c', 'b']);
  });

  test('found by words, endpoint and state', () => {
    const is = (by: Partial<Parameters<typeof wanted>[1]>) =>
      rows
        .filter((row) => wanted(row, { query: '', endpoint: '', state: '', ...by }))
        .map((row) => row.model.alias);
    expect(is({ query: 'S/A' })).toEqual(['a']);
    expect(is({ endpoint: 'x' })).toEqual(['b', 'c']);
    expect(is({ state: 'resting' })).toEqual(['b']);
    expect(is({ query: 'light x' })).toEqual(['c']);
  });

  test('what is known of one, in a line', () => {
    expect(factChips({ context_window: 131072, tools: true, price: { input: 0.6, output: 2.5 } })).toEqual([
      '131K',
      'tools',
      '$0.60 / $2.50',
    ]);
    expect(factChips({ price: { input: 0, output: 0 }, vision: false })).toEqual(['free']);
  });

  test('facts as they are typed, and taken back', () => {
    expect(factOf('context_window', ['8192'])).toBe(8192);
    expect(factOf('context_window', ['0'])).toBeUndefined();
    expect(factOf('tools', ['false'])).toBe(false);
    expect(factOf('tools', [''])).toBeUndefined();
    expect(factOf('price', ['0.6', '', '', '0'])).toEqual({ input: 0.6, cache_write: 0 });
    expect(factOf('price', ['', '', '', ''])).toBeUndefined();
    expect(factOf('price', ['-1', '', '', ''])).toBeUndefined();
    expect(typedFact('price', { output: 2 })).toEqual(['', '2', '', '']);
    expect(overridden({ tools: true }, 'vision', false)).toEqual({ tools: true, vision: false });
    expect(overridden({ tools: true, vision: false }, 'tools', undefined)).toEqual({ vision: false });
  });

  test('options are a JSON object', () => {
    expect(optionsOf(' ').options).toEqual({});
    expect(optionsOf('{"top_p": 0.9}').options).toEqual({ top_p: 0.9 });
    expect(optionsOf('[1]')).toMatchObject({ options: null, wrong: expect.stringContaining('object') });
    expect(optionsOf('{"a":').wrong).toContain('not JSON');
  });
});

describe('money', () => {
  const row = (over: Partial<SpendRow>): SpendRow => ({
    key: 'k',
    calls: 10,
    tokens_fresh: 0,
    tokens_out: 0,
    tokens_reasoning: 0,
    cache_read: 0,
    cache_write: 0,
    tokens_unknown: 0,
    cost: 0,
    cost_unknown: 0,
    useful: 0,
    cost_per_useful: null,
    ...over,
  });

  test('what is not known is never nothing', () => {
    expect(costText(0, 10, 10)).toBe('unknown');
    expect(costText(0, 0, 10)).toBe('$0');
    expect(costText(1.5, 3, 10)).toBe('$1.50 and 3 unknown');
    const all = together([
      row({ cost: 2, useful: 4, cost_per_useful: 0.5 }),
      row({ cost: 1, cost_unknown: 2, useful: 1 }),
    ]);
    expect(all).toMatchObject({ cost: 3, cost_unknown: 2, calls: 20, useful: 5, cost_per_useful: null });
    expect(together([row({ cost: 2, useful: 4, cost_per_useful: 0.5 })]).cost_per_useful).toBe(0.5);
  });

  test('a panel costs what its calls do', () => {
    const of = (seats: Partial<SeatView>[]) => panelCost(panel({ seats: seats.map((over) => seat(over)) }));
    const ok = { status: 'ok' } as const;
    expect(
      of([
        { ...ok, cost: 0.2 },
        { ...ok, cost: 0.3 },
      ]),
    ).toBe('$0.50');
    expect(of([{ ...ok, cost: 0.2 }, ok, { status: 'error' }])).toBe('$0.20 and 1 call of unknown cost');
    expect(of([ok, ok])).toBe('cost of 2 calls unknown');
    expect(of([{ status: 'waiting' }])).toBe('');
  });

  test('a budget is read, checked and taken away', () => {
    const draft = { ...draftOf(null), name: 'core', members: ['a'] };
    expect(budgetOf(draft.budget)).toBeNull();
    expect(toSave(draft, null)).toMatchObject({ no_budget: true });
    const month = (dollars: string, tokens = '') => ({ ...draft, budget: { per: 'month', dollars, tokens } });
    expect(check(month('2.5'), null, [], 5)).toEqual({});
    expect(toSave(month('2.5'), null)).toMatchObject({ budget: { per: 'month', dollars: 2.5 } });
    expect(check(month(''), null, [], 5)).toHaveProperty(['budget.dollars']);
    expect(check(month('0'), null, [], 5)).toHaveProperty(['budget.dollars']);
    expect(check(month('2.5', '1.5'), null, [], 5)).toHaveProperty(['budget.tokens']);
  });
});

test('alerts: each kind has its actions, and an unknown kind none', () => {
  const went: unknown[] = [];
  const app = { go: (...to: unknown[]) => went.push(to), live: { panels: [] } };
  const alert = (kind: string): Alert => ({ kind, subject: 'core', message: '', at: '' }) as unknown as Alert;
  for (const action of actionsOf(alert('budget_reached'), app)) action.run();
  for (const action of actionsOf(alert('key_refused'), app)) action.run();
  for (const action of actionsOf(alert('went_paid'), app)) action.run();
  expect(went).toEqual([
    ['collections', 'core'],
    ['spend', null],
    ['endpoints', 'core'],
    ['models', 'core'],
  ]);
  expect(actionsOf(alert('panel_failed'), app)).toEqual([]);
  expect(actionsOf(alert('of-tomorrow'), app)).toEqual([]);
  expect([isBad(alert('port_taken')), isBad(alert('key_refused'))]).toEqual([false, true]);
});

describe('in the window', () => {
  async function open(options: FixtureOptions, hash: string): Promise<Fixture> {
    location.hash = hash;
    const fixture = new Fixture(options);
    render(App, { host: fixture });
    await waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
    return fixture;
  }
  const find = (test: string) =>
    waitFor(
      () => {
        const found = document.querySelector<HTMLElement>(`[data-test="${test}"]`);
        if (!found) throw new Error(`no ${test}`);
        return found;
      },
      { timeout: 5_000 },
    );
  beforeEach(() => {
    localStorage.clear();
    HTMLDialogElement.prototype.showModal = function () {
      this.open = true;
    };
  });
  afterEach(cleanup);

  test('limits are set and their bars shown, and a rest is ended', async () => {
    const fixture = await open({ busy: true }, '#/endpoints/groq');
    expect((await find('rule-tpm')).textContent).toContain('6,120 of 6,000');
    expect((await find('quota-tokens')).textContent).toContain('140 of 6,000 left');
    await fireEvent.click(await find('clear-cooldown'));
    await waitFor(() => expect(fixture.cooling.map((it) => it.name)).toEqual(['openrouter/z-ai']));
    await fireEvent.click(await find('edit-limits'));
    await fireEvent.input(await find('limit-tpm'), { target: { value: 'x' } });
    await fireEvent.click(await find('save-limits'));
    expect(fixture.calls.some(([name]) => name === 'save_endpoint')).toBe(false);
    await fireEvent.input(await find('limit-tpm'), { target: { value: '12000' } });
    await fireEvent.click(await find('save-limits'));
    await waitFor(() => expect(fixture.endpoints[0]?.limits?.tpm).toBe(12_000));
  }, 30_000);

  test('an endpoint that does not answer is saved only when it must be', async () => {
    const fixture = await open({}, '#/endpoints/%2B');
    await fireEvent.input(await find('endpoint-base'), { target: { value: 'https://nothing.example/v1' } });
    await fireEvent.input(await find('endpoint-name'), { target: { value: 'box' } });
    await fireEvent.submit((await find('endpoint-name')).closest('form')!);
    expect((await find('not-saved')).textContent).toContain('There is no model list');
    expect(fixture.endpoints.map((it) => it.name)).not.toContain('box');
    await fireEvent.click(await find('save-anyway'));
    await waitFor(() => expect(fixture.endpoints.map((it) => it.name)).toContain('box'));
  }, 30_000);
});
