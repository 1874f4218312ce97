/** `tracejury judge check`: a labelled set of runs put before a judge, or before two. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { Environment } from '../../config/substitution.ts';
import { panelModel } from '../../pipeline/jury/jury-panel.ts';
import { judgePool } from '../../service/judge-pool.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { UsageError, type CommandInput, type ExitCode } from '../command.ts';
import { readInputs } from '../eval/inputs.ts';
import type { EvalItem, EvalResult, MatchedItem } from '../eval/item.ts';
import { progressBar } from '../eval/progress.ts';
import { scored } from '../eval/scoring.ts';
import { readBodies } from '../inspect/bodies.ts';
import { checkResult, comparison, labelsOn, type Checked, type CheckResult } from './judge-validation.ts';
import { checkJson, checkText, type CheckReport } from './check-report.ts';
import { readLabelFiles, readLabels, type Label } from './labels.ts';

const stopMs = 1_000;

export interface CheckSettings {
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
  const { items, rejections } = readInputs(bodies, first.config);
  for (const { where, reason, count } of rejections) complain(`${where}: ${count} left out (${reason})`);
  const labelled = items.map((item) => ({ item, labels: labelsOn(item, labels) })).filter((one) => one.labels.length > 0);
  if (labelled.length === 0) {
    complain(
      labels.length === 0
        ? 'No run has a label: give passed, label or labels with it, or a file with --labels.'
        : 'No label belongs to one of the runs: are the ids the same?',
    );
    return 2;
  }
  if (first.checked.length > 1 && labelled.some((one) => one.labels.some(({ name }) => name === undefined)))
    throw new UsageError(`Some labels name no evaluator: say with --evaluator which of ${names(first)} they are about.`);
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
    complain('Nothing could be compared: no judge gave a usable answer, or none passes or fails a run (it needs a threshold).');
    return 1;
  }
  return report.results.some(({ comparison: result }) => result?.kind === 'estimated' && result.word === 'worse') ? 1 : 0;
}

interface Side {
  readonly config: Config;
  readonly plan: Config['evaluators'];
  readonly checked: readonly Checked[];
}

/** The evaluators of a configuration that ask a judge, or the one that is named. */
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
        ? `${file} has no evaluator that asks a judge.`
        : `${file} has no evaluator ${JSON.stringify(evaluator)} that asks a judge.`,
    );
  return { config, plan, checked };
}

function modelOf({ judges }: Config, judge: string): string | undefined {
  return judges.find(({ name }) => name === judge)?.model;
}

function names({ checked }: Side): string {
  return checked.map(({ name }) => name).join(', ');
}

/** Puts the labelled runs before the judges of one configuration. */
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
  // In the order of the items; a run that was redacted is another object.
  const byRun = new Map(results.map(({ item }, at) => [item.run, labelled[at]?.labels ?? []]));
  return checked.map((one) => checkResult(one, results, byRun));
}
