// Facts in words.
import type { Facts, FactTold, FactView, Price } from '../../host/gen';
import { s } from '../../strings/en';
import { count, dollars } from '../../text/numbers';
import { wholeWithin, within } from '../../text/rules';

/** What a fact says; empty is unknown. */
export function factText(value: unknown): string {
  if (typeof value === 'boolean') return value ? s.sheet.yes : s.sheet.no;
  if (typeof value === 'number') return s.sheet.tokens(count(value));
  if (value === null || typeof value !== 'object') return '';
  const parts = Object.entries(value as Record<string, number>);
  return parts.map(([part, price]) => `${s.sheet.parts[part] ?? part} ${dollars(price)}`).join(', ');
}

/** Whose word holds, and of which day it is. */
export function factSource(fact: FactView): string {
  const told = fact.told.find((it) => it.source === fact.source);
  if (!told) return '';
  const source = s.sheet.sources[told.source];
  return told.at ? s.sheet.at(source, told.at.slice(0, 10)) : source;
}

/** The sources that say something else, in rising precedence. */
export function otherWords(fact: FactView): string[] {
  const other = (it: FactTold) => it.source !== fact.source && factText(it.value) !== factText(fact.value);
  return fact.told.filter(other).map((it) => s.sheet.says(s.sheet.sources[it.source], factText(it.value)));
}

/** How a fact is typed in. */
export type Shape = 'count' | 'truth' | 'price';

export function shapeOf(name: string): Shape {
  if (name === 'price') return 'price';
  return name === 'context_window' || name === 'max_output' ? 'count' : 'truth';
}

export const PRICE_PARTS = [
  'input',
  'output',
  'cache_read',
  'cache_write',
] as const satisfies (keyof Price)[];

/** A fact as it was typed, one text a part; `undefined` for what is none. */
export function factOf(name: string, typed: readonly string[]): number | boolean | Price | undefined {
  const first = typed[0] ?? '';
  switch (shapeOf(name)) {
    case 'count':
      return wholeWithin(first, 1, Number.MAX_SAFE_INTEGER) ?? undefined;
    case 'truth':
      return first === 'true' ? true : first === 'false' ? false : undefined;
    case 'price': {
      const price: Price = {};
      for (const [i, part] of PRICE_PARTS.entries()) {
        const text = typed[i]?.trim() ?? '';
        if (text === '') continue;
        const value = within(text, 0, 1_000_000);
        if (value === null) return undefined;
        price[part] = value;
      }
      return Object.keys(price).length > 0 ? price : undefined;
    }
  }
}

/** What stands in the fields before anything is typed: one text a part. */
export function typedFact(name: string, value: unknown): string[] {
  if (shapeOf(name) !== 'price') return [value === null || value === undefined ? '' : String(value)];
  const price = (value ?? {}) as Price;
  return PRICE_PARTS.map((part) => price[part]?.toString() ?? '');
}

/** The owner's facts with one in place of what it was; without a value it is theirs no more. */
export function overridden(facts: Facts, name: string, value: unknown): Facts {
  const { [name as keyof Facts]: _, ...rest } = facts;
  return value === undefined ? rest : { ...rest, [name]: value };
}

/** Options as they were typed, or what is wrong with them. */
export function optionsOf(text: string): { options: Record<string, unknown> | null; wrong: string } {
  try {
    const read: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof read !== 'object' || read === null || Array.isArray(read))
      return { options: null, wrong: s.models.notObject };
    return { options: read as Record<string, unknown>, wrong: '' };
  } catch (e) {
    return { options: null, wrong: s.models.notJson(e instanceof Error ? e.message : String(e)) };
  }
}
