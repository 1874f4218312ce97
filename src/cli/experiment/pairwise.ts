/** Asks a judge which of two experiments has the better answers, within a budget. */
import { randomBytes } from 'node:crypto';
import { finalText, inputText } from '../../../evaluators/judging/judge-input.ts';
import { criterionCharsMax } from '../../../evaluators/judging/pairwise.ts';
import { UsageError } from '../command.ts';
import { priceOfJudge } from '../judge/forecast.ts';
import { chosenJudge, replayJudges } from '../replay/judge-modes.ts';
import type { ExperimentWithResults } from '../../analytics/experiment-comparison.ts';
import { type PairwiseSummary, pairwiseSummary } from '../../analytics/pairwise.ts';
import type { Config } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { questionsForecast } from '../../judges/budget/question-cost.ts';
import {
  type AnswerPair,
  answerPair,
  judgedPairs,
  pairedResults,
  type PairwiseForecast,
  pairwiseForecast,
  pairwiseJudge,
  pairsMax,
} from '../../library/answer-pairs.ts';
import { givenTraces } from '../../library/given-traces.ts';
import type { ExperimentResult, ResultTexts } from '../../model/experiment.ts';
import type { Tenant } from '../../model/ids.ts';
import type { Store } from '../../model/store/store.ts';
import { clock } from '../../service/node-runtime.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

interface PairwiseSettings {
  readonly criterion: string;
  /** Default: the only judge of the configuration. */
  readonly judge: string | undefined;
  /** Without it nothing is asked. */
  readonly budgetUsd: number | undefined;
  /** Called before the judge is asked. */
  readonly onForecast: (forecast: PairwiseForecast) => void;
}

interface PairwiseWith {
  readonly config: Config;
  /** `undefined` when the configuration's store cannot be read by another process, or is not there. */
  readonly store: Store | undefined;
  readonly complain: (text: string) => void;
}

interface PairwiseEnd {
  readonly forecast: PairwiseForecast;
  /** `undefined`: nothing was asked. */
  readonly summary: PairwiseSummary | undefined;
  readonly spentUsd: number;
}

export async function comparedPairwise(
  [first, second]: readonly [ExperimentWithResults, ExperimentWithResults],
  settings: PairwiseSettings,
  { config, store, complain }: PairwiseWith,
): Promise<PairwiseEnd> {
  const judge = chosenJudge(config, settings.judge, '--pairwise');
  const configured = pairwiseJudge(settings.criterion);
  if (configured === undefined) throw new UsageError(`--pairwise takes a criterion in words, of at most ${criterionCharsMax} characters.`);
  const results = pairedResults(first.results, second.results);
  if (results.length > pairsMax)
    throw new UsageError(`--pairwise compares at most ${pairsMax} pairs of runs. These two have ${results.length}.`);
  const pairs: AnswerPair[] = [];
  for (const [one, other] of results) {
    const texts = [await textsOf(store, first.experiment.tenant, one), await textsOf(store, second.experiment.tenant, other)] as const;
    pairs.push(answerPair(one, texts));
  }
  const forecast = pairwiseForecast(pairs, configured, {
    name: judge.name,
    forecast: (questions) => questionsForecast(questions, priceOfJudge(config, judge.name)),
  });
  settings.onForecast(forecast);
  if (settings.budgetUsd === undefined) return { forecast, summary: undefined, spentUsd: 0 };
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const judges = await replayJudges({
    mode: 'ask',
    config: { ...config, judges: [judge] },
    store,
    budgetUsd: settings.budgetUsd,
    id: `pairwise:${randomBytes(12).toString('hex')}`,
    day: new Date(clock.nowMs()).toISOString().slice(0, 10),
    mayStore: (text) => redaction === undefined || redaction.text(text) === text,
    onFault: (error) =>
      complain(
        `The costs or answers of the judge could not be read or written: ${error instanceof Error ? error.message : 'unknown error'}`,
      ),
  });
  try {
    const judged = await judgedPairs(
      pairs,
      judge.concurrency,
      async ({ run, expected }) => await judges.ask(run, { configured, judge: judge.name, expected, probability: 1 }),
    );
    return { forecast, summary: pairwiseSummary(settings.criterion, judge.name, judged), spentUsd: await judges.spentUsd() };
  } finally {
    await judges.stop();
  }
}

/** Takes the texts from the result, or else from the stored run. */
async function textsOf(store: Store | undefined, tenant: Tenant, { texts, run }: ExperimentResult): Promise<ResultTexts | undefined> {
  if (texts !== undefined || run === undefined) return texts;
  const content = (await store?.run({ tenant, ...run }))?.content;
  if (content === undefined) return undefined;
  const [given] = givenTraces('a stored run', content);
  if (given === undefined) return undefined;
  const [input, response] = [inputText(given.trace), finalText(given.trace)];
  return input.trim() === '' || response.trim() === '' ? undefined : { input, response };
}
