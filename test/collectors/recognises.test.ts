/** The signs by which a collector knows the spans of its dialect. */
import { expect, test } from 'vitest';
import { recognises, type Collector, type Recognition } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import type { Span } from '../../src/model/span.ts';
import { span, type SpanData } from '../builders/spans.ts';

function by(recognisedBy: Recognition): Collector {
  return { id: 'x', summary: 's', recognisedBy, wants: { keys: [], prefixes: [] }, read: () => ({}) };
}

const of = (data: Omit<SpanData, 'id'>): Span => span({ id: 1, name: 'n', scope: 's', ...data });
const prefixed = { keyPrefixes: ['acme.ai.', 'acme_ai.'] };

const cases: readonly { readonly name: string; readonly recognisedBy: Recognition; readonly span: Span; readonly known: boolean }[] = [
  { name: 'a key that begins with a prefix', recognisedBy: prefixed, span: of({ attributes: { 'acme.ai.model': 'm' } }), known: true },
  {
    name: 'a key that begins with the second prefix, behind keys of others',
    recognisedBy: prefixed,
    span: of({ attributes: { 'http.route': '/', 'acme_ai.model': 'm', 'http.method': 'GET' } }),
    known: true,
  },
  { name: 'a key that is the prefix', recognisedBy: prefixed, span: of({ attributes: { 'acme.ai.': 'm' } }), known: true },
  { name: 'a key that ends with a prefix', recognisedBy: prefixed, span: of({ attributes: { 'x.acme.ai.': 'm' } }), known: false },
  { name: 'a key that holds a prefix inside', recognisedBy: prefixed, span: of({ attributes: { 'my.acme.ai.model': 'm' } }), known: false },
  { name: 'a key that is shorter than the prefix', recognisedBy: prefixed, span: of({ attributes: { 'acme.ai': 'm' } }), known: false },
  { name: 'a key in other letters', recognisedBy: prefixed, span: of({ attributes: { 'ACME.ai.model': 'm' } }), known: false },
  { name: 'no keys', recognisedBy: prefixed, span: of({}), known: false },
  {
    name: 'a prefix as the name of the span and of the scope',
    recognisedBy: prefixed,
    span: of({ name: 'acme.ai.run', scope: 'acme.ai.sdk' }),
    known: false,
  },
  {
    name: 'a prefix, and a key that takes it back',
    recognisedBy: { ...prefixed, notKeys: ['other', 'acme.ai.not'] },
    span: of({ attributes: { 'acme.ai.model': 'm', 'acme.ai.not': false } }),
    known: false,
  },
  {
    name: 'a prefix, without the key that takes it back',
    recognisedBy: { ...prefixed, notKeys: ['other'] },
    span: of({ attributes: { 'acme.ai.model': 'm' } }),
    known: true,
  },
  {
    name: 'a prefix where another sign is missing',
    recognisedBy: { ...prefixed, scopes: ['acme'], scopePrefixes: ['acme.'], keys: ['acme'], namePrefixes: ['acme '] },
    span: of({ attributes: { 'acme.ai.model': 'm' } }),
    known: true,
  },
  { name: 'a scope', recognisedBy: { scopes: ['acme'] }, span: of({ scope: 'acme' }), known: true },
  { name: 'a longer scope', recognisedBy: { scopes: ['acme'] }, span: of({ scope: 'acme.x' }), known: false },
  { name: 'a prefix of the scope', recognisedBy: { scopePrefixes: ['acme.'] }, span: of({ scope: 'acme.x' }), known: true },
  { name: 'an end of the scope', recognisedBy: { scopePrefixes: ['acme.'] }, span: of({ scope: 'x.acme.' }), known: false },
  { name: 'a prefix of the name', recognisedBy: { namePrefixes: ['acme '] }, span: of({ name: 'acme run' }), known: true },
  { name: 'an end of the name', recognisedBy: { namePrefixes: ['acme '] }, span: of({ name: 'run acme ' }), known: false },
  { name: 'a key with any value', recognisedBy: { keys: ['a', 'acme'] }, span: of({ attributes: { acme: '' } }), known: true },
  { name: 'a longer key', recognisedBy: { keys: ['acme'] }, span: of({ attributes: { 'acme.x': '' } }), known: false },
  { name: 'nothing at all', recognisedBy: {}, span: of({ attributes: { a: 1 } }), known: false },
];

for (const { name, recognisedBy, span: one, known } of cases) {
  test(`recognises: ${name} ${known ? 'is a sign' : 'is none'}`, () => {
    expect(recognises(by(recognisedBy), one)).toBe(known);
  });
}

test('recognises: every prefix of keys in the table makes spans known that have one such key and no other sign', () => {
  const prefixes = collectors.flatMap((collector) => (collector.recognisedBy.keyPrefixes ?? []).map((prefix) => ({ collector, prefix })));
  expect(prefixes.map(({ prefix }) => prefix)).toContain('gen_ai.');
  for (const { collector, prefix } of prefixes) {
    expect([
      prefix,
      recognises(collector, of({ attributes: { [`${prefix}whatever`]: 'v' } })),
      recognises(collector, of({ attributes: { [`my.${prefix}whatever`]: 'v' } })),
    ]).toEqual([prefix, true, false]);
  }
});
