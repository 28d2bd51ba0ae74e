import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { ControlError, SeatView, VerdictView } from '../host/gen';
import { asControlError, controlError, type Host } from '../host/host';
import { s } from '../strings/en';
import { type Claims, mark, unmark } from '../text/claims';

/** What a person has said about an answer, before or after they chose useful or not. */
export interface Draft extends Claims {
  note: string;
}

/** What a verdict is about: a seat, or a model's work in a conversation. */
export type Judged = Pick<SeatView, 'call' | 'verdict'>;

/** One change of a verdict. */
interface Step {
  call: string;
  before: VerdictView | null;
  after: VerdictView | null;
}

const EMPTY: Draft = { note: '', real: [], false: [] };

/** Gives, changes and takes back verdicts. What stands comes with the seat; only drafts are kept here. */
export class Judging {
  /** Notes and claims of answers that have no verdict yet. */
  private readonly drafts = new SvelteMap<string, Draft>();
  readonly busy = new SvelteSet<string>();
  readonly errors = new SvelteMap<string, ControlError>();
  private steps = $state.raw<readonly Step[]>([]);
  private readonly host: Host;
  private readonly changed: (call: string, verdict: VerdictView | null) => void;

  /** `changed` is told of every verdict the gateway took, so that nothing waits for its event. */
  constructor(host: Host, changed: (call: string, verdict: VerdictView | null) => void) {
    this.host = host;
    this.changed = changed;
  }

  draft(seat: Judged): Draft {
    return seat.verdict ?? this.drafts.get(seat.call) ?? EMPTY;
  }

  canUndo(call: string): boolean {
    return this.steps.some((step) => step.call === call);
  }

  /** The call that the last change was about. */
  get last(): string | null {
    return this.steps.at(-1)?.call ?? null;
  }

  give(seat: Judged, useful: boolean): Promise<boolean> {
    if (seat.verdict?.useful === useful) return Promise.resolve(false);
    return this.put(seat, useful, this.draft(seat));
  }

  note(seat: Judged, note: string): Promise<boolean> {
    const draft = this.draft(seat);
    if (draft.note === note) return Promise.resolve(false);
    return this.change(seat, { ...draft, note });
  }

  mark(seat: Judged, kind: 'real' | 'false', claim: string): Promise<boolean> {
    const draft = this.draft(seat);
    const marked = mark(draft, kind, claim);
    if (!marked[kind].includes(claim)) {
      this.errors.set(seat.call, controlError('bad_input', s.judge.full));
      return Promise.resolve(false);
    }
    return this.change(seat, { note: draft.note, ...marked });
  }

  unmark(seat: Judged, claim: string): Promise<boolean> {
    const draft = this.draft(seat);
    return this.change(seat, { note: draft.note, ...unmark(draft, claim) });
  }

  withdraw(seat: Judged): Promise<boolean> {
    return this.send({ call: seat.call, before: seat.verdict, after: null }, true);
  }

  /** Puts the last change back, of this call or of any. Resolves to the call it was about. */
  async undo(call?: string): Promise<string | null> {
    const step = this.steps.findLast((s) => call === undefined || s.call === call);
    if (!step) return null;
    const done = await this.send({ call: step.call, before: step.after, after: step.before }, false);
    if (!done) return null;
    this.steps = this.steps.filter((s) => s !== step);
    return step.call;
  }

  private change(seat: Judged, draft: Draft): Promise<boolean> {
    if (seat.verdict) return this.put(seat, seat.verdict.useful, draft);
    this.drafts.set(seat.call, draft);
    return Promise.resolve(true);
  }

  private put(seat: Judged, useful: boolean, draft: Draft): Promise<boolean> {
    const { note, real, false: wrong } = draft;
    const at = new Date().toISOString();
    const after = { call: seat.call, useful, note, real: [...real], false: [...wrong], at };
    return this.send({ call: seat.call, before: seat.verdict, after }, true);
  }

  /** Makes a change. It can be taken back when it is `undoable`; taking back is not. */
  private async send({ call, before, after }: Step, undoable: boolean): Promise<boolean> {
    if (this.busy.has(call)) return false;
    this.busy.add(call);
    this.errors.delete(call);
    try {
      if (after) {
        const { useful, note, real, false: wrong } = after;
        await this.host.call('give_verdict', { call, useful, note, real, false: wrong });
        this.drafts.delete(call);
      } else {
        await this.host.call('clear_verdict', { call });
        // What was said stays at hand: withdrawing a verdict is not taking back its words.
        if (before) this.drafts.set(call, { note: before.note, real: before.real, false: before.false });
      }
      if (undoable) this.steps = [...this.steps.slice(-99), { call, before, after }];
      this.changed(call, after);
      return true;
    } catch (e) {
      this.errors.set(call, asControlError(e));
      return false;
    } finally {
      this.busy.delete(call);
    }
  }
}
