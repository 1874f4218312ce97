/** A whole service with judges and backends that are of no use. */
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { otlpSink } from '../exporters/otlp-sink.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

const open: { stop?(): Promise<void>; close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop?.() ?? one.close?.());
});

test('service: the last line of the log counts the scores that no backend has taken', async () => {
  const lines: string[] = [];
  // Port 1 has no listener.
  const jury = await running('export: [{ to: span_events, endpoint: "http://127.0.0.1:1" }]\n', {
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  });
  open.push(jury);
  await sendAgentRun(jury.otlp);
  await eventually(
    async () => (sample(await jury.metrics(), 'tracejury_exporter_queue', { tracejury_exporter: 'span_events' }) === 1 ? true : undefined),
    'a score that waits',
  );
  await jury.stop();
  expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({ msg: 'stopped', unsent: 1 });
});

test('service: a backend that is down slows nothing, and its scores wait', async () => {
  const gone = await otlpSink();
  await gone.close();
  const jury = await running(`export: [ { to: span_events, endpoint: "${gone.url}" } ]`);
  open.push(jury);
  await sendAgentRun(jury.otlp, { agent: 'first' });
  await sendAgentRun(jury.otlp, { agent: 'second' });
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_exporter_queue', { tracejury_exporter: 'span_events' }) === 2 &&
      sample(text, 'tracejury_runs_total', { gen_ai_agent_name: 'second' }) === 1
      ? text
      : undefined;
  }, 'two waiting items');
  expect(sample(page, 'tracejury_exporter_items_total', { tracejury_exporter: 'span_events', tracejury_outcome: 'sent' })).toBeUndefined();
});

const taskCompletion = (baseUrl: string): string => `
evaluators: [ tool_error, { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ "say where the order is" ] } } ]
judges: { main: { base_url: "${baseUrl}", model: small, api_key: secret } }`;

test('service: a judge that answers nonsense is a failed verdict and never a score', async () => {
  const judge = await chatServer(says('I would rather not say.'));
  const jury = await running(taskCompletion(judge.baseUrl));
  open.push(judge, jury);
  await sendAgentRun(jury.otlp);
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'task_completion' }) === undefined ? undefined : text;
  }, 'a decision');
  expect(sample(page, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'task_completion', tracejury_decision: 'failed' })).toBe(1);
  expect(
    sample(page, 'tracejury_evaluation_results_total', {
      gen_ai_evaluation_name: 'task_completion',
      gen_ai_evaluation_score_label: 'error',
    }),
  ).toBe(1);
  expect(sample(page, 'tracejury_evaluation_score_count', { gen_ai_evaluation_name: 'task_completion' })).toBeUndefined();
  expect(sample(page, 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'tool_error' })).toBe(1);
});

test('service: at a sample rate of 0 no judge is asked, and the decision gives the reason', async () => {
  const judge = await chatServer(says('{}'));
  const jury = await running(taskCompletion(judge.baseUrl).replace('rate: 1', 'rate: 0'));
  open.push(judge, jury);
  await sendAgentRun(jury.otlp);
  await eventually(
    async () =>
      sample(await jury.metrics(), 'tracejury_decisions_total', {
        gen_ai_evaluation_name: 'task_completion',
        tracejury_decision: 'sampled_out',
      }),
    'a decision',
  );
  expect(judge.requests).toHaveLength(0);
});
