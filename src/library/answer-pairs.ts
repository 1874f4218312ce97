/** Pairs of answers to one input, and a judge's preferences between them. The command line and the library are its hosts. */
import { configuredEvaluator, type ConfiguredJudge } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Question } from '../../evaluators/evaluator.ts';
import { type PairLabel, pairLabels, pairwise } from '../../evaluators/judging/pairwise.ts';
import { agentTrace } from './agent-trace.ts';
import { runOfTrace } from './given-traces.ts';
import type { JudgedPair } from '../analytics/pairwise.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Expectation } from '../model/expectation.ts';
import type { ResultTexts } from '../model/experiment.ts';
import type { AskEnd } from '../pipeline/jury/judge-driver.ts';
import { withinBudget } from '../runtime/within-budget.ts';

/** Pairs are in memory with their texts. */
export const pairsMax = 10_000;

/** `undefined` for a criterion that is blank or too long. */
export function pairwiseJudge(criterion: string): ConfiguredJudge | undefined {
  const configured = configuredEvaluator({ use: pairwise.id, options: { criterion } }, [pairwise]);
  return configured.kind === 'faulty' || configured.evaluator.kind !== 'judge' ? undefined : configured.evaluator;
}

interface Side {
  readonly exampleId: string;
  readonly repeat: number;
}

/** The runs of an example in the order of their numbers. A run without a counterpart is left out. */
export function pairedResults<Result extends Side>(
  first: readonly Result[],
  second: readonly Result[],
): readonly (readonly [Result, Result])[] {
  const inOrder = (results: readonly Result[]): ReadonlyMap<string, readonly Result[]> =>
    Map.groupBy(
      results.toSorted((one, other) => one.repeat - other.repeat),
      ({ exampleId }) => exampleId,
    );
  const others = inOrder(second);
  return [...inOrder(first)].flatMap(([id, own]) =>
    own.flatMap((one, at) => {
      const other = others.get(id)?.[at];
      return other === undefined ? [] : [[one, other] as const];
    }),
  );
}

export interface AskedPair {
  /** The run of B. */
  readonly run: Run;
  /** The answer of A as the expected output. */
  readonly expected: Expectation;
}

export interface AnswerPair extends Side {
  /** `undefined` when an answer is missing. */
  readonly asked: AskedPair | undefined;
}

export function answerPair({ exampleId, repeat }: Side, [a, b]: readonly [ResultTexts | undefined, ResultTexts | undefined]): AnswerPair {
  if (a === undefined || b === undefined) return { exampleId, repeat, asked: undefined };
  const trace = agentTrace({ input: b.input, finalResponse: b.response });
  return { exampleId, repeat, asked: { run: runOfTrace(trace, undefined), expected: { output: a.response } } };
}

/** Estimates. */
export interface QuestionsCost {
  readonly questions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `undefined` without a price. */
  readonly usd: number | undefined;
}

export interface PairwiseForecast extends QuestionsCost {
  readonly judge: string;
  readonly pairs: number;
  /** Pairs without the texts of both sides. */
  readonly withoutText: number;
}

export function pairwiseForecast(
  pairs: readonly AnswerPair[],
  configured: ConfiguredJudge,
  judge: { readonly name: string; readonly forecast: (questions: Iterable<Question>) => QuestionsCost },
): PairwiseForecast {
  return {
    judge: judge.name,
    pairs: pairs.length,
    withoutText: pairs.filter(({ asked }) => asked === undefined).length,
    ...judge.forecast(questionsOf(pairs, configured)),
  };
}

/** Each pair has the same question in both orders; equal answers have none. */
function* questionsOf(pairs: readonly AnswerPair[], configured: ConfiguredJudge): Generator<Question> {
  const context = evaluationContext();
  for (const { asked } of pairs) {
    if (asked === undefined) continue;
    const { done, value } = configured.judge(asked.run.trace, asked.expected, context, asked.run).next();
    if (done !== true && value.kind !== 'call' && value.kind !== 'embed') yield* [value, value];
  }
}

type Told = Pick<JudgedPair, 'outcome' | 'explanation'>;

export async function judgedPairs(
  pairs: readonly AnswerPair[],
  places: number,
  ask: (pair: AskedPair) => Promise<AskEnd>,
): Promise<readonly JudgedPair[]> {
  const told = await withinBudget(pairs, places, async ({ asked }) => {
    const found = asked === undefined ? noText : outcomeOf(await ask(asked));
    return found.outcome === 'not_asked' ? undefined : found;
  });
  return pairs.map((pair) => ({ exampleId: pair.exampleId, repeat: pair.repeat, ...(told.get(pair) ?? notAsked) }));
}

const noText: Told = { outcome: 'no_text', explanation: 'A run has no stored input or final response.' };
const notAsked: Told = { outcome: 'not_asked', explanation: 'A budget had no room for the question.' };

function outcomeOf(end: AskEnd): Told {
  if (end.kind === 'over_budget') return notAsked;
  if (end.kind !== 'judged') return { outcome: 'failed', explanation: end.reason };
  const { verdict } = end;
  if (verdict.kind !== 'scored') return { outcome: 'failed', explanation: verdict.kind === 'failed' ? verdict.error : verdict.explanation };
  const label: PairLabel | undefined = pairLabels.find((one) => one === verdict.label);
  return label === undefined ? { outcome: 'failed', explanation: 'unknown label' } : { outcome: label, explanation: verdict.explanation };
}
