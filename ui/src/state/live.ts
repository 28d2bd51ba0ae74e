import type { Alert, ConversationView, LiveEvent, PanelView, SeatView } from '../host/gen';
import {
  conversationChanged,
  conversationsNow,
  judgedCall,
  NO_CONVERSATIONS,
  type Routed,
  turnChanged,
} from './conversations';

/** Everything the event stream tells. Plain data, replaced and never changed in place. */
export interface Live {
  /** Newest first. */
  panels: readonly PanelView[];
  /** What agents do on collections. */
  routed: Routed;
  alerts: readonly Alert[];
  /** Verdicts owed, as last told by an event; `null` until one tells. */
  owed: number | null;
  /** Panels with a gap: to be asked for whole. */
  holes: readonly string[];
  /** Events were left out; a snapshot is on its way. */
  catchingUp: boolean;
  /** The first snapshot has come. */
  ready: boolean;
}

export const NOTHING_YET: Live = {
  panels: [],
  routed: NO_CONVERSATIONS,
  alerts: [],
  owed: null,
  holes: [],
  catchingUp: false,
  ready: false,
};

export function apply(live: Live, event: LiveEvent): Live {
  switch (event.type) {
    case 'snapshot':
      return snapshot(live, event.panels, event.alerts, event.conversations);
    case 'panel_started':
    case 'panel_ended':
      return { ...live, panels: put(live.panels, event.panel), holes: without(live.holes, event.panel.id) };
    case 'seat_delta':
      return onPanel(live, event.panel, (panel) => {
        const seat = panel.seats.find((s) => s.call === event.call);
        if (!seat) return 'hole';
        const grown = grow(seat, event.at, event.text);
        return grown === 'hole' ? 'hole' : replaceSeat(panel, grown);
      });
    case 'seat_changed':
      return onPanel(live, event.panel, (panel) => {
        const had = panel.seats.find((s) => s.call === event.seat.call);
        if (!had) return { ...panel, seats: [...panel.seats, event.seat] };
        return replaceSeat(panel, isOver(event.seat) ? event.seat : withLonger(event.seat, had));
      });
    case 'seat_added':
      return onPanel(live, event.panel, (panel) => {
        const had = panel.seats.find((s) => s.call === event.seat.call);
        return had ? panel : { ...panel, seats: [...panel.seats, event.seat] };
      });
    case 'panel_shaped': {
      const { shape, shape_by, skipped } = event;
      return onPanel(live, event.panel, (panel) => ({ ...panel, shape, shape_by, skipped }));
    }
    case 'seat_failed_over':
      return onPanel(live, event.panel, (panel) => {
        const known = panel.failed_over.some((it) => it.call === event.failed_over.call);
        return known ? panel : { ...panel, failed_over: [...panel.failed_over, event.failed_over] };
      });
    case 'verdict_changed': {
      const routed = judgedCall(live.routed, event.call, event.verdict);
      const told = { ...live, routed, owed: event.owed };
      if (!live.panels.some((p) => p.id === event.panel)) return told;
      return onPanel(told, event.panel, (panel) => ({
        ...panel,
        seats: panel.seats.map((s) => (s.call === event.call ? { ...s, verdict: event.verdict } : s)),
      }));
    }
    case 'conversation_changed':
      return { ...live, routed: conversationChanged(live.routed, event.conversation) };
    case 'turn_changed':
      return { ...live, routed: turnChanged(live.routed, event.conversation, event.turn) };
    case 'missed':
      return { ...live, catchingUp: true };
    case 'alert_raised': {
      const others = live.alerts.filter((a) => !sameAlert(a, event.alert));
      return { ...live, alerts: [event.alert, ...others] };
    }
    case 'alert_cleared':
      return { ...live, alerts: live.alerts.filter((a) => !sameAlert(a, event)) };
    case 'setup_changed':
    case 'onboarding_changed':
    case 'noticed':
      return live;
  }
}

/** A panel that was asked for whole. What the stream has told meanwhile is kept where it is further. */
export function adopt(live: Live, fresh: PanelView): Live {
  const had = live.panels.find((p) => p.id === fresh.id);
  const seats = fresh.seats.map((seat) => {
    const old = had?.seats.find((s) => s.call === seat.call);
    if (!old || isOver(seat)) return seat;
    return isOver(old) ? old : withLonger(seat, old);
  });
  // Who joined while the answer was on its way.
  const joined = had?.seats.filter((old) => !fresh.seats.some((seat) => seat.call === old.call)) ?? [];
  const ended = had && had.state !== 'running' && fresh.state === 'running';
  const panel = ended ? had : { ...fresh, ...further(fresh, had), seats: [...seats, ...joined] };
  return { ...live, panels: put(live.panels, panel), holes: without(live.holes, fresh.id) };
}

/** Older panels, by page. Those known already stay as they are: the stream is newer than the page. */
export function addOlder(live: Live, page: readonly PanelView[]): Live {
  const fresh = page.filter((p) => !live.panels.some((known) => known.id === p.id));
  if (fresh.length === 0) return live;
  return { ...live, panels: newestFirst([...live.panels, ...fresh]) };
}

/** A late seat without its time runs on: the panel was answered without it. */
export function isOver(seat: SeatView): boolean {
  if (seat.status === 'late') return seat.seconds !== null;
  return seat.status !== 'waiting' && seat.status !== 'answering';
}

/** An answer a verdict can be given to. */
export function isJudgeable(seat: SeatView): boolean {
  return seat.status === 'ok' || (seat.status === 'late' && isOver(seat) && seat.answer !== '');
}

function snapshot(
  live: Live,
  panels: readonly PanelView[],
  alerts: readonly Alert[],
  conversations: readonly ConversationView[],
): Live {
  const told = new Set(panels.map((p) => p.id));
  const kept = live.panels.filter((p) => !told.has(p.id));
  return {
    ...live,
    panels: newestFirst([...panels, ...kept]),
    routed: conversationsNow(live.routed, conversations),
    alerts,
    // A panel that ran and is not told of any more ended while we were not listening.
    holes: kept.filter((p) => p.state === 'running').map((p) => p.id),
    catchingUp: false,
    ready: true,
  };
}

/** Changes one panel, or notes that it has to be asked for. Between a hole and its filling, nothing is applied. */
function onPanel(live: Live, id: string, change: (panel: PanelView) => PanelView | 'hole'): Live {
  const panel = live.panels.find((p) => p.id === id);
  const changed = panel ? change(panel) : 'hole';
  if (changed === 'hole') {
    return live.holes.includes(id) ? live : { ...live, holes: [...live.holes, id] };
  }
  return { ...live, panels: live.panels.map((p) => (p.id === id ? changed : p)) };
}

function grow(seat: SeatView, at: number, text: string): SeatView | 'hole' {
  const have = seat.answer.length;
  if (at > have) return 'hole';
  const fresh = text.slice(have - at);
  if (isOver(seat) || fresh === '') return seat;
  const status = seat.status === 'late' ? 'late' : 'answering';
  return { ...seat, status, answer: seat.answer + fresh };
}

/** What a panel was told of that comes once: the shape, and seats that passed on. */
function further(fresh: PanelView, had: PanelView | undefined): Partial<PanelView> {
  if (!had) return {};
  const shaped = fresh.shape_by === '' && had.shape_by !== '';
  const { shape, shape_by, skipped, failed_over } = had;
  return {
    ...(shaped ? { shape, shape_by, skipped } : {}),
    ...(failed_over.length > fresh.failed_over.length ? { failed_over } : {}),
  };
}

function withLonger(seat: SeatView, had: SeatView): SeatView {
  return had.answer.length > seat.answer.length ? { ...seat, answer: had.answer } : seat;
}

function replaceSeat(panel: PanelView, seat: SeatView): PanelView {
  return { ...panel, seats: panel.seats.map((s) => (s.call === seat.call ? seat : s)) };
}

function put(panels: readonly PanelView[], panel: PanelView): readonly PanelView[] {
  if (panels.some((p) => p.id === panel.id)) return panels.map((p) => (p.id === panel.id ? panel : p));
  return newestFirst([panel, ...panels]);
}

function newestFirst(panels: readonly PanelView[]): readonly PanelView[] {
  return [...panels].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? 1 : -1));
}

function without(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list.filter((x) => x !== item) : list;
}

function sameAlert(a: Pick<Alert, 'kind' | 'subject'>, b: Pick<Alert, 'kind' | 'subject'>): boolean {
  return a.kind === b.kind && a.subject === b.subject;
}
