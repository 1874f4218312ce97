/**
 * The tools returned the expected outputs. Calls that never ran are left out. Extra calls never cost anything, order plays no part,
 * and one call satisfies one expectation.
 */
import type { ExpectedToolOutput } from '../src/model/expectation.ts';
import { plainText } from '../src/model/json.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, cutShort, evidenceOf, executedCalls, noExpectation, notCarried, resultsUnknown, tooLarge } from './calls.ts';
import type { PlacedCall } from './calls.ts';
import type { EvaluationContext, RuleEvaluator, Subject } from './evaluator.ts';
import { equalTools, toolRows } from './expected-calls.ts';
import { outputEqual } from './matching/outputs.ts';
import { heaviestPairing, maximumPairing } from './matching/pairing.ts';
import type { Pair } from './matching/sequences.ts';
import { similarity } from './matching/similarity.ts';
import { normalizeToolNamesSchema, underNormalizedNames } from './normalized-names.ts';
import { callName, count, listed, quoted } from './wording.ts';

export interface ToolCallOutputOptions {
  readonly mode: 'exact' | 'similarity';
  readonly strict: boolean;
  readonly normalizeToolNames: boolean;
}

export const toolCallOutput = {
  kind: 'rule',
  id: 'tool_call_output',
  version: 2,
  summary: 'The tools returned the expected outputs.',
  needs: ['tool_calls', 'tool_results', 'expected_tool_outputs'],
  onByDefault: false,
  defaultThreshold: null,
  defaults: { mode: 'exact', strict: false, normalizeToolNames: false },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      mode: { enum: ['exact', 'similarity'], description: 'exact: an output is equal or not. similarity: the share of the expected leaves that are found.' },
      strict: { type: 'boolean', description: 'All or nothing: the first call of the tool that is still free must return the output.' },
      normalize_tool_names: normalizeToolNamesSchema,
    },
  },
  expectationSchema: {
    type: 'object',
    required: ['tool_outputs'],
    properties: {
      tool_outputs: {
        type: 'array',
        maxItems: 1000,
        description: 'The outputs, in any order.',
        items: { type: 'object', additionalProperties: false, required: ['name', 'output'], properties: { name: { type: 'string', minLength: 1 }, output: {}, tool_id: { type: ['string', 'null'] } } },
      },
    },
  },
  source: 'UiPath ToolCallOutputEvaluator, comparing values instead of texts',
  evaluate: (subject, options, context) => underNormalizedNames(subject, options.normalizeToolNames, (named) => evaluate(named, options, context)),
} as const satisfies RuleEvaluator<ToolCallOutputOptions>;

interface Matched {
  readonly pairs: readonly Pair[];
  readonly score: number;
  readonly details: JsonObject;
}

function evaluate({ trace, expected }: Subject, options: ToolCallOutputOptions, context: EvaluationContext): Outcome {
  const wanted = expected.toolOutputs;
  if (wanted === undefined) return noExpectation('tool outputs');
  const stop = notCarried(trace) ?? tooLarge(trace, context, wanted.length);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  const candidates = calls.filter(({ call }) => wanted.some((output) => equalTools(output, call)));
  if (candidates.length > 0 && candidates.every(({ call }) => call.result === undefined && call.error === undefined)) {
    return resultsUnknown(candidates, 'The spans carry no results of the expected tools; switch on the capture of tool outputs.');
  }
  const matched = options.strict ? strictly(wanted, calls) : freely(wanted, calls, options);
  // What is left of a cut output may be the beginning of the expected one.
  if (matched.score < 1 && candidates.some(({ call }) => call.truncated?.result !== undefined)) return cutShort('results of the expected tools');
  return verdict(wanted, calls, matched);
}

function freely(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[], options: ToolCallOutputOptions): Matched {
  if (wanted.length === 0) return { pairs: [], score: calls.length === 0 ? 1 : 0, details: {} };
  const rowOf = toolRows(calls, equalTools);
  const rows = wanted.map(rowOf);
  const weight = (e: number, a: number): number => (rows[e]?.[a] === 1 ? weightOf(wanted[e], calls[a], options) : 0);
  if (options.mode === 'exact') {
    const pairs = maximumPairing(wanted.length, calls.length, (e, a) => weight(e, a) === 1);
    return { pairs, score: pairs.length / wanted.length, details: {} };
  }
  const { pairs, method } = heaviestPairing(wanted.length, calls.length, weight);
  const total = pairs.reduce((sum, pair) => sum + weight(pair.expected, pair.actual), 0);
  return { pairs, score: total / wanted.length, details: { matching: method } };
}

function weightOf(output: ExpectedToolOutput | undefined, placed: PlacedCall | undefined, options: ToolCallOutputOptions): number {
  if (output === undefined || placed === undefined) return 0;
  if (outputEqual(output.output, placed.call.result)) return 1;
  return options.mode === 'exact' ? 0 : similarity(output.output, placed.call.result);
}

/** Stops at the first breach, as the original does; a later call of the tool does not make up for it. */
function strictly(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[]): Matched {
  const used = new Set<number>();
  const pairs: Pair[] = [];
  for (const [e, output] of wanted.entries()) {
    const a = calls.findIndex(({ call }, at) => !used.has(at) && equalTools(output, call));
    const placed = calls[a];
    if (placed === undefined || !outputEqual(output.output, placed.call.result)) return { pairs, score: 0, details: { breach: { index: e, tool: output.name } } };
    used.add(a);
    pairs.push({ expected: e, actual: a });
  }
  return { pairs, score: wanted.length === 0 && calls.length > 0 ? 0 : 1, details: {} };
}

function verdict(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[], { pairs, score, details }: Matched): Outcome {
  const partner = new Map(pairs.map((pair) => [pair.expected, calls[pair.actual]]));
  const taken = new Set(pairs.map((pair) => pair.actual));
  const missing = wanted.flatMap((output, index) => (partner.has(index) ? [] : [{ index, output, nearest: calls.find(({ call }, at) => !taken.has(at) && equalTools(output, call)) }]));
  return {
    kind: 'scored',
    score,
    explanation: explained(wanted, calls, score, missing),
    evidence: evidenceOf(missing.flatMap(({ nearest }) => (nearest === undefined ? [] : [nearest]))),
    details: {
      matched: pairs.length,
      expected: wanted.length,
      ...details,
      pairs: pairs.flatMap(({ expected, actual }) => (calls[actual] === undefined ? [] : [{ expected_index: expected, ...callDetails(calls[actual]) }])),
      unmatched: missing.map((one) => ({ expected_index: one.index, tool: one.output.name, reason: reasonOf(one.nearest), ...(one.nearest === undefined ? {} : { nearest: callDetails(one.nearest) }) })),
    },
  };
}

function reasonOf(nearest: PlacedCall | undefined): 'not_called' | 'call_failed' | 'output_differs' {
  if (nearest === undefined) return 'not_called';
  return nearest.call.error === undefined ? 'output_differs' : 'call_failed';
}

interface Missing {
  readonly output: ExpectedToolOutput;
  readonly nearest: PlacedCall | undefined;
}

function explained(wanted: readonly ExpectedToolOutput[], calls: readonly PlacedCall[], score: number, missing: readonly Missing[]): string {
  if (score === 1) return wanted.length === 0 ? 'No tool output was expected and no tool ran.' : `The ${count(wanted.length, 'expected tool output')} ${wanted.length === 1 ? 'was' : 'were'} returned.`;
  if (wanted.length === 0) return `No tool output was expected, yet ${count(calls.length, 'tool')} ran.`;
  if (missing.length === 0) return 'The expected tool outputs were returned in part only.';
  return `${missing.length} of ${count(wanted.length, 'expected tool output')} ${missing.length === 1 ? 'was' : 'were'} not returned: ${listed(missing.map(inWords), '; ')}.`;
}

function inWords({ output, nearest }: Missing): string {
  const wanted = quoted(plainText(output.output));
  if (nearest === undefined) return `${output.name} did not return ${wanted} (no call of it is left)`;
  if (nearest.call.error !== undefined) return `${callName(nearest)} failed instead of returning ${wanted}`;
  return `${callName(nearest)} returned ${quoted(plainText(nearest.call.result ?? ''))} instead of ${wanted}`;
}
