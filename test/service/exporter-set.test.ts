/** Queues that come and go with the entries of a configuration, against backends on loopback. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { ExporterConfig } from '../../src/config/config.ts';
import { exporterSetOf } from '../../src/service/exporter-set.ts';
import { itemSequence } from '../../src/model/watermark.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { spanId } from '../builders/agent-trace.ts';
import { evaluation, run, scored } from '../builders/scored-run.ts';
import { otlpSink, type Sink } from '../exporters/otlp-sink.ts';
import { eventually } from './running.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

/** Answers when the test lets it. */
async function slowSink(): Promise<Sink & { readonly waiting: ServerResponse[]; readonly answerAll: () => void }> {
  const waiting: ServerResponse[] = [];
  const sink = await otlpSink((response) => void waiting.push(response));
  open.push(sink.close);
  return { ...sink, waiting, answerAll: () => waiting.splice(0).forEach((response) => response.end()) };
}

async function quickSink(): Promise<Sink> {
  const sink = await otlpSink();
  open.push(sink.close);
  return sink;
}

function entry({ url }: Sink, headers: { readonly [name: string]: string } = {}): ExporterConfig {
  return {
    to: 'span_events',
    name: 'span_events',
    giveUp: { attempts: 100, ageMs: 604_800_000 },
    tracesEndpoint: `${url}/v1/traces`,
    headers,
    protocol: 'http/protobuf',
    judgeCalls: true,
  };
}

function host(entries: readonly ExporterConfig[], { drainMs = 60_000 } = {}) {
  const givenUp: (readonly [string, number])[] = [];
  const boxes = exporterSetOf({ entries, telemetry: metricRegistry(), onGivenUp: (...told) => givenUp.push(told), drainMs });
  open.push(() => boxes.stop(0));
  const ids = itemSequence();
  const offer = (): void => {
    const id = ids.next();
    const own = run({ spanId: spanId(id) });
    boxes.offer({ id, run: own, evaluations: [evaluation('one', scored(1), own)], decisions: [] }, 100);
  };
  return { boxes, givenUp, offer };
}

async function came(sink: Sink, requests: number): Promise<void> {
  await eventually(() => (sink.received.length >= requests ? true : undefined), `${requests} requests`);
}

test('exporter-set: what was offered before an exporter came does not count as waiting for it', async () => {
  const [first, second] = [await quickSink(), await slowSink()];
  const { boxes, offer } = host([entry(first)]);
  for (let at = 0; at < 3; at++) offer();
  await eventually(() => (boxes.settled() === 3 ? true : undefined), 'three that are sent');
  boxes.prepare([entry(first), entry(second)])();
  expect(boxes.settled()).toBe(3);
  offer();
  await came(second, 1);
  expect(boxes.settled()).toBe(3);
  second.answerAll();
  await eventually(() => (boxes.settled() === 4 ? true : undefined), 'the fourth');
});

test('exporter-set: what waits for an exporter that left holds back what counts as sent, until it is sent or given up', async () => {
  const [slow, quick] = [await slowSink(), await quickSink()];
  const { boxes, offer, givenUp } = host([entry(slow)]);
  offer();
  await came(slow, 1);
  boxes.prepare([entry(quick)])();
  offer();
  await came(quick, 1);
  expect(boxes.settled()).toBe(0);
  slow.answerAll();
  await eventually(() => (boxes.settled() === 2 ? true : undefined), 'both');
  expect(givenUp).toEqual([]);
});

test('exporter-set: a removed exporter that takes nothing is given up after a while, and reported', async () => {
  const [slow, quick] = [await slowSink(), await quickSink()];
  const { boxes, offer, givenUp } = host([entry(slow)], { drainMs: 1 });
  for (let at = 0; at < 6; at++) offer();
  boxes.prepare([entry(quick)])();
  await eventually(() => (givenUp.length > 0 ? true : undefined), 'six that are given up');
  expect(givenUp).toEqual([['span_events', 6]]);
  expect(boxes.settled()).toBe(6);
});

test('exporter-set: of two entries for one backend the one that stays keeps its key and its queue', async () => {
  const slow = await slowSink();
  const { boxes, offer } = host([entry(slow, { 'x-key': 'one' }), entry(slow, { 'x-key': 'two' })]);
  for (let at = 0; at < 6; at++) offer();
  await came(slow, 8);
  boxes.prepare([entry(slow, { 'x-key': 'two' })])();
  await eventually(() => {
    slow.answerAll();
    return boxes.settled() === 6 && slow.received.length === 12 ? true : undefined;
  }, 'six for each key');
  const keys = slow.received.map(({ headers }) => headers['x-key']);
  expect([keys.filter((key) => key === 'one').length, keys.filter((key) => key === 'two').length]).toEqual([6, 6]);
});

test('exporter-set: a few may leave at a time, and a stop waits for none of them longer than for the others', async () => {
  const slow = await slowSink();
  const { boxes, offer } = host([entry(slow)]);
  const paths = ['a', 'b', 'c', 'd'];
  for (const path of paths) {
    offer();
    boxes.prepare([{ ...entry(slow), tracesEndpoint: `${slow.url}/${path}/v1/traces` } as ExporterConfig])();
  }
  let isFree = false;
  const room = boxes.room().then(() => (isFree = true));
  offer();
  await came(slow, 5);
  expect(isFree).toBe(false);
  // Five wait without an answer: four of them for exporters that would have a minute more.
  expect(await boxes.stop(1)).toBe(5);
  await room;
  expect(isFree).toBe(true);
});
