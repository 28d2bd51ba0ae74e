// A gateway that is not one: it keeps a set-up in memory and plays scripted panels, so that every page and state
// of the window can be seen and tested without a gateway. It is in no production bundle.
import type {
  Alert,
  CollectionView,
  Commands,
  ConnectionLimits,
  CoolingView,
  EndpointView,
  GatewayKeyView,
  LiveEvent,
  ModelView,
  PanelView,
  SeatView,
  Status,
  TurnView,
  VerdictView,
} from '../src/host/gen';
import { controlError, type Host, type Link } from '../src/host/host';
import { answers } from './answers';
import { handlers } from './handlers';
import { ASKS, programs } from './keys';
import type { FixtureOptions } from './made';
import { busy, many } from './limits';
import { full, type Stage } from './full';
import { Taking } from './onboarding';
import { begin, type Routed, session, tell } from './routed';
import { PROMPTS, SETTINGS, collection, endpoint, model, seat } from './made';

export class Fixture implements Host {
  endpoints: EndpointView[] = [];
  models: ModelView[] = [];
  collections: CollectionView[] = [];
  settings = { ...SETTINGS };
  panels: PanelView[] = [];
  /** Agents' sessions, newest first. */
  routed: Routed[] = [];
  connections: ConnectionLimits[] = [];
  cooling: CoolingView[] = [];
  /** Gateway keys, in the order they were made. */
  programs: GatewayKeyView[] = [];
  /** There is a record of work, and of what it cost. */
  works = false;
  alerts: Alert[] = [];
  keys: Status['keys'];
  recording = { ok: true, message: '' };
  portNote = '';
  copied: string[] = [];
  opened: string[] = [];
  calls: [string, unknown][] = [];
  /** Commands that refuse, and how. */
  refuse = new Map<keyof Commands, ReturnType<typeof controlError>>();
  private onEvent: (e: LiveEvent) => void = () => {};
  private onLink: (link: Link) => void = () => {};
  private made = 0;
  readonly options: FixtureOptions;

  constructor(options: FixtureOptions = {}) {
    this.options = options;
    const kind = options.keys ?? 'keychain';
    const message = {
      keychain: 'Keys are kept in the keychain (Secret Service).',
      vault_file: 'Keys are kept in the encrypted file.',
      vault_locked: 'The encrypted key file is locked. Keys cannot be used until it is opened.',
      none: 'There is no keychain on this computer. Keys come from environment variables until you make an encrypted file.',
    }[kind];
    this.keys = { kind, message };
    if (!options.first) this.fill();
    this.settings.keep_route_text = options.texts ?? false;
    for (let i = 0; i < (options.past ?? 0); i++) this.panels.push(this.past(i));
    if (options.sessions) this.agents(options.sessions);
    if (options.busy) busy(this);
    if (options.programs) programs(this);
    if (options.many) many(this, options.many);
  }

  async call<K extends keyof Commands>(name: K, args: Commands[K]['args']): Promise<Commands[K]['result']> {
    this.calls.push([name, args]);
    await new Promise((r) => setTimeout(r, this.options.delay ?? 0));
    const refusal = this.refuse.get(name);
    if (refusal) throw refusal;
    return structuredClone(this.handlers[name](args as never));
  }

  async listen(onEvent: (e: LiveEvent) => void, onLink: (link: Link) => void): Promise<() => void> {
    this.onEvent = onEvent;
    this.onLink = onLink;
    onLink('up');
    const conversations = this.routed.map((it) => it.conversation);
    this.emit({ type: 'snapshot', panels: this.panels, alerts: this.alerts, conversations });
    return () => (this.onEvent = () => {});
  }

  emit(event: LiveEvent): void {
    this.onEvent(structuredClone(event));
  }

  link(state: Link): void {
    this.onLink(state);
  }

  async openUrl(url: string): Promise<void> {
    this.opened.push(url);
  }
  async copy(text: string): Promise<void> {
    this.copied.push(text);
  }
  async saveText(name: string): Promise<string> {
    return `Saved to ~/Downloads/${name}`;
  }

  raise(kind: Alert['kind'], subject: string, message: string): void {
    const alert = { kind, subject, message, at: new Date().toISOString() };
    this.alerts = [alert, ...this.alerts];
    this.emit({ type: 'alert_raised', alert });
  }

  /** A panel that runs for a while; `speed` 0 leaves it where `until` says, for a picture. */
  play(collection: string, prompt: string, client: string, speed = 1, until = 1): string {
    const panel = this.start(collection, prompt, client);
    const texts = panel.seats.map((seat) => answers[seat.alias] ?? answers['quick']!);
    if (speed === 0) {
      panel.at = new Date(Date.now() - 8100).toISOString();
      panel.seats.forEach((seat, i) => this.advance(panel, seat, texts[i]!, until));
      return panel.id;
    }
    const began = Date.now();
    const timer = setInterval(() => {
      const t = ((Date.now() - began) / 1000) * speed;
      for (const [i, seat] of panel.seats.entries()) this.advance(panel, seat, texts[i]!, t);
      if (panel.seats.every((s) => s.seconds !== null)) {
        clearInterval(timer);
        this.end(panel);
      }
    }, 30);
    return panel.id;
  }

  private advance(panel: PanelView, seat: SeatView, script: (typeof answers)[string], t: number): void {
    if (seat.seconds !== null || t < script.first) return;
    if (script.error) {
      Object.assign(seat, { status: 'error', error: script.error, seconds: script.first });
      this.emit({ type: 'seat_changed', panel: panel.id, seat });
      return;
    }
    if (seat.first_token_s === null) {
      Object.assign(seat, { status: 'answering', first_token_s: script.first });
      this.emit({ type: 'seat_changed', panel: panel.id, seat });
    }
    const length = Math.min(
      script.text.length,
      Math.round(((t - script.first) / script.takes) * script.text.length),
    );
    const text = script.text.slice(seat.answer.length, length);
    if (text) {
      this.emit({ type: 'seat_delta', panel: panel.id, call: seat.call, at: seat.answer.length, text });
      seat.answer += text;
    }
    if (length >= script.text.length) {
      Object.assign(seat, {
        status: 'ok',
        seconds: script.first + script.takes,
        tokens_in: 812,
        tokens_out: Math.round(script.text.length / 4),
        ...(this.works && seat.alias !== 'llama-small' ? { cost: 0.0042 } : {}),
      });
      this.emit({ type: 'seat_changed', panel: panel.id, seat });
    }
  }

  private end(panel: PanelView): void {
    panel.state = panel.seats.some((s) => s.status === 'ok') ? 'done' : 'failed';
    panel.seconds = Math.max(...panel.seats.map((s) => s.seconds ?? 0));
    if (panel.state === 'failed') panel.error = panel.seats.map((s) => `${s.alias}: ${s.error}`).join('; ');
    this.emit({ type: 'panel_ended', panel });
  }

  private start(collection: string, prompt: string, client: string): PanelView {
    const panel = this.begin(collection, prompt, client);
    this.emit({ type: 'panel_started', panel });
    return panel;
  }

  /** A panel with everything on it, as far as `stage`; its id. */
  full(stage: Stage): string {
    return full(this, stage).id;
  }

  /** A panel that nobody is told of yet. */
  begin(collection: string, prompt: string, client: string): PanelView {
    const c = this.collections.find((x) => x.name === collection);
    if (!c) throw controlError('not_found', `There is no collection "${collection}".`, 'collection');
    const id = `p20261129-15450${++this.made % 10}-${String(this.made).padStart(8, '0')}`;
    const panel: PanelView = {
      id,
      collection,
      at: new Date().toISOString(),
      client,
      ...(this.options.programs && client !== 'window' ? { caller: ASKS } : {}),
      system: '',
      prompt,
      turns: 1,
      shape: c.shape || 'general',
      shape_by: c.shape ? 'set on the collection' : 'the default',
      reply: 'all',
      state: 'running',
      seconds: null,
      seats: c.members.slice(0, this.settings.max_calls).map((alias, i) =>
        seat(id, `member${i + 1}`, alias, {
          endpoint: this.models.find((m) => m.alias === alias)?.endpoint ?? '',
        }),
      ),
      skipped:
        collection === 'reviewers'
          ? [
              {
                seat: 'member',
                alias: 'old-mistral',
                why: 'retired on 3 October: its provider stopped serving it',
              },
            ]
          : [],
      // A program says more than a panel takes; a person asks in words only.
      lossy:
        client === 'window'
          ? []
          : [
              { field: 'temperature', reason: 'ignored by a panel' },
              { field: 'messages[2].content[1].cache_control', reason: 'not sent to members' },
            ],
      failed_over: [],
      note: null,
      error: null,
      practice: c.practice,
    };
    this.panels.unshift(panel);
    return panel;
  }

  private past(i: number): PanelView {
    const panel = this.start(i % 3 === 2 ? 'quick' : 'reviewers', PROMPTS[i % PROMPTS.length]!, 'opencode');
    this.panels.shift();
    panel.at = new Date(Date.now() - (i + 1) * 3_700_000).toISOString();
    for (const seat of panel.seats) {
      const script = answers[seat.alias] ?? answers['quick']!;
      Object.assign(
        seat,
        script.error
          ? { status: 'error', error: script.error, seconds: script.first }
          : {
              status: 'ok',
              answer: script.text,
              seconds: script.first + script.takes,
              first_token_s: script.first,
              tokens_in: 812,
              tokens_out: Math.round(script.text.length / 4),
            },
      );
    }
    panel.state = 'done';
    panel.seconds = 12.4;
    return panel;
  }

  owedCalls(): string[] {
    return this.panels
      .slice(0, 30)
      .flatMap((p) => p.seats)
      .filter((seat) => seat.status === 'ok' && !seat.verdict)
      .map((seat) => seat.call);
  }

  /** The next turn of the newest session: as it begins, and what makes it end. */
  turn(): (over?: Partial<TurnView>) => void {
    const routed = this.routed[0]!;
    const it = begin(this, routed);
    return (over = {}) =>
      tell(this, routed, { ...it, status: 'ok', seconds: 4.2, first_token_s: 0.8, tool_calls: 1, ...over });
  }

  verdict(call: string, verdict: VerdictView | null): { recorded: boolean } {
    const routed = this.routed.flatMap((it) => it.conversation.calls).find((it) => it.call === call);
    if (routed) {
      routed.verdict = verdict;
      const panel = call.split('.')[0] ?? call;
      this.emit({ type: 'verdict_changed', panel, call, verdict, owed: this.owedCalls().length });
      return { recorded: true };
    }
    const panel = this.panels.find((p) => p.seats.some((s) => s.call === call));
    const seat = panel?.seats.find((s) => s.call === call);
    if (!panel || !seat) throw controlError('not_found', `There is no call ${call}.`, 'call');
    seat.verdict = verdict;
    this.emit({ type: 'verdict_changed', panel: panel.id, call, verdict, owed: this.owedCalls().length });
    return { recorded: true };
  }

  changed(): void {
    for (const e of this.endpoints) e.models = this.models.filter((m) => m.endpoint === e.name).length;
    for (const m of this.models) {
      m.collections = this.collections.filter((c) => c.members.includes(m.alias)).map((c) => c.name);
    }
    this.emit({ type: 'setup_changed' });
  }

  endpoint(name: string): EndpointView {
    const found = this.endpoints.find((e) => e.name === name);
    if (!found) throw controlError('not_found', `There is no endpoint "${name}".`, 'name');
    return found;
  }

  private agents(sessions: number): void {
    const agents = collection('agents', 'Coding agents.', ['glm-5', 'qwen3-coder', 'kimi-k2', 'llama-small']);
    this.collections.push({ ...agents, reply: 'route', shape: 'code', shadow: 2, shadow_share: 0.25 });
    for (const m of this.models) if (m.alias !== 'llama-small') m.known = { ...m.known, tools: true };
    for (let i = sessions; i > 0; i--) {
      const at = new Date(Date.now() - i * 1_000_000).toISOString();
      const other = { client: 'codex_exec', title: 'Why does the cache return a stale value?' };
      session(this, { at, ...(i % 2 ? {} : other) }, i % 2 ? 38 : 5);
    }
    this.changed();
  }

  private fill(): void {
    this.endpoints.push(endpoint('groq', 'https://api.groq.com/openai/v1', 'provider'));
    this.endpoints.push(endpoint('openrouter', 'https://openrouter.ai/api/v1', 'aggregator'));
    this.endpoints.push(endpoint('ollama', 'http://127.0.0.1:11434', 'local'));
    this.endpoints[2]!.api = 'ollama';
    this.endpoints[1]!.key = { source: 'environment', hint: '••••9f3a', variable: 'OPENROUTER_API_KEY' };
    this.endpoints[2]!.key = { source: 'none', hint: '', variable: null };
    this.models.push(
      model('kimi-k2', 'groq', 'moonshotai/kimi-k2-instruct', 'general'),
      model('glm-5', 'openrouter', 'z-ai/glm-5', 'general'),
      model('qwen3-coder', 'groq', 'qwen/qwen3-coder', 'code'),
      model('inkling', 'openrouter', 'ink/inkling-large:free', 'general'),
      model('llama-small', 'ollama', 'llama3.2:3b', 'light'),
    );
    this.collections.push(
      collection('reviewers', 'Second opinions on code that is about to be merged.', [
        'kimi-k2',
        'glm-5',
        'qwen3-coder',
        'inkling',
      ]),
      collection('quick', 'One small local model and one fast one.', ['llama-small', 'kimi-k2']),
    );
    this.collections[0]!.shape = 'review';
    this.collections[0]!.tags = ['code', 'review'];
    this.changed();
  }

  /** Models that are being taken on. */
  readonly taking = new Taking(this);
  readonly handlers = handlers(this);
}
