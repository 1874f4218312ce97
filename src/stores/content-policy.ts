/** Decides which runs keep their content: texts, arguments, results and spans. Every run keeps its verdicts and decisions. */
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import { shares } from '../model/shares.ts';
import { sampleDecision } from '../pipeline/evaluation/sampling.ts';
import type { WithoutContent } from '../model/store/store.ts';

export const contentChoices = ['all', 'failed_and_sampled', 'none'] as const;

export interface ContentChoice {
  readonly content: (typeof contentChoices)[number];
  /** Share 0..1 of the received runs that is kept regardless of their verdicts, for `failed_and_sampled`. */
  readonly sampleRate: number;
  /** Further runs a minute that are kept; of `failed_and_sampled`. */
  readonly perMinute: number;
}

export interface ContentRoom {
  /** Returns true to keep one more run of those that the sample lets go. */
  takes(perMinute: number, tenant: Tenant): boolean;
  /** False when the store is too busy to write content as well. Asked only about content that would be kept. */
  isCalm(): boolean;
}

/** Undefined: the content is kept. */
export function withoutContent(item: ScoredRun, choice: ContentChoice, room: ContentRoom): WithoutContent | undefined {
  return unwanted(item, choice, room) ?? (room.isCalm() ? undefined : 'overload');
}

/** Minutes without runs that count: someone who tries the service sends several runs at once. */
const quietMinutesMax = 5;
const minuteMs = 60_000;

/** A leaky bucket, empty at first. Each tenant has a share of it. */
export function contentAllowance(clock: Clock): ContentRoom['takes'] {
  let rate = 0;
  let room = shares(0);
  /** Tenants of the runs in the bucket, oldest first. */
  let kept: Tenant[] = [];
  let leakedMs = clock.nowMs();
  return (perMinute, tenant) => {
    if (perMinute === 0) return false;
    if (perMinute !== rate) [rate, room, kept] = [perMinute, shares(perMinute * quietMinutesMax), []];
    const now = clock.nowMs();
    const due = Math.max(0, Math.floor(((now - leakedMs) / minuteMs) * perMinute));
    for (const holder of kept.splice(0, due)) room.giveBack(holder);
    leakedMs = kept.length === 0 ? now : leakedMs + (due * minuteMs) / perMinute;
    if (!room.mayTake(tenant)) return false;
    room.take(tenant);
    kept.push(tenant);
    return true;
  };
}

/** A paid question to a judge should stay readable, however it was answered. */
function unwanted(item: ScoredRun, { content, sampleRate, perMinute }: ContentChoice, room: ContentRoom): WithoutContent | undefined {
  switch (content) {
    case 'all':
      return undefined;
    case 'none':
      return 'switched_off';
    case 'failed_and_sampled':
      return isTelling(item) || isSampled(item, sampleRate) || room.takes(perMinute, item.run.tenant) ? undefined : 'sampled_out';
  }
}

/** A person will want to know why, or has asked already. */
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
