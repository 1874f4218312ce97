/** Makes the spans of a simulated run in the form of the SDK of its agent. The caller gives the ids. */
import type { SpanId, TraceId } from '../../src/model/ids.ts';
import type { Attributed, AttributeValue, Resource, Span, SpanEvent, SpanKind, SpanStatus } from '../../src/model/span.ts';
import { type Attributes, type Sdk, sdks, type SpanData } from './sdks.ts';
import { callMs, edgeMs, type SimulatedCall, type SimulatedRun, tookMs } from './scenarios.ts';

export interface Ids {
  traceId(): TraceId;
  spanId(): SpanId;
}

interface Place {
  readonly ids: Ids;
  readonly resource: Resource;
  readonly traceId: TraceId;
  readonly parentSpanId?: SpanId;
  readonly startUnixMs: number;
}

/** The spans of one run and its sub-agents, in the order of their ends, as exporters send them. */
export function spansOfRun(run: SimulatedRun, startUnixMs: number, ids: Ids): readonly Span[] {
  const resource = attributed({
    'service.name': `${run.agent.name}-service`,
    'service.version': run.agent.version,
    'deployment.environment.name': 'demo',
  });
  return agentSpans(run, { ids, resource, traceId: ids.traceId(), startUnixMs });
}

/** A web request with a database call, without an agent. */
export function spansOfWebRequest(startUnixMs: number, ids: Ids): readonly Span[] {
  const resource = attributed({ 'service.name': 'web-shop' });
  const scope = '@opentelemetry/instrumentation-http';
  const place: Place = { ids, resource, traceId: ids.traceId(), startUnixMs };
  const server = madeSpan(
    place,
    scope,
    { name: 'GET /orders', kind: 2, attributes: { 'http.request.method': 'GET', 'url.path': '/orders', 'http.response.status_code': 200 } },
    40,
  );
  const database = madeSpan(
    { ...place, parentSpanId: server.spanId, startUnixMs: startUnixMs + 5 },
    '@opentelemetry/instrumentation-pg',
    { name: 'SELECT orders', kind: 3, attributes: { 'db.system.name': 'postgresql' } },
    20,
  );
  return [database, server];
}

function agentSpans(run: SimulatedRun, place: Place): readonly Span[] {
  const sdk = sdks[run.agent.sdk];
  const brokeOff = run.answer === undefined ? 'the worker was killed' : undefined;
  const root = madeSpan(place, sdk.scope, sdk.agent(run), tookMs(run), brokeOff);
  const inner: Place = { ...place, parentSpanId: root.spanId };
  const found: Span[] = [];
  let at = place.startUnixMs + edgeMs;
  run.turns.forEach((turn, index) => {
    found.push(...modelSpans(sdk, run, index, turn.thoughtMs, { ...inner, startUnixMs: at }));
    at += turn.thoughtMs;
    for (const call of turn.calls) {
      if (call.outcome.kind !== 'lost')
        found.push(...toolSpans(sdk, run, call, callId(index, turn.calls.indexOf(call), place.traceId), { ...inner, startUnixMs: at }));
      at += callMs(call);
    }
  });
  if (run.answer !== undefined) found.push(...modelSpans(sdk, run, run.turns.length, run.answerMs, { ...inner, startUnixMs: at }));
  return [...found, root];
}

function modelSpans(sdk: Sdk, run: SimulatedRun, index: number, ms: number, place: Place): readonly Span[] {
  const data = sdk.model?.(run, index, (turn, call) => callId(turn, call, place.traceId));
  return data === undefined ? [] : [madeSpan(place, sdk.scope, data, ms)];
}

function toolSpans(sdk: Sdk, run: SimulatedRun, call: SimulatedCall, id: string, place: Place): readonly Span[] {
  const fault = call.outcome.kind === 'failed' ? call.outcome.message : undefined;
  const tool = madeSpan(place, sdk.scope, sdk.tool(run, call, id), callMs(call), fault);
  if (call.by === undefined) return [tool];
  return [...agentSpans(call.by, { ...place, parentSpanId: tool.spanId, startUnixMs: place.startUnixMs + edgeMs / 2 }), tool];
}

/** The model's id of a call; it differs between traces, as real ids do. */
function callId(turn: number, call: number, traceId: TraceId): string {
  return `call_${traceId.slice(0, 12)}_${turn}${call}`;
}

function madeSpan(place: Place, scope: string, data: SpanData, ms: number, fault?: string): Span {
  const { ids, resource, traceId, parentSpanId, startUnixMs } = place;
  const startUnixNano = nanos(startUnixMs);
  const endUnixNano = nanos(startUnixMs + ms);
  const status: SpanStatus = fault === undefined ? { code: 'unset', message: '' } : { code: 'error', message: fault };
  const events: readonly SpanEvent[] =
    fault === undefined
      ? []
      : [{ ...attributed({ 'exception.type': 'Error', 'exception.message': fault }), name: 'exception', timeUnixNano: endUnixNano }];
  const kind: SpanKind = data.kind ?? 1;
  return {
    ...attributed(data.attributes),
    resource,
    scope: { ...attributed({}), name: scope, version: '1.0.0' },
    traceId,
    spanId: ids.spanId(),
    parentSpanId,
    traceState: '',
    // Sampled, and the parent is in this process.
    flags: 0x101,
    name: data.name,
    kind,
    startUnixNano,
    endUnixNano,
    status,
    events,
    links: [],
    wireBytes: 0,
  };
}

function attributed(attributes: Attributes): Attributed {
  const values = new Map<string, AttributeValue>(Object.entries(attributes));
  return { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] };
}

function nanos(unixMs: number): bigint {
  return BigInt(Math.round(unixMs)) * 1_000_000n;
}
