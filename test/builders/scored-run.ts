/** Scored runs by hand: a test shows only what matters to it. */
import type { ScoredRun } from '../../src/model/scored-run.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { noTenant, parseTraceId } from '../../src/model/ids.ts';
import { type Evaluation, runTargetId, type Verdict } from '../../src/model/verdict.ts';
import { agentTrace, spanId } from './agent-trace.ts';

type ScoredVerdict = Extract<Verdict, { kind: 'scored' }>;

export function run(members: Partial<Run> = {}): Run {
  const traceId = parseTraceId('4bf92f3577b34da6a3ce929d0e0e4736');
  if (traceId === undefined) throw new Error('not a trace id');
  return {
    tenant: noTenant,
    traceId,
    spanId: spanId(0xa1),
    trace: agentTrace({ agent: 'travel-agent' }),
    dialects: ['gen_ai'],
    service: 'travel',
    resourceAttributes: { 'service.name': 'travel' },
    traceState: '',
    startUnixNano: 1_700_000_000_000_000_000n,
    endUnixNano: 1_700_000_001_123_456_789n,
    completeness: 'complete',
    revision: 1,
    contentHash: 'c',
    ...members,
  };
}

export function scored(score: number, members: Partial<ScoredVerdict> = {}): ScoredVerdict {
  const passed = score >= 0.5;
  return {
    kind: 'scored',
    score,
    threshold: 0.5,
    passed,
    label: passed ? 'pass' : 'fail',
    explanation: `It is ${score}.`,
    evidence: [],
    parts: [],
    details: {},
    ...members,
  };
}

export const skipped: Verdict = { kind: 'skipped', reason: 'no_tool_calls', explanation: 'It called no tool.', details: {} };

export function failed(error = 'judge_timed_out: no answer'): Verdict {
  return { kind: 'failed', error, explanation: 'The judge did not answer.', details: {} };
}

export function evaluation(name: string, verdict: Verdict, of: Run = run(), members: Partial<Evaluation> = {}): Evaluation {
  return {
    key: { tenant: of.tenant, targetKind: 'run', targetId: runTargetId(of), name },
    run: { tenant: of.tenant, traceId: of.traceId, spanId: of.spanId },
    evaluator: name,
    evaluatorKind: 'rule',
    evaluatorVersion: 1,
    optionsHash: 'o',
    revision: of.revision,
    completeness: of.completeness,
    verdict,
    sampleProbability: 1,
    ...members,
  };
}

/** A run with verdicts by evaluator name. */
export function scoredRun(verdicts: { readonly [name: string]: Verdict }, of: Run = run(), members: Partial<Evaluation> = {}): ScoredRun {
  return { run: of, evaluations: Object.entries(verdicts).map(([name, verdict]) => evaluation(name, verdict, of, members)), decisions: [] };
}
