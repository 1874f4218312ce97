/** The run, or its slowest tool call, kept within a budget of time. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { budgetShare } from './pricing/prices.ts';
import { callDetails, evidenceOf, executedCalls, notCarried, noToolCalls, skipped, type PlacedCall } from './evidence/calls.ts';
import { callName } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { choice, optional } from './configuration/option-table.ts';

export const latency = rule({
  id: 'latency',
  summary: 'The run, or its slowest tool call, kept within the budget of time.',
  needs: ['times'],
  defaultThreshold: 1,
  options: {
    of: choice(['run', 'slowest_tool_call'], 'What is measured.'),
    budget_seconds: optional<number>({
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 31_536_000,
      description: 'Up to here the score is 1; beyond it budget / actual. Without a budget it is skipped, and the details tell the time.',
    }),
  },
  source: 'latency objectives, as a share of a budget',
  evaluate({ trace }, options) {
    const measured = options.of === 'run' ? ofRun(trace) : ofCalls(trace);
    if ('kind' in measured) return measured;
    const { nanos, slowest } = measured;
    const seconds = Number(nanos) / 1e9;
    const what = slowest === undefined ? 'The run' : `The slowest tool call, ${callName(slowest)},`;
    const details = { of: options.of, seconds, ...(slowest === undefined ? {} : { slowest: callDetails(slowest) }) };
    if (options.budgetSeconds === undefined)
      return skipped('no_expectation', `${what} took ${rounded(seconds)} s; set budget_seconds to score it.`, details);
    const score = budgetShare(options.budgetSeconds, seconds);
    return {
      kind: 'scored',
      score,
      explanation: `${what} took ${rounded(seconds)} s, ${score === 1 ? 'within' : 'more than'} the budget of ${rounded(options.budgetSeconds)} s.`,
      evidence: score === 1 || slowest === undefined ? [] : evidenceOf([slowest]),
      details: { ...details, budget_seconds: options.budgetSeconds },
    };
  },
});

interface Measured {
  readonly nanos: bigint;
  readonly slowest?: PlacedCall;
}

function ofRun({ startUnixNano, endUnixNano }: AgentTrace): Measured | Outcome {
  if (startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano)
    return skipped('no_times', 'Nothing tells when the run began and ended.');
  return { nanos: endUnixNano - startUnixNano };
}

function ofCalls(trace: AgentTrace): Measured | Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const timed = calls.flatMap((placed) => {
    const { startUnixNano, endUnixNano } = placed.call;
    return startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano
      ? []
      : [{ slowest: placed, nanos: endUnixNano - startUnixNano }];
  });
  const [first, ...more] = timed;
  if (first === undefined) return skipped('no_times', 'The tool calls of this run have no times; switch on tool spans.');
  return more.reduce((slow, one) => (one.nanos > slow.nanos ? one : slow), first);
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
