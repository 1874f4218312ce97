import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvRows, cellText, cellValue } from '../../../src/datasets/forms/csv.ts';
import { setFormats } from '../../../src/datasets/forms/import-forms.ts';
import { exportForms, leftOutOf } from '../../../src/datasets/forms/export-forms.ts';
import type { DatasetExample } from '../../../src/model/example.ts';
import { isJsonArray, type JsonValue, parseJson } from '../../../src/model/json.ts';

const weather = { name: 'weather', arguments: { city: 'Rome' } };
const all: DatasetExample = {
  id: 'a',
  input: 'Weather in Rome?',
  expect: { tool_calls: [weather], output: 'Sunny.', tool_calls_count: [{ name: 'weather', most: 1 }] },
  tasks: ['weather'],
  constraints: 'be short',
  tools: [{ name: 'weather' }],
  tags: ['smoke', 'x'],
  split: 'test',
  evaluators: ['tool_error'],
  timeoutSeconds: 5,
  metadata: { lang: 'en' },
  review: 'draft',
};
const form = (name: string): (typeof exportForms)[number] => {
  const found = exportForms.find((one) => one.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

function readBack(name: string, text: string): JsonValue {
  if (name === 'csv' || name === 'phoenix') return csvRows('x.csv', text);
  return parseJson(text) ?? text.split('\n').map((line) => parseJson(line) ?? null);
}

const others = ['split', 'evaluators', 'timeout_seconds', 'review'];
test.each<{ readonly name: string; readonly from?: string; readonly back: Partial<DatasetExample>; readonly leftOut: readonly string[] }>([
  { name: 'jsonl', from: 'tracejury', back: all, leftOut: [] },
  { name: 'json', from: 'tracejury', back: all, leftOut: [] },
  { name: 'csv', from: 'tracejury', back: all, leftOut: [] },
  {
    name: 'deepeval',
    back: {
      input: all.input,
      expect: { tool_calls: [weather], output: 'Sunny.' },
      tags: ['smoke', 'x'],
      metadata: { additional_metadata: { lang: 'en' } },
    },
    leftOut: ['expect.tool_calls_count', 'tasks', 'constraints', 'tools', ...others],
  },
  {
    name: 'agentevals',
    back: { input: all.input, tags: ['smoke', 'x'], metadata: { lang: 'en' } },
    leftOut: ['expect.tool_calls_count', 'tasks', 'constraints', 'tools', ...others],
  },
  {
    name: 'adk',
    back: { id: 'a', input: all.input, expect: { tool_calls: [weather], output: 'Sunny.' } },
    leftOut: ['expect.tool_calls_count', 'tasks', 'constraints', 'tools', 'tags', 'metadata', ...others],
  },
  {
    name: 'dokimos',
    back: {
      id: 'a',
      input: all.input,
      expect: { tool_calls: [weather], output: 'Sunny.' },
      tasks: ['weather'],
      tools: [{ name: 'weather' }],
      constraints: 'be short',
      metadata: { lang: 'en' },
    },
    leftOut: ['expect.tool_calls_count', 'tags', ...others],
  },
  {
    name: 'langsmith',
    back: { id: 'a', input: all.input, split: 'test', expect: { ...all.expect }, metadata: { lang: 'en' } },
    leftOut: ['tasks', 'constraints', 'tools', 'tags', 'evaluators', 'timeout_seconds', 'review'],
  },
  ...['braintrust', 'phoenix'].map((name) => ({
    name,
    back: { id: 'a', input: all.input, split: 'test', tags: ['smoke', 'x'], expect: { ...all.expect }, metadata: { lang: 'en' } },
    leftOut: ['tasks', 'constraints', 'tools', 'evaluators', 'timeout_seconds', 'review'],
  })),
])('dataset export: $name holds its parts, and reads them back', ({ name, from = name, back, leftOut }) => {
  const written = form(name);
  expect([...leftOutOf(written, [all]).keys()].toSorted()).toEqual([...leftOut].toSorted());
  const read = setFormats.find((one) => one.name === from)?.read(readBack(name, written.write([all])));
  expect(read?.faults).toEqual([]);
  const [{ own = {}, ...one } = {}] = read?.examples ?? [];
  const { timeout_seconds: timeoutSeconds, ...rest } = own;
  expect({ ...one, ...rest, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) }).toMatchObject(back);
});

test('dataset export: a conversation as input is left out where a form takes a text, and its last question stays', () => {
  const one = {
    id: 'a',
    input: [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: 'second' },
    ],
  };
  const left = leftOutOf(form('deepeval'), [one, all, all]);
  expect([left.get('conversations as input'), left.get('tasks'), left.get('input')]).toEqual([1, 2, undefined]);
  expect(JSON.parse(form('deepeval').write([one]))).toEqual([{ name: 'a', input: 'second' }]);
  const langsmith = form('langsmith').write([one]);
  expect(setFormats.find(({ name }) => name === 'langsmith')?.read([parseJson(langsmith) ?? null]).examples).toEqual([one]);
});

test('csv: a cell with any content is read as written', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.constantFrom('[1]', '"x"', '{"a":1}', ' [', '"', 'a;b', "'", '=1+1'),
        fc.array(fc.string()),
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
          fc.integer(),
        ),
      ),
      (value) => {
        expect(cellValue(cellText(value as JsonValue))).toEqual(value);
      },
    ),
  );
});

test('csv: the own form is read back whole, with every sign in its texts', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => one.trim() !== '');
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          input: fc.oneof(
            text,
            fc.dictionary(
              text.filter((key) => key !== '__proto__'),
              text,
            ),
          ),
          output: text,
          tags: fc.array(text, { minLength: 1 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      (rows) => {
        const given = rows.map(({ input, output, tags }, at) => ({ id: String(at), input, expect: { output }, tags }));
        const read = setFormats.find(({ name }) => name === 'tracejury')?.read(csvRows('x.csv', form('csv').write(given)));
        expect(read?.examples).toEqual(given);
      },
    ),
    { numRuns: 60 },
  );
});

test('dataset import: every format refuses anything but a list with a fault, and never throws', () => {
  fc.assert(
    fc.property(fc.constantFrom(...setFormats), fc.jsonValue(), ({ read }, value) => {
      const { examples, faults, leftOut } = read(value as JsonValue);
      expect(
        examples.length + faults.length + leftOut.length > 0 || isJsonArray(value as JsonValue) || Object.keys(value as object).length > 0,
      ).toBe(true);
    }),
    { numRuns: 200 },
  );
});
