/**
 * The boundary between the run that rules see and the run that leaves: rules score the run unredacted, and everyone else gets it without what the
 * configuration redacts. Without rules of redaction nothing is done at all.
 */
import type { ConfiguredAsking } from '../../../evaluators/configuration/configured.ts';
import type { EvaluatorRequest } from '../../../evaluators/evaluator.ts';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Verdict } from '../../model/verdict.ts';
import type { Redaction } from '../../redaction/redaction.ts';
import { changedRequests } from '../jury/judge-driver.ts';
import type { ToJudge } from './evaluate.ts';
import { runFaults } from './run-faults.ts';

export interface RedactedRun {
  readonly run: Run;
  item(item: Omit<ScoredRun, 'run'>): ScoredRun;
  /** The question about the run, redacted. */
  work(work: ToJudge): ToJudge;
  verdict(verdict: Verdict): Verdict;
}

export function redactedRun(run: Run, redaction: Redaction | undefined): RedactedRun {
  if (redaction === undefined)
    return { run, item: (item) => withFaults({ run, ...item }), work: (work) => work, verdict: (verdict) => verdict };
  const redacted = redaction.run(run);
  const { expected } = redacted.run;
  return {
    run: redacted.run,
    item: ({ evaluations, decisions, ...item }) =>
      withFaults({
        ...item,
        run: redacted.run,
        evaluations: evaluations.map(redacted.evaluation),
        decisions: decisions.map(redacted.decision),
      }),
    work: (work) => ({
      ...work,
      expected: expected === undefined ? {} : readExpectation(expected).expectation,
      configured: withRedactedRequests(work.configured, redaction),
    }),
    verdict: redacted.verdict,
  };
}

function withFaults(item: ScoredRun): ScoredRun {
  const faults = runFaults(item.run, item.evaluations);
  return faults.length === 0 ? item : { ...item, faults };
}

/** The request is written from a redacted run; where pieces of it have been put together, they are searched once more. */
function withRedactedRequests(configured: ConfiguredAsking, redaction: Redaction): ConfiguredAsking {
  return {
    ...configured,
    judge: (trace, expected, context, run) =>
      changedRequests(configured.judge(trace, expected, context, run), (request) => ({ request: redactedRequest(request, redaction) })),
  };
}

/** Instructions are not of the run. A call holds the run as a document, whose values have been searched one by one. */
function redactedRequest(request: EvaluatorRequest, { text }: Redaction): EvaluatorRequest {
  switch (request.kind) {
    case 'embed':
      return { ...request, texts: request.texts.map(text) };
    case 'call':
      return request;
    default:
      return { ...request, data: request.data.map((block) => ({ ...block, text: text(block.text) })) };
  }
}
