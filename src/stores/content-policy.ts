/** Which runs' content is kept: their texts, arguments and results, and their spans. Verdicts and decisions are kept of every run. */
import type { ScoredRun } from '../model/scored-run.ts';
import { sampleDecision } from '../pipeline/evaluation/sampling.ts';
import type { WithoutContent } from '../model/store/store.ts';

export const contentChoices = ['all', 'failed_and_sampled', 'none'] as const;

export interface ContentChoice {
  readonly content: (typeof contentChoices)[number];
  /** Share 0..1 of the received runs that is kept whatever comes of them; of `failed_and_sampled`. */
  readonly sampleRate: number;
  /** Size of the store from which on `failed_and_sampled` lets content go. */
  readonly sampleAboveBytes: number;
}

export interface ContentRoom {
  /** True: the store uses less than this many bytes. Asked only about a run whose content would go otherwise. */
  isBelow(bytes: number): boolean;
  /** False: there is too much to do for writing content as well. Asked only about content that would be kept. */
  isCalm(): boolean;
}

/** Undefined: the content is kept. */
export function withoutContent(item: ScoredRun, choice: ContentChoice, room: ContentRoom): WithoutContent | undefined {
  return unwanted(item, choice, room) ?? (room.isCalm() ? undefined : 'overload');
}

/** Whoever pays for a question to a judge wants to see what it was about, whatever the answer. */
function unwanted(
  item: ScoredRun,
  { content, sampleRate, sampleAboveBytes }: ContentChoice,
  room: ContentRoom,
): WithoutContent | undefined {
  switch (content) {
    case 'all':
      return undefined;
    case 'none':
      return 'switched_off';
    case 'failed_and_sampled':
      return isTelling(item) || isSampled(item, sampleRate) || room.isBelow(sampleAboveBytes) ? undefined : 'sampled_out';
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
