/** Services on one topic and one database, as separate processes: through ends and stalls, each acknowledged run is stored once and whole. */
import { setTimeout as wait } from 'node:timers/promises';
import { Admin, Producer } from '@platformatic/kafka';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../../builders/command.ts';
import { freePort } from '../../builders/free-port.ts';
import { partitionOf } from '../../../src/journals/kafka/partitioner.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { kafkaBroker } from '../../builders/kafka.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { agentSpan, halves, modelSpan } from '../../builders/gen-ai-spans.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually, sample } from '../../service/running.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';

interface Cluster {
  readonly topic: string;
  replica(): Promise<ServiceProcess & { restart(): Promise<ServiceProcess> }>;
}

async function cluster(partitions: number): Promise<Cluster> {
  const broker = await kafkaBroker();
  const [topic, store] = [await broker.topic(partitions), await emptyPostgres()];
  const journal = `kafka://${broker.address}/${topic}?group=${topic}`;
  return {
    topic,
    async replica() {
      const folder: ServiceFolder = serviceFolder({ store, journal });
      onTestFinished(() => folder.remove());
      return { ...(await folder.start()), restart: () => folder.start() };
    },
  };
}

/** Sends until a replica acknowledges it. */
async function sent(spans: readonly Span[], to: () => readonly ServiceProcess[]): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const all = to();
    if ((await all[attempt % all.length]?.send(spans)) === 200) return;
    await wait(50);
  }
  throw new Error('no replica has acknowledged a request');
}

const named = (run: JsonObject): string => String(run['trace_id']);
const hex = (trace: number): string => trace.toString(16).padStart(32, '0');

/** Each trace has one run, whole. */
async function expectRuns(from: ServiceProcess, traces: readonly number[]): Promise<void> {
  const runs = await eventually(
    async () => {
      const found = await from.runs();
      return new Set(found.map(named)).size >= traces.length ? found : undefined;
    },
    'all runs',
    { everyMs: 200, looksMax: 400 },
  );
  expect(runs.map(named).sort()).toEqual(traces.map(hex).sort());
  expect(runs.filter(({ completeness, agent }) => completeness !== 'complete' || agent !== 'finder')).toEqual([]);
}

const range = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, at) => from + at);

test('kafka: a run is scored by the next process, whole, whether the first was killed or stopped', async () => {
  const { replica } = await cluster(3);
  const first = await replica();
  const [begun, rest] = halves(1);
  await sent(begun, () => [first]);
  await first.end('SIGKILL');
  const second = await first.restart();
  expect(await second.runs()).toEqual([]);
  await second.end('SIGTERM');
  const third = await first.restart();
  await sent(rest, () => [third]);
  await expectRuns(third, [1]);
  expect(await third.runs()).toMatchObject([{ revision: 1 }]);
});

/** Agents send to all replicas in turn while `during` does what it does; then each acknowledged run is there, once and whole. */
async function underLoad(replicas: () => readonly ServiceProcess[], during: () => Promise<void>): Promise<readonly number[]> {
  let [trace, isOver] = [0, false];
  const whole: number[] = [];
  const agents = range(0, 4).map(async () => {
    while (!isOver) {
      const own = ++trace;
      const [begun, rest] = halves(own);
      await sent(begun, replicas);
      await sent(rest, replicas);
      whole.push(own);
      await wait(20);
    }
  });
  await wait(1_000);
  await during();
  await wait(1_000);
  isOver = true;
  await Promise.all(agents);
  return whole;
}

test('kafka: a replica is killed, and another one takes its place', async () => {
  const { replica } = await cluster(6);
  const [first, second] = [await replica(), await replica()];
  let all: readonly ServiceProcess[] = [first, second];
  const traces = await underLoad(
    () => all,
    async () => {
      all = [second];
      await first.end('SIGKILL');
      await wait(500);
      all = [second, await first.restart()];
      await wait(12_000);
    },
  );
  await expectRuns(second, traces);
});

test('kafka: a replica that stood still for longer than its session writes nothing of what others have taken', async () => {
  const { replica } = await cluster(6);
  const [first, second] = [await replica(), await replica()];
  let all: readonly ServiceProcess[] = [first, second];
  const traces = await underLoad(
    () => all,
    async () => {
      all = [second];
      process.kill(first.pid, 'SIGSTOP');
      await wait(20_000);
      process.kill(first.pid, 'SIGCONT');
      all = [first, second];
      await wait(3_000);
    },
  );
  await expectRuns(second, traces);
  expect(sample(await first.metrics(), 'tracejury_journal_fenced_total')).toBeGreaterThan(0);
});

test('kafka: while the broker restarts requests are refused, and all that was acknowledged is scored', async () => {
  const broker = await kafkaBroker();
  const { replica } = await cluster(6);
  const all = [await replica(), await replica()];
  const traces = await underLoad(
    () => all,
    async () => {
      await broker.stop('SIGKILL');
      await eventually(
        async () => ((await fetch(`${all[0]?.console}/readyz`)).status === 503 ? true : undefined),
        'a replica that is not ready',
        {
          everyMs: 200,
          looksMax: 200,
        },
      );
      await broker.start();
      await wait(5_000);
    },
  );
  const [one] = all;
  if (one === undefined) throw new Error('there is no replica');
  await expectRuns(one, traces);
});

test('kafka: replicas come and go', async () => {
  const { replica } = await cluster(6);
  const first = await replica();
  let all: readonly ServiceProcess[] = [first];
  const traces = await underLoad(
    () => all,
    async () => {
      const [second, third] = [await replica(), await replica()];
      all = [first, second, third];
      await wait(4_000);
      all = [second, third];
      await first.end('SIGTERM');
      await wait(4_000);
      all = [third];
      await second.end('SIGTERM');
      all = [third, await first.restart()];
    },
  );
  const [one] = all;
  if (one === undefined) throw new Error('there is no replica');
  await expectRuns(one, traces);
});

/** Replicas look at a topic again after half a minute. */
const lookedMs = 35_000;

test('kafka: partitions are added while runs are open, and all runs are scored once and whole', async () => {
  const { replica, topic } = await cluster(2);
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [(await kafkaBroker()).address] });
  onTestFinished(() => admin.close());
  const all = [await replica(), await replica()];
  const [open, late] = [range(1, 12), range(101, 12)];
  for (const trace of open) await sent(halves(trace)[0], () => all);
  await wait(1_000);
  await admin.createPartitions({ topics: [{ name: topic, count: 7 }] });
  await wait(lookedMs);
  for (const trace of open) await sent(halves(trace)[1], () => all);
  for (const trace of late) await sent(halves(trace).flat(), () => all);
  const [one] = all;
  if (one === undefined) throw new Error('there is no replica');
  await expectRuns(one, [...open, ...late]);
});

test('kafka: a topic that was deleted and made again is read from its begin', async () => {
  const { replica, topic } = await cluster(1);
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [(await kafkaBroker()).address] });
  onTestFinished(() => admin.close());
  const service = await replica();
  for (const trace of range(1, 10)) await sent(halves(trace).flat(), () => [service]);
  await expectRuns(service, range(1, 10));
  await admin.deleteTopics({ topics: [topic] });
  await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
  // More than were in the topic before, so that its last offset is there.
  for (const trace of range(101, 20)) await sent(halves(trace).flat(), () => [service]);
  await wait(lookedMs);
  await expectRuns(service, [...range(1, 10), ...range(101, 20)]);
});

test('kafka: records of another producer are gathered, and those that hold several traces are divided first', async () => {
  const { replica, topic } = await cluster(6);
  const { address } = await kafkaBroker();
  const service = await replica();
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [address], compression: 'gzip' });
  onTestFinished(() => producer.close());
  const body = (traces: readonly number[]): Buffer =>
    Buffer.from(
      writeTraces(
        traces.flatMap((trace) => halves(trace).flat()),
        'protobuf',
      ),
    );
  const keyed = [1, 2].map((trace) => {
    const key = Buffer.from(hex(trace));
    return { topic, key, value: body([trace]), partition: partitionOf(key, 6) };
  });
  await producer.send({ messages: [...keyed, { topic, key: Buffer.alloc(0), value: body([3, 4, 5]), partition: 0 }] });
  await expectRuns(service, [1, 2, 3, 4, 5]);
  expect(sample(await service.metrics(), 'tracejury_journal_divided_total')).toBe(1);
});

test('kafka: an unreadable record of another producer, or one that is too large once it is not compressed, holds up nothing', async () => {
  const { address } = await kafkaBroker();
  const topic = `foreign-${process.pid}`;
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [address], compression: 'gzip' });
  onTestFinished(async () => {
    await producer.close();
    await admin.close();
  });
  // Uses the largest record that a broker takes by default.
  await admin.createTopics({ topics: [topic], partitions: 2, replicas: 1 });
  const folder = serviceFolder({ store: await emptyPostgres(), journal: `kafka://${address}/${topic}?group=${topic}` });
  onTestFinished(() => folder.remove());
  const service = await folder.start();
  const large = [
    modelSpan({ id: 2, parent: 1, trace: 1, start: 1, end: 2, user: 'x'.repeat(2_000_000) }),
    agentSpan({ id: 1, trace: 1, start: 0, end: 7, agent: 'finder' }),
  ];
  const unkeyed = { topic, key: Buffer.alloc(0), partition: 0 };
  await producer.send({ messages: [{ ...unkeyed, value: Buffer.from('no request') }] });
  await producer.send({ messages: [{ ...unkeyed, value: Buffer.from(writeTraces(large, 'protobuf')) }] });
  for (const trace of range(2, 4)) await sent(halves(trace).flat(), () => [service]);
  await expectRuns(service, range(1, 5));
  expect(sample(await service.metrics(), 'tracejury_journal_corrupt_total')).toBe(1);
  expect(service.said()).toContain('encoding: otlp_proto');
  expect(service.said()).not.toContain('cannot use Kafka');
});

test('kafka: a service without its topic is not ready and names the remedy, and goes on when the topic is there', async () => {
  const { address } = await kafkaBroker();
  const journal = `kafka://${address}/later-${process.pid}`;
  const folder = serviceFolder({ journal });
  onTestFinished(() => folder.remove());
  const service = await folder.start();
  const readiness = async (): Promise<string> => (await fetch(`${service.console}/readyz`)).text();
  await eventually(async () => ((await readiness()).includes('tracejury kafka init') ? true : undefined), 'the remedy');
  expect(await service.send(halves(1)[1])).toBe(503);
  const config = join(folder.path, 'tracejury.yaml');
  expect(await command(['kafka', 'init', '--partitions', '2', '-c', config])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Nothing was made'),
  });
  expect(await command(['kafka', 'init', '--partitions', '2', '--yes', '-c', config])).toMatchObject({ code: 0 });
  expect(await command(['kafka', 'init', '--yes', '-c', config])).toMatchObject({ code: 1 });
  await sent(halves(1).flat(), () => [service]);
  await expectRuns(service, [1]);
  expect((await fetch(`${service.console}/readyz`)).status).toBe(200);
  // The service commits its place in a partition a moment after the run is stored.
  const status = await eventually(async () => {
    const { code, out } = await command(['kafka', 'status', '--format', 'json', '-c', config]);
    const { partitions } = JSON.parse(out) as { readonly partitions: readonly { readonly end: number; readonly waiting: number }[] };
    const records = partitions.reduce((sum, { end }) => sum + end, 0);
    return partitions.every(({ waiting }) => waiting === 0) ? { code, partitions: partitions.length, records } : undefined;
  }, 'a status without waiting records');
  expect(status).toEqual({ code: 0, partitions: 2, records: 1 });
});

test('kafka: an unreachable address is reported with the address and the remedy, without the login', async () => {
  const folder = serviceFolder({ journal: `kafka://me:secret@127.0.0.1:${await freePort()}/spans` });
  onTestFinished(() => folder.remove());
  const service = await folder.start();
  await eventually(() => (service.said().includes('does not answer') ? true : undefined), 'the fault');
  expect((await fetch(`${service.console}/readyz`)).status).toBe(503);
  expect(service.said()).not.toContain('secret');
});
