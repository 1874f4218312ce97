/** Spans with one start time: they keep the order of their arrival, request by request, on all of their way. */
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { readBack } from '../../src/journals/span-reader.ts';
import type { JournalRecord, Position } from '../../src/journals/journal.ts';
import { memoryJournal, memoryRecords } from '../../src/journals/memory.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { Span } from '../../src/model/span.ts';
import { runSteps } from '../../src/runtime/cooperative.ts';
import { unbundled } from '../../src/otlp/cut/bundle.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { assemble } from '../../src/pipeline/assembly/assemble.ts';
import { collectors } from '../../collectors/index.ts';
import { noTenant } from '../../src/model/ids.ts';
import { spanId } from '../builders/agent-trace.ts';
import { gathered } from '../builders/gathered.ts';
import { agentSpan, assistant, modelSpan, toolMessage, toolSpan } from '../builders/gen-ai-spans.ts';
import { span, traceId } from '../builders/spans.ts';
import { request, second, started, world } from '../journals/intake-world.ts';
import { testParts } from '../journals/parts.ts';
import { openDoor } from '../receivers/door.ts';

const minute = 60_000;
const tools = ({ trace: { toolCalls } }: Pick<Run, 'trace'>): readonly string[] => toolCalls.map(({ name }) => name);
/** All start at one time. The later the call, the smaller its id and the longer it takes, by turns. */
const tied = (at: number, given: { readonly trace?: number; readonly scope?: string } = {}): Span =>
  toolSpan({ id: 9_000 - at, parent: 1, tool: `t${at}`, start: 5, end: 6 + ((at * 7) % 11), ...given });
const numbers = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, at) => from + at);

test('arrival order: fifty tools of the JavaScript SDK within one millisecond are listed in the order in which they ran', async () => {
  const door = await openDoor();
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `http://127.0.0.1:${door.port}/v1/traces` }), { maxExportBatchSize: 20 }),
    ],
  });
  const tracer = provider.getTracer('agents');
  const startTime = new Date();
  const agent = tracer.startSpan('invoke_agent shop', {
    startTime,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shop' },
  });
  const inAgent = trace.setSpan(context.active(), agent);
  for (const at of numbers(50))
    tracer
      .startSpan(
        `execute_tool t${at}`,
        { startTime, attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': `t${at}` } },
        inAgent,
      )
      .end();
  agent.end();
  await provider.forceFlush();
  await provider.shutdown();
  await door.receiver.stop();
  const held = door.spans.map(([, one]) => ({ span: one, arrivedMs: 0 }));
  const [run] = assemble({ collectors, tenant: noTenant, held, records: new Map() });
  expect(run === undefined ? [] : tools(run)).toEqual(numbers(50).map((at) => `t${at}`));
});

describe('arrival order', () => {
  test('arrival order: within a request as they are in it, and requests as they arrive', () => {
    const to = gathered();
    to.spans(tied(3), tied(1), tied(2));
    to.spans(tied(6), tied(0), agentSpan({ id: 1, start: 0, end: 90, output: 'done' }), tied(5));
    to.pass(minute);
    expect(to.runs().map(tools)).toEqual([['t3', 't1', 't2', 't6', 't0', 't5']]);
  });

  test('arrival order: what comes late stands behind what was scored', () => {
    const to = gathered();
    to.spans(tied(2), tied(1), agentSpan({ id: 1, start: 0, end: 90, output: 'done' }));
    to.pass(10 * second);
    to.spans(tied(9), tied(0));
    to.pass(minute);
    expect(to.runs().map(tools)).toEqual([
      ['t2', 't1'],
      ['t2', 't1', 't9', 't0'],
    ]);
  });

  test('arrival order: requests to models and agents follow it, like tools', () => {
    const to = gathered();
    const models = [12, 14, 11, 13].map((id) => modelSpan({ id, parent: 1, start: 5, end: 5 + (id % 3), user: 'q', says: `m${id}` }));
    const agents = [22, 24, 21].map((id) => agentSpan({ id, parent: 1, start: 6, end: 7 + (id % 2), agent: `a${id}`, output: 'done' }));
    to.spans(...models, ...agents, agentSpan({ id: 1, start: 0, end: 90 }));
    to.pass(minute);
    const root = to.runs().find((run) => run.spanId === spanId(1))?.trace;
    expect(root?.modelCalls.map(({ spanId: id }) => id)).toEqual([12, 14, 11, 13].map(spanId));
    expect(root?.subAgents.map(({ agent }) => agent)).toEqual(['a22', 'a24', 'a21']);
  });

  test('arrival order: traces that are joined keep the order of the request that brought their spans', () => {
    const to = gathered();
    // Each request is a separate trace; the results in its messages tie it to the one before.
    const models = numbers(6).map((at) => {
      const history = numbers(at).flatMap((earlier) => [
        assistant({ asks: [{ id: `c${earlier}`, name: 't' }] }),
        toolMessage([{ id: `c${earlier}`, response: 'r' }]),
      ]);
      return modelSpan({
        id: 50 - at,
        trace: 50 - at,
        start: 5,
        end: 5,
        user: 'q',
        history,
        ...(at === 5 ? { says: 'done' } : { asks: [{ id: `c${at}`, name: 't' }] }),
      });
    });
    to.spans(...models);
    to.pass(minute);
    const runs = [...new Map(to.runs().map((run) => [`${run.traceId}/${run.spanId}`, run])).values()].filter(
      ({ partOf }) => partOf === undefined,
    );
    expect(runs.map((run) => run.trace.modelCalls.map(({ spanId: id }) => id))).toEqual([numbers(6).map((at) => spanId(50 - at))]);
  });

  test('arrival order: of a large request and a small one that overtakes it, the one that came first stands first', async () => {
    const of = world(10_000_000);
    const one = await started(of);
    const large = one.take(numbers(4_500).map((at) => tied(at)));
    const small = one.take([agentSpan({ id: 1, start: 0, end: 90, output: 'done' }), tied(4_600), tied(4_501)]);
    await Promise.all([large, small]);
    await one.pass(120 * second);
    const found = tools(of.delivered.at(-1)?.run ?? expect.fail());
    expect(found).toEqual([...numbers(4_500), 4_600, 4_501].map((at) => `t${at}`));
  });

  test('arrival order: a process that comes up after a crash has the same order, also where the journal wrote old requests again', async () => {
    const of = world(1_500_000);
    const first = await started(of);
    const padding = 'x'.repeat(10_000);
    let sent = 0;
    while (first.parts.count('tracejury.journal.moved') < 12) {
      await first.take([tied(sent++), tied(sent++)]);
      await first.take([span({ id: 9, trace: 100 + sent, attributes: { text: padding } })]);
      await first.pass(second);
    }
    const next = await started(of);
    await next.take([tied(sent++), agentSpan({ id: 1, start: 0, end: 90, output: 'done' })]);
    await next.pass(60 * second);
    const found = of.delivered.map(({ run }) => run).filter((run) => run.spanId === spanId(1));
    expect(found.map(tools)).toEqual([numbers(sent).map((at) => `t${at}`)]);
  });

  test('arrival order: spans that are read back for the store have it, whether or not a request was written again', async () => {
    const journal = await memoryJournal({ folder: '', bytesMax: 1_000_000 }, testParts(), memoryRecords());
    const written = async (record: JournalRecord): Promise<Position> => {
      const appended = await journal.append(record);
      return appended.kind === 'appended' ? appended.position : expect.fail();
    };
    const [a, b, c] = [tied(5), tied(3), tied(4)].map((one) => request([one], 0)) as [JournalRecord, JournalRecord, JournalRecord];
    const origin = await written(a);
    const positions = [await written(b), await written({ ...a, isCopy: true, origin }), await written(c)];
    const [found] = await readBack([{ keys: [traceId(1)], positions }], { journal, inflatedBytesMax: 1_000_000 });
    expect(runSteps(unbundled([found?.bundle ?? Buffer.alloc(0)])).spans.map(({ name, spanId: id }) => [name, id])).toEqual(
      [5, 3, 4].map((at) => [`span ${9_000 - at}`, spanId(9_000 - at)]),
    );
  });

  for (const encoding of ['protobuf', 'json'] as const) {
    test(`arrival order: a file of spans (${encoding}) has it, for any resources and scopes`, () => {
      const spans = [
        tied(0, { scope: 'one' }),
        tied(1, { scope: 'two' }),
        tied(2, { scope: 'one' }),
        { ...tied(3, { scope: 'one' }), resource: span({ id: 1, resource: { 'service.name': 'other' } }).resource },
        tied(4, { scope: 'one' }),
      ];
      expect(readTraces(writeTraces(spans, encoding), encoding).spans.map((one) => [one.spanId, one.scope.name])).toEqual(
        spans.map((one) => [one.spanId, one.scope.name]),
      );
    });
  }
});
