/** Exporters that come and go over one store: what they have not sent stays under their name. */
import { afterEach, expect, test } from 'vitest';
import type { ExporterConfig } from '../../src/config/config.ts';
import { exporterSetOf, type ExporterSet } from '../../src/service/exporter-set.ts';
import { itemSequence, type ItemSequence } from '../../src/model/watermark.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { item, shelf, type Shelf } from '../exporters/shelf.ts';
import { otlpSink, type Sink } from '../exporters/otlp-sink.ts';
import { eventually } from './running.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

async function backend(status: number): Promise<Sink> {
  const sink = await otlpSink((response) => {
    response.statusCode = status;
    response.end();
  });
  open.push(sink.close);
  return sink;
}

function entry(name: string, { url }: Sink): ExporterConfig {
  return {
    to: 'span_events',
    name,
    giveUp: { attempts: 100, ageMs: 604_800_000 },
    tracesEndpoint: `${url}/v1/traces`,
    headers: {},
    protocol: 'http/protobuf',
    judgeCalls: true,
  };
}

interface Host {
  readonly boxes: ExporterSet;
  readonly ids: ItemSequence;
  readonly told: unknown[];
  readonly givenUp: string[];
}

async function host(entries: readonly ExporterConfig[], { store }: Shelf, rowAfterMs = 0): Promise<Host> {
  const [told, givenUp]: [unknown[], string[]] = [[], []];
  const boxes = exporterSetOf({
    entries,
    telemetry: noTelemetry,
    logger: { info: (...words: readonly unknown[]) => void told.push(words), warn: () => undefined },
    onGivenUp: (name) => givenUp.push(name),
    drainMs: 1,
    rowAfterMs,
  });
  open.push(() => boxes.stop(0));
  await boxes.open(store);
  return { boxes, ids: itemSequence(), told, givenUp };
}

async function written(
  { boxes, ids }: Host,
  { store }: Shelf,
  numbers: readonly number[],
  between: () => void = () => undefined,
): Promise<void> {
  const items = numbers.map((number) => ({ ...item(number), id: ids.next() }));
  for (const one of items) boxes.offer(one, 100);
  between();
  const pending = boxes.pending(items);
  pending.written(await store.write(items, pending.exports));
}

const counts = async ({ store }: Shelf): Promise<readonly string[]> =>
  (await store.exports.counts()).map(({ exporter, waiting }) => `${exporter} ${waiting}`);

test('exporter-set: each exporter has separate rows, the metrics page has none, and a run with all its rows counts as settled', async () => {
  const of = await shelf();
  const down = await backend(503);
  const own = await host([entry('a', down), entry('b', down)], of);
  await written(own, of, [1, 2]);
  expect(await counts(of)).toEqual(['a 2', 'b 2']);
  await eventually(() => (own.boxes.settled() === 2 ? true : undefined), 'both settled');
  expect(own.boxes.statuses().map(({ name }) => name)).toEqual(['a', 'b']);
  expect(own.told).toEqual([]);
});

test('exporter-set: a backend that is down has its rows within moments after the runs are written', async () => {
  const of = await shelf();
  const own = await host([entry('a', await backend(503))], of, 60_000);
  await written(own, of, [1, 2]);
  await eventually(async () => ((await counts(of)).join() === 'a 2' ? true : undefined), 'two rows');
  expect(own.boxes.settled()).toBe(2);
});

test('exporter-set: without a durable store a run waits for its backend', async () => {
  const of = await shelf({ isDurable: false });
  const own = await host([entry('a', await backend(503))], of);
  await written(own, of, [1, 2]);
  expect(own.boxes.settled()).toBe(0);
});

test('exporter-set: rows that wait for removed entries are reported once, and stay', async () => {
  const of = await shelf();
  const down = await backend(503);
  const first = await host([entry('old', down), entry('other', down)], of);
  await written(first, of, [1, 2]);
  const second = await host([entry('other', down)], of);
  expect(second.told).toEqual([[{ waiting: { old: 2 } }, 'the store holds scores for exporters that are not configured']]);
  expect(await counts(of)).toEqual(['old 2', 'other 2']);
});

test('exporter-set: an entry that goes elsewhere takes along what the old place has not taken, written or not', async () => {
  const of = await shelf();
  const [down, up] = [await backend(503), await backend(200)];
  const own = await host([entry('a', down)], of);
  await written(own, of, [1, 2]);
  await written(own, of, [3, 4], () => own.boxes.prepare([entry('a', up)])());
  await own.boxes.recount();
  await eventually(() => (up.received.length >= 4 ? true : undefined), 'four scores');
  await eventually(() => (own.boxes.settled() === 4 ? true : undefined), 'all settled');
  await eventually(async () => ((await counts(of)).length === 0 ? true : undefined), 'no rows');
  expect(own.givenUp).toEqual([]);
});
