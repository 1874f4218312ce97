/**
 * The tools returned the expected outputs. Calls that never ran are left out. Extra calls never cost anything, order plays no part,
 * and one call satisfies one expectation.
 */
import type { ExpectedToolOutput } from '../src/model/expectation.ts';
import { plainText, type JsonObject, type JsonValue } from '../src/model/json.ts';
import type { Outcome, PartVerdict } from '../src/model/verdict.ts';
import {
  callDetails,
  cutShort,
  evidenceOf,
  executedCalls,
  noExpectation,
  notCarried,
  partOf,
  resultsUnknown,
  tooManyPairs,
  type PlacedCall,
} from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { equalTools, partneredOf, toolRows } from './matching/expected-calls.ts';
import { outputEqual } from './matching/texts.ts';
import { heaviestPairing, maximumPairing, type Pair } from './matching/pairing.ts';
import { similarity } from './matching/similarity.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, quoted, someOf } from './explain/explanation.ts';
import { rule, flag, choice, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  mode: choice(['exact', 'similarity'], 'exact: an output is equal or not. similarity: the share of the expected leaves that are found.'),
  strict: flag(
    'All or nothing: the first call of the tool that is still free must return the output. Nothing is compared after the first breach.',
  ),
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCallOutput = rule({
  id: 'tool_call_output',
  version: 4,
  summary: 'The tools returned the expected outputs.',
  needs: ['tool_calls', 'tool_results', 'expected_tool_outputs'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting(
    {
      tool_outputs: {
        type: 'array',
        maxItems: 1000,
        description: 'The outputs, in any order. The name is the one of the tool, its id or the id of a call.',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'output'],
          properties: { name: { type: 'string', minLength: 1 }, output: {}, tool_id: { type: ['string', 'null'] } },
        },
      },
    },
    'tool_outputs',
  ),
  switchedOnBy: { tool_outputs: {} },
  source: 'UiPath ToolCallOutputEvaluator, comparing values instead of texts',
  evaluate: underNormalizedNames(evaluate),
});

/** An expected output and the call compared with it. */
interface Compared {
  readonly index: number;
  readonly output: ExpectedToolOutput;
  /** `undefined` when no call of the tool is left. */
  readonly placed: PlacedCall | undefined;
  /** Share of the output that the call returned, from 0 to 1. */
  readonly score: number;
}

interface Matched {
  /** In order of the expectation; with `strict`, up to the first mismatch. */
  readonly compared: readonly Compared[];
  readonly score: number;
  readonly details: JsonObject;
}

function evaluate({ trace, expected }: Subject, options: Options, context: EvaluationContext): Outcome {
  const wanted = expected.toolOutputs;
  if (wanted === undefined) return noExpectation('tool outputs');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, wanted.length);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  const candidates = calls.filter(({ call }) => wanted.some((output) => equalTools(output, call)));
  if (candidates.length > 0 && candidates.every(({ call }) => call.result === undefined && call.error === undefined)) {
    return resultsUnknown(candidates, 'The spans carry no results of the expected tools; switch on the capture of tool outputs.');
  }
  const matched = options.strict ? strictly(wanted, calls) : freely(wanted, calls, options);
  const short = options.strict
    ? matched.compared.flatMap(({ placed, score }) => (placed === undefined || score === 1 ? [] : [placed]))
    : candidates;
  // The rest of a truncated output may begin the expected one.
  if (matched.score < 1 && short.some(({ call }) => call.truncated?.result !== undefined)) return cutShort('results of the expected tools');
  return verdict(wanted, calls, matched, options);
}

function freely(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[], options: Options): Matched {
  if (wanted.length === 0) return { compared: [], score: calls.length === 0 ? 1 : 0, details: {} };
  const rowOf = toolRows(calls, equalTools);
  const rows = wanted.map(rowOf);
  const weight = (e: number, a: number): number => (rows[e]?.[a] === 1 ? weightOf(wanted[e], calls[a], options) : 0);
  const { pairs, method } =
    options.mode === 'exact'
      ? { pairs: maximumPairing(wanted.length, calls.length, (e, a) => weight(e, a) === 1), method: undefined }
      : heaviestPairing(wanted.length, calls.length, weight);
  const { expected: done, actual: taken } = partneredOf(pairs);
  // With one side used up there is nothing left to pair.
  const others =
    pairs.length === Math.min(wanted.length, calls.length)
      ? []
      : maximumPairing(wanted.length, calls.length, (e, a) => !done.has(e) && !taken.has(a) && rows[e]?.[a] === 1);
  const partner = new Map([...pairs, ...others].map((pair: Pair) => [pair.expected, pair.actual]));
  const compared = wanted.map((output, index): Compared => {
    const at = partner.get(index);
    return { index, output, placed: at === undefined ? undefined : calls[at], score: at === undefined ? 0 : weight(index, at) };
  });
  const total = compared.reduce((sum, { score }) => sum + score, 0);
  return { compared, score: total / wanted.length, details: method === undefined ? {} : { matching: method } };
}

function weightOf(output: ExpectedToolOutput | undefined, placed: PlacedCall | undefined, options: Options): number {
  if (output === undefined || placed === undefined) return 0;
  if (outputEqual(output.output, placed.call.result)) return 1;
  return options.mode === 'exact' ? 0 : similarity(output.output, placed.call.result);
}

/** Stops at the first mismatch, as the original does, without looking at later calls. */
function strictly(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[]): Matched {
  const used = new Set<number>();
  const compared: Compared[] = [];
  for (const [index, output] of wanted.entries()) {
    const at = calls.findIndex(({ call }, a) => !used.has(a) && equalTools(output, call));
    const placed = calls[at];
    const score = placed !== undefined && outputEqual(output.output, placed.call.result) ? 1 : 0;
    compared.push({ index, output, placed, score });
    if (score === 0)
      return { compared, score: 0, details: { breach: { index, tool: output.name }, not_compared: wanted.length - compared.length } };
    used.add(at);
  }
  return { compared, score: wanted.length === 0 && calls.length > 0 ? 0 : 1, details: {} };
}

function verdict(
  wanted: readonly ExpectedToolOutput[],
  calls: readonly PlacedCall[],
  { compared, score, details }: Matched,
  options: Options,
): Outcome {
  const short = compared.filter((one) => one.score < 1);
  const missing = short.filter((one) => one.score === 0);
  return {
    kind: 'scored',
    score,
    explanation: explained(wanted, calls, { score, short, options }),
    evidence: evidenceOf(wanted.length === 0 ? calls : short.flatMap(({ placed }) => placed ?? [])),
    parts: compared.flatMap(part),
    details: {
      matched: compared.length - missing.length,
      expected: wanted.length,
      ...details,
      pairs: compared.flatMap((one) =>
        one.placed === undefined || one.score === 0
          ? []
          : [{ expected_index: one.index, ...callDetails(one.placed), ...valuesOf(one, one.placed) }],
      ),
      unmatched: missing.map((one) => ({
        expected_index: one.index,
        tool: one.output.name,
        reason: reasonOf(one.placed),
        ...(one.placed === undefined ? {} : { nearest: { ...callDetails(one.placed), ...valuesOf(one, one.placed) } }),
      })),
    },
  };
}

/** Limit of a value in the details. */
const excerptMax = 500;

function valuesOf({ output, score }: Compared, { call }: PlacedCall): JsonObject {
  return { score, expected: shortened(output.output), actual: shortened(call.result ?? '') };
}

function shortened(value: JsonValue): string {
  const text = plainText(value);
  return text.length <= excerptMax ? text : `${text.slice(0, excerptMax - 1)}…`;
}

function part(one: Compared): readonly PartVerdict[] {
  const { output, placed, score } = one;
  if (placed === undefined) return [];
  const says =
    score === 1
      ? `${callName(placed)} returned ${quoted(plainText(output.output))}, as expected.`
      : `${inWords(one)}${score === 0 ? '' : `, which agrees in part (${Math.round(score * 100) / 100})`}.`;
  return [{ ...partOf(placed, score === 1, says), score }];
}

function reasonOf(nearest: PlacedCall | undefined): 'not_called' | 'call_failed' | 'output_differs' {
  if (nearest === undefined) return 'not_called';
  return nearest.call.error === undefined ? 'output_differs' : 'call_failed';
}

function explained(
  wanted: readonly ExpectedToolOutput[],
  calls: readonly PlacedCall[],
  { score, short, options }: { readonly score: number; readonly short: readonly Compared[]; readonly options: Options },
): string {
  if (wanted.length === 0)
    return score === 1
      ? 'No tool output was expected and no tool ran.'
      : `No tool output was expected, yet ${count(calls.length, 'tool')} ran.`;
  const [breach] = short;
  if (breach === undefined) return `The ${count(wanted.length, 'expected tool output')} ${wanted.length === 1 ? 'was' : 'were'} returned.`;
  if (options.strict && wanted.length > 1)
    return `Output ${breach.index + 1} of ${wanted.length} was not returned, and strict stops there: ${inWords(breach)}.`;
  const wrong = short.filter((one) => one.score === 0);
  const total = count(wanted.length, 'expected tool output');
  return wrong.length === 0
    ? `${someOf(short, total, ['was returned in part only', 'were returned in part only'], inWords)}.`
    : `${someOf(wrong, total, ['was not returned', 'were not returned'], inWords)}.`;
}

function inWords({ output, placed }: Compared): string {
  const wanted = quoted(plainText(output.output));
  if (placed === undefined) return `${output.name} did not return ${wanted} (no call of it is left)`;
  if (placed.call.error !== undefined) return `${callName(placed)} failed instead of returning ${wanted}`;
  return `${callName(placed)} returned ${quoted(plainText(placed.call.result ?? ''))} instead of ${wanted}`;
}
