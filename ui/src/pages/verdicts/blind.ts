/**
 * The same list in an order that says nothing about it: by a hash of each item's id and a salt of this window,
 * so that it stays put while it is looked at.
 */
export function shuffled<T>(items: readonly T[], id: (item: T) => string, salt: number): T[] {
  return items
    .map((item) => ({ item, at: hash(`${salt} ${id(item)}`) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** 0 → A, 25 → Z, 26 → AA. */
export function letter(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? letter(rest - 1) : '') + String.fromCharCode(65 + (index % 26));
}

/** FNV-1a, 32 bits, with a last mixing: ids differ only in their last letter. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
