// The table of models: what a row says, how rows are filtered and sorted.
import type { Facts, ModelRecord, ModelState, ModelView, SpendRow } from '../../host/gen';
import { s } from '../../strings/en';
import { dollars, short } from '../../text/numbers';
import { matches } from '../endpoints/choice';

export interface Row {
  model: ModelView;
  state: ModelState;
  /** Why it is not ready. */
  why: string;
  until: string | null;
  record: ModelRecord | null;
  spend: SpendRow | null;
}

export type Sort = 'alias' | 'state' | 'work' | 'useful' | 'time' | 'perUseful';

export interface Wanted {
  query: string;
  endpoint: string;
  state: '' | ModelState;
}

export function rowsOf(
  models: readonly ModelView[],
  records: ReadonlyMap<string, ModelRecord>,
  spent: ReadonlyMap<string, SpendRow>,
): Row[] {
  return models.map((model) => {
    const record = records.get(model.alias) ?? null;
    // Before the records have come, what the set-up says.
    const state = record?.state ?? (model.retired ? 'retired' : 'ready');
    return {
      model,
      state,
      why: record?.why ?? model.retired?.why ?? '',
      until: record?.until ?? null,
      record,
      spend: spent.get(model.alias) ?? null,
    };
  });
}

export function wanted(row: Row, by: Wanted): boolean {
  const { model } = row;
  return (
    (by.endpoint === '' || model.endpoint === by.endpoint) &&
    (by.state === '' || row.state === by.state) &&
    matches(`${model.alias} ${model.served} ${model.endpoint} ${model.role}`, by.query.trim())
  );
}

const STATES: readonly ModelState[] = ['ready', 'resting', 'over_limit', 'out', 'retired'];

/** What a row is sorted by; `null` comes last, whichever way round. */
function key(row: Row, by: Sort): string | number | null {
  switch (by) {
    case 'alias':
      return row.model.alias;
    case 'state':
      return STATES.indexOf(row.state);
    case 'work':
      return row.record?.offloads ?? null;
    case 'useful':
      return row.record?.judged ? row.record.useful / row.record.judged : null;
    case 'time':
      return row.record?.seconds ?? null;
    case 'perUseful':
      return row.spend?.cost_per_useful ?? null;
  }
}

export function sorted(rows: readonly Row[], by: Sort, down: boolean): Row[] {
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a, by), key(b, by)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || byAlias(a, b);
    const order = typeof x === 'string' ? x.localeCompare(String(y)) : x - Number(y);
    return (down ? -order : order) || byAlias(a, b);
  });
}

function byAlias(a: Row, b: Row): number {
  return a.model.alias.localeCompare(b.model.alias);
}

/** `131K`, `tools`, `images`, `$0.60 in, $2.50 out` */
export function factChips(facts: Facts): string[] {
  const chips: string[] = [];
  if (facts.context_window) chips.push(short(facts.context_window));
  if (facts.tools) chips.push(s.models.tools);
  if (facts.vision) chips.push(s.models.images);
  if (facts.reasoning) chips.push(s.models.reasoning);
  const { input, output } = facts.price ?? {};
  if (input === 0 && output === 0) chips.push(s.models.free);
  else if (input !== undefined && output !== undefined)
    chips.push(s.models.price(price(input), price(output)));
  return chips;
}

/** Prices are a few dollars, or cents: two places, more where they are needed. */
function price(value: number): string {
  return value === 0 || value >= 0.01 ? `$${value.toFixed(2)}` : dollars(value);
}
