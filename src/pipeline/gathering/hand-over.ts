/** Gatherers that share the traces of the same clients: one of them joins traces, and the others hand over to it what may have to be joined. */
import { recentTexts } from '../../model/recent-numbers.ts';
import type { SessionNote } from '../assembly/session-tool-definitions.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Joining } from './trace-joining.ts';

/** What a gatherer tells the others. */
export interface OtherGatherers {
  /** True: this gatherer joins traces. */
  readonly joins: boolean;
  /** Called when a trace leaves: `takeFinished` gives it. */
  readonly left: () => void;
  /** The trace with this key is linked with one here: it is to come here. */
  readonly claim: (key: string) => void;
  readonly publish: (note: SessionNote) => void;
  /** Runs whose trace goes to the gatherer that joins. Default: those that other traces may continue. */
  readonly leaves?: (draft: Draft) => boolean;
}

/** Traces with parts of a run in several traces leave, and so do all spans that come for them later. */
export function handingOver(tracesMax: number, isLeaving: (draft: Draft) => boolean = isFragment): Joining {
  const leaving = recentTexts(tracesMax);
  return {
    byLinks(trace) {
      leaving.add(trace.key);
      return trace;
    },
    byFragments: () => undefined,
    claimed: (key) => leaving.add(key),
    leaves(trace, drafts = []) {
      if (drafts.some(isLeaving)) leaving.add(trace.key);
      return leaving.has(trace.key);
    },
    forget: () => undefined,
  };
}

function isFragment({ fragment }: Draft): boolean {
  return fragment !== undefined;
}
