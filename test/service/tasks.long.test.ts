/** Several runs of one task, over the wire to the metrics page and through the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample } from './running.ts';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});
const folder = mkdtempSync(join(tmpdir(), 'tracejury-tasks-'));
afterAll(() => rmSync(folder, { recursive: true }));

function runSpans(trace: number, tools: number, attributes: { readonly [key: string]: string }, failed = false): readonly Span[] {
  const root = agentSpan({
    id: trace * 100,
    trace,
    agent: 'a',
    input: 'Book it.',
    attributes,
    start: trace * 100,
    end: trace * 100 + 50,
    ...(failed ? { status: 'error' } : {}),
  });
  return [
    root,
    ...Array.from({ length: tools }, (_, at) =>
      toolSpan({ id: trace * 100 + at + 1, parent: trace * 100, trace, tool: `t${at}`, result: 'ok' }),
    ),
  ];
}

const spans = [
  ...runSpans(1, 2, { 'task.name': 'book' }),
  ...runSpans(2, 4, { 'task.name': 'book' }),
  ...runSpans(3, 1, { 'task.name': 'book' }, true),
  ...runSpans(4, 1, {}),
];
/** (1 + 2/4 + 0) / 3: the run that failed sets no optimum. */
const want = 0.5;
const config = 'groups: { task_key: attributes.task.name }\n';

test('tasks: the metrics page shows how directly the runs of a task went, and their number', async () => {
  const jury = await running(config);
  open.push(jury);
  expect(
    (
      await fetch(`${jury.otlp}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf' },
        body: writeTraces(spans, 'protobuf'),
      })
    ).status,
  ).toBe(200);
  const labels = { gen_ai_agent_name: 'a', tracejury_task: 'book' };
  const page = await eventually(async () => {
    const text = await jury.metrics();
    return sample(text, 'tracejury_convergence_runs', labels) === 3 &&
      sample(text, 'tracejury_tasks_runs_total', { tracejury_outcome: 'no_task' }) === 1
      ? text
      : undefined;
  }, 'three runs of a task');
  expect(sample(page, 'tracejury_convergence_ratio', labels)).toBe(want);
  expect(sample(page, 'tracejury_convergence_optimal_ratio', labels)).toBe(1 / 3);
  expect(page.split('\n').filter((line) => line.startsWith('tracejury_convergence_ratio{'))).toHaveLength(1);
});

interface Report {
  readonly tasks: readonly object[];
}

async function evaluated(...words: readonly string[]): Promise<string> {
  const file = join(folder, 'runs.binpb');
  const configFile = join(folder, 'tracejury.yaml');
  writeFileSync(file, writeTraces(spans, 'protobuf'));
  writeFileSync(configFile, config);
  const out: string[] = [];
  await runCommandLine({
    words: ['eval', file, '-c', configFile, ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: () => undefined,
  });
  return out.join('\n');
}

test('tasks: tracejury eval shows the same', async () => {
  const { tasks } = JSON.parse(await evaluated('--format', 'json')) as Report;
  expect(tasks).toEqual([{ task: 'book', agent: 'a', runs: 3, convergence: want, share_on_optimal_path: 1 / 3, optimal_steps: 2 }]);
  expect(await evaluated()).toMatch(/^task +agent +runs +convergence +shortest way +on it\nbook +a +3 +0\.500 +2 +0\.333$/m);
});

test('tasks: the example of a dataset is the task of its runs', async () => {
  const dataset = join(folder, 'dataset.yaml');
  writeFileSync(dataset, '- { id: booking, input: Book it. }\n');
  const { tasks } = JSON.parse(await evaluated('--format', 'json', '--dataset', dataset)) as Report;
  expect(tasks).toMatchObject([{ task: 'booking', runs: 4, optimal_steps: 1 }]);
});
