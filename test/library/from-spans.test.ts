/** Spans of the real SDK, in memory and over the wire: the same runs. */
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace as api, TraceFlags } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import { fromSpans } from '../../src/library/agent-trace.ts';
import { spanOf } from '../../src/library/readable-span.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { Attributed, Span } from '../../src/model/span.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { assemble } from '../../src/pipeline/assembly/assemble.ts';

const spans = await recorded();

test('fromSpans: an instrumented agent in this process gives its agent trace', () => {
  const [run, ...more] = fromSpans(spans);
  expect(more).toEqual([]);
  expect(run).toMatchObject({
    agent: 'order_support',
    input: 'Where is A-1?',
    finalResponse: 'On its way.',
    sessionId: 's-1',
    toolCalls: [
      { name: 'find_order', arguments: { order_id: 'A-1' }, result: { status: 'sent' } },
      { name: 'notify', error: { message: 'mail server down' } },
    ],
  });
});

test('fromSpans: every field of a span is what OTLP carries of it', () => {
  const body = ProtobufTraceSerializer.serializeRequest([...spans]);
  if (body === undefined) throw new Error('nothing was serialised');
  const carried = readTraces(Buffer.from(body), 'protobuf').spans;
  const here = spans.flatMap((span) => spanOf(span) ?? []);
  const byId = (all: readonly Span[]): readonly unknown[] => all.map(plain).toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
  expect(here).toHaveLength(3);
  expect(byId(here)).toEqual(byId(carried));
  const fromWire = assemble({
    collectors,
    tenant: noTenant,
    held: carried.map((span) => ({ span, arrivedMs: 0 })),
    records: new Map(),
  }).map(({ trace }) => trace);
  expect(fromSpans(spans)).toEqual(fromWire);
});

test('fromSpans: every kind and every status is what OTLP carries of it', () => {
  const [first] = spans;
  if (first === undefined) throw new Error('nothing was recorded');
  for (const kind of [SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT, SpanKind.PRODUCER, SpanKind.CONSUMER]) {
    for (const code of [SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR]) {
      const one: ReadableSpan = { ...first, spanContext: () => first.spanContext(), kind, status: { code } };
      const carried = readTraces(Buffer.from(ProtobufTraceSerializer.serializeRequest([one]) ?? []), 'protobuf').spans[0];
      const here = spanOf(one);
      expect([here?.kind, here?.status]).toEqual([carried?.kind, carried?.status]);
    }
  }
});

test('fromSpans: a span that comes twice counts once, one that was never recorded not at all', () => {
  const invalid = {
    ...spans[0],
    spanContext: () => ({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: TraceFlags.NONE }),
  } as ReadableSpan;
  expect(fromSpans([...spans, ...spans, invalid])).toEqual(fromSpans(spans));
  expect(fromSpans([])).toEqual([]);
});

test('fromSpans: version 1 of the SDK names parent and scope in another way', () => {
  const older = spans.map((span) => {
    const {
      name,
      kind,
      startTime,
      endTime,
      status,
      attributes: own,
      links,
      events,
      duration,
      ended,
      resource,
      droppedAttributesCount,
      droppedEventsCount,
      droppedLinksCount,
    } = span;
    const parent = span.parentSpanContext;
    const common = {
      name,
      kind,
      startTime,
      endTime,
      status,
      attributes: own,
      links,
      events,
      duration,
      ended,
      resource,
      droppedAttributesCount,
      droppedEventsCount,
      droppedLinksCount,
    };
    return {
      ...common,
      spanContext: () => span.spanContext(),
      instrumentationLibrary: span.instrumentationScope,
      ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    };
  });
  expect(fromSpans(older)).toEqual(fromSpans(spans));
});

test('fromSpans: traces are told apart, the earlier run first', async () => {
  const later = await recorded('3');
  expect(fromSpans([...later, ...spans])).toEqual([...fromSpans(spans), ...fromSpans(later)]);
});

async function recorded(traceDigit = '1'): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('shop-agent', '1.2');
  const outside = api.setSpanContext(ROOT_CONTEXT, {
    traceId: traceDigit.repeat(32),
    spanId: '2'.repeat(16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
  const root = tracer.startSpan(
    'run',
    {
      kind: SpanKind.SERVER,
      attributes: {
        'agent.name': 'order_support',
        'session.id': 's-1',
        'input.value': 'Where is A-1?',
        'output.value': 'On its way.',
        tags: ['a', 'b'],
        share: 0.5,
      },
    },
    outside,
  );
  const inside = api.setSpan(context.active(), root);
  tracer
    .startSpan(
      'find',
      {
        attributes: { 'tool.name': 'find_order', 'input.value': '{"order_id":"A-1"}', 'output.value': '{"status":"sent"}' },
        links: [{ context: root.spanContext(), attributes: { why: 'test' } }],
      },
      inside,
    )
    .end();
  const second = tracer.startSpan('notify', { attributes: { 'tool.name': 'notify', 'input.value': '{}' } }, inside);
  second.recordException(new Error('mail server down'));
  second.setStatus({ code: SpanStatusCode.ERROR, message: 'mail server down' });
  second.end();
  root.end();
  const finished = exporter.getFinishedSpans();
  await provider.shutdown();
  return finished;
}

function plain(span: Span): { readonly spanId: string; readonly [field: string]: unknown } {
  const { resource, scope, events, links, wireBytes: _bytes, ...rest } = span;
  return {
    ...rest,
    ...attributes(span),
    resource: attributes(resource),
    scope: { name: scope.name, version: scope.version },
    events: events.map((event) => ({ ...event, ...attributes(event) })),
    links: links.map((link) => ({ ...link, ...attributes(link) })),
  };
}

function attributes(from: Attributed): object {
  return {
    attribute: undefined,
    attributeKeys: undefined,
    attributes: Object.fromEntries(
      from
        .attributeKeys()
        .toSorted()
        .map((key) => [key, from.attribute(key)]),
    ),
  };
}
