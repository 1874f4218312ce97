/** Tools were called as often as expected. Every call that the model asked for counts, whether it ran or not; other tools are free. */
import type { ExpectedCount } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { evidenceOf, noExpectation, notCarried, placedCalls, type PlacedCall } from './evidence/calls.ts';
import type { Subject } from './evaluator.ts';
import { countedCalls, onlySuccessful } from './matching/expected-calls.ts';
import { countSchema, isWithin, rangeText } from './expectation/expectation.ts';
import { byToolName } from './matching/names.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/normalized-names.ts';
import { count, listed } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, type OptionsOf } from './configuration/option-table.ts';
import { expecting } from './expectation/expecting.ts';

const options = {
  strict: flag('All or nothing: one wrong count gives 0.'),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCallCount = rule({
  id: 'tool_call_count',
  version: 3,
  summary: 'Tools were called as often as expected.',
  needs: ['tool_calls', 'expected_tool_counts'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting(
    {
      tool_calls_count: {
        type: 'object',
        maxProperties: 1000,
        description:
          'By the name of the tool, its id or the id of a call: `3`, `">=2"` (one of = == != > >= < <=), `[">=", 2]`, or `{min: 1, max: 3}`. An empty object expects no call at all.',
        additionalProperties: countSchema,
      },
    },
    'tool_calls_count',
  ),
  switchedOnBy: { tool_calls_count: {} },
  source: 'UiPath ToolCallCountEvaluator; expecting zero calls holds when nothing was called',
  evaluate: underNormalizedNames(evaluate),
});

interface Counted {
  readonly expected: ExpectedCount;
  readonly calls: readonly PlacedCall[];
  readonly met: boolean;
}

function evaluate({ trace, expected: { toolCallsCount: expected } }: Subject, options: Options): Outcome {
  if (expected === undefined) return noExpectation('numbers of tool calls');
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const callsOf = callsByTool(calls);
  const counted = expected.map((one): Counted => {
    const own = callsOf(one.name);
    return { expected: one, calls: own, met: isWithin(own.length, one) };
  });
  const wrong = counted.filter(({ met }) => !met);
  const share = expected.length === 0 ? (calls.length === 0 ? 1 : 0) : (counted.length - wrong.length) / counted.length;
  return {
    kind: 'scored',
    score: options.strict && share < 1 ? 0 : share,
    explanation: expected.length === 0 ? noneExpected(calls) : explained(counted, wrong),
    evidence: evidenceOf(expected.length === 0 ? calls : callsOfAll(wrong)),
    details: {
      per_tool: Object.fromEntries(counted.map(({ expected: { name }, met }) => [name, met ? 1 : 0])),
      counts: counted.map(({ expected: one, calls: own, met }): JsonObject => ({
        tool: one.name,
        count: own.length,
        expected: rangeText(one),
        met,
      })),
    },
  };
}

function* callsOfAll(counted: readonly Counted[]): Generator<PlacedCall> {
  for (const { calls } of counted) yield* calls;
}

/** The calls that a name, or an id of a tool or a call, stands for. One pass over the calls serves all names. */
function callsByTool(calls: readonly PlacedCall[]): (tool: string) => readonly PlacedCall[] {
  const callsNamed = byToolName(calls, ({ call }) => call.name);
  const byId = new Map<string, PlacedCall[]>();
  const remember = (id: string | undefined, placed: PlacedCall): void => {
    const own = id === undefined ? undefined : byId.get(id);
    if (own !== undefined) own.push(placed);
    else if (id !== undefined) byId.set(id, [placed]);
  };
  for (const placed of calls) {
    const { toolId, id } = placed.call;
    remember(toolId, placed);
    if (id !== toolId) remember(id, placed);
  }
  return (tool) => {
    const named = callsNamed(tool);
    const known = byId.get(tool) ?? [];
    return known.length === 0 ? named : [...new Set([...named, ...known])].sort((one, other) => one.index - other.index);
  };
}

function noneExpected(calls: readonly PlacedCall[]): string {
  return calls.length === 0
    ? 'No tool call was expected and none was made.'
    : `No tool call was expected, yet ${count(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made.`;
}

function explained(counted: readonly Counted[], wrong: readonly Counted[]): string {
  if (wrong.length === 0)
    return counted.length === 1
      ? 'The tool was called as often as expected.'
      : `All ${counted.length} tools were called as often as expected.`;
  const culprits = wrong.map(
    ({ expected, calls }) => `${expected.name} was called ${count(calls.length, 'time')} instead of ${rangeText(expected)}`,
  );
  return `${wrong.length} of ${count(counted.length, 'tool')} ${wrong.length === 1 ? 'was' : 'were'} not called as often as expected: ${listed(culprits)}.`;
}
