/** Reading with the help of earlier requests gives the same as without. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Repeats } from '../../../collectors/collector.ts';
import { flattened } from '../../../collectors/parsing/flattened.ts';
import { noRepeats, repeats } from '../../../collectors/parsing/repeats.ts';
import { isJsonArray, isJsonObject, jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span, type Attributes } from '../../builders/spans.ts';

const list = flattened('m.');

/** A conversation and its continuation: repeated, with more behind it, with less, or another one. */
type Step =
  | { readonly kind: 'more' | 'other'; readonly messages: readonly JsonObject[] }
  | { readonly kind: 'less' }
  | { readonly kind: 'again' };

const text = fc.oneof(fc.constantFrom('', ']', '[', '},{', '"', '\\', 'ä', '…', ','), fc.string({ maxLength: 12 }));
const message: fc.Arbitrary<JsonObject> = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'tool', 'system'),
    content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 })),
  },
  { requiredKeys: ['role'] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('more' as const), messages: fc.array(message, { minLength: 1, maxLength: 3 }) }) },
  fc.record({ kind: fc.constant('other' as const), messages: fc.array(message, { maxLength: 3 }) }),
  fc.constant({ kind: 'less' as const }),
  fc.constant({ kind: 'again' as const }),
);

/** Requests of two agents by turns. */
const requests: fc.Arbitrary<readonly (readonly JsonObject[])[]> = fc.array(fc.tuple(fc.nat(1), step), { maxLength: 14 }).map((steps) => {
  const now: (readonly JsonObject[])[] = [[], []];
  return steps.map(([agent, one]) => {
    const before = now[agent] ?? [];
    const next =
      one.kind === 'more'
        ? [...before, ...one.messages]
        : one.kind === 'other'
          ? one.messages
          : one.kind === 'less'
            ? before.slice(0, -1)
            : before;
    now[agent] = next;
    return next;
  });
});

interface Form {
  readonly name: string;
  readonly attributes: (messages: readonly JsonObject[]) => Attributes;
  readonly read: (from: Span, how: Repeats) => JsonValue;
}

const forms: readonly Form[] = [
  {
    name: 'a JSON text',
    attributes: (messages) => ({ c: jsonText([...messages]) }),
    read: (from, how) => plain(how.conversation(from, 'c', 'user')),
  },
  {
    name: 'a JSON text with spaces',
    attributes: (messages) => ({ c: JSON.stringify(messages, null, 1) }),
    read: (from, how) => plain(how.conversation(from, 'c', 'user')),
  },
  {
    name: 'a JSON text of pairs',
    attributes: (messages) => ({
      c: jsonText(messages.map(({ role, content }) => [role ?? '', typeof content === 'string' ? content : ''])),
    }),
    read: (from, how) => plain(how.conversation(from, 'c', 'user')),
  },
  {
    name: 'a text that is not JSON',
    attributes: (messages) => ({ c: messages.map(({ content }) => (typeof content === 'string' ? content : '')).join(',') }),
    read: (from, how) => plain(how.conversation(from, 'c', 'user')),
  },
  { name: 'attributes', attributes: flat, read: (from, how) => plain(how.items(from, list, (item) => [item])) },
  {
    name: 'attributes between others',
    attributes: (messages) => ({ a: 1, ...flat(messages), z: 'z' }),
    read: (from, how) => plain(how.items(from, list, (item) => [item])),
  },
  {
    name: 'attributes that do not lie together',
    attributes: (messages) => Object.fromEntries(Object.entries(flat(messages)).reverse()),
    read: (from, how) => plain(how.items(from, list, (item) => [item])),
  },
  {
    name: 'a value',
    attributes: (messages) => ({ v: jsonText([...messages]) }),
    read: (from, how) => how.value(from, 'v', () => plain(from.attribute('v') ?? null)),
  },
];

describe('repeats', () => {
  for (const { name, attributes, read } of forms) {
    test(`repeats: ${name}: the result is the same as without them`, () => {
      fc.assert(
        fc.property(requests, fc.constantFrom('protobuf' as const, 'json' as const), (conversations, encoding) => {
          const spans = readTraces(
            writeTraces(
              conversations.map((messages, at) => span({ id: at + 1, attributes: attributes(messages) })),
              encoding,
            ),
            encoding,
          ).spans;
          const how = repeats();
          expect(spans.map((one) => read(one, how))).toEqual(spans.map((one) => read(one, noRepeats)));
        }),
        { numRuns: propertyRuns({ short: 60, long: 400 }) },
      );
    });
  }

  test('repeats: earlier messages are not read again', () => {
    const messages: readonly JsonObject[] = Array.from({ length: 6 }, (_, at) => ({ role: 'user', content: `message ${at}` }));
    const spans = readTraces(
      writeTraces(
        [2, 4, 6].map((count) => span({ id: count, attributes: flat(messages.slice(0, count)) })),
        'protobuf',
      ),
      'protobuf',
    ).spans;
    const how = repeats();
    let items = 0;
    for (const one of spans) how.items(one, list, () => [items++]);
    expect(items).toBe(6);
  });

  test('repeats: a text is read once by each function, and anew when a trace has too many', () => {
    const how = repeats();
    const told: string[] = [];
    const length = (one: string): number => told.push(`length of ${one}`);
    const last = (one: string): number => told.push(`last of ${one}`);
    for (const one of ['a', 'b', 'a', 'b']) {
      how.text(one, length);
      how.text(one, last);
    }
    expect(told).toEqual(['length of a', 'last of a', 'length of b', 'last of b']);
    const parse = (one: string): { readonly text: string } => ({ text: one });
    const first = how.text('0', parse);
    expect(how.text('0', parse)).toBe(first);
    for (let at = 1; at <= 1_000; at++) how.text(String(at), parse);
    expect(how.text('0', parse)).not.toBe(first);
    expect(how.text('0', parse)).toEqual(first);
  });
});

function flat(messages: readonly JsonObject[]): Attributes {
  const found: { [key: string]: JsonValue } = {};
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== undefined) found[`m.${at}.role`] = role;
    if (isJsonArray(content))
      for (const [nth, part] of content.entries()) found[`m.${at}.parts.${nth}.text`] = isJsonObject(part) ? (part['text'] ?? null) : null;
    else if (content !== undefined) found[`m.${at}.content`] = content;
  }
  return found;
}

function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
