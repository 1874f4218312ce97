/** The examples of evaluators of one's own, as the service and the command line run them, and as the library does. */
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { replyPhrases } from '../../examples/custom-evaluators/reply-phrases.ts';
import { agentTrace } from '../../src/library/agent-trace.ts';
import { evaluate, factory } from '../../src/library/evaluators.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

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
  expect(attributes(span.attributes)).toMatchObject({
    'tracejury.score.reply_phrases': 0.5,
    'tracejury.failed': ['tool_error', 'reply_phrases'],
  });
  const event = (span.events ?? [])
    .map((one) => attributes(one.attributes))
    .find((one) => one['gen_ai.evaluation.name'] === 'reply_phrases');
  expect(await libraryVerdict()).toMatchObject({
    kind: 'scored',
    score: event?.['gen_ai.evaluation.score.value'],
    label: event?.['gen_ai.evaluation.score.label'],
    explanation: event?.['gen_ai.evaluation.explanation'],
  });
});

test('custom evaluators: Node itself loads the example for tracejury eval, with the verdict of the library', async () => {
  const recorded = join(folder, 'run.json');
  writeFileSync(recorded, JSON.stringify({ id: 'one', agent: 'order_support', input: 'Where is A-1?', final_response: reply }));
  const report = join(folder, 'report.json');
  const main = join(root, 'src/cli/main.ts');
  expect(() =>
    execFileSync(process.execPath, [main, 'eval', recorded, '-c', file, '--format', 'json', '--output', report], { stdio: 'pipe' }),
  ).toThrow(expect.objectContaining({ status: 1 }));
  const { results } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly results: readonly {
      readonly verdicts: readonly { readonly name: string; readonly score: number; readonly explanation: string }[];
    }[];
  };
  const verdict = results[0]?.verdicts.find(({ name }) => name === 'reply_phrases');
  expect(await libraryVerdict()).toMatchObject({ score: verdict?.score, explanation: verdict?.explanation });
  expect(execFileSync(process.execPath, [main, 'config', 'check', file]).toString()).toBe(`${file}: no faults\n`);
});

const polite = `export const polite = {
  kind: 'judge', id: 'polite', version: 1, summary: 'The reply is polite.', needs: ['final_response'], onByDefault: false, defaultThreshold: 0.5, defaults: {}, optionsSchema: { type: 'object', additionalProperties: false }, source: 'tests',
  *evaluate({ trace }) {
    const answer = yield { id: 'polite', instruction: 'Is the reply polite?', data: [{ title: 'Reply', text: String(trace.finalResponse) }], answerSchema: { type: 'object', required: ['polite'], additionalProperties: false, properties: { polite: { type: 'boolean' } } } };
    if (answer.kind === 'failed') return { kind: 'failed', error: answer.error, explanation: 'Nobody knows.' };
    return { kind: 'scored', score: answer.value.polite ? 1 : 0, explanation: 'The judge says so.', evidence: [], details: {} };
  },
};`;

test('custom evaluators: a judge evaluator of a file asks its judge', async () => {
  writeFileSync(join(folder, 'polite.mjs'), polite);
  const judge = await chatServer(says('{"polite":true}'));
  const jury = await running(
    `judges: { main: { base_url: "${judge.baseUrl}", model: small } }\nevaluators: [ { use: ./polite.mjs, judge: main, sample: { rate: 1 } } ]`,
    { file: join(folder, 'tracejury.yaml') },
  );
  open.push(judge, jury);
  await sendAgentRun(jury.otlp);
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_evaluation_score_count', { gen_ai_evaluation_name: 'polite' }) === undefined ? undefined : text;
  }, 'a verdict');
  expect(sample(page, 'tracejury_evaluation_score_sum', { gen_ai_evaluation_name: 'polite' })).toBe(1);
  expect(judge.requests[0]?.body.messages.map(({ content }) => content).join()).toContain(reply);
});

test('custom evaluators: an evaluator that throws or lies is a failed verdict beside the sound ones', async () => {
  const rule = (id: string, evaluate: string): string =>
    `export const own = { kind: 'rule', id: '${id}', version: 1, summary: '', needs: [], onByDefault: false, defaultThreshold: 1, defaults: {}, optionsSchema: { type: 'object' }, source: 'tests', evaluate: ${evaluate} };`;
  writeFileSync(join(folder, 'throwing.mjs'), rule('throwing', '({ trace }) => trace.nothing.here'));
  writeFileSync(
    join(folder, 'lying.mjs'),
    rule('lying', '() => ({ kind: "scored", score: 7, explanation: "", evidence: [], details: {} })'),
  );
  const jury = await running('evaluators: [ tool_error, { use: ./throwing.mjs }, { use: ./lying.mjs } ]', {
    file: join(folder, 'tracejury.yaml'),
  });
  open.push(jury);
  await sendAgentRun(jury.otlp);
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'lying' }) === undefined ? undefined : text;
  }, 'decisions');
  const decided = (name: string, decision: string, reason?: string): number | undefined =>
    sample(page, 'tracejury_decisions_total', {
      gen_ai_evaluation_name: name,
      tracejury_decision: decision,
      ...(reason === undefined ? {} : { tracejury_reason: reason }),
    });
  expect([
    decided('tool_error', 'scored'),
    decided('throwing', 'failed', 'evaluator_crashed'),
    decided('lying', 'failed', 'score_out_of_range'),
  ]).toEqual([1, 1, 1]);
  expect(sample(page, 'tracejury_evaluation_score_count', { gen_ai_evaluation_name: 'lying' })).toBeUndefined();
});

test('custom evaluators: an example of a dataset names them by their id, and inspect shows their possible answers', () => {
  const main = join(root, 'src/cli/main.ts');
  const recorded = join(folder, 'two.json');
  const dataset = join(folder, 'dataset.json');
  const report = join(folder, 'two-report.json');
  writeFileSync(recorded, JSON.stringify({ id: 'one', agent: 'order_support', input: 'Where is A-1?', final_response: reply }));
  writeFileSync(
    dataset,
    JSON.stringify([
      { id: 'one', input: 'Where is A-1?', evaluators: [{ use: 'reply_phrases', name: 'own', options: { never: ['sorry'] } }] },
    ]),
  );
  execFileSync(process.execPath, [main, 'eval', recorded, '-c', file, '--dataset', dataset, '--format', 'json', '--output', report]);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ results: [{ verdicts: [{ name: 'own', score: 1 }] }] });
  const spans = join(root, 'test/fixtures/recordings/go-genkit/parallel');
  const inspected = JSON.parse(
    execFileSync(process.execPath, [main, 'inspect', spans, '-c', file, '--format', 'json'], { maxBuffer: 1e9 }).toString(),
  ) as { readonly runs: readonly { readonly evaluability: readonly { readonly name: string; readonly on: boolean }[] }[] };
  expect(inspected.runs[0]?.evaluability.filter(({ name }) => name === 'reply_phrases')).toEqual([
    expect.objectContaining({ on: true, status: 'filtered' }),
  ]);
});
