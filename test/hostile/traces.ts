/** Traces whose spans are well formed and whose shape is not. */
import { good, jsonText, plain, spanId, type SpanFields } from './bodies.ts';
import { taken, type HostileCase, type Wanted } from './case.ts';
import { memberNames } from '../builders/hostile-values.ts';
import { asJson, post } from './senders.ts';
import { gzipSync } from 'node:zlib';

/** The service's data about one trace. */
const spansPerTrace = 50_000;
const late = '9223372036854775807';

const many =
  (count: number, span: (at: number) => SpanFields) =>
  (trace: string): readonly SpanFields[] => [
    good(trace),
    ...Array.from({ length: count }, (_, at) => plain(trace, { spanId: spanId(at + 1), ...span(at + 1) })),
  ];
const shape = (name: string, spans: (trace: string) => readonly SpanFields[], want: Wanted): HostileCase => ({
  name,
  prepare: (trace) =>
    post(
      gzipSync(
        jsonText(
          spans(trace)
            .map((span) => JSON.stringify(span))
            .join(),
        ),
      ),
      { headers: { ...asJson, 'content-encoding': 'gzip' } },
    ),
  want,
});
const operation = (name: string): { readonly key: string; readonly value: object } => ({
  key: 'gen_ai.operation.name',
  value: { stringValue: name },
});
const root = good('')['spanId'];
const beyond = (accepted: number): Wanted =>
  taken(accepted, { runs: 1, counts: { tracejury_spans_over_limit_total: accepted - spansPerTrace } });

export const traceCases: readonly HostileCase[] = [
  shape('a span that is its own parent', (trace) => [good(trace), plain(trace, { parentSpanId: spanId(0xbad) })], taken(2, { runs: 1 })),
  shape('an agent that is its own parent', (trace) => [good(trace, { parentSpanId: root })], taken(1, { runs: 1 })),
  shape(
    'two spans that are each other’s parents',
    many(2, (at) => ({ parentSpanId: spanId(3 - at) })),
    taken(3, { runs: 1 }),
  ),
  shape(
    'a ring of a thousand tools',
    many(1_000, (at) => ({ parentSpanId: spanId((at % 1_000) + 1), attributes: [operation('execute_tool')] })),
    taken(1_001, { runs: 2 }),
  ),
  shape(
    'a hundred thousand children',
    many(99_999, () => ({ parentSpanId: root })),
    beyond(100_000),
  ),
  shape(
    'a chain of a hundred thousand',
    many(99_999, (at) => ({ parentSpanId: at === 1 ? root : spanId(at - 1) })),
    beyond(100_000),
  ),
  shape(
    'one span id with different contents',
    (trace) => [good(trace), ...['a', 'b', 'c'].map((name) => plain(trace, { name }))],
    taken(4, { runs: 1, counts: { tracejury_spans_duplicate_total: 2 } }),
  ),
  shape(
    'spans of 1970, of 2262, and of the end of time',
    (trace) => [
      good(trace),
      ...['0', '1', late, '18446744073709551615'].map((time, at) =>
        plain(trace, { spanId: spanId(at + 1), parentSpanId: root, startTimeUnixNano: time, endTimeUnixNano: time }),
      ),
    ],
    taken(5, { runs: 1 }),
  ),
  shape('an agent of 1970', (trace) => [good(trace, { startTimeUnixNano: '0', endTimeUnixNano: '0' })], taken(1, { runs: 1 })),
  shape(
    'an agent at the end of time',
    (trace) => [good(trace, { startTimeUnixNano: '18446744073709551615', endTimeUnixNano: '18446744073709551615' })],
    taken(1, { runs: 1 }),
  ),
  shape(
    'an agent that ends 292 years before it starts',
    (trace) => [good(trace, { startTimeUnixNano: late, endTimeUnixNano: '0' })],
    taken(1, { runs: 1 }),
  ),
  shape(
    'a thousand roots',
    many(1_000, () => ({})),
    taken(1_001, { runs: 1 }),
  ),
  shape('an agent whose parent never comes', (trace) => [good(trace, { parentSpanId: spanId(77) })], taken(1, { runs: 1 })),
  shape(
    'a hundred agents in each other',
    many(100, (at) => ({
      parentSpanId: at === 1 ? root : spanId(at - 1),
      attributes: [operation('invoke_agent'), { key: 'gen_ai.agent.name', value: { stringValue: `a${at}` } }],
    })),
    taken(101, { runs: 64 }),
  ),
  shape(
    'names of the object prototype as names of agents, tools and keys',
    (trace) => [
      good(trace, {
        attributes: [
          operation('invoke_agent'),
          ...memberNames.map((key) => ({ key, value: { stringValue: '__proto__' } })),
          { key: 'gen_ai.agent.name', value: { stringValue: '__proto__' } },
        ],
      }),
      plain(trace, {
        parentSpanId: root,
        attributes: [operation('execute_tool'), { key: 'gen_ai.tool.name', value: { stringValue: 'constructor' } }],
      }),
    ],
    taken(2, { runs: 1 }),
  ),
  shape(
    'every dialect at once',
    (trace) => [good(trace), plain(trace, { parentSpanId: root, attributes: everyDialect() })],
    taken(2, { runs: 1 }),
  ),
  shape(
    'a span of ours that comes back',
    (trace) => [good(trace), plain(trace, { attributes: [{ key: 'tracejury.generated', value: { boolValue: true } }] })],
    taken(2, { runs: 1, counts: { tracejury_spans_own_total: 1 } }),
  ),
  shape(
    'a hundred links to itself',
    (trace) => [good(trace), plain(trace, { links: Array.from({ length: 100 }, () => ({ traceId: trace, spanId: spanId(0xbad) })) })],
    taken(2, { runs: 1 }),
  ),
];

/** The marks by which dialects recognise their spans, each with a value that is invalid for all of them. */
function everyDialect(): readonly object[] {
  const marks = [
    'openinference.span.kind',
    'traceloop.span.kind',
    'ai.operationId',
    'gen_ai.operation.name',
    'langsmith.span.kind',
    'langfuse.observation.type',
    'mlflow.spanType',
    'mastra.span.type',
    'genkit:type',
    'logfire.msg',
    'agent_run',
    'tool.name',
    'agent.name',
    'gcp.vertex.agent.tool_call_args',
    'llm.input_messages.0.message.role',
    'gen_ai.prompt.0.role',
    'gen_ai.input.messages',
    'gen_ai.output.messages',
    'gen_ai.tool.definitions',
    'ai.prompt.messages',
    'input.value',
    'output.value',
    'traceloop.entity.input',
    'langfuse.observation.input',
    'session.id',
    'all_messages_events',
    'events',
    'tools',
  ];
  const values = ['AGENT', 'tool', '[{"role":"user"', '{"messages":[[{"lc":1}]]}', '[]', 'null', '\u0000'];
  return marks.map((key, at) => ({ key, value: { stringValue: values[at % values.length] } }));
}
