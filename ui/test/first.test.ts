import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import type { FixtureOptions } from '../dev/made';
import App from '../src/App.svelte';
import { controlError } from '../src/host/host';

/** The whole window over a scripted gateway. */
async function open(options: FixtureOptions = {}, hash = '#/live'): Promise<Fixture> {
  location.hash = hash;
  const fixture = new Fixture(options);
  render(App, { host: fixture });
  await screen.findByTestId('nav-live');
  await waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
  return fixture;
}

const $ = (test: string, within_: ParentNode = document) =>
  within_.querySelector<HTMLElement>(`[data-test="${test}"]`)!;
const find = (test: string) =>
  waitFor(() => {
    const found = $(test);
    if (!found) throw new Error(`no ${test}`);
    return found;
  });

beforeEach(() => {
  localStorage.clear();
  // jsdom has no modal dialogs.
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});
afterEach(cleanup);

describe('first run', () => {
  test('practice in one click, and the composer has the focus', async () => {
    await open({ first: true });
    await fireEvent.click(await find('first-practice'));
    await waitFor(() => expect(document.activeElement).toBe($('composer-prompt')));
    expect(($('composer-collection') as HTMLSelectElement).value).toBe('practice');
    expect(screen.getAllByText('practice', { selector: '.practice' }).length).toBeGreaterThan(0);
  });

  const pickFound = async (before: (it: Fixture) => void = () => {}): Promise<Fixture> => {
    const fixture = await open({ first: true, found: true });
    fixture.taking.pace = 0;
    before(fixture);
    await fireEvent.click(await find('found-runtime'));
    await fireEvent.click(await find('first-take-on'));
    await waitFor(() => expect(document.querySelectorAll('[data-test="queue-item"]')).toHaveLength(3));
    return fixture;
  };
  const steps = (fixture: Fixture, n: number) => {
    for (let i = 0; i < n; i++) fixture.taking.step();
  };
  const item = (alias: string) =>
    document.querySelector<HTMLElement>(`[data-test="queue-item"][data-alias="${alias}"]`)!;

  test('models of a runtime that was found are registered, probed, and make a collection', async () => {
    const fixture = await pickFound();
    expect(fixture.calls.findLast(([name]) => name === 'onboard')?.[1]).toMatchObject({
      endpoint: 'ollama',
      mode: 'quick',
      models: [{ served: 'llama3.2:3b' }, { served: 'qwen3:8b' }, { served: 'gemma3:12b' }],
    });
    steps(fixture, 3);
    await waitFor(() => expect(item('llama3.2-3b').dataset['state']).toBe('running'));
    expect(within(item('llama3.2-3b')).getByText('it said: ready')).toBeTruthy();
    // Nobody has to wait for the probes.
    await fireEvent.click($('first-make'));
    await waitFor(() => expect($('composer-prompt')).not.toBeNull());
    expect(fixture.collections[0]).toMatchObject({
      name: 'first',
      members: ['llama3.2-3b', 'qwen3-8b', 'gemma3-12b'],
    });
  });

  test('a model that does not answer says why, is left out unless it is wanted, and stops no other', async () => {
    const fixture = await pickFound((it) => it.taking.gone.add('qwen3:8b'));
    steps(fixture, 8 + 3);
    await waitFor(() => expect(item('qwen3-8b').dataset['state']).toBe('failed'));
    expect($('queue-why', item('qwen3-8b')).textContent).toContain('No such model (404)');
    expect(item('llama3.2-3b').dataset['state']).toBe('done');
    expect(item('gemma3-12b').dataset['state']).toBe('waiting');
    const seats = () => [...document.querySelectorAll<HTMLInputElement>('[data-test="first-seat"]')];
    await waitFor(() => expect(seats().map((it) => it.checked)).toEqual([true, false, true]));
    await fireEvent.click(seats()[0]!);
    await fireEvent.click($('first-make'));
    await waitFor(() => expect(fixture.collections[0]?.members).toEqual(['gemma3-12b']));
  });

  test('what was refused on the way is tried again without what is done already', async () => {
    const fixture = await open({ first: true, found: true });
    fixture.taking.pace = 0;
    fixture.refuse.set('onboard', controlError('internal', 'The disk is full.'));
    await fireEvent.click(await find('found-runtime'));
    await fireEvent.click(await find('first-take-on'));
    await screen.findByText('The disk is full.');
    fixture.refuse.clear();
    await fireEvent.click(await find('first-take-on'));
    await find('first-make');
    expect(fixture.models.map((m) => m.alias)).toEqual(['llama3.2-3b', 'qwen3-8b', 'gemma3-12b']);
  });

  test('a runtime goes by one way, wherever it is found', async () => {
    const added = async (options: FixtureOptions, hash: string) => {
      const fixture = await open(options, hash);
      await fireEvent.click(await find('found-runtime'));
      await waitFor(() => expect(fixture.calls.some(([name]) => name === 'save_endpoint')).toBe(true));
      cleanup();
      return fixture.calls.find(([name]) => name === 'save_endpoint')?.[1];
    };
    const first = await added({ first: true, found: true }, '#/live');
    expect(first).toMatchObject({ name: 'ollama', base: 'http://127.0.0.1:11434', api: 'ollama', new: true });
    expect(await added({ first: true, found: true }, '#/endpoints')).toEqual(first);
  });

  test('a key from the environment is named, never sent', async () => {
    const fixture = await open({ first: true, found: true });
    await fireEvent.click(await find('first-key'));
    await waitFor(() => expect($('first-take-on')).not.toBeNull());
    expect(fixture.calls.find(([name]) => name === 'save_endpoint')?.[1]).toEqual({
      name: 'groq',
      base: 'https://api.groq.com/openai/v1',
      api: 'chat',
      key_env: 'GROQ_API_KEY',
      new: true,
      allow_plain_http: false,
    });
  });
});
