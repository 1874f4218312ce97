/** `tracejury eval`: scores recorded runs offline, with gates for a pull request. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import type { ConfigFault } from '../../config/diagnostic.ts';
import type { JudgePool } from '../../service/judge-pool.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import {
  UsageError,
  type CommandProgram,
  type CommandInput,
  type ExitCode,
  textOption,
  textOptions,
  numberOption,
  writeOutput,
} from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { namedDataset } from '../eval/named-dataset.ts';
import {
  type EvalReport,
  type Gate,
  gateResults,
  hasPassed,
  parseGate,
  runErrorLine,
  runErrorsOf,
  tableText,
  talliesOf,
  unaskedEvaluators,
  type Unscored,
  unscoredOf,
  withoutVerdicts,
} from '../eval/report.ts';
import { readInputs } from '../eval/inputs.ts';
import { type EvalOutcome, matcherOf, redactedNames, sampledItems, scored, taskResults } from '../eval/scoring.ts';
import { begun } from '../eval/rule-scoring.ts';
import { htmlReport } from '../eval/html.ts';
import { junitXml } from '../eval/junit.ts';
import { markdownText } from '../eval/markdown.ts';
import { progressBar } from '../terminal.ts';
import { reportJson } from '../eval/report-json.ts';
import { covered, coverageReader, refuseFaultyExpectations, unverified } from '../eval/expectations.ts';
import { faultBlocks } from '../input-faults.ts';
import { openInputs } from '../inspect/recording.ts';
import { oneLine } from '../../model/one-line.ts';

const inputsMax = 1_000;
const stopMs = 1_000;
const timeoutSecondsMax = 86_400;

const formats: { readonly [name: string]: (report: EvalReport) => string } = {
  table: tableText,
  json: reportJson,
  markdown: markdownText,
  junit: junitXml,
  html: htmlReport,
};

export const evaluate: CommandProgram = {
  examples: [
    { does: 'Scores every run of a file with the default rules:', line: 'tracejury eval runs.jsonl' },
    { does: 'Compares runs with the expectations of a dataset:', line: 'tracejury eval runs.jsonl --dataset dataset.yaml' },
    {
      does: 'Gates a pull request, with a report for the CI system:',
      line: 'tracejury eval runs.jsonl --fail-under tool_error=0.95 --format junit',
    },
    { does: 'Reads standard input and lists each run:', line: 'cat spans.json | tracejury eval - --verbose' },
  ],
  options: {
    config: configOption('uses the evaluators and judges of this configuration (default: the rules that are on by default)'),
    dataset: {
      type: 'string',
      value: 'FILE|NAME[@VERSION]',
      summary: 'reads examples with expectations from this file in YAML, JSON or JSON lines, or from this dataset of the store',
    },
    format: formatOption('writes the report as table (default), json, markdown, junit or html'),
    output: { type: 'string', value: 'FILE', summary: 'writes the report to this file (default: standard output)' },
    'fail-under': {
      type: 'string',
      multiple: true,
      value: 'NAME=SHARE',
      summary: 'fails when a smaller share of an evaluator passes, as in tool_error=0.95; may be repeated',
    },
    sample: { type: 'string', value: 'PERCENT', summary: 'scores this share of the traces, always the same ones' },
    'fail-fast': { type: 'boolean', summary: 'stops after the run with the first failed verdict' },
    timeout: { type: 'string', value: 'SECONDS', summary: 'waits at most this long for one verdict of a judge' },
    'allow-run-errors': { type: 'boolean', summary: 'passes even when runs ended in an error' },
    'allow-unscored': { type: 'boolean', summary: 'passes even when nothing was scored, or an expectation or an evaluator has no score' },
    verbose: { type: 'boolean', summary: 'lists every run with all its verdicts in the table, not only failing runs' },
  },
  positionalsMax: inputsMax,
  run: async (input) => await evaluated(input, settingsOf(input)),
};

interface Settings {
  readonly configFile: string | undefined;
  readonly dataset: string | undefined;
  readonly format: (report: EvalReport) => string;
  readonly output: string | undefined;
  readonly gates: readonly string[];
  readonly percent: number;
  readonly failFast: boolean;
  readonly timeoutMs: number | undefined;
  readonly allowUnscored: boolean;
  readonly allowRunErrors: boolean;
  readonly verbose: boolean;
}

function settingsOf(input: CommandInput): Settings {
  const { options, positionals } = input;
  if (positionals.length === 0) throw new UsageError('Name files or folders of recorded runs, or - for standard input.');
  const format = textOption(input, 'format') ?? 'table';
  const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (write === undefined) throw new UsageError(`--format takes one of ${Object.keys(formats).join(', ')}.`);
  const timeout = numberOption(input, 'timeout', timeoutSecondsMax);
  return {
    configFile: textOption(input, 'config'),
    dataset: textOption(input, 'dataset'),
    format: write,
    output: textOption(input, 'output'),
    gates: textOptions(input, 'fail-under'),
    percent: numberOption(input, 'sample', 100) ?? 100,
    failFast: options['fail-fast'] === true,
    timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
    allowUnscored: options['allow-unscored'] === true,
    allowRunErrors: options['allow-run-errors'] === true,
    verbose: options['verbose'] === true,
  };
}

async function evaluated({ positionals, env, program, say, complain }: CommandInput, settings: Settings): Promise<ExitCode> {
  const { config, evaluators: members, shared, warnings } = await readConfig({ file: settings.configFile, env, evaluators });
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const judges = config.judges.map(({ name }) => name);
  const own = { members, shared, plan: config.evaluators, judges };
  const examples = await namedDataset(settings.dataset, own, { address: config.store.address, complain });
  const matcher = matcherOf(examples);
  const coverage = coverageReader({ plan: config.evaluators, members, judges });
  const scoring = {
    plan: config.evaluators,
    context: evaluationContext(),
    clock: { nowMs: () => performance.now() },
    timeoutMs: settings.timeoutMs,
    failFast: settings.failFast,
    redaction,
    comparing: config.groups,
  };
  const { items, rejections } = readInputs(await openInputs(positionals, process.stdin), {
    reading: config,
    taskKey: config.groups.taskKey,
    keyOptions: redaction === undefined ? {} : { redacted: redaction.text },
    take: (item) =>
      begun(item, {
        ...scoring,
        matcher,
        coverage,
        keepsTexts: settings.format === htmlReport,
        ask: undefined,
        onDone: () => undefined,
      }),
  });
  for (const { where, reason, count } of rejections) complain(`${where}: ${count} left out (${reason})`);
  if (items.length === 0) {
    complain(`No agent run was found. ${program} inspect ${positionals.length === 1 ? positionals[0] : 'FILE'} shows the spans.`);
    return 2;
  }
  refuseFaultyExpectations(items);
  const { items: withExamples, missing } = matcher.matched(items);
  const {
    items: planned,
    switchedOn,
    unchecked,
    warnings: uncompared,
  } = covered(
    withExamples,
    examples.filter(({ id }) => missing.includes(id)),
    { plan: config.evaluators, members, judges },
    coverage,
  );
  const plans: readonly (readonly PlannedEvaluator[])[] = [
    config.evaluators,
    ...planned.map(({ plan }) => plan),
    ...examples.map(({ plan }) => plan ?? []),
  ];
  const wholePlan = [...new Map([...new Set(plans)].flat().map((one) => [one.configured.name, one])).values()];
  const known = { on: wholePlan.map(({ configured }) => configured.name), all: members.map(({ id }) => id) };
  const gates: readonly Gate[] = settings.gates.map((gate) => parseGate(gate, known));
  if (unchecked.length > 0) {
    complain(uncheckedText(unchecked));
    return 2;
  }
  const chosen = settings.percent === 100 ? planned : sampledItems(planned, settings.percent);
  const bar = progressBar(process.stderr, chosen.length);
  const connectionCodes = new Map<string, string>();
  const pool = wholePlan.every(({ configured }) => configured.kind === 'rule')
    ? undefined
    : await openPool(config.judges, (judge, code) => connectionCodes.set(judge, code));
  const results = await scored(chosen, { ...scoring, ask: pool?.ask, onDone: bar.show });
  bar.end();
  await pool?.executor.stop(stopMs);
  await pool?.stop();
  const outcome: EvalOutcome = redactedNames(
    { results, runs: items.length, sampledOut: items.length - chosen.length, notBegun: chosen.length - results.length, missing },
    redaction,
  );
  const tallies = withoutVerdicts(
    talliesOf(outcome),
    outcome.results.flatMap(({ item }) => (item.plan ?? []).map(({ configured }) => configured.name)),
  );
  const open = unverified(outcome.results);
  const unscored = unscoredOf(outcome, { tallies, plan: wholePlan, judges: config.judges, connectionCodes });
  const held = gateResults(gates, tallies);
  const unasked = unaskedEvaluators(outcome);
  const passed = hasPassed(outcome, held, { ...settings, unverified: open, unasked });
  const runErrors = settings.allowRunErrors ? [] : runErrorsOf(outcome.results);
  const report: EvalReport = {
    outcome,
    tallies,
    gates: held,
    tasks: taskResults(outcome.results),
    passed,
    switchedOn,
    unverified: open,
    nothingScored: unscored.nothing,
    warnings: [
      ...warnings.map(({ file, line, column, key, problem, todo }) => `${file}:${line}:${column} ${key}: ${problem}. ${todo}`),
      ...uncompared,
      ...unscored.warnings,
    ],
    verbose: settings.verbose,
  };
  if (settings.output === undefined) say(settings.format(report));
  else writeOutput('output', settings.output, settings.format(report));
  const complaint = complaintOf(unscored, { passed, unasked: gates.length === 0 ? unasked : [], program });
  for (const one of [complaint, runErrorsText(runErrors.map(runErrorLine))]) if (one !== undefined) complain(one);
  return passed ? 0 : 1;
}

/** Without a cache, so that several runs of one input show the variance of a judge. */
async function openPool(judges: Config['judges'], onNoConnection: (judge: string, code: string) => void): Promise<JudgePool> {
  const { judgePool } = await import('../../service/judge-pool.ts');
  return judgePool(
    judges.map((judge) => ({ ...judge, cacheMs: 0 })),
    noTelemetry,
    { onNoConnection },
  );
}

/** Why the report fails without a failed verdict. The log of a CI job shows it with any report format. */
function complaintOf(
  { nothing, isLacking }: Unscored,
  { passed, unasked, program }: { readonly passed: boolean; readonly unasked: readonly string[]; readonly program: string },
): string | undefined {
  if (nothing !== undefined)
    return `⚠ ${nothing}${isLacking ? ` ${program} inspect FILE shows the missing data.` : ''}${passed ? '' : ' --allow-unscored lets it pass.'}`;
  if (unasked.length === 0 || passed) return undefined;
  return `⚠ No run has a score of ${unasked.join(', ')}: its judge cannot be asked. --allow-unscored lets such runs pass.`;
}

const runErrorsMax = 3;
const runErrorChars = 300;

/** Why the report fails although gates may hold. */
export function runErrorsText(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined;
  const listed = lines.slice(0, runErrorsMax).map((line) => oneLine(line, runErrorChars));
  const more = lines.length > runErrorsMax ? `; and ${lines.length - runErrorsMax} more` : '';
  return `⚠ ${lines.length} ${lines.length === 1 ? 'run' : 'runs'} ended in an error (${listed.join('; ')}${more}). --allow-run-errors lets such runs pass.`;
}

const uncheckedMax = 20;

export function uncheckedText(unchecked: readonly ConfigFault[]): string {
  const more = unchecked.length > uncheckedMax ? [`… and ${unchecked.length - uncheckedMax} more`] : [];
  return [
    unchecked.length === 1 ? 'No evaluator checks 1 expectation:' : `No evaluator checks ${unchecked.length} expectations:`,
    ...faultBlocks(unchecked.slice(0, uncheckedMax)),
    ...more,
  ].join('\n\n');
}
