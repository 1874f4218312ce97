/** Runs one replay over the store or over files, and gives its report. */
import { createHash } from 'node:crypto';
import { evaluators } from '../../../evaluators/index.ts';
import { replayJudges, type JudgeMode, type ReplayJudges } from './judge-modes.ts';
import { replayPace } from './pace.ts';
import { replayFiles, replayStored, runsIn } from './replaying.ts';
import type { ReplayReport } from './report.ts';
import { rescoring, type Rescoring } from './rescoring.ts';
import { replayResults } from './results.ts';
import { givenSessions, storedSessions } from './session-reader.ts';
import { replayTally, type ReplayTally, type ReplayTallyData } from './tally.ts';
import { replayLease } from './replay-lease.ts';
import { ReplayStopped, replayWriter } from './writing.ts';
import { type CommandInput, UsageError } from '../command.ts';
import { recordedRuns } from '../inspect/inspection.ts';
import { readBodies, readRecorded } from '../inspect/recording.ts';
import { costForecast, daysMax, openedStore } from '../judge/forecast.ts';
import { progressBar } from '../terminal.ts';
import type { Config } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { readConfig, type LoadedConfig } from '../../config/load.ts';
import { jsonText } from '../../model/json.ts';
import type { ReplayableStore, StoredCheckpoint } from '../../model/store/replay-store.ts';
import type { RunFilter, Store } from '../../model/store/store.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

export interface ReplaySettings {
  readonly files: readonly string[];
  readonly config: string;
  readonly against: string | undefined;
  readonly filter: RunFilter;
  /** The original text of the filters, which identifies the replay. */
  readonly filterTexts: readonly string[];
  readonly limit: number;
  readonly judges: JudgeMode;
  readonly budgetUsd: number | undefined;
  readonly isAnew: boolean;
  readonly takesRedacted: boolean;
  readonly examplesMax: number;
  readonly rate: number | undefined;
  readonly write: { readonly exports: boolean; readonly resume: boolean } | undefined;
  readonly nowMs: number;
}

/** Runs that are scored at the same time while judges are asked. */
const askingMax = 32;
const noForecastText = `The store has no run of the last ${daysMax} days, so nothing forecasts the cost of the judges.`;
const stillStandingText = 'Finished runs are written, and --resume continues.';

/** `undefined` after a message, when the replay could not end. */
export async function replay(settings: ReplaySettings, input: CommandInput): Promise<ReplayReport | undefined> {
  const loaded = await readConfig({ file: settings.config, env: input.env, evaluators });
  const against =
    settings.against === undefined ? undefined : (await readConfig({ file: settings.against, env: input.env, evaluators })).config;
  for (const { file, line, column, key, problem, todo } of loaded.warnings)
    input.complain(`${file}:${line}:${column} ${key}: ${problem}. ${todo}`);
  const id = replayId(loaded, settings);
  if (settings.files.length > 0) return await overFiles({ settings, input, config: loaded.config, against, id });
  const store = await openedStore(loaded.config);
  try {
    return await overStore({ settings, input, config: loaded.config, against, id, store });
  } finally {
    await store.stop();
  }
}

/** The same for the same configuration and filters: an interrupted replay is found by it. */
function replayId(
  { fingerprints: { sections } }: LoadedConfig,
  { filterTexts, limit, judges, isAnew, takesRedacted }: ReplaySettings,
): string {
  const told = [Object.fromEntries(sections), [...filterTexts], limit, judges, isAnew, takesRedacted];
  return createHash('sha256')
    .update(jsonText(told, { sortKeys: true }))
    .digest('hex')
    .slice(0, 32);
}

interface ReplayWith {
  readonly settings: ReplaySettings;
  readonly input: CommandInput;
  readonly config: Config;
  readonly against: Config | undefined;
  readonly id: string;
}

interface ReplayParts {
  readonly judges: ReplayJudges;
  readonly rescoring: Rescoring;
  readonly against: Rescoring | undefined;
}

async function partsOf(
  { settings, input, config, against, id }: ReplayWith,
  store: Store | undefined,
  startedMs: number,
): Promise<ReplayParts> {
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const faults = new Set<string>();
  const judges = await replayJudges({
    mode: settings.judges,
    config,
    store,
    budgetUsd: settings.budgetUsd,
    id,
    day: new Date(startedMs).toISOString().slice(0, 10),
    mayStore: (text) => redaction === undefined || redaction.text(text) === text,
    onFault(error) {
      const message = error instanceof Error ? error.message : 'unknown error';
      if (!faults.has(message)) input.complain(`The costs or answers of judges could not be read or written: ${message}`);
      faults.add(message);
    },
  });
  const skipping = { ask: async () => ({ kind: 'over_budget', reason: 'judges_skipped' }) as const };
  const { isAnew } = settings;
  return {
    judges,
    rescoring: rescoring({ config, judges, isAnew }),
    against: against === undefined ? undefined : rescoring({ config: against, judges: skipping, isAnew: false }),
  };
}

async function overFiles(options: ReplayWith): Promise<ReplayReport> {
  const { settings, input, config, against } = options;
  const { filter, files } = settings;
  if (against === undefined && (filter.evaluator !== undefined || filter.verdict !== undefined))
    throw new UsageError('--where: evaluator and verdict are of the side before, which files lack. Name a configuration with --against.');
  const recorded = readRecorded(await readBodies(files, process.stdin));
  for (const { where, reason, count } of recorded.rejections) input.complain(`${where}: ${count} left out (${reason})`);
  const runs = recordedRuns(recorded, config).toReversed();
  const parts = await partsOf(options, undefined, settings.nowMs);
  const tally = replayTally({ examplesMax: settings.examplesMax });
  const bar = progressBar(process.stderr, Math.min(runs.length, settings.limit), { nowMs: clock.nowMs, before: 0 });
  const pace = replayPace({ rate: settings.rate, clock, sleep });
  const sessions = givenSessions(runs, { sessions: config.sessions, leaving: parts.rescoring.leaving });
  await replayFiles({ ...parts, sessions, tally, pace, runs, filter, limit: settings.limit, onDone: bar.show });
  bar.end();
  const spentUsd = await parts.judges.spentUsd();
  await parts.judges.stop();
  return reportOf(options, { tally, parts, spentUsd, forecast: undefined, written: undefined, warnings: [] });
}

async function overStore(options: ReplayWith & { readonly store: ReplayableStore }): Promise<ReplayReport | undefined> {
  if (options.settings.write === undefined) return await overHeld(options, () => undefined);
  const lease = await replayLease({ replicas: options.store.replicas, id: options.id, clock, sleep });
  try {
    return await overHeld(options, lease.check);
  } finally {
    await lease.stop();
  }
}

/** `check`: called before each page is written. */
async function overHeld(options: ReplayWith & { readonly store: ReplayableStore }, check: () => void): Promise<ReplayReport | undefined> {
  const { settings, input, config, id, store } = options;
  const checkpoint = await checkpointOf(options);
  const startedMs = checkpoint === undefined ? settings.nowMs : checkpoint.to / 1_000;
  const filter = { ...settings.filter, to: checkpoint?.to ?? settings.filter.to ?? Math.floor(settings.nowMs * 1_000) };
  const parts = await partsOf(options, store, startedMs);
  const from = checkpoint === undefined ? {} : { from: checkpoint.state as unknown as ReplayTallyData };
  const tally = replayTally({ examplesMax: settings.examplesMax, ...from });
  const total = Math.min(settings.limit, await store.replays.count(filter));
  const bar = progressBar(process.stderr, total, { nowMs: clock.nowMs, before: runsIn(tally.data()) });
  const pace = replayPace({ rate: settings.rate, clock, sleep });
  const onWait = saidOnce(() => input.complain('The replay waits, as the outbox is full of scores that wait for a backend.'));
  const writer = settings.write && replayWriter({ store, config, id, exports: settings.write.exports, pace, clock, sleep, onWait, check });
  const reading = { reading: config, takesRedacted: settings.takesRedacted };
  const sessions = storedSessions({
    store,
    reading,
    sessions: config.sessions,
    leaving: parts.rescoring.leaving,
    nowMs: settings.nowMs,
    keepRunsMs: config.store.keep.runsMs,
  });
  const fates = { written: 0, changed: 0, gone: 0, ...checkpoint?.fates };
  try {
    await replayStored({
      ...parts,
      sessions,
      tally,
      pace,
      store,
      filter,
      limit: settings.limit,
      concurrency: settings.judges === 'ask' ? askingMax : 1,
      reading,
      write:
        writer === undefined
          ? undefined
          : {
              writer,
              checkpoint,
              spansBefore: Math.floor((settings.nowMs - config.closing.lateMs) * 1_000),
              onFate: (fate) => void fates[fate]++,
            },
      onDone: shownAtTimes(bar.show),
    });
  } catch (error) {
    if (!(error instanceof ReplayStopped)) throw error;
    input.complain(`${error.message} ${stillStandingText}`);
    return undefined;
  } finally {
    bar.end();
    await parts.judges.stop();
  }
  if (settings.write !== undefined) await store.replays.forget(id);
  const spentUsd = await parts.judges.spentUsd();
  const asks = config.evaluators.some(({ configured }) => configured.kind === 'judge');
  const forecast = asks ? await costForecast(store, config, { nowMs: settings.nowMs }) : undefined;
  const warnings = asks && forecast === undefined ? [noForecastText] : [];
  if (runsIn(tally.data()) === 0) input.complain('No stored run matches.');
  return reportOf(options, { tally, parts, spentUsd, forecast, written: settings.write === undefined ? undefined : fates, warnings });
}

/** The checkpoint of an interrupted replay with the same id; `undefined` for one that begins. */
async function checkpointOf({
  settings: { write },
  input,
  id,
  store,
}: ReplayWith & { readonly store: ReplayableStore }): Promise<StoredCheckpoint | undefined> {
  if (write === undefined) return undefined;
  const found = await store.replays.checkpoint(id);
  if (write.resume) {
    if (found === undefined)
      throw new UsageError('There is no interrupted replay of this configuration and these filters to resume. Leave out --resume.');
    return found;
  }
  if (found === undefined) return undefined;
  // Verdicts that it has written need no revision again.
  input.complain('An interrupted replay of this configuration and these filters begins anew; --resume would have continued it.');
  await store.replays.forget(id);
  return undefined;
}

/** A terminal shows no more than some pictures a second. */
const drawEveryMs = 100;

function shownAtTimes(show: (done: number) => void): (done: number) => void {
  let shownMs = -Infinity;
  return (done) => {
    if (clock.nowMs() - shownMs < drawEveryMs) return;
    shownMs = clock.nowMs();
    show(done);
  };
}

function saidOnce(say: () => void): () => void {
  let isSaid = false;
  return () => {
    if (!isSaid) say();
    isSaid = true;
  };
}

interface Ended extends Pick<ReplayReport, 'spentUsd' | 'forecast' | 'written' | 'warnings'> {
  readonly tally: ReplayTally;
  readonly parts: ReplayParts;
}

function reportOf({ settings }: ReplayWith, { tally, parts, ...ended }: Ended): ReplayReport {
  return {
    results: replayResults(tally.data()),
    config: settings.config,
    against: settings.against,
    files: settings.files,
    judges: settings.judges,
    ofSessions: parts.rescoring.ofSessions,
    ...ended,
  };
}
