/** Reads a request body, inflating it on the way. Limits are counted as the bytes come, so a body never holds more than they allow. */
import type { Readable, Transform } from 'node:stream';
import { constants, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { JuryError } from '../model/errors.ts';
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
  /** Called once, with the body bytes as sent, whether the body was read or refused. */
  readonly received: (bytes: number) => void;
}

/** The client went away before its body was complete: nobody is there to be answered. */
export const aborted: unique symbol = Symbol('aborted');

/** The codings that Content-Encoding may name. Undefined: another one, or several. */
export function contentEncoding(header: string | undefined): ContentEncoding | undefined {
  const name = (header ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return 'identity';
  if (name === 'x-gzip') return 'gzip';
  return name === 'gzip' || name === 'deflate' || name === 'zstd' ? name : undefined;
}

export interface ReceivedBody {
  readonly body: Buffer;
  /** As it came, still compressed where it was. */
  readonly sent: Buffer;
}

/** Rejects with JuryError, or with `aborted`. The source is left open and paused, so that the caller can still read the rest away. */
export async function readBody(source: Readable, options: BodyOptions): Promise<ReceivedBody> {
  const inflater = inflaters[options.encoding]();
  let sent = 0;
  try {
    return await new Promise<ReceivedBody>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const sentChunks: Buffer[] = [];
      let length = 0;
      const keep = (chunk: Buffer): void => {
        length += chunk.length;
        chunks.push(chunk);
      };
      const pieces = coalescer((piece) => {
        if (inflater === undefined) return keep(piece);
        sentChunks.push(piece);
        if (!inflater.write(piece)) source.pause();
      }, options.leasedBytes);
      const onData = (chunk: Buffer): void => {
        sent += chunk.length;
        if (sent > options.bodyBytesMax) return fail(new JuryError('OTLP_TOO_LARGE', `It has more than ${options.bodyBytesMax} bytes.`));
        if (sent > options.leasedBytes && !options.lease.take(Math.min(chunk.length, sent - options.leasedBytes)))
          return fail(overloaded());
        pieces.push(chunk);
      };
      const onEnd = (): void => {
        source.off('close', onClose);
        pieces.flush();
        if (inflater !== undefined) {
          inflater.end();
          return;
        }
        const body = Buffer.concat(chunks, length);
        resolve({ body, sent: body });
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
      inflater?.on('drain', () => source.resume());
      inflater?.on('error', () => fail(new JuryError('OTLP_MALFORMED', `Its ${options.encoding} data is broken.`)));
      inflater?.on('data', (chunk: Buffer) => {
        if (length + chunk.length > options.inflatedBytesMax)
          return fail(new JuryError('OTLP_TOO_LARGE', `It inflates to more than ${options.inflatedBytesMax} bytes.`));
        if (!options.lease.take(chunk.length)) return fail(overloaded());
        return keep(chunk);
      });
      inflater?.on('end', () => {
        if (inflater.bytesWritten < sent) fail(new JuryError('OTLP_MALFORMED', `There are bytes behind its ${options.encoding} data.`));
        else resolve({ body: Buffer.concat(chunks, length), sent: Buffer.concat(sentChunks, sent) });
      });
    });
  } finally {
    inflater?.destroy();
    options.received(sent);
  }
}

function overloaded(): JuryError {
  return new JuryError('OVERLOADED', 'Requests in flight hold all the bytes there are.');
}

type Inflater = Transform & { readonly bytesWritten: number };

/** Larger pieces than zlib's default of 16 KiB: fewer turns of the event loop for the same body. */
const chunkSize = 64 * 1024;

/** 8 MiB, what RFC 9659 allows for zstd over HTTP; a larger window is memory that a small body can ask for. */
const zstdWindowLogMax = 23;

const inflaters: { readonly [encoding in ContentEncoding]: () => Inflater | undefined } = {
  identity: () => undefined,
  gzip: () => createGunzip({ chunkSize }),
  deflate: () => createInflate({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
};

/**
 * Copies the small pieces of a body together. A piece of one byte costs some two hundred bytes as an object and pins the read that it came in, so
 * whoever sends a body in single bytes would take many times what its lease says.
 */
interface Coalescer {
  push(piece: Buffer): void;
  /** Hands out what is left; called at the end of the body. */
  flush(): void;
}

/** The first slab of a body whose length nobody announced. */
const firstSlabBytes = 1024;
/** As large as one read of a socket. */
const slabBytesMax = 64 * 1024;
/** A piece passes as it is when it is large, and most of the memory that it pins. */
const passingBytes = 8 * 1024;
const passingShare = 0.5;

/** `emit` gets all bytes in their order, in pieces that are worth an object each. Slabs double, so that they hold at most twice what came. */
function coalescer(emit: (piece: Buffer) => void, announcedBytes = 0): Coalescer {
  let slab: Buffer | undefined;
  let used = 0;
  let nextBytes = announcedBytes > 0 ? Math.min(slabBytesMax, announcedBytes) : firstSlabBytes;
  /** Most bodies are one piece: it is copied when a second one comes. */
  let first: Buffer | undefined;
  let isFirst = true;

  function flush(): void {
    if (first !== undefined) emit(first);
    first = undefined;
    if (slab === undefined || used === 0) return;
    emit(slab.subarray(0, used));
    slab = undefined;
    used = 0;
  }

  function copy(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      if (slab === undefined) {
        // Not out of Node's pool: a slab that is handed on must pin nothing but itself.
        slab = Buffer.allocUnsafeSlow(nextBytes);
        nextBytes = Math.min(slabBytesMax, nextBytes * 2);
      }
      const count = piece.copy(slab, used, at);
      at += count;
      used += count;
      if (used === slab.length) flush();
    }
  }

  return {
    push(piece) {
      const isSmall = piece.length < passingBytes || piece.length < piece.buffer.byteLength * passingShare;
      if (isFirst && isSmall) first = piece;
      else if (isSmall) {
        if (first !== undefined) copy(first);
        first = undefined;
        copy(piece);
      } else {
        flush();
        emit(piece);
      }
      isFirst = false;
    },
    flush,
  };
}
