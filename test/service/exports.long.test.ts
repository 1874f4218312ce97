/** Scores that a backend has not taken outlive the process, through every state of the backend and change of the configuration. */
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { otlpSink, readCarrier, type Sink, type SinkAnswer } from '../exporters/otlp-sink.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
let backend: Sink | undefined;
afterEach(async () => {
  await folder.remove();
  await backend?.close();
  backend = undefined;
});

const runs = 40;
const text = (trace: number): string => trace.toString(16).padStart(32, '0');
const all = Array.from({ length: runs }, (_, at) => text(at + 1)).toSorted();

async function send(service: ServiceProcess, from = 1, to = runs): Promise<void> {
  for (let trace = from; trace <= to; trace++) {
    const spans = [
      toolSpan({ id: 3, parent: 1, trace, start: 3, end: 4, call: 'c', tool: 'find', arguments: '{"x":1}', result: 'there' }),
      agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder', input: 'where is it?', output: 'there' }),
    ];
    expect(await service.send(spans)).toBe(200);
  }
}

async function metric(
  service: ServiceProcess,
  name: string,
  labels: { readonly [label: string]: string } = { tracejury_exporter: 'span_events' },
): Promise<number> {
  return sample(await (await fetch(`${service.console}/metrics`)).text(), name, labels) ?? 0;
}

/** Carriers by trace: the ids under which each came. */
function carriers(sink: Sink): ReadonlyMap<string, ReadonlySet<string>> {
  const spans = sink.received.map((request) => readCarrier(request).span);
  return new Map(
    [...Map.groupBy(spans, ({ traceId }) => traceId)].map(([trace, own]) => [trace, new Set(own.map(({ spanId }) => spanId))]),
  );
}

/** Waits until nothing waits any more, and looks then. */
async function sent(service: ServiceProcess): Promise<void> {
  await eventually(
    async () =>
      (await metric(service, 'tracejury_exporter_queue')) === 0 && (await metric(service, 'tracejury_store_queue', {})) === 0
        ? true
        : undefined,
    'an empty queue',
  );
}

const config = (port: number, more = ''): string => `export: [ { to: span_events, endpoint: "http://127.0.0.1:${port}"${more} } ]\n`;
const stored = async (service: ServiceProcess): Promise<void> =>
  eventually(
    async () => ((await service.runs()).length === runs && (await metric(service, 'tracejury_store_queue', {})) === 0 ? true : undefined),
    'every run stored',
  ).then(() => undefined);

test('exports: of a backend that was down, every score arrives after a kill, each under one id', async () => {
  folder = serviceFolder();
  const port = await freePort();
  folder.configure(config(port));
  const first = await folder.start();
  await send(first);
  await stored(first);
  expect(await metric(first, 'tracejury_exporter_queue')).toBe(runs);
  await first.end('SIGKILL');
  const second = await folder.start();
  // Nothing is read again from the journal: the store has it.
  await send(second, runs, runs);
  await eventually(async () => ((await metric(second, 'tracejury_exporter_queue')) >= runs ? true : undefined), 'every score in the queue');
  backend = await otlpSink(undefined, port);
  await sent(second);
  expect([...carriers(backend).keys()].toSorted()).toEqual(all);
  expect([...carriers(backend).values()].map((ids) => ids.size)).toEqual(all.map(() => 1));
  await second.end('SIGTERM');
  const before = backend.received.length;
  const third = await folder.start();
  await send(third, runs + 1, runs + 1);
  await eventually(() => (backend !== undefined && backend.received.length > before ? true : undefined), 'one more');
  await sent(third);
  expect([...carriers({ ...backend, received: backend.received.slice(before) }).keys()]).toEqual([text(runs + 1)]);
});

test('exports: killed while the backend flaps and hangs, every score arrives, and a repeat is the same span', async () => {
  folder = serviceFolder();
  let healthy = false;
  const answer: SinkAnswer = (response, at) => {
    if (!healthy && at % 7 === 6) return;
    response.statusCode = healthy || at % 3 === 0 ? 200 : 503;
    response.end();
  };
  backend = await otlpSink(answer);
  folder.configure(config(Number(new URL(backend.url).port)));
  let service = await folder.start();
  for (const [from, to] of [
    [1, 15],
    [16, 30],
    [31, runs],
  ] as const) {
    await send(service, from, to);
    await service.end('SIGKILL');
    service = await folder.start();
  }
  healthy = true;
  await stored(service);
  await sent(service);
  expect([...carriers(backend).keys()].toSorted()).toEqual(all);
  expect([...carriers(backend).values()].every((ids) => ids.size === 1)).toBe(true);
});

for (const content of ['all', 'none'] as const) {
  test(`exports: with store.content ${content}, each score that waits has its row`, async () => {
    folder = serviceFolder({ content });
    folder.configure(config(await freePort()));
    const service = await folder.start();
    await send(service);
    await stored(service);
    // The row of a score follows the row of its run.
    const rows = await eventually(async () => {
      const { exports } = (await (await fetch(`${service.console}/api/v1/exports?limit=200`)).json()) as {
        readonly exports: readonly { readonly trace_id: string }[];
      };
      return exports.length < all.length ? undefined : exports;
    }, 'a row for each score');
    expect(rows.map(({ trace_id: trace }) => trace).toSorted()).toEqual(all);
  });
}

test('exports: an entry whose address changes, or that is away for a while, loses nothing', async () => {
  folder = serviceFolder();
  folder.configure(config(await freePort(), ', name: main'));
  const first = await folder.start();
  await send(first);
  await stored(first);
  await first.end('SIGTERM');
  folder.configure('export: [ { to: metrics } ]\n');
  const second = await folder.start();
  expect((await second.runs()).length).toBe(runs);
  await second.end('SIGTERM');
  backend = await otlpSink();
  folder.configure(
    `export: [ { to: span_events, name: other, endpoint: "${backend.url}/other" }, { to: span_events, name: main, endpoint: "${backend.url}/main" } ]\n`,
  );
  const third = await folder.start();
  await eventually(
    async () => ((await metric(third, 'tracejury_exporter_queue', { tracejury_exporter: 'main' })) === 0 ? true : undefined),
    'an empty queue',
  );
  expect([...carriers(backend).keys()].toSorted()).toEqual(all);
  expect(new Set(backend.received.map(({ url }) => url))).toEqual(new Set(['/main/v1/traces']));
});
