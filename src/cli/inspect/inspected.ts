/** Runs with what every evaluator makes of them, sub-agents under the agent that they work for. */
import type { Run, SubAgent } from '../../model/agent-trace.ts';
import { evaluability, type Catalogue, type Evaluability } from './evaluability.ts';
import type { Replayed } from './replay.ts';
import type { Recorded } from './recording.ts';

export interface InspectedRun {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
  /** How the agent above passed the work on; absent for an agent that works for no other here. */
  readonly via?: SubAgent;
  readonly subRuns: readonly InspectedRun[];
}

/** The result of `inspect`, for every output format. */
export interface Report {
  readonly recorded: Recorded;
  readonly replayed: Replayed;
  readonly runs: readonly InspectedRun[];
}

export function inspected(runs: readonly Run[], catalogue: Catalogue): readonly InspectedRun[] {
  const known = new Set(runs.map(keyOf));
  const children = Map.groupBy(runs, (run) => (run.parent !== undefined && known.has(keyOf(run.parent)) ? keyOf(run.parent) : ''));
  const of = (run: Run, parent: Run | undefined): InspectedRun => {
    const via = parent?.trace.subAgents.find(({ spanId }) => spanId === run.spanId);
    return {
      run,
      evaluability: evaluability(run, catalogue),
      ...(via === undefined ? {} : { via }),
      subRuns: (children.get(keyOf(run)) ?? []).map((child) => of(child, run)),
    };
  };
  return (children.get('') ?? []).map((run) => of(run, undefined));
}

function keyOf({ traceId, spanId }: Pick<Run, 'traceId' | 'spanId'>): string {
  return `${traceId}/${spanId}`;
}
