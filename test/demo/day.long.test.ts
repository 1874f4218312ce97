/** The demonstration's account of its spans is what the collectors read out of them, and the evaluators find the planned faults. */
import { expect, test } from 'vitest';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { simulatedDay, type Day } from './day.ts';
import { scenarios, type SimulatedCall, type SimulatedRun } from './scenarios.ts';
import { sdks } from './sdks.ts';
import { spansOfRun, spansOfWebRequest, type Ids } from './spans.ts';
import { evaluability, replayed } from '../../src/cli/inspect/inspection.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { Span } from '../../src/model/span.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { defaultClosing } from '../../src/pipeline/gathering/close-policy.ts';
import { spanId } from '../builders/agent-trace.ts';
import { traceId } from '../builders/spans.ts';
import { validators } from '../builders/validators.ts';

const endUnixMs = Date.UTC(2027, 2, 14, 12);
const { config } = loadConfig({ validators, file: 'defaults', text: '', env: {}, evaluators });
/** The evaluators whose faults the scenarios name. */
const judged: readonly string[] = ['tool_call_validity', 'tool_error', 'tool_efficiency'];
const catalogue = { plan: config.evaluators, context: evaluationContext() };

function countedIds(): Ids {
  let made = 0;
  return { traceId: () => traceId(++made * 0x1000001), spanId: () => spanId(++made) };
}

function spansOf(day: Day): readonly Span[] {
  const ids = countedIds();
  return [
    ...day.runs.flatMap(({ item, startUnixMs }) => spansOfRun(item, startUnixMs, ids)),
    ...day.webRequests.flatMap((startUnixMs) => spansOfWebRequest(startUnixMs, ids)),
  ];
}

/** A run and the agents that it called. */
function family(run: SimulatedRun): readonly SimulatedRun[] {
  return [run, ...run.turns.flatMap(({ calls }) => calls.flatMap(({ by }) => (by === undefined ? [] : family(by))))];
}

/** Agents that are called run in the process of the one that called them. */
function planned(run: SimulatedRun, root: SimulatedRun): object {
  const calls = run.turns.flatMap((turn) => turn.calls);
  return {
    agent: run.agent.name,
    service: `${root.agent.name}-service ${root.agent.version}`,
    input: run.input,
    answer: run.answer,
    session: run.sessionId,
    completeness: calls.some(({ outcome }) => outcome.kind === 'lost') ? 'partial' : 'complete',
    status: run.answer === undefined ? 'error' : 'ok',
    tools: sdks[run.agent.sdk].carriesTools ? run.agent.tools : [],
    models: sdks[run.agent.sdk].model === undefined ? 0 : run.turns.length + (run.answer === undefined ? 0 : 1),
    subAgents: family(run)
      .slice(1)
      .map((sub) => `${sub.agent.name} tool`),
    calls: calls.map(plannedCall),
    verdicts: plannedVerdicts(run, calls),
  };
}

function plannedCall({ tool, arguments: sent, outcome }: SimulatedCall): object {
  return {
    tool,
    arguments: sent,
    executed: outcome.kind !== 'lost',
    result: outcome.kind === 'returned' ? outcome.result : undefined,
    error: outcome.kind === 'failed' ? outcome.message : undefined,
  };
}

function plannedVerdicts(run: SimulatedRun, calls: readonly SimulatedCall[]): object {
  const faults = scenarios.find(({ name }) => name === run.scenario)?.faults ?? [];
  const label = (name: (typeof faults)[number]): string => (calls.length === 0 ? 'skipped' : faults.includes(name) ? 'fail' : 'pass');
  return {
    tool_call_validity: sdks[run.agent.sdk].carriesTools ? label('tool_call_validity') : 'skipped',
    tool_error: label('tool_error'),
    tool_efficiency: label('tool_efficiency'),
  };
}

function found(run: Run): object {
  const { trace } = run;
  return {
    agent: trace.agent,
    service: `${run.service} ${run.serviceVersion}`,
    input: trace.input,
    answer: trace.finalResponse,
    session: trace.sessionId,
    completeness: run.completeness,
    status: trace.status,
    tools: trace.toolDefinitions,
    models: trace.modelCalls.length,
    subAgents: trace.subAgents.map(({ agent, via }) => `${agent} ${via}`),
    // A failed call has reported its error; that a model got it too is not news.
    calls: trace.toolCalls.map((call) => ({
      tool: call.name,
      arguments: call.arguments,
      executed: call.executed,
      result: call.error === undefined ? call.result : undefined,
      error: call.error?.message,
    })),
    verdicts: Object.fromEntries(
      evaluability(run, catalogue).flatMap(({ on, name, outcome }) =>
        on && judged.includes(name) ? [[name, outcome.kind === 'scored' ? outcome.label : outcome.kind]] : [],
      ),
    ),
  };
}

const inOrder = (items: readonly object[]): readonly string[] => items.map((item) => JSON.stringify(item, undefined, 1)).sort();

for (const seed of [1, 2, 3]) {
  test(`demo: the account of a day with seed ${seed} is what is read out of its spans`, () => {
    const day = simulatedDay({ seed, runs: 120, endUnixMs });
    const { spans } = readTraces(writeTraces(spansOf(day), 'protobuf'), 'protobuf');
    const { runs, leftOut } = replayed({ spans, records: [], recordsWithoutTrace: 0, rejections: [] }, { closing: defaultClosing });
    expect(inOrder(runs.map(found))).toEqual(inOrder(day.runs.flatMap(({ item }) => family(item).map((run) => planned(run, item)))));
    expect(leftOut.map(({ metric, reason, count }) => [metric, reason, count])).toEqual([
      ['tracejury.traces.dropped', 'no_agent_model_or_tool_span', day.webRequests.length],
    ]);
  });
}

test('demo: the same seed gives the same bytes, another one others', () => {
  const bytes = (seed: number): Buffer => writeTraces(spansOf(simulatedDay({ seed, runs: 60, endUnixMs })), 'protobuf');
  expect(bytes(7).equals(bytes(7))).toBe(true);
  expect(bytes(7).equals(bytes(8))).toBe(false);
});

test('demo: a day has as many runs as asked for, every scenario, and ends now', () => {
  for (const runs of [1, 40, 120]) {
    const day = simulatedDay({ seed: 1, runs, endUnixMs });
    expect(day.runs).toHaveLength(runs);
    const ends = spansOf({ ...day, webRequests: [] }).map((span) => Number(span.endUnixNano / 1_000_000n));
    expect(Math.max(...ends)).toBe(endUnixMs);
    expect(Math.min(...ends)).toBeGreaterThan(endUnixMs - 10 * 60 * 60 * 1_000);
  }
  const told = new Set(
    simulatedDay({ seed: 1, runs: 120, endUnixMs }).runs.flatMap(({ item }) => family(item).map(({ scenario }) => scenario)),
  );
  expect([...told].sort()).toEqual(scenarios.map(({ name }) => name).sort());
});

test('demo: turns of a session follow each other and do not overlap', () => {
  const { runs } = simulatedDay({ seed: 1, runs: 120, endUnixMs });
  const sessions = [...Map.groupBy(runs, ({ item }) => item.sessionId)].filter(([id, turns]) => id !== undefined && turns.length > 1);
  expect(sessions.length).toBeGreaterThan(3);
  for (const [, turns] of sessions) expect(new Set(turns.map(({ item }) => item.agent.name)).size).toBe(1);
});
