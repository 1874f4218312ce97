import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { judged, score } from './score.ts';

const entry = { use: 'tool_description_reliability' };
const run = (properties: JsonValue, more: JsonObject = {}) =>
  agentTrace({
    toolDefinitions: [{ name: 't', description: 'Finds what is asked for.', inputSchema: { type: 'object', properties, ...more } }],
  });
const good = { type: 'string', description: 'x' };

const rows: readonly {
  readonly name: string;
  readonly properties: JsonValue;
  readonly more?: JsonObject;
  readonly options?: JsonObject;
  readonly failed: readonly string[];
}[] = [
  { name: 'a described and typed parameter', properties: { a: good }, failed: [] },
  { name: 'a blank description', properties: { a: { ...good, description: ' ' } }, failed: ['input_arguments_clarity'] },
  { name: 'a null type', properties: { a: { ...good, type: null } }, failed: ['input_arguments_types'] },
  { name: 'a combined schema', properties: { a: { oneOf: [], description: 'x' } }, failed: [] },
  { name: 'a constant, null too', properties: { a: { const: null, description: 'x' } }, failed: [] },
  { name: 'a boolean schema', properties: { a: true }, failed: ['input_arguments_clarity', 'input_arguments_types'] },
  { name: 'properties that are not an object', properties: ['a'], failed: [] },
  {
    name: 'as many parameters as allowed',
    properties: { a: good, b: good },
    more: { required: ['a', 'b'] },
    options: { max_parameters: 2 },
    failed: [],
  },
  {
    name: 'one parameter too many',
    properties: { a: good, b: good },
    more: { required: ['a', 'b'] },
    options: { max_parameters: 1 },
    failed: ['max_num_input_arguments'],
  },
  {
    name: 'one optional parameter too many',
    properties: { a: good, b: good },
    more: { required: ['a', 'a', 'ghost'] },
    options: { max_optional_parameters: 0 },
    failed: ['max_optional_input_arguments'],
  },
  {
    name: 'an inherited name that is required',
    properties: { toString: good },
    more: { required: ['toString'] },
    options: { max_optional_parameters: 0 },
    failed: [],
  },
];
for (const { name, properties, more, options = {}, failed } of rows) {
  test(`tool_description_reliability: ${name} fails ${failed.join(', ') || 'nothing'}`, () => {
    expect(score({ entry: { ...entry, options }, trace: run(properties, more) })).toMatchObject({
      kind: 'scored',
      score: (4 - failed.length) / 4,
      passed: failed.length === 0,
      details: { tools: [{ failed_checks: failed }] },
    });
  });
}

test('tool_description_reliability: what is not scored is noted', () => {
  const toolDefinitions = [
    { name: 't' },
    { name: 't', description: 'Short' },
    {
      name: 'u',
      description: 'Books a room in a hotel.',
      inputSchema: { properties: { o: { type: 'object', description: 'x', properties: { k: {} } } } },
    },
  ];
  expect(score({ entry, trace: agentTrace({ toolDefinitions }) })).toMatchObject({
    score: 1,
    details: {
      tools: [
        { notes: ['no_description', 'duplicate_name'] },
        { notes: ['short_description', 'duplicate_name'] },
        { notes: ['nested_members_undescribed'] },
      ],
    },
  });
});

test('tool_description_reliability: with a judge thirteen checks count, and long schemas are cut', () => {
  const nine = [
    'general_structure',
    'has_examples',
    'has_usage_notes',
    'intent_over_implementation',
    'clarity',
    'redundancy',
    'input_arguments_enum',
    'input_arguments_format',
    'return_statement_quality',
  ];
  const answer = { explanation: 'e', ...Object.fromEntries(nine.map((check) => [check, check !== 'has_examples'])) };
  const { questions, verdict } = judged(
    { entry: { ...entry, judge: 'j' }, trace: run({ a: { ...good, description: 'x'.repeat(50_000) } }) },
    [{ kind: 'answered', value: answer, truncated: false }],
  );
  expect(verdict).toMatchObject({
    score: 12 / 13,
    details: { judge_calls: 1, truncated: true, tools: [{ failed_checks: ['has_examples'], skipped_checks: [] }] },
  });
  expect(questions[0]?.data.map(({ title }) => title)).toEqual(['tool name', 'tool description', 'input schema']);
  expect(questions[0]?.data[2]?.text.length).toBeLessThan(21_000);
});

test('tool_description_reliability: without definitions it is skipped', () => {
  expect(score({ entry, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_definitions' });
});
