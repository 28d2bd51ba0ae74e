/** Most claims a verdict holds of each kind, and most characters a claim has (panel.md §9). */
export const MAX_CLAIMS = 20;
export const MAX_CLAIM = 400;
export const MAX_NOTE = 2000;

/** A selection as the words of a claim: one line, no more than is allowed. */
export function claimOf(selected: string): string {
  const words = selected.replace(/\s+/g, ' ').trim();
  return words.length <= MAX_CLAIM ? words : `${words.slice(0, MAX_CLAIM - 1).trimEnd()}…`;
}

/** A place in a list of strings: which, and how far in. */
export interface Spot {
  node: number;
  offset: number;
}

/**
 * Where a claim stands in an answer, given as its text nodes in order. White space counts for nothing: a
 * selection over two paragraphs has line ends that the text nodes have not. `null` when it is not there.
 */
export function findClaim(nodes: readonly string[], claim: string): { start: Spot; end: Spot } | null {
  const wanted = claim.replace(/…$/, '').replace(/\s+/g, '');
  if (wanted === '') return null;
  let text = '';
  const spots: Spot[] = [];
  nodes.forEach((value, node) => {
    for (let offset = 0; offset < value.length; offset++) {
      const unit = value[offset] ?? '';
      if (/\s/.test(unit)) continue;
      text += unit;
      spots.push({ node, offset });
    }
  });
  const at = text.indexOf(wanted);
  const start = spots[at];
  const last = spots[at + wanted.length - 1];
  if (at < 0 || !start || !last) return null;
  return { start, end: { node: last.node, offset: last.offset + 1 } };
}

/** The claims of a verdict, or of one that is being made. */
export interface Claims {
  real: readonly string[];
  false: readonly string[];
}

/** Marks a claim; the other mark, if it has it, is taken off. */
export function mark(claims: Claims, kind: 'real' | 'false', claim: string): Claims {
  const rest = unmark(claims, claim);
  if (claim === '' || rest[kind].length >= MAX_CLAIMS) return claims;
  return { ...rest, [kind]: [...rest[kind], claim] };
}

export function unmark(claims: Claims, claim: string): Claims {
  return { real: claims.real.filter((c) => c !== claim), false: claims.false.filter((c) => c !== claim) };
}
