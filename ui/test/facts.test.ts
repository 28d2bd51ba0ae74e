import { expect, test } from 'vitest';
import type { FactView } from '../src/host/gen';
import { factSource, factText, otherWords } from '../src/pages/models/facts';

const fact: FactView = {
  name: 'context_window',
  value: 8192,
  source: 'learned',
  told: [
    { source: 'snapshot', value: 128000, at: '2026-08-18' },
    { source: 'listing', value: 8192, at: '2026-11-29T10:00:00.000Z' },
    { source: 'learned', value: 8192, at: '2026-11-30T10:00:00.000Z' },
  ],
};

test('facts in words', () => {
  expect(factText(8192)).toBe('8,192 tokens');
  expect(factText(true)).toBe('yes');
  expect(factText(null)).toBe('');
  expect(factText({ input: 0.5, output: 0 })).toBe('input $0.50, output $0');
});

test('who says so, and who says otherwise', () => {
  expect(factSource(fact)).toBe('Learned from calls, 2026-11-30');
  expect(otherWords(fact)).toEqual(['Shipped catalog: 128,000 tokens']);
  const unknown: FactView = { name: 'pdf', value: null, source: null, told: [] };
  expect(factSource(unknown)).toBe('');
});
