/**
 * The question which of two answers to one input is better by a criterion. The judge is asked in both orders, because judges favour a place.
 * The answer of the run is B; `expected.output` is A.
 */
import { plainText } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { expecting, judge, required } from '../configuration/define.ts';
import type { Answer, Question } from '../evaluator.ts';
import { briefExplanation } from '../explain/explanation.ts';
import { finalText, inputText, judgeInput, judgeInputBlocks, notAsked, truncatedDetail } from './judge-input.ts';
import { type Judged, keptExplanation, labelSchema, type Labelled, readLabel, strictly } from './verdict-forms.ts';

const places = ['first', 'second', 'tie'] as const;
type Place = (typeof places)[number];

/** `first` and `second`: the two orders disagree, and the judge leans to the answer in this place. */
export const pairLabels = ['a', 'b', 'tie', 'first', 'second'] as const;
export type PairLabel = (typeof pairLabels)[number];

export const criterionCharsMax = 4_000;

export const pairwise = judge({
  id: 'pairwise',
  summary: 'Which of two answers to the same input is better by a criterion?',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options: { criterion: required({ type: 'string', minLength: 1, maxLength: criterionCharsMax, pattern: '\\S' }, '') },
  expectationSchema: expecting({ output: { description: 'The other answer.' } }, 'output'),
  source: 'own',
  evaluate: ({ trace, expected: { output = '' } }, { criterion }) =>
    pairOutcome(criterion, { input: inputText(trace), a: plainText(output), b: finalText(trace) }),
});

interface AnswerPair {
  readonly input: string;
  readonly a: string;
  readonly b: string;
}

/** The score is that of B: 1 when both orders prefer it, 0.5 for a tie. Equal answers are a tie without a question. */
function* pairOutcome(criterion: string, { input, a, b }: AnswerPair): Generator<Question, Outcome, Answer> {
  if (a.trim() === b.trim())
    return { kind: 'scored', score: 0.5, label: 'tie', explanation: 'Both answers are the same.', evidence: [], details: notAsked };
  const ahead = yield* asked(criterion, { input, first: a, second: b }, 'a_first');
  if (ahead.kind === 'failed') return ahead.outcome;
  const behind = yield* asked(criterion, { input, first: b, second: a }, 'b_first');
  if (behind.kind === 'failed') return behind.outcome;
  const [one, other] = [ahead.value.label as Place, behind.value.label as Place];
  const label = pairLabel(one, other);
  return {
    kind: 'scored',
    score: label === 'a' ? 0 : label === 'b' ? 1 : 0.5,
    label,
    explanation: explanationOf(label, briefExplanation(ahead.value.explanation)),
    evidence: [],
    details: {
      judge_called: true,
      a_first: one,
      b_first: other,
      explanations: [keptExplanation(ahead.value.explanation), keptExplanation(behind.value.explanation)],
      ...truncatedDetail(ahead.truncated, behind.truncated),
    },
  };
}

function pairLabel(aFirst: Place, bFirst: Place): PairLabel {
  if (aFirst === bFirst) return aFirst;
  if (aFirst === 'tie' || bFirst === 'tie') return aFirst === 'tie' ? bFirst : aFirst;
  return aFirst === 'first' ? 'a' : 'b';
}

function explanationOf(label: PairLabel, said: string): string {
  if (label === 'tie') return `Neither is better: ${said}.`;
  if (label === 'a' || label === 'b') return `${label.toUpperCase()} is better: ${said}.`;
  return `The two orders disagree: the judge leans to the answer in the ${label} place.`;
}

function* asked(
  criterion: string,
  { input, first, second }: { readonly input: string; readonly first: string; readonly second: string },
  order: string,
): Generator<Question, Judged<Labelled>, Answer> {
  const { data, truncated } = judgeInputBlocks([
    judgeInput('user input', input),
    judgeInput('first answer', first),
    judgeInput('second answer', second),
  ]);
  const judged = yield* strictly(
    { id: `pairwise_${order}`, instruction: instructionOf(criterion), data, answerSchema: labelSchema(places) },
    (answer) => readLabel(answer, places),
  );
  return judged.kind === 'failed' ? judged : { ...judged, truncated: truncated || judged.truncated };
}

function instructionOf(criterion: string): string {
  return `Two AI agents have answered the same user input. Compare their answers by this criterion only:\n${criterion}\n\nNeither the order of the answers nor their length counts by itself. First explain in one or two sentences, then give the label: first or second for the better answer, tie when neither is better.`;
}
