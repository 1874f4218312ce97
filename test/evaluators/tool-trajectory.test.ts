import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { score } from './score.ts';

const runs = { numRuns: propertyRuns({ short: 20, long: 100 }) };

const named = (...names: string[]) => names.map((name, at) => call({ name, spanId: spanId(at + 1) }));
const expecting = (...names: string[]) => ({ tool_calls: names.map((name) => ({ name })) });
const run = (mode: string, called: string[], expected: string[]) =>
  score({
    entry: { use: 'tool_trajectory', options: { mode }, expect: expecting(...expected) },
    trace: agentTrace({ toolCalls: named(...called) }),
  });

const rows = [
  { mode: 'strict', called: ['a', 'b'], expected: ['a', 'b'], want: 1 },
  { mode: 'strict', called: ['a', 'b', 'c'], expected: ['a', 'b'], want: 0 },
  { mode: 'in_order', called: ['a', 'x', 'b'], expected: ['a', 'b'], want: 2 / 3 },
  { mode: 'contains_in_order', called: ['a', 'x', 'b'], expected: ['a', 'b'], want: 1 },
  { mode: 'contains_in_order', called: ['b', 'x', 'a'], expected: ['a', 'b'], want: 0 },
  { mode: 'contains_in_order', called: [], expected: [], want: 1 },
  { mode: 'any_order', called: ['b', 'a'], expected: ['a', 'b'], want: 1 },
  { mode: 'superset', called: ['b', 'x'], expected: ['b'], want: 1 },
  { mode: 'subset', called: [], expected: ['b'], want: 1 },
  { mode: 'precision', called: ['a', 'x'], expected: ['a'], want: 0.5 },
  { mode: 'recall', called: ['a', 'x'], expected: ['a', 'b'], want: 0.5 },
];
for (const { mode, called, expected, want } of rows) {
  test(`tool_trajectory: ${mode} of [${called.join(' ')}] against [${expected.join(' ')}] is ${want}`, () => {
    expect(run(mode, called, expected)).toMatchObject({ kind: 'scored', score: want, passed: want === 1 });
  });
}

test('tool_trajectory: the sentence names what is missing, what is extra, and the nearest call', () => {
  const verdict = score({
    entry: { use: 'tool_trajectory', expect: { tool_calls: [{ name: 'find' }, { name: 'book', arguments: { city: 'Oslo' } }] } },
    trace: agentTrace({
      toolCalls: [call({ name: 'find', spanId: spanId(1) }), call({ name: 'book', arguments: { city: 'Rome' }, spanId: spanId(2) })],
    }),
  });
  expect(verdict).toMatchObject({
    score: 0.5,
    evidence: [spanId(2)],
    explanation:
      'The trajectory differs from the expected one; missing: book (expected call 2, nearest is book (call 2): "city" differs); extra: book (call 2).',
    details: { missing_calls: [{ index: 1, tool: 'book' }], extra_calls: [{ index: 1, tool: 'book', span_id: spanId(2) }] },
  });
});

test('tool_trajectory: strict names the first place that differs', () => {
  expect(run('strict', ['a', 'c'], ['a', 'b']).details).toMatchObject({ first_difference: 1, matched_count: 0 });
  // The place where one list ends and the other goes on.
  expect(run('strict', ['a'], ['a', 'b', 'a']).details).toMatchObject({ first_difference: 1 });
});

test('tool_trajectory: extra calls are not evidence where they are free', () => {
  expect(run('superset', ['x'], ['b'])).toMatchObject({ score: 0, evidence: [] });
});

test('tool_trajectory: only_successful leaves out what failed or never ran', () => {
  const toolCalls = [
    call({ name: 'a', error: { message: '', sign: 'span_status' } }),
    call({ name: 'a' }),
    call({ name: 'b', executed: false }),
  ];
  const entry = { use: 'tool_trajectory', expect: expecting('a') };
  expect(score({ entry: { ...entry, options: { only_successful: true } }, trace: agentTrace({ toolCalls }) })).toMatchObject({ score: 1 });
  expect(score({ entry, trace: agentTrace({ toolCalls }) })).toMatchObject({ score: 1 / 3 });
});

test('tool_trajectory: chosen fields of a tool are compared by path', () => {
  const options = { arguments: { overrides: { book: { fields: ['guest.name'] } } } };
  const expect_ = { tool_calls: [{ name: 'book', arguments: { guest: { name: 'A', age: 1 } } }] };
  const trace = (name: string) => agentTrace({ toolCalls: [call({ name: 'book', arguments: { guest: { name }, more: 1 } })] });
  expect(score({ entry: { use: 'tool_trajectory', options, expect: expect_ }, trace: trace('A') })).toMatchObject({ score: 1 });
  expect(score({ entry: { use: 'tool_trajectory', options, expect: expect_ }, trace: trace('B') })).toMatchObject({ score: 0 });
});

const entry = { use: 'tool_trajectory' };
const skips = [
  { name: 'no expectation', trace: agentTrace(), expected: {}, want: { kind: 'skipped', reason: 'no_expectation' } },
  {
    name: 'zero calls where some are expected are evidence',
    trace: agentTrace(),
    expected: { toolCalls: [{ name: 'a' }] },
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'zero calls of spans that carry none are not',
    trace: agentTrace({ toolCallsCarried: false }),
    expected: { toolCalls: [{ name: 'a' }] },
    want: { kind: 'skipped', reason: 'tool_calls_not_carried' },
  },
  {
    name: 'arguments that are compared must be carried',
    trace: agentTrace({ toolCalls: [call({ name: 'a', arguments: undefined })] }),
    expected: { toolCalls: [{ name: 'a', arguments: {} }] },
    want: { kind: 'skipped', reason: 'arguments_not_carried' },
  },
  {
    name: 'an expectation without arguments needs none',
    trace: agentTrace({ toolCalls: [call({ name: 'a', arguments: undefined })] }),
    expected: { toolCalls: [{ name: 'a' }] },
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'a long expectation is too large',
    trace: agentTrace(),
    expected: { toolCalls: [{ name: 'a' }, { name: 'a' }, { name: 'a' }] },
    want: { kind: 'skipped', reason: 'too_large' },
  },
] as const;
for (const { name, trace, expected, want } of skips) {
  test(`tool_trajectory: ${name}`, () => {
    expect(score({ entry, trace, expected, limits: { toolCallsMax: 2 } })).toMatchObject(want);
  });
}

test('tool_trajectory: names may be normalised, and the details say which', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'agent_x7c9' })] });
  const expected = { toolCalls: [{ name: 'agent' }] };
  expect(score({ entry, trace: run, expected })).toMatchObject({ score: 0 });
  expect(score({ entry: { ...entry, options: { normalize_tool_names: true } }, trace: run, expected })).toMatchObject({
    score: 1,
    details: { normalized: [{ name: 'agent_x7c9', normalized: 'agent' }] },
  });
});

const anyCall = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    arguments: fc.option(fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 0, max: 1 }), { maxKeys: 2 }), { nil: undefined }),
  },
  { requiredKeys: ['name'] },
);
const padding = Array.from({ length: 40 }, (_, at) => ({ name: `step_${at}`, arguments: { at } }));

test('tool_trajectory: a long run is compared as its parts are', () => {
  fc.assert(
    fc.property(
      fc.array(anyCall, { maxLength: 5 }),
      fc.array(anyCall, { maxLength: 5 }),
      fc.constantFrom('in_order', 'any_order'),
      fc.constantFrom('exact', 'subset', 'superset', 'ignore'),
      (called, expected, mode, args) => {
        const matched = (more: typeof padding): unknown => {
          const entry = {
            use: 'tool_trajectory',
            options: { mode, arguments: { mode: args, overrides: { b: 'exact' } } },
            expect: { tool_calls: [...expected.map((one) => ({ ...one, arguments: one.arguments ?? null })), ...more] },
          };
          return score({
            entry,
            trace: agentTrace({
              toolCalls: [...called.map(({ name, arguments: sent = {} }) => call({ name, arguments: sent })), ...more.map(call)],
            }),
          }).details['matched_count'];
        };
        expect(matched(padding)).toBe(Number(matched([])) + padding.length);
      },
    ),
    runs,
  );
});
