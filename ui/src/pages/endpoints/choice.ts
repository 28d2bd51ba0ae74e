import type { ListedModel } from '../../host/gen';

/** Models picked from a listing: what is served, and the alias it gets. */
export type Chosen = ReadonlyMap<string, string>;

/** The first few of a listing, as a start for somebody who does not care yet. */
export function firstFew(models: readonly ListedModel[], n: number): Chosen {
  return new Map(models.slice(0, n).map((m) => [m.served, m.registered ?? m.alias]));
}

export function matches(text: string, query: string): boolean {
  const have = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => have.includes(word));
}
