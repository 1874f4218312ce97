/**
 * The arguments of the tool calls follow from the input or from the results of earlier calls, by the judgement of a model. Calls whose
 * values stand there literally need no judge; one question asks about the rest.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { verdictListSchema, explanationOf, isYes, judgeFailed, listIn, verdictsFault, verdictsOn } from './judging/numbered-verdicts.ts';
import {
  argumentsUnknown,
  callDetails,
  cutShort,
  evidenceOf,
  hasArguments,
  noInput,
  notCarried,
  noToolCalls,
  partOf,
  placedCalls,
  tooLarge,
  type PlacedCall,
  onEmpty,
} from './evidence/calls.ts';
import type { Question } from './evaluator.ts';
import { blocksOf } from './judging/judge-blocks.ts';
import { callsText } from './judging/judge-input.ts';
import { notAsked } from './judging/judge-evidence.ts';
import { lacksSources, tracedCalls } from './evidence/provenance.ts';
import { callName, count, listed } from './explain/explanation.ts';
import { judge } from './configuration/define.ts';
import { flag } from './configuration/option-table.ts';

export const toolArgumentHallucination = judge({
  id: 'tool_argument_hallucination',
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
    if (calls.length === 0) return options.onEmpty === 'skip' ? noToolCalls(trace) : verdict([], { judge_called: false });
    if (trace.input === undefined || trace.input.trim() === '') return noInput(notAsked);
    const carried = calls.filter(hasArguments);
    if (carried.length === 0) return argumentsUnknown(trace, undefined, notAsked);
    const plain = options.precheck ? literallyGrounded(trace, carried) : new Set<number>();
    const doubtful = carried.filter(({ index }) => !plain.has(index));
    const clear = carried
      .filter(({ index }) => plain.has(index))
      .map((placed): Judged => ({ placed, grounded: true, explanation: 'every value stands in the input or in an earlier result' }));
    if (doubtful.length === 0) return verdict(clear, { judge_called: false, asked: 0 });
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
    return verdict(
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

/** None where the run is too large to be searched: then the judge is asked about every call. */
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

function verdict(
  judged: readonly Judged[],
  about: { readonly judge_called: boolean; readonly asked?: number; readonly truncated?: boolean },
): Outcome {
  const made = judged.filter(({ grounded }) => !grounded);
  const grounded = judged.length - made.length;
  const culprits = made.map(({ placed, explanation }) => `${callName(placed)} (${explanation})`);
  return {
    kind: 'scored',
    score: judged.length === 0 ? 1 : grounded / judged.length,
    explanation:
      judged.length === 0
        ? 'No tool was called.'
        : made.length === 0
          ? `The arguments of ${judged.length === 1 ? 'the tool call' : `all ${judged.length} tool calls`} are grounded.`
          : `${made.length} of ${count(judged.length, 'tool call')} ${made.length === 1 ? 'has' : 'have'} arguments without ground: ${listed(culprits, '; ')}.`,
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
