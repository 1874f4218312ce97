/** HTTP/2 written by hand (RFC 9113, RFC 7541), for what no client library would send. */
import { connect, type Socket } from 'node:net';
import { tracesPath } from '../receivers/grpc-client.ts';

export const frameTypes = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 } as const;
export const flags = { none: 0, ack: 1, endStream: 1, endHeaders: 4, padded: 8 } as const;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function frame(type: number, flag: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flag, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal header of HPACK; `indexed` puts it into the dynamic table. */
export function literal(name: string, value: string, indexed = false): Buffer {
  return Buffer.concat([Buffer.of(indexed ? 0x40 : 0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** An integer with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const bytes = [127];
  for (let rest = value - 127; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}

/** The header block of a call, and more. */
export function callHeaders(more: readonly Buffer[] = [], path = tracesPath): Buffer {
  const own = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
  };
  return Buffer.concat([...Object.entries(own).map(([name, value]) => literal(name, value)), ...more]);
}

/** A connection on which HTTP/2 has begun. Bytes that come back are read and thrown away. */
export function spokenTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(Buffer.concat([preface, frame(frameTypes.settings, flags.none, 0)]));
      socket.resume();
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
