import { getContext, setContext } from 'svelte';
import type {
  ControlError,
  FoundRuntime,
  LiveEvent,
  PanelView,
  SetupView,
  Status,
  VerdictView,
} from '../host/gen';
import { asControlError, type Host, type Link } from '../host/host';
import { tally } from '../seat/chairs';
import { s } from '../strings/en';
import { Asked } from './asked.svelte';
import { perFrame } from './batch';
import { Consent } from './consent.svelte';
import { Judging } from './judging.svelte';
import {
  addConversations,
  addTurns,
  closeTurns,
  conversationOf,
  judgedCall,
  openTurns,
  type Routed,
} from './conversations';
import { addOlder, adopt, apply, isJudgeable, type Live, NOTHING_YET } from './live';
import { Queue } from './queue.svelte';
import { format, parse, remember, remembered, type Page, type Route } from './route';

const KEY = Symbol('app');

export const provideApp = (app: App) => setContext(KEY, app);
export const useApp = () => getContext<App>(KEY);

/** What the whole window shares: the gateway's state, the event stream, where the person is. */
export class App {
  status = $state.raw<Status | null>(null);
  setup = $state.raw<SetupView | null>(null);
  link = $state<Link | 'connecting'>('connecting');
  startError = $state.raw<ControlError | null>(null);
  route = $state.raw<Route>({ page: 'live', item: null });
  /** Said to screen readers, politely. */
  said = $state('');
  /** The collection the composer asks. */
  chosen = $state('');
  /** What stands in the composer; kept while pages change. */
  prompt = $state('');
  /** What goes with it; kept likewise. */
  readonly asked = new Asked();
  /** The composer takes the focus when it is next drawn. */
  composerWanted = false;
  /** An endpoint that was just added: its page tests it at once. */
  testOnOpen = $state<string | null>(null);
  /** Local runtimes that answered when they were last looked for. */
  found = $state.raw<readonly FoundRuntime[]>([]);
  /** Panels of the owed queue; those judged meanwhile leave it by themselves. */
  owedIds = $state.raw<readonly string[] | null>(null);

  /** An address the person asked to open, and whether it is one of ours and not from a model's text. */
  leaving = $state.raw<{ url: string; own?: boolean } | null>(null);

  readonly host: Host;
  readonly consent = new Consent();
  readonly judging: Judging;
  readonly queue: Queue;
  /**
   * All that is told. It is changed here and shown by `live`, and no change begins from the signal: while a component is
   * taken down, Svelte gives a signal's value from before the change that takes it down, and to write that back would
   * undo the change.
   */
  private told: Live = NOTHING_YET;
  private shown = $state.raw<Live>(NOTHING_YET);
  private stop: (() => void) | null = null;
  private ended = false;
  private readonly asking = new Set<string>();
  /** The oldest panel of the unbroken row from the newest on: an older one may be known by its name alone. */
  private reached: string | null = null;
  private reachedConversation: string | null = null;

  constructor(host: Host) {
    this.host = host;
    this.queue = new Queue(host, (item) => {
      const { done, failed } = s.onboarding.say;
      this.say(item.state === 'done' ? done(item.alias) : failed(item.alias, item.why ?? ''));
    });
    this.judging = new Judging(host, (call, verdict) => this.verdictTaken(call, verdict));
  }

  /** What the event stream and the pages have told. */
  get live(): Live {
    return this.shown;
  }

  get collections() {
    return this.setup?.collections ?? [];
  }

  /** Verdicts owed: as the events tell, else as the status does. */
  get owed(): number {
    return this.live.owed ?? this.status?.owed ?? 0;
  }

  readonly owedPanels: readonly PanelView[] = $derived.by(() => {
    const ids = new Set(this.owedIds ?? []);
    return this.live.panels.filter(
      (p) => ids.has(p.id) && p.seats.some((seat) => isJudgeable(seat) && !seat.verdict),
    );
  });

  /** Connects, and keeps connected. Resolves to what ends it. */
  async start(): Promise<() => void> {
    const onHash = () => {
      const route = parse(location.hash);
      if (route) this.route = route;
    };
    this.route = parse(location.hash) ?? remembered(localStorage);
    history.replaceState(null, '', format(this.route));
    window.addEventListener('hashchange', onHash);

    const take = perFrame<LiveEvent>((events) => this.take(events));
    try {
      this.stop = await this.host.listen(take, (link) => this.onLink(link));
    } catch (e) {
      this.startError = asControlError(e);
    }
    await this.refresh();
    // First run looks by itself.
    if (this.status && !this.status.first_run) void this.look();
    return () => {
      this.ended = true;
      window.removeEventListener('hashchange', onHash);
      this.stop?.();
    };
  }

  go(page: Page, item: string | null = null): void {
    // What was under way when the window was taken down does not move its successor.
    if (this.ended) return;
    const route = { page, item };
    this.route = route;
    remember(localStorage, route);
    if (location.hash !== format(route)) history.pushState(null, '', format(route));
  }

  say(text: string): void {
    // The same words again have to be a change, or they are not read out.
    this.said = text === this.said ? `${text}\u00a0` : text;
  }

  /** Asks for status and set-up again. */
  refresh = async (): Promise<void> => {
    try {
      const [status, setup] = await Promise.all([this.host.call('status', {}), this.host.call('setup', {})]);
      this.status = status;
      this.setup = setup;
      this.startError = null;
      if (!setup.collections.some((c) => c.name === this.chosen)) {
        this.chosen = setup.collections[0]?.name ?? '';
      }
    } catch (e) {
      if (!this.setup) this.startError = asControlError(e);
    }
  };

  /** Looks for local runtimes; nobody waits for it. */
  async look(): Promise<void> {
    try {
      this.found = (await this.host.call('found', {})).runtimes;
    } catch {
      // Nothing is offered.
    }
  }

  refreshOwed = async (): Promise<void> => {
    try {
      const owed = await this.host.call('owed', {});
      this.change((live) => ({ ...addOlder(live, owed.panels), owed: owed.calls.length }));
      this.owedIds = owed.panels.map((p) => p.id);
    } catch {
      // The link's state says it; the next event asks again.
    }
  };

  /** A page of panels and one of conversations, older than those known. Resolves to whether there are more. */
  async loadOlder(): Promise<boolean> {
    const [panels, conversations] = await Promise.all([
      this.host.call('panels', { before: this.reached, limit: 30 }),
      this.host.call('conversations', { before: this.reachedConversation, limit: 30 }),
    ]);
    this.reached = panels.panels.at(-1)?.id ?? this.reached;
    this.reachedConversation = conversations.conversations.at(-1)?.id ?? this.reachedConversation;
    this.know(panels.panels);
    this.changeRouted((routed) => addConversations(routed, conversations.conversations));
    return panels.more || conversations.more;
  }

  /** Asks for one conversation; `false` when the gateway does not know it. */
  async loadConversation(id: string): Promise<boolean> {
    try {
      const conversation = await this.host.call('conversation', { id });
      this.changeRouted((routed) => addConversations(routed, [conversation]));
      return true;
    } catch {
      return false;
    }
  }

  /** Follows a conversation's turns and asks for the newest of them, or for a page older than those known. */
  async loadTurns(id: string): Promise<void> {
    this.changeRouted((routed) => openTurns(routed, id));
    const known = this.told.routed.turns[id];
    const before = known?.more ? (known.list.at(-1)?.turn ?? null) : null;
    const page = await this.host.call('turns', { conversation: id, before, limit: 30, texts: false });
    this.changeRouted((routed) => addTurns(routed, id, page.turns, page.more));
  }

  /** Its turns are looked at no more. */
  leaveTurns(id: string): void {
    this.changeRouted((routed) => closeTurns(routed, id));
  }

  /** Panels that something else than the stream has told of. */
  know(panels: readonly PanelView[]): void {
    this.change((live) => addOlder(live, panels));
  }

  /** Asks for one panel whole; `false` when the gateway does not know it. */
  async loadPanel(id: string): Promise<boolean> {
    if (this.asking.has(id)) return true;
    this.asking.add(id);
    try {
      const panel = await this.host.call('panel', { id });
      this.change((live) => adopt(live, panel));
      return true;
    } catch {
      this.change((live) => ({ ...live, holes: live.holes.filter((h) => h !== id) }));
      return false;
    } finally {
      this.asking.delete(id);
    }
  }

  private change(to: (live: Live) => Live): void {
    this.told = to(this.told);
    this.shown = this.told;
  }

  private changeRouted(to: (routed: Routed) => Routed): void {
    this.change((live) => ({ ...live, routed: to(live.routed) }));
  }

  private take(events: readonly LiveEvent[]): void {
    let live = this.told;
    for (const event of events) {
      if (event.type === 'snapshot') {
        this.reached ??= event.panels.at(-1)?.id ?? null;
        this.reachedConversation ??= event.conversations.at(-1)?.id ?? null;
      }
      this.announce(event, live);
      live = apply(live, event);
    }
    this.change(() => live);
    this.queue.take(events);
    for (const id of live.holes) void this.loadPanel(id);
    const types = new Set(events.map((e) => e.type));
    if (types.has('setup_changed')) void this.refresh();
    else if (types.has('panel_started') || types.has('panel_ended') || hasNews(types))
      void this.refreshStatus();
    // A verdict that was withdrawn may put a panel back into the queue.
    const withdrawn = events.some((e) => e.type === 'verdict_changed' && !e.verdict);
    if (withdrawn || types.has('panel_ended') || types.has('snapshot')) void this.refreshOwed();
  }

  private async refreshStatus(): Promise<void> {
    try {
      this.status = await this.host.call('status', {});
    } catch {
      // The link's state says it.
    }
  }

  private onLink(link: Link): void {
    if (link === this.link) return;
    const back = link === 'up' && this.link === 'lost';
    this.link = link;
    if (link === 'lost') this.say(s.link.lost);
    if (back) {
      this.say(s.link.back);
      void this.refresh();
    }
  }

  private announce(event: LiveEvent, before: Live): void {
    if (event.type === 'turn_changed') {
      const { conversation, turn } = event;
      const who = s.gatewayKeys.who(conversation.client, conversation.caller);
      if (!before.routed.conversations.some((it) => it.id === conversation.id))
        this.say(s.route.began(who, conversation.collection));
      if (turn.status === 'error') this.say(s.route.turnFailed(conversation.collection, turn.error));
    }
    if (event.type === 'panel_started') this.say(s.say.started(event.panel.collection));
    if (event.type === 'noticed') this.say(event.alert.message);
    if (event.type === 'seat_added' && event.seat.kind === 'merger')
      this.say(s.say.merging(event.seat.alias));
    if (event.type === 'seat_changed') {
      const { seat } = event;
      const had = before.panels.find((p) => p.id === event.panel)?.seats.find((x) => x.call === seat.call);
      if (had?.status === seat.status) return;
      if (seat.status === 'ok') this.say(s.seat.answeredSay(seat.alias));
      if (seat.status === 'error') this.say(s.seat.failedSay(seat.alias, seat.error));
    }
    if (event.type === 'panel_ended') {
      const { collection, state } = event.panel;
      const { members, explorers, answered } = tally(event.panel);
      this.say(
        state === 'failed'
          ? s.say.failed(collection)
          : s.say.ended(collection, answered, members + explorers),
      );
    }
  }

  private verdictTaken(call: string, verdict: VerdictView | null): void {
    // A verdict on a conversation's call is never owed.
    if (conversationOf(this.told.routed, call)) {
      this.changeRouted((routed) => judgedCall(routed, call, verdict));
      return;
    }
    const panel = this.told.panels.find((p) => p.seats.some((seat) => seat.call === call));
    if (!panel) return;
    const had = panel.seats.find((seat) => seat.call === call)?.verdict ?? null;
    const owed = Math.max(0, this.owed + Number(!verdict) - Number(!had));
    this.change((live) => apply(live, { type: 'verdict_changed', panel: panel.id, call, verdict, owed }));
  }
}

function hasNews(types: ReadonlySet<LiveEvent['type']>): boolean {
  return types.has('alert_raised') || types.has('alert_cleared');
}
