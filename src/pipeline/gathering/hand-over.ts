/** Gatherers that share the traces of the same clients: one of them joins the traces of a tenant, and the others hand over to it what may have to be joined. */
import { recentMap } from '../../model/recent-map.ts';
import type { SessionNote } from '../assembly/session-tool-definitions.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Reading } from '../assembly/span-facts.ts';
import type { Joining } from './trace-joining.ts';
import type { Trace } from './trace-table.ts';

/** Messages of a gatherer to the others. */
export interface OtherGatherers {
  /** True when this gatherer joins the trace with this key to others of its tenant. Later it may be another gatherer. */
  readonly joins: (key: string) => boolean;
  /** Milliseconds that a part of a run may need until it is here, when another gatherer had it first. Default: 0. */
  readonly lateMs?: () => number;
  /** Called when a trace leaves: `takeFinished` gives it. */
  readonly left: () => void;
  /** The trace with this key is linked with one here: it is to come here. */
  readonly claim: (key: string) => void;
  readonly publish?: (note: SessionNote) => void;
  /** Runs whose trace goes to the gatherer that joins. Default: those that other traces may continue. */
  readonly leaves?: (draft: Draft) => boolean;
}

/** Traces that left are known for the spans that still come for them. */
const leavingMax = 50_000;

/**
 * Joins as `here` does where this gatherer joins. Elsewhere traces leave that hold parts of runs, or spans that follow links, and so do all spans that
 * come for them later.
 */
export function sharedJoining({ joins, leaves: isLeaving = isFragment }: OtherGatherers, here: Joining): Joining {
  const leaving = recentMap<string, true>(leavingMax);
  const leave = ({ key, joined }: Trace): void => {
    for (const own of [key, ...joined]) leaving.set(own, true);
  };
  return {
    byLinks(trace, span, nowMs) {
      if (joins(trace.key)) return here.byLinks(trace, span, nowMs);
      leave(trace);
      return trace;
    },
    byFragments: (trace, drafts) => (joins(trace.key) ? here.byFragments(trace, drafts) : undefined),
    claimed: (key) => leaving.set(key, true),
    leaves(trace, drafts = [], reading) {
      if (joins(trace.key) || !(leaving.has(trace.key) || drafts.some(isLeaving) || followsLinks(reading))) return false;
      leave(trace);
      return true;
    },
    forget: here.forget,
  };
}

function followsLinks(reading: Reading | undefined): boolean {
  for (const { facts } of reading?.readingCache?.values() ?? []) if (facts.followsLinks === true) return true;
  return false;
}

function isFragment({ fragment }: Draft): boolean {
  return fragment !== undefined;
}
