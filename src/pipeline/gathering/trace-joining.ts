/** Joins traces that hold parts of one run: by the links of their spans, and by the contents of their requests and tools. */
import type { Span } from '../../model/span.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Reading } from '../assembly/span-facts.ts';
import { traceKey, type Trace, type TraceTable } from './trace-table.ts';
import type { Fragment } from '../assembly/fragments.ts';

/** Parts of one run. An agent loop seldom goes beyond some hundred requests, and each part that comes has the whole looked at. */
export const tracesPerRunMax = 1_000;
/** A message answers one message, or a few. */
const linksPerSpanMax = 8;

export interface Joining {
  /** The trace that now holds `trace` and those that the span's links name. Those may come later: their spans will go there too. */
  byLinks(trace: Trace, span: Span, nowMs: number): Trace;
  /** Joins a trace to those that hold other parts of its runs. Undefined: nothing to join, or no room. */
  byFragments(trace: Trace, drafts: readonly Draft[]): Trace | undefined;
  forget(trace: Trace): void;
  /** True when the trace belongs to another gatherer. `drafts`, `reading`: its runs and the facts of its spans, when they are known. */
  leaves(trace: Trace, drafts?: readonly Draft[], reading?: Reading): boolean;
  /** The trace with this key belongs to another gatherer. */
  claimed(key: string): void;
}

interface JoiningOptions {
  readonly traces: TraceTable;
  readonly telemetry: Telemetry;
  readonly spansMax: number;
  /** A trace became part of another one. */
  readonly gone: (part: Trace) => void;
  /** Called with the key of a trace that a span links to. */
  readonly linked?: ((key: string) => void) | undefined;
}

export function joining({ traces, telemetry, spansMax, gone, linked = () => undefined }: JoiningOptions): Joining {
  const fragments = fragmentIndex<Trace>();

  /** The smaller goes into the larger, so that a span moves only a few times however many join. */
  function joined(one: Trace, other: Trace, by: 'link' | 'content'): Trace | undefined {
    if (one.joined.length + other.joined.length + 2 > tracesPerRunMax) {
      telemetry.add('tracejury.traces.not_joined', 1, { 'tracejury.reason': 'traces_per_run' });
      return undefined;
    }
    const [part, whole] = one.held.size > other.held.size ? [other, one] : [one, other];
    const leftOut = traces.join(part, whole, spansMax);
    if (leftOut > 0) telemetry.add('tracejury.spans.over_limit', leftOut);
    fragments.forget(part);
    gone(part);
    telemetry.add('tracejury.traces.joined', 1, { 'tracejury.reason': by });
    return whole;
  }

  return {
    byLinks(trace, span, nowMs) {
      let whole = trace;
      for (const link of span.links.slice(0, linksPerSpanMax)) {
        linked(traceKey(trace.tenant, link.traceId));
        const other = traces.open(trace.tenant, link.traceId, nowMs);
        if (other === undefined || other === whole) continue;
        const both = joined(other, whole, 'link');
        if (both === undefined && other.held.size === 0 && other.records.size === 0) traces.remove(other);
        whole = both ?? whole;
      }
      return whole;
    },
    byFragments(trace, drafts) {
      let whole: Trace | undefined;
      for (const { fragment } of drafts) {
        if (fragment === undefined) continue;
        for (const other of fragments.remember(whole ?? trace, trace.tenant, fragment))
          whole = joined(other, whole ?? trace, 'content') ?? whole;
      }
      return whole;
    },
    forget: (trace) => fragments.forget(trace),
    leaves: () => false,
    claimed: () => undefined,
  };
}

/** The traces that hold parts of one run, by the keys of their fragments. */
interface FragmentIndex<Trace> {
  /** Keeps the keys of a trace; gives the traces that it goes on from, or that go on from it. */
  remember(trace: Trace, tenant: string, fragment: Fragment): readonly Trace[];
  forget(trace: Trace): void;
}

/** A key that more traces share identifies nothing: call ids are counted from one, or all ask the same question. */
const tracesPerKeyMax = 8;

function fragmentIndex<Trace>(): FragmentIndex<Trace> {
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
