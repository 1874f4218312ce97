/** Answers to refused requests, in the terms of the protocol. */
import type { ReceiverLogger } from './receiver.ts';
import { errorCatalogue, JuryError } from '../model/errors.ts';
import type { Clock } from '../model/clock.ts';
import type { Ingest } from '../model/ingest.ts';
import { logThrottle } from '../runtime/throttled-log.ts';

export interface RequestRejection {
  readonly status: number;
  /** Machine readable; one warning a kind. */
  readonly kind: string;
  readonly message: string;
  /** The change that the sender must make, for the log; it contains only words of ours. */
  readonly todo?: string;
  /** Headers of the answer, over HTTP. */
  readonly headers: { readonly [name: string]: string };
  /** When the same request may succeed, to the millisecond over gRPC. Omitted when it never may. */
  readonly retryAfterSeconds?: number;
}

/** The time after which a client may try again when nothing better is known. */
export const retryAfterSeconds = 1;
/** The rate of admission is measured ten times a second. */
const retryAfterSecondsMin = 0.1;

/** HTTP knows whole seconds only. */
export function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

/** Maps an error to a rejection. A foreign error gives only its status, as its text may hold anything. */
export function rejectionOf(error: unknown): RequestRejection {
  if (error instanceof JuryError) {
    const retry = error.retryable ? { retryAfterSeconds } : {};
    return { status: error.status, kind: error.code.toLowerCase(), message: `${error.message} ${error.todo}`, headers: {}, ...retry };
  }
  const status = statusOf(error);
  return {
    status,
    kind: `http_${status}`,
    message: messages.get(status) ?? (status < 500 ? 'The request is not valid HTTP.' : 'The service failed to answer.'),
    headers: {},
  };
}

/** Maps an error of Node's HTTP parser to a rejection. */
export function parserRejection(error: unknown): RequestRejection {
  const foreign = foreignProtocol(error);
  if (foreign !== undefined) return foreign;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return rejectionOf({ statusCode: (typeof code === 'string' ? parserStatuses.get(code) : undefined) ?? 400 });
}

export const unauthenticated: RequestRejection = {
  status: 401,
  kind: 'unauthenticated',
  message: `${errorCatalogue.UNAUTHENTICATED.what} ${errorCatalogue.UNAUTHENTICATED.todo}`,
  headers: { 'www-authenticate': 'Bearer' },
};

const admissionErrors = {
  overloaded: 'OVERLOADED',
  journal_full: 'JOURNAL_REFUSED',
  stopping: 'STOPPING',
  store_away: 'STORE_AWAY',
} as const;

export function notOpen(refuse: keyof typeof admissionErrors, afterSeconds: number): RequestRejection {
  const code = admissionErrors[refuse];
  const { what, todo, status } = errorCatalogue[code];
  return {
    status,
    kind: code.toLowerCase(),
    message: `${what} ${todo}`,
    headers: {},
    retryAfterSeconds: refuse === 'overloaded' ? Math.max(retryAfterSecondsMin, afterSeconds) : wholeSeconds(afterSeconds),
  };
}

/** No bytes are left for the requests in flight. */
export function noRoom(ingest: Pick<Ingest, 'putOff'>): RequestRejection {
  return notOpen('overloaded', ingest.putOff?.('in_flight') ?? retryAfterSeconds);
}

/** As `rejectionOf`, with the Retry-After that the service computes from its load. */
export function rejectionFor(error: unknown, { putOff }: Pick<Ingest, 'putOff'>): RequestRejection {
  const rejection = rejectionOf(error);
  if (rejection.retryAfterSeconds === undefined || putOff === undefined) return rejection;
  return {
    ...rejection,
    retryAfterSeconds: wholeSeconds(putOff(rejection.kind === 'journal_refused' ? 'journal' : 'in_flight')),
  };
}

export function noSuchPath(path: string): RequestRejection {
  const message =
    path === '/v1/metrics'
      ? 'Metrics are not taken here. Send traces to /v1/traces and logs to /v1/logs.'
      : 'There is nothing at this path. Send traces to /v1/traces and logs to /v1/logs.';
  return { status: 404, kind: 'not_found', message, headers: {} };
}

export function noSuchService(path: string): RequestRejection {
  const message = path.startsWith('/opentelemetry.proto.collector.metrics.')
    ? 'Metrics are not taken here. Send traces and logs.'
    : 'There is no such service here. Traces and logs are taken by TraceService/Export and LogsService/Export.';
  return { status: 404, kind: 'not_found', message, headers: {} };
}

export const notHttp2: RequestRejection = {
  status: 400,
  kind: 'not_http2',
  message: 'gRPC is spoken here.',
  todo: 'Send OTLP over HTTP to listen.otlp_http, or let the exporter speak gRPC: OTEL_EXPORTER_OTLP_PROTOCOL=grpc.',
  headers: {},
};

/** The first bytes of every HTTP/2 connection (RFC 9113, 3.4). */
const http2Preface = Buffer.from('PRI * HTTP/2.0');
/** The type of the record that a TLS handshake begins with, and the major version behind it (RFC 8446, 5.1). */
const tlsRecord = Buffer.from([0x16, 0x03]);

/** The first bytes of a client whose protocol is not HTTP/1.1. */
function foreignProtocol(error: unknown): RequestRejection | undefined {
  const bytes =
    typeof error === 'object' && error !== null && 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  if (bytes === undefined) return undefined;
  if (bytes.subarray(0, http2Preface.length).equals(http2Preface)) return isHttp2;
  return bytes.subarray(0, tlsRecord.length).equals(tlsRecord) ? isTls : undefined;
}

export const isHttp2: RequestRejection = {
  status: 400,
  kind: 'is_http2',
  message: 'HTTP/1.1 is spoken here, and gRPC on the port of listen.otlp_grpc.',
  todo: 'Send gRPC to listen.otlp_grpc, or let the exporter speak HTTP: OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.',
  headers: {},
};
const isTls: RequestRejection = {
  status: 400,
  kind: 'is_tls',
  message: 'TLS is not spoken here.',
  todo: 'Write http:// in the endpoint of the exporter, or give listen.tls a certificate.',
  headers: {},
};

export const isPlain: RequestRejection = {
  status: 400,
  kind: 'is_plain',
  message: 'TLS is spoken here.',
  todo: 'Write https:// in the endpoint of the exporter, and give it the authority of the certificate: OTEL_EXPORTER_OTLP_CERTIFICATE.',
  headers: {},
};

const quotedCharsMax = 100;

/** The request was sent to a name that the listener does not go by. */
export function foreignHost(host: string): RequestRejection {
  return {
    status: 403,
    kind: 'host_not_allowed',
    message: `Host ${JSON.stringify(host.slice(0, quotedCharsMax))} is not served here. Send to localhost or to the address of the machine, or add the name to listen.allowed_hosts.`,
    headers: {},
  };
}

/** It comes from a page of another site. */
export function foreignOrigin(origin: string): RequestRejection {
  return {
    status: 403,
    kind: 'origin_not_allowed',
    message: `Pages of ${JSON.stringify(origin.slice(0, quotedCharsMax))} may not send here. Add the origin to listen.allowed_origins.`,
    headers: {},
  };
}

/** The listener has as many connections as it may have, and none that can be missed. */
export const noConnection: RequestRejection = {
  status: 503,
  kind: 'over_limit',
  message: 'The listener has no room for another connection. Try again soon, and keep connections open instead of opening many.',
  headers: {},
  retryAfterSeconds,
};

export const notInTime: RequestRejection = { status: 408, kind: 'http_408', message: 'The request did not arrive in time.', headers: {} };

export const methodNotAllowed: RequestRejection = {
  status: 405,
  kind: 'method_not_allowed',
  message: 'OTLP requests are sent with POST.',
  headers: { allow: 'POST' },
};

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? statusCode : 500;
}

/** Errors of Node's HTTP parser, by code. */
const parserStatuses: ReadonlyMap<string, number> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
]);

const messages: ReadonlyMap<number, string> = new Map([
  [400, 'The request is not valid HTTP.'],
  [408, 'The request did not arrive in time.'],
  [413, errorCatalogue.OTLP_TOO_LARGE.what],
  [415, errorCatalogue.OTLP_MEDIA_TYPE.what],
  [431, 'The request headers are too large.'],
  [503, errorCatalogue.STOPPING.what],
]);

/** A client may write a path of any length; what follows `?` may hold a secret. */
const loggedPathCharsMax = 100;

/**
 * Logs rejections: the first of a kind at once, later ones at most once a minute, with their count since the last line. `path` is that of the
 * request which writes the line.
 */
export function rejectionLog({
  logger,
  clock,
}: {
  readonly logger: ReceiverLogger;
  readonly clock: Clock;
}): (rejection: RequestRejection, path?: string) => void {
  // A client that is refused keeps sending: its hundredth rejection adds nothing.
  const due = logThrottle({ clock });
  return ({ kind, status, todo }, path) => {
    const refused = due(kind);
    if (refused === undefined) return;
    const at = path === undefined ? {} : { path: path.split('?', 1)[0]?.slice(0, loggedPathCharsMax) };
    logger.warn({ kind, status, ...at, refused, ...(todo === undefined ? {} : { todo }) }, 'requests were refused');
  };
}
