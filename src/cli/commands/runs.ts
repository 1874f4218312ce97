/** `tracejury runs`: prints stored runs, one a line. */
import { evaluators } from '../../../evaluators/index.ts';
import { readConfig } from '../../config/load.ts';
import { runStatuses } from '../../model/agent-trace.ts';
import { jsonText } from '../../model/json.ts';
import { sleep } from '../../service/node-runtime.ts';
import { mayBeThere, openStore, storeName } from '../../stores/index.ts';
import { periodicTask } from '../../runtime/periodic-task.ts';
import { endEvaluator } from '../../model/verdict.ts';
import type { RunFilter, RunPlace, RunRow, Store, StoredVerdict } from '../../model/store/store.ts';
import { runRowJson } from '../../web/api/run-json.ts';
import { UsageError, type CommandProgram, type CommandInput, type ExitCode, textOption, textOptions, reportFormat } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { parseRunFilter } from '../run-filter.ts';
import { runConditionNames } from '../../model/store/run-filter.ts';
import { oneLine } from '../../model/one-line.ts';
import { present } from '../../model/present.ts';

const limitDefault = 20;
const limitMax = 10_000;
const pageMax = 200;
/** Pages of one read of `--follow`. It misses a run that closes after more runs than these began. */
const followPagesMax = 10;
const readEveryMs = 1_000;

export const runs: CommandProgram = {
  examples: [
    { does: 'Shows the newest runs that failed a verdict:', line: 'tracejury runs --fail' },
    {
      does: 'Shows runs with a call of one tool that took a minute or longer:',
      line: "tracejury runs --where 'tool=search min_duration=1m'",
    },
    { does: 'Shows runs that ended in an error:', line: 'tracejury runs --status error' },
    { does: 'Shows the runs of one agent as they close:', line: 'tracejury runs --agent travel-agent --follow' },
  ],
  options: {
    fail: { type: 'boolean', summary: 'shows only runs that failed a verdict' },
    status: { type: 'string', value: 'ok|error|paused', summary: 'shows only runs that ended so; paused ones wait for a person' },
    agent: { type: 'string', value: 'A', summary: 'shows only runs of this agent' },
    where: {
      type: 'string',
      multiple: true,
      value: 'FILTER',
      summary: `shows only runs that match KEY=VALUE conditions with the keys ${runConditionNames.join(', ')}; may be repeated`,
    },
    follow: { type: 'boolean', short: 'f', summary: 'shows the newest runs, oldest first, then each run as it closes, until Ctrl-C' },
    limit: { type: 'string', value: 'N', summary: `shows at most this number of runs (default: ${limitDefault})` },
    format: formatOption('writes text (default), or one JSON object of /api/v1/runs a line', 'text|json'),
    config: configOption('reads the store of this configuration (default: sqlite:./tracejury-data/tracejury.db)'),
  },
  positionalsMax: 0,
  async run(input) {
    const settings = settingsOf(input);
    const { config } = await readConfig({ file: settings.configFile, env: input.env, evaluators });
    const { address } = config.store;
    if (address.scheme === 'memory')
      throw new UsageError('store.url is memory:, which only its own process can read. Ask the console: /api/v1/runs.');
    if (!mayBeThere(address))
      throw new UsageError(
        `There is no store at ${storeName(address)}. Start the service in this folder first, or name its configuration with -c.`,
      );
    const store = await openStore(address);
    try {
      return settings.follow ? await follow(store, settings, input) : await list(store, settings, input);
    } finally {
      await store.stop();
    }
  },
};

interface Settings {
  readonly filter: RunFilter;
  readonly follow: boolean;
  readonly limit: number;
  readonly write: (run: RunRow) => string;
  readonly configFile: string | undefined;
}

function settingsOf(input: CommandInput): Settings {
  const limit = textOption(input, 'limit') ?? String(limitDefault);
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > limitMax)
    throw new UsageError(`--limit takes a number from 1 to ${limitMax}.`);
  const format = reportFormat(input);
  return {
    filter: filterOf(input),
    follow: input.options['follow'] === true,
    limit: Number(limit),
    write: format === 'json' ? (run) => jsonText(runRowJson(run)) : runLine,
    configFile: textOption(input, 'config'),
  };
}

function filterOf(input: CommandInput): RunFilter {
  const where = parseRunFilter(textOptions(input, 'where'));
  const agent = textOption(input, 'agent');
  const isFail = input.options['fail'] === true;
  const status = textOption(input, 'status');
  const word = runStatuses.find((one) => one === status);
  if (status !== undefined && word === undefined) throw new UsageError(`--status takes one of ${runStatuses.join(', ')}.`);
  if (word !== undefined && where.status !== undefined) throw new UsageError('--status and --where both name a status. Use one of them.');
  if (agent !== undefined && where.agent !== undefined) throw new UsageError('--agent and --where both name an agent. Use one of them.');
  if (isFail && where.verdict !== undefined) throw new UsageError('--fail and --where both name a verdict. Use one of them.');
  return {
    ...where,
    ...(isFail ? { verdict: 'fail' as const } : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(word === undefined ? {} : { status: word }),
  };
}

async function list(store: Store, settings: Settings, { say, complain }: CommandInput): Promise<ExitCode> {
  const found = await newest(store, settings, settings.limit);
  for (const run of found) say(settings.write(run));
  if (found.length === 0) complain(Object.keys(settings.filter).length > 0 ? 'No stored run matches.' : 'The store has no run yet.');
  return 0;
}

/** Prints runs until a signal, and a run again when late spans or a judge give it another revision. */
async function follow(store: Store, settings: Settings, { say }: CommandInput): Promise<ExitCode> {
  const shutdown = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => shutdown.resolve());
  let printed = new Set<string>();
  let first = true;
  const following = periodicTask({
    everyMs: readEveryMs,
    sleep,
    async work() {
      const read = new Set<string>();
      const found = (await newest(store, settings, pageMax * followPagesMax)).filter((run) => {
        const key = JSON.stringify([run.tenant, run.traceId, run.spanId, run.revision, run.verdicts.length]);
        read.add(key);
        return !printed.has(key);
      });
      for (const run of (first ? found.slice(0, settings.limit) : found).toReversed()) say(settings.write(run));
      [printed, first] = [read, false];
    },
    onFault: shutdown.reject,
  });
  try {
    await shutdown.promise;
  } finally {
    await following.stop();
  }
  return 0;
}

async function newest(store: Store, { filter }: Settings, limit: number): Promise<readonly RunRow[]> {
  const found: RunRow[] = [];
  let after: RunPlace | undefined;
  do {
    const page = await store.runs(present({ limit: Math.min(pageMax, limit - found.length), ...filter, after }));
    found.push(...page.runs);
    after = page.next;
  } while (after !== undefined && found.length < limit);
  return found;
}

const agentChars = 28;
const reasonChars = 160;

/** The end in local time, the outcome, the agent, the failed verdicts with their reasons, the trace. */
function runLine(run: RunRow): string {
  const ended = new Date(run.endedAt / 1_000);
  const time = [ended.getHours(), ended.getMinutes(), ended.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
  const day = [ended.getFullYear(), ended.getMonth() + 1, ended.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
  const agent = oneLine(run.agent ?? run.service ?? 'agent without a name', agentChars).padEnd(agentChars);
  return `${day} ${time}  ${mark(run)} ${agent}  ${outcome(run)}  ${run.traceId}/${run.spanId}`;
}

function mark({ verdicts, status }: RunRow): string {
  if (status === 'error' || verdicts.some(({ verdict }) => verdict === 'fail')) return '✗';
  if (verdicts.some(({ verdict }) => verdict === 'error')) return '⚠';
  if (status === 'paused') return '⏸';
  return verdicts.some(({ verdict }) => verdict === 'pass' || verdict === 'raw') ? '✓' : '·';
}

const stateTexts = { error: 'run ended in an error', paused: 'run waits for a person or another program' } as const;

/** Lists failed verdicts, otherwise counts. */
function outcome({ verdicts, status, completeness }: RunRow): string {
  const of = (word: StoredVerdict['verdict']): readonly StoredVerdict[] => verdicts.filter(({ verdict }) => verdict === word);
  const [failed, errors] = [of('fail'), of('error')];
  const scored = [
    ...(of('pass').length === 0 ? [] : [`${of('pass').length} passed`]),
    ...(of('raw').length === 0 ? [] : [`${of('raw').length} measured`]),
  ];
  const isTold = status === 'ok' || (status === 'error' && failed.some(({ evaluator }) => evaluator === endEvaluator));
  const state = [...(isTold ? [] : [stateTexts[status]]), ...(completeness === 'complete' ? [] : [completeness])];
  const counts =
    failed.length + errors.length > 0
      ? [...failed, ...errors].map(({ name, explanation }) => oneLine(`${name}: ${explanation}`, reasonChars))
      : scored.length === 0
        ? ['nothing scored']
        : scored;
  return [...counts, ...state].join('; ');
}
