import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows: readonly {
  readonly name: string;
  readonly trace: Partial<AgentTrace>;
  readonly options?: JsonObject;
  readonly want: object;
}[] = [
  {
    name: 'a text is a response',
    trace: { finalResponse: 'done' },
    want: { kind: 'scored', score: 1, passed: true, explanation: 'The run ended with a final response.' },
  },
  { name: 'zero and false are responses', trace: { finalResponse: 0 }, want: { kind: 'scored', score: 1 } },
  {
    name: 'white space is none',
    trace: { finalResponse: ' \n' },
    want: { kind: 'scored', score: 0, explanation: 'The final response is empty.' },
  },
  { name: 'an empty object is none', trace: { finalResponse: {} }, want: { kind: 'scored', score: 0 } },
  {
    name: 'an empty list is one on demand',
    trace: { finalResponse: [] },
    options: { empty_containers: true },
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'with an input, silence is evidence',
    trace: { input: 'Hi' },
    want: { kind: 'scored', score: 0, explanation: 'The run ended without a final response.' },
  },
  {
    name: 'a failed run without a response is evidence',
    trace: { status: 'error', errorMessage: 'out of tokens' },
    want: { kind: 'scored', score: 0, explanation: 'The run failed without a final response: "out of tokens".' },
  },
  { name: 'without any content it is skipped', trace: {}, want: { kind: 'skipped', reason: 'no_final_response' } },
];
for (const { name, trace, options = {}, want } of rows) {
  test(`final_response_present: ${name}`, () => {
    expect(score({ entry: { use: 'final_response_present', options }, trace: agentTrace(trace) })).toMatchObject(want);
  });
}
