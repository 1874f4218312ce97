/**
 * Sources of the values in the arguments of tool calls. A rule searches the texts; a judge decides about values that the search does not
 * find.
 */
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  cutShort,
  evidenceOf,
  notCarried,
  noToolCalls,
  namedIn,
  partOf,
  shareOfCalls,
  placedCalls,
  skipped,
  hasArguments,
  noInput,
  tooLarge,
  type PlacedCall,
  onEmpty,
} from './evidence/calls.ts';
import { lacksSources, tracedCalls, type Traced } from './evidence/provenance.ts';
import { callName, count, listed, quoted, someOf } from './explain/explanation.ts';
import { rule, texts, judge, flag } from './configuration/define.ts';
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { verdictListSchema, explanationOf, isYes, judgeFailed, listIn, verdictsFault, verdictsOn } from './judging/verdict-forms.ts';
import type { Question } from './evaluator.ts';
import { blocksOf, callsText, notAsked } from './judging/judge-input.ts';

/**
 * The values in the arguments of each call occur in the input, the system prompt or an earlier result. Other values may be made up or
 * derived.
 */
export const argumentProvenance = rule({
  id: 'argument_provenance',
  version: 2,
  summary: 'The argument values of the tool calls come from the input or from earlier results.',
  needs: ['tool_calls', 'input'],
  defaultThreshold: null,
  options: {
    ignore_tools: texts('Tools that are left out, such as ones that take a text of the model’s own.', { maxItems: 200 }),
  },
  source: 'the part of Dokimos ToolArgumentHallucinationEvaluator that needs no judge',
  evaluate({ trace }, { ignoreTools }) {
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    const calls = placedCalls(trace).filter(({ call }) => !ignoreTools.includes(call.name));
    if (calls.length === 0) return noToolCalls({ ...trace, toolCalls: [] });
    if (trace.input === undefined || trace.input.trim() === '')
      return skipped('no_input', 'The spans carry no input of the user, so the origin of arguments is unknown.');
    const traced = tracedCalls(trace, calls);
    if (traced === undefined)
      return skipped(
        'too_large',
        `The input and the results are too long to be searched for every argument, so that none of ${count(calls.length, 'tool call')} was looked at.`,
        { tool_calls: calls.length },
      );
    if (traced.length === 0) return argumentsUnknown(trace);
    if (traced.some(({ ungrounded }) => ungrounded.length > 0) && lacksSources(trace))
      return cutShort('the input or the results, where arguments come from,');
    const unsearched = traced.filter(({ ungrounded, isUnsearched }) => isUnsearched && ungrounded.length === 0);
    const searched = traced.filter((one) => !unsearched.includes(one));
    if (unsearched.length > 0 && searched.every(({ ungrounded }) => ungrounded.length === 0))
      return skipped(
        'too_large',
        `Values in the arguments of ${count(unsearched.length, 'tool call')} stand within words at more places of the input and the results than are looked at.`,
        { tool_calls: calls.length, ...namedIn('unsearched', unsearched, ({ placed }) => callDetails(placed)) },
      );
    return verdict(searched, { unknown: calls.length - traced.length, unsearched });
  },
});

function verdict(
  traced: readonly Traced[],
  { unknown, unsearched }: { readonly unknown: number; readonly unsearched: readonly Traced[] },
): Outcome {
  const suspects = traced.filter(({ ungrounded }) => ungrounded.length > 0);
  const places = traced.map((one) => ({ ...one.placed, traced: one }));
  return shareOfCalls(places, {
    failed: suspects.map(({ placed }) => placed),
    hasPassed: isGrounded,
    part: (one) =>
      partOf(one, isGrounded(one), isGrounded(one) ? 'Every argument value has a source.' : `${inWords(one.traced)} has no source.`),
    explanation:
      suspects.length === 0
        ? `The argument values of ${traced.length === 1 ? 'the tool call' : `all ${traced.length} tool calls`} come from the input or from earlier results.`
        : `${someOf(suspects, count(traced.length, 'tool call'), ['has arguments of unknown origin', 'have arguments of unknown origin'], inWords)}.${unsearched.length === 0 ? '' : ` ${count(unsearched.length, 'call')} could not be searched to the end.`}`,
    details: {
      grounded: traced.length - suspects.length,
      total: traced.length,
      ...(unknown === 0 ? {} : { arguments_not_carried: unknown }),
      ...namedIn('ungrounded', suspects, suspectDetails),
      ...(unsearched.length === 0 ? {} : namedIn('unsearched', unsearched, ({ placed }) => callDetails(placed))),
    },
  });
}

function isGrounded({ traced }: { readonly traced: Traced }): boolean {
  return traced.ungrounded.length === 0;
}

function inWords({ placed, ungrounded }: Traced): string {
  return `${callName(placed)}: ${listed(ungrounded.map(({ path, value }) => `${path === '' ? '' : `${path} `}${quoted(value)}`))}`;
}

/** Values per call that the details name. */
const valuesMax = 20;

function suspectDetails({ placed, values, ungrounded }: Traced): JsonObject {
  return { ...callDetails(placed), values, ungrounded: ungrounded.length, paths: ungrounded.slice(0, valuesMax).map(({ path }) => path) };
}

/**
 * A judge finds that the arguments of the tool calls follow from the input or from earlier results. Calls whose values occur there
 * literally need no judge; one question covers the others.
 */
export const toolArgumentHallucination = judge({
  id: 'tool_argument_hallucination',
  mappable: false,
  summary: 'A judge finds the arguments of the tool calls grounded in the input or in earlier results.',
  needs: ['tool_calls', 'input'],
  defaultThreshold: 0.8,
  options: {
    precheck: flag(
      'Calls without arguments, and calls whose values stand literally in the input or in earlier results, are grounded without asking.',
      true,
    ),
    on_empty: onEmpty,
  },
  source: 'Dokimos ToolArgumentHallucinationEvaluator, with verdicts by call and only the doubtful calls asked about',
  *evaluate({ trace }, options, context) {
    const stop = notCarried(trace) ?? tooLarge(trace, context);
    if (stop !== undefined) return stop;
    const calls = placedCalls(trace);
    if (calls.length === 0)
      return options.onEmpty === 'skip' ? noToolCalls(trace) : toolArgumentHallucinationVerdict([], { judge_called: false });
    if (trace.input === undefined || trace.input.trim() === '') return noInput(notAsked);
    const carried = calls.filter(hasArguments);
    if (carried.length === 0) return argumentsUnknown(trace, undefined, notAsked);
    const plain = options.precheck ? literallyGrounded(trace, carried) : new Set<number>();
    const doubtful = carried.filter(({ index }) => !plain.has(index));
    const clear = carried
      .filter(({ index }) => plain.has(index))
      .map((placed): Judged => ({ placed, grounded: true, explanation: 'every value comes from the input or from an earlier result' }));
    if (doubtful.length === 0) return toolArgumentHallucinationVerdict(clear, { judge_called: false, asked: 0 });
    if (lacksSources(trace)) return cutShort('the input or the results, where arguments come from,', notAsked);
    const numbers = doubtful.map(({ index }) => index + 1);
    const { question, truncated } = questionOf(trace, trace.input, numbers);
    const answer = yield question;
    if (answer.kind === 'failed') return judgeFailed(answer.error);
    const entries = listIn(answer.value, 'calls');
    if (entries === undefined) return judgeFailed('the answer lists no calls');
    const verdicts = verdictsOn(numbers, entries);
    const judged = doubtful.map((placed, at): Judged => ({
      placed,
      grounded: isYes(verdicts[at], 'grounded'),
      explanation: explanationOf(verdicts[at]),
    }));
    return toolArgumentHallucinationVerdict(
      [...clear, ...judged].toSorted((one, other) => one.placed.index - other.placed.index),
      { judge_called: true, asked: doubtful.length, ...(truncated || answer.truncated ? { truncated: true } : {}) },
    );
  },
});

const instruction =
  'An AI agent has worked on the user input with tool calls. A call is grounded when every argument value follows from the user input, from the system prompt or from the results of earlier calls; a value that the agent made up is not. Sensible defaults and values derived by plain reasoning are grounded. Judge the calls with these numbers and no others, each in exactly one entry, first with one sentence of explanation:';

const answerSchema = verdictListSchema('calls', {
  number: { type: 'integer' },
  explanation: { type: 'string' },
  grounded: { type: 'boolean' },
});

interface Judged {
  readonly placed: PlacedCall;
  readonly grounded: boolean;
  readonly explanation: string;
}

/** Empty when the run is too large to search; the judge then decides about every call. */
function literallyGrounded(trace: AgentTrace, calls: readonly PlacedCall[]): ReadonlySet<number> {
  return new Set(
    (tracedCalls(trace, calls) ?? [])
      .filter(({ ungrounded, isUnsearched }) => ungrounded.length === 0 && !isUnsearched)
      .map(({ placed }) => placed.index),
  );
}

function questionOf(
  trace: AgentTrace,
  input: string,
  numbers: readonly number[],
): { readonly question: Question; readonly truncated: boolean } {
  const { data, truncated } = blocksOf({ 'system prompt': trace.systemPrompt, 'user input': input, 'tool calls': callsText(trace) });
  return {
    question: {
      id: 'judge',
      instruction: `${instruction} ${numbers.join(', ')}.`,
      data,
      answerSchema,
      check: (answer) => faultOf(answer, numbers),
    },
    truncated,
  };
}

function faultOf(answer: JsonValue, numbers: readonly number[]): string | undefined {
  const entries = listIn(answer, 'calls');
  return entries === undefined ? 'calls is not a list' : verdictsFault(numbers, entries, 'call');
}

function toolArgumentHallucinationVerdict(
  judged: readonly Judged[],
  about: { readonly judge_called: boolean; readonly asked?: number; readonly truncated?: boolean },
): Outcome {
  const made = judged.filter(({ grounded }) => !grounded);
  const grounded = judged.length - made.length;
  const culprit = ({ placed, explanation }: Judged): string => `${callName(placed)} (${explanation})`;
  return {
    kind: 'scored',
    score: judged.length === 0 ? 1 : grounded / judged.length,
    explanation:
      judged.length === 0
        ? 'No tool was called.'
        : made.length === 0
          ? `The arguments of ${judged.length === 1 ? 'the tool call' : `all ${judged.length} tool calls`} are grounded.`
          : `${someOf(made, count(judged.length, 'tool call'), ['has arguments without ground', 'have arguments without ground'], culprit)}.`,
    evidence: evidenceOf(made.map(({ placed }) => placed)),
    parts: judged.map((one) => partOf(one.placed, one.grounded, `${callName(one.placed)}: ${one.explanation}.`)),
    details: {
      ...about,
      grounded,
      total: judged.length,
      ungrounded: made.map(({ placed, explanation }) => ({ ...callDetails(placed), explanation })),
    },
  };
}
