import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const run = (...names: readonly string[]) => agentTrace({ toolCalls: names.map((name, at) => call({ name, spanId: spanId(at + 1) })) });

const rows = [
  {
    name: 'what is allowed is permitted',
    names: ['read', 'list'],
    options: { allow: ['read', 'list'] },
    want: { score: 1, passed: true, explanation: 'All 2 tool calls were permitted.' },
  },
  {
    name: 'what is not allowed is not',
    names: ['read', 'write'],
    options: { allow: ['read'] },
    want: {
      score: 0.5,
      passed: false,
      evidence: [spanId(2)],
      explanation: '1 of 2 tool calls was not permitted: write (call 2) is not on the list of permitted tools.',
      details: { breaches: [{ index: 1, reason: 'not_allowed' }] },
      parts: [{ passed: true }, { passed: false }],
    },
  },
  {
    name: 'what is denied is not permitted, though it is allowed',
    names: ['db.drop'],
    options: { allow: ['db.*'], deny: ['*drop*'] },
    want: {
      score: 0,
      explanation: '1 of 1 tool call was not permitted: db.drop (call 1) is denied by "*drop*".',
      details: { breaches: [{ reason: 'denied', pattern: '*drop*' }] },
    },
  },
  { name: 'with only deny all others are permitted', names: ['read', 'drop'], options: { deny: ['drop'] }, want: { score: 0.5 } },
  { name: 'an empty list allows nothing', names: ['read'], options: { allow: [] }, want: { score: 0 } },
  { name: 'names may be normalised', names: ['agent_x7c9'], options: { allow: ['agent'], normalize_tool_names: true }, want: { score: 1 } },
];
for (const { name, names, options, want } of rows) {
  test(`tool_permission: ${name}`, () => {
    expect(score({ entry: { use: 'tool_permission', options }, trace: run(...names) })).toMatchObject({ kind: 'scored', ...want });
  });
}

const patterns = [
  { pattern: 'a*', name: 'a', fits: true },
  { pattern: 'a*', name: 'ba', fits: false },
  { pattern: '*a', name: 'ba', fits: true },
  { pattern: '*', name: '', fits: true },
  { pattern: 'a*a', name: 'a', fits: false },
  { pattern: 'a*a', name: 'aa', fits: true },
  { pattern: 'a*b*c', name: 'axbxbyc', fits: true },
  { pattern: 'a*b*c', name: 'axcxb', fits: false },
  { pattern: 'a.c', name: 'abc', fits: false },
  { pattern: 'A', name: 'a', fits: false },
];
for (const { pattern, name, fits } of patterns) {
  test(`tool_permission: ${pattern} ${fits ? 'stands' : 'does not stand'} for ${JSON.stringify(name)}`, () => {
    expect(score({ entry: { use: 'tool_permission', options: { allow: [pattern] } }, trace: run(name) })).toMatchObject({
      score: fits ? 1 : 0,
    });
  });
}

test('tool_permission: a call that was asked for and did not run counts', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'drop', executed: false })] });
  expect(score({ entry: { use: 'tool_permission', options: { deny: ['drop'] } }, trace })).toMatchObject({ score: 0 });
});

test('tool_permission: it is skipped without calls, and without tool data', () => {
  const entry = { use: 'tool_permission', options: { deny: ['x'] } };
  expect(score({ entry, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_calls' });
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
});

test('tool_permission: takes a run of 50,000 calls and finds the one that is denied', () => {
  const toolCalls = Array.from({ length: 50_000 }, (_, at) => call({ name: at === 49_999 ? 'drop_table' : `t${at}` }));
  const verdict = score({ entry: { use: 'tool_permission', options: { deny: ['drop*'] } }, trace: agentTrace({ toolCalls }) });
  expect(verdict).toMatchObject({
    kind: 'scored',
    passed: false,
    details: { total: 50_000, permitted: 49_999, parts_left_out: { failed: 0, passed: 49_000 } },
  });
  expect(verdict.kind === 'scored' ? verdict.parts.filter(({ passed }) => !passed).map(({ tool }) => tool) : []).toEqual(['drop_table']);
});

test('tool_permission: never passes calls that were not compared', () => {
  const long = Array.from({ length: 60 }, (_, at) => call({ name: `${'x'.repeat(1_000_000)}${at}` }));
  const entry = { use: 'tool_permission', options: { deny: ['drop*'] } };
  expect(score({ entry, trace: agentTrace({ toolCalls: long }) })).toMatchObject({ kind: 'skipped', reason: 'too_large' });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'drop' }), ...long] }) })).toMatchObject({
    kind: 'scored',
    passed: false,
  });
});

test('tool_permission: spans that lost calls are not proof', () => {
  const entry = { use: 'tool_permission', options: { deny: ['drop'] } };
  expect(score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'a' })], truncated: ['spans'] }) })).toMatchObject({
    kind: 'skipped',
    reason: 'truncated',
  });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'drop' })], truncated: ['spans'] }) })).toMatchObject({
    kind: 'scored',
    passed: false,
  });
});

test('tool_permission: without any list it is skipped', () => {
  expect(score({ entry: { use: 'tool_permission' }, trace: run('a') })).toMatchObject({
    kind: 'skipped',
    reason: 'no_expectation',
    explanation: 'No expected tools (allow, deny) are given for this run.',
  });
});
