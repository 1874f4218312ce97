/** Runs a journal: opens and replays it, commits it regularly, and closes it. */
import { setImmediate as turn } from 'node:timers/promises';
import { openJournal, type JournalAddress } from './index.ts';
import { checkpointer, type Checkpointer, type CheckpointerOptions } from './checkpointer.ts';
import type { FinishedTrace } from '../pipeline/gathering/journal-references.ts';
import type { SessionNote } from '../pipeline/assembly/session-tool-definitions.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { OtlpEncoding } from '../otlp/read/read.ts';
import type { Journal, Position, Appended, HasRoom, JournalRecord, JournalRefusal, JournalDeps, SharedJournal } from './journal.ts';
import type { Fence } from '../model/store/journal-partition-store.ts';
import { type BundlePart, partsOf } from '../otlp/cut/bundle.ts';
import { encodingOf, inflated } from './records.ts';
import { readBack, type ReadBackTrace } from './span-reader.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { JuryError } from '../model/errors.ts';
import type { Tenant } from '../model/ids.ts';
import type { Ingest, Received } from '../model/ingest.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

interface JournalRunnerOptions extends Pick<CheckpointerOptions, 'flow' | 'watermarks' | 'inflatedBytesMax' | 'archive' | 'forward'> {
  readonly address: JournalAddress;
  /** `waitingBytesMax`: bytes that wait for the disk; at least the byte budget of the receivers, which refuse first. `memoryBytesMax`: for a journal in memory. */
  readonly settings: {
    readonly bytesMax: number;
    readonly recordBytesMax: number;
    readonly waitingBytesMax: number;
    readonly memoryBytesMax: number;
  };
  readonly parts: JournalDeps;
  /** For a shared journal, once the store is open. */
  readonly sharing?: {
    readonly hasRoom: HasRoom;
    /** Called after a record is gathered, or a trace that left comes back. */
    readonly onArrival: () => void;
    /** Another process joins the trace with this key. */
    readonly onClaim: (key: string) => void;
    /** Another process announces the tools of a session. */
    readonly onNote: (note: SessionNote) => void;
  };
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: Sleep | undefined;
  /** Redaction of archived spans, called each time. */
  readonly redaction?: () => Redaction | undefined;
}

interface KeyedPart {
  readonly key: string;
  readonly part: BundlePart;
}

export interface JournalRunner {
  /** `undefined` until the journal is open. */
  readonly checkpointer: () => Checkpointer | undefined;
  /** Opens and replays the journal. `owner`: name of this process among those of a shared journal. Resolves with the number of replayed requests. Rejects when the journal cannot be used. */
  open(owner?: string): Promise<number>;
  /** True when several processes use the journal. */
  isShared(): boolean;
  isStopped(): boolean;
  /** Why a shared journal cannot be read; `undefined` while it can, and for all others. */
  fault(): string | undefined;
  /** The right to write runs of the trace with this key; `undefined` where no other process could have it. */
  fenceOf(key: string): Fence | undefined;
  /** Gathers nothing more from a shared journal. */
  leave(): Promise<void>;
  /** Stores how far a shared journal is, before the store closes. */
  save(): Promise<void>;
  /** The folder of the journal; `undefined` unless its disk is full. */
  fullFolder(): string | undefined;
  /** Reads the spans of finished traces. Rejects before the journal is open. */
  readBack(traces: readonly FinishedTrace[]): Promise<readonly ReadBackTrace[]>;
  /** Reads the received parts of one trace unchanged and without a size limit, each part with the key of its trace. Rejects before the journal is open. */
  requestsOf(trace: FinishedTrace): Promise<readonly KeyedPart[]>;
  /** Bytes of the body of one request; 0 when it is damaged or committed. */
  bytesAt(position: number): Promise<number>;
  /** Takes up finished traces after this turn. */
  takeSoon(): void;
  /** True when this process joins the trace with this key to others of its tenant. */
  joins(key: string): boolean;
  /** Sends a part of the trace to the process that joins it. Rejects when it cannot be sent now. False when this process joins the trace from now on. */
  handOver(key: string, part: BundlePart): Promise<boolean>;
  /** Has the trace with this key handed over to this process. */
  claim(key: string): void;
  /** Tells the other processes of the tools of a session. */
  publish(note: SessionNote): void;
  /** Milliseconds that a part of a run may need from the process that had it first. */
  partsLateMs(): number;
  /** The body of one request, inflated; `undefined` when it is damaged or committed. */
  body(position: number): Promise<{ readonly bytes: Buffer; readonly encoding: OtlpEncoding } | undefined>;
  /** Resolves when the spans of all finished traces are archived, or at the deadline. */
  archived(deadlineMs: number): Promise<void>;
  /** Commits and closes. May be called twice, and without `open`. */
  stop(): Promise<void>;
}

/** Between two commits. A fuller journal commits more often, down to the least. */
const tendEveryMs = 1_000;
const tendEveryMsLeast = 100;
const segmentBytesUsual = 64 * 1024 * 1024;
/** A process looks at a trace when it has settled, and what it hands over goes through the brokers. */
const handOverMs = 1_000;
/** Share of the journal: some segments are read or released while another is written. */
const segmentShareMax = 1 / 4;

export function journalRunner({ address, settings, parts, redaction, ...options }: JournalRunnerOptions): JournalRunner {
  const { recordBytesMax, ...bounds } = settings;
  let journal: Journal | undefined;
  let opened: Checkpointer | undefined;
  let tending: PeriodicTask | undefined;
  let stopped: Promise<void> | undefined;
  let gathering: Promise<void> | undefined;
  let taking: Promise<void> | undefined;
  let isSaved = false;

  function startTending(own: Checkpointer, from: Journal): PeriodicTask {
    return periodicTask({
      everyMs: () => Math.max(tendEveryMsLeast, tendEveryMs * (1 - own.fill())),
      sleep: parts.sleep,
      rest: options.rest,
      hasWork: () => own.isWaiting() || from.isDiskFull() || (from.shared !== undefined && from.bytesUsed() > 0),
      async work() {
        await own.tend();
        await from.tryRoom();
      },
      onFault: (error) =>
        parts.logger.warn({ error: error instanceof Error ? error.message : 'unknown' }, 'the journal could not be committed'),
      restsFirst: true,
    });
  }

  async function gatherArrivals({ arrivals }: SharedJournal, own: Checkpointer): Promise<void> {
    for await (const arrival of arrivals(options.sharing?.hasRoom ?? (() => true))) {
      try {
        if (arrival.kind === 'lost') await own.lost(arrival.isLost);
        else if (arrival.kind === 'claim') options.sharing?.onClaim(arrival.key);
        else if (arrival.kind === 'note') options.sharing?.onNote(arrival.note);
        else await own.arrived(arrival);
      } catch (error) {
        parts.logger.warn({ error: error instanceof Error ? error.message : 'unknown' }, 'a record of the journal could not be gathered');
      }
      options.sharing?.onArrival();
    }
  }

  async function leave(): Promise<void> {
    await journal?.shared?.leave();
    await gathering;
  }

  async function stop(): Promise<void> {
    await leave();
    await tending?.stop();
    // Runs were scored during the stop.
    if (!isSaved) await opened?.tend();
    await opened?.stop();
    await journal?.stop();
  }

  return {
    async readBack(traces) {
      if (journal === undefined) throw new Error('the journal is not open');
      return await readBack(traces, { journal, inflatedBytesMax: options.inflatedBytesMax, redaction: redaction?.() });
    },
    async requestsOf(trace) {
      if (journal === undefined) throw new Error('the journal is not open');
      const bounds = { traceBytesMax: Infinity, bytesMax: Infinity };
      const each = trace.keys.map((key) => ({ ...trace, keys: [key] }));
      const read = await readBack(each, { journal, inflatedBytesMax: options.inflatedBytesMax, ...bounds });
      return read.flatMap(({ bundle }, at) =>
        bundle === undefined ? [] : partsOf(bundle).map((part) => ({ key: trace.keys[at] ?? '', part })),
      );
    },
    bytesAt: async (position) => (await journal?.at(position as Position))?.body.length ?? 0,
    takeSoon() {
      taking ??= turn().then(() => {
        taking = undefined;
        opened?.take();
      });
    },
    joins: (key) => journal?.shared?.joins(key) !== false,
    handOver: async (key, part) => (await journal?.shared?.handOver(key, part)) !== false,
    claim: (key) => journal?.shared?.claim(key),
    publish: (note) => journal?.shared?.publish(note),
    partsLateMs: () => (journal?.shared?.isAlone() === false ? handOverMs : 0),
    async body(position) {
      const record = await journal?.at(position as Position);
      return record === undefined ? undefined : { bytes: await inflated(record, options.inflatedBytesMax), encoding: encodingOf(record) };
    },
    async archived(deadlineMs) {
      const deadline = new AbortController();
      await Promise.race([opened?.archived(), parts.sleep(deadlineMs, deadline.signal)]);
      deadline.abort();
    },
    checkpointer: () => opened,
    isShared: () => journal?.shared !== undefined,
    isStopped: () => stopped !== undefined,
    fault: () => journal?.shared?.fault(),
    fenceOf: (key) => journal?.shared?.fenceOf(key),
    leave,
    async save() {
      if (journal?.shared === undefined) return;
      await tending?.stop();
      await opened?.tend();
      await journal.shared.save();
      isSaved = true;
    },
    fullFolder: () => (journal?.isDiskFull() === true ? address.rest : undefined),
    async open(owner) {
      const segmentBytes = Math.min(bounds.bytesMax * segmentShareMax, Math.max(segmentBytesUsual, recordBytesMax * 2));
      journal = await openJournal(
        address,
        { ...bounds, segmentBytes, inflatedBytesMax: options.inflatedBytesMax },
        { ...parts, ...(owner === undefined ? {} : { owner }) },
      );
      const onReturn = options.sharing?.onArrival;
      const own = checkpointer({
        journal,
        telemetry: parts.telemetry,
        clock: parts.clock,
        ...options,
        ...(onReturn === undefined ? {} : { onReturn }),
      });
      const replayed = await own.replay();
      opened = own;
      tending = startTending(own, journal);
      if (journal.shared !== undefined) gathering = gatherArrivals(journal.shared, own);
      return replayed;
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Receives requests from the receivers: the journal records them before the pipeline gathers them. */
interface IngestOptions extends Omit<Ingest, 'spans' | 'logs'> {
  readonly journaling: Pick<JournalRunner, 'checkpointer'>;
  readonly clock: Clock;
  /** Called after spans were gathered, as the next deadline may have changed. */
  readonly wake: () => void;
}

const reasons: { readonly [reason in JournalRefusal]: string } = {
  full: 'Runs that are open or not stored yet fill limits.journal_bytes.',
  busy: 'Too many bytes wait for the disk or the broker.',
  too_large: 'It is larger than a file of the journal, or than a record of the topic.',
  failed: 'The disk or the broker refuses.',
  disk_full: 'The disk is full.',
  stopped: 'The service is stopping.',
};

export function journaledIngest({ journaling, clock, wake, ...admission }: IngestOptions): Ingest {
  function written(appended: Appended | undefined): void {
    wake();
    if (appended?.kind !== 'appended') throw new JuryError('JOURNAL_REFUSED', reasons[appended?.reason ?? 'stopped']);
  }

  function record(kind: 'traces' | 'logs', tenant: Tenant, { contentType, contentEncoding, body, bodyMemory }: Received): JournalRecord {
    const memory = bodyMemory === undefined ? {} : { bodyMemory };
    return { kind, tenant, receivedMs: clock.nowMs(), contentType, contentEncoding, body, ...memory };
  }

  return {
    spans: async (tenant, spans, request) =>
      written(await journaling.checkpointer()?.spans(record('traces', tenant, request), spans, request)),
    logs: async (tenant, found, request) => written(await journaling.checkpointer()?.logs(record('logs', tenant, request), found, request)),
    ...admission,
  };
}
