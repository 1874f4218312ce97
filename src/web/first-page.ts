/** The page at `/`: where agents send to, and where everything else is. */
import type { UnrecognisedNotice } from '../pipeline/reporting/recognition.ts';

/** The API has them all. */
const noticesShown = 10;

/** As the receivers gave them when they began to listen. */
export interface OtlpAddresses {
  /** A URL. */
  readonly http: string;
  /** `host:port`, over TLS with `https://` in front. */
  readonly grpc: string;
}

/** An address that stands for every interface says nothing to a client: the name by which the console was reached does. */
export function reachable(otlp: OtlpAddresses | undefined, hostname: string): OtlpAddresses | undefined {
  if (otlp === undefined) return undefined;
  const name = hostname.replace(/:\d+$/, '');
  const host = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])$/i.test(name) ? name : '127.0.0.1';
  const under = (address: string): string => address.replace(/(^|\/\/)(?:0\.0\.0\.0|\[::\])(?=:\d+$)/, `$1${host}`);
  return { http: under(otlp.http), grpc: under(otlp.grpc) };
}

export function isOtlpPath(url: string): boolean {
  return /^\/(?:v1\/(?:traces|logs|metrics)|opentelemetry\.proto\.)/.test(url);
}

/** One sentence: where to send instead. */
export function otlpText(otlp: OtlpAddresses | undefined): string {
  return otlp === undefined
    ? 'Send it to the addresses of listen.otlp_http or listen.otlp_grpc.'
    : `Send it to ${otlp.http} (HTTP) or ${otlp.grpc} (gRPC).`;
}

export function firstPage({
  otlp,
  unrecognised,
}: {
  readonly otlp: OtlpAddresses | undefined;
  readonly unrecognised: readonly UnrecognisedNotice[];
}): string {
  const where =
    otlp === undefined
      ? '<p>The service is starting and takes no spans yet.</p>'
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
${where}
${unrecognised.slice(0, noticesShown).map(noticeText).join('\n')}
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
