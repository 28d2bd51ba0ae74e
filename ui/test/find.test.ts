import { describe, expect, test } from 'vitest';
import { snippet, spansOf } from '../src/text/find';

/** The text with its hits in brackets. */
const marked = (text: string, query: string) =>
  spansOf(text, query).reduceRight(
    (out, [from, to]) => `${out.slice(0, from)}[${out.slice(from, to)}]${out.slice(to)}`,
    text,
  );

describe('what was searched for, in a text', () => {
  test.each([
    ['A stale cache', 'stale', 'A [stale] cache'],
    ['A stale cache', 'cach', 'A stale [cach]e'],
    ['A stale cache', 'sta cache', 'A stale [cache]'],
    ['STALE, stale; unstale', 'stale', '[STALE], [stale]; unstale'],
    ['Une réponse périmée', 'perim', 'Une réponse [périm]ée'],
    ['cafe\u0301s', 'café', '[cafe\u0301]s'],
    ['一致した', '一', '[一]致した'],
    ['a.b*c', 'b*', 'a.[b]*c'],
    ['nothing', '  ', 'nothing'],
    ['nothing', '***', 'nothing'],
  ])('%j for %j', (text, query, out) => expect(marked(text, query)).toBe(out));

  test('a snippet is around the first hit, and says where it is cut', () => {
    const text = `${'one two three '.repeat(20)}the stale\n\nvalue ${'four five six '.repeat(20)}`;
    const parts = snippet(text, 'stale')!;
    expect(parts.find((part) => part.hit)?.text).toBe('stale');
    const whole = parts.map((part) => part.text).join('');
    expect(whole.startsWith('…')).toBe(true);
    expect(whole.endsWith('…')).toBe(true);
    expect(whole).toContain('the stale value');
    expect(whole.length).toBeLessThan(100);
  });
  test('a short text is there whole', () =>
    expect(snippet('A stale cache', 'stale')).toEqual([
      { text: 'A ', hit: false },
      { text: 'stale', hit: true },
      { text: ' cache', hit: false },
    ]));
  test('no hit, no snippet', () => expect(snippet('A stale cache', 'fresh')).toBeNull());
});
