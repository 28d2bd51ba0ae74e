import { type Claims, findClaim } from './claims';
import { spansOf } from './find';

const canPaint = typeof CSS !== 'undefined' && 'highlights' in CSS;
const KINDS = ['real', 'false'] as const;
const painted = new Map<Element, { real: Range[]; false: Range[] }>();
const found = new Map<Element, Range[]>();

/**
 * Marks the claims in a rendered answer, by the CSS highlight API: the answer's elements are not touched, so
 * marking never fights with the text that is still coming. Where a web view has no highlights, the list of
 * claims under the answer says the same.
 */
export function paintClaims(answer: Element, claims: Claims): void {
  if (!canPaint) return;
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  const texts = nodes.map((n) => n.data);
  const ranges = (list: readonly string[]) =>
    list.flatMap((claim) => {
      const found = findClaim(texts, claim);
      const start = found && nodes[found.start.node];
      const end = found && nodes[found.end.node];
      if (!start || !end) return [];
      const range = document.createRange();
      range.setStart(start, found.start.offset);
      range.setEnd(end, found.end.offset);
      return [range];
    });
  painted.set(answer, { real: ranges(claims.real), false: ranges(claims.false) });
  show();
}

export function unpaintClaims(answer: Element): void {
  if (painted.delete(answer)) show();
}

/** Marks what was searched for, in the same way. */
export function paintWords(answer: Element, query: string): void {
  if (!canPaint || query === '') return;
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    for (const [from, to] of spansOf(node.data, query)) {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      ranges.push(range);
    }
  }
  found.set(answer, ranges);
  showFound();
}

export function unpaintWords(answer: Element): void {
  if (found.delete(answer)) showFound();
}

function showFound(): void {
  CSS.highlights.set('found', new Highlight(...[...found.values()].flat()));
}

function show(): void {
  if (!canPaint) return;
  for (const kind of KINDS) {
    CSS.highlights.set(`claim-${kind}`, new Highlight(...[...painted.values()].flatMap((p) => p[kind])));
  }
}
