import type { PanelView, SeatView, VerdictView } from '../src/host/gen';

/** Panels and seats to test with: what matters is said, the rest is filled in. */
export function seat(over: Partial<SeatView> = {}): SeatView {
  return {
    call: 'p1.member1',
    seat: 'member1',
    kind: 'member',
    alias: 'alpha',
    endpoint: 'fake',
    why: '',
    stood_in_for: null,
    status: 'waiting',
    seconds: null,
    first_token_s: null,
    tokens_in: null,
    tokens_out: null,
    answer: '',
    error: '',
    verdict: null,
    ...over,
  };
}

export function panel(over: Partial<PanelView> = {}): PanelView {
  return {
    id: 'p1',
    collection: 'core',
    at: '2026-11-29T15:45:01Z',
    client: 'opencode',
    system: '',
    prompt: 'Where?',
    turns: 1,
    shape: 'general',
    shape_by: 'default',
    reply: 'all',
    state: 'running',
    seconds: null,
    seats: [seat()],
    skipped: [],
    failed_over: [],
    note: null,
    lossy: [],
    error: null,
    practice: false,
    ...over,
  };
}

export function verdict(over: Partial<VerdictView> = {}): VerdictView {
  return {
    call: 'p1.member1',
    useful: true,
    note: '',
    real: [],
    false: [],
    at: '2026-11-29T16:00:00Z',
    ...over,
  };
}
