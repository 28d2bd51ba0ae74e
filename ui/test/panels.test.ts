import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import type { FixtureOptions } from '../dev/made';
import App from '../src/App.svelte';
import { controlError } from '../src/host/host';
import { MAX_BYTES } from '../src/pages/live/images';

/** The whole window over a scripted gateway: panels with everything on them, and what is asked and found. */
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
const all = (test: string) => [...document.querySelectorAll<HTMLElement>(`[data-test="${test}"]`)];
const aliases = () => all('seat-alias').map((it) => it.textContent);
const seatOf = (alias: string) =>
  document.querySelector<HTMLElement>(`[data-test="seat"][aria-label="${alias}"]`)!;
const lastAsk = (fixture: Fixture) => fixture.calls.filter(([name]) => name === 'ask').at(-1)?.[1];
const type = (test: string, value: string) => fireEvent.input($(test), { target: { value } });

beforeEach(() => localStorage.clear());
afterEach(cleanup);

describe('a panel in full', () => {
  test('until the shape is known it says so', async () => {
    const fixture = await open();
    fixture.full('shaping');
    await waitFor(() => expect($('panel-shape').textContent).toBe('shape being chosen'));
  });

  test('an explorer says why it sits, a stand-in whose seat it took, the failed seat folds beside it', async () => {
    const fixture = await open();
    fixture.full('running');
    await waitFor(() =>
      expect(aliases()).toEqual(['kimi-k2', 'glm-5', 'mistral-mid', 'qwen3-coder', 'llama-small']),
    );
    expect($('panel-shape').textContent).toBe('review, chosen by jury (0.91)');
    expect($('seat-why', seatOf('llama-small')).textContent).toBe('longest without real work (12 days)');
    expect($('seat-why', seatOf('mistral-mid')).textContent).toContain(
      'took the seat of glm-5, which failed',
    );
    expect(seatOf('glm-5').dataset).toHaveProperty('handedOver');
    expect(seatOf('glm-5').textContent).toContain('mistral-mid took its seat.');
    expect(screen.getByText('3 members, 1 explorer')).toBeTruthy();
    expect($('failed-over').textContent).toContain('glm-5 → mistral-mid');
    expect($('skipped').textContent).toContain('old-mistral');
    expect($('live-region').textContent).toContain('mistral-mid took its seat');
    expect(all('alert-failed_over')).toEqual([]);

    await fireEvent.click(within(seatOf('glm-5')).getByRole('button'));
    expect(aliases()).toEqual(['glm-5']);
    expect($('answer', seatOf('glm-5')).textContent).toContain('Rate limit reached');
  });

  test('the merge has a place of its own, and its words as they come', async () => {
    const fixture = await open();
    fixture.full('running');
    await waitFor(() => expect($('merge').textContent).toContain('once every seat has ended'));
    fixture.full('merging');
    await waitFor(() => expect($('seat-alias', $('merge'))?.textContent).toBe('kimi-k2'));
    expect($('seat-why', $('merge')).textContent).toBe('merges 4 answers · the collection names it');
    expect($('answer', $('merge')).textContent).toContain('Two places.');
    expect(all('panel-note')).toEqual([]);
  });

  test('a merge can be judged like any answer', async () => {
    const fixture = await open();
    fixture.full('merged');
    await waitFor(() => expect($('useful', $('merge'))).not.toBeNull());
    await fireEvent.click($('useful', $('merge')));
    await waitFor(() => expect(fixture.panels[0]!.seats.at(-1)!.verdict?.useful).toBe(true));
  });

  test('a merge that could not be made says why, and who tried', async () => {
    const fixture = await open();
    fixture.full('not-merged');
    await waitFor(() => expect($('panel-note').textContent).toMatch(/^Not merged \(kimi-k2: Rate limit/));
    expect($('merge').textContent).toContain('kimi-k2 could not merge: Rate limit');
    expect($('seat-alias', $('merge')).textContent).toBe('qwen3-coder');
    expect(screen.queryByText('one merged answer')).toBeNull();
  });

  test('a late seat says that it runs on, and is judged once it came', async () => {
    const fixture = await open();
    fixture.full('late');
    await waitFor(() => expect(seatOf('llama-small')?.dataset['status']).toBe('late'));
    expect($('panel').dataset['state']).toBe('done');
    expect(seatOf('llama-small').textContent).toContain('The panel was answered without it.');
    expect($('useful', seatOf('llama-small'))).toBeNull();
    fixture.full('came');
    await waitFor(() => expect(seatOf('llama-small')?.dataset['status']).toBe('ok'));
    expect($('useful', seatOf('llama-small'))).not.toBeNull();
  });

  test('blind, neither kind nor reason gives anybody away', async () => {
    const fixture = await open({}, '#/verdicts');
    fixture.full('came');
    await fireEvent.click(await waitFor(() => $('blind') ?? Promise.reject(new Error('no switch'))));
    expect(aliases().every((it) => it?.startsWith('Answer '))).toBe(true);
    expect(all('seat-why')).toEqual([]);
    expect(
      all('seat')
        .map((it) => it.textContent)
        .join(),
    ).not.toMatch(/explorer|reserve/);
  });
});

describe('asking', () => {
  const png = (name: string, bytes = 4) => new File([new Uint8Array(bytes)], name, { type: 'image/png' });

  test('images come by paste, drop and the file picker, and go as data URLs', async () => {
    const fixture = await open();
    const one = png('one.png', 3);
    await fireEvent.paste($('composer-prompt'), { clipboardData: { files: [one] } });
    await waitFor(() => expect(all('remove-picture')).toHaveLength(1));
    await fireEvent.drop($('composer-prompt').closest('form')!, {
      dataTransfer: { files: [png('two.png', 5)] },
    });
    await waitFor(() => expect(all('remove-picture')).toHaveLength(2));
    await fireEvent.change($('composer-files'), { target: { files: [png('three.png', 7)] } });
    await waitFor(() => expect(all('remove-picture')).toHaveLength(3));
    await fireEvent.click(screen.getByLabelText('Take out two.png'));
    await fireEvent.click($('composer-ask'));
    await waitFor(() =>
      expect(lastAsk(fixture)).toMatchObject({
        prompt: '',
        images: ['data:image/png;base64,AAAA', 'data:image/png;base64,AAAAAAAAAA=='],
      }),
    );
    await waitFor(() => expect(all('remove-picture')).toEqual([]));
  });

  test('what cannot be sent is said in words, and the rest stays', async () => {
    await open();
    const large = png('large.png', 3);
    Object.defineProperty(large, 'size', { value: MAX_BYTES + 1 });
    const files = [new File(['x'], 'notes.txt', { type: 'text/plain' }), large, png('fine.png')];
    await fireEvent.paste($('composer-prompt'), { clipboardData: { files } });
    await waitFor(() => expect(all('remove-picture')).toHaveLength(1));
    expect(screen.getByText(/^notes.txt cannot be sent/)).toBeTruthy();
    expect(
      screen.getByText('large.png (14 MB) is too large: the images of a question may have 14 MB together.'),
    ).toBeTruthy();
  });

  test('pasted words are words', async () => {
    await open();
    const kept = await fireEvent.paste($('composer-prompt'), { clipboardData: { files: [] } });
    expect(kept).toBe(true);
  });

  test('one merged answer, and a model that is no member', async () => {
    const fixture = await open();
    await type('composer-prompt', 'Where?');
    await fireEvent.change($('composer-reply'), { target: { value: 'merged' } });
    await fireEvent.click($('composer-nominate'));
    expect(screen.getByText('They take the explorer seats; this collection has 1.')).toBeTruthy();
    expect(all('nominee')).toHaveLength(1);
    await fireEvent.click($('nominee'));
    await fireEvent.click($('composer-ask'));
    await waitFor(() =>
      expect(lastAsk(fixture)).toMatchObject({ prompt: 'Where?', reply: 'merged', with: ['llama-small'] }),
    );
  });

  test('a nominee of one collection is not asked with another that has it', async () => {
    const fixture = await open();
    await fireEvent.click($('composer-nominate'));
    await fireEvent.click($('nominee'));
    await fireEvent.change($('composer-collection'), { target: { value: 'quick' } });
    await type('composer-prompt', 'Where?');
    await fireEvent.click($('composer-ask'));
    await waitFor(() => expect(lastAsk(fixture)).toMatchObject({ collection: 'quick', with: [] }));
  });
});

describe('the collection editor', () => {
  const previews = (fixture: Fixture) =>
    fixture.calls.filter(([name]) => name === 'preview_panel').map(([, args]) => args);

  test('who would sit now, and why, follows the draft; what was shown stays until then', async () => {
    const fixture = await open({}, '#/collections/quick');
    await waitFor(() => expect($('seating').textContent).toContain('glm-5 never asked'));
    expect($('seating').textContent).toContain('inkling no evidence yet');
    expect($('not-candidates').textContent).toContain('old-mistral, old-llama and 2 more');
    await fireEvent.click($('add-member'));
    await fireEvent.change($('collection-shape'), { target: { value: 'code' } });
    expect($('seating').textContent).toContain('glm-5 never asked');
    await waitFor(() => expect($('seating').textContent).toContain('qwen3-coder never asked'));
    expect(previews(fixture).at(-1)).toEqual({
      collection: 'quick',
      members: ['llama-small', 'kimi-k2', 'glm-5'],
      shape: 'code',
    });
    // The two changes were one question.
    expect(previews(fixture)).toHaveLength(2);
  });

  test('why nobody would sit, and what the gateway refuses, are said', async () => {
    const fixture = await open({}, '#/collections/%2B');
    await waitFor(() =>
      expect($('seating-refused').textContent).toBe('No seat: the collection has no members'),
    );
    fixture.refuse.set('preview_panel', controlError('bad_input', 'shape: there is no shape "code"'));
    await fireEvent.change($('collection-shape'), { target: { value: 'code' } });
    expect(await screen.findByText('shape: there is no shape "code"')).toBeTruthy();
  });

  test('reply and merger are saved', async () => {
    const fixture = await open({}, '#/collections/quick');
    await fireEvent.change($('collection-reply'), { target: { value: 'merged' } });
    await fireEvent.change($('collection-merger'), { target: { value: 'glm-5' } });
    await fireEvent.submit($('collection-name').closest('form')!);
    await waitFor(() =>
      expect(fixture.collections.find((c) => c.name === 'quick')).toMatchObject({
        reply: 'merged',
        merger: 'glm-5',
      }),
    );
  });
});

describe('searching what was asked and answered', () => {
  const search = async (words: string) => {
    await type('search', words);
    await waitFor(() => expect($('found').textContent).toMatch(/panel/));
  };

  test('hits are marked, newest first, and their answers can be judged', async () => {
    const fixture = await open({ past: 4 }, '#/verdicts');
    await search('stale cach');
    expect(all('hit').map((it) => $('prompt', it) ?? it.querySelector('.prompt')?.textContent)).toEqual([
      'Where can this cache return a stale value after a failed refresh?',
      'Is the retry loop in fetch_all safe when the server answers 429 with a long wait?',
      'Where can this cache return a stale value after a failed refresh?',
    ]);
    expect([...all('hit')[0]!.querySelectorAll('mark')].map((it) => it.textContent)).toEqual([
      'cach',
      'stale',
    ]);
    await fireEvent.click(all('hit')[1]!);
    await waitFor(() => expect($('panel').dataset['panel']).toBe(fixture.panels[1]!.id));
    await fireEvent.keyDown(document.body, { key: 'n' });
    await waitFor(() => expect(fixture.panels[1]!.seats[0]!.verdict?.useful).toBe(false));
    await fireEvent.click($('filter-judged'));
    expect(all('hit')).toHaveLength(1);
    await fireEvent.click($('filter-open'));
    expect(all('hit')).toHaveLength(3);
  });

  test('a page at a time', async () => {
    const fixture = await open({ past: 60 }, '#/verdicts');
    await search('cache');
    expect($('found').textContent).toBe('The newest 20 panels');
    await fireEvent.click($('older-hits'));
    await waitFor(() => expect(all('hit')).toHaveLength(40));
    expect($('found').textContent).toBe('40 panels found, newest first');
    expect(fixture.calls.filter(([name]) => name === 'search')).toHaveLength(2);
  });

  test('nothing found says how to search; a refusal is said; Escape goes back', async () => {
    const fixture = await open({ past: 1 }, '#/verdicts');
    await type('search', 'zebra');
    expect(await screen.findByText('Nothing found for "zebra"')).toBeTruthy();
    fixture.refuse.set('search', controlError('internal', 'The records cannot be read.'));
    await type('search', 'horse');
    expect(await screen.findByText('The records cannot be read.')).toBeTruthy();
    await fireEvent.keyDown($('search'), { key: 'Escape' });
    expect(screen.queryByText('The records cannot be read.')).toBeNull();
    expect(($('search') as HTMLInputElement).value).toBe('');
    expect($('blind')).not.toBeNull();
  });
});

test('settings: explorers, reserves and the grace of explorers', async () => {
  const fixture = await open({}, '#/settings');
  await type('setting-reserves', '3');
  expect(screen.getByText('A whole number from 0 to 2.')).toBeTruthy();
  for (const [key, value] of Object.entries({ max_explorers: '0', reserves: '2', explorer_grace: '5' })) {
    await type(`setting-${key}`, value);
  }
  await fireEvent.submit($('setting-reserves').closest('form')!);
  await waitFor(() =>
    expect(fixture.settings).toMatchObject({ max_explorers: 0, reserves: 2, explorer_grace: 5 }),
  );
});
