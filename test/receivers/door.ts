/** Open doors for tests: real receivers on free ports, with everything that they pass on or count kept for comparison. */
import { connect, type Socket } from 'node:net';
import { manualClock, type ManualClock } from '../../src/model/clock.ts';
import type { LogRecord, Span } from '../../src/model/span.ts';
import { byteBudget } from '../../src/receivers/byte-budget.ts';
import { otlpGrpcReceiver, type OtlpGrpcOptions } from '../../src/receivers/grpc/otlp-grpc.ts';
import { otlpHttpReceiver, type OtlpHttpOptions } from '../../src/receivers/http/otlp-http.ts';
import type { Receiver } from '../../src/receivers/receiver.ts';
import type { Admission, HeldRequests, Outlook, Received } from '../../src/model/ingest.ts';
import { bufferPool } from '../../src/runtime/buffer-pool.ts';
import type { Labels, Telemetry } from '../../src/telemetry/telemetry.ts';

export interface Door {
  readonly port: number;
  readonly receiver: Receiver;
  readonly clock: ManualClock;
  readonly spans: (readonly [tenant: string, span: Span])[];
  readonly records: (readonly [tenant: string, record: LogRecord])[];
  readonly warnings: { readonly [field: string]: unknown }[];
  /** Sums by metric and label values, for example `tracejury.receiver.requests http traces 200`. */
  readonly counts: Map<string, number>;
  /** Unchanged bodies. */
  readonly bodies: { readonly body: Buffer; readonly contentEncoding: string }[];
  admission: Admission;
  /** True for a sender of little; it is let in at any `admission`. */
  modest?: (sender: string) => boolean;
  /** The promise that each delivery of spans waits for. */
  beforeAnswer?: Promise<void>;
  /** Thrown by the next delivery. */
  fault: Error | undefined;
  /** Number of requests that are not answered yet. */
  requests(): number;
  /** Resolves when the bytes in flight are as asked for. */
  inFlight(bytes: number): Promise<void>;
}

export const testLimits = { bodyBytes: 256 * 1024, inflatedBytes: 1024 * 1024, inFlightBytes: 4 * 1024 * 1024 };

export interface DoorOptions extends Partial<Pick<OtlpHttpOptions & OtlpGrpcOptions, 'port' | 'tokens' | 'tls' | 'bounds'>> {
  readonly limits?: typeof testLimits;
  /** Holds requests while `admission` refuses. */
  readonly held?: HeldRequests;
}

export async function openDoor(options: DoorOptions = {}): Promise<Door> {
  return opened(options, otlpHttpReceiver);
}

/** The port of OTLP over gRPC. */
export async function openGrpcDoor(options: DoorOptions = {}): Promise<Door> {
  return opened(options, otlpGrpcReceiver);
}

/** One that does not listen yet. */
export function unopenedGrpcDoor(options: DoorOptions): Omit<Door, 'port'> {
  return unopened(options, otlpGrpcReceiver);
}

type ReceiverOf = (options: OtlpHttpOptions & OtlpGrpcOptions) => Receiver;

async function opened(options: DoorOptions, receiverOf: ReceiverOf): Promise<Door> {
  const door = unopened(options, receiverOf);
  const { address } = await door.receiver.listen();
  return Object.assign(door, { port: Number(address.slice(address.lastIndexOf(':') + 1)) });
}

function unopened({ limits = testLimits, held, ...options }: DoorOptions, receiverOf: ReceiverOf): Omit<Door, 'port'> {
  const clock = manualClock();
  const counts = new Map<string, number>();
  const waiting: { bytes: number; done: () => void }[] = [];
  const inFlightKey = 'tracejury.receiver.in_flight';
  const add = (metric: string, value: number, labels: Labels = {}): void => {
    const key = [metric, ...Object.values(labels)].join(' ').trim();
    counts.set(key, (counts.get(key) ?? 0) + value);
  };
  const telemetry: Telemetry = {
    add,
    record: add,
    set(metric, value) {
      counts.set(metric, value);
      for (const waiter of metric === inFlightKey ? waiting : []) if (waiter.bytes === value) waiter.done();
    },
  };
  const leases = byteBudget({ bytesMax: limits.inFlightBytes, telemetry });
  const door: Omit<Door, 'port' | 'receiver'> = {
    clock,
    counts,
    spans: [],
    records: [],
    warnings: [],
    bodies: [],
    admission: 'open',
    fault: undefined,
    requests: leases.requests,
    inFlight: (bytes) => new Promise((done) => (counts.get(inFlightKey) === bytes ? done() : waiting.push({ bytes, done }))),
  };
  const deliver = (): void => {
    const { fault } = door;
    door.fault = undefined;
    if (fault !== undefined) throw fault;
  };
  const receiver = receiverOf({
    host: '127.0.0.1',
    port: 0,
    limits,
    lease: leases({ keepFreeBytes: 0 }),
    buffers: bufferPool({ freeBytesMax: limits.inFlightBytes, poisons: true }),
    tokens: [],
    clock,
    ingest: {
      async spans(tenant, spans, request) {
        deliver();
        const { body, contentEncoding } = kept(request);
        await door.beforeAnswer;
        door.spans.push(...spans.map((span) => [tenant, span] as const));
        door.bodies.push({ body, contentEncoding });
      },
      async logs(tenant, records, request) {
        deliver();
        const { body, contentEncoding } = kept(request);
        door.records.push(...records.map((record) => [tenant, record] as const));
        door.bodies.push({ body, contentEncoding });
      },
      admission: (isModest) => (isModest ? 'open' : door.admission),
      isModest: (sender) => door.modest?.(sender) ?? false,
      ...(held === undefined ? {} : { held, outlook: (isModest: boolean) => outlook(isModest ? 'open' : door.admission) }),
    },
    telemetry,
    logger: { warn: (fields) => door.warnings.push(fields) },
    ...options,
  });
  return Object.assign(door, { receiver });
}

function outlook(admission: Admission): Outlook {
  if (admission === 'open') return 'open';
  return admission.refuse === 'overloaded' ? 'soon' : 'later';
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** Sends bytes over a socket and reads to its end. The whole of it is written before a byte is read. A reset is an error. */
export function exchange(port: number, ...bytes: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('error', reject);
    socket.pause();
    socket.write(Buffer.concat(bytes.map((part) => Buffer.from(part))), () => {
      socket.on('data', (chunk: Buffer) => received.push(chunk));
      socket.resume();
    });
    socket.on('end', () => {
      socket.end();
      resolve(parsed(Buffer.concat(received)));
    });
  });
}

/** A socket on which a test speaks by hand. */
export async function open(port: number): Promise<{ readonly socket: Socket; readonly answer: Promise<RawAnswer> }> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const answer = new Promise<RawAnswer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const answered = parsed(received);
      if (answered.body.length >= Number(answered.headers['content-length'] ?? Number.POSITIVE_INFINITY)) resolve(answered);
    });
    socket.on('error', reject);
  });
  return { socket, answer };
}

export function head(path: string, headers: { readonly [name: string]: string | number }, method = 'POST'): string {
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

/** The body in pieces, as an exporter without a length sends it. */
export function chunked(body: Uint8Array, pieceBytes: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    const piece = body.subarray(at, at + pieceBytes);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function parsed(bytes: Buffer): RawAnswer {
  const split = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.toString('latin1', 0, Math.max(0, split)).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: split < 0 ? Buffer.alloc(0) : bytes.subarray(split + 4) };
}

/** The door shows bodies and spans when the test is over. */
function kept(request: Received): Received {
  request.bodyMemory?.keep();
  request.plainMemory?.keep();
  return request;
}
