import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import type { FixtureOptions } from '../dev/made';
import { session } from '../dev/routed';
import App from '../src/App.svelte';
import { controlError } from '../src/host/host';
import { agents } from '../src/pages/collections/agents';

/** The whole window over a scripted gateway: agents' conversations, and what is set up for them. */
async function open(options: FixtureOptions = { sessions: 1 }, hash = '#/live'): Promise<Fixture> {
  location.hash = hash;
  const fixture = new Fixture(options);
  render(App, { host: fixture });
  await screen.findByTestId('nav-live');
  await waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
  return fixture;
}

const $ = (test: string, within_: ParentNode = document) =>
  within_.querySelector<HTMLElement>(`[data-test="${test}"]`)!;
const all = (test: string) => [...document.querySelectorAll<HTMLElement>(`[data-test="${test}"]`)];
const turnRow = (n: number) => document.querySelector<HTMLElement>(`[data-test="turn"][data-turn="${n}"]`)!;
const openTurn = (n: number) => fireEvent.click(turnRow(n).querySelector('button.row')!);
const type = (test: string, value: string) => fireEvent.input($(test), { target: { value } });
const text = (node: Element) => node.textContent?.replace(/\s+/g, ' ').trim() ?? '';
const numbers = () => all('turn').map((it) => Number(it.dataset['turn']));

beforeEach(() => localStorage.clear());
afterEach(cleanup);

describe('a conversation', () => {
  test('is followed as its turns come', async () => {
    const fixture = await open();
    await waitFor(() => expect(numbers()[0]).toBe(38));
    const end = fixture.turn();
    await waitFor(() => expect(turnRow(39)?.dataset['status']).toBe('running'));
    expect($('conversation-state').textContent).toBe('running');
    end({ failed_over: [{ from: 'kimi-k2', to: 'glm-5', why: 'overloaded (529)' }], alias: 'glm-5' });
    await waitFor(() => expect(turnRow(39).dataset['status']).toBe('ok'));
    expect(text($('turn-failed-over', turnRow(39)))).toBe('kimi-k2 → glm-5 overloaded (529)');
    expect(text($('conversation-head'))).toContain('with glm-5');
    expect(text($('conversation-totals'))).toContain('$0.14 and 15 turns of unknown cost');
  });

  test('gives way to what begins after it, and nothing that was told as it went is lost', async () => {
    const fixture = await open();
    await waitFor(() => expect(numbers()[0]).toBe(38));
    const ids = [fixture.routed[0]!.conversation.id];
    const begin = {
      panel: () => fixture.play('quick', 'Two words?', 'opencode', 0, 0.5),
      conversation: () => {
        const { conversation } = session(fixture, { at: new Date().toISOString() }, 2);
        fixture.turn();
        return conversation.id;
      },
    };
    for (const kind of ['panel', 'conversation', 'conversation', 'panel', 'panel'] as const) {
      ids.unshift(begin[kind]());
      await waitFor(() => expect($(kind)?.dataset[kind]).toBe(ids[0]));
    }
    if (!$('panel-row')) await fireEvent.click($('toggle-panels'));
    const rows = [...all('panel-row'), ...all('conversation-row')].map((it) => it.getAttribute('href'));
    expect(rows.sort()).toEqual(ids.map((id) => `#/live/${id}`).sort());
    expect($('panel').dataset['panel']).toBe(ids[0]);
    // What was told whole is not asked for again.
    expect(fixture.calls.filter(([name]) => name === 'panel')).toEqual([]);
  });

  test('older turns come by the page', async () => {
    await open();
    await waitFor(() => expect(numbers()).toHaveLength(30));
    await fireEvent.click($('older-turns'));
    await waitFor(() => expect(numbers()).toEqual(Array.from({ length: 38 }, (_, i) => 38 - i)));
    expect($('older-turns')).toBeNull();
  });

  test('a turn says why its model has it, who could not, and what it took', async () => {
    await open();
    await waitFor(() => expect(turnRow(24)).not.toBeNull());
    await openTurn(24);
    const rows = all('candidate').map((row) => [...row.children].map(text));
    expect(rows[0]).toEqual(['1', 'kimi-k2', 'no evidence yet', '83 %, n 6', '18', '5 of 6 useful overall']);
    expect(rows[1]?.slice(0, 3)).toEqual(['2', 'qwen3-coder', '75 %, n 12']);
    expect(text($('turn-skipped'))).toContain('llama-small not known to take tools');
    expect(text($('turn-facts'))).toContain('Cost unknown');
    expect(text($('turn-facts'))).toContain('Anthropic Messages, translated to OpenAI chat completions');
    expect(text($('turn-lossy'))).toContain('thinking.budget_tokens');
    expect(text(await screen.findByTestId('not-kept'))).toContain('The text of turns is not kept');
  });

  test('its text is read when it is opened, where it is kept', async () => {
    const fixture = await open({ sessions: 1, texts: true });
    await waitFor(() => expect(turnRow(36)).not.toBeNull());
    await openTurn(36);
    await waitFor(() => expect(all('turn-text')).toHaveLength(2));
    expect(fixture.calls.filter(([name]) => name === 'turns').at(-1)?.[1]).toMatchObject({
      before: 37,
      limit: 1,
      texts: true,
    });
  });

  test('shadows stand beside the answer, which says so when it is not kept', async () => {
    const fixture = await open();
    await waitFor(() => expect(all('shadow-row')).toHaveLength(2));
    await fireEvent.click(all('shadow-row')[0]!);
    const shadow = await screen.findAllByTestId('shadow');
    expect(shadow.map((it) => it.getAttribute('aria-label'))).toEqual(['glm-5', 'inkling']);
    expect(text(await screen.findByTestId('real-not-kept'))).toContain('not kept');
    expect(shadow[0]!.textContent).toContain('Then the test passes.');
    await fireEvent.click($('useful', shadow[0]!));
    await waitFor(() => expect(text(all('shadow-row')[0]!)).toContain('Useful'));
    expect(fixture.routed[0]?.conversation.calls[2]?.verdict?.useful).toBe(true);
    // A failed one has nothing to judge.
    expect($('useful', shadow[1]!)).toBeNull();
  });

  test('U, N and Z judge the model that has it; nothing of it is owed', async () => {
    const fixture = await open();
    await waitFor(() => expect(all('routed-call')).toHaveLength(2));
    expect(fixture.owedCalls()).toEqual([]);
    const verdictOf = () => fixture.routed[0]?.conversation.calls[1]?.verdict?.useful;
    await fireEvent.keyDown(document.body, { key: 'n' });
    await waitFor(() => expect(verdictOf()).toBe(false));
    await waitFor(() => expect($('not-useful', all('routed-call')[1]!).ariaPressed ?? 'true').toBe('true'));
    await fireEvent.keyDown(document.body, { key: 'z' });
    await waitFor(() => expect(verdictOf()).toBeUndefined());
    // Whoever works on it keeps it, though a panel begins.
    fixture.play('quick', 'Two words?', 'opencode', 0, 0.5);
    await waitFor(() => expect($('follow-newest')).not.toBeNull());
    expect($('conversation')).not.toBeNull();
  });

  test('one by its address: an old one is asked for, and an unknown one is said to be', async () => {
    const fixture = new Fixture({ sessions: 2 });
    const old = fixture.routed[1]!.conversation.id;
    const listen = fixture.listen.bind(fixture);
    fixture.listen = (event, link) =>
      listen((e) => event(e.type === 'snapshot' ? { ...e, conversations: [] } : e), link);
    location.hash = `#/live/${old}`;
    render(App, { host: fixture });
    await waitFor(() => expect($('conversation').dataset['conversation']).toBe(old));
    cleanup();
    await open({ sessions: 1 }, '#/live/r0');
    expect(await screen.findByText('This conversation is not known to the gateway.')).toBeTruthy();
  });

  test('turns that cannot be read are said, with a way to try again', async () => {
    const fixture = new Fixture({ sessions: 1 });
    fixture.refuse.set('turns', controlError('internal', 'The records could not be read.'));
    location.hash = '#/live';
    render(App, { host: fixture });
    expect(await screen.findByText('The records could not be read.')).toBeTruthy();
    fixture.refuse.clear();
    await fireEvent.click(screen.getByText('Try again'));
    await waitFor(() => expect(numbers()).toHaveLength(30));
  });

  test('the list has it among the panels', async () => {
    await open({ sessions: 1, past: 1 });
    if (!$('conversation-row')) await fireEvent.click($('toggle-panels'));
    const row = text($('conversation-row'));
    for (const said of ['agents', 'kimi-k2', '2 failed over', '38 turns', '37 tool calls', '1.28M in'])
      expect(row).toContain(said);
  });
});

describe('a collection for agents', () => {
  test('greys whoever is not known to take tools, and saves its shadows', async () => {
    const fixture = await open({ sessions: 1 }, '#/collections/quick');
    expect(all('unfit')).toEqual([]);
    await fireEvent.change($('collection-reply'), { target: { value: 'route' } });
    await waitFor(() =>
      expect(all('unfit').map(text)).toContain(
        'not known to take tools: set its fact tools to true if it does',
      ),
    );
    await fireEvent.change($('collection-shadow'), { target: { value: '2' } });
    await type('collection-shadow-share', '25');
    await type('collection-shadow-tokens', '1.5');
    await fireEvent.submit($('collection-name').closest('form')!);
    expect(await screen.findByText('A whole number, 0 or more.')).toBeTruthy();
    await type('collection-shadow-tokens', '50000');
    await fireEvent.submit($('collection-name').closest('form')!);
    await waitFor(() =>
      expect(fixture.collections.find((c) => c.name === 'quick')).toMatchObject({
        reply: 'route',
        shadow: 2,
        shadow_share: 0.25,
        shadow_tokens: 50000,
      }),
    );
  });

  test('asked from the window it is a panel', async () => {
    const fixture = await open();
    await fireEvent.change($('composer-collection'), { target: { value: 'agents' } });
    expect(($('composer-reply') as HTMLSelectElement).value).toBe('all');
    await type('composer-prompt', 'Why?');
    await fireEvent.submit($('composer-prompt').closest('form')!);
    await waitFor(() =>
      expect(fixture.calls.find(([name]) => name === 'ask')?.[1]).toMatchObject({ reply: 'all' }),
    );
  });

  test('an agent is set up by copying', async () => {
    const fixture = await open({ sessions: 1 }, '#/collections');
    const list = all('agent');
    await fireEvent.change(list.at(-1)!, { target: { value: 'claude' } });
    await fireEvent.click(await screen.findByTestId('copy-agent-0'));
    expect(fixture.copied).toEqual([
      [
        'export ANTHROPIC_BASE_URL=http://127.0.0.1:8123',
        'export ANTHROPIC_AUTH_TOKEN=local',
        'export ANTHROPIC_MODEL=bench/agents:route',
        'export ANTHROPIC_DEFAULT_HAIKU_MODEL=bench/agents:route',
        'claude',
      ].join('\n'),
    ]);
  });

  test('every agent is given the base URL of its API and the route', () => {
    const urls = { openai: 'http://h/v1', anthropic: 'http://a', ollama: 'http://o', gemini: 'http://g' };
    const made = agents(urls, 'bench/x:route', 'some-key');
    expect(made.map((it) => [it.id, it.url])).toEqual([
      ['claude', 'http://a'],
      ['codex', 'http://h/v1'],
      ['opencode', 'http://h/v1'],
      ['gemini', 'http://g'],
    ]);
    for (const it of made) {
      const all = it.snippets.map((snippet) => snippet.text).join('\n');
      expect(all, it.id).toContain(it.url);
      expect(all, it.id).toContain('bench/x:route');
      expect(all, it.id).toContain('some-key');
    }
  });
});

describe('settings for agents', () => {
  test('are checked and saved, and nothing else is', async () => {
    const fixture = await open({ sessions: 1 }, '#/settings');
    const before = { ...fixture.settings };
    await type('setting-rotate', '101');
    expect(await screen.findByText('A number from 0 to 100.')).toBeTruthy();
    await type('setting-rotate', '12.5');
    await type('setting-conversation_minutes', '30');
    await fireEvent.click($('setting-keep_route_text'));
    await fireEvent.change($('setting-route_on_hangup'), { target: { value: 'finish' } });
    await fireEvent.click($('save-route-settings'));
    await waitFor(() =>
      expect(fixture.settings).toEqual({
        ...before,
        rotate: 0.125,
        conversation_minutes: 30,
        keep_route_text: true,
        route_on_hangup: 'finish',
      }),
    );
  });
});
