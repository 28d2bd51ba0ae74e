// Facts in words.
import type { FactTold, FactView } from '../../host/gen';
import { s } from '../../strings/en';
import { count, dollars } from '../../text/numbers';

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
