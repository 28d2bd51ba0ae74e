import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import { TEXT } from '../dev/keys';
import type { FixtureOptions } from '../dev/made';
import App from '../src/App.svelte';
import type { GatewayKeyView } from '../src/host/gen';
import { controlError } from '../src/host/host';
import {
  check,
  emptyDraft,
  rateText,
  scopeText,
  standingOf,
  toCreate,
  usedText,
} from '../src/pages/settings/keys';
import { keyText } from '../src/pages/spend/money';
import { when } from '../src/text/numbers';

const NOW = Date.parse('2026-11-30T10:00:00.000Z');
const key = (over: Partial<GatewayKeyView> = {}): GatewayKeyView => ({
  name: 'desk',
  last4: 'x7Pm',
  standing: 'good',
  created: '2026-11-01T10:00:00.000Z',
  ...over,
});

describe('a key that is made', () => {
  const draft = (over: Partial<ReturnType<typeof emptyDraft>> = {}) => ({
    ...emptyDraft(),
    name: 'desk',
    ...over,
  });

  test('of a name alone it is for everything, without limits, for ever', () => {
    expect(check(draft(), [], NOW)).toEqual({});
    expect(toCreate(draft({ name: ' desk ' }))).toEqual({ name: 'desk' });
  });

  test('what is chosen is sent as the gateway takes it', () => {
    const full = draft({
      scope: 'only',
      collections: ['core', 'quick'],
      requests_a_minute: ' 30 ',
      budget: { per: 'month', tokens: '', dollars: '2.5' },
      expires: '90d',
    });
    expect(check(full, [], NOW)).toEqual({});
    expect(toCreate(full)).toEqual({
      name: 'desk',
      collections: ['core', 'quick'],
      requests_a_minute: 30,
      budget: { per: 'month', dollars: 2.5 },
      expires: '+90d',
    });
    expect(toCreate(draft({ expires: '30d' })).expires).toBe('+30d');
    const day = draft({ expires: 'date', date: '2027-01-31' });
    expect(check(day, [], NOW)).toEqual({});
    expect(toCreate(day).expires).toBe('2027-01-31');
    // What was ticked before everything was chosen is not sent.
    expect(toCreate(draft({ scope: 'every', collections: ['core'] }))).toEqual({ name: 'desk' });
  });

  test.each([
    ['name', draft({ name: '' })],
    ['name', draft({ name: 'Desk' })],
    ['name', draft({ name: 'desk-' })],
    ['name', draft({ name: 'd'.repeat(33) })],
    ['name', draft({ name: 'local' })],
    ['collections', draft({ scope: 'only' })],
    ['requests_a_minute', draft({ requests_a_minute: '0' })],
    ['requests_a_minute', draft({ requests_a_minute: '10001' })],
    ['requests_a_minute', draft({ requests_a_minute: '1.5' })],
    ['budget.tokens', draft({ budget: { per: 'day', tokens: '0', dollars: '' } })],
    ['budget.dollars', draft({ budget: { per: 'day', tokens: '', dollars: '' } })],
    ['expires', draft({ expires: 'date' })],
    ['expires', draft({ expires: 'date', date: '2026-11-30' })],
  ] as const)('%s is wrong in %o, and nothing else', (field, wrong) => {
    expect(Object.keys(check(wrong, [], NOW))).toEqual([field]);
  });

  test('a name is free again once its key is revoked or expired', () => {
    expect(check(draft(), [key({ standing: 'revoked' }), key({ standing: 'expired' })], NOW)).toEqual({});
    expect(check(draft(), [key()], NOW).name).toContain('There is a good key desk already.');
  });
});

describe('a key in words', () => {
  test('how it stands', () => {
    const of = (over: Partial<GatewayKeyView>) => standingOf(key(over), NOW);
    expect(of({})).toEqual({ word: 'good', more: 'does not end', tone: '' });
    const later = '2027-02-13T15:00:00.000Z';
    expect(of({ expires: later })).toEqual({ word: 'good', more: `ends ${when(later)}`, tone: '' });
    expect(when(later, new Date(NOW))).toContain('2027');
    expect(of({ expires: '2026-12-01T15:00:00.000Z' })).toEqual({
      word: 'good',
      more: 'ends in 1 d 5 h',
      tone: 'soon',
    });
    const spent = {
      tokens: 9,
      tokens_unknown: 0,
      dollars: 0,
      cost_unknown: 0,
      is_spent: true,
      resets_at: '',
    };
    expect(of({ spent })).toMatchObject({ word: 'spent', tone: 'spent' });
    const at = '2026-11-12T10:00:00.000Z';
    expect(of({ standing: 'revoked', revoked: at, spent })).toEqual({
      word: 'revoked',
      more: when(at),
      tone: '',
    });
    expect(of({ standing: 'expired', expires: at })).toEqual({ word: 'expired', more: when(at), tone: '' });
  });

  test('what it may', () => {
    expect(scopeText(key())).toBe('every collection and model');
    expect(scopeText(key({ collections: ['core', 'quick'] }))).toBe('bench/core, bench/quick');
    expect(rateText(key())).toBe('no limit');
    expect(rateText(key({ requests_a_minute: 1200 }))).toBe('1,200 a minute');
  });

  test.each([
    [undefined, 'never'],
    ['2026-11-30T09:59:30.000Z', 'just now'],
    ['2026-11-30T09:55:29.000Z', '4 min ago'],
    ['2026-11-30T06:30:00.000Z', '3 h ago'],
    ['2026-11-28T06:00:00.000Z', '2 d ago'],
  ])('last used %s: %s', (last_used, words) => {
    expect(usedText(key(last_used ? { last_used } : {}), NOW)).toBe(words);
  });

  test('a caller without one is this machine', () => {
    expect(keyText('caller', 'local')).toBe('this machine, without a key');
    expect(keyText('caller', 'desk')).toBe('desk');
    expect(keyText('model', 'local')).toBe('local');
  });
});

describe('in the window', () => {
  async function open(options: FixtureOptions = {}, hash = '#/settings'): Promise<Fixture> {
    location.hash = hash;
    const fixture = new Fixture(options);
    render(App, { host: fixture });
    await screen.findByTestId('nav-live');
    await waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
    return fixture;
  }
  const $ = (test: string, in_: ParentNode = document) =>
    in_.querySelector<HTMLElement>(`[data-test="${test}"]`)!;
  const row = (name: string) => document.querySelector<HTMLElement>(`[data-key="${name}"]`)!;
  const type = (test: string, value: string) => fireEvent.input($(test), { target: { value } });
  const choose = (test: string, value: string) => fireEvent.change($(test), { target: { value } });
  const sent = (fixture: Fixture, command: string) =>
    fixture.calls.filter(([name]) => name === command).map(([, args]) => args);
  const rows = () =>
    [...document.querySelectorAll<HTMLElement>('[data-test="key-row"]')].map(
      (it) => `${it.dataset['key']} ${it.dataset['standing']}`,
    );
  const form = async () => {
    await fireEvent.click(await screen.findByTestId('new-key'));
    return $('key-form');
  };
  /** Words of a control's own error. */
  const errorOf = (test: string) => {
    const ids = $(test).getAttribute('aria-describedby')?.split(' ') ?? [];
    return ids
      .filter((id) => id.endsWith('-error'))
      .map((id) => document.getElementById(id)?.textContent)
      .join();
  };

  beforeEach(() => {
    localStorage.clear();
    // jsdom has no modal dialogs.
    HTMLDialogElement.prototype.showModal = function () {
      this.open = true;
    };
  });
  afterEach(cleanup);

  test('with none it says so; one that is made is told once and leaves the page', async () => {
    const fixture = await open();
    expect((await screen.findByTestId('no-keys')).textContent).toContain('No keys yet');
    await form();
    await type('key-name', 'desk');
    await fireEvent.click($('scope-only'));
    await fireEvent.click($('scope-collection'));
    await type('key-requests', '30');
    await choose('budget-per', 'month');
    await type('budget-dollars', '5');
    await choose('key-expires', '30d');
    await fireEvent.click($('make-key'));
    expect((await screen.findByTestId('key-text')).textContent).toBe(TEXT);
    expect($('key-told').textContent).toContain('cannot be shown again');
    expect(sent(fixture, 'create_key')).toEqual([
      {
        name: 'desk',
        collections: ['reviewers'],
        requests_a_minute: 30,
        budget: { per: 'month', dollars: 5 },
        expires: '+30d',
      },
    ]);
    await fireEvent.click($('copy-key'));
    expect(fixture.copied).toEqual([TEXT]);
    await fireEvent.click($('key-kept'));
    await waitFor(() => expect($('key-told')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe($('new-key')));
    expect(document.documentElement.outerHTML).not.toContain(TEXT);
    expect($('key-form')).toBeNull();
    await waitFor(() => expect(rows()).toEqual(['desk good']));
    expect(row('desk').textContent).toContain(`••••${TEXT.slice(-4)}`);
    expect(row('desk').textContent).toContain('bench/reviewers');
    expect(row('desk').textContent).toContain('30 a minute');
    expect(row('desk').textContent).toContain('$0 of $5.00 this month');
  });

  test('Escape does not take away what is told once', async () => {
    await open();
    await form();
    await type('key-name', 'desk');
    await fireEvent.click($('make-key'));
    const told = await screen.findByTestId('key-told');
    const escape = new Event('cancel', { cancelable: true });
    told.dispatchEvent(escape);
    expect(escape.defaultPrevented).toBe(true);
    expect($('key-text').textContent).toBe(TEXT);
  });

  test('what is wrong stands at its field, and nothing is sent', async () => {
    const fixture = await open({ programs: true });
    await form();
    await type('key-name', 'ci-reviews');
    await fireEvent.click($('scope-only'));
    await type('key-requests', '0');
    await choose('budget-per', 'day');
    await choose('key-expires', 'date');
    expect(errorOf('key-name')).toBe('');
    await fireEvent.click($('make-key'));
    await waitFor(() => expect(errorOf('key-name')).toContain('There is a good key ci-reviews already.'));
    expect(errorOf('scope-collection')).toBe('Choose at least one, or let it ask every collection.');
    expect(errorOf('key-requests')).toBe('A whole number from 1 to 10,000, or nothing for no limit.');
    expect(errorOf('budget-dollars')).toBe('Give tokens, dollars, or both.');
    expect(errorOf('key-date')).toBe('Choose a day to come.');
    expect(document.activeElement).toBe($('key-name'));
    expect(sent(fixture, 'create_key')).toEqual([]);
  });

  test.each([
    ['conflict', 'name', 'there is a gateway key "desk" already', 'key-name'],
    ['bad_input', 'collections[0]', 'collections[0]: there is no collection "gone"', 'scope-collection'],
    ['bad_input', 'requests_a_minute', 'requests_a_minute: 1 to 10000, not 0', 'key-requests'],
    ['bad_input', 'budget.tokens', 'budget.tokens: at least 1, not 0', 'budget-tokens'],
    ['bad_input', 'expires', 'expires: that is over already', 'key-expires'],
  ] as const)(
    'a refusal (%s at %s) stands at its field and keeps what was typed',
    async (code, field, message, at) => {
      const fixture = await open();
      fixture.refuse.set('create_key', controlError(code, message, field));
      await form();
      await type('key-name', 'desk');
      await fireEvent.click($('scope-only'));
      await fireEvent.click($('scope-collection'));
      await choose('budget-per', 'day');
      await type('budget-tokens', '5');
      await fireEvent.click($('make-key'));
      const words = message.slice(message.startsWith(`${field}: `) ? field.length + 2 : 0);
      await waitFor(() => expect(errorOf(at).toLowerCase()).toBe(words.toLowerCase()));
      expect(screen.getAllByRole('alert')).toHaveLength(1);
      expect(($('key-name') as HTMLInputElement).value).toBe('desk');
    },
  );

  test('a refusal of nothing in the form stands beside the button', async () => {
    const fixture = await open();
    fixture.refuse.set('create_key', controlError('internal', 'Nothing was changed: the disk is full.'));
    await form();
    await type('key-name', 'desk');
    await fireEvent.click($('make-key'));
    expect((await screen.findByRole('alert')).textContent).toBe('Nothing was changed: the disk is full.');
  });

  test('however often it is pressed one key is made', async () => {
    const fixture = await open({ delay: 20 });
    await form();
    await type('key-name', 'desk');
    await fireEvent.click($('make-key'));
    await waitFor(() => expect($('make-key').getAttribute('aria-busy')).toBe('true'));
    await fireEvent.submit($('key-form'));
    await screen.findByTestId('key-told');
    expect(sent(fixture, 'create_key')).toHaveLength(1);
  });

  test('each key says what it may, what is spent, and how it stands', async () => {
    await open({ programs: true });
    await screen.findByRole('table', { name: 'Keys' });
    expect(rows()).toEqual(['desk-agent good', 'ci-reviews good', 'guest good']);
    const ci = row('ci-reviews').textContent;
    for (const words of ['••••2Lfw', 'bench/quick, bench/reviewers', '30 a minute', '2 h ago'])
      expect(ci).toContain(words);
    for (const words of ['$4.31 of $5.00 this month', '812,000 of 2,000,000 tokens', 'begins anew'])
      expect(ci).toContain(words);
    expect($('key-standing', row('guest')).textContent).toMatch(/^spent\s*ends in 1 d 5 h$/);
    expect($('budget', row('desk-agent'))).toBeNull();
    await fireEvent.click(screen.getByText('Show 2 keys that open nothing any more'));
    expect($('ended-keys').getAttribute('aria-expanded')).toBe('true');
    // Newest first, below the good ones; nothing can be done about them.
    expect(rows().slice(3)).toEqual(['desk-agent revoked', 'notes-app expired']);
    expect(document.querySelectorAll('[data-test="revoke-key"]')).toHaveLength(3);
  });

  test('a key is revoked once it is confirmed', async () => {
    const fixture = await open({ programs: true });
    const ask = async () => fireEvent.click(await screen.findByRole('button', { name: 'Revoke guest' }));
    await ask();
    await fireEvent.click(within($('confirm')).getByText('Cancel'));
    expect($('confirm')).toBeNull();
    expect(sent(fixture, 'revoke_key')).toEqual([]);
    fixture.refuse.set('revoke_key', controlError('internal', 'Nothing was changed.'));
    await ask();
    await fireEvent.click($('confirm-revoke'));
    await waitFor(() => expect($('confirm').textContent).toContain('Nothing was changed.'));
    fixture.refuse.clear();
    await fireEvent.click($('confirm-revoke'));
    await waitFor(() => expect($('confirm')).toBeNull());
    expect(sent(fixture, 'revoke_key').at(-1)).toEqual({ name: 'guest' });
    expect(rows()).toEqual(['desk-agent good', 'ci-reviews good']);
    await waitFor(() => expect(document.activeElement).toBe($('new-key')));
    expect($('live-region').textContent).toContain('Key guest revoked');
    expect($('ended-keys').textContent).toContain('Show 3 keys');
  });

  test('to require a key while none is good is asked first, and warned of while it is so', async () => {
    const fixture = await open();
    const box = (await screen.findByTestId('require-keys')) as HTMLInputElement;
    await fireEvent.click(box);
    expect((await screen.findByTestId('confirm')).textContent).toContain(
      'Every program and agent is refused',
    );
    await waitFor(() => expect(box.checked).toBe(false));
    await fireEvent.click(within($('confirm')).getByText('Cancel'));
    expect(fixture.settings.require_keys).toBe(false);
    await fireEvent.click(box);
    const before = { ...fixture.settings };
    await fireEvent.click(await screen.findByTestId('confirm-require'));
    expect((await screen.findByTestId('none-good')).textContent).toContain('every program is refused');
    await waitFor(() => expect(box.checked).toBe(true));
    expect(fixture.settings).toEqual({ ...before, require_keys: true });
    await form();
    await type('key-name', 'desk');
    await fireEvent.click($('make-key'));
    await screen.findByTestId('key-told');
    await waitFor(() => expect($('none-good')).toBeNull());
    await fireEvent.click($('key-kept'));
    await fireEvent.click($('revoke-key'));
    expect($('confirm').textContent).toContain('It is the last good key');
  });

  test('with a good key it is in effect at once, and a refusal leaves it as it was', async () => {
    const fixture = await open({ programs: true });
    const box = (await screen.findByTestId('require-keys')) as HTMLInputElement;
    await fireEvent.click(box);
    await waitFor(() => expect(fixture.settings.require_keys).toBe(true));
    expect(await screen.findByText(/^On: every program/)).toBeTruthy();
    await waitFor(() => expect([box.getAttribute('aria-busy'), box.checked]).toEqual([null, true]));
    expect($('none-good')).toBeNull();
    fixture.refuse.set(
      'save_settings',
      controlError('bad_input', 'Bound beyond this machine.', 'require_keys'),
    );
    await fireEvent.click(box);
    expect(await screen.findByText('Bound beyond this machine.')).toBeTruthy();
    await waitFor(() => expect(box.checked).toBe(true));
  });

  test('where a key is required, a client’s settings say so', async () => {
    const fixture = await open({}, '#/collections');
    expect((await screen.findAllByText(/chat\/completions -H 'content-type/)).length).toBeGreaterThan(0);
    fixture.settings.require_keys = true;
    fixture.changed();
    expect((await screen.findAllByText(/authorization: Bearer your-key/)).length).toBe(2);
    expect($('connect-key').textContent).toContain('put one in the place of your-key');
    expect(screen.getByText(/a model from below, and a key from Settings/)).toBeTruthy();
  });

  test('keys that cannot be read are said to be so', async () => {
    location.hash = '#/settings';
    const fixture = new Fixture();
    fixture.refuse.set('keys', controlError('internal', 'The keys could not be read.'));
    render(App, { host: fixture });
    expect(await screen.findByText('The keys could not be read.')).toBeTruthy();
    expect($('no-keys')).toBeNull();
  });

  test('who asked is told with the key it asked with', async () => {
    const fixture = await open({ programs: true, sessions: 1 }, '#/live');
    const asked = () => $('asked-by')?.textContent?.trim();
    await waitFor(() => expect(asked()).toBe('by claude-cli with the key desk-agent'));
    fixture.play('quick', 'Two words?', 'opencode', 0, 0.5);
    await waitFor(() => expect(asked()).toBe('asked by opencode with the key desk-agent'));
    fixture.play('quick', 'Two words?', 'window', 0, 0.5);
    await waitFor(() => expect(asked()).toBe('asked here'));
  });

  test('spend is told by who asked', async () => {
    await open({ programs: true, busy: true }, '#/spend');
    await choose((await screen.findByTestId('spend-by')).dataset['test']!, 'caller');
    await waitFor(() => expect(row('desk-agent')?.textContent).toContain('desk-agent'));
    expect(row('local').textContent).toContain('this machine, without a key');
  });
});
