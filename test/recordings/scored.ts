/** The evaluators that score a recorded run, and those that skip it with their reason, when its expectation is what the agent really did. */
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluability } from '../../src/cli/inspect/inspection.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { ExpectedRecording, ExpectedTrace } from './expected.ts';

/** Names in order; a judge that would be asked counts as scored. */
export interface Scored {
  readonly scored: readonly string[];
  /** Names by reason. */
  readonly skipped: { readonly [reason: string]: readonly string[] };
}

/** One for each run, sub-agents too, in order of their beginning. */
export function scoredOf(expected: ExpectedRecording, runs: readonly Run[]): readonly Scored[] {
  const context = evaluationContext();
  return runs.toSorted(byStart).map((run) => {
    const own = evaluability({ ...run, expected: expectationOf(expected, run) }, { plan: [], context });
    const skipped = own.flatMap(({ name, outcome }) => (outcome.kind === 'skipped' ? [{ name, reason: outcome.reason }] : []));
    return {
      scored: own.flatMap(({ name, outcome }) => (outcome.kind === 'scored' || outcome.kind === 'would_ask' ? [name] : [])).sort(),
      skipped: Object.fromEntries(
        [...Map.groupBy(skipped, ({ reason }) => reason)]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([reason, some]) => [reason, some.map(({ name }) => name).sort()]),
      ),
    };
  });
}

function byStart(a: Run, b: Run): number {
  if (a.startUnixNano !== b.startUnixNano) return a.startUnixNano < b.startUnixNano ? -1 : 1;
  return a.spanId < b.spanId ? -1 : 1;
}

/** Every member, so that no evaluator has to skip for want of one. */
function expectationOf({ traces }: ExpectedRecording, run: Run): JsonValue {
  const isOf = (trace: ExpectedTrace): boolean =>
    trace.otlp_trace_id === run.traceId || (trace.split_over_otlp_traces?.includes(run.traceId) ?? false);
  const trace = traces.find(isOf) ?? traces[0];
  const calls = (trace?.tool_calls ?? []).map((call) => ({
    name: call.name,
    arguments: call.arguments,
    ...(call.result === undefined ? {} : { result: call.result }),
  }));
  return {
    tool_calls: calls,
    tool_outputs: calls.flatMap(({ name, result }) => (result === undefined ? [] : [{ name, output: result }])),
    tool_calls_count: Object.fromEntries(calls.map(({ name }) => [name, { min: 1 }])),
    tool_calls_order: calls.map(({ name }) => name),
    messages: [
      {
        role: 'assistant',
        content: '',
        tool_calls: calls.map(({ name, arguments: args }) => ({ function: { name, arguments: JSON.stringify(args) } })),
      },
    ],
    tasks: [trace?.input ?? 'help'],
    output: trace?.final_response ?? 'done',
    context: [trace?.final_response ?? 'done'].map((text) => (typeof text === 'string' ? text : JSON.stringify(text))),
    search_text: trace?.final_response ?? 'done',
  } as JsonValue;
}

/** The text of the fixture: recordings with the same facts are together, so that a change is read once. */
export function scoredText(all: readonly { readonly name: string; readonly scored: readonly Scored[] }[]): string {
  const runs = all.flatMap(({ name, scored }) => scored.map((one, index) => ({ run: runName(name, index, scored.length), one })));
  const groups = [...Map.groupBy(runs, ({ one }) => JSON.stringify(one)).values()];
  return `${JSON.stringify(
    groups.map((group) => ({ runs: group.map(({ run }) => run), ...group[0]?.one })),
    undefined,
    2,
  )}\n`;
}

/** Numbers several runs, from 1. */
function runName(recording: string, index: number, runs: number): string {
  return runs === 1 ? recording : `${recording} run ${index + 1}`;
}
