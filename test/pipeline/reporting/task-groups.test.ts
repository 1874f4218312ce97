import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, tenant } from '../../../src/model/ids.ts';
import { pipeline } from '../../../src/pipeline/pipeline.ts';
import { taskGroups, type TaskGroupSettings } from '../../../src/pipeline/reporting/task-groups.ts';
import { metricRegistry, type MetricRegistry } from '../../../src/telemetry/registry.ts';
import type { MetricName } from '../../../src/telemetry/metrics.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { evaluation, failed, run, scored } from '../../builders/scored-run.ts';

const settings: TaskGroupSettings = { taskKey: { kind: 'attribute', key: 'task' }, runsMax: 3, tasksMax: 10 };

interface Given {
  readonly id: number;
  readonly steps: number;
  readonly task?: string;
  readonly agent?: string;
  readonly start?: number;
  readonly members?: Partial<Run>;
}

function runOf({ id, steps, task = 'book', agent = 'a', start = id, members = {} }: Given): Run {
  const trace = agentTrace({ agent, toolCalls: Array.from({ length: steps }, () => call()) });
  return run({ spanId: spanId(id), trace, resourceAttributes: task === '' ? {} : { task }, startUnixNano: BigInt(start), ...members });
}

function watched(members: Partial<TaskGroupSettings> = {}): {
  readonly groups: ReturnType<typeof taskGroups>;
  readonly closed: (...runs: readonly Given[]) => void;
  readonly told: () => readonly string[];
  readonly registry: MetricRegistry;
} {
  const registry = metricRegistry();
  const groups = taskGroups({ ...settings, ...members }, registry);
  return {
    groups,
    registry,
    closed: (...runs) => runs.forEach((one) => groups.closed(runOf(one), [])),
    told() {
      groups.report(registry);
      const counts = numbers(registry, 'tracejury.convergence.runs');
      return [...numbers(registry, 'tracejury.convergence')].map(
        ([labels, value]) => `${labels}: ${value.toFixed(3)} of ${counts.get(labels)}`,
      );
    },
  };
}

function numbers(registry: MetricRegistry, metric: MetricName): ReadonlyMap<string, number> {
  const points = registry.snapshot().find(({ name }) => name === metric)?.points ?? [];
  return new Map(points.flatMap((point) => (point.kind === 'number' ? [[Object.values(point.labels).join(' ').trim(), point.value]] : [])));
}

const rows: readonly {
  readonly name: string;
  readonly runs: readonly Given[];
  readonly settings?: Partial<TaskGroupSettings>;
  readonly told: readonly string[];
  readonly outcomes?: object;
}[] = [
  { name: 'a single run shows nothing', runs: [{ id: 1, steps: 2 }], told: [], outcomes: { compared: 1 } },
  {
    name: 'runs of one agent and task are compared',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 4 },
    ],
    told: ['a book: 0.750 of 2'],
  },
  {
    name: 'agents, tasks and tenants are distinguished',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 4, agent: 'b' },
      { id: 3, steps: 4, task: 'pay' },
      { id: 4, steps: 4, members: { tenant: tenant('t') } },
    ],
    told: [],
  },
  {
    name: 'a run that ended in an error counts 0',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 1, members: { trace: agentTrace({ agent: 'a', status: 'error', toolCalls: [call()] }) } },
    ],
    told: ['a book: 0.500 of 2'],
  },
  {
    name: 'a run that called no tool counts 0',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 0 },
    ],
    told: ['a book: 0.500 of 2'],
  },
  {
    name: 'the window moves: the runs that started first leave it',
    runs: [
      { id: 1, steps: 1 },
      { id: 2, steps: 2 },
      { id: 3, steps: 4 },
      { id: 4, steps: 4 },
    ],
    told: ['a book: 0.667 of 3'],
  },
  {
    name: 'a run that comes late has its place by its start',
    runs: [
      { id: 2, steps: 2 },
      { id: 3, steps: 2 },
      { id: 4, steps: 2 },
      { id: 1, steps: 1 },
    ],
    told: ['a book: 1.000 of 3'],
  },
  {
    name: 'a later revision replaces its run',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 8 },
      { id: 2, steps: 4, members: { revision: 2 } },
    ],
    told: ['a book: 0.750 of 2'],
  },
  {
    name: 'an earlier revision that comes late changes nothing',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 4, members: { revision: 2 } },
      { id: 2, steps: 8 },
    ],
    told: ['a book: 0.750 of 2'],
    outcomes: { compared: 2 },
  },
  {
    name: 'a later revision may name another task',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 4 },
      { id: 3, steps: 2, task: 'pay' },
      { id: 2, steps: 4, task: 'pay', members: { revision: 2 } },
    ],
    told: ['a pay: 0.750 of 2'],
  },
  {
    name: 'a run with missing parts is left out until it is whole',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 1, members: { completeness: 'partial' } },
      { id: 2, steps: 4, members: { revision: 2 } },
    ],
    told: ['a book: 0.750 of 2'],
    outcomes: { compared: 2, not_complete: 1 },
  },
  {
    name: 'a revision that shows that something is missing takes its run out',
    runs: [
      { id: 1, steps: 2 },
      { id: 2, steps: 4 },
      { id: 2, steps: 4, members: { revision: 2, completeness: 'partial' } },
    ],
    told: [],
  },
  {
    name: 'runs that name no task or carry no calls are left out and counted',
    runs: [
      { id: 1, steps: 2, task: '' },
      { id: 2, steps: 0, members: { trace: agentTrace({ agent: 'a', toolCallsCarried: false }) } },
    ],
    told: [],
    outcomes: { no_task: 1, tool_calls_not_carried: 1 },
  },
  {
    name: 'tasks without room for labels are counted together, by their runs',
    runs: [
      { id: 1, steps: 1 },
      { id: 2, steps: 1 },
      { id: 3, steps: 1, task: 'p' },
      { id: 4, steps: 2, task: 'p' },
      { id: 5, steps: 3, task: 'q' },
      { id: 6, steps: 3, task: 'q' },
      { id: 7, steps: 3, task: 'q' },
    ],
    settings: { labelledMax: 1 },
    told: ['a book: 1.000 of 2', 'other other other: 0.900 of 5'],
  },
];
for (const { name, runs, settings: members = {}, told, outcomes } of rows) {
  test(`task groups: ${name}`, () => {
    const seen = watched(members);
    seen.closed(...runs);
    expect(seen.told()).toEqual(told);
    if (outcomes !== undefined) expect(Object.fromEntries(numbers(seen.registry, 'tracejury.tasks.runs'))).toEqual(outcomes);
  });
}

test('task groups: beyond the bound the task without a run for longest is forgotten, and its labels are free', () => {
  const { closed, told, registry } = watched({ tasksMax: 2, labelledMax: 1 });
  closed({ id: 1, steps: 1, task: 'p' }, { id: 2, steps: 1, task: 'p' }, { id: 3, steps: 1, task: 'q' }, { id: 4, steps: 2, task: 'q' });
  expect(told()).toEqual(['a p: 1.000 of 2', 'other other other: 0.750 of 2']);
  closed({ id: 5, steps: 1, task: 'r' }, { id: 6, steps: 2, task: 'q' }, { id: 7, steps: 1, task: 's' }, { id: 8, steps: 1, task: 's' });
  expect(told()).toEqual(['a q: 0.667 of 3', 'other other other: 1.000 of 2']);
  expect([numbers(registry, 'tracejury.tasks.forgotten').get(''), numbers(registry, 'tracejury.tasks').get('')]).toEqual([2, 2]);
  // It started before the three that are compared.
  closed({ id: 1, steps: 1, task: 'q', members: { revision: 2 } });
  expect(told()).toEqual(['a q: 0.667 of 3', 'other other other: 1.000 of 2']);
});

test('task groups: a flood of tasks of one tenant leaves those of another one, and their labels', () => {
  const { closed, told } = watched({ tasksMax: 4, labelledMax: 2 });
  const other = { members: { tenant: tenant('other') } };
  const flood = { members: { tenant: tenant('flood') } };
  closed({ id: 1, steps: 1, ...other }, { id: 2, steps: 1, task: 'pay', ...other });
  for (let task = 0; task < 20; task++)
    closed({ id: 100 + task, steps: 1, task: `${task}`, ...flood }, { id: 200 + task, steps: 1, task: `${task}`, ...flood });
  closed({ id: 3, steps: 2, ...other });
  expect(told()).toContain('other a book: 0.750 of 2');
});

test('task groups: a verdict may say whether a run succeeded, whenever it comes', () => {
  const { groups, told, registry } = watched({ success: 'done' });
  const [first, second, third] = [1, 2, 3].map((id) => runOf({ id, steps: id }));
  if (first === undefined || second === undefined || third === undefined) throw new Error('three runs');
  for (const one of [first, second, third]) groups.closed(one, [evaluation('tool_error', scored(0), one)]);
  expect(told()).toEqual([]);
  groups.judged(first, [evaluation('done', scored(0), first)]);
  groups.judged(first, [evaluation('another', scored(1), first)]);
  groups.judged(second, [evaluation('done', scored(1), second)]);
  groups.judged(third, [evaluation('done', failed(), third)]);
  expect(told()).toEqual(['a book: 0.500 of 2']);
  expect(Object.fromEntries(numbers(registry, 'tracejury.tasks.runs'))).toEqual({ compared: 2, no_verdict: 1 });
});

test('task groups: runs of the pipeline are compared, and late spans change the figures', () => {
  const clock = manualClock(0);
  const registry = metricRegistry();
  const groups = taskGroups({ ...settings, runsMax: 10 }, registry);
  const flow = pipeline({
    collectors,
    plan: [],
    context: evaluationContext(),
    clock,
    telemetry: registry,
    groups,
    deliver: () => undefined,
    ask: () => undefined,
  });
  const send = (trace: number, tools: number): void =>
    flow.spans(noTenant, [
      agentSpan({ id: 1, trace, agent: 'a', end: 90, attributes: { task: 'book' } }),
      ...Array.from({ length: tools }, (_, at) => toolSpan({ id: 2 + at, parent: 1, trace, tool: `t${at}` })),
    ]);
  const told = (): number | undefined => {
    clock.advance(10_000);
    flow.advance();
    groups.report(registry);
    return numbers(registry, 'tracejury.convergence').get('a book');
  };
  send(1, 2);
  send(2, 4);
  expect(told()).toBe(0.75);
  flow.spans(noTenant, [toolSpan({ id: 9, parent: 1, trace: 1, tool: 'late' })]);
  expect(told()).toBe((1 + 3 / 4) / 2);
});
