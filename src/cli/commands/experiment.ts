/** `tracejury experiment`: runs an agent over a dataset, and shows what is stored of experiments. */
import {
  type CommandProgram,
  type CommandInput,
  type ExitCode,
  numberOption,
  textOption,
  textOptions,
  UsageError,
  writeOutput,
} from '../command.ts';
import { type Action, commandOfActions } from '../actions.ts';
import { configOption, formatOption, tenantOption } from '../common-options.ts';
import { experimentCompare } from '../experiment/compare.ts';
import { reportFormats, type Report, reportOf } from '../experiment/report.ts';
import { experimentRun, type RunSettings } from '../experiment/run.ts';
import { storedExperiment } from '../experiment/stored-experiments.ts';
import { withStore } from '../open-store.ts';
import { oneLine } from '../../model/one-line.ts';
import { storedExperiment as experimentResource } from '../../analytics/experiment-json.ts';
import { isExperimentId } from '../../model/experiment.ts';
import { tenant } from '../../model/ids.ts';
import { parseTimeText } from '../../model/timestamp.ts';
import { jsonText } from '../../model/json.ts';
import {
  allResults,
  deletedExperimentsMax,
  type ExperimentsToDelete,
  experimentsPageMax,
  type StoredExperiment,
} from '../../model/store/experiment-store.ts';
import type { Store } from '../../model/store/store.ts';
import { present } from '../../model/present.ts';

const wordsMax = 10_000;
const portMax = 65_535;
const repeatsMax = 1_000;
const concurrencyDefault = 4;
const concurrencyMax = 256;
const timeoutSecondsDefault = 300;
const timeoutSecondsMax = 86_400;
const nameCharsMax = 200;
const limitDefault = 20;

const experimentFormats = 'writes table (default), markdown or json';

const actions: readonly Action[] = [
  {
    name: 'run',
    usage: '--dataset NAME --name NAME [options] -- COMMAND [ARGUMENT]…',
    summary:
      'Starts the command once for each example, collects its spans, scores them, and stores the results. Exits with 1 when a gate fails, nothing was scored, or a run did not come to its end.',
    options: [
      'dataset',
      'name',
      'id',
      'config',
      'repeat',
      'concurrency',
      'timeout',
      'judge-timeout',
      'resume',
      'fail-under',
      'allow-run-errors',
      'url',
      'port',
      'pass-env',
      'format',
      'output',
      'tenant',
    ],
    summaries: { format: experimentFormats },
    examples: [
      { does: 'Runs an agent over a file:', line: 'tracejury experiment run --dataset dataset.yaml --name nightly -- python agent.py' },
      {
        does: 'Goes on after an interruption:',
        line: 'tracejury experiment run --dataset dataset.yaml --name nightly --resume -- python agent.py',
      },
      {
        does: 'Posts each input to a running agent:',
        line: 'tracejury experiment run --dataset refunds@3 --name nightly --url http://127.0.0.1:8000/ask --port 4318',
      },
    ],
    argumentsMax: wordsMax,
    run: async (input, command) => await experimentRun(input, runSettings(input, command)),
  },
  {
    name: 'compare',
    usage: 'A B [--fail-on-regression] [--pairwise CRITERION] [options]',
    summary:
      'Compares two experiments on the examples that both have: rates with intervals, differences with tests, and which examples changed. Exits with 1 when B is significantly worse.',
    options: ['fail-on-regression', 'pairwise', 'judge', 'budget', 'format', 'output', 'tenant', 'config'],
    summaries: { format: 'writes table (default), markdown, json, junit or html' },
    examples: [
      {
        does: 'Gates a pull request against the main branch:',
        line: 'tracejury experiment compare main.json branch.json --fail-on-regression',
      },
      { does: 'Writes a page to look at:', line: 'tracejury experiment compare main nightly --format html --output comparison.html' },
      {
        does: 'Asks a judge which answers are better, for at most one US dollar:',
        line: "tracejury experiment compare main nightly -c tracejury.yaml --pairwise 'Which answer helps the customer more?' --budget 1",
      },
    ],
    argumentsMax: 2,
    run: experimentCompare,
  },
  {
    name: 'list',
    usage: '[--name NAME] [--limit N] [options]',
    summary: 'Lists stored experiments, newest first.',
    options: ['name', 'dataset', 'limit', 'format', 'tenant', 'config'],
    summaries: { format: 'writes table (default) or json' },
    examples: [{ does: 'Lists the experiments of one name:', line: 'tracejury experiment list --name nightly' }],
    argumentsMax: 0,
    run: listed,
  },
  {
    name: 'show',
    usage: 'EXPERIMENT [options]',
    summary: 'Shows the rates and the failed examples of an experiment: its id, or the newest of a name.',
    options: ['format', 'output', 'tenant', 'config'],
    summaries: { format: experimentFormats },
    examples: [
      { does: 'Writes an experiment with all results to a file:', line: 'tracejury experiment show nightly --output nightly.json' },
    ],
    argumentsMax: 1,
    run: shown,
  },
  {
    name: 'delete',
    usage: 'ID | [--name NAME] [--dataset NAME] [--before TIME] [options]',
    summary: 'Deletes an experiment and its results, or all that match.',
    options: ['name', 'dataset', 'before', 'tenant', 'config'],
    examples: [
      { does: 'Deletes one experiment:', line: 'tracejury experiment delete nightly-20260102-030405-1a2b3c' },
      {
        does: 'Deletes those of one name without a result since then:',
        line: 'tracejury experiment delete --name nightly --before 2026-01-01',
      },
    ],
    argumentsMax: 1,
    run: deleted,
  },
];

export const experiment: CommandProgram = {
  ...commandOfActions(actions),
  examples: [
    { does: 'Runs an agent over a file:', line: 'tracejury experiment run --dataset dataset.yaml --name nightly -- python agent.py' },
  ],
  options: {
    dataset: { type: 'string', value: 'NAME', summary: 'names a file, or a stored dataset with or without a version, as in refunds@3' },
    name: { type: 'string', value: 'NAME', summary: 'names the experiment; several may have one name, which means the newest' },
    id: { type: 'string', value: 'ID', summary: 'sets the id of the experiment (default: made from name and time)' },
    config: configOption(
      'uses the evaluators, judges and store of this configuration (default: the default rules, and ./tracejury-data/tracejury.db)',
    ),
    repeat: { type: 'string', value: 'N', summary: 'runs each example this number of times (default: 1)' },
    concurrency: { type: 'string', value: 'C', summary: `runs this number of examples at the same time (default: ${concurrencyDefault})` },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      summary: `kills the processes of a run that takes longer (default: ${timeoutSecondsDefault}); an example may name its own limit`,
    },
    'judge-timeout': { type: 'string', value: 'SECONDS', summary: 'waits at most this long for one verdict of a judge' },
    resume: {
      type: 'boolean',
      summary: 'goes on with the newest experiment of this name when it was interrupted; begins one when there is none',
    },
    'fail-under': {
      type: 'string',
      multiple: true,
      value: 'NAME=SHARE',
      summary: 'fails when a smaller share of an evaluator passes, as in tool_error=0.95; completed=0.9 lets a tenth of the runs end badly',
    },
    'allow-run-errors': { type: 'boolean', summary: 'passes even when runs ended in an error' },
    url: { type: 'string', value: 'URL', summary: 'posts each input to a running agent, with the headers traceparent and baggage' },
    port: { type: 'string', value: 'N', summary: 'listens on this port for OTLP over HTTP (default: a free port)' },
    'pass-env': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      summary: 'passes this variable to the command although the configuration names it as a key',
    },
    'fail-on-regression': {
      type: 'boolean',
      summary:
        'exits with 1 also when B is significantly worse with unscored runs as not passed, or when an evaluator that scored A scores nothing of B',
    },
    pairwise: {
      type: 'string',
      value: 'CRITERION',
      summary: 'asks a judge which of the two answers is better by this criterion, in both orders; without --budget it names the cost only',
    },
    judge: { type: 'string', value: 'NAME', summary: 'asks this judge of the configuration (default: the only one)' },
    budget: { type: 'string', value: 'USD', summary: 'asks the judge, and bounds what it costs' },
    before: { type: 'string', value: 'TIME', summary: 'deletes experiments whose last result is older than this time (RFC 3339)' },
    limit: { type: 'string', value: 'N', summary: `lists at most this number of experiments (default: ${limitDefault})` },
    format: formatOption(`${experimentFormats}; compare also junit and html`),
    output: {
      type: 'string',
      value: 'FILE',
      summary: 'writes the experiment with all results to this file, as JSON; compare writes its report there',
    },
    tenant: tenantOption('uses the datasets and experiments of this tenant (default: the one without a name)'),
  },
};

function runSettings(input: CommandInput, command: readonly string[]): RunSettings {
  const [dataset, name, id, url] = ['dataset', 'name', 'id', 'url'].map((option) => textOption(input, option));
  if (dataset === undefined) throw new UsageError('Name the examples with --dataset: a file, or a stored dataset.');
  if (name === undefined || name.trim() === '' || name.length > nameCharsMax)
    throw new UsageError(`Name the experiment with --name, in at most ${nameCharsMax} characters.`);
  if (id !== undefined && !isExperimentId(id)) throw new UsageError('--id takes 1 to 100 letters, digits, dots, underscores and hyphens.');
  if (url === undefined ? command.length === 0 : command.length > 0)
    throw new UsageError(
      url === undefined
        ? `Name the command after --, as in ${input.program} experiment run … -- python agent.py, or a running agent with --url.`
        : 'Give either --url or a command after --, not both.',
    );
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError('--url takes an address that begins with http:// or https://.');
  const judgeTimeout = numberOption(input, 'judge-timeout', timeoutSecondsMax);
  return {
    configFile: textOption(input, 'config'),
    tenant: textOption(input, 'tenant') ?? '',
    dataset,
    name,
    id,
    repeats: wholeOption(input, 'repeat', repeatsMax) ?? 1,
    concurrency: wholeOption(input, 'concurrency', concurrencyMax) ?? concurrencyDefault,
    timeoutMs: (numberOption(input, 'timeout', timeoutSecondsMax) ?? timeoutSecondsDefault) * 1_000,
    judgeTimeoutMs: judgeTimeout === undefined ? undefined : judgeTimeout * 1_000,
    resume: input.options['resume'] === true,
    gates: textOptions(input, 'fail-under'),
    allowRunErrors: input.options['allow-run-errors'] === true,
    output: textOption(input, 'output'),
    port: wholeOption(input, 'port', portMax) ?? 0,
    passed: textOptions(input, 'pass-env'),
    report: formatOf(input),
    agent: url === undefined ? { kind: 'command', command } : { kind: 'url', url },
  };
}

function wholeOption(input: CommandInput, name: string, most: number): number | undefined {
  const given = textOption(input, name);
  if (given === undefined) return undefined;
  if (!/^\d{1,9}$/.test(given) || Number(given) < 1 || Number(given) > most)
    throw new UsageError(`--${name} takes a whole number from 1 to ${most}.`);
  return Number(given);
}

function formatOf(input: CommandInput): (report: Report) => string {
  const format = textOption(input, 'format') ?? 'table';
  const write = Object.hasOwn(reportFormats, format) ? reportFormats[format] : undefined;
  if (write === undefined) throw new UsageError(`--format takes one of ${Object.keys(reportFormats).join(', ')}.`);
  return write;
}

async function withExperiments<Result>(input: CommandInput, use: (store: Store) => Promise<Result>): Promise<Result> {
  return await withStore(input, { instead: 'Ask the console: /api/v1/experiments.' }, ({ store }) => use(store));
}

async function listed(input: CommandInput): Promise<ExitCode> {
  const format = textOption(input, 'format') ?? 'table';
  if (format !== 'table' && format !== 'json') throw new UsageError('--format takes table or json here.');
  const [name, dataset] = [textOption(input, 'name'), textOption(input, 'dataset')];
  const limit = wholeOption(input, 'limit', experimentsPageMax) ?? limitDefault;
  const { experiments } = await withExperiments(input, (store) =>
    store.experiments.list(present({ tenant: tenant(textOption(input, 'tenant') ?? ''), limit, name, dataset })),
  );
  for (const one of experiments) input.say(format === 'json' ? jsonText(experimentResource.write(one)) : listLine(one));
  if (experiments.length === 0) input.complain('No stored experiment matches.');
  return 0;
}

const nameChars = 40;

function listLine({ id, name, state, dataset, repeats, beganAt, results, statuses }: StoredExperiment): string {
  const began = new Date(beganAt / 1_000).toISOString().slice(0, 19).replace('T', ' ');
  const data =
    dataset === undefined ? '' : `  ${oneLine(dataset.name, nameChars)}${dataset.version === undefined ? '' : `@${dataset.version}`}`;
  const open = state === 'done' || dataset === undefined ? state : `${state}, ${results} of ${dataset.examples * repeats}`;
  return `${began}  ${oneLine(name, nameChars)}  ${id}${data}  ${statuses.passed} passed, ${statuses.failed} failed  ${open}`;
}

async function shown(input: CommandInput, [reference]: readonly string[]): Promise<ExitCode> {
  if (reference === undefined) throw new UsageError('Name one experiment: its id, or the newest of a name.');
  const write = formatOf(input);
  const report = await withExperiments(input, async (store) => {
    const found = await storedExperiment(store.experiments, tenant(textOption(input, 'tenant') ?? ''), reference);
    const results = await allResults(store.experiments, found);
    return reportOf({ experiment: found, results, gates: [], planned: (found.dataset?.examples ?? 0) * found.repeats });
  });
  const output = textOption(input, 'output');
  if (output !== undefined) writeOutput('output', output, reportFormats['json']?.(report) ?? '');
  input.say(write(report));
  return 0;
}

async function deleted(input: CommandInput, [id]: readonly string[]): Promise<ExitCode> {
  const [name, dataset, before] = ['name', 'dataset', 'before'].map((option) => textOption(input, option));
  const of = tenant(textOption(input, 'tenant') ?? '');
  const isMany = name !== undefined || dataset !== undefined || before !== undefined;
  if (isMany === (id !== undefined))
    throw new UsageError(
      'Name one experiment by its id, or several with --name, --dataset and --before. tracejury experiment list shows them.',
    );
  if (id !== undefined) {
    await withExperiments(input, async (store) => {
      if (await store.experiments.delete({ tenant: of, id })) return;
      const known = await storedExperiment(store.experiments, of, id);
      throw new UsageError(`A name may stand for several experiments. The newest ${JSON.stringify(id)} has the id ${known.id}.`);
    });
    input.say(`${id} is deleted.`);
    return 0;
  }
  const at = before === undefined ? undefined : parseTimeText(before);
  if (before !== undefined && at === undefined) throw new UsageError('--before takes a date or a time in RFC 3339, as 2026-01-01.');
  const which = present<ExperimentsToDelete>({ tenant: of, name, dataset, before: at });
  const count = await withExperiments(input, async ({ experiments }) => {
    let sum = 0;
    for (let some = deletedExperimentsMax; some === deletedExperimentsMax; sum += some) some = await experiments.deleteSome(which);
    return sum;
  });
  input.say(`${count} ${count === 1 ? 'experiment is' : 'experiments are'} deleted.`);
  return 0;
}
