/** The console listener: health, metrics, the API, the built console and a plain page with the addresses. */
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { type SecureContextOptions, Server, type TlsOptions } from 'node:tls';
import { fastifyCookie } from '@fastify/cookie';
import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { holdsFinite, type JsonValue } from '../model/json.ts';
import { isDiskFull } from '../model/errors.ts';
import type { UnrecognisedNotice } from '../pipeline/reporting/recognition.ts';
import type { ApiDeps, OtlpAddresses } from './api/route.ts';
import { apiPrefix, failure, serveApi } from './api/serve-api.ts';
import { accessControl, type AccessOptions, type SharedSignIns } from './access.ts';
import type { PeopleSettings } from './people.ts';
import { isBuilt, securityHeaders, serveFiles } from './console-files.ts';
import { consoleServer } from './console-server.ts';
import { isOfTool, type McpOptions, serveMcp } from './mcp-routes.ts';
import { defaultStreamBounds, eventStreams, type StreamBounds } from './event-streams.ts';
import { compiledWhenUsed } from './route-schemas.ts';
import { defaultResponseBounds, type ResponseBounds, responseGate } from './request-guard.ts';

export interface ConsoleOptions
  extends Pick<AccessOptions, 'hosts' | 'tokens' | 'nowMs' | 'secret'>, Pick<McpOptions, 'version' | 'onMcpCall'> {
  readonly host: string;
  readonly port: number;
  /** Plain HTTP when absent. */
  readonly tls?: TlsOptions;
  /** The reason why the service is not ready; `undefined` when it is. */
  readonly notReady: () => string | undefined;
  /** A part that a ready service lacks; `undefined` when complete. */
  readonly degraded: () => string | undefined;
  /** `undefined` until the receivers listen. */
  readonly otlp: () => OtlpAddresses | undefined;
  /** Takes a snapshot at the call, however long the client reads its pieces. */
  readonly metricsPage: () => Iterable<string>;
  /** Called before each answer: refreshes its values. */
  readonly refresh?: () => Promise<void>;
  /** Receives errors of the console itself. */
  readonly onFault: (error: Error) => void;
  readonly metricsContentType: string;
  /** Bounds the connections; `admitted` marks those of clients that may read. */
  readonly connections?: {
    readonly watch: (server: HttpServer) => void;
    readonly admitted: (peer: Socket) => void;
    readonly closeIdle: () => void;
    readonly ended: (reason: string) => void;
  };
  readonly responses?: Partial<ResponseBounds>;
  readonly streams?: Partial<StreamBounds>;
  /** Called with the number of open streams of events. */
  readonly onStreams?: (open: number) => void;
  /** Called when the console answers 503 for want of room. */
  readonly onBusy?: () => void;
  /** Called for each request to the API that is not refused. */
  readonly onApiRequest?: () => void;
  /** Called for each sign-in that is refused. */
  readonly onSignInRefused?: () => void;
  /** Rejects with an error that has a `statusCode`. */
  readonly readBody: (request: IncomingMessage, bytesMax: number) => Promise<Buffer>;
  readonly api: ApiDeps;
  /** Sign-in with OpenID Connect. */
  readonly people?: PeopleSettings;
  /** Sign-ins of all processes on one store. When absent, this process keeps its own. */
  readonly signIns?: Omit<SharedSignIns, 'people'> | undefined;
  /** Folder of the built console. Without it the plain page is at `/`. */
  readonly files?: string;
  /** The folder of the documentation. The console serves its pages as text. */
  readonly docs?: string;
}

export interface ConsoleListener {
  listen(): Promise<{ readonly address: string }>;
  /** Applies to the next handshakes of a listener with TLS. */
  renew(tls: SecureContextOptions): void;
  /** May be called twice. */
  stop(): Promise<void>;
}

/** For routes without a body; other routes have their own limit. */
const bodyBytesMax = 1_024;
/** Most characters of one part of a path: an SDK may make long session ids. */
const paramCharsMax = 1_000;

const busy = failure('busy', 'Too many requests are in flight.', 'Try again soon, and read answers promptly.');

const tooManyStreams = failure('busy', 'Too many streams of live runs are open.', 'Close another one, or try again later.');

export function consoleListener(options: ConsoleOptions): ConsoleListener {
  const app = fastify({
    serverFactory(handler) {
      const server = consoleServer(handler, options.tls);
      options.connections?.watch(server);
      return server;
    },
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: paramCharsMax },
    // An address that cannot be decoded reaches no route and no error handler.
    frameworkErrors: (_error, _request, { raw }) =>
      void raw
        .writeHead(400, { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' })
        .end(
          JSON.stringify(
            failure('bad_request', 'The address cannot be read.', `${apiPrefix}/openapi.json lists the addresses of the API.`),
          ),
        ),
  });
  app.setValidatorCompiler(compiledWhenUsed());
  const access = accessControl({
    ...options,
    hasPeople: options.people !== undefined,
    shared: options.signIns === undefined ? undefined : { ...options.signIns, people: JSON.stringify(options.people ?? null) },
    isSecure: options.tls !== undefined,
    onRefused: () => options.onSignInRefused?.(),
  });
  const gate = responseGate(
    { ...defaultResponseBounds, ...options.responses },
    () => performance.now(),
    (reason) => options.connections?.ended(reason),
  );

  const streams = eventStreams({
    ...defaultStreamBounds,
    ...options.streams,
    onOpen: (open) => options.onStreams?.(open),
    onStalled: () => options.connections?.ended('unread'),
    onFault: options.onFault,
  });

  securityHeaders(app);
  void app.register(fastifyCookie);
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const isInner = isOfTool(request);
    if (!isInner && !(await gate.inTurn(request.raw, reply.raw))) return reply.hijack();
    reply.header('cache-control', 'no-store');
    if (isHealth(request.url)) return undefined;
    await access.identify(request);
    const denied = access.denied(request);
    if (denied === undefined) {
      if (request.url.startsWith(apiPrefix)) options.onApiRequest?.();
      if (!isInner && !access.holderOf(request).isStranger) options.connections?.admitted(request.raw.socket);
      return undefined;
    }
    if (denied.status === 401) reply.header('www-authenticate', 'Bearer');
    return reply.code(denied.status).send(denied.body);
  };
  app.after(() => app.addHook('onRequest', onRequest));
  // After the body has come, so that a client that sends it slowly holds no room.
  app.addHook('preValidation', async (request, reply) => {
    const isStream = (request.routeOptions.config as { readonly isStream?: boolean }).isStream === true;
    // Streams have separate room, so that they neither take the room of answers nor end as slow ones.
    if (isStream || isHealth(request.url) || isOfTool(request)) return undefined;
    const room = await gate.room(request.raw, reply.raw, access.holderOf(request));
    if (room === 'gone') return reply.hijack();
    if (room === 'go') return undefined;
    options.onBusy?.();
    return reply.code(503).header('retry-after', '1').send(busy);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (isOfTool(request)) return payload;
    gate.handedOver(reply.raw);
    // A page in pieces holds one piece at a time.
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    if (isHealth(request.url) || gate.fits(reply.raw, Buffer.byteLength(payload))) return payload;
    options.onBusy?.();
    reply.code(503).header('retry-after', '1').header('content-length', undefined).type('application/json; charset=utf-8');
    return JSON.stringify(busy);
  });
  const parsed = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload: IncomingMessage, done) => {
    (isOfTool(request) ? wholeBody(payload) : options.readBody(payload, request.routeOptions.bodyLimit ?? bodyBytesMax)).then(
      (body) =>
        void parsed(request, body.toString(), (error, value) =>
          error === null && !holdsFinite(value as JsonValue) ? done(notFinite()) : done(error, value),
        ),
      done,
    );
  });
  const { refresh } = options;
  if (refresh !== undefined)
    app.addHook('preHandler', async ({ url, routeOptions }) =>
      url === '/livez' || 'isOpen' in routeOptions.config ? undefined : await refresh(),
    );
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reason = options.notReady();
    const lack = options.degraded();
    if (reason === undefined) return lack === undefined ? { status: 'ok' } : { status: 'degraded', reason: lack };
    return reply.code(503).send(failure('not_ready', reason, 'Wait: this address answers 200 when the service is ready.'));
  });
  app.get('/metrics', async (_request, reply) => {
    const page = inPieces(options.metricsPage());
    page.once('error', (error) => {
      // An error before the first piece takes the usual path.
      if (reply.raw.headersSent) options.onFault(error);
    });
    return reply.type(options.metricsContentType).send(page);
  });
  const { files, people } = options;
  if (people !== undefined)
    app.register(async () =>
      (await import('./people.ts')).servePeople(app, access, {
        ...people,
        nowMs: options.nowMs,
        secret: options.secret,
        sharedSecret: options.signIns?.secret,
        isSecure: options.tls !== undefined,
        port: options.port,
        onRefused: () => options.onSignInRefused?.(),
        onFault: options.onFault,
      }),
    );
  if (isBuilt(files)) serveFiles(app, files, options.docs);
  for (const path of isBuilt(files) ? ['/plain'] : ['/plain', '/'])
    app.get(path, { config: { isOfTenants: true } }, async (request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .send(
          plainPage({
            isConsoleBuilt: isBuilt(files),
            otlp: reachable(options.otlp(), request.hostname),
            unrecognised: access.callerOf(request).tenant === undefined ? options.api.unrecognised() : [],
          }),
        ),
    );
  serveApi(app, {
    parts: options.api,
    visitOf: (request, reply) => ({ ...access.visitOf(request, reply), otlp: reachable(options.otlp(), request.hostname) }),
    async sendEvents(reply, source) {
      const holder = access.holderOf(reply.request).name;
      if (!streams.hasRoom(holder)) {
        options.onBusy?.();
        return await reply.code(503).header('retry-after', '10').send(tooManyStreams);
      }
      reply.hijack();
      await streams.open(reply.raw, reply.getHeaders() as { readonly [name: string]: string }, source, holder);
    },
  });
  serveMcp(app, options);
  app.setNotFoundHandler(async (request, reply) => {
    if (isOtlpPath(request.url))
      return reply
        .code(404)
        .send(failure('not_found', 'The console does not accept OTLP.', otlpText(reachable(options.otlp(), request.hostname))));
    return reply
      .code(404)
      .send(
        failure(
          'not_found',
          `${request.method} ${request.url.slice(0, 200)} does not exist.`,
          `The page at /plain and ${apiPrefix}/openapi.json list all addresses.`,
        ),
      );
  });
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (error.validation !== undefined)
      return reply.code(400).send(failure('bad_request', queryFault(error), `${apiPrefix}/openapi.json lists the parameters.`));
    if (error.statusCode === 413)
      return reply
        .code(413)
        .send(failure('too_large', 'The body is too large.', `Send less at once; ${apiPrefix}/openapi.json has the limits.`));
    if (error.statusCode === 429) return reply.code(503).header('retry-after', '1').send(busy);
    if (error.statusCode === 415)
      return reply
        .code(415)
        .send(
          failure(
            'unsupported_media_type',
            mediaTypeFault(request.headers['content-type']),
            'Send JSON, with the header Content-Type: application/json.',
          ),
        );
    if ((error.statusCode ?? 500) < 500)
      return reply
        .code(400)
        .send(
          failure(
            'bad_request',
            'The request could not be read.',
            `Send a JSON document in the form that ${apiPrefix}/openapi.json describes.`,
          ),
        );
    options.onFault(error);
    if (isDiskFull(error))
      return reply
        .code(503)
        .header('retry-after', '10')
        .type('application/json; charset=utf-8')
        .send(failure('disk_full', 'The disk is full.', 'Try again when there is room; the log of the service names the folder.'));
    // A page whose first piece fails has set its own content type.
    return reply
      .code(500)
      .type('application/json; charset=utf-8')
      .send(failure('internal', 'The console failed to answer.', 'Try again; the log of the service has the reason.'));
  });

  let stopped: Promise<void> | undefined;
  return {
    async listen() {
      const address = await app.listen({ host: options.host, port: options.port });
      // Fastify does not know that its server speaks TLS.
      return { address: options.tls === undefined ? address : address.replace(/^http:/, 'https:') };
    },
    renew(tls) {
      if (app.server instanceof Server) app.server.setSecureContext(tls);
    },
    stop() {
      streams.stop();
      stopped ??= app.close();
      options.connections?.closeIdle();
      return stopped;
    },
  };
}

/** For bodies that are in memory. */
async function wholeBody(payload: IncomingMessage): Promise<Buffer> {
  return Buffer.concat((await payload.toArray()) as readonly Buffer[]);
}

function notFinite(): Error {
  return Object.assign(new Error('a number of the body is not finite'), { statusCode: 400 });
}

function mediaTypeFault(given: string | undefined): string {
  return given === undefined || given.trim() === ''
    ? 'The request has a body and no header Content-Type.'
    : `The header Content-Type is ${JSON.stringify(given.slice(0, 100))}, which this address does not accept.`;
}

/** The first error of ajv with the name of the parameter. */
function queryFault({ validation = [], message }: FastifyError): string {
  const [first] = validation;
  if (first?.keyword === 'additionalProperties')
    return `The parameter ${String(first.params['additionalProperty']).slice(0, 100)} is unknown.`;
  const name = first?.instancePath.slice(1) ?? '';
  return name === ''
    ? message
    : `The parameter ${name} ${first?.message ?? 'is wrong'}${first?.keyword === 'enum' ? `: ${(first.params['allowedValues'] as readonly string[]).join(', ')}` : ''}.`;
}

function isHealth(url: string): boolean {
  return url === '/livez' || url === '/readyz';
}

/** Makes each piece in its own turn of the event loop, after the client has read the ones before. Makes none for a client that is gone. */
export function inPieces(pieces: Iterable<string>): Readable {
  return Readable.from(
    (async function* () {
      await turn();
      for (const piece of pieces) {
        yield piece;
        await turn();
      }
    })(),
  );
}

/** On the first page; the API has all of them. */
const noticesMax = 10;

/** Replaces an address of all interfaces by the host name with which the client reached the console. */
function reachable(otlp: OtlpAddresses | undefined, hostname: string): OtlpAddresses | undefined {
  if (otlp === undefined) return undefined;
  const name = hostname.replace(/:\d+$/, '');
  const host = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])$/i.test(name) ? name : '127.0.0.1';
  const under = (address: string): string => address.replace(/(^|\/\/)(?:0\.0\.0\.0|\[::\])(?=:\d+$)/, `$1${host}`);
  return { http: under(otlp.http), grpc: under(otlp.grpc) };
}

function isOtlpPath(url: string): boolean {
  return /^\/(?:v1\/(?:traces|logs|metrics)|opentelemetry\.proto\.)/.test(url);
}

function otlpText(otlp: OtlpAddresses | undefined): string {
  return otlp === undefined
    ? 'Send it to the addresses of listen.otlp_http or listen.otlp_grpc.'
    : `Send it to ${otlp.http} (HTTP) or ${otlp.grpc} (gRPC).`;
}

function plainPage({
  isConsoleBuilt,
  otlp,
  unrecognised,
}: {
  readonly isConsoleBuilt: boolean;
  readonly otlp: OtlpAddresses | undefined;
  readonly unrecognised: readonly UnrecognisedNotice[];
}): string {
  const where =
    otlp === undefined
      ? '<p>The service is starting and does not accept spans yet.</p>'
      : `<p>Point your agents here: <code>OTEL_EXPORTER_OTLP_ENDPOINT=${escaped(otlp.http)}</code> (HTTP, protobuf or JSON; traces and logs), or <code>${escaped(otlp.grpc)}</code> (gRPC).</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tracejury</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:.1em .3em;overflow-wrap:anywhere}</style>
</head>
<body>
<h1>tracejury is running</h1>
${isConsoleBuilt ? '<p><a href="/">The console</a> needs JavaScript; this page needs none.</p>' : '<p>The graphical console is not built here. In a checkout, run <code>npm run build</code> and start the service again.</p>'}
${where}
${unrecognised.slice(0, noticesMax).map(noticeText).join('\n')}
<ul>
<li><a href="/api/v1/runs">/api/v1/runs</a>: runs and their verdicts as JSON; <a href="/api/v1/openapi.json">/api/v1/openapi.json</a> describes every address of the API.</li>
<li><a href="/metrics">/metrics</a>: scores, decisions and the service's own metrics, for Prometheus.</li>
<li><a href="/livez">/livez</a>, <a href="/readyz">/readyz</a>: health.</li>
</ul>
<p>Scores also go to your tracing backend as span events when <code>export: [ { to: span_events, endpoint: … } ]</code> is configured.</p>
</body>
</html>
`;
}

function noticeText({ service, scope, names, keys, missing, todo }: UnrecognisedNotice): string {
  const codes = (texts: readonly string[]): string => texts.map((text) => `<code>${escaped(text)}</code>`).join(' ');
  return `<p><strong>No agent is recognised in the spans of <code>${escaped(service)}</code></strong> (scope <code>${escaped(scope)}</code>). Spans: ${codes(names)}. Attributes: ${codes(keys)}. ${escaped(missing)} ${escaped(todo)}</p>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
