/**
 * The one message of a gRPC request, and of its answer, as "gRPC over HTTP2" frames them:
 *
 *     message = compressed: 1 byte (0 or 1), length: 4 bytes (big-endian), so many bytes
 */
import type { Readable } from 'node:stream';
import { JuryError } from '../../model/errors.ts';
import { aborted, readBody, type BodyOptions, type ContentEncoding, type ReceivedBody } from '../body.ts';
import type { Lease } from '../byte-budget.ts';

export interface MessageOptions {
  /** What `grpc-encoding` names; messages that are not marked as compressed are plain all the same. */
  readonly encoding: ContentEncoding;
  /** Of the message as sent. */
  readonly bodyBytesMax: number;
  readonly inflatedBytesMax: number;
  readonly lease: Lease;
  /** Called once, with the message bytes as sent, whether the message was read or refused. */
  readonly received: BodyOptions['received'];
}

export interface ReceivedMessage extends ReceivedBody {
  /** Of `sent`. */
  readonly encoding: ContentEncoding;
}

/** Rejects with JuryError, or with `aborted`. */
export async function readMessage(source: Readable, { lease, encoding, ...options }: MessageOptions): Promise<ReceivedMessage> {
  const { compressed, length } = await readPrefix(source);
  if (length > options.bodyBytesMax) throw new JuryError('OTLP_TOO_LARGE', `It has ${length} bytes, the limit is ${options.bodyBytesMax}.`);
  if (compressed && encoding === 'identity')
    throw new JuryError('OTLP_MALFORMED', 'Its message is marked as compressed, and grpc-encoding does not say how.');
  if (!lease.take(length)) throw new JuryError('OVERLOADED', 'Requests in flight hold all the bytes there are.');
  let sent = 0;
  const body = readBody(source, {
    ...options,
    encoding: compressed ? encoding : 'identity',
    lease,
    leasedBytes: length,
    received(bytes) {
      sent = bytes;
      options.received(bytes);
    },
  });
  source.resume();
  const message = await body;
  if (sent !== length) throw new JuryError('OTLP_MALFORMED', `Its message announces ${length} bytes and has ${sent}.`);
  return { ...message, encoding: compressed ? encoding : 'identity' };
}

export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const prefixBytes = 5;

/** Leaves the source paused before the first byte of the message. */
function readPrefix(source: Readable): Promise<{ readonly compressed: boolean; readonly length: number }> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      if (read.length < prefixBytes) return;
      settle();
      if (read.length > prefixBytes) source.unshift(read.subarray(prefixBytes));
      const flag = read.readUInt8(0);
      if (flag > 1) reject(new JuryError('OTLP_MALFORMED', 'What it starts with is not the beginning of a gRPC message.'));
      else resolve({ compressed: flag === 1, length: read.readUInt32BE(1) });
    };
    const onEnd = (): void => {
      settle();
      reject(new JuryError('OTLP_MALFORMED', 'There is no gRPC message in it.'));
    };
    const onClose = (): void => {
      settle();
      reject(aborted);
    };
    const settle = (): void => void source.off('data', onData).off('end', onEnd).off('close', onClose).pause();
    source.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
