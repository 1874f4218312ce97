/** The cost of an agent's model calls: service, command line and library agree. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { agentTrace } from '../../src/library/agent-trace.ts';
import { cost, evaluate } from '../../src/library/evaluators.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, modelSpan } from '../builders/gen-ai-spans.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { eventually, running, sample } from './running.ts';

const open: { stop?(): Promise<void>; close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop?.() ?? one.close?.());
});
const folder = mkdtempSync(join(tmpdir(), 'tracejury-costs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const table = 'prices: { m: { input_per_million: 0.5, output_per_million: 2, cached_per_million: 0.05 } }\n';
const config = `${table}evaluators: [ { use: cost, options: { budget: 1 } } ]\n`;

function asked(id: number, model: string, input: number, output: number, cached = 0): ReturnType<typeof modelSpan> {
  return modelSpan({
    id,
    parent: 1,
    user: 'hi',
    says: 'ho',
    attributes: {
      'gen_ai.response.model': model,
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.cache_read.input_tokens': cached,
    },
  });
}

/** The agent's span has the sum of its calls as well, as in some SDKs. */
const spans = [
  agentSpan({
    id: 1,
    agent: 'a',
    resource: { 'service.name': 'shop' },
    attributes: { 'gen_ai.usage.input_tokens': 3_000_000, 'gen_ai.usage.output_tokens': 1_000_000 },
  }),
  asked(2, 'm-2025-08-07', 1_000_000, 1_000_000),
  asked(3, 'maker/m', 2_000_000, 0, 1_000_000),
];
/** 0.5 + 2 for the first call, 0.5 + 0.05 for the second. */
const want = 'The model calls cost 3.05, more than the budget of 1; the dearest, of m-2025-08-07, cost 2.5.';

test('costs: the service prices the calls of a run, and counts calls without a price beside', async () => {
  const sink = await otlpSink();
  const jury = await running(`${config}export: [ { to: span_events, endpoint: "${sink.url}" } ]`);
  open.push(sink, jury);
  const body = writeTraces(
    [
      ...spans,
      agentSpan({ id: 11, agent: 'b', trace: 2 }),
      { ...asked(12, 'other', 5, 5), traceId: agentSpan({ id: 11, trace: 2 }).traceId, parentSpanId: agentSpan({ id: 11 }).spanId },
    ],
    'protobuf',
  );
  expect(
    (await fetch(`${jury.otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/x-protobuf' }, body })).status,
  ).toBe(200);
  const { span } = readCarrier(await eventually(() => sink.received[0], 'a carrier span'));
  expect((span.events ?? []).map((one) => attributes(one.attributes)['gen_ai.evaluation.explanation'])).toEqual([want]);
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'cost', tracejury_reason: 'no_price' }) === undefined
      ? undefined
      : text;
  }, 'the run of a model without a price');
  expect(sample(page, 'tracejury_agent_cost_total', { gen_ai_agent_name: 'a', gen_ai_request_model: 'm-2025-08-07' })).toBe(2.5);
  expect(sample(page, 'tracejury_agent_cost_total', { gen_ai_agent_name: 'a', gen_ai_request_model: 'maker/m' })).toBe(0.55);
  expect(sample(page, 'tracejury_agent_cost_total', { gen_ai_agent_name: 'b' })).toBeUndefined();
  expect(
    sample(page, 'tracejury_agent_model_calls_total', {
      gen_ai_agent_name: 'b',
      gen_ai_request_model: 'other',
      tracejury_outcome: 'no_price',
    }),
  ).toBe(1);
});

test('costs: tracejury eval comes to the same, for the configured evaluators and for those of a dataset', async () => {
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const recorded = file('run.binpb', Buffer.from(writeTraces(spans, 'protobuf')));
  const dataset = file('dataset.yaml', '- evaluators: [ cost, { use: cost, name: generous, options: { budget: 10 } } ]\n  input: hi\n');
  const out: string[] = [];
  const code = await runCommandLine({
    words: ['eval', recorded, '-c', file('tracejury.yaml', config), '--dataset', dataset, '--format', 'json'],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: () => undefined,
  });
  const { results } = JSON.parse(out.join('')) as {
    readonly results: readonly { readonly verdicts: readonly { readonly name: string; readonly explanation: string }[] }[];
  };
  expect([code, results[0]?.verdicts.map(({ name, explanation }) => `${name}: ${explanation}`)]).toEqual([
    1,
    [`cost: ${want}`, 'generous: The model calls cost 3.05, within the budget of 10.'],
  ]);
});

test.each([
  [
    'its calls',
    {
      model_calls: [
        { model: 'm-2025-08-07', input_tokens: 1_000_000, output_tokens: 1_000_000 },
        { model: 'maker/m', input_tokens: 2_000_000, output_tokens: 0, cached_input_tokens: 1_000_000 },
      ],
    },
    want,
  ],
  [
    'camelCase',
    { modelCalls: [{ model: 'm', inputTokens: 2_000_000, outputTokens: 0, cachedInputTokens: 1_000_000 }] },
    'The model calls cost 0.55, within the budget of 1.',
  ],
  [
    'the whole run',
    { model: 'm', tokens: { input: 1_000_000, output: 0 }, model_calls: 3 },
    'The model calls cost 0.5, within the budget of 1.',
  ],
  ['nothing that is a number', { model: 'm', tokens: { input: -1, output: '5' } }, 'The spans of this agent carry no numbers of tokens.'],
])('costs: a run that is given as JSON has the tokens of %s', async (_name, tokens, explanation) => {
  const [file, configFile] = [join(folder, 'given.json'), join(folder, 'given.yaml')];
  writeFileSync(file, JSON.stringify({ input: 'hi', ...tokens }));
  writeFileSync(configFile, config);
  const out: string[] = [];
  await runCommandLine({
    words: ['eval', file, '-c', configFile, '--format', 'json'],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: () => undefined,
  });
  expect(JSON.parse(out.join(''))).toMatchObject({ results: [{ verdicts: [{ name: 'cost', explanation }] }] });
});

test('costs: the library comes to the same', async () => {
  const trace = agentTrace({
    modelCalls: [
      { model: 'm-2025-08-07', inputTokens: 1_000_000, outputTokens: 1_000_000 },
      { model: 'maker/m', inputTokens: 2_000_000, outputTokens: 0, cachedInputTokens: 1_000_000 },
    ],
  });
  expect(trace.tokens).toEqual({ input: 3_000_000, output: 1_000_000 });
  const [verdict] = await evaluate(trace, {}, [
    cost({ prices: { m: { inputPerMillion: 0.5, outputPerMillion: 2, cachedPerMillion: 0.05 } }, budget: 1 }),
  ]);
  expect(verdict).toMatchObject({ explanation: want, details: { cost: 3.05 } });
});
