/**
 * Between the receivers and the pipeline. A request counts when the journal has it; what was open when the process ended is read again at
 * the start; what nobody needs any more is committed. A trace is needed until its runs are scored and stored: then a record `done` says so,
 * for requests that it shares with traces that are still open.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import { traceKey } from '../pipeline/gathering/trace-table.ts';
import type { FinishedTrace, JournalReferences } from '../pipeline/gathering/journal-references.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Received } from '../model/ingest.ts';
import type { DeliveryWatermarks, Watermark } from '../model/watermark.ts';
import { doneRecord, forwardedBelow, forwardedRecord, keysOf, readRequest, type Request, encodingOf } from './records.ts';
import type { Appended, Journal, JournalRecord, Position, Recovery, JournalEntry } from './journal.ts';
import type { OtlpEncoding } from '../otlp/read/read.ts';

/** What of the pipeline is needed here. */
interface Flow {
  /** `origin`: where the journal had their request first, if it is not there any more. */
  spans(tenant: Tenant, spans: readonly Span[], position: number, origin?: number): void;
  logs(tenant: Tenant, records: readonly LogRecord[], position: number): void;
  readonly references: JournalReferences;
}

export interface CheckpointerOptions {
  readonly journal: Journal;
  readonly flow: Flow;
  readonly watermarks: DeliveryWatermarks;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Of a request of an earlier process, inflated. */
  readonly inflatedBytesMax: number;
  /** Takes the spans of traces that are done. Undefined: nobody does. */
  readonly archive?: Archive;
  /** Undefined: nothing goes on to anybody. */
  readonly forward?: ForwardPort;
}

/** Of what came, beside what is written down. */
type Plain = Pick<Received, 'plain' | 'isWhole'>;

interface Archive {
  /** Undefined: it does not want this one. Until it resolves, the journal has the requests at its positions. */
  keep(trace: FinishedTrace): Promise<void> | undefined;
}

export interface Checkpointer {
  /** Resolves when the spans are durable and gathered, or with why they are not. */
  spans(record: JournalRecord, spans: readonly Span[], request?: Plain): Promise<Appended>;
  logs(record: JournalRecord, records: readonly LogRecord[], request?: Plain): Promise<Appended>;
  /** Reads again what an earlier process left open; before anything else is taken. Gives the number of requests. */
  replay(): Promise<number>;
  /** Says which traces are done, moves old requests of open ones up, and commits. Called regularly, never twice at once. */
  tend(): Promise<void>;
  /** Hands over the spans of what is done; resolves when they are kept. */
  archived(): Promise<void>;
  /** Before the journal is stopped. */
  stop(): Promise<void>;
  /** Share of the journal that cannot be used for new requests; 1: it has no room. */
  fill(): number;
}

/** Where the store ends with the process, a backend that is down must not fill the journal: it may miss scores when the process then dies. */
const sentWithinMs = 60_000;
/** Traces that one record tells of. */
const keysPerRecord = 500;
/** Handed to the pipeline in one turn: some milliseconds. The spans of a larger request go in parts, and others are answered in between. */
const spansPerTurn = 2_000;
/** Requests that are written again in one turn, so that new ones are not kept waiting. */
const movedPerTurn = 16;
/** From which share of the journal on which requests of open traces are moved up. A younger one is not worth it: its run will end by itself. */
const moves = [
  { fromShare: 0.75, afterMs: 5_000 },
  { fromShare: 0.5, afterMs: 60_000 },
] as const;

interface Waiting extends FinishedTrace {
  /** The scored runs of the trace are at or below it. */
  readonly delivered: Watermark;
  readonly sinceMs: number;
  /** False: its spans are being read again. */
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
}: CheckpointerOptions): Checkpointer {
  /** Where the journal ended when each request that is under way came: it stands there or above. */
  const inFlight = new Set<{ readonly from: Position }>();
  let waiting: Waiting[] = [];
  /** Below it everything has gone on, as the journal says. */
  let noted = 0;
  /** Until what was read again is worked. */
  let replayed: { readonly recovery: Recovery; readonly before: Position } | undefined;

  async function taken(record: JournalRecord, gather: (position: Position) => void | Promise<void>, from?: 'reserve'): Promise<Appended> {
    const way = { from: journal.end() };
    inFlight.add(way);
    try {
      const appended = await journal.append(record, from);
      if (appended.kind === 'appended') await gather(appended.position);
      return appended;
    } finally {
      inFlight.delete(way);
    }
  }

  /** Undefined: all of them are handed over. Until it resolves the request is under way, so the journal keeps it. */
  function handOver(tenant: Tenant, spans: readonly Span[], position: Position): Promise<void> | undefined {
    if (spans.length > spansPerTurn) return handOverInParts(tenant, spans, position);
    flow.spans(tenant, spans, position);
    return undefined;
  }

  async function handOverInParts(tenant: Tenant, spans: readonly Span[], position: Position): Promise<void> {
    for (let at = 0; at < spans.length; at += spansPerTurn) {
      if (at > 0) await turn();
      flow.spans(tenant, spans.slice(at, at + spansPerTurn), position);
    }
  }

  function gather({ tenant, origin }: JournalRecord, request: Request, position: Position, isDone: (key: string) => boolean): void {
    const isOpen = (one: Span | LogRecord): boolean => !isDone(traceKey(tenant, one.traceId));
    if (request.kind === 'traces') flow.spans(tenant, request.spans.filter(isOpen), position, origin);
    else flow.logs(tenant, request.records.filter(isOpen), position);
  }

  /** Keys of all traces that a record says are done, wherever it stands; and below which position everything has gone on. */
  async function notes(): Promise<{ readonly done: ReadonlySet<string>; readonly forwarded: number }> {
    const done = new Set<string>();
    let forwarded = 0;
    for await (const { record } of journal.read(journal.oldest())) {
      if (record.kind === 'done') for (const key of keysOf(record)) done.add(key);
      else if (record.kind === 'forwarded') forwarded = Math.max(forwarded, forwardedBelow(record));
    }
    return { done, forwarded };
  }

  /** What has finished since the last look waits for its runs to be stored. Until then nothing of it may be let go. */
  function takeFinished(): void {
    for (const trace of flow.references.takeFinished()) {
      const kept = archive?.keep(trace);
      const one: Waiting = { ...trace, delivered: watermarks.delivered(), sinceMs: clock.nowMs(), isKept: kept === undefined, kept };
      void kept?.then(() => {
        one.isKept = true;
      });
      waiting.push(one);
    }
  }

  /** Not all of it has gone on: it would go without its verdicts. */
  const isHeld = (key: string): boolean => forward?.isHeld(key) === true;

  async function markDone(): Promise<void> {
    takeFinished();
    const [stored, sent, nowMs] = [watermarks.stored(), watermarks.sent(), clock.nowMs()];
    const pending = waiting.findIndex(
      ({ keys, delivered, sinceMs, isKept }) =>
        !isKept || keys.some(isHeld) || delivered > stored || (delivered > sent && nowMs - sinceMs < sentWithinMs),
    );
    const ready = pending === -1 ? waiting : waiting.slice(0, pending);
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
    // Others may have joined the queue behind them meanwhile.
    waiting = waiting.slice(marked);
  }

  /** One run that stays open for hours would keep all that came since. */
  async function moveUp(): Promise<void> {
    for (let moved = 0; moved < movedPerTurn; moved++) {
      const move = moves.find(({ fromShare }) => journal.bytesUsed() > journal.bytesMax * fromShare);
      if (move === undefined) return;
      const from = flow.references.oldestPosition() as Position | undefined;
      // What has not gone on stays where it is all the same.
      if (from === undefined || from >= (forward?.oldest() ?? Infinity)) return;
      const record = await journal.at(from);
      if (record === undefined) {
        // Damaged: nothing is kept by holding on to it.
        flow.references.moved(from, journal.end());
        continue;
      }
      // Negative: the machine's clock has been set back since, and nothing is known of its age.
      const ageMs = clock.nowMs() - record.receivedMs;
      if (ageMs >= 0 && ageMs < move.afterMs) return;
      const request = readRequest(record, inflatedBytesMax);
      const keys = new Set(
        (request.kind === 'traces' ? request.spans : request.records).map(({ traceId }) => traceKey(record.tenant, traceId)),
      );
      takeFinished();
      const unstored = new Set(waiting.flatMap((trace) => trace.keys));
      const done = [...keys].filter((key) => !flow.references.isOpen(key) && !unstored.has(key));
      // First: whoever finds the request again must know whom it does not concern.
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

  /** The lowest position that is needed. */
  function needed(): Position {
    takeFinished();
    return least([unsent(), flow.references.oldestPosition(), ...waiting.map(({ positions }) => positions[0])]);
  }

  /** The lowest position of what has not gone on, and of what may still come. */
  function unsent(): Position {
    return least([...[...inFlight].map(({ from }) => from), forward?.oldest()]);
  }

  function least(positions: readonly (number | undefined)[]): Position {
    return positions.reduce<number>(
      (lowest, position) => (position !== undefined && position < lowest ? position : lowest),
      journal.end(),
    ) as Position;
  }

  /** Else everything that the journal holds would go on once more after a crash. Nothing is written while nothing comes. */
  async function noteForwarded(): Promise<void> {
    const below = unsent();
    if (forward?.wants() !== true || below <= noted) return;
    const isAll = below === journal.end();
    if ((await journal.append(forwardedRecord(below, clock.nowMs()), 'reserve')).kind === 'refused') return;
    // The note itself has nowhere to go.
    noted = isAll && inFlight.size === 0 && forward.oldest() === undefined ? journal.end() : below;
  }

  /** When all that was read again is scored and stored, the process has survived it. */
  async function endReplay(): Promise<void> {
    if (replayed === undefined || needed() < replayed.before) return;
    const { recovery } = replayed;
    replayed = undefined;
    await recovery.finish();
  }

  return {
    spans(record, spans, request = {}) {
      // A run that closes between two parts is scored before its spans wait here: its verdicts then go in a span of their own.
      const pass = (position: Position): void => {
        if (forward?.wants() === true) forward.spans({ ...forwardedRequest(position, record, request), spans });
      };
      return taken(record, (position) => handOver(record.tenant, spans, position)?.then(() => pass(position)) ?? pass(position));
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
        const request = readRequest(record, inflatedBytesMax);
        gather(record, request, position, (key) => done.has(key));
        if (forward?.wants() === true && position >= forwarded && record.isCopy !== true)
          forwardAgain(forward, { position, record }, request);
        telemetry.add('tracejury.journal.replayed', 1);
        requests++;
      }
      replayed = { recovery, before };
      return requests;
    },
    async tend() {
      await markDone();
      await moveUp();
      await endReplay();
      await noteForwarded();
      journal.commit(needed());
    },
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

/** What goes on to somebody else, as far as the journal must know it: what it has not got rid of is read again at the next start. */
interface ForwardedRequest {
  readonly position: number;
  readonly tenant: Tenant;
  /** Inflated; undefined: it is to be read from the journal. */
  readonly body: { readonly bytes: Buffer; readonly encoding: OtlpEncoding } | undefined;
  /** False: something in it was rejected. */
  readonly isWhole: boolean;
}

interface ForwardPort {
  /** False: nothing goes on. */
  wants(): boolean;
  /** When they are gathered. */
  spans(request: ForwardedRequest & { readonly spans: readonly Span[] }): void;
  logs(request: ForwardedRequest & { readonly records: readonly LogRecord[] }): void;
  /** The lowest position of what has not gone on. */
  oldest(): number | undefined;
  /** True: something of the trace with this key has not. */
  isHeld(key: string): boolean;
}

/** Of a request that has just come. */
function forwardedRequest(
  position: Position,
  record: JournalRecord,
  { plain, isWhole = true }: Pick<Received, 'plain' | 'isWhole'>,
): ForwardedRequest {
  return {
    position,
    tenant: record.tenant,
    body: plain === undefined ? undefined : { bytes: plain, encoding: encodingOf(record) },
    isWhole,
  };
}

/** Of one that an earlier process took. */
function forwardAgain(forward: ForwardPort, { position, record }: JournalEntry, request: Request): void {
  const passed = { position, tenant: record.tenant, body: undefined, isWhole: request.isWhole };
  if (request.kind === 'traces') forward.spans({ ...passed, spans: request.spans });
  else forward.logs({ ...passed, records: request.records });
}
