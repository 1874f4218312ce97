/** Asks a judge which of two reports of an experiment has the better answers, within a budget. */
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Question } from '../../evaluators/evaluator.ts';
import { criterionCharsMax } from '../../evaluators/judging/pairwise.ts';
import {
  answerPair,
  judgedPairs,
  pairedResults,
  pairsMax,
  type PairwiseForecast,
  pairwiseForecast,
  pairwiseJudge,
  type QuestionsCost,
} from './answer-pairs.ts';
import { questionsMax, type UsableJudge } from './evaluate.ts';
import type { ExampleResult, Report } from './report.ts';
import { type PairwiseSummary, pairwiseSummary } from '../analytics/pairwise.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import { askOf, runJudge } from '../pipeline/jury/judge-driver.ts';
import { textsOf } from '../pipeline/reporting/experiment-result.ts';

/** A judge that names the cost of questions before they are asked, and keeps within a sum, as `openAiCompatibleJudge` does. */
export interface BudgetedJudge {
  readonly name: string;
  forecast(questions: Iterable<Question>): QuestionsCost;
  /** A question for which the sum has no room fails with an error that begins with `over_budget:`. */
  within(usd: number): UsableJudge & { spentUsd(): Promise<number> };
}

export interface PairwiseOptions {
  /** The report of the version to compare with. */
  readonly a: Pick<Report, 'examples'>;
  readonly b: Pick<Report, 'examples'>;
  /** The question in words, as `Which answer is friendlier?` */
  readonly criterion: string;
  readonly judge: BudgetedJudge;
  /** Limit of what the comparison may spend, in US dollars. Without it nothing is asked. */
  readonly budgetUsd?: number | undefined;
  /** Pairs in progress at the same time. Default: 4. */
  readonly concurrency?: number | undefined;
  /** Called before the judge is asked. An error ends the comparison. */
  readonly onForecast?: ((forecast: PairwiseForecast) => unknown) | undefined;
}

export interface PairwiseComparison {
  readonly forecast: PairwiseForecast;
  /** `undefined`: nothing was asked. */
  readonly summary: PairwiseSummary | undefined;
  readonly spentUsd: number;
  /** Examples that only one of the reports has. */
  readonly unpaired: number;
}

const concurrencyDefault = 4;

/**
 * Asks in both orders which of two answers to an input is better. Rejects for wrong options. A fault of the judge leaves out its pair.
 */
export async function comparePairwise(options: PairwiseOptions): Promise<PairwiseComparison> {
  const { a, b, criterion, judge, budgetUsd, concurrency = concurrencyDefault, onForecast } = options;
  const faults = faultsOf(options);
  const configured = typeof criterion === 'string' ? pairwiseJudge(criterion) : undefined;
  if (configured === undefined) faults.push(`criterion must be words, of at most ${criterionCharsMax} characters.`);
  if (faults.length > 0 || configured === undefined) throw new TypeError(`comparePairwise: ${faults.join(' ')}`);
  const sides = pairedResults(a.examples.map(sideOf), b.examples.map(sideOf));
  if (sides.length > pairsMax) throw new TypeError(`comparePairwise: at most ${pairsMax} pairs; these reports have ${sides.length}.`);
  for (const [one, other] of sides)
    if (one.given !== other.given)
      throw new TypeError(
        `comparePairwise: example ${one.exampleId} has another input in b than in a. Give the examples ids that stay with their inputs.`,
      );
  const pairs = sides.map(([one, other]) => answerPair(one, [one.texts, other.texts]));
  const forecast = pairwiseForecast(pairs, configured, judge);
  const unpaired = a.examples.length + b.examples.length - 2 * sides.length;
  await onForecast?.(forecast);
  if (budgetUsd === undefined) return { forecast, summary: undefined, spentUsd: 0, unpaired };
  const bounded = judge.within(budgetUsd);
  const context = evaluationContext();
  const judged = await judgedPairs(pairs, concurrency, async ({ run, expected }) => {
    let isOver = false;
    const ask = askOf({
      async ask(question) {
        const answer = await bounded.ask(question);
        isOver ||= answer.kind === 'failed' && answer.error.startsWith('over_budget:');
        return answer;
      },
    });
    const verdict = await runJudge(configured.judge(run.trace, expected, context, run), ask, { questionsMax, threshold: null });
    return isOver ? { kind: 'over_budget', reason: 'budget_usd' } : { kind: 'judged', verdict };
  });
  return { forecast, summary: pairwiseSummary(criterion, judge.name, judged), spentUsd: await bounded.spentUsd(), unpaired };
}

/** A library experiment runs each example once. */
function sideOf({ id, input, trace }: ExampleResult) {
  const given = typeof input === 'string' ? input : textOf(input);
  return { exampleId: id, repeat: 1, given, ...(trace === undefined ? {} : textsOf(trace, given)) };
}

/** An input may be any value of the program, such as one that contains itself. */
function textOf(input: unknown): string {
  try {
    return jsonText(input as JsonValue, { sortKeys: true });
  } catch {
    return '';
  }
}

function faultsOf({ a, b, judge, budgetUsd, concurrency = 1 }: PairwiseOptions): string[] {
  const isReport = (report: unknown): boolean => Array.isArray((report as Partial<Report> | null | undefined)?.examples);
  const { name, forecast, within }: Partial<BudgetedJudge> = judge ?? {};
  return [
    ...(isReport(a) && isReport(b) ? [] : ['a and b must be reports, as experiment(…).run() resolves with.']),
    ...(typeof name === 'string' && typeof forecast === 'function' && typeof within === 'function'
      ? []
      : [
          'judge must name costs and keep a budget, as openAiCompatibleJudge({ model, price }) of tracejury/judges does: it has name, forecast and within.',
        ]),
    ...(budgetUsd === undefined || (typeof budgetUsd === 'number' && budgetUsd > 0) ? [] : ['budgetUsd must be a number above 0.']),
    ...(Number.isInteger(concurrency) && concurrency >= 1 ? [] : ['concurrency must be a whole number from 1 on.']),
  ];
}

export type { PairwiseForecast } from './answer-pairs.ts';
export type { JudgedPair, PairOutcome, PairwiseSummary } from '../analytics/pairwise.ts';
