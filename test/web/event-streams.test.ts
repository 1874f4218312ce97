/** Streams of events over real sockets: room, slow clients, heartbeats and the end. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { defaultStreamBounds, eventStreams, type EventSource, type EventStreams, type StreamBounds } from '../../src/web/event-streams.ts';
import { eventually } from '../service/running.ts';

interface Bench {
  readonly streams: EventStreams;
  readonly url: string;
  readonly port: number;
  readonly seen: { open: number; most: number; stalled: number; readonly faults: string[] };
}

async function bench(source: EventSource, bounds: Partial<StreamBounds> = {}): Promise<Bench> {
  const seen = { open: 0, most: 0, stalled: 0, faults: [] as string[] };
  const streams = eventStreams({
    ...defaultStreamBounds,
    everyMs: 1,
    ...bounds,
    onOpen(open) {
      seen.open = open;
      seen.most = Math.max(seen.most, open);
    },
    onStalled: () => seen.stalled++,
    onFault: (error) => seen.faults.push(error.message),
  });
  const server: Server = createServer((_request, response) => void streams.open(response, { 'x-test': 'yes' }, source, 'ana'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    streams.stop();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { streams, url: `http://127.0.0.1:${port}`, port, seen };
}

/** Events in turn, one at each reading. */
function counting(): EventSource & { readonly read: () => number } {
  let number = 0;
  return { read: () => number, next: async () => [{ event: 'n', data: { number: number++ }, id: String(number) }] };
}

async function textUntil(response: Response, part: string): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(part)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error(`the stream ended with ${text.slice(-200)}`);
    text += value;
  }
  await reader?.cancel();
  return text;
}

test('streams: events come as lines with their data and id', async () => {
  const { url, seen } = await bench(counting());
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type'), response.headers.get('x-test')]).toEqual([
    200,
    'text/event-stream',
    'yes',
  ]);
  expect(await textUntil(response, 'id: 2\n')).toMatch(/^:\n\nevent: n\nid: 1\ndata: \{"number":0\}\n\nevent: n\nid: 2\n/);
  await eventually(async () => (seen.open === 0 ? true : undefined), 'the end of the stream');
});

test('streams: without events a comment comes now and then', async () => {
  const { url } = await bench({ next: async () => [] }, { heartbeatMs: 2 });
  expect(await textUntil(await fetch(url), ':\n\n:\n\n:\n\n')).toMatch(/^(:\n\n)+$/);
});

test('streams: there is room for a number of them, and a stop ends all', async () => {
  const { url, streams, seen } = await bench({ next: async () => [] }, { streamsMax: 2 });
  const open = await Promise.all([fetch(url), fetch(url)]);
  expect(streams.hasRoom('ana')).toBe(false);
  streams.stop();
  for (const response of open) await response.text();
  await eventually(async () => (seen.open === 0 ? true : undefined), 'the end of the streams');
  expect([streams.hasRoom('ana'), seen.most, seen.faults]).toEqual([true, 2, []]);
});

test('streams: a holder of many leaves some to others', async () => {
  const { url, streams } = await bench({ next: async () => [] }, { streamsMax: 4 });
  const open = await Promise.all([1, 2, 3].map(async () => await fetch(url)));
  expect([streams.hasRoom('ana'), streams.hasRoom('ben')]).toEqual([false, true]);
  streams.stop();
  for (const response of open) await response.text();
});

test('streams: a client that does not read stops the readings, and loses its stream', async () => {
  let readings = 0;
  const next: EventSource['next'] = async () => {
    readings++;
    return [{ event: 'n', data: 'x'.repeat(1_000_000) }];
  };
  const { port, seen } = await bench({ next }, { stallMs: 20 });
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  socket.pause();
  onTestFinished(() => void socket.destroy());
  await eventually(async () => (seen.stalled === 1 && seen.open === 0 ? true : undefined), 'the end of the stream');
  // The bytes that the system takes of a socket unread, and one reading.
  expect(readings).toBeLessThan(40);
});

test('streams: a source that fails ends its stream, and is reported', async () => {
  const { url, seen } = await bench({ next: () => Promise.reject(new Error('no store')) });
  await (await fetch(url)).text();
  await eventually(async () => (seen.open === 0 ? true : undefined), 'the end of the stream');
  expect(seen.faults).toEqual(['no store']);
});

test('streams: a stream ends after its life', async () => {
  const { url } = await bench({ next: async () => [] }, { lifeMs: 5 });
  expect(await (await fetch(url)).text()).toMatch(/^(:\n\n)+$/);
});
