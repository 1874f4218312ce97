/** One request handler for all transports: admits a request before its body is read, then hands what the body carries to the service. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { JuryError } from '../model/errors.ts';
import { noTenant, tenant as tenantNamed, type Tenant } from '../model/ids.ts';
import { senderOf } from '../model/ingest.ts';
import type { OtlpEncoding, Rejection } from '../otlp/read/read.ts';
import { exportResponse, type OtlpSignal, type PartialSuccess } from '../otlp/write/responses.ts';
import { bufferPool, type BufferPool } from '../runtime/buffer-pool.ts';
import type { MetricName } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { aborted, contentEncoding, releaseBody, type ContentEncoding, type ReceivedBody } from './body.ts';
import type { Lease } from './byte-budget.ts';
import { requestReader } from './read-request.ts';
import type { ReceiverOptions, Token } from './receiver.ts';
import {
  foreignHost,
  foreignOrigin,
  noRoom,
  notOpen,
  rejectionLog,
  rejectionOf,
  retryAfterSeconds,
  unauthenticated,
  type RequestRejection,
} from './rejection.ts';

/** The transport's knowledge of a request before its body comes. */
export interface RequestHead {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The signal of the path, or why the path and the method are refused. */
  readonly route: OtlpSignal | RequestRejection;
  readonly authorization: string | undefined;
  /** Address of the client. */
  readonly address: string | undefined;
  readonly mediaType: string;
  readonly contentEncoding: string | undefined;
  /** Bytes of the body as the client announces them; 0 when it announces none. */
  readonly bodyBytes: number;
  /** Memory of the request beside its body. */
  readonly overheadBytes: number;
  /** Milliseconds until the client gives up, where it announces them. */
  readonly deadlineMs?: number;
}

export interface AdmittedRequest {
  readonly signal: OtlpSignal;
  readonly mediaType: string;
  readonly encoding: OtlpEncoding;
  readonly contentEncoding: ContentEncoding;
  readonly tenant: Tenant;
  readonly sender: string;
  /** Holds the announced bytes already. */
  readonly lease: Lease;
  readonly bodyBytes: number;
}

export interface RequestHandler {
  /**
   * Decides by what is known before the body is read. Without room, the request may wait a moment. Rejects with `aborted` when the client goes
   * away meanwhile; `whenGone` calls `left` then.
   */
  admit(head: RequestHead, whenGone: (left: () => void) => void): Promise<AdmittedRequest | RequestRejection>;
  /** Counts bytes of a body as sent. */
  received(signal: OtlpSignal, bytes: number): void;
  /** Memory of the bodies. */
  readonly buffers: BufferPool;
  /**
   * Reads the body, releases it, and has the service accept what it carries; resolves with the body of the answer. Rejects with `aborted` when
   * the client goes away first. `undefined`: the request has no body.
   */
  accept(request: AdmittedRequest, body: ReceivedBody | undefined, isGone: () => boolean): Promise<Buffer>;
  /** Counts an answer and logs a rejection; `status` is the transport's; `path` is that of the request, when its head could be read. */
  answered(signal: OtlpSignal | 'other', status: string, rejection?: RequestRejection, path?: string): void;
  /** Logs a rejection that does not answer a request. */
  warn(rejection: RequestRejection): void;
  /** Refuses all later requests. */
  stop(): void;
  isStopping(): boolean;
}

interface CheckedHead {
  readonly request: Omit<AdmittedRequest, 'lease'>;
  readonly sender: string;
  readonly isModest: boolean;
  readonly bytes: number;
}

export const encodings: ReadonlyMap<string, OtlpEncoding> = new Map([
  ['application/x-protobuf', 'protobuf'],
  ['application/protobuf', 'protobuf'],
  ['application/json', 'json'],
]);

export function requestHandler(options: ReceiverOptions, transport: 'http' | 'grpc'): RequestHandler {
  const { limits, lease, hosts, ingest, telemetry, buffers = bufferPool({ freeBytesMax: 0 }), take = requestReader(ingest) } = options;
  const tenantOf = tenantByToken(options.tokens);
  const warn = rejectionLog(options);
  let stopping = false;

  /** Checks that need no room come first. */
  function checkedHead({
    host,
    origin,
    route,
    authorization,
    address,
    mediaType,
    bodyBytes,
    overheadBytes,
    ...head
  }: RequestHead): CheckedHead | RequestRejection {
    if (host !== undefined && hosts?.allowsHost(host) === false) return foreignHost(host);
    if (origin !== undefined && hosts?.allowsOrigin(origin, host) === false) return foreignOrigin(origin);
    if (typeof route === 'object') return route;
    const tenant = tenantOf(authorization);
    if (tenant === undefined) return unauthenticated;
    const encoding = encodings.get(mediaType);
    if (encoding === undefined) return rejectionOf(new JuryError('OTLP_MEDIA_TYPE', ''));
    const coding = contentEncoding(head.contentEncoding);
    if (coding === undefined) return rejectionOf(new JuryError('OTLP_ENCODING', ''));
    if (bodyBytes > limits.bodyBytes)
      return rejectionOf(new JuryError('OTLP_TOO_LARGE', `It has ${bodyBytes} bytes, the limit is ${limits.bodyBytes}.`));
    const sender = senderOf(tenant, address);
    const isModest = ingest.isModest?.(sender) ?? false;
    const request = { signal: route, mediaType, encoding, contentEncoding: coding, tenant, sender, bodyBytes };
    return { request, sender, isModest, bytes: bodyBytes + overheadBytes };
  }

  /** `undefined`: there is no room, and nothing was counted. */
  function taken({ request, isModest, bytes }: CheckedHead): AdmittedRequest | undefined {
    const own = lease(isModest);
    if (ingest.outlook?.(isModest) === 'open' && own.take(bytes) && ingest.admission(isModest) === 'open')
      return { ...request, lease: own };
    own.release();
    return undefined;
  }

  /** Runs wait for requests that have begun before they close, and so for those that are held. */
  async function underWay<End>(entered: Promise<End>): Promise<End> {
    const begun = lease(true);
    begun.take(0);
    return await entered.finally(begun.release);
  }

  function decided({ request, isModest, bytes }: CheckedHead): AdmittedRequest | RequestRejection {
    const admission = stopping ? { refuse: 'stopping' as const, retryAfterSeconds } : ingest.admission(isModest);
    if (admission !== 'open') return notOpen(admission.refuse, admission.retryAfterSeconds);
    const own = lease(isModest);
    return own.take(bytes) ? { ...request, lease: own } : noRoom(ingest);
  }

  async function accepted(
    { signal, encoding, tenant, sender, mediaType: contentType, contentEncoding: coding }: AdmittedRequest,
    { body, sent }: ReceivedBody,
    isGone: () => boolean,
  ): Promise<Buffer> {
    ingest.took?.(sender, body.bytes.length);
    const request = {
      contentType,
      contentEncoding: coding === 'identity' ? '' : coding,
      body: sent.bytes,
      bodyMemory: sent,
      plain: body.bytes,
      plainMemory: body,
    };
    const proceed = (): Promise<void> => (isGone() ? Promise.reject(aborted) : Promise.resolve());
    const { items, ignored, rejections, isEmpty } = await take({ signal, encoding, tenant, ...request }, proceed);
    if (isEmpty) telemetry.add('tracejury.receiver.empty', 1, { 'tracejury.signal': signal });
    if (ignored > 0)
      telemetry.add('tracejury.receiver.log_records', ignored, { 'tracejury.outcome': 'ignored', 'tracejury.reason': 'no_trace_id' });
    const metric = signal === 'traces' ? 'tracejury.receiver.spans' : 'tracejury.receiver.log_records';
    const partial = counted(telemetry, metric, items, rejections);
    return exportResponse(signal, encoding, partial);
  }

  return {
    async admit(head, whenGone) {
      const checked = checkedHead(head);
      if ('kind' in checked) return checked;
      const { isModest, sender } = checked;
      const enter = stopping ? undefined : ingest.held?.enter;
      if (enter === undefined) return decided(checked);
      const entered = enter({
        lane: isModest ? 'modest' : transport,
        sender,
        take: () => taken(checked),
        outlook: () => ingest.outlook?.(isModest) ?? 'later',
        ...(head.deadlineMs === undefined ? {} : { waitMsMax: head.deadlineMs / 2 }),
        whenGone,
      });
      const end = entered instanceof Promise ? await underWay(entered) : entered;
      if (end.kind === 'gone') return await Promise.reject(aborted);
      return end.kind === 'taken' ? end.taken : decided(checked);
    },
    received: (signal, bytes) =>
      telemetry.add('tracejury.receiver.bytes', bytes, { 'tracejury.transport': transport, 'tracejury.signal': signal }),
    buffers,
    async accept(request, received, isGone) {
      const body = received ?? emptyBody(buffers);
      try {
        return await accepted(request, body, isGone);
      } finally {
        releaseBody(body);
      }
    },
    answered(signal, status, rejection, path) {
      if (rejection !== undefined) warn(rejection, path);
      telemetry.add('tracejury.receiver.requests', 1, {
        'tracejury.transport': transport,
        'tracejury.signal': signal,
        'tracejury.status': status,
        'tracejury.reason': rejection?.kind ?? '',
      });
    },
    warn,
    stop() {
      stopping = true;
      ingest.held?.stop();
    },
    isStopping: () => stopping,
  };
}

function emptyBody(buffers: BufferPool): ReceivedBody {
  const body = buffers.take(0);
  return { body, sent: body };
}

function counted(telemetry: Telemetry, metric: MetricName, accepted: number, rejections: readonly Rejection[]): PartialSuccess | undefined {
  if (accepted > 0) telemetry.add(metric, accepted, { 'tracejury.outcome': 'accepted', 'tracejury.reason': '' });
  for (const { reason, count } of rejections) telemetry.add(metric, count, { 'tracejury.outcome': 'rejected', 'tracejury.reason': reason });
  const [first] = rejections;
  if (first === undefined) return undefined;
  const rejected = rejections.reduce((sum, { count }) => sum + count, 0);
  const reasons = rejections.map(({ reason, count }) => `${reason} (${count})`).join(', ');
  return { rejected, message: `${reasons}; first ${first.reason}: ${first.example}` };
}

/** The tenant of an Authorization header; `undefined` when it carries no valid token. Without tokens everybody is `noTenant`. */
function tenantByToken(tokens: readonly Token[]): (authorization: string | undefined) => Tenant | undefined {
  const known = tokens.map(({ name, value }) => ({ tenant: tenantNamed(name), digest: digest(value) }));
  if (known.length === 0) return () => noTenant;
  return (authorization) => {
    const sent = digest(BEARER.exec(authorization ?? '')?.[1] ?? '');
    let found: Tenant | undefined;
    // Every token is compared, so that the time does not reveal which one was close; equal digests hide the lengths.
    for (const row of known) if (timingSafeEqual(row.digest, sent)) found = row.tenant;
    return found;
  };
}

const BEARER = /^Bearer +(\S+) *$/i;

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
