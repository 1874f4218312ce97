import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { evaluationContext } from '../../evaluators/context.ts';
import { rule, score } from './score.ts';

const entry = { use: 'tool_call_validity' };
const book = tool('book', { type: 'object', properties: { city: { type: 'string' }, nights: { type: 'integer', minimum: 1 }, guest: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }, required: ['city'] });

const rows: readonly { readonly name: string; readonly sent: JsonObject; readonly problems: readonly (readonly [string, string?])[]; readonly schema?: JsonObject; readonly strict?: boolean }[] = [
  { name: 'arguments that fit are valid', sent: { city: 'Oslo', nights: 1 }, problems: [] },
  { name: 'one night too few is a constraint', sent: { city: 'Oslo', nights: 0 }, problems: [['constraint', 'nights']] },
  { name: 'a required argument must be there', sent: {}, problems: [['missing_required', 'city']] },
  { name: 'a nested problem is named by its path', sent: { city: 'Oslo', guest: {} }, problems: [['missing_required', 'guest.name']] },
  { name: 'all problems of a call are told', sent: { nights: 'two' }, problems: [['missing_required', 'city'], ['wrong_type', 'nights']] },
  { name: 'constructor is a name like any other', sent: {}, schema: { required: ['constructor'] }, problems: [['missing_required', 'constructor']] },
  { name: 'an item is named by its index', sent: { to: ['a', 1] }, schema: { properties: { to: { type: 'array', items: { type: 'string' } } } }, problems: [['wrong_type', 'to.1']] },
  { name: 'a type in capitals is the same type', sent: { a: 1 }, schema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, problems: [['wrong_type', 'a']] },
  { name: 'nullable admits null', sent: { a: null }, schema: { properties: { a: { type: 'string', nullable: true, enum: ['x'] } } }, problems: [] },
  { name: 'a union that no branch takes is one wrong type', sent: { a: true }, schema: { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, problems: [['wrong_type', 'a']] },
  { name: 'a union tells the problem of the branch that was meant', sent: { a: {} }, schema: { properties: { a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }, $defs: { A: { type: 'object', required: ['x'] } } }, problems: [['missing_required', 'a.x']] },
  { name: 'strict refuses what is not listed', sent: { city: 'Oslo', view: 'sea' }, strict: true, problems: [['unexpected_parameter', 'view']] },
  { name: 'strict looks into nested objects', sent: { city: 'Oslo', guest: { name: 'A', age: 1 } }, strict: true, problems: [['unexpected_parameter', 'guest.age']] },
  { name: 'strict lets parameters of a branch pass', sent: { a: 1, b: 2 }, schema: { properties: { a: {} }, allOf: [{ properties: { b: {} } }] }, strict: true, problems: [] },
  { name: 'whole numbers beyond 2^53 are integers', sent: { n: 12345678901234567890n }, schema: { properties: { n: { type: 'integer' } } }, problems: [] },
];
for (const { name, sent, problems, schema, strict = false } of rows) {
  test(`tool_call_validity: ${name}`, () => {
    const definition = schema === undefined ? book : tool('book', schema);
    const verdict = score({ entry: { ...entry, options: { strict } }, trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: sent })], toolDefinitions: [definition] }) });
    const invalid = verdict.details['invalid'] as readonly { readonly problems: readonly { readonly kind: string; readonly parameter?: string }[] }[];
    const told = invalid.flatMap((one) => one.problems).map((one) => `${one.kind} ${one.parameter ?? ''}`);
    expect(told.toSorted()).toEqual(problems.map(([kind, parameter]) => `${kind} ${parameter ?? ''}`).toSorted());
    expect(verdict).toMatchObject({ kind: 'scored', score: problems.length === 0 ? 1 : 0, passed: problems.length === 0 });
  });
}

test('tool_call_validity: the culprit is evidence, a part, and named in the sentence', () => {
  const verdict = score({
    entry,
    trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: { city: 'Oslo' }, spanId: spanId(1) }), call({ name: 'book', arguments: {}, spanId: spanId(2), id: 'c2' })], toolDefinitions: [book] }),
  });
  expect(verdict).toMatchObject({ score: 0.5, evidence: [spanId(2)], explanation: '1 of 2 tool calls does not fit its definition: book (call 2): city is missing.' });
  expect(verdict.kind === 'scored' && verdict.parts.map(({ index, passed, callId }) => ({ index, passed, callId }))).toEqual([
    { index: 0, passed: true, callId: undefined },
    { index: 1, passed: false, callId: 'c2' },
  ]);
});

const skips = [
  { name: 'no calls', trace: agentTrace({ toolDefinitions: [book] }), reason: 'no_tool_calls' },
  { name: 'spans that carry no calls', trace: agentTrace({ toolDefinitions: [book], toolCallsCarried: false }), reason: 'tool_calls_not_carried' },
  { name: 'no definitions', trace: agentTrace({ toolCalls: [call()] }), reason: 'no_tool_definitions' },
  { name: 'no arguments at all', trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: undefined })], toolDefinitions: [book] }), reason: 'arguments_not_carried' },
  { name: 'more calls than the limit', trace: agentTrace({ toolCalls: [call(), call(), call()], toolDefinitions: [book] }), reason: 'too_large' },
] as const;
for (const { name, trace, reason } of skips) {
  test(`tool_call_validity: ${name} is skipped as ${reason}`, () => {
    expect(score({ entry, trace, limits: { toolCallsMax: 2 } })).toMatchObject({ kind: 'skipped', reason });
  });
}

test('tool_call_validity: calls without carried arguments are left out, null arguments are a problem', () => {
  const toolCalls = [call({ name: 'book', arguments: undefined }), call({ name: 'book', arguments: null, argumentsText: '{"city"' })];
  const { details } = score({ entry, trace: agentTrace({ toolCalls, toolDefinitions: [book] }) });
  expect(details).toMatchObject({ total_calls: 1, arguments_not_carried: 1, invalid: [{ index: 1, problems: [{ kind: 'arguments_not_object' }] }] });
});

test('tool_call_validity: a schema beyond the limits fails no call, and the details say so', () => {
  const deep = (levels: number): JsonObject => (levels === 0 ? { type: 'string' } : { properties: { a: deep(levels - 1) } });
  const verdict = score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'book', arguments: { a: 1 } })], toolDefinitions: [tool('book', deep(60))] }) });
  expect(verdict).toMatchObject({ score: 1, details: { schema_invalid: [{ tool: 'book' }] } });
});

test('tool_call_validity: a run whose arguments take too much work is skipped, with schemas at hand as without', () => {
  const wide = (at: number): JsonObject => ({ type: 'object', properties: Object.fromEntries(Array.from({ length: 300 }, (_, name) => [`${at}_${name}`, { type: 'string' }])) });
  const tools = Array.from({ length: 40 }, (_, at) => tool(`t${at}`, wide(at)));
  const run = (count: number) => agentTrace({ toolCalls: tools.slice(0, count).map(({ name }, at) => call({ name, arguments: {}, id: `c${at}` })), toolDefinitions: tools });
  expect(score({ entry, trace: run(10) })).toMatchObject({ kind: 'scored', score: 1 });
  const context = evaluationContext();
  const first = rule(entry).evaluate(run(40), {}, context);
  expect(first).toMatchObject({ kind: 'skipped', reason: 'too_large', details: { tool_calls: 40 } });
  expect(rule(entry).evaluate(run(40), {}, context)).toEqual(first);
});

test('tool_call_validity: one value that takes too much work is noted, and the others are checked', () => {
  const items = tool('sum', { type: 'object', properties: { of: { type: 'array', items: { type: 'number' } } } });
  const sent = [Array(50_000).fill(1), ['x']];
  const verdict = score({ entry, trace: agentTrace({ toolCalls: sent.map((of, at) => call({ name: 'sum', arguments: { of }, id: `c${at}` })), toolDefinitions: [items] }) });
  expect(verdict).toMatchObject({ kind: 'scored', score: 0.5, details: { schema_invalid: [{ tool: 'sum', faults: ['the schema asks for too much work on these arguments, so they were not checked to the end'] }] } });
});
