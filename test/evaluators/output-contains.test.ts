import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows = [
  {
    name: 'case does not count',
    response: 'all ok',
    options: { text: 'OK' },
    want: { score: 1, passed: true, explanation: 'The final response contains "OK".' },
  },
  {
    name: 'case counts on demand',
    response: 'all ok',
    options: { text: 'OK', case_sensitive: true },
    want: { score: 0, passed: false, label: 'fail', explanation: 'The final response lacks "OK".' },
  },
  { name: 'an object is searched as JSON', response: { status: 'ok' }, options: { text: '"status":"ok"' }, want: { score: 1 } },
];
for (const { name, response, options, want } of rows) {
  test(`output_contains: ${name}`, () => {
    expect(score({ entry: { use: 'output_contains', options }, trace: agentTrace({ finalResponse: response }) })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('output_contains: the culprits among the outputs of a tool are named', () => {
  const toolCalls = [1, 2, 3].map((at) => call({ name: 'get', result: at === 2 ? 'no' : 'ok', spanId: spanId(at) }));
  expect(
    score({ entry: { use: 'output_contains', options: { text: 'ok', on: { tool: 'get' } } }, trace: agentTrace({ toolCalls }) }),
  ).toMatchObject({ score: 2 / 3, passed: false, evidence: [spanId(2)] });
});

test('output_contains: without a text it is refused', () => {
  expect(() => score({ entry: { use: 'output_contains' }, trace: agentTrace() })).toThrow('options.text is missing');
});
