/** Reads recorded spans and log records from files, folders of recorded requests, or standard input, within bounds. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { JuryError, unreadable, unreadableFile } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, jsonText, parseJson, type JsonValue } from '../../model/json.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { defaultOtlpLimits } from '../../otlp/read/limits.ts';
import { otlpOf } from './exported-forms.ts';
import { type Bytes, changed, fileBytes, type Piece } from './pieces.ts';
import { type KeyShapes, keyShapes } from '../../otlp/read/key-shapes.ts';
import { type OtlpEncoding, logsInSteps, type ReadLogs, type ReadTraces, type Rejection, tracesInSteps } from '../../otlp/read/read.ts';
import { runSteps } from '../../runtime/cooperative.ts';

export interface Body {
  /** The path, or `standard input`. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface ByteLimits {
  /** Bytes of one file on disk. */
  readonly fileBytes: number;
  /** Bytes of all inflated bodies in memory. */
  readonly totalBytes: number;
  /** Recorded requests of one folder. */
  readonly folderFiles: number;
}

export const defaultByteLimits: ByteLimits = { fileBytes: 256 * 1024 * 1024, totalBytes: 512 * 1024 * 1024, folderFiles: 10_000 };

/** Recorded bodies in a folder: `request-001.pb`, `logs-002.json.gz`. */
const recordedBody = /^(request|logs)-[\w.-]+$/;
/** Recorded bodies in a folder without such names. */
const recordedEnding = /\.(json|jsonl|ndjson|pb|binpb)(\.gz)?$/;

/** All bodies in the order given; those of a folder by name. Throws INPUT_UNREADABLE. */
export async function readBodies(
  paths: readonly string[],
  stdin: Readable,
  limits: ByteLimits = defaultByteLimits,
): Promise<readonly Body[]> {
  const bodies: Body[] = [];
  for (const { name, open } of await openInputs(paths, stdin, limits)) {
    const bytes = open();
    bodies.push({ name, bytes: bytes.read(0, bytes.size) });
    bytes.close();
  }
  return bodies;
}

/** An input that can be read several times. */
export interface Input {
  /** The path, or `standard input`. */
  readonly name: string;
  /** Inflated. Throws INPUT_UNREADABLE. */
  readonly open: () => Bytes;
}

/** All inputs in the order given; those of a folder by name. Throws INPUT_UNREADABLE. */
export async function openInputs(
  paths: readonly string[],
  stdin: Readable,
  limits: ByteLimits = defaultByteLimits,
): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  let total = 0;
  for (const path of paths) {
    const files = path === '-' ? [path] : await filesAt(path, limits);
    for (const file of files) {
      const name = file === '-' ? 'standard input' : file;
      const open = file === '-' ? undefined : openFile(name, limits);
      const input = open ?? kept(inflated(name, await readWhole(name, file === '-' ? stdin : createReadStream(file), limits), limits));
      const { size, close } = input();
      close();
      total += size;
      if (total > limits.totalBytes) throw unreadable(name, `together the inputs are larger than ${limits.totalBytes} bytes.`);
      inputs.push({ name, open: input });
    }
  }
  return inputs;
}

/** `undefined` for a file that can be read only once, such as a pipe. */
function openFile(name: string, limits: ByteLimits): (() => Bytes) | undefined {
  const open = (size?: number): Bytes | undefined => {
    try {
      return fileBytes(name, size);
    } catch (error) {
      throw unreadableFile(name, error);
    }
  };
  const first = open();
  if (first === undefined) return undefined;
  const isCompressed = isGzip(first.read(0, gzipBytes));
  first.close();
  if (first.size > limits.fileBytes) throw unreadable(name, `larger than ${limits.fileBytes} bytes.`);
  return () => {
    const bytes = open(first.size);
    if (bytes === undefined) throw unreadable(name, changed);
    if (!isCompressed) return bytes;
    const whole = inflated(name, bytes.read(0, bytes.size), limits);
    bytes.close();
    return kept(whole)();
  };
}

/** An input of bytes in memory. */
export function inputOf({ name, bytes }: Body): Input {
  return { name, open: kept(bytes) };
}

function kept(bytes: Buffer): () => Bytes {
  return () => ({ size: bytes.length, read: (at, length) => bytes.subarray(at, at + length), close: () => undefined });
}

async function filesAt(path: string, limits: ByteLimits): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const files = (await readdir(path)).sort();
    const named = files.filter((file) => recordedBody.test(file));
    const found = named.length > 0 ? named : files.filter((file) => recordedEnding.test(file));
    if (found.length === 0)
      throw unreadable(path, 'the folder has no request-* or logs-* file, and no .json, .jsonl, .ndjson, .pb or .binpb file.');
    if (found.length > limits.folderFiles) throw unreadable(path, `the folder has more than ${limits.folderFiles} recorded requests.`);
    return found.map((file) => join(path, file));
  } catch (error) {
    throw error instanceof JuryError ? error : unreadableFile(path, error);
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
    throw error instanceof JuryError ? error : unreadableFile(name, error);
  } finally {
    from.destroy();
  }
  return Buffer.concat(chunks, size);
}

const gzipBytes = 2;

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function inflated(name: string, bytes: Buffer, limits: ByteLimits): Buffer {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.totalBytes });
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    throw unreadable(name, tooLarge ? `inflates to more than ${limits.totalBytes} bytes.` : 'begins like gzip but does not inflate.');
  }
}

export interface Recorded {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** Log records without a trace id. */
  readonly recordsWithoutTrace: number;
  /** Rejected spans and log records. */
  readonly rejections: readonly (Rejection & { readonly where: string })[];
}

/** Collects what is read. */
interface Collected {
  readonly spans: Span[];
  readonly records: LogRecord[];
  recordsWithoutTrace: number;
  readonly rejections: (Rejection & { readonly where: string })[];
  /** Attribute keys repeat from body to body. */
  readonly shapes: KeyShapes;
}

type Signal = 'traces' | 'logs' | 'metrics';

/** Requests of one file. */
const linesMax = 5_000_000;

/** Reads protobuf, one JSON request, or one JSON request a line. Throws INPUT_UNREADABLE with the file, and the line of JSON lines. */
export function readRecorded(bodies: readonly Body[]): Recorded {
  const into = collecting();
  for (const body of bodies) readPiece({ ...body, form: 'whole', line: 1 }, into);
  return into;
}

export function collecting(shapes = keyShapes()): Collected {
  return { spans: [], records: [], recordsWithoutTrace: 0, rejections: [], shapes };
}

/** Throws INPUT_UNREADABLE with the file, and the line of JSON lines. */
export function readPiece(piece: Piece, into: Collected): void {
  if (piece.form === 'lines') readLines(piece, into);
  else if (piece.form === 'whole') readBody(piece, into);
  else keepTraces(piece.name, tracesIn(piece.bytes, 'protobuf', into), into);
}

function readBody({ name, bytes }: Body, into: Collected): void {
  if (bytes.length === 0) throw unreadable(name, 'it is empty.');
  // A protobuf request begins with the byte of a line feed, and so may a JSON text. The next byte, a length, may equal a brace.
  if (bytes[0] === 0x0a && readProtobuf(name, bytes, into)) return;
  const sign = firstSign(bytes);
  if (sign !== 0x7b && sign !== 0x5b) throw unreadable(name, 'it is neither an OTLP request in protobuf nor JSON.');
  if (isOneDocument(bytes)) readJson(name, bytes, into);
  else readLines({ name, bytes, line: 1 }, into);
}

function firstSign(bytes: Buffer): number | undefined {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (isBlank(bytes[at])) at++;
  return bytes[at];
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** `false` for JSON lines: the first line is a whole object, and more follows. */
function isOneDocument(bytes: Buffer): boolean {
  let start = 0;
  while (bytes[start] === 0xef || bytes[start] === 0xbb || bytes[start] === 0xbf || isBlank(bytes[start])) start++;
  const end = bytes.indexOf(0x0a, start);
  if (end === -1 || firstSign(bytes.subarray(end)) === undefined) return true;
  return jsonIn(bytes.subarray(start, end)) === undefined;
}

function readLines({ name, bytes, line: first }: Omit<Piece, 'form'>, into: Collected): void {
  let line = first - 1;
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const where = `${name}: line ${++line}`;
    if (line > linesMax) throw unreadable(name, `more than ${linesMax} lines.`);
    const text = bytes.subarray(start, end);
    if (firstSign(text) !== undefined) readJson(where, text, into);
    start = end + 1;
  }
}

function readJson(where: string, bytes: Buffer, into: Collected): void {
  const signal = signalByKey(bytes);
  if (signal !== undefined) {
    if (signal !== 'metrics') take(where, signal, bytes, into);
    return;
  }
  const value = parseJson(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  const request = value === undefined ? undefined : otlpOf(value);
  if (request === undefined) throw unreadable(where, unknownForm(value));
  take(where, 'traces', Buffer.from(jsonText(request)), into);
}

/** The first key of most requests. */
const FIRST_KEY = /^\uFEFF?\s*\{\s*"(?:resource_?(spans|logs|metrics))"\s*:/i;

/** `undefined` when the body is not an OTLP request. */
function signalByKey(bytes: Buffer): Signal | undefined {
  const first = FIRST_KEY.exec(bytes.toString('utf8', 0, 100))?.[1]?.toLowerCase();
  if (first !== undefined) return first === 'spans' ? 'traces' : first === 'logs' ? 'logs' : 'metrics';
  const value = jsonIn(bytes);
  if (value === undefined) return undefined;
  const has = (...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(value, key));
  if (has('resourceSpans', 'resource_spans')) return 'traces';
  if (has('resourceLogs', 'resource_logs')) return 'logs';
  if (has('resourceMetrics', 'resource_metrics')) return 'metrics';
  return undefined;
}

function unknownForm(value: JsonValue | undefined): string {
  if (isJsonArray(value))
    return 'it is neither an OTLP request in protobuf nor JSON of one, nor a list of spans as an OpenTelemetry SDK writes it.';
  if (!isJsonObject(value)) return 'it is not a JSON object.';
  const keys = Object.keys(value)
    .slice(0, 3)
    .map((key) => JSON.stringify(key.slice(0, 40)));
  return `it has neither resourceSpans nor resourceLogs${keys.length === 0 ? '' : `, but ${keys.join(', ')}`}. Tempo, Jaeger and OpenTelemetry SDKs write no such trace either.`;
}

/** Parses only for the keys of the outermost object; the OTLP reader bounds the nesting. */
function jsonIn(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Requests of traces and logs have the same outer form: chooses the one that gives items. `false` when neither does. */
function readProtobuf(name: string, bytes: Buffer, into: Collected): boolean {
  const asTraces = tried(() => tracesIn(bytes, 'protobuf', into));
  if (asTraces !== undefined && asTraces.spans.length > 0) {
    keepTraces(name, asTraces, into);
    return true;
  }
  const asLogs = tried(() => logsIn(bytes, 'protobuf', into));
  if (asLogs !== undefined && asLogs.records.length + asLogs.ignored > 0) keepLogs(name, asLogs, into);
  else if (asTraces !== undefined) keepTraces(name, asTraces, into);
  return asTraces !== undefined || asLogs !== undefined;
}

function tried<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof JuryError) return undefined;
    throw error;
  }
}

/** A file records many requests, so its limits exceed those of a request. */
const limits = {
  ...defaultOtlpLimits,
  spansPerRequest: 5_000_000,
  recordsPerRequest: 5_000_000,
  blocksPerRequest: 5_000_000,
  itemsPerRequest: 100_000_000,
  jsonValues: 100_000_000,
  jsonEnvelopeValues: 100_000_000,
  valuesPerSpan: 100_000_000,
  bytesPerSpan: 2_000_000_000,
};

function tracesIn(bytes: Buffer, encoding: OtlpEncoding, { shapes }: Collected): ReadTraces {
  return runSteps(tracesInSteps(bytes, encoding, limits, shapes));
}

function logsIn(bytes: Buffer, encoding: OtlpEncoding, { shapes }: Collected): ReadLogs {
  return runSteps(logsInSteps(bytes, encoding, limits, shapes));
}

function take(where: string, signal: 'traces' | 'logs', bytes: Buffer, into: Collected): void {
  try {
    if (signal === 'traces') keepTraces(where, tracesIn(bytes, 'json', into), into);
    else keepLogs(where, logsIn(bytes, 'json', into), into);
  } catch (error) {
    throw error instanceof JuryError ? unreadable(where, error.why) : error;
  }
}

function keepTraces(where: string, { spans, rejections }: ReadTraces, into: Collected): void {
  for (const span of spans) into.spans.push(span);
  into.rejections.push(...rejections.map((one) => ({ ...one, where })));
}

function keepLogs(where: string, { records, ignored, rejections }: ReadLogs, into: Collected): void {
  for (const record of records) into.records.push(record);
  into.recordsWithoutTrace += ignored;
  into.rejections.push(...rejections.map((one) => ({ ...one, where })));
}
