/**
 * Shards of the service, each a thread with its own journal. The thread of the listeners divides requests by trace and hands the parts over.
 * A shard that dies is started again and reads its journal; the others go on.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { extname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ConfigText } from '../../config/load.ts';
import { JuryError } from '../../model/errors.ts';
import { sharedLru } from '../../runtime/lru.ts';
import type { Tenant, TraceId } from '../../model/ids.ts';
import type { Sleep } from '../../model/clock.ts';
import type { ProcessKey } from '../../model/store/process-store.ts';
import { splitRequest, type RequestPart } from '../../otlp/cut/split.ts';
import type { Rejection } from '../../otlp/read/read.ts';
import { tenantOf, traceIdOf, traceKey } from '../../pipeline/gathering/trace-table.ts';
import type { SentRequest, TakenRequest, TakeRequest } from '../../receivers/read-request.ts';
import { runInTurns } from '../../runtime/cooperative.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Readings } from '../overload.ts';
import { countersOf, mergedMetrics, type MetricPoints } from '../../telemetry/merge.ts';
import {
  joiningShard,
  type ShardCalls,
  type ShardData,
  type ShardFigures,
  type ShardLeft,
  type ShardReply,
  type ShardRequest,
  type StorePort,
} from './protocol.ts';
import type { SessionNote } from '../../pipeline/assembly/session-tool-definitions.ts';

export interface ShardSetOptions {
  readonly shards: number;
  readonly config: ConfigText;
  readonly logLevel: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly sleep: Sleep;
  /** A port to the thread of the store. */
  readonly storePort: () => Promise<MessagePort>;
  /** The outbox has new rows. */
  readonly onRows: () => void;
  /** Takes what belongs to no shard. */
  readonly here: { readonly take: TakeRequest; isOpen(key: string): boolean };
  /** A thread was started. */
  readonly onThread?: ((thread: Worker) => void) | undefined;
}

export interface ShardSet {
  /** Rejects when a shard cannot start. */
  start(): Promise<void>;
  readonly take: TakeRequest;
  /** Readings of each shard, at most a tenth of a second old. */
  readings(): readonly Readings[];
  /** Asks the shards for their figures. Never rejects: of a shard that does not answer the last ones hold. */
  refresh(): Promise<void>;
  figures(): readonly ShardFigures[];
  /** All shards read a configuration, or it rejects. The returned function puts it in force in all of them. */
  prepare(config: ConfigText): Promise<() => void>;
  /** All shards drop what they have learnt of one process. A shard that is being started reads it from the store anew. */
  forget(process: ProcessKey): Promise<void>;
  /** May be called twice. */
  stop(stopMs: number): Promise<ShardLeft>;
}

const firstRestMs = 100;
const longestRestMs = 10_000;
/** Until the store is asked for a port again. */
const storeRestMs = 20;
/** Traces that are not in the shard of their hash, as after a change of the number of shards. */
export const elsewhereMax = 100_000;

export function shardSet(options: ShardSetOptions): ShardSet {
  const { logger, here } = options;
  let inForce = options.config;
  /** Shards by trace key. */
  const elsewhere = sharedLru<Shard>(elsewhereMax);
  const others: ShardOptions['others'] = {
    async handOver(key, request) {
      const to = shards[joiningShard];
      if (to === undefined) throw restarting();
      adopted(key, to);
      await to.call('take', request, [request.body.buffer]);
    },
    claim(key, by) {
      const home = elsewhere.get(tenantOf(key), key) ?? homeOf(tenantOf(key), traceIdOf(key));
      if (home === undefined || home === by) return;
      adopted(key, by);
      void home.call('release', key).catch(() => undefined);
    },
    publish(note, by) {
      for (const shard of shards) if (shard !== by) void shard.call('hear', note).catch(() => undefined);
    },
  };

  const shards = Array.from({ length: options.shards }, (_, index) => shardOf(index));

  function shardOf(index: number): Shard {
    return new Shard({ ...options, onOpen: (keys, shard) => keys.forEach((key) => adopted(key, shard)), others }, () => ({
      index,
      shards: options.shards,
      config: inForce,
      logLevel: options.logLevel,
    }));
  }

  /** The shard has the trace, regardless of its hash. */
  function adopted(key: string, shard: Shard): void {
    if (homeOf(tenantOf(key), traceIdOf(key)) === shard) elsewhere.delete(tenantOf(key), key);
    else elsewhere.set(tenantOf(key), key, shard);
  }

  function homeOf(tenant: Tenant, traceId: string): Shard | undefined {
    return shards[hashOf(tenant, traceId) % shards.length];
  }

  /** Finds the owners of one tenant's traces. The spans of a trace mostly follow each other. */
  function ownersIn(tenant: Tenant): (traceId: string | undefined) => Shard | undefined {
    let [last, owner]: [string | undefined, Shard | undefined] = [undefined, shards[0]];
    return (traceId) => {
      if (traceId === undefined || traceId === last) return traceId === undefined ? shards[0] : owner;
      last = traceId;
      const key = traceKey(tenant, traceId as TraceId);
      owner = here.isOpen(key) ? undefined : (elsewhere.get(tenant, key) ?? homeOf(tenant, traceId));
      return owner;
    };
  }

  async function takePart(owner: Shard | undefined, part: RequestPart, request: SentRequest): Promise<TakenRequest> {
    const { signal, encoding, tenant } = request;
    if (owner !== undefined) {
      const body = bytesOf(part);
      return await owner.call('take', { signal, encoding, tenant, body }, [body.buffer]);
    }
    const plain = Buffer.concat(part);
    const { contentType } = request;
    return await here.take({ signal, encoding, tenant, contentType, contentEncoding: '', body: plain, plain }, async () => undefined);
  }

  return {
    async start() {
      await Promise.all(shards.map((shard) => shard.start()));
    },
    async take(request, proceed) {
      await proceed();
      const steps = splitRequest(request.plain, request, ownersIn(request.tenant));
      const parts = await runInTurns(steps, async () => {
        await turn();
        await proceed();
      });
      return together(await Promise.all([...parts].map(([owner, part]) => takePart(owner, part, request))));
    },
    readings: () => shards.flatMap(({ readings }) => readings ?? []),
    async refresh() {
      await Promise.all(shards.map((shard) => shard.refresh()));
    },
    figures: () => shards.map((shard) => shard.figures()),
    async prepare(config) {
      await Promise.all(shards.map((shard) => shard.call('prepare', config)));
      return () => {
        inForce = config;
        for (const shard of shards) void shard.call('exchange', undefined).catch(() => undefined);
      };
    },
    async forget(process) {
      await Promise.all(shards.map((shard) => shard.call('forget', process).catch(() => undefined)));
    },
    async stop(stopMs) {
      const [joins, ...rest] = shards;
      // The others hand traces over until they have stopped.
      const left = [...(await Promise.all(rest.map((shard) => shard.stop(stopMs)))), await joins?.stop(stopMs)];
      const gone = left.filter((one) => one === undefined).length;
      if (gone > 0) logger.warn({ shards: gone }, 'shards could not be stopped in order');
      return left.reduce<ShardLeft>(
        (sum, one) => ({ unsent: sum.unsent + (one?.unsent ?? 0), unforwarded: sum.unforwarded + (one?.unforwarded ?? 0) }),
        { unsent: 0, unforwarded: 0 },
      );
    },
  };
}

/** FNV-1a: the same in every process, so that a trace finds its journal again. */
function hashOf(tenant: string, traceId: string): number {
  let hash = 0x811c9dc5;
  for (const text of [tenant, traceId]) for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Copies the bytes into separate memory, which the shard takes over. */
function bytesOf(part: RequestPart): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(part.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of part) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function together(parts: readonly TakenRequest[]): TakenRequest {
  const rejections = new Map<string, Rejection>();
  for (const one of parts.flatMap((part) => part.rejections)) {
    const known = rejections.get(one.reason);
    rejections.set(one.reason, known === undefined ? one : { ...known, count: known.count + one.count });
  }
  return {
    items: parts.reduce((sum, { items }) => sum + items, 0),
    ignored: parts.reduce((sum, { ignored }) => sum + ignored, 0),
    rejections: [...rejections.values()],
    isEmpty: parts.every(({ isEmpty }) => isEmpty),
  };
}

interface ShardOptions extends Pick<ShardSetOptions, 'logger' | 'sleep' | 'storePort' | 'onRows' | 'onThread'> {
  /** Told of the keys of the traces that a shard has found in its journal. */
  readonly onOpen: (keys: readonly string[], shard: Shard) => void;
  readonly others: {
    /** Resolves when the shard that joins traces has the request. */
    handOver(key: string, request: ShardRequest): Promise<void>;
    claim(key: string, by: Shard): void;
    publish(note: SessionNote, by: Shard): void;
  };
}

const noFigures: ShardFigures = { metrics: [], exporters: [], unrecognised: [], fullFolder: undefined };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One shard, seen from the thread of the listeners. */
class Shard {
  readings: Readings | undefined;
  #figures = noFigures;
  /** Counts of earlier threads of this shard. */
  #counted: readonly MetricPoints[] = [];
  readonly #options: ShardOptions;
  readonly #data: () => ShardData;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;
  #failures = 0;
  #isRunning = false;
  #stopped: Promise<ShardLeft | undefined> | undefined;
  readonly #shutdown = new AbortController();

  constructor(options: ShardOptions, data: () => ShardData) {
    this.#options = options;
    this.#data = data;
  }

  async start(): Promise<void> {
    const { onThread, onOpen } = this.#options;
    const data = this.#data();
    // Both files are in one folder, as sources and as built files.
    const thread = new Worker(new URL(`./shard-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      name: `tracejury-${data.index}`,
    });
    this.#thread = thread;
    onThread?.(thread);
    thread.on('message', (reply: ShardReply) => this.#take(reply, thread));
    let fault: unknown;
    thread.on('error', (error: unknown) => {
      fault = error;
    });
    thread.on('exit', () => this.#gone(fault));
    onOpen(await this.#ask('start', undefined), this);
    this.#isRunning = true;
    this.#failures = 0;
  }

  /** Rejects with a retryable error while the shard is being started. */
  async call<Name extends keyof ShardCalls>(
    name: Name,
    value: ShardCalls[Name]['ask'],
    transfer: ArrayBuffer[] = [],
  ): Promise<ShardCalls[Name]['answer']> {
    if (!this.#isRunning) throw restarting();
    return await this.#ask(name, value, transfer);
  }

  async refresh(): Promise<void> {
    const figures = await this.call('figures', undefined).catch(() => undefined);
    if (figures !== undefined) this.#figures = figures;
  }

  figures(): ShardFigures {
    if (this.#counted.length === 0) return this.#figures;
    return { ...this.#figures, metrics: mergedMetrics([this.#figures.metrics, this.#counted]) };
  }

  /** `undefined` when the shard does not run. */
  async stop(stopMs: number): Promise<ShardLeft | undefined> {
    return await (this.#stopped ??= this.#stop(stopMs));
  }

  async #stop(stopMs: number): Promise<ShardLeft | undefined> {
    this.#shutdown.abort();
    const left = this.#isRunning ? await this.#ask('stop', stopMs).catch(() => undefined) : undefined;
    this.#isRunning = false;
    await this.#thread?.terminate();
    return left;
  }

  async #ask<Name extends keyof ShardCalls>(
    name: Name,
    value: ShardCalls[Name]['ask'],
    transfer: ArrayBuffer[] = [],
  ): Promise<ShardCalls[Name]['answer']> {
    const thread = this.#thread;
    if (thread === undefined) throw restarting();
    const id = ++this.#lastId;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      thread.postMessage({ id, name, value }, transfer);
    });
  }

  #take(reply: ShardReply, thread: Worker): void {
    switch (reply.kind) {
      case 'answer':
      case 'failed':
        return this.#settle(reply);
      case 'readings':
        this.readings = reply.readings;
        return;
      case 'log':
        return this.#log(reply.line);
      case 'rows':
        return this.#options.onRows();
      case 'claim':
        return this.#options.others.claim(reply.key, this);
      case 'publish':
        return this.#options.others.publish(reply.note, this);
      case 'hand_over': {
        const answer = (isTaken: boolean): void => void this.#ask('handedOver', { id: reply.id, isTaken }).catch(() => undefined);
        void this.#options.others.handOver(reply.key, reply.request).then(
          () => answer(true),
          () => answer(false),
        );
        return;
      }
      default:
        void this.#sendStorePort(thread);
    }
  }

  /** The store may not be open yet, or its thread may have died. */
  async #sendStorePort(thread: Worker): Promise<void> {
    const { storePort, sleep } = this.#options;
    for (let failures = 0; thread === this.#thread;) {
      const port = await storePort().catch(() => undefined);
      if (port !== undefined) return thread.postMessage({ name: 'store', port } satisfies StorePort, [port]);
      await sleep(backoffMs(++failures, { firstRestMs: storeRestMs, longestRestMs }), this.#shutdown.signal);
    }
  }

  #settle(reply: Extract<ShardReply, { readonly kind: 'answer' | 'failed' }>): void {
    const one = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.kind === 'answer') one?.resolve(reply.value);
    else one?.reject(reply.code === undefined ? new Error(reply.why) : new JuryError(reply.code, reply.why));
  }

  #log(line: string): void {
    const {
      level,
      msg,
      time: _time,
      pid: _pid,
      hostname: _hostname,
      ...fields
    } = JSON.parse(line) as {
      readonly [field: string]: unknown;
    };
    const { index } = this.#data();
    const log = level === 30 ? 'info' : Number(level) > 40 ? 'error' : Number(level) < 30 ? undefined : 'warn';
    if (log !== undefined) this.#options.logger[log]({ ...fields, shard: index }, String(msg));
  }

  #gone(fault: unknown): void {
    const wasRunning = this.#isRunning;
    this.#thread = undefined;
    this.#isRunning = false;
    this.readings = undefined;
    this.#counted = countersOf(this.figures().metrics);
    this.#figures = noFigures;
    for (const { reject } of this.#waiting.values()) reject(wasRunning ? restarting(fault) : faultOf(fault));
    this.#waiting.clear();
    if (this.#shutdown.signal.aborted) return;
    if (wasRunning) void this.#restart(fault);
  }

  async #restart(fault: unknown): Promise<void> {
    const { logger, sleep } = this.#options;
    const { index } = this.#data();
    for (let why = fault; !this.#isRunning && !this.#shutdown.signal.aborted;) {
      logger.error({ shard: index, error: faultOf(why).message }, 'a shard has died and is started again');
      await sleep(backoffMs(++this.#failures, { firstRestMs, longestRestMs }), this.#shutdown.signal);
      if (this.#shutdown.signal.aborted) return;
      try {
        await this.start();
      } catch (error) {
        why = error;
        await this.#thread?.terminate();
      }
    }
  }
}

function faultOf(fault: unknown): Error {
  return fault instanceof Error ? fault : new Error('the thread of the shard has ended');
}

function restarting(cause?: unknown): JuryError {
  return new JuryError('JOURNAL_REFUSED', 'The shard of a trace in it is being started again.', cause);
}
