import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fixture } from '../dev/fixture';
import App from '../src/App.svelte';

async function open(hash: string, with_: (fixture: Fixture) => void = () => {}): Promise<Fixture> {
  location.hash = hash;
  const fixture = new Fixture();
  fixture.taking.pace = 0;
  with_(fixture);
  render(App, { host: fixture });
  await screen.findByTestId('nav-live');
  await waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
  return fixture;
}

const find = (name: string) => screen.findByTestId(name);
const queued = (alias: string) =>
  document.querySelector<HTMLElement>(`[data-test="queue-item"][data-alias="${alias}"]`)!;
const add = (fixture: Fixture, ...served: string[]) =>
  fixture.taking.handlers.onboard({
    endpoint: 'groq',
    models: served.map((id) => ({ served: id, alias: id })),
    mode: 'quick',
  });
const steps = (fixture: Fixture, n: number) => {
  for (let i = 0; i < n; i++) fixture.taking.step();
};

beforeEach(() => {
  localStorage.clear();
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});
afterEach(cleanup);

describe('the queue', () => {
  test('steps tick as they are taken, and the log says what came of them', async () => {
    const fixture = await open('#/models/+queue', (it) => add(it, 'alpha', 'beta'));
    await waitFor(() => expect(queued('alpha')).not.toBeNull());
    expect(queued('alpha').dataset.state).toBe('waiting');
    steps(fixture, 3);
    await waitFor(() => expect(queued('alpha').dataset.state).toBe('running'));
    const now = () => queued('alpha').querySelector('[aria-current="step"]')?.textContent?.trim();
    await waitFor(() => expect(now()).toBe('A word again'));
    expect(within(queued('alpha')).getByTestId('queue-state').textContent).toContain('3 of 7');
    expect(within(queued('alpha')).getByText('it said: ready')).toBeTruthy();
    steps(fixture, 5);
    await waitFor(() => expect(queued('alpha').dataset.state).toBe('done'));
    expect(queued('alpha').querySelectorAll('.steps .worked')).toHaveLength(6);
    expect(queued('alpha').querySelectorAll('.steps .not_seen')).toHaveLength(1);
    expect(screen.getByText('alpha is taken on')).toBeTruthy();
  });

  test('a model that does not answer says why, and is probed again', async () => {
    const fixture = await open('#/models/+queue', (it) => add(it, 'broken'));
    await waitFor(() => expect(queued('broken')).not.toBeNull());
    steps(fixture, 3);
    const why = await find('queue-why');
    expect(why.textContent).toContain('No such model (404); it is not chosen for panels');
    await fireEvent.click(await find('probe-again'));
    await waitFor(() => expect(queued('broken').dataset.state).toBe('waiting'));
  });

  test('the sheet has what the last probes found, also when the queue has forgotten it', async () => {
    const fixture = await open('#/models/+queue', (it) => add(it, 'alpha'));
    await waitFor(() => expect(queued('alpha')).not.toBeNull());
    steps(fixture, 8);
    await fireEvent.click(await find('queue-clear'));
    await waitFor(() => expect(queued('alpha')).toBeNull());
    location.hash = '#/models/alpha';
    const sheet = await find('last-probes');
    const probes = await within(sheet).findAllByTestId('probe');
    expect(probes.map((it) => it.dataset.step)).toEqual(['word', 'word_again', 'large', 'tool', 'vision']);
    expect(probes[2]!.textContent).toMatch(/seen.*0\.84 s.*92 tokens\/s.*5,120 in, 12 out.*kimuva/s);
    expect(probes[4]!.textContent).toContain('not seen');
    await fireEvent.click(await find('action-probe'));
    await fireEvent.click(await find('close-sheet'));
    location.hash = '#/models/kimi-k2';
    await screen.findByText(/Never probed/);
  });

  test('it is stopped, resumed and cleared', async () => {
    const fixture = await open('#/models/+queue', (it) => add(it, 'alpha', 'beta'));
    await fireEvent.click(await find('queue-stop'));
    await waitFor(() => expect(queued('alpha').dataset.state).toBe('stopped'));
    expect(screen.queryByTestId('queue-stop')).toBeNull();
    await fireEvent.click(await find('queue-resume'));
    await waitFor(() => expect(queued('alpha').dataset.state).toBe('waiting'));
    steps(fixture, 8);
    await waitFor(() => expect(queued('alpha').dataset.state).toBe('done'));
    await fireEvent.click(await find('queue-clear'));
    await waitFor(() => expect(queued('alpha')).toBeNull());
    expect(queued('beta')).not.toBeNull();
    await fireEvent.click(await find('queue-clear-all'));
    await fireEvent.click(await find('confirm-clear'));
    await screen.findByText('Nothing in the queue');
  });
});

describe('what a list offers', () => {
  const pick = async (at: number) => {
    await fireEvent.click(await find('test-endpoint'));
    await waitFor(() => expect(screen.getAllByTestId('model-check').length).toBeGreaterThan(at));
    const free = screen.getAllByTestId<HTMLInputElement>('model-check').filter((box) => !box.disabled);
    await fireEvent.click(free[at]!);
  };
  const last = (fixture: Fixture, command: string) =>
    fixture.calls.findLast(([name]) => name === command)?.[1] as Record<string, unknown>;

  test('models are registered and probed, in the mode that is chosen', async () => {
    const fixture = await open('#/endpoints/groq');
    await pick(0);
    expect((await find('mode')) as HTMLSelectElement).toHaveProperty('value', 'quick');
    await fireEvent.change(await find('mode'), { target: { value: 'quick_ad_hoc' } });
    await fireEvent.click(await find('register'));
    await waitFor(() =>
      expect(last(fixture, 'onboard')).toMatchObject({ endpoint: 'groq', mode: 'quick_ad_hoc' }),
    );
    await fireEvent.click(await find('see-queue'));
    await waitFor(() => expect(screen.getAllByTestId('queue-item')).toHaveLength(1));
  });

  test('or only registered', async () => {
    const fixture = await open('#/endpoints/groq');
    await pick(0);
    await fireEvent.change(await find('mode'), { target: { value: 'none' } });
    await fireEvent.click(await find('register'));
    await waitFor(() => expect(last(fixture, 'register_models')).toMatchObject({ endpoint: 'groq' }));
    expect(last(fixture, 'onboard')).toBeUndefined();
  });

  test('what was dismissed is not shown, but counted', async () => {
    await open('#/endpoints/groq');
    await fireEvent.click(await find('test-endpoint'));
    const before = (await screen.findAllByTestId('dismiss')).length;
    const served = screen.getAllByTestId('dismiss')[0]!.closest('li')!.querySelector('.served')!.textContent;
    await fireEvent.click(screen.getAllByTestId('dismiss')[0]!);
    await screen.findByText('1 dismissed');
    expect(screen.queryByText(served)).toBeNull();
    await fireEvent.click(await find('show-dismissed'));
    expect(screen.getByText(served)).toBeTruthy();
    await fireEvent.click(await find('restore-dismissed'));
    await waitFor(() => expect(screen.queryByTestId('show-dismissed')).toBeNull());
    expect(screen.getAllByTestId('dismiss')).toHaveLength(before);
  });
});
