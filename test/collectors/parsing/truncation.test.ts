/** Texts that count as cut short, and texts that only look like it. */
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsCutContainer, isCutContainer, isCutShort } from '../../../collectors/parsing/truncation.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span } from '../../builders/spans.ts';
import { contentsOf, recordingsIn } from '../../recordings/read.ts';

const long = JSON.stringify({
  items: Array.from({ length: 9_000 }, (_, at) => ({ id: at, name: `item "${at}" {of} [many]`, ok: at % 2 === 0 })),
});
const python = `{'items': [${Array.from({ length: 3_000 }, (_, at) => `{'id': ${at}, 'name': 'it is "${at}"', 'ok': True}`).join(', ')}]}`;

const limits = [
  128, 250, 255, 256, 500, 1000, 1024, 2000, 2048, 4000, 4095, 4096, 5000, 8192, 10_000, 12_000, 16_384, 20_000, 32_767, 65_535, 65_536,
  100_000,
];

const cut: readonly { readonly name: string; readonly text: string }[] = [
  ...limits.map((limit) => ({ name: `JSON that breaks off after ${limit} characters`, text: long.slice(0, limit) })),
  { name: 'JSON that breaks off where no usual limit lies', text: long.slice(0, 1_111) },
  { name: 'a value in Python notation that breaks off', text: python.slice(0, 4_096) },
  { name: 'a list that breaks off behind a comma', text: `[${'1,'.repeat(99)}1234567,`.padEnd(250, '1') },
  { name: 'JSON with an ellipsis behind the cut', text: `${long.slice(0, 4_000)}...` },
  { name: 'JSON that breaks off in its first text', text: `{"text":"${'x'.repeat(2_048 - 9)}` },
  { name: 'JSON cut by characters', text: `{"text":"${'😀'.repeat(1_000 - 9)}` },
  { name: 'JSON cut by bytes', text: `{"text":"${'ż'.repeat(507)}x` },
  ...[
    '...[truncated]',
    '… [truncated]',
    ' [TRUNCATED]',
    '\n\n[TRUNCATED - Content exceeds 60KB limit]',
    '<truncated>',
    '...[Laminar: truncated]',
    ' [output truncated]\n',
  ].map((marker) => ({ name: `a text that ends in ${JSON.stringify(marker)}`, text: `The flights are AF007${marker}` })),
  { name: 'a marker in place of the whole text', text: '<truncated due to size exceeding limit>' },
];

const whole: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'nothing', text: '' },
  { name: 'a text that ends in dots', text: 'To be continued...' },
  { name: 'a text of exactly 4096 characters', text: 'x'.repeat(4_096) },
  { name: 'whole JSON of exactly 1024 characters', text: `{"text":"${'x'.repeat(1_024 - 11)}"}` },
  { name: 'short JSON that breaks off', text: '{"origin": "JFK", "desti' },
  { name: 'a broken text of a limit’s length that is not the beginning of JSON', text: `{origin}: ${'x'.repeat(246)}` },
  { name: 'a log line in brackets', text: `[INFO] ${'x'.repeat(993)}` },
  { name: 'brackets that do not match', text: `{"a": [1, 2}${' '.repeat(244)}` },
  { name: 'JSON nested too deep to be data', text: '['.repeat(256) },
  { name: 'a marker in the middle', text: 'The list [truncated] goes on' },
  { name: 'a word that holds the marker’s', text: 'see array[untruncated]' },
  { name: 'talk about it', text: 'The output was truncated' },
];

describe('truncation', () => {
  for (const { name, text } of cut) test(`truncation: ${name} is cut short`, () => expect(isCutShort(text)).toBe(true));
  for (const { name, text } of whole) test(`truncation: ${name} is whole`, () => expect(isCutShort(text)).toBe(false));

  test('truncation: an attribute in a body is cut as its text is', () => {
    const others = [' {"a":', '\u00a0{"a":', '[', '{"a":"ä', ''].map((start) => start.padEnd(250, '1'));
    const texts = [...cut, ...whole].map(({ text }) => text).concat(others);
    const built = span({ id: 1, attributes: Object.fromEntries(texts.map((text, at) => [String(at), text])) });
    const [read = built] = readTraces(writeTraces([built], 'protobuf'), 'protobuf').spans;
    for (const from of [built, read])
      expect(texts.filter((_, at) => holdsCutContainer(from, String(at)))).toEqual(texts.filter(isCutContainer));
  });

  test('truncation: no JSON text of any length counts as cut short', () => {
    fc.assert(
      fc.property(fc.json(), (text) => !isCutContainer(text)),
      { numRuns: propertyRuns({ short: 300, long: 2_000 }) },
    );
  });

  test('truncation: every beginning of an object at a limit is cut short, unless it ends it', () => {
    const object = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string())), { minKeys: 1 });
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify({ first: 'x'.repeat(128), ...value });
        expect(isCutContainer(text.slice(0, 128))).toBe(true);
      }),
    );
  });

  test('truncation: no attribute of a recorded span is cut short', () => {
    const spans = recordingsIn(fileURLToPath(new URL('../../fixtures/recordings', import.meta.url))).flatMap(
      (recording) => contentsOf(recording).spans,
    );
    const texts = spans
      .flatMap((span) => span.attributeKeys().map((key) => span.attribute(key)))
      .filter((value) => typeof value === 'string');
    expect(texts.length).toBeGreaterThan(10_000);
    expect(texts.filter(isCutShort)).toEqual([]);
  });

  test('truncation: hostile texts take no time', () => {
    const started = process.cpuUsage().user;
    for (const piece of ['[', '{"', "['", '[1,', '{"a":', '\\"', '[truncated ', '<truncated'])
      isCutShort(`{${piece.repeat(Math.floor(1_048_575 / piece.length))}`.slice(0, 1_048_576).padEnd(1_048_576, 'x'));
    expect(process.cpuUsage().user - started).toBeLessThan(20_000_000);
  });
});
