/** The examples of evaluators of one's own, as the service and the command line run them, and as the library does. */
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { replyPhrases } from '../../examples/custom-evaluators/reply-phrases.ts';
import { agentTrace } from '../../src/library/agent-trace.ts';
import { evaluate, factory } from '../../src/library/evaluators.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { eventually, running, sendAgentRun } from './running.ts';

const open: { stop?(): Promise<void>; close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop?.() ?? one.close?.());
});

const root = join(import.meta.dirname, '../..');
const file = join(root, 'examples/custom-evaluators/tracejury.yaml');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-custom-'));
afterAll(() => rmSync(folder, { recursive: true }));

const options = { never: ['on its way', 'I guarantee'] };
const reply = 'It is on its way.';

async function libraryVerdict(): Promise<object> {
  const [verdict] = await evaluate(agentTrace({ input: 'Where is A-1?', finalResponse: reply }), {}, [factory(replyPhrases)(options)]);
  return verdict ?? {};
}

test('custom evaluators: the example file scores a run in the service as in the library', async () => {
  const sink = await otlpSink();
  const jury = await running(`${readFileSync(file, 'utf8')}\nexport: [ { to: span_events, endpoint: "${sink.url}" } ]`, { file });
  open.push(sink, jury);
  await sendAgentRun(jury.otlp);
  const { span } = readCarrier(await eventually(() => sink.received[0], 'a carrier span'));
  expect(attributes(span.attributes)).toMatchObject({ 'tracejury.score.reply_phrases': 0.5, 'tracejury.failed': ['tool_error', 'reply_phrases'] });
  const event = (span.events ?? []).map((one) => attributes(one.attributes)).find((one) => one['gen_ai.evaluation.name'] === 'reply_phrases');
  expect(await libraryVerdict()).toMatchObject({ kind: 'scored', score: event?.['gen_ai.evaluation.score.value'], label: event?.['gen_ai.evaluation.score.label'], explanation: event?.['gen_ai.evaluation.explanation'] });
});

test('custom evaluators: Node itself loads the example for tracejury eval, with the verdict of the library', async () => {
  const recorded = join(folder, 'run.json');
  writeFileSync(recorded, JSON.stringify({ id: 'one', agent: 'order_support', input: 'Where is A-1?', final_response: reply }));
  const report = join(folder, 'report.json');
  const main = join(root, 'src/cli/main.ts');
  expect(() => execFileSync(process.execPath, [main, 'eval', recorded, '-c', file, '--format', 'json', '--output', report], { stdio: 'pipe' })).toThrow(expect.objectContaining({ status: 1 }));
  const { results } = JSON.parse(readFileSync(report, 'utf8')) as { readonly results: readonly { readonly verdicts: readonly { readonly name: string; readonly score: number; readonly explanation: string }[] }[] };
  const verdict = results[0]?.verdicts.find(({ name }) => name === 'reply_phrases');
  expect(await libraryVerdict()).toMatchObject({ score: verdict?.score, explanation: verdict?.explanation });
  expect(execFileSync(process.execPath, [main, 'config', 'check', file]).toString()).toBe(`${file}: no faults\n`);
});
