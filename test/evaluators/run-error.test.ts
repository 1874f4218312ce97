import { expect, test } from 'vitest';
import type { AgentTrace, Completeness } from '../../src/model/agent-trace.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';
import { score } from './score.ts';

const rows: readonly {
  readonly name: string;
  readonly trace: Partial<AgentTrace>;
  readonly completeness?: Completeness;
  readonly want: object;
}[] = [
  {
    name: 'a run that did not end in an error passes',
    trace: { status: 'ok' },
    want: { kind: 'scored', score: 1, passed: true, evidence: [] },
  },
  {
    name: 'a run in error fails with class and message',
    trace: { status: 'error', errorType: 'RateLimitError', errorMessage: 'usage limit reached', errorSpanId: spanId(1) },
    want: {
      kind: 'scored',
      score: 0,
      passed: false,
      explanation: 'The run ended in an error: RateLimitError: "usage limit reached".',
      evidence: [spanId(1)],
      details: { status: 'error', error_type: 'RateLimitError', error_message: 'usage limit reached', at: 'agent' },
    },
  },
  {
    name: 'a last request that failed is named',
    trace: { status: 'error', errorMessage: 'stream broke off', errorSpanId: spanId(2), modelCalls: [{ spanId: spanId(2), failed: true }] },
    want: {
      kind: 'scored',
      score: 0,
      explanation: 'The last request to a model failed: "stream broke off".',
      evidence: [spanId(2)],
      details: { at: 'model_call' },
    },
  },
  {
    name: 'an error without class and message is one',
    trace: { status: 'error' },
    want: { kind: 'scored', score: 0, explanation: 'The run ended in an error.' },
  },
  { name: 'a run that waits is skipped', trace: { status: 'paused' }, want: { kind: 'skipped', reason: 'paused' } },
  {
    name: 'a run whose agent span never came is skipped',
    trace: { status: 'ok' },
    completeness: 'abandoned',
    want: { kind: 'skipped', reason: 'incomplete' },
  },
  {
    name: 'an abandoned run in error fails',
    trace: { status: 'error', errorMessage: 'stream broke off' },
    completeness: 'abandoned',
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'a run that lacks other spans shows its end',
    trace: { status: 'ok' },
    completeness: 'partial',
    want: { kind: 'scored', score: 1 },
  },
];

test.each(rows)('run_error: $name', ({ trace, completeness = 'complete', want }) => {
  const whole = agentTrace(trace);
  expect(score({ entry: { use: 'run_error' }, trace: whole, run: run({ trace: whole, completeness }) })).toMatchObject(want);
});

test('run_error: a long message is shortened in the details', () => {
  const verdict = score({ entry: { use: 'run_error' }, trace: agentTrace({ status: 'error', errorMessage: 'x'.repeat(100_000) }) });
  expect(JSON.stringify(verdict).length).toBeLessThan(2_000);
});
