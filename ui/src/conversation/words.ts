import type { CandidateView, ConversationView } from '../host/gen';
import { s } from '../strings/en';
import { dollars, short } from '../text/numbers';

/** What a conversation has taken so far, each with its unit; what is not known is said to be. */
export function totals(it: ConversationView): string[] {
  return [
    s.route.turns(it.turns),
    s.route.toolCalls(it.tool_calls),
    tokens(it.tokens_in, it.tokens_out),
    cost(it.cost, it.cost_unknown),
  ];
}

export function tokens(read: number | null, written: number | null): string {
  if (read === null && written === null) return s.route.tokensUnknown;
  return s.route.tokens(amount(read), amount(written));
}

/** Of turns whose cost is known, and how many are not. */
export function cost(known: number | null, unknown: number): string {
  if (known === null) return s.route.costUnknown;
  return unknown > 0 ? s.route.costPartly(dollars(known), unknown) : dollars(known);
}

/** A candidate's useful verdicts; `n` stands beside the rate. */
export function rate(useful: number, judged: number): string {
  if (judged === 0) return s.route.noEvidence;
  return s.route.rate(Math.round((100 * useful) / judged), judged);
}

export function shapeRate(it: CandidateView): string {
  return rate(it.useful, it.judged);
}

export function overallRate(it: CandidateView): string {
  return rate(it.useful_overall, it.judged_overall);
}

/** What state it is in, in a word for its dot and in words. */
export function stateOf(it: ConversationView): {
  tone: 'running' | 'done' | 'failed' | 'stopped';
  words: string;
} {
  if (it.running) return { tone: 'running', words: s.route.state.running };
  const words = it.status === 'running' ? s.route.state.ok : s.route.state[it.status];
  if (it.status === 'error' || it.status === 'empty') return { tone: 'failed', words };
  return { tone: it.status === 'cancelled' ? 'stopped' : 'done', words };
}

function amount(value: number | null): string {
  return value === null ? s.route.unknown : short(value);
}
