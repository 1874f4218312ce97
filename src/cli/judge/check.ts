/** `tracejury judge check`: compares judges with labels of people, or two configurations with each other. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { type LabelledRun, labelledRuns } from '../../analytics/corrected-rate.ts';
import { agreementOf, type JudgeAgreement } from '../../analytics/judge-agreement.ts';
import { type CommandInput, type ExitCode, UsageError } from '../command.ts';
import { readInputs } from '../eval/inputs.ts';
import { type EvalItem, type EvalResult, type MatchedItem, scored } from '../eval/scoring.ts';
import { inputOf, readBodies } from '../inspect/recording.ts';
import { type Label, labelsOn, readLabelFiles, readLabels } from './labels.ts';
import { progressBar } from '../terminal.ts';
import { oneLine } from '../../model/one-line.ts';
import type { Config } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { readConfig } from '../../config/load.ts';
import type { Environment } from '../../config/document.ts';
import type { Run } from '../../model/agent-trace.ts';
import { type JsonObject, jsonText } from '../../model/json.ts';
import type { AnnotatedRun } from '../../model/store/annotation-store.ts';
import { panelModel } from '../../pipeline/jury/jury-panel.ts';
import { judgePool } from '../../service/judge-pool.ts';
import { compareJudges, type JudgeComparison } from '../../statistics/comparison.ts';
import type { Estimate, NotEstimable } from '../../statistics/estimate.ts';
import { verdictWord } from '../../model/verdict.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { estimate } from '../../web/api/estimate-json.ts';
import { judgeFigures } from '../../web/api/judges.ts';

const stopMs = 1_000;

interface CheckSettings {
  readonly files: readonly string[];
  readonly config: string;
  readonly against: string | undefined;
  readonly labels: readonly string[];
  readonly evaluator: string | undefined;
  readonly format: 'text' | 'json';
  readonly timeoutMs: number | undefined;
}

export async function checkJudges(settings: CheckSettings, { env, say, complain }: CommandInput): Promise<ExitCode> {
  const [first, second] = [
    await side(settings.config, settings, env),
    settings.against === undefined ? undefined : await side(settings.against, settings, env),
  ];
  const bodies = await readBodies(settings.files, process.stdin);
  const labels = [...readLabels(bodies), ...readLabelFiles(await readBodies(settings.labels, process.stdin))];
  const { items, rejections } = readInputs(bodies.map(inputOf), { reading: first.config, take: (item) => item });
  for (const { where, reason, count } of rejections) complain(`${where}: ${count} left out (${reason})`);
  const labelled = items.map((item) => ({ item, labels: labelsOn(item, labels) })).filter((one) => one.labels.length > 0);
  if (labelled.length === 0) {
    complain(
      labels.length === 0
        ? 'No run has a label: add passed, label or labels to runs, or name a file with --labels.'
        : 'No label matches a run: check the ids.',
    );
    return 2;
  }
  if (first.checked.length > 1 && labelled.some((one) => one.labels.some(({ name }) => name === undefined)))
    throw new UsageError(`Some labels name no evaluator: choose one of ${names(first)} with --evaluator.`);
  const own = await judged(first, labelled, settings);
  const other = second === undefined ? undefined : await judged(second, labelled, settings);
  const report: CheckReport = {
    runs: labelled.length,
    against: settings.against,
    results: own.flatMap((result) => {
      if (result.labelled === 0) return [];
      const compared = other?.find(({ name }) => name === result.name);
      return [{ result, ...(compared === undefined ? {} : { other: compared, comparison: comparison(result.rows, compared.rows) }) }];
    }),
  };
  say(settings.format === 'json' ? checkJson(report) : checkText(report));
  if (report.results.every(({ result }) => result.agreement === undefined)) {
    complain('There is nothing to compare: no judge gave a usable answer, or no evaluator has a threshold.');
    return 1;
  }
  return report.results.some(({ comparison: result }) => result?.kind === 'estimated' && result.word === 'worse') ? 1 : 0;
}

interface Side {
  readonly config: Config;
  readonly plan: Config['evaluators'];
  readonly checked: readonly Checked[];
}

/** The evaluators of a configuration with a judge, or the named one. */
async function side(file: string, { evaluator }: CheckSettings, env: Environment): Promise<Side> {
  const { config } = await readConfig({ file, env, evaluators });
  const plan = config.evaluators
    .filter(({ configured }) =>
      evaluator === undefined ? configured.kind === 'judge' : configured.name === evaluator && configured.kind !== 'rule',
    )
    .map(({ when: _when, ...planned }) => planned);
  const checked = plan.map(({ configured, judge = '', panel }) => ({
    name: configured.name,
    evaluator: configured.evaluator.id,
    version: configured.evaluator.version,
    model: panel === undefined ? modelOf(config, judge) : panelModel(panel, (name) => modelOf(config, name)),
  }));
  if (plan.length === 0)
    throw new UsageError(
      evaluator === undefined
        ? `${file} has no evaluator with a judge.`
        : `${file} has no evaluator ${JSON.stringify(evaluator)} with a judge.`,
    );
  return { config, plan, checked };
}

function modelOf({ judges }: Config, judge: string): string | undefined {
  return judges.find(({ name }) => name === judge)?.model;
}

function names({ checked }: Side): string {
  return checked.map(({ name }) => name).join(', ');
}

/** Asks the judges of one configuration about the labelled runs. */
async function judged(
  { config, plan, checked }: Side,
  labelled: readonly { readonly item: EvalItem; readonly labels: readonly Label[] }[],
  { timeoutMs }: CheckSettings,
): Promise<readonly CheckResult[]> {
  const pool = judgePool(config.judges, noTelemetry);
  const bar = progressBar(process.stderr, labelled.length);
  const items: readonly MatchedItem[] = labelled.map(({ item }) => ({ ...item, example: undefined }));
  const options = {
    plan,
    context: evaluationContext(),
    clock: { nowMs: () => performance.now() },
    ask: pool.ask,
    timeoutMs,
    failFast: false,
    redaction: configuredRedaction(config.redact, noTelemetry),
    onDone: bar.show,
  };
  const results: readonly EvalResult[] = await scored(items, options);
  bar.end();
  await pool.executor.stop(stopMs);
  await pool.stop();
  // Results have the order of the items; a redacted run is another object.
  const byRun = new Map(results.map(({ item }, at) => [item.run, labelled[at]?.labels ?? []]));
  return checked.map((one) => checkResult(one, results, byRun));
}

/** A checked evaluator. */
interface Checked {
  readonly name: string;
  readonly evaluator: string;
  readonly version: number;
  readonly model: string | undefined;
}

export interface CheckResult {
  readonly name: string;
  /** Runs with a label. */
  readonly labelled: number;
  /** Labelled runs without a pass or fail of the judge. */
  readonly unanswered: number;
  /** `undefined` when there is nothing to compare. */
  readonly agreement: JudgeAgreement | undefined;
  readonly rows: readonly AnnotatedRun[];
}

function checkResult(checked: Checked, results: readonly EvalResult[], labels: ReadonlyMap<Run, readonly Label[]>): CheckResult {
  const rows = results.flatMap(({ item, verdicts }) => {
    const found = verdicts.find(({ name }) => name === checked.name);
    const own = (labels.get(item.run) ?? []).filter(({ name }) => name === undefined || name === checked.name);
    return own.map(({ by, passed, label, score }): AnnotatedRun => ({
      tenant: item.run.tenant,
      traceId: item.run.traceId,
      spanId: item.run.spanId,
      // The labelled runs are the whole that the figures speak of.
      annotation: { name: checked.name, by, kind: 'human', label, score, passed, explanation: '', at: 0, probability: 1 },
      verdict:
        found === undefined
          ? undefined
          : {
              ...checked,
              kind: 'judge',
              word: verdictWord(found.verdict),
              label: found.verdict.kind === 'scored' ? found.verdict.label : '',
              sampleProbability: 1,
            },
    }));
  });
  return checkResultOf(checked.name, rows);
}

/** The figures of labels with the verdicts of one judge. */
export function checkResultOf(name: string, rows: readonly AnnotatedRun[]): CheckResult {
  const { runs } = labelledRuns(rows);
  const [agreement] = agreementOf(rows).judges;
  return {
    name,
    labelled: runs.length,
    unanswered: runs.filter(({ verdict }) => verdict?.word !== 'pass' && verdict?.word !== 'fail').length,
    agreement,
    rows,
  };
}

/** `better` means that the checked configuration is better. Omits runs without a verdict of both. */
function comparison(checked: readonly AnnotatedRun[], against: readonly AnnotatedRun[]): JudgeComparison | NotEstimable {
  const others = new Map(labelledRuns(against).runs.map((run) => [run.key, run]));
  const items = labelledRuns(checked).runs.flatMap((run) => {
    const [own, other] = [isRight(run), isRight(others.get(run.key))];
    return own === undefined || other === undefined ? [] : [{ firstRight: other, secondRight: own }];
  });
  return compareJudges(items);
}

function isRight(run: LabelledRun | undefined): boolean | undefined {
  const word = run?.verdict?.word;
  return run?.passed === undefined || (word !== 'pass' && word !== 'fail') ? undefined : run.passed === (word === 'pass');
}

interface CheckReport {
  /** Runs with a label. */
  readonly runs: number;
  readonly against: string | undefined;
  readonly results: readonly {
    readonly result: CheckResult;
    readonly other?: CheckResult;
    readonly comparison?: JudgeComparison | NotEstimable;
  }[];
}

type Compared = CheckReport['results'][number];

const nameChars = 80;

export function checkText({ runs, against, results }: CheckReport): string {
  return [
    `${runs} labelled ${runs === 1 ? 'run' : 'runs'}`,
    ...results.flatMap((one) => ['', ...resultLines(one.result), ...comparedLines(one, against)]),
  ].join('\n');
}

export function resultLines({ name, labelled, unanswered, agreement }: CheckResult): readonly string[] {
  const title = `${oneLine(name, nameChars)}${agreement === undefined ? '' : ` (${oneLine(agreement.model ?? agreement.evaluator, nameChars)}, version ${agreement.version})`}`;
  const counts = `  ${labelled} labelled, ${unanswered} without a verdict that passes or fails`;
  if (agreement === undefined) return [title, counts];
  const { truePositive, falsePositive, falseNegative, trueNegative } = agreement.confusion;
  return [
    title,
    counts,
    `  both pass ${trueNegative}, both fail ${truePositive}, missed ${falseNegative}, false alarms ${falsePositive}`,
    `  accuracy   ${estimateText(agreement.rates.accuracy)}`,
    `  precision  ${estimateText(agreement.rates.precision, 'of what it fails')}`,
    `  recall     ${estimateText(agreement.rates.recall, 'of what people fail')}`,
    `  kappa      ${estimateText(agreement.kappa)}`,
    '  These figures hold for other runs only if the labelled runs were drawn from them at random.',
  ];
}

function comparedLines({ other, comparison }: Compared, against: string | undefined): readonly string[] {
  if (other === undefined || comparison === undefined) return [];
  const accuracy = other.agreement?.rates.accuracy;
  const before =
    accuracy === undefined
      ? ''
      : accuracy.kind === 'not_estimable'
        ? ', whose accuracy cannot be estimated'
        : `, whose accuracy is ${estimateText(accuracy)}`;
  const head = `  against ${oneLine(against ?? '', nameChars)}${before}:`;
  if (comparison.kind === 'not_estimable') return [head, `    ${comparison.explanation}`];
  const { word, difference, counts, midP } = comparison;
  return [
    head,
    `    ${word.replaceAll('_', ' ')}: ${estimateText(difference, 'in accuracy')}, p = ${midP.toFixed(3)}; only this one right ${counts.onlySecond}, only the other ${counts.onlyFirst}`,
  ];
}

/** `of` names the whole of the share. */
export function estimateText(value: Estimate | NotEstimable, of = ''): string {
  if (value.kind === 'not_estimable') return `cannot be estimated: ${value.explanation}`;
  return `${value.point.toFixed(3)} (${value.low.toFixed(3)} to ${value.high.toFixed(3)})${of === '' ? '' : ` ${of}`}`;
}

function checkJson({ runs, results }: CheckReport): string {
  return jsonText({
    runs,
    evaluators: results.map(({ result, other, comparison }) => ({
      ...resultJson(result),
      against: other === undefined ? null : resultJson(other),
      comparison: comparison === undefined ? null : comparisonJson(comparison),
    })),
  });
}

export function resultJson({ name, labelled, unanswered, agreement }: CheckResult): JsonObject {
  return { name, labelled, unanswered, agreement: agreement === undefined ? null : judgeFigures.write(agreement) };
}

function comparisonJson(comparison: JudgeComparison | NotEstimable): JsonObject {
  if (comparison.kind === 'not_estimable')
    return { word: null, difference: estimate.write(comparison), p: null, only_this_right: null, only_other_right: null };
  const { word, difference, counts, midP } = comparison;
  return { word, difference: estimate.write(difference), p: midP, only_this_right: counts.onlySecond, only_other_right: counts.onlyFirst };
}
