import type { LiveEvent, OnboardingItem, OnboardingQueue } from '../host/gen';
import type { Host } from '../host/host';

/** The models that are being taken on: asked for, and then told one by one. */
export class Queue {
  items = $state.raw<readonly OnboardingItem[]>([]);
  /** It has been asked for. */
  ready = $state(false);
  /** Those that wait or are at work. */
  readonly open: number = $derived(this.items.filter(isOpen).length);
  private readonly host: Host;
  private readonly onOver: (item: OnboardingItem) => void;

  constructor(host: Host, onOver: (item: OnboardingItem) => void) {
    this.host = host;
    this.onOver = onOver;
  }

  load = async (): Promise<void> => {
    try {
      this.set(await this.host.call('onboarding', {}));
    } catch {
      // The link's state says it; the next event asks again.
    }
  };

  set(queue: OnboardingQueue): void {
    this.items = queue.items;
    this.ready = true;
  }

  take(events: readonly LiveEvent[]): void {
    const told = events.filter((event) => event.type === 'onboarding_changed');
    const changed = told.flatMap((event) => (event.item ? [event.item] : []));
    if (changed.length > 0) {
      const last = new Map(changed.map((item) => [item.id, item]));
      for (const item of last.values()) {
        const had = this.items.find((known) => known.id === item.id);
        if (!isOpen(item) && item.state !== 'stopped' && had && isOpen(had)) this.onOver(item);
      }
      this.items = this.items.map((item) => last.get(item.id) ?? item);
    }
    const unknown = changed.some((item) => !this.items.some((known) => known.id === item.id));
    const all = told.some((event) => !event.item) || events.some((event) => event.type === 'snapshot');
    if (all || unknown) void this.load();
  }
}

export function isOpen(item: OnboardingItem): boolean {
  return item.state === 'waiting' || item.state === 'running';
}
