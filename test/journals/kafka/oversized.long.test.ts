/** Traces that are larger than a record of the topic may be: they hold up nothing, and their runs are scored where they are. */
import { randomBytes } from 'node:crypto';
import { Producer } from '@platformatic/kafka';
import { expect, onTestFinished, test } from 'vitest';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { agentSpan, halves, modelSpan } from '../../builders/gen-ai-spans.ts';
import { kafkaBroker } from '../../builders/kafka.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually, sample } from '../../service/running.ts';

const hex = (trace: number): string => trace.toString(16).padStart(32, '0');
/** Text that no compression makes much smaller. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

async function cluster(partitions: number) {
  const broker = await kafkaBroker();
  const [topic, store] = [await broker.topic(partitions), await emptyPostgres()];
  return {
    topic,
    bound: (bytes: number) => broker.bound(topic, bytes),
    folder(closing?: string): ServiceFolder {
      const journal = `kafka://${broker.address}/${topic}?group=${topic}`;
      const folder = serviceFolder({ store, journal, ...(closing === undefined ? {} : { closing }) });
      onTestFinished(() => folder.remove());
      return folder;
    },
  };
}

async function runsOf(service: ServiceProcess, traces: readonly number[]) {
  const found = async () => {
    const runs = await service.runs();
    return new Set(runs.map((run) => String(run['trace_id']))).size >= traces.length ? runs : undefined;
  };
  const runs = await eventually(found, 'all runs', { everyMs: 200, looksMax: 300 });
  expect(runs.map((run) => String(run['trace_id'])).sort()).toEqual(traces.map(hex));
  return runs;
}

const oversized = async (service: ServiceProcess): Promise<number> =>
  sample(await service.metrics(), 'tracejury_journal_oversized_total') ?? 0;

test('kafka: a record of another producer whose parts the topic does not take any more holds up nothing, and all of its traces are scored', async () => {
  const { topic, bound, folder } = await cluster(2);
  const { address } = await kafkaBroker();
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [address] });
  onTestFinished(() => producer.close());
  const large = [
    modelSpan({ id: 2, parent: 1, trace: 1, start: 1, end: 2, user: noise(600_000) }),
    agentSpan({ id: 1, trace: 1, start: 0, end: 7, agent: 'finder' }),
  ];
  const value = Buffer.from(writeTraces([...large, ...halves(2).flat()], 'protobuf'));
  await producer.send({ messages: [{ topic, key: Buffer.alloc(0), value, partition: 0 }] });
  await bound(200_000);
  const own = folder();
  const service = await own.start();
  expect(await service.send(halves(3).flat())).toBe(200);
  const runs = await runsOf(service, [1, 2, 3]);
  expect(runs.map(({ completeness }) => completeness)).toEqual(['complete', 'complete', 'complete']);
  expect(await oversized(service)).toBe(1);
  expect(service.said()).toMatch(/"partition":0,"offset":0.*raise max\.message\.bytes/);
  // Its owner has no need of the record any more.
  await service.end('SIGTERM');
  const next = await own.start();
  expect(await next.send(halves(4).flat())).toBe(200);
  await runsOf(next, [1, 2, 3, 4]);
  expect(await oversized(next)).toBe(0);
});

test('kafka: a part of a run that is too large for the topic is scored by the replica that has it', async () => {
  const { bound, folder } = await cluster(6);
  const replicas: ServiceProcess[] = [];
  for (let count = 0; count < 2; count++) {
    replicas.push(await folder('settle: 4s, quiet: 6s').start());
  }
  const [first] = replicas;
  if (first === undefined) throw new Error('there is no replica');
  const traces = Array.from({ length: 12 }, (_, at) => at + 1);
  // Each is a request without a span around it, so that its run may go on in another trace.
  for (const trace of traces) {
    const asks = [{ id: `call-${trace}`, name: 'find', arguments: '{}' }];
    expect(await first.send([modelSpan({ id: trace, trace, start: 1, end: 2, user: noise(100_000), asks })])).toBe(200);
  }
  await bound(50_000);
  await runsOf(first, traces);
  const [stayed, left] = await Promise.all(
    [oversized, async (one: ServiceProcess) => sample(await one.metrics(), 'tracejury_traces_handed_over_total') ?? 0].map(async (count) =>
      (await Promise.all(replicas.map(count))).reduce((sum, one) => sum + one, 0),
    ),
  );
  expect(stayed).toBeGreaterThan(0);
  expect(left).toBe(0);
});
