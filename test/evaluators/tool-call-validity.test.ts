import { expect, test } from 'vitest';
import type { ToolCall, ToolDefinition } from '../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { rule, score } from './score.ts';

const entry = { use: 'tool_call_validity' };
const book = tool('book', {
  type: 'object',
  properties: {
    city: { type: 'string' },
    nights: { type: 'integer', minimum: 1 },
    guest: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
  required: ['city'],
});

const rows: readonly {
  readonly name: string;
  readonly sent: JsonObject;
  readonly problems: readonly (readonly [string, string?])[];
  readonly schema?: JsonObject;
  readonly strict?: boolean;
}[] = [
  { name: 'arguments that fit are valid', sent: { city: 'Oslo', nights: 1 }, problems: [] },
  { name: 'one night too few is a constraint', sent: { city: 'Oslo', nights: 0 }, problems: [['constraint', 'nights']] },
  { name: 'a required argument must be there', sent: {}, problems: [['missing_required', 'city']] },
  { name: 'a nested problem is named by its path', sent: { city: 'Oslo', guest: {} }, problems: [['missing_required', 'guest.name']] },
  {
    name: 'all problems of a call are reported',
    sent: { nights: 'two' },
    problems: [
      ['missing_required', 'city'],
      ['wrong_type', 'nights'],
    ],
  },
  {
    name: 'constructor is a name like any other',
    sent: {},
    schema: { required: ['constructor'] },
    problems: [['missing_required', 'constructor']],
  },
  {
    name: 'an item is named by its index',
    sent: { to: ['a', 1] },
    schema: { properties: { to: { type: 'array', items: { type: 'string' } } } },
    problems: [['wrong_type', 'to.1']],
  },
  {
    name: 'a type in capitals is the same type',
    sent: { a: 1 },
    schema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    problems: [['wrong_type', 'a']],
  },
  {
    name: 'nullable admits null',
    sent: { a: null },
    schema: { properties: { a: { type: 'string', nullable: true, enum: ['x'] } } },
    problems: [],
  },
  {
    name: 'a union that no branch takes is one wrong type',
    sent: { a: true },
    schema: { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
    problems: [['wrong_type', 'a']],
  },
  {
    name: 'a union reports the problem of the intended branch',
    sent: { a: {} },
    schema: { properties: { a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }, $defs: { A: { type: 'object', required: ['x'] } } },
    problems: [['missing_required', 'a.x']],
  },
  {
    name: 'strict refuses what is not listed',
    sent: { city: 'Oslo', view: 'sea' },
    strict: true,
    problems: [['unexpected_parameter', 'view']],
  },
  {
    name: 'strict looks into nested objects',
    sent: { city: 'Oslo', guest: { name: 'A', age: 1 } },
    strict: true,
    problems: [['unexpected_parameter', 'guest.age']],
  },
  {
    name: 'strict lets parameters of a branch pass',
    sent: { a: 1, b: 2 },
    schema: { properties: { a: {} }, allOf: [{ properties: { b: {} } }] },
    strict: true,
    problems: [],
  },
  {
    name: 'whole numbers beyond 2^53 are integers',
    sent: { n: 12345678901234567890n },
    schema: { properties: { n: { type: 'integer' } } },
    problems: [],
  },
];
for (const { name, sent, problems, schema, strict = false } of rows) {
  test(`tool_call_validity: ${name}`, () => {
    const definition = schema === undefined ? book : tool('book', schema);
    const verdict = score({
      entry: { ...entry, options: { strict } },
      trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: sent })], toolDefinitions: [definition] }),
    });
    const invalid = verdict.details['invalid'] as readonly {
      readonly problems: readonly { readonly kind: string; readonly parameter?: string }[];
    }[];
    const told = invalid.flatMap((one) => one.problems).map((one) => `${one.kind} ${one.parameter ?? ''}`);
    expect(told.toSorted()).toEqual(problems.map(([kind, parameter]) => `${kind} ${parameter ?? ''}`).toSorted());
    expect(verdict).toMatchObject({ kind: 'scored', score: problems.length === 0 ? 1 : 0, passed: problems.length === 0 });
  });
}

test('tool_call_validity: the culprit is evidence, a part, and named in the sentence', () => {
  const verdict = score({
    entry,
    trace: agentTrace({
      toolCalls: [
        call({ name: 'book', arguments: { city: 'Oslo' }, spanId: spanId(1) }),
        call({ name: 'book', arguments: {}, spanId: spanId(2), id: 'c2' }),
      ],
      toolDefinitions: [book],
    }),
  });
  expect(verdict).toMatchObject({
    score: 0.5,
    evidence: [spanId(2)],
    explanation: '1 of 2 tool calls does not fit its definition: book (call 2): city is missing.',
  });
  expect(verdict.kind === 'scored' && verdict.parts.map(({ index, passed, callId }) => ({ index, passed, callId }))).toEqual([
    { index: 0, passed: true, callId: undefined },
    { index: 1, passed: false, callId: 'c2' },
  ]);
});

const skips = [
  { name: 'no calls', trace: agentTrace({ toolDefinitions: [book] }), reason: 'no_tool_calls' },
  {
    name: 'spans that carry no calls',
    trace: agentTrace({ toolDefinitions: [book], toolCallsCarried: false }),
    reason: 'tool_calls_not_carried',
  },
  { name: 'no definitions', trace: agentTrace({ toolCalls: [call()] }), reason: 'no_tool_definitions' },
  {
    name: 'no arguments at all',
    trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: undefined })], toolDefinitions: [book] }),
    reason: 'arguments_not_carried',
  },
] as const;
for (const { name, trace, reason } of skips) {
  test(`tool_call_validity: ${name} is skipped as ${reason}`, () => {
    expect(score({ entry, trace })).toMatchObject({ kind: 'skipped', reason });
  });
}

test('tool_call_validity: calls without carried arguments are left out, null arguments are a problem', () => {
  const toolCalls = [call({ name: 'book', arguments: undefined }), call({ name: 'book', arguments: null, argumentsText: '{"city"' })];
  const { details } = score({ entry, trace: agentTrace({ toolCalls, toolDefinitions: [book] }) });
  expect(details).toMatchObject({
    total_calls: 1,
    arguments_not_carried: 1,
    invalid: [{ index: 1, problems: [{ kind: 'arguments_not_object' }] }],
  });
});

test('tool_call_validity: a run whose arguments take too much work is skipped, with schemas at hand as without', () => {
  const wide = (at: number): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 300 }, (_, name) => [`${at}_${name}`, { type: 'string' }])),
  });
  const tools = Array.from({ length: 40 }, (_, at) => tool(`t${at}`, wide(at)));
  const run = (count: number) =>
    agentTrace({
      toolCalls: tools.slice(0, count).map(({ name }, at) => call({ name, arguments: {}, id: `c${at}` })),
      toolDefinitions: tools,
    });
  expect(score({ entry, trace: run(10) })).toMatchObject({ kind: 'scored', score: 1 });
  const context = evaluationContext();
  const first = rule(entry).evaluate(run(40), {}, context);
  expect(first).toMatchObject({ kind: 'skipped', reason: 'too_large', details: { tool_calls: 40 } });
  expect(rule(entry).evaluate(run(40), {}, context)).toEqual(first);
});

const bulk = Array<number>(50_000).fill(1);
const sum = tool('sum', {
  type: 'object',
  properties: {
    note: { type: 'array', items: { type: 'number' } },
    of: { type: 'array', items: { type: 'number' } },
    unit: { type: 'string', enum: ['m', 's'] },
  },
});
const small = call({ name: 'book', arguments: { city: 'Oslo', guest: { name: 'A' } }, id: 'small' });
const wrong = call({ name: 'book', arguments: { city: 'Oslo', guest: {} }, id: 'wrong' });
const heavy = Array.from({ length: 8 }, (_, at) => call({ name: 'sum', arguments: { of: bulk }, id: `heavy${at}` }));
const deep = (levels: number): JsonObject => (levels === 0 ? { type: 'string' } : { properties: { a: deep(levels - 1) } });
const property = (schema: JsonValue): JsonObject => ({ type: 'object', properties: { a: schema, b: { type: 'string' } } });

interface Hidden {
  readonly name: string;
  readonly calls: readonly ToolCall[];
  readonly tools?: readonly ToolDefinition[];
  readonly strict?: boolean;
  /** The calls that are wrong, by index; absent: the run is skipped for the reason. */
  readonly invalid?: readonly number[];
  readonly reason?: string;
}

const one = (schema: JsonValue, sent: JsonObject): Pick<Hidden, 'calls' | 'tools'> => ({
  calls: [call({ name: 't', arguments: sent })],
  tools: [{ name: 't', inputSchema: schema }],
});
const hidden: readonly Hidden[] = [
  { name: 'a nested fault before bulk', calls: [wrong, ...heavy], invalid: [0] },
  { name: 'a nested fault behind bulk', calls: [...heavy, wrong], invalid: [8] },
  { name: 'an unknown tool behind bulk', calls: [...heavy, call({ name: 'rm' })], invalid: [8] },
  {
    name: 'an unknown tool whose arguments are cut off',
    calls: [small, call({ name: 'rm', arguments: undefined, truncated: { arguments: '{"a":"' } })],
    invalid: [1],
  },
  {
    name: 'an unknown tool among more calls than other rules take',
    calls: [...Array<ToolCall>(1_500).fill(small), call({ name: 'rm' })],
    invalid: [1_500],
  },
  {
    name: 'a missing argument of a tool whose schema is too large',
    calls: [call({ name: 't', arguments: {} })],
    tools: [{ name: 't', inputSchema: { ...deep(60), required: ['a'] } }],
    invalid: [0],
  },
  {
    name: 'a wrong type in a call that is itself too large',
    calls: [call({ name: 'sum', arguments: { of: bulk, unit: 7 } })],
    invalid: [0],
  },
  {
    name: 'a value outside the list behind bulk in the same call',
    calls: [call({ name: 'sum', arguments: { note: bulk, of: bulk, unit: 'kg' } })],
    invalid: [0],
  },
  {
    name: 'a wrong item of one list behind bulk in another',
    calls: [call({ name: 'sum', arguments: { note: bulk, of: ['x'] } })],
    invalid: [0],
  },
  { name: 'bulk alone', calls: [call({ name: 'sum', arguments: { of: bulk } })], reason: 'too_large' },
  { name: 'bulk beside a call that fits', calls: [small, call({ name: 'sum', arguments: { of: bulk } })], reason: 'too_large' },
  { name: 'a schema beyond the limits', ...one(deep(60), { a: {} }), reason: 'too_large' },
  { name: 'a schema whose text is too long', ...one({ type: 'object', description: 'x'.repeat(70_000) }, {}), reason: 'too_large' },
  {
    name: 'a text that is too long for its pattern',
    ...one(property({ pattern: '^a' }), { a: `a${'b'.repeat(100_000)}` }),
    reason: 'too_large',
  },
  { name: 'a schema that ends in itself', ...one({ $ref: '#' }, {}), reason: 'too_large' },
  { name: 'a schema elsewhere', ...one({ $ref: 'https://example.org/schema.json' }, { a: 1 }), reason: 'schema_not_applied' },
  {
    name: 'a schema elsewhere for what was sent',
    ...one(property({ $ref: 'https://example.org/a.json' }), { a: 1 }),
    reason: 'schema_not_applied',
  },
  { name: 'a schema elsewhere for what was not sent', ...one(property({ $ref: 'https://example.org/a.json' }), { b: 'x' }), invalid: [] },
  { name: 'a fault beside a schema elsewhere', ...one(property({ $ref: 'https://example.org/a.json' }), { a: 1, b: 1 }), invalid: [0] },
  { name: 'a reference that leads nowhere', ...one(property({ $ref: '#/$defs/none' }), { a: 1 }), reason: 'schema_not_applied' },
  { name: 'a reference that is dynamic', ...one(property({ $dynamicRef: '#a' }), { a: 1 }), reason: 'schema_not_applied' },
  { name: 'a pattern that looks around', ...one(property({ pattern: '(?=x)' }), { a: 'y' }), reason: 'schema_not_applied' },
  { name: 'a lookaround pattern on a value that is not a text', ...one(property({ pattern: '(?=x)' }), { a: 1 }), invalid: [] },
  {
    name: 'a pattern of names that looks around',
    ...one({ patternProperties: { '(?=x)': { type: 'string' } }, additionalProperties: false }, { x: 1 }),
    reason: 'schema_not_applied',
  },
  {
    name: 'properties in a list',
    ...one({ type: 'object', properties: [{ name: 'a' }], additionalProperties: false }, { a: 1 }),
    reason: 'schema_not_applied',
  },
  { name: 'a schema that is a text', ...one('object', { a: 1 }), reason: 'schema_not_applied' },
  { name: 'a property whose schema is a text', ...one(property('string'), { a: 1 }), reason: 'schema_not_applied' },
  { name: 'a not that cannot be decided', ...one(property({ not: { pattern: '(?=x)' } }), { a: 'x' }), reason: 'schema_not_applied' },
  {
    name: 'one of two branches, one undecidable',
    ...one(property({ oneOf: [{ type: 'string' }, { pattern: '(?=x)' }] }), { a: 'x' }),
    reason: 'schema_not_applied',
  },
  {
    name: 'any of two branches, and one holds',
    ...one(property({ anyOf: [{ pattern: '(?=x)' }, { type: 'string' }] }), { a: 'x' }),
    invalid: [],
  },
  {
    name: 'any of two branches, and none holds',
    ...one(property({ anyOf: [{ type: 'null', pattern: '(?=x)' }, { type: 'number' }] }), { a: 'x' }),
    invalid: [0],
  },
  {
    name: 'a condition that cannot be decided',
    ...one({ if: { properties: { a: { pattern: '(?=x)' } } }, then: { required: ['b'] } }, { a: 'x' }),
    reason: 'schema_not_applied',
  },
  {
    name: 'an item that may be contained',
    ...one(property({ contains: { pattern: '(?=x)' } }), { a: ['y'] }),
    reason: 'schema_not_applied',
  },
  {
    name: 'an item that is contained beside one that may be',
    ...one(property({ contains: { pattern: '(?=x)' } }), { a: ['y', 1] }),
    invalid: [],
  },
  {
    name: 'a member that a schema elsewhere may know',
    ...one({ properties: {}, allOf: [{ $ref: 'https://example.org/a.json' }], unevaluatedProperties: false }, { a: 1 }),
    reason: 'schema_not_applied',
  },
  {
    name: 'a strict schema beside one elsewhere',
    ...one({ properties: { b: {} }, allOf: [{ $ref: 'https://example.org/a.json' }] }, { a: 1 }),
    strict: true,
    reason: 'schema_not_applied',
  },
  {
    name: 'arguments that are cut off beside a call that fits',
    calls: [small, call({ name: 'book', arguments: undefined, truncated: { arguments: '{"city":"' } })],
    reason: 'truncated',
  },
  {
    name: 'arguments that are not carried beside a call that fits',
    calls: [small, call({ name: 'book', arguments: undefined })],
    reason: 'arguments_not_carried',
  },
  {
    name: 'a definition that is cut off',
    calls: [call({ name: 't', arguments: {} })],
    tools: [{ name: 't', truncated: true }],
    reason: 'truncated',
  },
];
for (const { name, calls, tools = [book, sum], strict = false, invalid, reason } of hidden) {
  test(`tool_call_validity: ${name}: ${reason === undefined ? `${invalid?.length} wrong` : `skipped as ${reason}`}`, () => {
    const verdict = score({ entry: { ...entry, options: { strict } }, trace: agentTrace({ toolCalls: calls, toolDefinitions: tools }) });
    const found = (verdict.details['invalid'] as readonly { readonly index: number }[] | undefined)?.map(({ index }) => index);
    expect({ kind: verdict.kind, reason: verdict.kind === 'skipped' ? verdict.reason : undefined, invalid: found }).toEqual({
      kind: reason === undefined ? 'scored' : 'skipped',
      reason,
      invalid,
    });
    if (reason !== undefined) expect(verdict.explanation).not.toMatch(/fits? /);
    if (verdict.kind === 'scored') expect(verdict.passed).toBe(invalid?.length === 0);
  });
}

test('tool_call_validity: the order of the calls decides nothing', () => {
  const calls = [...heavy.slice(0, 4), wrong, small, call({ name: 'rm' })];
  const verdicts = [calls, calls.toReversed()].map((toolCalls) =>
    score({ entry, trace: agentTrace({ toolCalls, toolDefinitions: [book, sum] }) }),
  );
  expect(
    verdicts.map(
      (verdict) =>
        verdict.kind === 'scored' && {
          score: verdict.score,
          unchecked: verdict.details['unchecked_calls'],
          wrong: verdict.evidence.length,
        },
    ),
  ).toEqual(Array(2).fill({ score: 1 / 3, unchecked: 4, wrong: 0 }));
});

test('tool_call_validity: unchecked calls have their reason in the details, and no separate verdict', () => {
  const verdict = score({
    entry,
    trace: agentTrace({
      toolCalls: [wrong, call({ name: 'sum', arguments: { of: bulk }, spanId: spanId(3) })],
      toolDefinitions: [book, sum],
    }),
  });
  expect(verdict).toMatchObject({
    score: 0,
    explanation: '1 of 1 tool call does not fit its definition: book (call 1): guest.name is missing. 1 call could not be checked.',
    details: {
      total_calls: 1,
      unchecked_calls: 1,
      too_large: 1,
      unchecked: [{ index: 1, tool: 'sum', span_id: spanId(3), status: 'skipped', reason: 'too_large' }],
    },
  });
  expect(verdict.kind === 'scored' && verdict.parts.map(({ index }) => index)).toEqual([0]);
});

const sentences = [
  {
    name: 'a tool without a schema',
    tools: [{ name: 't' }],
    sent: { a: 1 },
    says: 'The tool call names a defined tool, which has no schema for arguments.',
  },
  {
    name: 'a schema with a keyword without effect',
    tools: [tool('t', { required: true, properties: { a: {} } })],
    sent: { a: 1 },
    says: 'The tool call fits what is sound of its definition; unsound parts of schemas were left out.',
  },
  { name: 'a sound schema', tools: [tool('t', { properties: { a: {} } })], sent: { a: 1 }, says: 'The tool call fits its definition.' },
] as const;
for (const { name, tools, sent, says } of sentences) {
  test(`tool_call_validity: ${name} is claimed for no more than it is`, () => {
    const verdict = score({ entry, trace: agentTrace({ toolCalls: [call({ name: 't', arguments: sent })], toolDefinitions: tools }) });
    expect(verdict).toMatchObject({ score: 1, explanation: says });
  });
}
