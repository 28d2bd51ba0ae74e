// What the gateway will refuse, said before it is asked (panel.md §1, providers.md §1).

export const COLLECTION_NAME = /^[a-z0-9][a-z0-9-]{1,31}$/;
/** An endpoint's, and a gateway key's. */
export const ENDPOINT_NAME = /^[a-z0-9][a-z0-9-]{0,30}[a-z0-9]$/;
export const MAX_DESCRIPTION = 300;
export const MAX_TAGS = 8;
export const MAX_TAG = 24;
export const SHAPES = [
  'general',
  'design',
  'prose',
  'review',
  'code',
  'enumeration',
  'quick',
  'vision',
  'image',
] as const;

/** Characters as a person counts them in Rust and here alike: code points. */
export function length(text: string): number {
  return [...text].length;
}

/** `a, b,,b` → `a`, `b` */
export function tagsOf(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((t) => t.trim())
        .filter(Boolean),
    ),
  ];
}

/** A name that can stand in a host: `my-lab`. */
export const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A preset's base with the owner's name for it where it has a place for one. */
export function baseWith(base: string, resource: string): string {
  return base.replace('{resource}', resource.trim());
}

export function isHttpUrl(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** A whole number within bounds, or `null`. */
export function wholeWithin(text: string | number, from: number, to: number): number | null {
  const n = typeof text === 'number' ? text : text.trim() === '' ? NaN : Number(text);
  return Number.isInteger(n) && n >= from && n <= to ? n : null;
}

/** A number within bounds, or `null`. */
export function within(text: string, from: number, to: number): number | null {
  const n = text.trim() === '' ? NaN : Number(text);
  return n >= from && n <= to ? n : null;
}
