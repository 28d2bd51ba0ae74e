/** A stretch of a text: from, and up to. */
export type Span = readonly [number, number];

const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Where the words of a query stand in a text, as the gateway finds them: whole words without regard to case and
 * accents, the last as the beginning of one.
 */
export function spansOf(text: string, query: string): Span[] {
  const wanted = (query.match(WORD) ?? []).map(fold);
  const last = wanted.pop();
  if (last === undefined) return [];
  const whole = new Set(wanted);
  const spans: Span[] = [];
  for (const match of text.matchAll(WORD)) {
    const word = fold(match[0]);
    const at = match.index;
    if (whole.has(word)) spans.push([at, at + match[0].length]);
    else if (word.startsWith(last)) spans.push([at, at + prefix(match[0], last)]);
  }
  return spans;
}

/** A piece of a text around the first hit, in parts: plain, marked, plain… `null` when there is none. */
export function snippet(text: string, query: string, room = 90): { text: string; hit: boolean }[] | null {
  const line = text.replace(/\s+/g, ' ').trim();
  const first = spansOf(line, query)[0];
  if (!first) return null;
  const from = first[0] <= room / 3 ? 0 : line.indexOf(' ', first[0] - room / 3) + 1 || first[0];
  const start = Math.min(from, first[0]);
  const cut = line.slice(start, start + room);
  const parts: { text: string; hit: boolean }[] = [];
  let at = 0;
  for (const [begin, end] of spansOf(cut, query)) {
    if (begin > at) parts.push({ text: cut.slice(at, begin), hit: false });
    parts.push({ text: cut.slice(begin, end), hit: true });
    at = end;
  }
  parts.push({ text: cut.slice(at) + (start + room < line.length ? '…' : ''), hit: false });
  if (start > 0) parts.unshift({ text: '…', hit: false });
  return parts.filter((part) => part.text !== '');
}

function fold(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** How much of `word` folds to `folded`. */
function prefix(word: string, folded: string): number {
  for (let n = 1; n < word.length; n++) {
    if (fold(word.slice(0, n)).length >= folded.length && !/^\p{M}/u.test(word.slice(n))) return n;
  }
  return word.length;
}
