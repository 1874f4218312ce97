/** A whole service with rules that keep runs as examples: with rules and judges, after a reload, and over a restart. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

let folder: ServiceFolder | undefined;
afterEach(async () => {
  await folder?.remove();
  folder = undefined;
});

async function examples(console: string, name: string): Promise<readonly JsonObject[]> {
  const response = await fetch(`${console}/api/v1/datasets/${name}/examples`);
  if (response.status === 404) return [];
  return ((await response.json()) as { readonly examples: readonly JsonObject[] }).examples;
}

const some = (console: string, name: string, count: number): Promise<readonly JsonObject[]> =>
  eventually(async () => {
    const found = await examples(console, name);
    return found.length >= count ? found : undefined;
  }, `${count} examples of ${name}`);

test('rules: failed runs become drafts, redacted, one of near-duplicates, counted by outcome', async () => {
  const service = await running(
    'redact: [ { match: email } ]\ndatasets: [ { name: failures, when: "tool_error < 1", tags: [ night ] } ]\n',
  );
  onTestFinished(() => service.stop());
  // With one agent each run would be a later turn of the session, whose input is the whole conversation.
  await sendAgentRun(service.otlp, { agent: 'calm', input: 'All is well', fails: false });
  await sendAgentRun(service.otlp, { input: 'Order 12345 of ann@example.org?' });
  const [first] = await some(service.console, 'failures', 1);
  expect(first).toMatchObject({
    input: 'Order 12345 of [redacted]?',
    expect: { tool_calls: [{ name: 'find_order' }, { name: 'notify' }], output: 'It is on its way.' },
    tags: ['night'],
    review: 'draft',
    origin: { rule: 'failures' },
  });
  await sendAgentRun(service.otlp, { agent: 'another', input: 'order 99999 of ann@example.org' });
  await eventually(
    async () =>
      sample(await service.metrics(), 'tracejury_datasets_runs_total', {
        tracejury_dataset: 'failures',
        tracejury_outcome: 'duplicate',
      }) === 1 || undefined,
    'a duplicate',
  );
  expect(await examples(service.console, 'failures')).toHaveLength(1);
  expect((await (await fetch(`${service.console}/api/v1/datasets/failures/versions`)).json()) as object).toMatchObject({
    versions: [{ version: 1, by: 'rule failures', added: 1 }],
  });
});

test('rules: a run is kept when the judge has given the verdict that the rule names, together with those of rules', async () => {
  const judge = await chatServer(says('{"explanation":"No.","label":"no"}'));
  const service = await running(
    `judges: { main: { base_url: "${judge.baseUrl}", model: small } }
evaluators:
  - tool_error
  - { use: custom_judge, name: polite, judge: main, sample: { rate: 1 }, options: { template: "Is {{final_response}} polite?", labels: { yes: 1, no: 0 } }, threshold: 1 }
datasets: [ { name: rude, when: "tool_error < 1 and polite < 1" } ]\n`,
  );
  onTestFinished(async () => {
    await service.stop();
    await judge.close();
  });
  await sendAgentRun(service.otlp, { input: 'fine', fails: false });
  await sendAgentRun(service.otlp, { input: 'broken', agent: 'another' });
  const [one] = await some(service.console, 'rude', 1);
  expect(one).toMatchObject({ input: 'broken', metadata: { failed: { polite: 'No.' } } });
  await eventually(async () => {
    const { runs } = (await (await fetch(`${service.console}/api/v1/runs?evaluator=polite`)).json()) as {
      readonly runs: readonly unknown[];
    };
    return runs.length === 2 || undefined;
  }, 'two verdicts');
  expect(await examples(service.console, 'rude')).toHaveLength(1);
});

async function send(service: ServiceProcess, trace: number, input: string): Promise<void> {
  await service.send([
    agentSpan({ id: 1, trace, start: 0, end: 7, agent: `agent ${trace}`, input, output: 'there' }),
    toolSpan({ id: 2, parent: 1, trace, tool: 'find', status: 'error' }),
  ]);
}

test('rules: a reload puts other rules in force, and a stop keeps what was scored', async () => {
  folder = serviceFolder();
  const made = folder;
  made.configure('datasets: [ { name: first, when: "tool_error < 1" } ]');
  const service = await made.start();
  await send(service, 1, 'river');
  await some(service.console, 'first', 1);
  made.configure('datasets: [ { name: second, when: "tool_error < 1" } ]');
  service.hangUp();
  await eventually(
    async () =>
      (sample(await service.metrics(), 'tracejury_config_reloads_total', { tracejury_outcome: 'applied' }) ?? 0) > 0 ? true : undefined,
    'a reload',
  );
  await send(service, 2, 'stone');
  await eventually(async () => ((await service.runs()).length === 2 ? true : undefined), 'the second run');
  expect(await service.end('SIGTERM')).toBe(0);
  const again = await made.start();
  expect((await some(again.console, 'second', 1)).map(({ input }) => input)).toEqual(['stone']);
  expect((await examples(again.console, 'first')).map(({ input }) => input)).toEqual(['river']);
});
