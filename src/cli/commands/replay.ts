/** `tracejury replay`: scores stored runs again under another configuration, and writes the new verdicts when it is asked to. */
import { setPriority } from 'node:os';
import { type CommandProgram, type CommandInput, numberOption, textOption, textOptions, UsageError, type ExitCode } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { judgeModes, type JudgeMode } from '../replay/judge-modes.ts';
import { replay, type ReplaySettings } from '../replay/replay.ts';
import type { ReplayReport } from '../replay/report.ts';
import { replayJson } from '../replay/report-json.ts';
import { replayMarkdown } from '../replay/report-markdown.ts';
import { replayText } from '../replay/report-text.ts';
import { examplesDefault } from '../replay/tally.ts';
import { parseRunFilter, parseTime } from '../run-filter.ts';
import { runConditionNames } from '../../model/store/run-filter.ts';

const filesMax = 1_000;
const runsMax = 1_000_000_000;
const examplesMax = 1_000;
const rateMax = 1_000_000;
const usdMax = 1_000_000;
/** The service and its agents get the processor first. */
const modestPriority = 10;

const formats: { readonly [name: string]: (report: ReplayReport) => string } = {
  text: replayText,
  json: replayJson,
  markdown: replayMarkdown,
};

export const replayRuns: CommandProgram = {
  examples: [
    { does: 'Shows what a new configuration would change on the runs of a week:', line: 'tracejury replay -c new.yaml --since 7d' },
    {
      does: 'Looks only at runs that failed, and exits with 1 when an evaluator is worse:',
      line: "tracejury replay -c new.yaml --where 'agent=support verdict=fail' --fail-on-regression",
    },
    { does: 'Asks the judges, for at most two US dollars:', line: 'tracejury replay -c new.yaml --judges ask --budget 2 --limit 500' },
    { does: 'Writes the new verdicts at no more than 50 runs a second:', line: 'tracejury replay -c new.yaml --write --rate 50' },
    { does: 'Compares two configurations on recorded spans:', line: 'tracejury replay runs.jsonl -c new.yaml --against old.yaml' },
  ],
  options: {
    config: configOption('scores under this configuration; its store.url names the store'),
    against: { type: 'string', value: 'FILE', summary: 'compares with this configuration instead of the stored verdicts' },
    since: { type: 'string', value: 'TIME', summary: 'takes runs that started at or after this time, such as 7d or 2026-01-31' },
    until: { type: 'string', value: 'TIME', summary: 'takes runs that started before this time (default: now)' },
    where: {
      type: 'string',
      multiple: true,
      value: 'FILTER',
      summary: `takes runs that match KEY=VALUE conditions with the keys ${runConditionNames.join(', ')}; may be repeated`,
    },
    limit: { type: 'string', value: 'NUMBER', summary: 'takes at most this many runs, newest first' },
    judges: {
      type: 'string',
      value: 'cached|ask|skip',
      summary: 'takes changed verdicts of judges from cached answers (default), asks the judges, or leaves them out',
    },
    budget: { type: 'string', value: 'USD', summary: 'bounds what --judges ask spends' },
    anew: { type: 'boolean', summary: 'scores evaluators that did not change too, for changed tools, dialects or another release' },
    redacted: { type: 'boolean', summary: 'scores redacted spans too, whose texts may differ from those that were scored' },
    format: formatOption('writes the report as text (default), json or markdown', 'text|json|markdown'),
    examples: { type: 'string', value: 'NUMBER', summary: `shows this many examples of each change (default: ${examplesDefault})` },
    'fail-on-regression': { type: 'boolean', summary: 'exits with 1 when an evaluator is significantly worse' },
    write: { type: 'boolean', summary: 'makes the new verdicts revisions of the stored ones, and exports them again' },
    'no-export': { type: 'boolean', summary: 'writes without sending the revisions to backends' },
    resume: { type: 'boolean', summary: 'continues an interrupted --write of the same configuration and filters' },
    rate: { type: 'string', value: 'NUMBER', summary: 'takes at most this many runs a second' },
  },
  positionalsMax: filesMax,
  async run(input) {
    const settings = settingsOf(input);
    const format = textOption(input, 'format') ?? 'text';
    const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
    if (write === undefined) throw new UsageError(`--format takes one of ${Object.keys(formats).join(', ')}.`);
    // Another caller than the program itself shares its process.
    if (input.env === process.env) beModest();
    const report = await replay(settings, input);
    if (report === undefined) return 2;
    input.say(write(report));
    return exitCode(report, input);
  },
};

function exitCode({ results }: ReplayReport, { options }: CommandInput): ExitCode {
  return options['fail-on-regression'] === true && results.isWorse ? 1 : 0;
}

/** Threads that start later have the same priority. */
function beModest(): void {
  try {
    setPriority(modestPriority);
  } catch {
    // The replay competes with the service on equal terms.
  }
}

function settingsOf(input: CommandInput): ReplaySettings {
  const { options, positionals } = input;
  const config = textOption(input, 'config');
  if (config === undefined) throw new UsageError('Name the new configuration with -c.');
  const judges = judgeMode(textOption(input, 'judges') ?? 'cached');
  const budgetUsd = numberOption(input, 'budget', usdMax);
  if (budgetUsd !== undefined && judges !== 'ask') throw new UsageError('--budget bounds what judges cost, so it goes with --judges ask.');
  const [since, until] = (['since', 'until'] as const).map((name) => textOption(input, name));
  const nowMs = Date.now();
  const isWrite = options['write'] === true;
  for (const name of ['resume', 'no-export'] as const)
    if (options[name] === true && !isWrite) throw new UsageError(`--${name} goes with --write.`);
  if (isWrite && positionals.length > 0) throw new UsageError('--write revises stored runs, and files hold none. Leave out the files.');
  const against = textOption(input, 'against');
  if (isWrite && against !== undefined)
    throw new UsageError('--write revises stored verdicts, and --against compares with a configuration. Use one of them.');
  return {
    files: positionals,
    config,
    against,
    filter: {
      ...parseRunFilter(textOptions(input, 'where')),
      ...(since === undefined ? {} : { from: parseTime(since, 'since', nowMs) }),
      ...(until === undefined ? {} : { to: parseTime(until, 'until', nowMs) }),
    },
    filterTexts: [...textOptions(input, 'where'), `since ${since ?? ''}`, `until ${until ?? ''}`],
    limit: wholeOption(input, 'limit', runsMax) ?? Number.MAX_SAFE_INTEGER,
    judges,
    budgetUsd,
    isAnew: options['anew'] === true,
    takesRedacted: options['redacted'] === true,
    examplesMax: wholeOption(input, 'examples', examplesMax) ?? examplesDefault,
    rate: numberOption(input, 'rate', rateMax),
    write: isWrite ? { exports: options['no-export'] !== true, resume: options['resume'] === true } : undefined,
    nowMs,
  };
}

function judgeMode(text: string): JudgeMode {
  const mode = judgeModes.find((one) => one === text);
  if (mode === undefined) throw new UsageError(`--judges takes ${judgeModes.join(', ')}, and not ${JSON.stringify(text.slice(0, 60))}.`);
  return mode;
}

function wholeOption(input: CommandInput, name: string, most: number): number | undefined {
  const value = numberOption(input, name, most);
  if (value !== undefined && !Number.isInteger(value)) throw new UsageError(`--${name} takes a whole number.`);
  return value;
}
