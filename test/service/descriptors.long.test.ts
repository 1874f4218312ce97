/** A process with few descriptors, and clients that take as many as they can before anybody has asked who they are. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { goodBody } from '../receivers/otlp-http/table.ts';
import { serviceFolder } from './process.ts';
import { eventually, sample } from './running.ts';

const descriptors = 240;
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

test('service: idle connections beyond the descriptor limit end neither the process nor the service of others', async () => {
  const folder = serviceFolder({ descriptors });
  ending.push(() => folder.remove());
  folder.configure('log: { level: debug }');
  const jury = await folder.start();
  const ports = [jury.otlp, jury.console, `http://${/(127\.0\.0\.1:\d+) \(gRPC\)/.exec(jury.said())?.[1] ?? ''}`].map((address) =>
    Number(new URL(address).port),
  );
  const sockets: Socket[] = [];
  ending.push(() => sockets.forEach((socket) => socket.destroy()));
  for (const port of ports) {
    for (let at = 0; at < descriptors; at++) {
      sockets.push(
        connect(port, '127.0.0.1')
          .on('error', () => undefined)
          .resume(),
      );
      if (at % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const evicted = (page: string): number =>
    ['http', 'grpc', 'console'].filter(
      (transport) =>
        (sample(page, 'tracejury_receiver_connections_ended_total', { tracejury_transport: transport, tracejury_reason: 'evicted' }) ?? 0) >
        0,
    ).length;
  await eventually(async () => evicted(await jury.metrics()) === 3 || undefined, 'connections of every listener to make room');
  const { status } = await fetch(`${jury.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(goodBody),
  });
  expect(status).toBe(200);
  expect(jury.said()).toContain(`"descriptors":${descriptors}`);
  expect(await jury.end('SIGTERM')).toBe(0);
});
