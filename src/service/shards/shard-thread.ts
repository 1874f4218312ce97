/** The thread of one shard: the service without listeners, and without what there is once for all shards. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { pino } from 'pino';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { schemaValidators } from '../../config/checks/check.ts';
import { evaluatorModules } from '../../config/files/evaluator-files.ts';
import { loadConfigWithFiles, type ConfigText } from '../../config/load.ts';
import { JuryError } from '../../model/errors.ts';
import { requestReader } from '../../receivers/read-request.ts';
import { serviceCore } from '../core.ts';
import { ingest } from '../parts.ts';
import { tenantOf } from '../../pipeline/gathering/trace-table.ts';
import { shardFolder } from './left-journals.ts';
import { joiningShard, type ShardCall, type ShardCalls, type ShardData, type ShardReply, type StorePort } from './protocol.ts';

/** Readings between two counts of the outbox, which reads all of it: a second. */
const ticksPerCount = 10;

type Handlers = { readonly [name in keyof ShardCalls]: (value: ShardCalls[name]['ask']) => Promise<ShardCalls[name]['answer']> };

/** The shares of one shard in the journal and in the limits, without what the thread of the listeners does for all shards. */
function shardConfig({ config, index, shards }: { readonly config: Config; readonly index: number; readonly shards: number }): Config {
  const { limits, journal } = config;
  return {
    ...config,
    judges: [],
    limits: { ...limits, memoryBytes: limits.memoryBytes / shards, journalBytes: limits.journalBytes / shards },
    journal: journal.scheme === 'disk' ? { ...journal, rest: shardFolder(journal.rest, index) } : journal,
  };
}

async function shard(port: MessagePort, { index, shards, logLevel, ...data }: ShardData): Promise<void> {
  const tell = (reply: ShardReply): void => port.postMessage(reply);
  const [modules, validators] = [evaluatorModules(), schemaValidators()];
  const read = async (text: ConfigText): Promise<Config> => {
    const { config } = await loadConfigWithFiles({ ...text, evaluators, modules, validators });
    return shardConfig({ config, index, shards });
  };
  const config = await read(data.config);
  let [newRows, ticks] = [false, 0];
  const handingOver = new Map<number, (isTaken: boolean) => void>();
  let lastHandOver = 0;
  let portWanted: ((port: MessagePort) => void) | undefined;
  const core = serviceCore({
    config,
    logger: pino({ level: logLevel }, { write: (line: string) => tell({ kind: 'log', line }) }),
    shard: {
      ports: () =>
        new Promise((resolve) => {
          portWanted = resolve;
          tell({ kind: 'store_wanted' });
        }),
      onRows() {
        newRows = true;
      },
      onReadings(readings) {
        tell({ kind: 'readings', readings });
        if (!newRows || ++ticks % ticksPerCount !== 0) return;
        newRows = false;
        tell({ kind: 'rows' });
      },
      memoryBytes: config.limits.memoryBytes * shards,
      others: {
        joins: () => index === joiningShard,
        claim: (key) => tell({ kind: 'claim', key }),
        publish: (note) => tell({ kind: 'publish', note }),
      },
      handOver: (key, { signal, encoding, bytes }) =>
        new Promise((resolve, reject) => {
          const id = ++lastHandOver;
          handingOver.set(id, (isTaken) => (isTaken ? resolve(true) : reject(new Error('the other shard did not take the trace'))));
          const body = new Uint8Array(bytes);
          port.postMessage(
            { kind: 'hand_over', id, key, request: { signal, encoding, tenant: tenantOf(key), body } } satisfies ShardReply,
            [body.buffer],
          );
        }),
    },
  });
  const { parts } = core;
  const take = requestReader(ingest(parts));
  let exchange: (() => void) | undefined;

  const handlers: Handlers = {
    async start() {
      await core.start();
      return parts.pipeline.references.keys();
    },
    async take({ signal, encoding, tenant, body }) {
      const plain = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const contentType = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
      return await take({ signal, encoding, tenant, contentType, contentEncoding: '', body: plain, plain }, async () => undefined);
    },
    async figures() {
      return {
        metrics: parts.telemetry.snapshot().map(({ name, points }) => ({ name, points })),
        exporters: [...parts.exporters.statuses(), ...parts.forward.statuses()],
        unrecognised: parts.recognition.reported(),
        fullFolder: parts.journal.fullFolder() ?? parts.storeRoom.fullFolder(),
      };
    },
    async prepare(text) {
      exchange = core.prepare(await read(text));
    },
    async exchange() {
      exchange?.();
      exchange = undefined;
    },
    async forget(key) {
      parts.processes.forget(key);
    },
    async release(key) {
      parts.pipeline.handOver(key);
      parts.closeScheduler.wake();
    },
    async hear(note) {
      parts.pipeline.hear(note);
      parts.closeScheduler.wake();
    },
    async handedOver({ id, isTaken }) {
      handingOver.get(id)?.(isTaken);
      handingOver.delete(id);
    },
    async stop(stopMs) {
      parts.state.stopping = true;
      const left = await core.stop(stopMs);
      await core.release(stopMs);
      return left;
    },
  };

  async function answered<Name extends keyof ShardCalls>(name: Name, value: ShardCalls[Name]['ask']): Promise<ShardCalls[Name]['answer']> {
    return await handlers[name](value);
  }

  port.on('message', (call: ShardCall | StorePort) => {
    if (call.name === 'store') return portWanted?.(call.port);
    const { id, name, value } = call;
    return void answered(name, value).then(
      (answer) => tell({ kind: 'answer', id, value: answer }),
      (error: unknown) =>
        tell({
          kind: 'failed',
          id,
          code: error instanceof JuryError ? error.code : undefined,
          why: error instanceof JuryError ? error.why : error instanceof Error ? (error.stack ?? error.message) : 'unknown error',
        }),
    );
  });
}

if (parentPort !== null) await shard(parentPort, workerData as ShardData);
