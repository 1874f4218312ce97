import { expect, test } from 'vitest';
import { searchedTextMax } from '../../evaluators/configuration/context.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows: readonly { readonly name: string; readonly response: JsonValue; readonly options: JsonObject; readonly want: object }[] = [
  {
    name: 'it is searched anywhere',
    response: 'order A-17 is sent',
    options: { pattern: '[A-Z]-\\d+' },
    want: { score: 1, passed: true, explanation: 'The final response matches "[A-Z]-\\d+".' },
  },
  { name: 'anchors tie it to the ends', response: 'order A-17', options: { pattern: '^[A-Z]-\\d+$' }, want: { score: 0, passed: false } },
  { name: 'a flag leaves case out', response: 'ORDER', options: { pattern: '(?i)order' }, want: { score: 1 } },
  {
    name: 'negated, a match is named',
    response: 'sorry',
    options: { pattern: 'sorry', negated: true },
    want: { score: 0, explanation: 'The final response matches "sorry", which it must not.' },
  },
  { name: 'objects are searched as JSON', response: { a: [1, 2] }, options: { pattern: '"a":\\[1,' }, want: { score: 1 } },
  {
    name: 'a text at the limit is searched to its end',
    response: `${'x'.repeat(searchedTextMax - 1)}y`,
    options: { pattern: 'y$' },
    want: { score: 1 },
  },
  {
    name: 'a text beyond the limit is too large',
    response: 'x'.repeat(searchedTextMax + 1),
    options: { pattern: 'y' },
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, response, options, want } of rows) {
  test(`regex_match: ${name}`, () => {
    expect(score({ entry: { use: 'regex_match', options }, trace: agentTrace({ finalResponse: response }) })).toMatchObject(want);
  });
}

test('regex_match: the outputs of a tool are searched, and what does not match is evidence', () => {
  const toolCalls = ['id 1', 'none'].map((result, at) => call({ name: 'create', result, spanId: spanId(at + 1) }));
  expect(
    score({ entry: { use: 'regex_match', options: { pattern: '\\d', on: { tool: 'create' } } }, trace: agentTrace({ toolCalls }) }),
  ).toMatchObject({
    score: 0.5,
    evidence: [spanId(2)],
    explanation: '1 of 2 outputs of create falls short: create (call 2) does not match "\\d".',
  });
});

for (const options of [{}, { pattern: '(' }, { pattern: '(?=a)' }, { pattern: '' }]) {
  test(`regex_match: ${JSON.stringify(options)} is refused`, () => {
    expect(() => score({ entry: { use: 'regex_match', options }, trace: agentTrace() })).toThrow(/^options\.pattern/);
  });
}
