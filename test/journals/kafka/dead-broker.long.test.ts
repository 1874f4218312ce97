/** One broker of several is away: what the others lead is acknowledged and scored meanwhile. */
import { setTimeout as wait } from 'node:timers/promises';
import { Admin, Producer } from '@platformatic/kafka';
import { expect, onTestFinished, test } from 'vitest';
import { takePartialAnswers } from '../../../src/journals/kafka/partial-answers.ts';
import { partitionOf } from '../../../src/journals/kafka/partitioner.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { halves } from '../../builders/gen-ai-spans.ts';
import { startBrokers } from '../../builders/kafka.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { serviceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';

const hex = (trace: number): string => trace.toString(16).padStart(32, '0');
const partitions = 6;
/** The brokers notice by then that one of them is away. */
const electedMs = 12_000;
/** Leaders are looked up again by then. */
const lookedMs = 35_000;

/** A service over two brokers. Each leads some of the partitions, and the second one may be stopped. */
async function twoBrokers({ copies = 1 } = {}) {
  const [first, second] = await startBrokers(2);
  if (second === undefined) throw new Error('there is one broker');
  onTestFinished(async () => {
    await first.stop('SIGKILL');
    await second.stop('SIGKILL');
  });
  const topic = await first.topic(partitions, copies);
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [first.address] });
  onTestFinished(() => admin.close());
  const leaders = (await admin.metadata({ topics: [topic] })).topics.get(topic)?.partitions.map(({ leader }) => leader) ?? [];
  /** Traces of partitions that this broker leads. */
  function* tracesOf(node: number): Generator<number, never> {
    for (let trace = 1; ; trace++) if (leaders[homeOf(trace)] === node) yield trace;
  }
  const journal = `kafka://${first.address},${second.address}/${topic}?group=${topic}`;
  const folder = serviceFolder({ store: await emptyPostgres(), journal });
  onTestFinished(() => folder.remove());
  return { first, second, topic, service: await folder.start(), alive: tracesOf(1), dead: tracesOf(2) };
}

function homeOf(trace: number): number {
  return partitionOf(Buffer.from(hex(trace)), partitions);
}

async function expectScored(service: ServiceProcess, traces: readonly number[]): Promise<void> {
  const names = async () => new Set((await service.runs()).map((run) => String(run['trace_id'])));
  const all = async () => ((await names()).size >= traces.length ? true : undefined);
  await eventually(all, `runs of the traces ${traces.join()}`, { everyMs: 200, looksMax: 300 });
  expect([...(await names())].sort()).toEqual(traces.map(hex).sort());
}

test('kafka: without one of two brokers its partitions are refused, and those of the other one are acknowledged and scored', async () => {
  const { second, service, alive, dead } = await twoBrokers();
  const taken: number[] = [];
  // The store deletes runs by their start.
  const begun = Date.now();
  const send = async (trace: number): Promise<number | undefined> => {
    const status = await service.send(halves(trace, begun).flat());
    if (status === 200) taken.push(trace);
    return status;
  };
  const isTaken = async (trace: number): Promise<true | undefined> => ((await send(trace)) === 200 ? true : undefined);
  const [one, other] = [alive.next().value, dead.next().value];
  await eventually(() => isTaken(one), 'a request that is acknowledged', { everyMs: 200, looksMax: 300 });
  expect(await send(other)).toBe(200);
  await expectScored(service, taken);
  await second.stop('SIGKILL');
  const lost = dead.next().value;
  for (const pauseMs of [0, electedMs, lookedMs]) {
    await wait(pauseMs);
    for (let round = 0; round < 5; round++) {
      const begun = performance.now();
      expect([await send(lost), await send(alive.next().value)]).toEqual([503, 200]);
      expect(performance.now() - begun).toBeLessThan(8_000);
    }
    await expectScored(service, taken);
  }
  expect(service.said()).toContain('LEADER_NOT_AVAILABLE');
  await second.start();
  await eventually(() => isTaken(lost), 'a request that is acknowledged', { everyMs: 500, looksMax: 120 });
  await expectScored(service, taken);
});

test('kafka: a record of several traces holds up only its own partition while one trace goes to a partition without a leader', async () => {
  const { first, second, topic, service, alive, dead } = await twoBrokers();
  const begun = Date.now();
  const send = async (trace: number): Promise<true | undefined> =>
    (await service.send(halves(trace, begun).flat())) === 200 ? true : undefined;
  const acknowledged = (trace: number) => eventually(() => send(trace), 'a request that is acknowledged', { everyMs: 200, looksMax: 300 });
  const [one, lost] = [alive.next().value, dead.next().value];
  await acknowledged(one);
  await expectScored(service, [one]);
  await second.stop('SIGKILL');
  await wait(electedMs);
  const [several, home] = [[alive.next().value, lost], homeOf(one)];
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [first.address] });
  takePartialAnswers(producer);
  onTestFinished(() => producer.close());
  const value = Buffer.from(
    writeTraces(
      several.flatMap((trace) => halves(trace, begun).flat()),
      'protobuf',
    ),
  );
  await producer.send({ messages: [{ topic, key: Buffer.alloc(0), value, partition: home }] });
  const others: number[] = [];
  for (const trace of alive) {
    if (homeOf(trace) !== home) others.push(trace);
    if (others.length === 5) break;
  }
  for (const trace of others) await acknowledged(trace);
  await eventually(
    async () => {
      const scored = new Set((await service.runs()).map((run) => String(run['trace_id'])));
      return others.every((trace) => scored.has(hex(trace))) ? true : undefined;
    },
    'runs of the other partitions',
    { everyMs: 200, looksMax: 150 },
  );
  expect((await service.runs()).map((run) => run['trace_id'])).not.toContain(hex(lost));
  await second.start();
  await expectScored(service, [one, ...several, ...others]);
});

test('kafka: while too few brokers have the topic a service is not ready and names the remedy, although the topic can be read', async () => {
  const { second, service } = await twoBrokers({ copies: 2 });
  const begun = Date.now();
  let trace = 0;
  const send = async (): Promise<true | undefined> => ((await service.send(halves(++trace, begun).flat())) === 200 ? true : undefined);
  const readiness = async (): Promise<string> => (await fetch(`${service.console}/readyz`)).text();
  await eventually(send, 'a request that is acknowledged', { everyMs: 200, looksMax: 300 });
  await eventually(async () => ((await readiness()).includes('ok') ? true : undefined), 'a service that is ready', {
    everyMs: 200,
    looksMax: 300,
  });
  await second.stop('SIGKILL');
  await eventually(
    async () => ((await send()) === undefined && (await readiness()).includes('min.insync.replicas') ? true : undefined),
    'a service that is not ready',
    { everyMs: 50, looksMax: 2_000 },
  );
  await second.start();
  await eventually(send, 'a request that is acknowledged', { everyMs: 500, looksMax: 120 });
  expect((await fetch(`${service.console}/readyz`)).status).toBe(200);
});
