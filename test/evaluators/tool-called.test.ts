import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const mail = (to: string, at: number) => call({ name: 'mail', arguments: { to, cc: 'z' }, spanId: spanId(at) });
const trace = agentTrace({ toolCalls: [mail('a', 1), call({ name: 'find', spanId: spanId(2) }), mail('b', 3)] });

const rows: readonly { readonly name: string; readonly options: JsonObject; readonly want: object }[] = [
  {
    name: 'once is enough when no number is asked',
    options: { name: 'mail' },
    want: { score: 1, passed: true, evidence: [spanId(1), spanId(3)], explanation: 'mail was called 2 times, as asked (at least 1).' },
  },
  {
    name: 'a tool that was not called fails',
    options: { name: 'pay' },
    want: { score: 0, passed: false, evidence: [], explanation: 'pay was called 0 times instead of at least 1.' },
  },
  {
    name: 'a number is exact',
    options: { name: 'mail', times: 1 },
    want: { score: 0, explanation: 'mail was called 2 times instead of 1.' },
  },
  { name: 'a range has both bounds', options: { name: 'mail', times: { min: 1, max: 2 } }, want: { score: 1 } },
  { name: 'zero forbids the tool', options: { name: 'find', times: 0 }, want: { score: 0, evidence: [spanId(2)] } },
  { name: 'zero holds for a tool that was not called', options: { name: 'pay', times: 0 }, want: { score: 1 } },
  { name: 'arguments are exact by default', options: { name: 'mail', arguments: { to: 'a' } }, want: { score: 0, details: { count: 0 } } },
  {
    name: 'arguments may be a subset',
    options: { name: 'mail', arguments: { to: 'a' }, arguments_match: { mode: 'subset' } },
    want: { score: 1, details: { count: 1, calls: [{ index: 0 }], calls_with_other_arguments: [{ index: 2 }] } },
  },
  { name: 'a name is equal or another', options: { name: 'ma.il' }, want: { score: 0 } },
  { name: 'null arguments are any', options: { name: 'mail', arguments: null, times: 2 }, want: { score: 1 } },
];
for (const { name, options, want } of rows) {
  test(`tool_called: ${name}`, () => {
    expect(score({ entry: { use: 'tool_called', options }, trace })).toMatchObject({ kind: 'scored', ...want });
  });
}

test('tool_called: a miss by arguments names the nearest call and its difference', () => {
  const options = { name: 'mail', arguments: { to: 'c', cc: 'z' } };
  expect(score({ entry: { use: 'tool_called', options }, trace: agentTrace({ toolCalls: [mail('a', 1)] }) })).toMatchObject({
    explanation: 'mail was called 0 times with these arguments instead of at least 1; nearest: mail (call 1): "to" differs.',
    evidence: [spanId(1)],
  });
});

test('tool_called: a name may be normalised', () => {
  const options = { name: 'agent', normalize_tool_names: true };
  expect(score({ entry: { use: 'tool_called', options }, trace: agentTrace({ toolCalls: [call({ name: 'agent_nxle' })] }) })).toMatchObject(
    { score: 1, details: { normalized: [{ name: 'agent_nxle', normalized: 'agent' }] } },
  );
});

test('tool_called: it is skipped where the spans carry no calls', () => {
  const named = { use: 'tool_called', options: { name: 't' } };
  expect(score({ entry: named, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(
    score({
      entry: { use: 'tool_called', options: { name: 't', arguments: {} } },
      trace: agentTrace({ toolCalls: [call({ arguments: undefined })] }),
    }),
  ).toMatchObject({ kind: 'skipped', reason: 'arguments_not_carried' });
});

const refused: readonly { readonly options: JsonObject; readonly key: string }[] = [
  { options: {}, key: 'name' },
  { options: { name: '' }, key: 'name' },
  { options: { name: 't', times: 'often' }, key: 'times' },
  { options: { name: 't', times: ['=>', 1] }, key: 'times' },
  { options: { name: 't', times: -1 }, key: 'times' },
];
for (const { options, key } of refused) {
  test(`tool_called: ${JSON.stringify(options)} is refused at ${key}`, () => {
    expect(configuredEvaluator({ use: 'tool_called', options }, evaluators)).toMatchObject({
      kind: 'faulty',
      faults: [{ path: ['options', key] }],
    });
  });
}
