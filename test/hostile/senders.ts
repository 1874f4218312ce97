/** The ways in which cases are sent, and what is read of the answers. */
import type { ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { statusMessage, traceResponse } from '../otlp/descriptors.ts';
import { chunked } from '../receivers/door.ts';
import { rawCall, rawSession } from '../receivers/grpc-client.ts';
import type { Answer, Send } from './case.ts';

export type Headers = { readonly [name: string]: string | number };

export const asProtobuf: Headers = { 'content-type': 'application/x-protobuf' };
export const asJson: Headers = { 'content-type': 'application/json' };

export interface Post {
  readonly path?: string;
  readonly method?: string;
  readonly version?: string;
  readonly headers?: Headers;
  /** Sends pieces of this many bytes, without a length. */
  readonly pieces?: number;
}

/** One request on a separate connection. Everything is written before a byte is read: an answer that a reset takes away is not seen. */
export function post(body: Uint8Array, { headers = asProtobuf, pieces, ...line }: Post = {}): Send {
  const sent = pieces === undefined ? body : chunked(body, pieces);
  const length: Headers = pieces === undefined ? { 'content-length': body.length } : { 'transfer-encoding': 'chunked' };
  return raw(requestHead({ connection: 'close', ...length, ...headers }, line), sent);
}

export function requestHead(headers: Headers, { path = '/v1/traces', method = 'POST', version = 'HTTP/1.1' }: Post = {}): string {
  return `${method} ${path} ${version}\r\nhost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

/** The unchanged bytes; the last answer that comes back counts. */
export function raw(...parts: readonly (string | Uint8Array)[]): Send {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return async ({ http }) => answerOf(await sentTo(http, bytes, false));
}

/** As `raw`, and the client goes away with the first answer, while the server waits for the rest of the request. */
export function rawUntilAnswered(...parts: readonly (string | Uint8Array)[]): Send {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return ({ http }) =>
    new Promise((resolve) => {
      let received = Buffer.alloc(0);
      const socket = connect(http, '127.0.0.1', () => socket.write(bytes));
      socket.on('error', () => resolve(cutOff));
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const head = received.indexOf('\r\n\r\n') + 4;
        if (head < 4 || received.length < head + lengthIn(received.toString('latin1', 0, head))) return;
        socket.destroy();
        resolve(answersIn(received)[0] ?? cutOff);
      });
    });
}

/** As `raw`, and the client ends its side when it has sent everything. */
export function rawAndGone(...parts: readonly (string | Uint8Array)[]): Send {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return async ({ http }) => answerOf(await sentTo(http, bytes, true));
}

/** All that comes back until the server ends the connection; undefined when it is reset. */
export function sentTo(port: number, bytes: Uint8Array, ends: boolean): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const received: Buffer[] = [];
    socket.on('error', () => resolve(undefined));
    socket.pause();
    socket.write(bytes, () => {
      socket.on('data', (chunk: Buffer) => received.push(chunk));
      socket.resume();
      if (ends) socket.end();
    });
    socket.on('end', () => {
      socket.end();
      resolve(Buffer.concat(received));
    });
  });
}

export function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The answers in what a connection gave, those of 1xx left out. */
export function answersIn(bytes: Buffer): readonly Answer[] {
  const answers: Answer[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const split = rest.indexOf('\r\n\r\n');
    if (split < 0) return [...answers, cutOff];
    const head = rest.toString('latin1', 0, split);
    const status = head.split(' ')[1] ?? '';
    const length = lengthIn(head);
    const body = rest.subarray(split + 4, split + 4 + length);
    rest = rest.subarray(split + 4 + length);
    if (!status.startsWith('1')) answers.push({ status, ...said(status, /^content-type: (\S+)/im.exec(head)?.[1] ?? '', body) });
  }
  return answers;
}

function lengthIn(head: string): number {
  return Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
}

const cutOff: Answer = { status: 'cut off', says: '', rejected: 0 };

function answerOf(bytes: Buffer | undefined): Answer {
  return (bytes === undefined ? undefined : answersIn(bytes).at(-1)) ?? cutOff;
}

interface Partial {
  readonly errorMessage?: unknown;
  readonly rejectedSpans?: unknown;
  readonly rejectedLogRecords?: unknown;
}

function said(status: string, type: string, body: Uint8Array): Pick<Answer, 'says' | 'rejected'> {
  const message = status === '200' ? traceResponse : statusMessage;
  const read =
    type === 'application/json'
      ? (JSON.parse(Buffer.from(body).toString() || '{}') as { readonly [field: string]: unknown })
      : message.decode(body);
  return status === '200' ? partialIn(read['partialSuccess']) : { says: String(read['message'] ?? ''), rejected: 0 };
}

function partialIn(partial: unknown): Pick<Answer, 'says' | 'rejected'> {
  const { errorMessage = '', rejectedSpans, rejectedLogRecords } = (partial ?? {}) as Partial;
  return { says: String(errorMessage), rejected: Number(rejectedSpans ?? rejectedLogRecords ?? 0) };
}

export interface Call {
  readonly headers?: Headers;
  /** In the pieces in which they are sent. */
  readonly bytes?: readonly Uint8Array[];
  /** The client never ends its stream. */
  readonly open?: true;
}

/** One call on a separate session. */
export function call({ headers = {}, bytes = [], open }: Call): Send {
  return async ({ grpc }) => {
    const session = rawSession(grpc);
    const { stream, answer } = rawCall(session, headers);
    await written(stream, bytes);
    if (open !== true && !stream.closed) stream.end();
    const got = await answer;
    session.destroy();
    return grpcAnswer(got.headers, got.body);
  };
}

/** In small writes: Node's client does not hear of an answer while a large one is under way. */
async function written(stream: ClientHttp2Stream, pieces: readonly Uint8Array[]): Promise<void> {
  const closed = new Promise((resolve) => stream.once('close', resolve));
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += 16_384) {
      if (stream.closed) return;
      if (!stream.write(piece.subarray(at, at + 16_384)))
        await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), closed]);
    }
  }
}

export function grpcAnswer(headers: { readonly [name: string]: unknown }, body: Buffer): Answer {
  const code = headers['grpc-status'];
  if (code === undefined)
    return { status: headers[':status'] === undefined ? 'cut off' : String(headers[':status']), says: '', rejected: 0 };
  if (code !== '0') return { status: `code ${String(code)}`, says: decodeURIComponent(String(headers['grpc-message'] ?? '')), rejected: 0 };
  const read = body.length <= 5 ? {} : traceResponse.decode(body.subarray(5));
  return { status: 'code 0', ...partialIn(read['partialSuccess']) };
}
