/** The bytes of recorded spans: files, folders of recorded requests, or standard input. Everything is bounded. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { JuryError } from '../../model/errors.ts';

export interface Body {
  /** As messages name it: the path, or `standard input`. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface ByteLimits {
  /** Of one file, as it lies on the disk. */
  readonly fileBytes: number;
  /** Of all bodies together, inflated: they are held in memory. */
  readonly totalBytes: number;
  /** Recorded requests of one folder. */
  readonly folderFiles: number;
}

export const defaultByteLimits: ByteLimits = { fileBytes: 256 * 1024 * 1024, totalBytes: 512 * 1024 * 1024, folderFiles: 10_000 };

/** In a folder these are the recorded bodies: `request-001.pb`, `logs-002.json.gz`. */
const recordedBody = /^(request|logs)-[\w.-]+$/;
/** In a folder without such names these are. */
const recordedEnding = /\.(json|jsonl|ndjson|pb|binpb)(\.gz)?$/;

/** All bodies in the order given; those of a folder by name. Throws INPUT_UNREADABLE. */
export async function readBodies(
  paths: readonly string[],
  stdin: Readable,
  limits: ByteLimits = defaultByteLimits,
): Promise<readonly Body[]> {
  const bodies: Body[] = [];
  let total = 0;
  for (const path of paths) {
    const files = path === '-' ? [path] : await filesAt(path, limits);
    for (const file of files) {
      const name = file === '-' ? 'standard input' : file;
      const bytes = inflated(name, await readWhole(name, file === '-' ? stdin : createReadStream(file), limits), limits);
      total += bytes.length;
      if (total > limits.totalBytes) throw unreadable(name, `together the inputs are larger than ${limits.totalBytes} bytes.`);
      bodies.push({ name, bytes });
    }
  }
  return bodies;
}

export function unreadable(name: string, why: string): JuryError {
  return new JuryError('INPUT_UNREADABLE', `${name}: ${why}`);
}

async function filesAt(path: string, limits: ByteLimits): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const files = (await readdir(path)).sort();
    const named = files.filter((file) => recordedBody.test(file));
    const found = named.length > 0 ? named : files.filter((file) => recordedEnding.test(file));
    if (found.length === 0)
      throw unreadable(path, 'the folder holds no request-* or logs-* file, and none that ends in .json, .jsonl, .ndjson, .pb or .binpb.');
    if (found.length > limits.folderFiles) throw unreadable(path, `the folder holds more than ${limits.folderFiles} recorded requests.`);
    return found.map((file) => join(path, file));
  } catch (error) {
    throw error instanceof JuryError ? error : unreadable(path, reasonOf(error));
  }
}

async function readWhole(name: string, from: Readable, limits: ByteLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of from as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > limits.fileBytes) throw unreadable(name, `larger than ${limits.fileBytes} bytes.`);
      chunks.push(bytes);
    }
  } catch (error) {
    throw error instanceof JuryError ? error : unreadable(name, reasonOf(error));
  } finally {
    from.destroy();
  }
  return Buffer.concat(chunks, size);
}

/** The first two bytes identify gzip. */
function inflated(name: string, bytes: Buffer, limits: ByteLimits): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.totalBytes });
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    throw unreadable(name, tooLarge ? `inflates to more than ${limits.totalBytes} bytes.` : 'begins like gzip but does not inflate.');
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file.';
  if (code === 'EACCES') return 'it may not be read.';
  return error instanceof Error ? error.message : 'it cannot be read.';
}
