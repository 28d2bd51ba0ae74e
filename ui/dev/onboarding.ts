// Models being taken on by the fixture: a step each half second, as the gateway tells it.
import type {
  Commands,
  OnboardingItem,
  OnboardingLog,
  OnboardingQueue,
  OnboardingStep,
} from '../src/host/gen';
import { controlError } from '../src/host/host';
import type { Fixture } from './fixture';
import { model } from './made';

const STEPS: OnboardingStep[] = ['listed', 'word', 'word_again', 'large', 'tool', 'vision', 'facts', 'done'];
const SAID: Partial<Record<OnboardingStep, string>> = {
  word: 'it said: ready',
  word_again: 'it said: ready',
  large: 'it said: kimuva',
  tool: 'it called get_time {"timezone":"Europe/Lisbon"}',
  vision: 'it said: A red circle.',
  facts: 'seen to work: tools',
};

type Names =
  | 'onboard'
  | 'probe_model'
  | 'onboarding'
  | 'stop_onboarding'
  | 'resume_onboarding'
  | 'clear_onboarding'
  | 'dismiss_models'
  | 'restore_dismissed';
type Handlers = { [K in Names]: (args: Commands[K]['args']) => Commands[K]['result'] };

export class Taking {
  items: OnboardingItem[] = [];
  /** Milliseconds a step takes; 0: a step is taken when it is told to. */
  pace = 500;
  /** Served ids that answer nothing, beside those with `broken` in their names. */
  readonly gone = new Set<string>();
  /** The last of each kind, by endpoint and served id. */
  readonly probes = new Map<string, OnboardingLog[]>();
  private readonly on: Fixture;
  private readonly dismissed = new Set<string>();
  private made = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(on: Fixture) {
    this.on = on;
  }

  isDismissed(endpoint: string, served: string): boolean {
    return this.dismissed.has(`${endpoint} ${served}`);
  }

  /** The next step of the first that has one. One that is gone fails. */
  step(): void {
    const item =
      this.items.find((it) => it.state === 'running') ?? this.items.find((it) => it.state === 'waiting');
    if (!item) return;
    const now = new Date().toISOString();
    if (item.state === 'waiting') {
      Object.assign(item, { state: 'running', started_at: item.started_at ?? now, why: null });
    } else {
      this.take(item, now);
    }
    this.on.emit({ type: 'onboarding_changed', item });
    this.goOn();
  }

  private take(item: OnboardingItem, at: string): void {
    const isGone = item.served.includes('broken') || this.gone.has(item.served);
    const broken = isGone && item.step === 'word';
    const called = !['listed', 'facts'].includes(item.step);
    item.log.push({
      step: item.step,
      at,
      outcome: broken ? 'failed' : item.step === 'vision' ? 'not_seen' : 'worked',
      class: broken ? 'not_found' : null,
      seconds: called ? 0.84 : null,
      first_token_s: called ? 0.31 : null,
      tokens_a_s: item.step === 'large' ? 92.4 : null,
      tokens_in: called ? (item.step === 'large' ? 5120 : 61) : null,
      tokens_out: called ? 12 : null,
      said: broken ? 'No such model (404)' : (SAID[item.step] ?? `registered as ${item.alias}`),
    });
    if (called) {
      const name = `${item.endpoint} ${item.served}`;
      const found = new Map((this.probes.get(name) ?? []).map((it) => [it.step, it]));
      found.set(item.step, item.log.at(-1)!);
      this.probes.set(name, [...found.values()]);
    }
    if (item.step === 'listed' && !this.on.models.some((m) => m.alias === item.alias)) {
      this.on.models.push(model(item.alias, item.endpoint, item.served, 'general'));
      this.on.changed();
    }
    if (broken) {
      const why =
        'it does not answer: No such model (404); it is not chosen for panels until a probe is answered';
      Object.assign(item, { state: 'failed', why, ended_at: at });
      return;
    }
    item.step = STEPS[STEPS.indexOf(item.step) + 1] ?? 'done';
    if (item.step === 'done') Object.assign(item, { state: 'done', ended_at: at });
  }

  private goOn(): void {
    clearTimeout(this.timer);
    const open = this.items.some((it) => it.state === 'running' || it.state === 'waiting');
    if (open && this.pace > 0) this.timer = setTimeout(() => this.step(), this.pace);
  }

  private queue(): OnboardingQueue {
    return { items: this.items, has_suite: false };
  }

  private all(): OnboardingQueue {
    this.on.emit({ type: 'onboarding_changed', item: null });
    this.goOn();
    return this.queue();
  }

  private add({ endpoint, models, mode }: Commands['onboard']['args']): OnboardingQueue {
    for (const { served, alias } of models) {
      this.items = this.items.filter((it) => it.endpoint !== endpoint || it.served !== served);
      this.items.push({
        id: ++this.made,
        endpoint,
        served,
        alias,
        mode,
        state: 'waiting',
        step: 'listed',
        steps: STEPS,
        why: null,
        until: null,
        added_at: new Date().toISOString(),
        started_at: null,
        ended_at: null,
        log: [],
      });
    }
    return this.all();
  }

  private restate(from: OnboardingItem['state'][], state: OnboardingItem['state']): OnboardingQueue {
    for (const item of this.items) if (from.includes(item.state)) Object.assign(item, { state, why: null });
    return this.all();
  }

  readonly handlers: Handlers = {
    onboard: (a) => this.add(a),
    probe_model: ({ name }) => {
      const known = this.on.models.find((m) => m.alias === name);
      if (!known) throw controlError('not_found', `There is no model "${name}".`);
      const models = [{ served: known.served, alias: name }];
      return this.add({ endpoint: known.endpoint, models, mode: 'quick' });
    },
    onboarding: () => this.queue(),
    stop_onboarding: () => this.restate(['waiting', 'running'], 'stopped'),
    resume_onboarding: () => this.restate(['stopped'], 'waiting'),
    clear_onboarding: ({ all }) => {
      const stays = (it: OnboardingItem) =>
        it.state === 'running' || !(all || it.state === 'done' || it.state === 'failed');
      this.items = this.items.filter(stays);
      return this.all();
    },
    dismiss_models: ({ endpoint, served }) => {
      for (const id of served) this.dismissed.add(`${endpoint} ${id}`);
      return {};
    },
    restore_dismissed: ({ endpoint, served }) => {
      for (const id of served) this.dismissed.delete(`${endpoint} ${id}`);
      return {};
    },
  };
}
