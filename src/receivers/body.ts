/** Reads a request body into recycled memory, and inflates it. Limits are counted as the bytes come, so a body never holds more than they allow. */
import type { Readable, Transform } from 'node:stream';
import {
  constants,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
  type Zlib,
} from 'node:zlib';
import { JuryError } from '../model/errors.ts';
import type { BufferPool, PooledBuffer } from '../runtime/buffer-pool.ts';
import type { Lease } from './byte-budget.ts';

export type ContentEncoding = 'identity' | 'gzip' | 'deflate' | 'zstd';

export interface BodyOptions {
  readonly encoding: ContentEncoding;
  /** Body bytes as sent. */
  readonly bodyBytesMax: number;
  readonly inflatedBytesMax: number;
  /** Bytes of the body that the lease holds already. */
  readonly leasedBytes: number;
  readonly lease: Lease;
  readonly buffers: BufferPool;
  /** Called once, with the body bytes as sent, whether the body was read or refused. */
  readonly received: (bytes: number) => void;
}

/** The client went away before its body was complete: no one receives an answer. */
export const aborted: unique symbol = Symbol('aborted');

/** The codings that Content-Encoding may name. Undefined: another one, or several. */
export function contentEncoding(header: string | undefined): ContentEncoding | undefined {
  const name = (header ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return 'identity';
  if (name === 'x-gzip') return 'gzip';
  return name === 'gzip' || name === 'deflate' || name === 'zstd' ? name : undefined;
}

export interface ReceivedBody {
  /** Inflated. */
  readonly body: PooledBuffer;
  /** As it came, still compressed where it was; `body` itself where it was not. */
  readonly sent: PooledBuffer;
}

/** The caller has read the body. */
export function releaseBody({ body, sent }: ReceivedBody): void {
  body.release();
  if (sent !== body) sent.release();
}

/**
 * Rejects with JuryError, or with `aborted`. The source is left open and paused, so that the caller can still read the rest away. The caller
 * releases the body.
 */
export async function readBody(source: Readable, options: BodyOptions): Promise<ReceivedBody> {
  const sent = growingBuffer(options.buffers, options.leasedBytes);
  try {
    await readInto(sent, source, options);
    if (options.encoding === 'identity') {
      const body = sent.take();
      return { body, sent: body };
    }
    const body = await inflated(sent.bytes(), options.encoding, options);
    return { body, sent: sent.take() };
  } finally {
    sent.discard();
  }
}

async function readInto(
  target: GrowingBuffer,
  source: Readable,
  { bodyBytesMax, leasedBytes, lease, received }: BodyOptions,
): Promise<void> {
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      sent += chunk.length;
      if (sent > bodyBytesMax) return fail(new JuryError('OTLP_TOO_LARGE', `It has more than ${bodyBytesMax} bytes.`));
      if (sent > leasedBytes && !lease.take(Math.min(chunk.length, sent - leasedBytes))) return fail(overloaded());
      return target.push(chunk);
    };
    const onEnd = (): void => {
      source.off('close', onClose);
      resolve();
    };
    const onClose = (): void => fail(aborted);
    const fail = (reason: unknown): void => {
      source.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      reject(reason);
    };
    source
      .on('data', onData)
      .on('end', onEnd)
      .on('close', onClose)
      .on('error', () => fail(aborted));
  }).finally(() => received(sent));
}

function overloaded(): JuryError {
  return new JuryError('OVERLOADED', 'Requests in flight hold all the bytes there are.');
}

/** The size of one read of a socket: fewer turns of the event loop than with zlib's 16 KiB for the same body. */
const chunkSize = 64 * 1024;

/** 8 MiB, what RFC 9659 allows for zstd over HTTP; a larger window is memory that a small body can ask for. */
const zstdWindowLogMax = 23;

/** A body that inflates within a few milliseconds is inflated at once, for half the cost of a stream. */
const atOnceBytesMax = 2 * 1024 * 1024;
/** A larger body hardly inflates to less. */
const atOnceSentBytesMax = 512 * 1024;

type Inflater = Transform & { readonly bytesWritten: number };
type Compression = Exclude<ContentEncoding, 'identity'>;

const zstd = { chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } };
const inflaters: {
  readonly [encoding in Compression]: {
    readonly stream: () => Inflater;
    readonly atOnce: (sent: Buffer, bounds: { readonly maxOutputLength: number; readonly info: true }) => unknown;
  };
} = {
  gzip: { stream: () => createGunzip({ chunkSize }), atOnce: (sent, bounds) => gunzipSync(sent, { chunkSize, ...bounds }) },
  deflate: { stream: () => createInflate({ chunkSize }), atOnce: (sent, bounds) => inflateSync(sent, { chunkSize, ...bounds }) },
  zstd: { stream: () => createZstdDecompress(zstd), atOnce: (sent, bounds) => zstdDecompressSync(sent, { ...zstd, ...bounds }) },
};

async function inflated(sent: Buffer, encoding: Compression, options: BodyOptions): Promise<PooledBuffer> {
  return inflatedAtOnce(sent, encoding, options) ?? (await inflatedAsStream(sent, encoding, options));
}

/** `undefined` when it takes longer than a turn may. */
function inflatedAtOnce(sent: Buffer, encoding: Compression, { inflatedBytesMax, lease, buffers }: BodyOptions): PooledBuffer | undefined {
  if (sent.length === 0 || sent.length > atOnceSentBytesMax) return undefined;
  const result = inflatedWithin(sent, encoding, Math.min(inflatedBytesMax, atOnceBytesMax));
  if (result === undefined) return undefined;
  if (result.read < sent.length) throw trailing(encoding);
  if (!lease.take(result.bytes.length)) throw overloaded();
  const body = buffers.take(result.bytes.length);
  result.bytes.copy(body.bytes);
  return body;
}

/** `undefined` when it inflates to more. */
function inflatedWithin(
  sent: Buffer,
  encoding: Compression,
  maxOutputLength: number,
): { readonly bytes: Buffer; readonly read: number } | undefined {
  try {
    // The types of Node leave out what `info` gives.
    const { buffer, engine } = inflaters[encoding].atOnce(sent, { maxOutputLength, info: true }) as {
      readonly buffer: Buffer;
      readonly engine: Pick<Zlib, 'bytesWritten'>;
    };
    return { bytes: buffer, read: engine.bytesWritten };
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw broken(encoding);
  }
}

async function inflatedAsStream(
  sent: Buffer,
  encoding: Compression,
  { inflatedBytesMax, lease, buffers }: BodyOptions,
): Promise<PooledBuffer> {
  const inflater = inflaters[encoding].stream();
  const target = growingBuffer(buffers, sent.length);
  try {
    await new Promise<void>((resolve, reject) => {
      inflater.on('error', () => reject(broken(encoding)));
      inflater.on('data', (chunk: Buffer) => {
        if (target.length() + chunk.length > inflatedBytesMax)
          reject(new JuryError('OTLP_TOO_LARGE', `It inflates to more than ${inflatedBytesMax} bytes.`));
        else if (lease.take(chunk.length)) return target.push(chunk);
        else reject(overloaded());
        inflater.destroy();
      });
      inflater.on('end', () => (inflater.bytesWritten < sent.length ? reject(trailing(encoding)) : resolve()));
      inflater.end(sent);
    });
    return target.take();
  } finally {
    inflater.destroy();
    target.discard();
  }
}

function broken(encoding: Compression): JuryError {
  return new JuryError('OTLP_MALFORMED', `Its ${encoding} data is broken.`);
}

function trailing(encoding: Compression): JuryError {
  return new JuryError('OTLP_MALFORMED', `There are bytes behind its ${encoding} data.`);
}

/** Collects pieces one after the other. Small ones do not hold their buffers: they are copied on arrival. */
interface GrowingBuffer {
  push(piece: Buffer): void;
  length(): number;
  /** Valid until the next piece. */
  bytes(): Buffer;
  /** The collected bytes, with one reader. */
  take(): PooledBuffer;
  /** Gives the memory back unless it was taken. */
  discard(): void;
}

/** Initial size for a body without an announced length. */
const firstBytes = 16 * 1024;
/** An announcement by itself gets no more. */
const announcedBytesMax = 1024 * 1024;

function growingBuffer(buffers: BufferPool, announcedBytes: number): GrowingBuffer {
  let memory: PooledBuffer | undefined = buffers.take(Math.min(announcedBytesMax, announcedBytes > 0 ? announcedBytes : firstBytes));
  let length = 0;

  function room(bytes: number): Buffer {
    if (memory !== undefined && memory.bytes.length >= bytes) return memory.bytes;
    const larger = buffers.take(Math.max(bytes, bytes <= announcedBytes ? Math.min(announcedBytes, length * 2) : length * 2));
    memory?.bytes.copy(larger.bytes, 0, 0, length);
    memory?.release();
    memory = larger;
    return larger.bytes;
  }

  return {
    push(piece) {
      piece.copy(room(length + piece.length), length);
      length += piece.length;
    },
    length: () => length,
    bytes: () => room(0).subarray(0, length),
    take() {
      room(0);
      const taken = memory as PooledBuffer;
      memory = undefined;
      return taken.cut(length);
    },
    discard() {
      memory?.release();
      memory = undefined;
    },
  };
}
