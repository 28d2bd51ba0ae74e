// A panel with everything on it: an explorer, a seat that fails over, one that is late, a merge. Told event by
// event, as the gateway tells it.
import type { FailedOverView, PanelView, SeatView } from '../src/host/gen';
import { answers } from './answers';
import type { Fixture } from './fixture';
import { seat } from './made';

/** How far it has come. */
export type Stage =
  'shaping' | 'running' | 'merging' | 'merged' | 'not-merged' | 'broken-off' | 'late' | 'came';

const LIMITED = 'Rate limit reached for this model (429, wait 40 s)';

export function full(on: Fixture, stage: Stage): PanelView {
  const merged = !['late', 'came'].includes(stage);
  const panel = on.begin(
    'reviewers',
    'Where can this cache return a stale value after a failed refresh?',
    'opencode',
  );
  const tell = (it: SeatView, change: Partial<SeatView>) => {
    Object.assign(it, change);
    on.emit({ type: 'seat_changed', panel: panel.id, seat: it });
  };
  const add = (it: SeatView): SeatView => {
    panel.seats.push(it);
    on.emit({ type: 'seat_added', panel: panel.id, seat: it });
    return it;
  };
  const says = (it: SeatView, part = 1) => {
    const text = answers[it.alias]?.text ?? answers['quick']!.text;
    tell(it, { status: it.status === 'late' ? 'late' : 'answering', first_token_s: 0.9 });
    const answer = text.slice(0, Math.round(text.length * part));
    on.emit({ type: 'seat_delta', panel: panel.id, call: it.call, at: 0, text: answer });
    it.answer = answer;
    if (part === 1) tell(it, { status: 'ok', seconds: 7.2, tokens_in: 812, tokens_out: 240 });
  };
  const end = (over: Partial<PanelView>) => {
    Object.assign(panel, { state: 'done', seconds: 14.2, ...over });
    on.emit({ type: 'panel_ended', panel });
  };

  panel.reply = merged ? 'merged' : 'all';
  panel.at = new Date(Date.now() - 8100).toISOString();
  [panel.shape, panel.shape_by] = ['', ''];
  panel.seats.splice(3);
  on.emit({ type: 'panel_started', panel });
  const [first, second, third] = panel.seats as [SeatView, SeatView, SeatView];
  says(first, 0.7);
  if (stage === 'shaping') return panel;

  [panel.shape, panel.shape_by] = ['review', 'chosen by jury (0.91)'];
  on.emit({
    type: 'panel_shaped',
    panel: panel.id,
    shape: 'review',
    shape_by: panel.shape_by,
    skipped: panel.skipped,
  });
  const explorer = add(
    seat(panel.id, 'explorer', 'llama-small', {
      kind: 'explorer',
      why: 'longest without real work (12 days)',
    }),
  );
  tell(second, { status: 'error', error: LIMITED, seconds: 0.6 });
  const passed: FailedOverView = {
    seat: 'member2',
    call: second.call,
    from: 'glm-5',
    to: 'mistral-mid',
    why: LIMITED,
  };
  panel.failed_over.push(passed);
  on.emit({
    type: 'noticed',
    alert: {
      kind: 'failed_over',
      subject: panel.collection,
      message: 'glm-5 failed (429, 40 s) → mistral-mid took its seat in bench/reviewers',
      at: panel.at,
    },
  });
  on.emit({ type: 'seat_failed_over', panel: panel.id, failed_over: passed });
  const reserve = add(
    seat(panel.id, 'member2.r1', 'mistral-mid', {
      kind: 'reserve',
      why: 'best record on a free connection: 4 of 6 useful',
      stood_in_for: 'glm-5',
    }),
  );
  says(reserve, 0.4);
  if (stage === 'running') return panel;

  for (const it of [first, third, reserve]) {
    it.answer = '';
    says(it);
  }
  if (stage === 'late' || stage === 'came') {
    says(explorer, 0.5);
    tell(explorer, { status: 'late' });
    end({});
    if (stage === 'came') {
      explorer.answer = '';
      says(explorer);
    }
    return panel;
  }
  says(explorer);
  const merger = add(seat(panel.id, 'merger', 'kimi-k2', { kind: 'merger', why: 'the collection names it' }));
  if (stage === 'merging') says(merger, 0.5);
  if (stage === 'merged') {
    says(merger);
    end({});
  }
  if (stage === 'broken-off') {
    says(merger, 0.4);
    tell(merger, {
      status: 'error',
      error: 'The connection was closed before the answer ended.',
      seconds: 3.1,
    });
    end({ reply: 'all', note: `the merge broke off (kimi-k2: ${merger.error})` });
  }
  if (stage === 'not-merged') {
    tell(merger, { status: 'error', error: LIMITED, seconds: 0.4 });
    const next = add(seat(panel.id, 'merger.r1', 'qwen3-coder', { kind: 'merger', why: 'a member' }));
    tell(next, { status: 'error', error: 'The model is overloaded (529)', seconds: 0.8 });
    end({ reply: 'all', note: `not merged (kimi-k2: ${LIMITED}; qwen3-coder: ${next.error})` });
  }
  return panel;
}
