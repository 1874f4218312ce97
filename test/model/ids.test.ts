import { expect, test } from 'vitest';
import { derivedSpanId, derivedTraceId, parseSpanId, parseTraceId } from '../../src/model/ids.ts';

test('ids that depend on a text are digits of its SHA-256, in every release', () => {
  // printf a | sha256sum: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
  expect(derivedTraceId('a')).toBe('ca978112ca1bbdcafac231b39a23dc4d');
  expect(derivedSpanId('a')).toBe('ca978112ca1bbdca');
  expect(derivedSpanId('a', 32)).toBe('a786eff8147c4e72');
});

test.for([
  { text: 'CA978112CA1BBDCAFAC231B39A23DC4D', trace: 'ca978112ca1bbdcafac231b39a23dc4d', span: undefined },
  { text: 'ca978112ca1bbdcA', trace: undefined, span: 'ca978112ca1bbdca' },
  { text: '0'.repeat(32), trace: undefined, span: undefined },
  { text: '0'.repeat(16), trace: undefined, span: undefined },
  { text: 'ca978112ca1bbdcg', trace: undefined, span: undefined },
  { text: '', trace: undefined, span: undefined },
])('"$text" is an id only with all its digits, one of them not zero', ({ text, trace, span }) => {
  expect([parseTraceId(text), parseSpanId(text)]).toEqual([trace, span]);
});
