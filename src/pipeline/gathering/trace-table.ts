/** The traces that are gathered: found by tenant and trace id, oldest first, remembered for a while after they are gone. */
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { recentTexts } from '../../model/recent-numbers.ts';
import type { Reading } from '../assembly/span-facts.ts';
import { HeldMemory, HeldRecords, HeldSpans } from './held-spans.ts';
import type { KeyPlace } from './run-identity.ts';
import type { Parts } from './connected-spans.ts';

/** Adds a position, once, where it belongs: mostly at the end, and mostly it is there already. */
export function inOrder(positions: number[], position: number): void {
  let at = positions.length;
  while (at > 0 && (positions[at - 1] ?? 0) > position) at--;
  if (positions[at - 1] !== position) positions.splice(at, 0, position);
}

/** A run that closed, by its key's span. */
interface Closed extends KeyPlace {
  readonly revision: number;
  readonly contentHash: string;
}

export interface Trace {
  readonly key: string;
  readonly tenant: Tenant;
  readonly openedMs: number;
  readonly held: HeldSpans;
  readonly records: HeldRecords;
  readonly memory: HeldMemory;
  /** The facts of its spans, while they will be needed again. */
  reading: Pick<Reading, 'readingCache' | 'repeats'> | undefined;
  /** Absent while none has. */
  closed: Map<SpanId, Closed> | undefined;
  /** Keys of other traces that turned out to be parts of this one's run. */
  readonly joined: string[];
  /** Positions, in the journal, of the requests that brought the held data; ascending. */
  readonly positions: number[];
  bytes: number;
  lastMs: number;
  /** When the first span came that no scan has seen yet. */
  waitsSinceMs: number | undefined;
  /** The connected parts of a large trace, so that it need not be scanned as a whole. */
  parts: Parts | undefined;
  /** When it must be looked at as a whole all the same. */
  scanWholeAtMs: number;
  /** Number of requests that brought its spans. */
  requests: number;
  /** The last of them, by the count of the gatherer. */
  lastRequest: number;
  /** A root has come, or a span whose parent is in another process. */
  isRooted: boolean;
  /** True when its root is an agent: spans without a parent so far work for that agent. */
  isOneAgents: boolean;
  /** False until a span comes that a run could close on: before, a scan is needed only at `abandon`. */
  mayClose: boolean;
  /** Everything in it is closed; it is only kept for stragglers. */
  done: boolean;
  /** It was done, and nothing has come since that another run could hang on: what comes may change a verdict, and makes no first one. */
  wasDone: boolean;
}

export interface TraceTable {
  /** The trace, a new one if need be; undefined when it is gone already, so that a straggler founds no new run. */
  open(tenant: Tenant, traceId: TraceId, nowMs: number): Trace | undefined;
  find(tenant: Tenant, traceId: TraceId): Trace | undefined;
  /** Those that opened until then, oldest first; each is given once. */
  takeOpened(untilMs: number): readonly Trace[];
  /** `true` while `takeOpened` has traces to give, now or later. */
  hasOpened(): boolean;
  /** Takes a trace out. One that has closed runs is remembered, or one that is `over` for another reason, but not one that another gatherer has. */
  remove(trace: Trace, over?: 'over' | 'left'): void;
  /** Forgets the traces that are gone: another gatherer may have had them meanwhile. */
  forgetGone(): void;
  /** Moves all of `part` into `whole`, and has what still comes for it go there. Gives how many spans found no room. */
  join(part: Trace, whole: Trace, spansMax: number): number;
  /** True while something of it is held that is not closed yet. */
  isOpen(key: string): boolean;
  /** True while it may hold runs that have no verdict yet. */
  isAwaited(key: string): boolean;
  /** Oldest first. */
  all(): Iterable<Trace>;
  size(): number;
}

/** Key of a trace within its tenant. */
export function traceKey(tenant: Tenant, traceId: TraceId): string {
  return `${traceId}${tenant}`;
}

/** Length of an id as `parseTraceId` makes it. */
const traceIdChars = 32;

export function traceIdOf(key: string): TraceId {
  return key.slice(0, traceIdChars) as TraceId;
}

export function tenantOf(key: string): Tenant {
  return key.slice(traceIdChars) as Tenant;
}

export function traceTable(tombstonesMax: number): TraceTable {
  const traces = new Map<string, Trace>();
  /** By the key of a trace that was joined to another. */
  const joinedTo = new Map<string, Trace>();
  let tombstones = recentTexts(tombstonesMax);
  /** Not given by `takeOpened` yet. */
  const opened = new Set<Trace>();

  return {
    open(tenant, traceId, nowMs) {
      const key = traceKey(tenant, traceId);
      const known = traces.get(key) ?? joinedTo.get(key);
      if (known !== undefined) return known;
      if (tombstones.has(key)) return undefined;
      const trace: Trace = {
        key,
        tenant,
        openedMs: nowMs,
        held: new HeldSpans(),
        records: new HeldRecords(),
        memory: new HeldMemory(),
        reading: undefined,
        closed: undefined,
        joined: [],
        positions: [],
        bytes: 0,
        lastMs: nowMs,
        waitsSinceMs: undefined,
        parts: undefined,
        scanWholeAtMs: Infinity,
        requests: 0,
        lastRequest: 0,
        isRooted: false,
        isOneAgents: false,
        mayClose: false,
        done: false,
        wasDone: false,
      };
      traces.set(key, trace);
      opened.add(trace);
      return trace;
    },
    find: (tenant, traceId) => traces.get(traceKey(tenant, traceId)),
    takeOpened(untilMs) {
      const taken: Trace[] = [];
      for (const trace of opened) {
        if (trace.openedMs > untilMs) break;
        opened.delete(trace);
        taken.push(trace);
      }
      return taken;
    },
    hasOpened: () => opened.size > 0,
    remove(trace, over) {
      traces.delete(trace.key);
      opened.delete(trace);
      for (const key of trace.joined) joinedTo.delete(key);
      if (over !== 'left' && (trace.closed !== undefined || over === 'over'))
        for (const key of [trace.key, ...trace.joined]) tombstones.add(key);
    },
    forgetGone() {
      tombstones = recentTexts(tombstonesMax);
    },
    join(part, whole, spansMax) {
      let leftOut = 0;
      for (const [spanId, held] of part.held.entries()) {
        if (whole.held.has(spanId)) continue;
        if (whole.held.size < spansMax) whole.held.set(spanId, held);
        else leftOut++;
      }
      whole.records.join(part.records);
      whole.memory.join(part.memory);
      if (part.closed !== undefined) whole.closed = new Map([...part.closed, ...(whole.closed ?? [])]);
      for (const key of [part.key, ...part.joined]) {
        joinedTo.set(key, whole);
        whole.joined.push(key);
      }
      for (const position of part.positions) inOrder(whole.positions, position);
      whole.requests += part.requests;
      whole.isRooted ||= part.isRooted;
      whole.mayClose ||= part.mayClose;
      whole.isOneAgents ||= part.isOneAgents;
      whole.wasDone &&= part.wasDone;
      whole.lastMs = Math.max(whole.lastMs, part.lastMs);
      whole.bytes += part.bytes;
      traces.delete(part.key);
      opened.delete(part);
      return leftOut;
    },
    isOpen: (key) => (traces.get(key) ?? joinedTo.get(key))?.done === false,
    isAwaited: (key) => (traces.get(key) ?? joinedTo.get(key))?.wasDone === false,
    all: () => traces.values(),
    size: () => traces.size,
  };
}
