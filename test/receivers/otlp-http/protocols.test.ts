/** Clients that speak another protocol to the port of OTLP over HTTP. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { openDoor, type Door } from '../door.ts';

const doors: Door[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.receiver.stop()));
});

async function opened(): Promise<Door> {
  const door = await openDoor();
  doors.push(door);
  return door;
}

test('otlp_http: a client of gRPC learns in HTTP/2 that HTTP/1.1 is spoken here, and where gRPC is', async () => {
  const door = await opened();
  const session = connectHttp2(`http://127.0.0.1:${door.port}`).on('error', () => undefined);
  const [code, , data] = (await once(session, 'goaway')) as [number, number, Buffer];
  session.destroy();
  expect([code, data.toString()]).toEqual([0xd, 'HTTP/1.1 is spoken here, and gRPC on the port of listen.otlp_grpc.']);
  expect(door.warnings).toEqual([{ kind: 'is_http2', status: 400, refused: 1, todo: expect.stringContaining('http/protobuf') as string }]);
  expect(door.counts.get('tracejury.receiver.requests http other 400 is_http2')).toBe(1);
});

test('otlp_http: a client that begins with TLS is cut off, and the log names the remedy', async () => {
  const door = await opened();
  const socket = connectTls({ host: '127.0.0.1', port: door.port, rejectUnauthorized: false });
  await once(socket, 'error').catch(() => undefined);
  socket.destroy();
  expect(door.warnings).toEqual([{ kind: 'is_tls', status: 400, refused: 1, todo: expect.stringContaining('http://') as string }]);
});
