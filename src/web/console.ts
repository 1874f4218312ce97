/** The console listener: health, metrics, and a first page that says where things are. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Server, type SecureContextOptions, type TlsOptions } from 'node:tls';
import { fastify, type FastifyError } from 'fastify';
import { apiPrefix, failure, serveApi } from './api/serve-api.ts';
import type { ApiParts } from './api/routes.ts';
import { inPieces } from './in-pieces.ts';

export interface ConsoleOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: HTTP in the clear. */
  readonly tls?: TlsOptions;
  /** Values of the tokens that may read. Empty: everybody may. Health needs none. */
  readonly readTokens: readonly string[];
  /** Values of the tokens that may change something. Where there are none, everybody may who needs no token to read. */
  readonly operateTokens: readonly string[];
  /** Likewise, of those that may annotate. */
  readonly annotateTokens: readonly string[];
  /** Undefined: ready. Else why not. */
  readonly notReady: () => string | undefined;
  /** With the values of the moment in which it is called, however long it takes to send its pieces. */
  readonly metricsPage: () => Iterable<string>;
  /** Told of what broke while an answer was made. */
  readonly onFault: (error: Error) => void;
  readonly metricsContentType: string;
  readonly api: ApiParts;
}

export interface ConsoleListener {
  listen(): Promise<{ readonly address: string }>;
  /** Where it listens over TLS: for the next handshakes. */
  renew(tls: SecureContextOptions): void;
  /** May be called twice. */
  stop(): Promise<void>;
}

const requestTimeoutMs = 10_000;
const keepAliveTimeoutMs = 5_000;
/** Of what takes no body; a route that does says how large it may be. */
const bodyBytesMax = 1_024;
/** The value of a token that nobody has: header values hold no line breaks. */
const noToken = '\n';
/** Of one part of a path: session ids are as long as their SDK makes them. */
const paramCharsMax = 1_000;

export function consoleListener(options: ConsoleOptions): ConsoleListener {
  const app = fastify({ bodyLimit: bodyBytesMax, requestTimeout: requestTimeoutMs, connectionTimeout: requestTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs, exposeHeadRoutes: true, routerOptions: { maxParamLength: paramCharsMax }, ajv: { customOptions: { removeAdditional: false } }, ...(options.tls === undefined ? {} : { https: options.tls }) });
  const mayRead = bearers(options.readTokens);
  const changing = (tokens: readonly string[]) => bearers(tokens.length > 0 ? tokens : options.readTokens.length > 0 ? [noToken] : []);
  const may = { operate: changing(options.operateTokens), annotate: changing(options.annotateTokens) };

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'", 'referrer-policy': 'no-referrer' });
    if (isHealth(request.url)) return undefined;
    // On loopback, without tokens, a page from elsewhere must not come here under a name of its own.
    if (options.readTokens.length === 0 && isLoopbackName(options.host) && !isLoopbackName(request.hostname)) return reply.code(403).send(failure('host_not_allowed', `Host ${JSON.stringify(request.hostname.slice(0, 100))} is not served here.`, 'Use the address that the service printed.'));
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      // A page of another site must not press a button here; browsers say where a request comes from.
      if (!['same-origin', 'none', undefined].includes(request.headers['sec-fetch-site'])) return reply.code(403).send(failure('other_site', 'The request comes from a page of another site.', 'Send it from the console, or from a program.'));
      const wanted = (request.routeOptions.config as { readonly may?: keyof typeof may }).may ?? 'operate';
      if (may[wanted](request.headers.authorization)) return undefined;
      return reply.code(401).header('www-authenticate', 'Bearer').send(failure('unauthenticated', `The request carries no token that may ${wanted}.`, `Send Authorization: Bearer with a token of listen.tokens that may ${wanted}.`));
    }
    if (!mayRead(request.headers.authorization)) return reply.code(401).header('www-authenticate', 'Bearer').send(failure('unauthenticated', 'The request carries no token that may read.', 'Send Authorization: Bearer with a token of listen.tokens.'));
    return undefined;
  });
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reason = options.notReady();
    if (reason === undefined) return { status: 'ok' };
    return reply.code(503).send(failure('not_ready', reason, 'Wait; the service says here when it is ready.'));
  });
  app.get('/metrics', async (_request, reply) => {
    const page = inPieces(options.metricsPage());
    page.once('error', (error) => {
      // Before its first piece is sent it breaks as any other answer does.
      if (reply.raw.headersSent) options.onFault(error);
    });
    return reply.type(options.metricsContentType).send(page);
  });
  app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(firstPage(options.tls === undefined ? 'http' : 'https')));
  serveApi(app, options.api);
  app.setNotFoundHandler(async (request, reply) => reply.code(404).send(failure('not_found', `${request.method} ${request.url.slice(0, 200)} is not there.`, 'See / for what is.')));
  app.setErrorHandler<FastifyError>(async (error, _request, reply) => {
    if (error.validation !== undefined) return reply.code(400).send(failure('bad_request', queryFault(error), `${apiPrefix}/openapi.json tells what is taken.`));
    if (error.statusCode === 413) return reply.code(413).send(failure('too_large', 'The body is too large.', `Send less at once; ${apiPrefix}/openapi.json tells what is taken.`));
    if ((error.statusCode ?? 500) < 500) return reply.code(400).send(failure('bad_request', 'The request could not be read.', `${apiPrefix}/openapi.json tells what is taken, and whether that is JSON.`));
    options.onFault(error);
    // A page whose first piece breaks has named its own type by now.
    return reply.code(500).type('application/json; charset=utf-8').send(failure('internal', 'The answer could not be made.', 'Try again; the log of the service tells why.'));
  });

  let stopped: Promise<void> | undefined;
  return {
    listen: async () => ({ address: await app.listen({ host: options.host, port: options.port }) }),
    renew(tls) {
      if (app.server instanceof Server) app.server.setSecureContext(tls);
    },
    stop: () => (stopped ??= app.close()),
  };
}

/** What ajv found first, naming the parameter. */
function queryFault({ validation = [], message }: FastifyError): string {
  const [first] = validation;
  if (first?.keyword === 'additionalProperties') return `The parameter ${String(first.params['additionalProperty']).slice(0, 100)} is not known here.`;
  const name = first?.instancePath.slice(1) ?? '';
  return name === '' ? message : `The parameter ${name} ${first?.message ?? 'is wrong'}${first?.keyword === 'enum' ? `: ${(first.params['allowedValues'] as readonly string[]).join(', ')}` : ''}.`;
}

/** No tokens: everybody. */
function bearers(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0) return () => true;
  const hashes = tokens.map(hash);
  return (authorization) => {
    const given = hash(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    // Every token is compared, so that the time tells nothing.
    return hashes.map((known) => timingSafeEqual(known, given)).includes(true);
  };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isHealth(url: string): boolean {
  return url === '/livez' || url === '/readyz';
}

function isLoopbackName(hostname: string): boolean {
  const host = hostname.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

const firstPage = (scheme: 'http' | 'https'): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tracejury</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:.1em .3em}</style>
</head>
<body>
<h1>tracejury is running</h1>
<p>Point your agents at it: <code>OTEL_EXPORTER_OTLP_ENDPOINT=${scheme}://127.0.0.1:4318</code> (HTTP, protobuf or JSON; traces and logs).</p>
<ul>
<li><a href="/api/v1/runs">/api/v1/runs</a>: runs and the verdicts on them as JSON; <a href="/api/v1/openapi.json">/api/v1/openapi.json</a> tells the rest.</li>
<li><a href="/metrics">/metrics</a>: scores, decisions and the service's own figures, for Prometheus.</li>
<li><a href="/livez">/livez</a>, <a href="/readyz">/readyz</a>: health.</li>
</ul>
<p>Scores also go to your tracing backend as span events when <code>export: [ { to: span_events, endpoint: … } ]</code> is configured.</p>
</body>
</html>
`;
