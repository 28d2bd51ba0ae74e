import { describe, expect, test } from 'vitest';
import { curl } from '../src/pages/collections/curl';
import { check, draftOf, moved, toSave } from '../src/pages/collections/draft';
import { matches } from '../src/pages/endpoints/choice';
import { letter, shuffled } from '../src/pages/verdicts/blind';
import { format, parse } from '../src/state/route';
import { seconds } from '../src/text/numbers';
import { isHttpUrl, tagsOf, wholeWithin } from '../src/text/rules';

const good = { ...draftOf(null), name: 'core', members: ['alpha'] };

describe('a collection (panel.md §1)', () => {
  test.each([
    ['ok', {}, []],
    ['one character', { name: 'c' }, ['name']],
    ['33 characters', { name: 'c'.repeat(33) }, ['name']],
    ['32 characters', { name: 'c'.repeat(32) }, []],
    ['upper case', { name: 'Core' }, ['name']],
    ['a hyphen first', { name: '-core' }, ['name']],
    ['a name that is taken', { name: 'other' }, ['name']],
    ['its own name', { name: 'mine' }, []],
    ['300 characters that are two units each', { description: '😀'.repeat(300) }, []],
    ['301 characters', { description: 'x'.repeat(301) }, ['description']],
    ['eight tags', { tags: 'a,b,c,d,e,f,g,h' }, []],
    ['nine tags', { tags: 'a,b,c,d,e,f,g,h,i' }, ['tags']],
    ['a tag of 25', { tags: 'x'.repeat(25) }, ['tags']],
    ['no members', { members: [] }, ['members']],
    ['more members than seats', { members: ['a', 'b', 'c'] }, ['members']],
  ])('%s', (_, over, fields) => {
    expect(Object.keys(check({ ...good, ...over }, 'mine', ['other', 'mine'], 2))).toEqual(fields);
  });

  test('what is sent', () => {
    expect(toSave({ ...good, tags: ' a , b ,, a', description: ' x ' }, null)).toMatchObject({
      was: null,
      name: 'core',
      tags: ['a', 'b'],
      description: 'x',
    });
  });

  test.each([
    ['b', -1, 'bac'],
    ['b', 1, 'acb'],
    ['a', -1, 'abc'],
    ['c', 1, 'abc'],
    ['x', 1, 'abc'],
  ] as const)('moving %s by %s gives %s', (item, by, order) => {
    expect(moved(['a', 'b', 'c'], item, by).join('')).toBe(order);
  });

  test('the curl line is one a shell can run', () => {
    expect(curl('http://127.0.0.1:8123/v1', 'core')).toBe(
      `curl http://127.0.0.1:8123/v1/chat/completions -H 'content-type: application/json' -d '{"model":"bench/core","messages":[{"role":"user","content":"Say hello"}]}'`,
    );
    expect(curl('http://127.0.0.1:8123/v1', 'core', 'your-key')).toContain(
      `/chat/completions -H 'authorization: Bearer your-key' -H 'content-type`,
    );
  });
});

describe('small things', () => {
  test.each([
    ['#/live', { page: 'live', item: null }],
    ['#/live/p1', { page: 'live', item: 'p1' }],
    ['#/endpoints/%2B', { page: 'endpoints', item: '+' }],
    ['#/endpoints/%', { page: 'endpoints', item: null }],
    ['#/scores', null],
    ['', null],
  ])('the route %j', (hash, route) => {
    expect(parse(hash)).toEqual(route);
  });

  test('a route survives being written', () => {
    const route = { page: 'collections', item: 'a/b +' } as const;
    expect(parse(format(route))).toEqual(route);
  });

  test.each([
    [0, '0.0 s'],
    [-1, '0.0 s'],
    [8.14, '8.1 s'],
    [99.94, '99.9 s'],
    [99.96, '1 min 40 s'],
    [124, '2 min 04 s'],
  ])('%s seconds are %j', (value, words) => expect(seconds(value)).toBe(words));

  test.each([
    ['5', 5],
    [' 7 ', 7],
    ['0', null],
    ['11', null],
    ['2.5', null],
    ['', null],
    ['x', null],
  ])('%j within 1 and 10 is %s', (text, n) => expect(wholeWithin(text, 1, 10)).toBe(n));

  test.each([
    ['https://a.example/v1', true],
    ['http://127.0.0.1:1', true],
    ['ftp://a.example', false],
    ['a.example', false],
    ['', false],
  ])('%j is an http address: %s', (text, is) => expect(isHttpUrl(text)).toBe(is));

  test('tags', () => expect(tagsOf('a, b,,a ')).toEqual(['a', 'b']));
  test('search takes words in any order', () => {
    expect(matches('vendor/Model-1 groq', 'GROQ model')).toBe(true);
    expect(matches('vendor/model-1', 'groq')).toBe(false);
  });
});

describe('judging blind', () => {
  const calls = ['p1.member1', 'p1.member2', 'p1.member3', 'p1.member4'];
  test('the order stays put for a window and differs between windows', () => {
    const orders = Array.from({ length: 40 }, (_, salt) => shuffled(calls, (c) => c, salt));
    expect(shuffled(calls, (c) => c, 7)).toEqual(orders[7]);
    for (const order of orders) expect([...order].sort()).toEqual(calls);
    // Every seat gets to be first now and then.
    expect(new Set(orders.map((o) => o[0])).size).toBe(4);
  });
  test('letters', () => expect([0, 25, 26, 27].map(letter)).toEqual(['A', 'Z', 'AA', 'AB']));
});
