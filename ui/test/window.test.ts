import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
const seatOf = (alias: string) =>
  document.querySelector<HTMLElement>(`[data-test="seat"][aria-label="${alias}"]`)!;
const press = (key: string) => fireEvent.keyDown(document.body, { key });

beforeEach(() => {
  localStorage.clear();
  // jsdom has no modal dialogs.
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});
afterEach(cleanup);

describe('live', () => {
  test('a panel of any client appears as it runs, its words as they come', async () => {
    const fixture = await open();
    const id = fixture.play('quick', 'Two words?', 'opencode', 0, 0.5);
    await waitFor(() => expect($('panel').dataset['panel']).toBe(id));
    expect(screen.getByText('asked by opencode')).toBeTruthy();
    await waitFor(() => expect(seatOf('llama-small').dataset['status']).toBe('answering'));
    const call = fixture.panels[0]!.seats[0]!.call;
    const at = fixture.panels[0]!.seats[0]!.answer.length;
    fixture.emit({ type: 'seat_delta', panel: id, call, at, text: ' **bold**' });
    await waitFor(() => expect(seatOf('llama-small').querySelector('strong')?.textContent).toBe('bold'));
  });

  test('asked from the window, once however often pressed', async () => {
    const fixture = await open({ delay: 20 });
    await fireEvent.input($('composer-prompt'), { target: { value: 'Where?' } });
    await fireEvent.keyDown($('composer-prompt'), { key: 'Enter' });
    await fireEvent.keyDown($('composer-prompt'), { key: 'Enter' });
    await fireEvent.click($('composer-ask'));
    await waitFor(() => expect($('panel-prompt').textContent).toBe('Where?'));
    expect(fixture.calls.filter(([name]) => name === 'ask').map(([, args]) => args)).toEqual([
      {
        collection: 'reviewers',
        prompt: 'Where?',
        system: '',
        images: [],
        with: [],
        reply: '',
        client: 'window',
      },
    ]);
    expect(($('composer-prompt') as HTMLTextAreaElement).value).toBe('');
  });

  test('a refusal keeps what was typed', async () => {
    const fixture = await open();
    fixture.refuse.set('ask', controlError('internal', 'Recording stopped: the disk is full.'));
    await fireEvent.input($('composer-prompt'), { target: { value: 'Where?' } });
    await fireEvent.keyDown($('composer-prompt'), { key: 'Enter' });
    expect(await screen.findByText('Recording stopped: the disk is full.')).toBeTruthy();
    expect(($('composer-prompt') as HTMLTextAreaElement).value).toBe('Where?');
  });

  test('what did not reach the members is said, and each field why', async () => {
    const fixture = await open();
    fixture.play('quick', 'Two words?', 'window', 0, 0.5);
    await waitFor(() => expect($('panel')).not.toBeNull());
    expect($('panel-lossy')).toBeNull();
    fixture.play('quick', 'Three words?', 'opencode', 0, 0.5);
    await waitFor(() => expect($('panel-lossy')?.textContent).toBe('2 fields left out or changed'));
    expect(screen.queryByText('temperature')).toBeNull();
    await fireEvent.click($('panel-lossy'));
    expect($('panel-lossy').getAttribute('aria-expanded')).toBe('true');
    expect(screen.getByText('temperature')).toBeTruthy();
    expect(screen.getByText('ignored by a panel')).toBeTruthy();
  });

  test('keys judge the current seat, and undo', async () => {
    const fixture = await open({ past: 1 });
    await waitFor(() => expect(seatOf('glm-5')).not.toBeNull());
    await press('ArrowRight');
    await press('n');
    await waitFor(() => expect($('not-useful', seatOf('glm-5')).getAttribute('aria-pressed')).toBe('true'));
    expect(fixture.panels[0]!.seats[1]!.verdict?.useful).toBe(false);
    expect($('owed-count').textContent).toBe('2');
    await press('z');
    await waitFor(() => expect($('owed-count').textContent).toBe('3'));
    expect(fixture.panels[0]!.seats[1]!.verdict).toBeNull();
    await waitFor(() => expect($('live-region').textContent).toContain('Undone for glm-5'));
  });

  test('a letter that is typed judges nothing', async () => {
    const fixture = await open({ past: 1 });
    await waitFor(() => expect(seatOf('glm-5')).not.toBeNull());
    await fireEvent.keyDown($('composer-prompt'), { key: 'u' });
    expect(fixture.calls.some(([name]) => name === 'give_verdict')).toBe(false);
  });

  test('a link is followed only after it has been shown where it goes', async () => {
    const fixture = await open({ past: 1 });
    await waitFor(() => expect(seatOf('kimi-k2')).not.toBeNull());
    await fireEvent.click(within(seatOf('kimi-k2')).getByText('the RFC'));
    expect(fixture.opened).toEqual([]);
    expect($('link-host').textContent).toBe('www.rfc-editor.org');
    await fireEvent.click($('link-open'));
    expect(fixture.opened).toEqual(['https://www.rfc-editor.org/rfc/rfc5861']);
  });

  test('a lost connection is said, and its return', async () => {
    const fixture = await open({ past: 1 });
    fixture.link('lost');
    await waitFor(() => expect($('link-lost')).not.toBeNull());
    fixture.link('up');
    await waitFor(() => expect($('link-lost')).toBeNull());
    expect($('live-region').textContent).toContain('Connected again');
  });

  test('a gap in the stream is filled by asking', async () => {
    const fixture = await open();
    const id = fixture.play('quick', 'Two words?', 'curl', 0, 0.5);
    await waitFor(() => expect($('panel').dataset['panel']).toBe(id));
    const seat = fixture.panels[0]!.seats[0]!;
    seat.answer = 'The whole answer so far';
    fixture.emit({ type: 'seat_delta', panel: id, call: seat.call, at: seat.answer.length - 1, text: 'r' });
    await waitFor(() =>
      expect($('answer', seatOf('llama-small')).textContent).toContain('The whole answer so far'),
    );
  });
});

describe('verdicts', () => {
  test('the queue: judged by keys, the count drops, the next panel, then nothing left', async () => {
    await open({ past: 3 }, '#/verdicts');
    await waitFor(() => expect($('owed-count').textContent).toBe('8'));
    for (const owed of ['7', '6', '5']) {
      await press('u');
      await waitFor(() => expect($('owed-count').textContent).toBe(owed));
    }
    expect(screen.getByText('All answers of this panel are judged.')).toBeTruthy();
    await press(' ');
    for (const owed of ['4', '3', '2']) {
      await press('n');
      await waitFor(() => expect($('owed-count').textContent).toBe(owed));
    }
    await press(' ');
    await press('u');
    await waitFor(() => expect($('owed-count').textContent).toBe('1'));
    await press('u');
    await waitFor(() => expect($('owed-count')).toBeNull());
    await press(' ');
    expect(await screen.findByText('Nothing to judge')).toBeTruthy();
  });

  test('blind: no alias is shown until it is judged', async () => {
    await open({ past: 1 }, '#/verdicts');
    await waitFor(() => expect($('blind')).not.toBeNull());
    await fireEvent.click($('blind'));
    await waitFor(() => expect(seatOf('Answer A')).not.toBeNull());
    for (const alias of ['kimi-k2', 'glm-5', 'qwen3-coder']) {
      expect(document.body.textContent).not.toContain(alias);
    }
    await fireEvent.click($('useful', seatOf('Answer A')));
    await waitFor(() =>
      expect(document.querySelectorAll('[data-test="seat"][aria-label^="Answer"]').length).toBe(2),
    );
    expect($('live-region').textContent).toContain('Answer A: useful, recorded');
    // The switch still has the focus; letters judge all the same.
    await fireEvent.keyDown($('blind'), { key: 'n' });
    await waitFor(() => expect($('live-region').textContent).toContain('Answer B: not useful, recorded'));
  });

  test('a note and a typed claim wait for the verdict and go with it', async () => {
    const fixture = await open({ past: 1 }, '#/verdicts');
    await waitFor(() => expect(seatOf('kimi-k2')).not.toBeNull());
    const seat = seatOf('kimi-k2');
    await fireEvent.click($('note-toggle', seat));
    await fireEvent.change($('note', seat), { target: { value: 'clear' } });
    const claim = within(seat).getByLabelText('A claim to mark');
    await fireEvent.input(claim, { target: { value: 'moved before the fetch' } });
    await fireEvent.click(within($('verdict-more', seat)).getByRole('button', { name: 'Real' }));
    expect(fixture.calls.some(([name]) => name === 'give_verdict')).toBe(false);
    await fireEvent.click($('useful', seat));
    await waitFor(() =>
      expect(fixture.panels[0]!.seats[0]!.verdict).toMatchObject({
        useful: true,
        note: 'clear',
        real: ['moved before the fetch'],
      }),
    );
  });
});

describe('setting up', () => {
  test('the errors of a collection stand beside their fields', async () => {
    const fixture = await open({}, '#/collections/%2B');
    await fireEvent.input(await find('collection-name'), { target: { value: 'Core!' } });
    await fireEvent.submit($('collection-name').closest('form')!);
    expect($('collection-name').getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByText('Pick at least one member.')).toBeTruthy();
    expect(fixture.calls.some(([name]) => name === 'save_collection')).toBe(false);

    await fireEvent.input($('collection-name'), { target: { value: 'core' } });
    await fireEvent.click($('add-member'));
    fixture.refuse.set('save_collection', controlError('bad_input', 'name: the name is reserved', 'name'));
    await fireEvent.submit($('collection-name').closest('form')!);
    expect(await screen.findByText('The name is reserved')).toBeTruthy();
    fixture.refuse.clear();
    await fireEvent.submit($('collection-name').closest('form')!);
    await waitFor(() =>
      expect(fixture.collections.at(-1)).toMatchObject({ name: 'core', members: ['kimi-k2'] }),
    );
  });

  test('deleting asks first', async () => {
    const fixture = await open({}, '#/collections/quick');
    await fireEvent.click(await find('delete-collection'));
    expect(fixture.calls.some(([name]) => name === 'delete_collection')).toBe(false);
    await fireEvent.click($('confirm-delete'));
    await waitFor(() => expect(fixture.collections.map((c) => c.name)).toEqual(['reviewers']));
    await find('collections');
  });

  test('no keychain: the file is an explicit choice, and then the key goes in', async () => {
    const fixture = await open({ keys: 'none' }, '#/endpoints/%2B');
    const preset = (await find('endpoint-preset')) as HTMLSelectElement;
    await waitFor(() => expect(preset.options.length).toBeGreaterThan(1));
    await fireEvent.change(preset, { target: { value: 'openai' } });
    await fireEvent.input($('endpoint-key'), { target: { value: 'sk-test-1234' } });
    await fireEvent.submit($('endpoint-key').closest('form')!);
    await fireEvent.input(await find('key-store-passphrase'), {
      target: { value: 'long enough' },
    });
    await fireEvent.input($('key-store-again'), { target: { value: 'long enougj' } });
    await fireEvent.submit($('key-store-passphrase').closest('form')!);
    expect(screen.getByText('The two are not the same.')).toBeTruthy();
    expect(fixture.calls.some(([name]) => name === 'open_vault_file')).toBe(false);
    await fireEvent.input($('key-store-again'), { target: { value: 'long enough' } });
    await fireEvent.submit($('key-store-passphrase').closest('form')!);
    await waitFor(() =>
      expect(fixture.endpoints.find((e) => e.name === 'openai')?.key.hint).toBe('••••1234'),
    );
    expect(document.body.innerHTML).not.toContain('sk-test-1234');
  });

  test('plain http to another machine is asked for', async () => {
    const fixture = await open({}, '#/endpoints/%2B');
    await fireEvent.input(await find('endpoint-base'), {
      target: { value: 'http://10.0.0.9/v1' },
    });
    await fireEvent.input($('endpoint-name'), { target: { value: 'box' } });
    await fireEvent.submit($('endpoint-name').closest('form')!);
    await fireEvent.click(await find('plain-http-allow'));
    await waitFor(() => expect(fixture.endpoints.at(-1)?.name).toBe('box'));
  });

  test('the base that is likely right is one click away', async () => {
    const fixture = await open({}, '#/endpoints/%2B');
    await fireEvent.input(await find('endpoint-base'), {
      target: { value: 'https://api.example' },
    });
    await fireEvent.input($('endpoint-name'), { target: { value: 'example' } });
    await fireEvent.submit($('endpoint-name').closest('form')!);
    await fireEvent.click(await find('use-base'));
    await waitFor(() => expect($('test-outcome').textContent).toContain('It answers with 182 models.'));
    expect(fixture.endpoints.at(-1)?.base).toBe('https://api.example/v1');
  });

  test('a provider comes with its own API, and another address with a choice', async () => {
    const fixture = await open({}, '#/endpoints/%2B');
    const preset = (await find('endpoint-preset')) as HTMLSelectElement;
    await waitFor(() => expect(preset.options.length).toBeGreaterThan(1));
    const offered = () =>
      [...(($('endpoint-api') as HTMLSelectElement | null)?.options ?? [])].map((o) => o.value);
    expect(offered()).toEqual(['chat', 'responses', 'anthropic', 'gemini', 'ollama']);

    await fireEvent.change(preset, { target: { value: 'openai' } });
    await waitFor(() => expect(offered()).toEqual(['chat', 'responses']));
    await fireEvent.change(preset, { target: { value: 'anthropic' } });
    await waitFor(() => expect(offered()).toEqual([]));
    await fireEvent.input($('endpoint-key'), { target: { value: 'sk-test-1234' } });
    await fireEvent.submit($('endpoint-key').closest('form')!);
    await find('test-outcome');
    expect(fixture.endpoints.at(-1)).toMatchObject({
      name: 'anthropic',
      base: 'https://api.anthropic.com/v1',
      api: 'anthropic',
    });
    expect($('endpoint-speaks').textContent).toBe('Anthropic Messages');
  });

  test('another address speaks what was chosen, and that stays when its base is put right', async () => {
    const fixture = await open({}, '#/endpoints/%2B');
    await fireEvent.change(await find('endpoint-api'), { target: { value: 'ollama' } });
    expect(($('endpoint-base') as HTMLInputElement).placeholder).toBe('http://127.0.0.1:11434');
    await fireEvent.input($('endpoint-base'), { target: { value: 'http://127.0.0.1:11434/v1' } });
    await fireEvent.input($('endpoint-name'), { target: { value: 'box' } });
    await fireEvent.submit($('endpoint-name').closest('form')!);
    await fireEvent.click(await find('use-base'));
    await waitFor(() => expect($('test-outcome').textContent).toContain('It answers with'));
    expect(fixture.endpoints.at(-1)).toMatchObject({ base: 'http://127.0.0.1:11434', api: 'ollama' });
  });

  test('an API is changed in place, and a refusal of it stands beside it', async () => {
    const fixture = await open({}, '#/endpoints/groq');
    await fireEvent.click(await find('edit-endpoint'));
    expect(($('edit-api') as HTMLSelectElement).value).toBe('chat');
    await fireEvent.change($('edit-api'), { target: { value: 'responses' } });
    fixture.refuse.set('save_endpoint', controlError('bad_input', 'api: not that one', 'api'));
    await fireEvent.submit($('edit-api').closest('form')!);
    expect(await screen.findByText('Not that one')).toBeTruthy();
    expect($('edit-api').getAttribute('aria-invalid')).toBe('true');
    fixture.refuse.clear();
    await fireEvent.submit($('edit-api').closest('form')!);
    await waitFor(() => expect(fixture.endpoints[0]?.api).toBe('responses'));
    expect(fixture.endpoints[0]?.base).toBe('https://api.groq.com/openai/v1');
  });

  test('the base URL of every API is one click from the clipboard', async () => {
    const fixture = await open({}, '#/collections');
    for (const api of ['openai', 'anthropic', 'ollama', 'gemini']) {
      await fireEvent.click(await find(`copy-${api}`));
    }
    const url = 'http://127.0.0.1:8123';
    await waitFor(() => expect(fixture.copied).toEqual([`${url}/v1`, url, url, url]));
    expect($('url-openai').textContent).toBe(`${url}/v1`);
  });

  test('an address is changed in place, and tested at once', async () => {
    const fixture = await open({}, '#/endpoints/groq');
    await fireEvent.click(await find('edit-endpoint'));
    await fireEvent.input($('edit-base'), { target: { value: 'groq' } });
    await fireEvent.submit($('edit-base').closest('form')!);
    expect(screen.getByText('Give a URL that starts with http:// or https://.')).toBeTruthy();
    await fireEvent.input($('edit-base'), { target: { value: 'https://eu.groq.example/v1' } });
    await fireEvent.submit($('edit-base').closest('form')!);
    await find('test-outcome');
    expect(fixture.endpoints[0]?.base).toBe('https://eu.groq.example/v1');
    expect(fixture.calls.find(([name]) => name === 'save_endpoint')?.[1]).toMatchObject({
      name: 'groq',
      new: false,
    });
  });

  test('a model in use is not removed, and it is said why', async () => {
    await open({}, '#/models');
    const row = (await find('models')).querySelector('[data-alias="glm-5"]')!;
    await fireEvent.click($('show-model', row as HTMLElement));
    await fireEvent.click(await find('action-unregister'));
    await fireEvent.click($('action-go'));
    expect(await screen.findByText('glm-5 is a member of reviewers. Take it out there first.')).toBeTruthy();
  });

  test('settings: a number out of bounds is not sent', async () => {
    const fixture = await open({}, '#/settings');
    await fireEvent.input(await find('setting-max_calls'), { target: { value: '11' } });
    await fireEvent.submit($('setting-max_calls').closest('form')!);
    expect(screen.getByText('A whole number from 1 to 10.')).toBeTruthy();
    expect(fixture.calls.some(([name]) => name === 'save_settings')).toBe(false);
    await fireEvent.input($('setting-max_calls'), { target: { value: '3' } });
    await fireEvent.submit($('setting-max_calls').closest('form')!);
    await waitFor(() => expect(fixture.settings.max_calls).toBe(3));
  });

  test('an import that is wrong says where and keeps the text', async () => {
    await open({}, '#/settings');
    await fireEvent.input(await find('import-text'), { target: { value: 'nope' } });
    await fireEvent.submit($('import-text').closest('form')!);
    expect(await screen.findByText('line 1, column 1: this is not JSON')).toBeTruthy();
    expect(($('import-text') as HTMLTextAreaElement).value).toBe('nope');
  });
});

test('the page is remembered', async () => {
  await open({}, '#/live');
  await fireEvent.click($('nav-models'));
  cleanup();
  vi.restoreAllMocks();
  await open({}, '');
  await waitFor(() => expect($('models')).not.toBeNull());
});

test('a page that is not built is not in the navigation', async () => {
  await open();
  const pages = [...document.querySelectorAll('nav [data-test^="nav-"]')].map(
    (a) => (a as HTMLElement).dataset['test'],
  );
  expect(pages).toEqual([
    'nav-live',
    'nav-verdicts',
    'nav-collections',
    'nav-models',
    'nav-endpoints',
    'nav-spend',
    'nav-settings',
  ]);
});
