/** Spans as the SDK has them when they end. */
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Attributed, Span } from '../../src/model/span.ts';

/** An exporter that keeps what it is given. */
export function keptSpans(answer: (batch: readonly ReadableSpan[]) => 'sent' | 'failed' | 'silent' = () => 'sent') {
  const spans: ReadableSpan[] = [];
  const state = { isShutDown: 0 };
  const exporter: SpanExporter = {
    export(batch, done) {
      const result = answer(batch);
      if (result === 'sent') spans.push(...batch);
      if (result !== 'silent') done({ code: result === 'sent' ? 0 : 1 });
    },
    async shutdown() {
      state.isShutDown++;
    },
  };
  return { exporter, spans, state };
}

/** A run with a call that succeeds and one that fails, made by the SDK. */
export async function agentSpans(agent = 'order_support', at = Date.now()): Promise<readonly ReadableSpan[]> {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const tracer = provider.getTracer('test-agent');
  const root = tracer.startSpan('run', {
    startTime: at,
    attributes: { 'agent.name': agent, 'input.value': 'Where is A-1?', 'output.value': 'On its way.' },
  });
  const inside = trace.setSpan(ROOT_CONTEXT, root);
  // Equal starts would be ordered by arrival.
  for (const [name, fails, startTime] of [
    ['find_order', false, at + 1],
    ['notify', true, at + 2],
  ] as const) {
    const call = tracer.startSpan(
      name,
      { startTime, attributes: { 'tool.name': name, 'input.value': '{"id":"A-1"}', 'output.value': 'done' } },
      inside,
    );
    if (fails) call.setStatus({ code: 2, message: 'mail server down' });
    call.end(startTime);
  }
  root.end(at + 3);
  await provider.forceFlush();
  return memory.getFinishedSpans();
}

/** A span of a recording, as the SDK would have had it. */
export function readableOf(span: Span): ReadableSpan {
  const context = { traceId: span.traceId, spanId: span.spanId, traceFlags: span.flags & 0xff };
  return {
    name: span.name,
    kind: Math.max(0, span.kind - 1),
    spanContext: () => context,
    ...(span.parentSpanId === undefined
      ? {}
      : { parentSpanContext: { traceId: span.traceId, spanId: span.parentSpanId, traceFlags: 1, isRemote: (span.flags & 0x200) !== 0 } }),
    startTime: timeOf(span.startUnixNano),
    endTime: timeOf(span.endUnixNano),
    duration: [0, 0],
    ended: true,
    status: { code: span.status.code === 'error' ? 2 : span.status.code === 'ok' ? 1 : 0, message: span.status.message },
    attributes: plain(span),
    links: span.links.map((link) => ({ context: { traceId: link.traceId, spanId: link.spanId, traceFlags: 1 }, attributes: plain(link) })),
    events: span.events.map((event) => ({ name: event.name, time: timeOf(event.timeUnixNano), attributes: plain(event) })),
    resource: resourceFromAttributes(plain(span.resource)),
    instrumentationScope: { name: span.scope.name, version: span.scope.version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function plain(from: Attributed): ReadableSpan['attributes'] {
  return Object.fromEntries(from.attributeKeys().map((key) => [key, from.attribute(key)])) as ReadableSpan['attributes'];
}

function timeOf(nanos: bigint): [number, number] {
  return [Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n)];
}
