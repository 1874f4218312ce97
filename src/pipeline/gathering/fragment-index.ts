/** Which traces hold parts of one run, by the keys of their fragments. */
import type { Fragment } from '../assembly/fragments.ts';

export interface FragmentIndex<Trace> {
  /** Keeps the keys of a trace; gives the traces that it goes on from, or that go on from it. */
  remember(trace: Trace, tenant: string, fragment: Fragment): readonly Trace[];
  forget(trace: Trace): void;
}

/** A key that more traces than this share tells nothing: call ids are counted from one, or everybody asks the same. */
export const tracesPerKeyMax = 8;

export function fragmentIndex<Trace>(): FragmentIndex<Trace> {
  const offered = keyIndex<Trace>();
  const sought = keyIndex<Trace>();
  return {
    remember(trace, tenant, { offers, seeks }) {
      const own = (keys: readonly string[]): readonly string[] => keys.map((key) => `${tenant} ${key}`);
      const [offersOf, seeksOf] = [own(offers), own(seeks)];
      offered.add(trace, offersOf);
      sought.add(trace, seeksOf);
      const found = new Set([...offered.traces(seeksOf), ...sought.traces(offersOf)]);
      found.delete(trace);
      return [...found];
    },
    forget(trace) {
      offered.remove(trace);
      sought.remove(trace);
    },
  };
}

interface KeyIndex<Trace> {
  add(trace: Trace, keys: readonly string[]): void;
  traces(keys: readonly string[]): readonly Trace[];
  remove(trace: Trace): void;
}

function keyIndex<Trace>(): KeyIndex<Trace> {
  const byKey = new Map<string, Set<Trace>>();
  const byTrace = new Map<Trace, Set<string>>();
  return {
    add(trace, keys) {
      const own = byTrace.get(trace) ?? new Set();
      for (const key of keys) {
        if (own.has(key)) continue;
        const sharing = byKey.get(key) ?? new Set();
        // One more than the bound, so that the key is known to be worthless.
        if (sharing.size > tracesPerKeyMax) continue;
        byKey.set(key, sharing.add(trace));
        own.add(key);
      }
      if (own.size > 0) byTrace.set(trace, own);
    },
    traces: (keys) =>
      keys.flatMap((key) => {
        const sharing = byKey.get(key);
        return sharing === undefined || sharing.size > tracesPerKeyMax ? [] : [...sharing];
      }),
    remove(trace) {
      for (const key of byTrace.get(trace) ?? []) {
        const sharing = byKey.get(key);
        sharing?.delete(trace);
        if (sharing?.size === 0) byKey.delete(key);
      }
      byTrace.delete(trace);
    },
  };
}
