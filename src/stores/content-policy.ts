/** Which runs' content is kept: their texts, arguments and results, and their spans. Verdicts and decisions are kept of every run. */
import type { ScoredRun } from '../model/scored-run.ts';
import { sampleDecision } from '../pipeline/evaluation/sampling.ts';
import type { WithoutContent } from '../model/store/store.ts';

export const contentChoices = ['all', 'failed_and_sampled', 'none'] as const;

export interface ContentChoice {
  readonly content: (typeof contentChoices)[number];
  /** Share 0..1 of the received runs that is kept whatever comes of them; of `failed_and_sampled`. */
  readonly sampleRate: number;
}

/** Undefined: the content is kept. `hasRoom` is asked only about what would be; false: there is too much to do for writing content as well. */
export function withoutContent(item: ScoredRun, choice: ContentChoice, hasRoom: () => boolean): WithoutContent | undefined {
  return unwanted(item, choice) ?? (hasRoom() ? undefined : 'overload');
}

/** Whoever pays for a question to a judge wants to see what it was about, whatever the answer. */
function unwanted(item: ScoredRun, { content, sampleRate }: ContentChoice): WithoutContent | undefined {
  switch (content) {
    case 'all':
      return undefined;
    case 'none':
      return 'switched_off';
    case 'failed_and_sampled':
      return isTelling(item) || isSampled(item, sampleRate) ? undefined : 'sampled_out';
  }
}

/** Somebody will want to know why, or has asked already. */
function isTelling({ run, evaluations, asked }: ScoredRun): boolean {
  return (
    asked === true ||
    run.trace.status === 'error' ||
    // Spans came after it had closed, and changed it.
    run.revision > 1 ||
    (run.completeness !== 'complete' && run.partOf === undefined) ||
    evaluations.some(
      ({ evaluatorKind, verdict }) =>
        evaluatorKind !== 'rule' || verdict.kind === 'failed' || (verdict.kind === 'scored' && verdict.passed === false),
    )
  );
}

function isSampled({ run: { traceId, traceState } }: ScoredRun, rate: number): boolean {
  return sampleDecision({ traceId, traceState, rate }).sampled;
}
