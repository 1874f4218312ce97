/** `dialects` in a running service: spans of a real exporter are read as the entry demands, before and after the configuration is read again. */
import { afterEach, expect, test } from 'vitest';
import { ROOT_CONTEXT, trace as api } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
afterEach(async () => folder.remove());

/** No other dialect knows its words for kinds. Arguments are in a payload, the question in flattened keys, the result in an event. */
async function sendRun(service: ServiceProcess): Promise<string> {
  const exporter = new OTLPTraceExporter({ url: `${service.otlp}/v1/traces` });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'travel' }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('acme.agents');
  const root = tracer.startSpan('mission', {
    attributes: { 'unit.sort': 'CREW', who: 'travel', 'asked.0.words': 'A flight?', reply: 'AF007.' },
  });
  const call = tracer.startSpan(
    'do',
    { attributes: { 'unit.sort': 'ACTION', action: 'search_flights', payload: '{"args":{"to":"CDG"}}' } },
    api.setSpan(ROOT_CONTEXT, root),
  );
  call.addEvent('outcome', { text: '{"flight":"AF007"}' });
  call.end();
  root.end();
  await provider.forceFlush();
  await provider.shutdown();
  return root.spanContext().traceId;
}

function acme(input: string): string {
  return `dialects:
  - name: acme
    match: { scope: "acme.*" }
    span: { agent: "unit.sort = 'CREW'", tool: "unit.sort = 'ACTION'" }
    read:
      agent.name: attributes.who
      input: ${input}
      output: attributes.reply
      tool.name: attributes.action
      tool.arguments: json(attributes.payload).args
      tool.result: events['outcome'].attributes.text
evaluators: [ { use: tool_error }, { use: final_response_present } ]`;
}

async function reload(service: ServiceProcess, yaml: string): Promise<void> {
  const applied = async (): Promise<number> =>
    sample(await service.metrics(), 'tracejury_config_reloads_total', { tracejury_outcome: 'applied' }) ?? 0;
  const before = await applied();
  folder.configure(yaml);
  service.hangUp();
  await eventually(async () => ((await applied()) > before ? true : undefined), 'a configuration that is in force');
}

/** The run of a trace as the API shows it. */
async function runOf(service: ServiceProcess, traceId: string): Promise<JsonObject> {
  const row = await eventually(async () => (await service.runs()).find((run) => run['trace_id'] === traceId), 'the run in the store');
  return (await (await fetch(`${service.console}/api/v1/runs/${traceId}/${String(row['span_id'])}`)).json()) as JsonObject;
}

test('dialects: the service reads and scores spans of an exporter by the entry, and a reload adds, changes and removes it', async () => {
  folder = serviceFolder();
  folder.configure('');
  const service = await folder.start();

  // No built-in collector knows the words of the SDK.
  const unread = await sendRun(service);
  await reload(service, acme('list(attributes.asked)[0].words'));
  const added = await runOf(service, await sendRun(service));
  expect(added).toMatchObject({
    agent: 'travel',
    dialects: ['acme'],
    evidence: null,
    input: 'A flight?',
    final_response: 'AF007.',
    tool_calls: [{ name: 'search_flights', arguments: { to: 'CDG' }, result: { flight: 'AF007' } }],
  });
  const labels = (added['verdicts'] as readonly JsonObject[]).map(({ name, label }): readonly JsonValue[] => [name ?? null, label ?? null]);
  expect(Object.fromEntries(labels)).toEqual({ final_response_present: 'pass', tool_error: 'pass' });
  // The metrics name the dialect of the configuration.
  expect(
    await eventually(
      async () => sample(await service.metrics(), 'tracejury_evaluability_total', { tracejury_dialect: 'acme' }),
      'the dialect among the metrics',
    ),
  ).toBeGreaterThan(0);

  await reload(service, acme('attributes.who'));
  expect(await runOf(service, await sendRun(service))).toMatchObject({ dialects: ['acme'], input: 'travel' });

  await reload(service, '');
  const removed = await sendRun(service);
  await sendKnown(service);
  await eventually(
    async () => ((await service.runs()).some(({ agent }) => agent === 'known') ? true : undefined),
    'a run that comes after it',
  );
  const traces = (await service.runs()).map((run) => run['trace_id']);
  expect(traces).not.toContain(unread);
  expect(traces).not.toContain(removed);
});

/** A run that any collector reads. */
async function sendKnown(service: ServiceProcess): Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${service.otlp}/v1/traces` });
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider
    .getTracer('t')
    .startSpan('invoke_agent known', { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'known' } })
    .end();
  await provider.forceFlush();
  await provider.shutdown();
}
