// Dollars in words, where what is not known stays unknown.
import type { BudgetView, SpendBy, SpendRow } from '../../host/gen';
import { s } from '../../strings/en';
import { count, dollars, when } from '../../text/numbers';

/** A caller without a gateway key. */
const LOCAL = 'local';

export const BYS: readonly SpendBy[] = ['model', 'collection', 'endpoint', 'purpose', 'caller'];

/** `$0.42`, `$0.42 and 3 unknown`, `unknown`. */
export function costText(cost: number, unknown: number, calls: number): string {
  if (calls > 0 && unknown >= calls) return s.spend.unknown;
  return unknown > 0 ? s.spend.partly(dollars(cost), unknown) : dollars(cost);
}

/** What a row is of, in words. */
export function keyText(by: SpendBy, key: string): string {
  if (by === 'purpose') return s.spend.purposes[key] ?? key;
  if (by === 'caller' && key === LOCAL) return s.spend.noKey;
  if (key === '') return s.spend.noCollection;
  return by === 'collection' ? `bench/${key}` : key;
}

export type Total = Omit<SpendRow, 'key' | 'cost_per_useful'> & { cost_per_useful: number | null };

export function together(rows: readonly SpendRow[]): Total {
  const sum = (of: (row: SpendRow) => number) => rows.reduce((n, row) => n + of(row), 0);
  const [cost, useful] = [sum((it) => it.cost), sum((it) => it.useful)];
  return {
    calls: sum((it) => it.calls),
    tokens_fresh: sum((it) => it.tokens_fresh),
    tokens_out: sum((it) => it.tokens_out),
    tokens_reasoning: sum((it) => it.tokens_reasoning),
    cache_read: sum((it) => it.cache_read),
    cache_write: sum((it) => it.cache_write),
    tokens_unknown: sum((it) => it.tokens_unknown),
    cost,
    cost_unknown: sum((it) => it.cost_unknown),
    useful,
    // Of what is not known nothing can be said: a row that has none says why.
    cost_per_useful:
      rows.some((it) => it.useful > 0 && it.cost_per_useful === null) || useful === 0 ? null : cost / useful,
  };
}

/** What is spent of a budget, whosever it is. */
export type Spending = Omit<BudgetView, 'collection'>;

/** A bar for each thing that a budget bounds. */
export function budgetBars(it: Spending): { label: string; text: string; share: number }[] {
  const per = s.spend.period[it.budget.per];
  const bars = [];
  if (it.budget.dollars !== undefined) {
    const text = s.spend.spent(dollars(it.dollars), dollars(it.budget.dollars), per);
    bars.push({ label: s.spend.dollars, text, share: it.dollars / it.budget.dollars });
  }
  if (it.budget.tokens !== undefined) {
    const text = s.spend.spentTokens(count(it.tokens), count(it.budget.tokens), per);
    bars.push({ label: s.spend.tokens, text, share: it.tokens / it.budget.tokens });
  }
  return bars;
}

/** When it begins anew, what it does not count, and whether nothing is left. */
export function budgetNotes(it: Spending): string {
  return [
    s.spend.resets(when(it.resets_at)),
    it.budget.dollars !== undefined && it.cost_unknown > 0 ? s.spend.uncounted(it.cost_unknown) : '',
    it.is_spent ? s.spend.isSpent : '',
  ]
    .filter(Boolean)
    .join(', ');
}
