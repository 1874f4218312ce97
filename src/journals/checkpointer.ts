/**
 * Writes requests to the journal before the pipeline gathers them, replays open ones after a restart, and commits those that are not needed.
 * A trace needs its requests until its runs are scored and stored. A record `done` then marks it, as open traces may share its requests.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import { keyShapes } from '../otlp/read/key-shapes.ts';
import { traceKey } from '../pipeline/gathering/trace-table.ts';
import type { FinishedTrace, JournalReferences } from '../pipeline/gathering/journal-references.ts';
import type { MemoryReference, Received } from '../model/ingest.ts';
import type { DeliveryWatermarks, Watermark } from '../model/watermark.ts';
import { doneRecord, forwardedBelow, forwardedRecord, keysOf, readRequest, type Request, encodingOf } from './records.ts';
import type { Appended, Journal, JournalRecord, Position, Recovery, JournalEntry } from './journal.ts';
import type { OtlpEncoding } from '../otlp/read/read.ts';
import type { Context } from '../telemetry/context.ts';

/** The part of the pipeline that the checkpointer uses. */
interface Flow {
  /** `origin`: the first position of a request that was moved up; `memory`: in which the spans lie, where it is used again. */
  spans(tenant: Tenant, spans: readonly Span[], position: number, origin?: number, memory?: MemoryReference): void;
  logs(tenant: Tenant, records: readonly LogRecord[], position: number): void;
  readonly references: JournalReferences;
  /** Drops traces with requests at these positions. Gives the positions whose requests are to be gathered again. */
  drop(isLost: (position: number) => boolean): readonly number[];
}

export interface CheckpointerOptions extends Pick<Context, 'clock' | 'telemetry'> {
  readonly journal: Journal;
  readonly flow: Flow;
  readonly watermarks: DeliveryWatermarks;
  /** Limit of a replayed request, inflated. */
  readonly inflatedBytesMax: number;
  /** Stores the spans of finished traces. When absent, they are not stored. */
  readonly archive?: Archive;
  /** When absent, nothing is forwarded. */
  readonly forward?: ForwardPort;
  /** Called after a trace that left is gathered again. */
  readonly onReturn?: () => void;
}

/** The part of a request that the journal does not record. */
type Plain = Pick<Received, 'plain' | 'plainMemory' | 'isWhole'>;

interface Archive {
  /** The journal keeps the requests of the trace until it resolves. `undefined` when the trace is not archived. */
  keep(trace: FinishedTrace): Promise<void> | undefined;
  /** Resolves when the gatherer that joins the trace has it. False when that one cannot have it, so it stays here. */
  handOver(trace: FinishedTrace): Promise<boolean>;
}

export interface Checkpointer {
  /** Resolves when the spans are durable and gathered, or with the reason of a refusal. */
  spans(record: JournalRecord, spans: readonly Span[], request?: Plain): Promise<Appended>;
  logs(record: JournalRecord, records: readonly LogRecord[], request?: Plain): Promise<Appended>;
  /** Replays what an earlier process left open, before any new request. Resolves with the number of requests. */
  replay(): Promise<number>;
  /** Gathers a record of a shared journal. */
  arrived(entry: JournalEntry): Promise<void>;
  /** Drops the records on these positions of a shared journal. Resolves when the rest of their traces is gathered again. */
  lost(isLost: (position: number) => boolean): Promise<void>;
  /** Takes up finished traces: their spans are archived, or go to the process that joins them. */
  take(): void;
  /** Marks finished traces, moves old requests of open ones up, and commits. Called regularly, one call at a time. */
  tend(): Promise<void>;
  /** `true` while a finished trace or a replay keeps requests that the next call of `tend` may commit. */
  isWaiting(): boolean;
  /** Archives the spans of finished traces; resolves when they are stored. */
  archived(): Promise<void>;
  /** Called before the journal stops. */
  stop(): Promise<void>;
  /** Used share of the journal; 1 when it has no room. */
  fill(): number;
}

/** With a store in memory, an outage of a backend must not fill the journal. A crash may then lose scores for that backend. */
const sentWithinMs = 60_000;
/** Traces of one record. */
const keysPerRecord = 500;
/** Spans that the pipeline gets in one turn: some milliseconds. Other requests are answered between the parts of a larger one. */
const spansPerTurn = 2_000;
/** Requests that are moved up in one turn, so that new ones do not wait. */
const movedPerTurn = 16;
/** Requests of this age are moved up from this used share of the journal on. The runs of younger ones mostly end soon. */
const moves = [
  { fromShare: 0.75, afterMs: 5_000 },
  { fromShare: 0.5, afterMs: 60_000 },
] as const;

interface Waiting extends FinishedTrace {
  /** All scored runs of the trace are at or below it. */
  readonly delivered: Watermark;
  readonly sinceMs: number;
  /** False while its spans are being archived. */
  isKept: boolean;
  readonly kept: Promise<void> | undefined;
}

export function checkpointer({
  journal,
  flow,
  watermarks,
  telemetry,
  clock,
  inflatedBytesMax,
  archive,
  forward,
  onReturn = () => undefined,
}: CheckpointerOptions): Checkpointer {
  /** End of the journal when each request in progress came: the request is there or above. */
  const inFlight = new Set<{ readonly from: Position }>();
  const shapes = keyShapes();
  let waiting: Waiting[] = [];
  /** The journal records that everything below is forwarded. */
  let noted = 0;
  /** The replay, until its requests are scored and stored. */
  let replayed: { readonly recovery: Recovery; readonly before: Position } | undefined;

  async function taken(record: JournalRecord, gather: (position: Position) => void | Promise<void>, from?: 'reserve'): Promise<Appended> {
    const way = { from: journal.end() };
    inFlight.add(way);
    try {
      const appended = await journal.append(record, from);
      // A record of a shared journal is gathered where it arrives.
      if (appended.kind === 'appended' && journal.shared === undefined) await gather(appended.position);
      return appended;
    } finally {
      inFlight.delete(way);
    }
  }

  /** The request is in progress until it resolves, so the journal keeps it. `undefined` when all spans are gathered at once. */
  function handOver(tenant: Tenant, spans: readonly Span[], position: Position, memory?: MemoryReference): Promise<void> | undefined {
    if (spans.length > spansPerTurn) return handOverInParts(tenant, spans, position, memory);
    flow.spans(tenant, spans, position, undefined, memory);
    return undefined;
  }

  async function handOverInParts(tenant: Tenant, spans: readonly Span[], position: Position, memory?: MemoryReference): Promise<void> {
    for (let at = 0; at < spans.length; at += spansPerTurn) {
      if (at > 0) await turn();
      flow.spans(tenant, spans.slice(at, at + spansPerTurn), position, undefined, memory);
    }
  }

  function gather({ tenant, origin }: JournalRecord, request: Request, position: Position, isDone: (key: string) => boolean): void {
    const isOpen = (one: Span | LogRecord): boolean => !isDone(traceKey(tenant, one.traceId));
    if (request.kind === 'traces') flow.spans(tenant, request.spans.filter(isOpen), position, origin);
    else flow.logs(tenant, request.records.filter(isOpen), position);
  }

  /** Keys of all traces with a record `done`, and the position below which everything is forwarded. */
  async function notes(): Promise<{ readonly done: ReadonlySet<string>; readonly forwarded: number }> {
    const done = new Set<string>();
    let forwarded = 0;
    for await (const { record } of journal.read(journal.oldest())) {
      if (record.kind === 'done') for (const key of keysOf(record)) done.add(key);
      else if (record.kind === 'forwarded') forwarded = Math.max(forwarded, forwardedBelow(record));
    }
    return { done, forwarded };
  }

  /** For a trace that left and comes back. */
  async function gatherAgain({ keys, positions }: FinishedTrace): Promise<void> {
    const own = new Set(keys);
    for (const position of positions as readonly Position[]) {
      const record = await journal.at(position);
      if (record !== undefined) gather(record, readRequest(record, inflatedBytesMax, shapes), position, (key) => !own.has(key));
    }
    onReturn();
  }

  /** A finished trace keeps its requests until its runs are stored. */
  function takeFinished(): void {
    for (const trace of flow.references.takeFinished()) {
      const kept =
        trace.leaves === true
          ? archive?.handOver(trace).then((isTaken) => (isTaken ? undefined : gatherAgain(trace)))
          : archive?.keep(trace);
      const one: Waiting = { ...trace, delivered: watermarks.delivered(), sinceMs: clock.nowMs(), isKept: kept === undefined, kept };
      void kept?.then(() => {
        one.isKept = true;
      });
      waiting.push(one);
    }
  }

  /** Spans of the trace wait for verdicts before they are forwarded. */
  const isHeld = (key: string): boolean => forward?.isHeld(key) === true;

  async function markDone(): Promise<void> {
    takeFinished();
    const [stored, sent, nowMs] = [watermarks.stored(), watermarks.sent(), clock.nowMs()];
    // Both conditions hold for all traces that finished later.
    const undelivered = waiting.findIndex(
      ({ delivered, sinceMs }) => delivered > stored || (delivered > sent && nowMs - sinceMs < sentWithinMs),
    );
    /** Traces that wait, though they finished earlier, hold up only what came for them later. */
    const pending = new Set<string>();
    const ready = (undelivered === -1 ? waiting : waiting.slice(0, undelivered)).filter(({ keys, isKept }) => {
      if (isKept && !keys.some((key) => isHeld(key) || pending.has(key))) return true;
      for (const key of keys) pending.add(key);
      return false;
    });
    let marked = 0;
    for (let at = 0; at < ready.length; at += keysPerRecord) {
      const some = ready.slice(at, at + keysPerRecord);
      const { kind } = await journal.append(
        doneRecord(
          some.flatMap(({ keys }) => keys),
          clock.nowMs(),
        ),
        'reserve',
      );
      if (kind === 'refused') break;
      marked += some.length;
    }
    // More traces may have finished during the writes, and others may be lost.
    const done = new Set(ready.slice(0, marked));
    waiting = waiting.filter((trace) => !done.has(trace));
  }

  /** A run that stays open for hours would keep every later request in the journal. */
  async function moveUp(): Promise<void> {
    for (let moved = 0; moved < movedPerTurn; moved++) {
      const move = moves.find(({ fromShare }) => journal.bytesUsed() > journal.bytesMax * fromShare);
      if (move === undefined) return;
      const from = flow.references.oldestPosition() as Position | undefined;
      // A request that is not forwarded keeps its position anyway.
      if (from === undefined || from >= (forward?.oldest() ?? Infinity)) return;
      const record = await journal.at(from);
      if (record === undefined) {
        // The record is damaged, so keeping its position saves nothing.
        flow.references.moved(from, journal.end());
        continue;
      }
      // A negative age means that the clock was set back, so the age is unknown.
      const ageMs = clock.nowMs() - record.receivedMs;
      if (ageMs >= 0 && ageMs < move.afterMs) return;
      const request = readRequest(record, inflatedBytesMax, shapes);
      const keys = new Set(
        (request.kind === 'traces' ? request.spans : request.records).map(({ traceId }) => traceKey(record.tenant, traceId)),
      );
      takeFinished();
      const unstored = new Set(waiting.flatMap((trace) => trace.keys));
      const done = [...keys].filter((key) => !flow.references.isOpen(key) && !unstored.has(key));
      // The record comes first: a replay of the copy must skip these traces.
      if (done.length > 0 && (await journal.append(doneRecord(done, clock.nowMs()), 'reserve')).kind === 'refused') return;
      const again = await taken(
        { ...record, isCopy: true, origin: record.origin ?? from, receivedMs: clock.nowMs() },
        (to) => flow.references.moved(from, to),
        'reserve',
      );
      if (again.kind === 'refused') return;
      if (done.length > 0 && (await journal.append(doneRecord(done, clock.nowMs()), 'reserve')).kind === 'refused') return;
      telemetry.add('tracejury.journal.moved', 1);
    }
  }

  /** The lowest position that a restart needs. */
  function needed(): Position {
    takeFinished();
    return least([unsent(), flow.references.oldestPosition(), ...waiting.map(({ positions }) => positions[0])]);
  }

  /** True when a request above `needed()` is needed as well. A trace that stays open must not hold the bodies of all others in memory. */
  function neededAbove(): (position: Position) => boolean {
    const from = unsent();
    let positions: ReadonlySet<number> | undefined;
    return (position) =>
      position >= from ||
      (positions ??= new Set([...flow.references.positions(), ...waiting.flatMap((trace) => trace.positions)])).has(position);
  }

  /** The lowest position that is in progress or not forwarded. */
  function unsent(): Position {
    return least([...[...inFlight].map(({ from }) => from), forward?.oldest()]);
  }

  function least(positions: readonly (number | undefined)[]): Position {
    return positions.reduce<number>(
      (lowest, position) => (position !== undefined && position < lowest ? position : lowest),
      journal.end(),
    ) as Position;
  }

  /** Bounds what a crash forwards twice. Writes nothing while no request comes. */
  async function noteForwarded(): Promise<void> {
    const below = unsent();
    if (forward?.wants() !== true || below <= noted) return;
    const isAll = below === journal.end();
    if ((await journal.append(forwardedRecord(below, clock.nowMs()), 'reserve')).kind === 'refused') return;
    // The record itself is never forwarded.
    noted = isAll && inFlight.size === 0 && forward.oldest() === undefined ? journal.end() : below;
  }

  /** The replay is over when all of its requests are scored and stored. */
  async function endReplay(): Promise<void> {
    if (replayed === undefined || needed() < replayed.before) return;
    const { recovery } = replayed;
    replayed = undefined;
    await recovery.finish();
  }

  return {
    spans(record, spans, request = {}) {
      // A run that closes between two parts is scored before its spans are held; its verdicts get an evaluation span.
      const pass = (position: Position): void => {
        if (forward?.wants() === true) forward.spans({ ...forwardedRequest(position, record, request), spans });
      };
      return taken(
        record,
        (position) => handOver(record.tenant, spans, position, request.plainMemory)?.then(() => pass(position)) ?? pass(position),
      );
    },
    logs: (record, records, request = {}) =>
      taken(record, (position) => {
        flow.logs(record.tenant, records, position);
        if (forward?.wants() === true) forward.logs({ ...forwardedRequest(position, record, request), records });
      }),
    async replay() {
      const { done, forwarded } = await notes();
      const before = journal.end();
      const recovery = journal.recover();
      let requests = 0;
      for await (const { position, record } of recovery.entries) {
        if (record.kind === 'done' || record.kind === 'forwarded') continue;
        const request = readRequest(record, inflatedBytesMax, shapes);
        gather(record, request, position, (key) => done.has(key));
        if (forward?.wants() === true && position >= forwarded && record.isCopy !== true)
          forwardAgain(forward, { position, record }, request);
        telemetry.add('tracejury.journal.replayed', 1);
        requests++;
      }
      replayed = { recovery, before };
      return requests;
    },
    async arrived({ position, record }) {
      const request = readRequest(record, inflatedBytesMax, shapes);
      if (request.kind === 'traces') await handOver(record.tenant, request.spans, position);
      else flow.logs(record.tenant, request.records, position);
      if (forward?.wants() === true && record.isCopy !== true) forwardAgain(forward, { position, record }, request);
    },
    async lost(isLost) {
      takeFinished();
      const gone = waiting.filter(({ positions }) => positions.some(isLost));
      waiting = waiting.filter((trace) => !gone.includes(trace));
      const again = new Set([...flow.drop(isLost), ...gone.flatMap(({ positions }) => positions.filter((one) => !isLost(one)))]);
      for (const position of [...again].sort((one, other) => one - other)) {
        const record = await journal.at(position as Position);
        if (record !== undefined) gather(record, readRequest(record, inflatedBytesMax, shapes), position as Position, () => false);
      }
    },
    take: takeFinished,
    async tend() {
      await markDone();
      await moveUp();
      await endReplay();
      await noteForwarded();
      journal.commit(needed(), neededAbove());
    },
    isWaiting: () => waiting.length > 0 || replayed !== undefined,
    async archived() {
      takeFinished();
      await Promise.all(waiting.flatMap(({ kept }) => kept ?? []));
    },
    async stop() {
      await replayed?.recovery.leave();
    },
    fill: () => journal.bytesUsed() / journal.bytesMax,
  };
}

/** A request to forward. The next start replays it unless it is forwarded by then. */
interface ForwardedRequest {
  readonly position: number;
  readonly tenant: Tenant;
  /** Inflated; `undefined` when it must be read from the journal. */
  readonly body: { readonly bytes: Buffer; readonly encoding: OtlpEncoding } | undefined;
  /** False when the receiver rejected a part of it. */
  readonly isWhole: boolean;
}

interface ForwardPort {
  /** False when nothing is forwarded. */
  wants(): boolean;
  /** Called after the pipeline has gathered the spans. */
  spans(request: ForwardedRequest & { readonly spans: readonly Span[] }): void;
  logs(request: ForwardedRequest & { readonly records: readonly LogRecord[] }): void;
  /** The lowest position that is not forwarded. */
  oldest(): number | undefined;
  /** True when a part of the trace with this key is not forwarded. */
  isHeld(key: string): boolean;
}

/** Waits of a new request. */
function forwardedRequest(position: Position, record: JournalRecord, { plain, plainMemory, isWhole = true }: Plain): ForwardedRequest {
  plainMemory?.keep();
  return {
    position,
    tenant: record.tenant,
    body: plain === undefined ? undefined : { bytes: plain, encoding: encodingOf(record) },
    isWhole,
  };
}

/** Waits of a replayed request. */
function forwardAgain(forward: ForwardPort, { position, record }: JournalEntry, request: Request): void {
  const passed = { position, tenant: record.tenant, body: undefined, isWhole: request.isWhole };
  if (request.kind === 'traces') forward.spans({ ...passed, spans: request.spans });
  else forward.logs({ ...passed, records: request.records });
}
