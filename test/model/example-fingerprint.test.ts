import { expect, test } from 'vitest';
import { contentDigest, inputFingerprint } from '../../src/model/example-fingerprint.ts';
import type { JsonValue } from '../../src/model/json.ts';

const long = 'word '.repeat(60_000);

test.each<{ readonly name: string; readonly inputs: readonly [JsonValue, JsonValue]; readonly same: boolean }>([
  { name: 'case, space and punctuation', inputs: ['Where is my order?', ' where  is my ORDER '], same: true },
  { name: 'long numbers', inputs: ['Where is order 47110?', 'Where is order 815123?'], same: true },
  { name: 'UUIDs', inputs: ['a 0b9c0f8e-1c2d-4a3b-9c8d-7e6f5a4b3c2d', 'a 11111111-2222-3333-4444-555555555555'], same: true },
  { name: 'short numbers', inputs: ['2 tickets', '3 tickets'], same: false },
  { name: 'words', inputs: ['book a flight', 'book a hotel'], same: false },
  { name: 'signs with a meaning', inputs: ['2 + 2', '2 = 2'], same: false },
  { name: 'accents', inputs: ['peché', 'péché'], same: false },
  { name: 'two forms of one letter', inputs: ['caf\u00e9', 'cafe\u0301'], same: true },
  {
    name: 'the order of members',
    inputs: [
      { a: 1, b: 'X' },
      { b: 'x', a: 1 },
    ],
    same: true,
  },
  { name: 'values of other members', inputs: [{ a: 1 }, { b: 1 }], same: false },
  { name: 'texts that are both long', inputs: [long, `${long}.`], same: false },
  { name: 'numbers in JSON', inputs: [{ n: 12345 }, { n: 12346 }], same: false },
])('input fingerprint: $name are the same: $same', ({ inputs: [one, other], same }) => {
  expect(inputFingerprint(one) === inputFingerprint(other)).toBe(same);
});

test('content digest: origin does not count as content', () => {
  expect(contentDigest({ id: 'a', input: 'x', origin: { by: 'ann' } })).toBe(contentDigest({ id: 'a', input: 'x' }));
  expect(contentDigest({ id: 'a', input: 'x', tags: ['t'] })).not.toBe(contentDigest({ id: 'a', input: 'x' }));
});
