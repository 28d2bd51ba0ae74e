import { describe, expect, test } from 'vitest';
import { claimOf, findClaim, mark, MAX_CLAIM, MAX_CLAIMS, unmark } from '../src/text/claims';

test('a selection becomes one line of at most 400 characters', () => {
  expect(claimOf('  two\n places  here ')).toBe('two places here');
  expect(claimOf(' \n ')).toBe('');
  expect(claimOf('x'.repeat(500))).toHaveLength(MAX_CLAIM);
});

describe('finding a claim in the text nodes of an answer', () => {
  const nodes = ['In ', 'refresh()', ' the entry', '\n', 'survives.', '\n', 'It is ', 'old', '.'];
  /** The text between two spots. */
  const text = (claim: string) => {
    const found = findClaim(nodes, claim);
    if (!found) return null;
    return nodes
      .map((n, i) =>
        n.slice(
          i === found.start.node ? found.start.offset : 0,
          i === found.end.node ? found.end.offset : undefined,
        ),
      )
      .slice(found.start.node, found.end.node + 1)
      .join('');
  };

  test.each([
    ['refresh()', 'refresh()'],
    ['the entry', 'the entry'],
    ['In refresh() the', 'In refresh() the'],
    ['entry survives. It', 'entry\nsurvives.\nIt'],
    ['old.', 'old.'],
    ['nowhere', null],
    ['', null],
  ])('%j', (claim, found) => expect(text(claim)).toBe(found));

  test('a claim that was cut short is found by its beginning', () => {
    expect(text('In refresh() the ent…')).toBe('In refresh() the ent');
  });
});

describe('marks', () => {
  const none = { real: [], false: [] };
  test('marking, marking otherwise, taking off', () => {
    const real = mark(none, 'real', 'a');
    expect(real).toEqual({ real: ['a'], false: [] });
    expect(mark(real, 'real', 'a')).toEqual({ real: ['a'], false: [] });
    expect(mark(real, 'false', 'a')).toEqual({ real: [], false: ['a'] });
    expect(unmark(real, 'a')).toEqual(none);
    expect(mark(none, 'real', '')).toBe(none);
  });

  test('twenty of each kind at most', () => {
    const full = { real: Array.from({ length: MAX_CLAIMS }, (_, i) => `c${i}`), false: [] };
    expect(mark(full, 'real', 'one more')).toBe(full);
    expect(mark(full, 'false', 'c0').real).toHaveLength(MAX_CLAIMS - 1);
  });
});
