import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace as api, TraceFlags } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import {
  agentTrace,
  fromMessages,
  fromOpenAiTools,
  fromSpans,
  readArguments,
  readResult,
  toolCall,
  toOpenAiTools,
  toOutput,
  toTestCase,
  turns,
} from '../../src/library/agent-trace.ts';
import { spanOf } from '../../src/library/readable-span.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { Attributed, Span } from '../../src/model/span.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { assemble } from '../../src/pipeline/assembly/assemble.ts';

const weatherSchema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] } as const;

test('agentTrace: absent means unknown, lists are empty', () => {
  expect(agentTrace({})).toEqual({
    status: 'ok',
    toolCalls: [],
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    reasoningSteps: [],
    subAgents: [],
    toolCallsCarried: true,
  });
  expect(agentTrace({ errorMessage: 'out of memory' })).toMatchObject({ status: 'error', errorMessage: 'out of memory' });
});

test('agentTrace: a structured response is taken as JSON has it, big integers exactly', () => {
  const { finalResponse } = agentTrace({
    finalResponse: {
      at: new Date(0),
      id: 1234567890123456789n,
      none: undefined,
      not: Number.NaN,
      list: [undefined, 1],
      map: new Map([['k', 1]]),
    },
  });
  expect(finalResponse).toEqual({ at: '1970-01-01T00:00:00.000Z', id: 1234567890123456789n, not: null, list: [null, 1], map: { k: 1 } });
});

test('agentTrace: a value that holds itself is refused', () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => agentTrace({ finalResponse: loop })).toThrow(TypeError);
});

const argumentCases: readonly { readonly name: string; readonly args: object | string | null; readonly want: object }[] = [
  { name: 'an object', args: { city: 'Rome' }, want: { arguments: { city: 'Rome' } } },
  { name: 'a text that holds an object', args: '{"id": 1234567890123456789}', want: { arguments: { id: 1234567890123456789n } } },
  { name: 'a blank text', args: ' ', want: { arguments: {} } },
  { name: 'null', args: null, want: { arguments: {} } },
  { name: 'a broken text', args: '{"city": ', want: { arguments: null, argumentsText: '{"city": ' } },
  { name: 'a text that holds a list', args: '[1]', want: { arguments: null, argumentsText: '[1]' } },
  { name: 'a list', args: [1], want: { arguments: null, argumentsText: '[1]' } },
  {
    name: 'an own key __proto__',
    args: JSON.parse('{"__proto__": 1}') as object,
    want: { arguments: JSON.parse('{"__proto__": 1}') as object },
  },
];

for (const { name, args, want } of argumentCases) {
  test(`toolCall: arguments as ${name}`, () => {
    expect(toolCall('t', args)).toEqual({ name: 't', executed: true, ...want });
  });
}

test('toolCall: result, error and ids', () => {
  expect(toolCall('t', {}, { result: null, error: 'down', id: 'c-1', toolId: 't-1', turn: 2 })).toEqual({
    name: 't',
    arguments: {},
    result: null,
    error: { message: 'down', sign: 'is_error' },
    executed: true,
    id: 'c-1',
    toolId: 't-1',
    turn: 2,
  });
  expect(toolCall('t', {}, { executed: false })).toEqual({ name: 't', arguments: {}, executed: false });
});

test('tools: both forms of the OpenAI API and definitions of ours give the same definitions', () => {
  const ours = { name: 'weather', description: 'Tells the weather.', inputSchema: weatherSchema };
  const chat = { type: 'function', function: { name: 'weather', description: 'Tells the weather.', parameters: weatherSchema } } as const;
  const flat = { type: 'function', name: 'weather', description: 'Tells the weather.', parameters: weatherSchema } as const;
  expect(agentTrace({ tools: [ours] }).toolDefinitions).toEqual([ours]);
  expect(fromOpenAiTools([chat, flat, ours])).toEqual([ours, ours, ours]);
  expect(toOpenAiTools([ours])).toEqual([chat]);
  expect(() => fromOpenAiTools([{ type: 'function', name: '' }])).toThrow('tools[0] has no name');
});

test('readResult: a structured result, and the JSON in a text, come back typed', () => {
  const structured = readResult(toolCall('weather', {}, { result: { city: 'Rome', days: 3 } }), weatherSchema);
  const city: string | undefined = structured?.city;
  const days: number | undefined = structured?.days;
  expect([city, days]).toEqual(['Rome', 3]);
  expect(readResult(toolCall('weather', {}, { result: '{"city":"Rome"}' }), weatherSchema)).toEqual({ city: 'Rome' });
  expect(readResult(toolCall('weather', {}, { result: '5' }), { type: 'string' })).toBe('5');
});

const nothing: readonly { readonly name: string; readonly result: unknown; readonly schema: object; readonly want: unknown }[] = [
  { name: 'null', result: null, schema: weatherSchema, want: null },
  { name: 'a blank text', result: ' \n', schema: weatherSchema, want: null },
  { name: 'the text null', result: 'null', schema: weatherSchema, want: null },
  { name: 'a blank text where texts fit', result: ' ', schema: { type: 'string' }, want: ' ' },
  { name: 'zero', result: 0, schema: { type: 'number' }, want: 0 },
];
for (const { name, result, schema, want } of nothing) {
  test(`readResult: ${name} reads as ${JSON.stringify(want)}`, () => {
    expect(readResult(toolCall('t', {}, { result }), schema)).toBe(want);
  });
}

test('toolCall: metadata is kept as in JSON, and listed in the output', () => {
  const noted = toolCall('t', {}, { result: 'ok', metadata: { ms: 12, at: new Date(0), none: undefined } });
  expect(noted.metadata).toEqual({ ms: 12, at: '1970-01-01T00:00:00.000Z' });
  expect(toOutput(agentTrace({ toolCalls: [noted, toolCall('u')] }))['toolCalls']).toEqual([
    { name: 't', arguments: {}, result: 'ok', metadata: { ms: 12, at: '1970-01-01T00:00:00.000Z' } },
    { name: 'u', arguments: {} },
  ]);
  expect(() => toolCall('t', {}, { metadata: [1] })).toThrow('t: metadata must be an object');
});

const misfits: readonly { readonly name: string; readonly read: () => unknown; readonly says: string }[] = [
  { name: 'an unknown result', read: () => readResult(toolCall('t'), weatherSchema), says: 't: the result is not known' },
  {
    name: 'a result that does not fit',
    read: () => readResult(toolCall('t', {}, { result: { city: 1 } }), weatherSchema),
    says: 't: the result does not fit the schema at city: ',
  },
  {
    name: 'a text whose JSON does not fit',
    read: () => readResult(toolCall('t', {}, { result: '{"city": 1}' }), weatherSchema),
    says: 't: the result does not fit the schema at city: ',
  },
  {
    name: 'arguments that are not an object',
    read: () => readArguments(toolCall('t', '[1]'), weatherSchema),
    says: 't: the arguments are not an object',
  },
  {
    name: 'arguments that do not fit',
    read: () => readArguments(toolCall('t', { days: 1 }), weatherSchema),
    says: 't: the arguments do not fit the schema at city: ',
  },
  { name: 'a faulty schema', read: () => readArguments(toolCall('t', {}), { $ref: '#/nowhere' }), says: 'The schema cannot be used' },
];

for (const { name, read, says } of misfits) {
  test(`typed values: ${name} is refused`, () => {
    expect(read).toThrow(TypeError);
    expect(read).toThrow(says);
  });
}

test('readArguments: the arguments come back typed', () => {
  const { city } = readArguments(toolCall('weather', { city: 'Rome' }), weatherSchema);
  expect(city.toUpperCase()).toBe('ROME');
});

test('toOutput, toTestCase: what a run came to, and all that evaluators ask for besides', () => {
  const trace = agentTrace({
    toolCalls: [toolCall('t', { a: 1 }, { id: 'c', error: 'down' }), toolCall('u', '[')],
    finalResponse: { done: true },
    reasoningSteps: ['think'],
  });
  const output = {
    output: { done: true },
    toolCalls: [
      { name: 't', id: 'c', arguments: { a: 1 }, error: 'down' },
      { name: 'u', arguments: '[' },
    ],
    reasoningSteps: ['think'],
  };
  expect(toOutput(trace)).toEqual(output);
  const made = toTestCase(trace, { input: 'Do it.', tools: [{ name: 't' }], tasks: ['it'], constraints: 'quickly' });
  expect(made).toEqual({
    input: 'Do it.',
    output,
    tools: [{ name: 't' }],
    tasks: ['it'],
    constraints: 'quickly',
    trace: { ...trace, input: 'Do it.', toolDefinitions: [{ name: 't' }], tasks: ['it'], constraints: 'quickly' },
  });
  expect(toTestCase(trace).trace).toEqual(trace);
});

test('turns: each question of the user begins one, with its own calls and answer', () => {
  const { trace } = fromMessages([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'seen' },
    { role: 'assistant', content: 'First.' },
    { role: 'user', content: 'Two?' },
    { role: 'user', content: 'And three?' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'b', function: { name: 'count', arguments: '{"n":3}' } }] },
    { role: 'tool', tool_call_id: 'b', content: '3' },
    { role: 'assistant', content: 'Second.' },
  ]);
  const [first, second, ...more] = turns(trace);
  expect(more).toEqual([]);
  expect(first).toMatchObject({
    input: 'One?',
    finalResponse: 'First.',
    toolCalls: [{ name: 'look', result: 'seen' }],
    reasoningSteps: ['I look.'],
  });
  expect(second).toMatchObject({
    input: 'And three?',
    finalResponse: 'Second.',
    toolCalls: [{ name: 'count', result: '3' }],
    reasoningSteps: [],
  });
  expect(second?.messages?.flatMap(({ calls }) => calls)).toEqual([0]);
  const bare = agentTrace({ input: 'x' });
  expect(turns(bare)).toEqual([bare]);
});

// Spans of the real SDK, in memory and over the wire: the same runs.

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

test('fromSpans: traces are distinguished, the earlier run first', async () => {
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
