/**
 * Runs that an SDK spreads over several traces: with no span around the loop every request to a model is a trace of its own. What ties
 * them together is their history: a later request repeats the tool calls that an earlier one asked for, under the same call ids.
 */
import { messagesAfterUser } from './asked-calls.ts';
import { modelSpans } from './model-calls.ts';
import type { Node } from './tree.ts';

/** Call ids in one part of such a run. */
export interface Fragment {
  /** Calls that it asked for. */
  readonly asks: readonly string[];
  /** Calls of the present turn that it was told about, but did not ask for. */
  readonly continues: readonly string[];
}

/** More ids than this are not kept of one fragment. */
export const fragmentIdsMax = 1_000;

export function fragmentOf(own: readonly Node[]): Fragment {
  const asks = new Set<string>();
  const told = new Set<string>();
  for (const node of modelSpans(own)) {
    const { inputMessages = [], outputMessages = [] } = node.told.facts;
    for (const message of outputMessages) for (const call of message.asked) if (call.id !== undefined) asks.add(call.id);
    for (const message of messagesAfterUser(inputMessages)) for (const one of message.told) if (one.id !== undefined) told.add(one.id);
  }
  return { asks: [...asks].slice(0, fragmentIdsMax), continues: [...told].filter((id) => !asks.has(id)).slice(0, fragmentIdsMax) };
}

/** Which trace asked for a call, and which traces were told about one that nobody asked for yet. */
export interface FragmentIndex<Trace> {
  /** The trace that one continues, if it is known. */
  earlier(trace: Trace, tenant: string, fragment: Fragment): Trace | undefined;
  /** Keeps the ids of a trace; gives the traces that continue it. */
  remember(trace: Trace, tenant: string, fragment: Fragment): readonly Trace[];
  forget(trace: Trace): void;
}

export function fragmentIndex<Trace>(): FragmentIndex<Trace> {
  const asked = idIndex<Trace>();
  const awaited = idIndex<Trace>();
  return {
    earlier: (trace, tenant, { continues }) => asked.others(trace, tenant, continues)[0],
    remember(trace, tenant, { asks, continues }) {
      asked.add(trace, tenant, asks);
      awaited.add(trace, tenant, continues);
      return awaited.others(trace, tenant, asks);
    },
    forget(trace) {
      asked.remove(trace);
      awaited.remove(trace);
    },
  };
}

interface IdIndex<Trace> {
  add(trace: Trace, tenant: string, ids: readonly string[]): void;
  others(trace: Trace, tenant: string, ids: readonly string[]): readonly Trace[];
  remove(trace: Trace): void;
}

/** Each id belongs to the first trace that has it: ids that are none must not tie strangers together. */
function idIndex<Trace>(): IdIndex<Trace> {
  const owners = new Map<string, Trace>();
  const idsOf = new Map<Trace, Set<string>>();
  return {
    add(trace, tenant, ids) {
      const own = idsOf.get(trace) ?? new Set();
      for (const id of ids) {
        const key = `${tenant} ${id}`;
        if (owners.has(key) || own.size >= fragmentIdsMax) continue;
        owners.set(key, trace);
        own.add(key);
      }
      if (own.size > 0) idsOf.set(trace, own);
    },
    others(trace, tenant, ids) {
      const found = new Set<Trace>();
      for (const id of ids) {
        const owner = owners.get(`${tenant} ${id}`);
        if (owner !== undefined && owner !== trace) found.add(owner);
      }
      return [...found];
    },
    remove(trace) {
      for (const key of idsOf.get(trace) ?? []) owners.delete(key);
      idsOf.delete(trace);
    },
  };
}
