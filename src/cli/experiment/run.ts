/** `tracejury experiment run`: runs an agent over a dataset, scores every run, and writes the results to the store. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { pino } from 'pino';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators as members } from '../../../evaluators/index.ts';
import { type AgentStarter, commandStarter, urlStarter } from './agent.ts';
import { type RunnableDataset, runnableDataset } from './dataset.ts';
import { exampleScoring } from './example-scoring.ts';
import { provenanceOf } from './provenance.ts';
import { type Report, reportOf } from './report.ts';
import { exampleRuns, runExamples } from './runner.ts';
import { spanCollector } from './span-collector.ts';
import { type CommandInput, UsageError, writeOutput } from '../command.ts';
import { uncheckedText } from '../commands/eval.ts';
import { covered } from '../eval/expectations.ts';
import { type Gate, parseGate } from '../eval/report.ts';
import { otlpReceivers } from '../record/otlp-receivers.ts';
import { processGuard } from '../record/process-guard.ts';
import { progressBar } from '../terminal.ts';
import { completedName } from '../../analytics/experiment-summary.ts';
import { experimentFileJson } from '../../analytics/experiment-json.ts';
import type { Environment } from '../../config/document.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { type LoadedConfig, readConfig } from '../../config/load.ts';
import { httpClient } from '../../http/http-client.ts';
import { type Experiment, type ExperimentResult, newExperimentId } from '../../model/experiment.ts';
import { parseSpanId, parseTraceId, tenant } from '../../model/ids.ts';
import { jsonText } from '../../model/json.ts';
import { allResults, experimentsMax } from '../../model/store/experiment-store.ts';
import type { Store } from '../../model/store/store.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import { experimentEvaluator } from '../../pipeline/reporting/experiment-result.ts';
import { judgePool } from '../../service/judge-pool.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { openStore } from '../../stores/index.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

export interface RunSettings {
  readonly configFile: string | undefined;
  readonly tenant: string;
  readonly dataset: string;
  readonly name: string;
  readonly id: string | undefined;
  readonly repeats: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly judgeTimeoutMs: number | undefined;
  readonly resume: boolean;
  readonly allowRunErrors: boolean;
  readonly gates: readonly string[];
  readonly output: string | undefined;
  readonly port: number;
  /** Variables with keys that the command gets all the same. */
  readonly passed: readonly string[];
  readonly report: (report: Report) => string;
  /** The command, or the address of an agent that is running. */
  readonly agent: { readonly kind: 'command'; readonly command: readonly string[] } | { readonly kind: 'url'; readonly url: string };
}

/** The shell convention for a command that a signal has ended. */
const signalExitBase = 128;
const stopMs = 1_000;
const randomIdBytes = 3;

export async function experimentRun(input: CommandInput, settings: RunSettings): Promise<number> {
  const loaded = await readConfig({ file: settings.configFile, env: input.env, evaluators: members });
  const { address } = loaded.config.store;
  if (address.scheme === 'memory' && settings.output === undefined)
    throw new UsageError('store.url is memory:, so the results are gone with the command. Name a file with --output, or another store.');
  const store = await openStore(address);
  try {
    return await inStore(input, settings, { loaded, store });
  } finally {
    await store.stop();
  }
}

interface Opened {
  readonly loaded: LoadedConfig;
  readonly store: Store;
}

async function inStore(input: CommandInput, settings: RunSettings, { loaded, store }: Opened): Promise<number> {
  const { config, shared, evaluators } = loaded;
  const judges = config.judges.map(({ name }) => name);
  const dataset = await runnableDataset(settings.dataset, {
    store,
    tenant: tenant(settings.tenant),
    members: evaluators,
    shared,
    plan: config.evaluators,
    judges,
  });
  const { switchedOn, unchecked, warnings } = covered([], dataset.examples, { plan: config.evaluators, members: evaluators, judges });
  if (unchecked.length > 0) {
    input.complain(uncheckedText(unchecked));
    return 2;
  }
  for (const warning of warnings) input.complain(`⚠ ${warning}`);
  if (dataset.drafts > 0)
    input.complain(
      `⚠ ${dataset.drafts} of ${dataset.examples.length} examples are drafts: no one has reviewed their expectation, which repeats what a run did.`,
    );
  const plan = [config.evaluators, ...dataset.examples.map((example) => example.plan ?? [])].flat();
  const gates = gatesOf(settings, [...plan.map(({ configured }) => configured.name), ...switchedOn.map(({ name }) => name)]);
  const { experiment, done } = await begun(input, settings, { loaded, store, dataset, plan });
  const runs = exampleRuns(dataset.examples, settings.repeats, done);
  if (done.length > 0) input.complain(`${experiment.id} goes on: ${done.length} of ${done.length + runs.length} runs have their result.`);
  const outcome =
    runs.length === 0
      ? 'done'
      : await withInterruption((signal) => ran(input, settings, { loaded, store, experiment, runs, done: done.length, signal }));
  if (experiment.state !== 'done')
    await store.experiments.update(experiment, { state: outcome === 'done' ? 'done' : 'stopped', endedAt: nowMicros() });
  const whole = (await store.experiments.experiment(experiment)) ?? experiment;
  const report = reportOf({
    experiment: whole,
    results: await allResults(store.experiments, experiment),
    gates,
    planned: dataset.examples.length * settings.repeats,
    allowRunErrors: settings.allowRunErrors,
  });
  if (settings.output !== undefined) writeOutput('output', settings.output, jsonText(experimentFileJson(report, report.summary)));
  input.say(settings.report(report));
  if (typeof outcome === 'object') {
    input.complain(`Stopped by ${outcome.signal}. The same command with --resume goes on.`);
    return signalExitBase + constants.signals[outcome.signal];
  }
  return report.passed ? 0 : 1;
}

function gatesOf({ gates }: RunSettings, names: readonly string[]): readonly Gate[] {
  const known = { on: [...new Set([completedName, ...names])], all: members.map(({ id }) => id) };
  return gates.map((gate) => parseGate(gate, known));
}

function nowMicros(): number {
  return Math.round(clock.nowMs() * 1_000);
}

interface BegunWith extends Opened {
  readonly dataset: RunnableDataset;
  readonly plan: readonly PlannedEvaluator[];
}

interface Begun {
  readonly experiment: Experiment;
  readonly done: readonly Pick<ExperimentResult, 'exampleId' | 'repeat'>[];
}

async function begun(input: CommandInput, settings: RunSettings, { loaded, store, dataset, plan }: BegunWith): Promise<Begun> {
  const provenance = await provenanceOf({ printed: loaded.printed, env: input.env });
  const fresh: Experiment = {
    id: settings.id ?? newExperimentId(settings.name, nowMicros(), randomBytes(randomIdBytes).toString('hex')),
    tenant: tenant(settings.tenant),
    name: settings.name,
    dataset: dataset.facts,
    repeats: settings.repeats,
    state: 'running',
    beganAt: nowMicros(),
    endedAt: undefined,
    provenance,
    evaluators: [...new Map(plan.map(({ configured }) => [configured.name, experimentEvaluator(configured)])).values()],
  };
  const before = settings.resume ? await toResume(store, fresh, settings) : undefined;
  if (before !== undefined) {
    // A done experiment takes no results; it has them all.
    if (before.state !== 'done') await store.experiments.update(before, { state: 'running', endedAt: undefined });
    return { experiment: before, done: await store.experiments.done(before) };
  }
  const outcome = await store.experiments.begin(fresh);
  if (outcome === 'known')
    throw new UsageError(`The store has an experiment ${fresh.id} already. Choose another --id, or go on with --resume.`);
  if (outcome === 'full')
    throw new UsageError(`The tenant has its limit of ${experimentsMax} experiments. Delete some with tracejury experiment delete.`);
  return { experiment: fresh, done: [] };
}

/** The newest experiment of the name. Throws a UsageError when it ran something else; `undefined` when there is none. */
async function toResume({ experiments }: Store, fresh: Experiment, { id }: RunSettings): Promise<Experiment | undefined> {
  const known =
    id === undefined
      ? (await experiments.list({ tenant: fresh.tenant, name: fresh.name, isFromSpans: false, limit: 1 })).experiments[0]
      : await experiments.experiment({ tenant: fresh.tenant, id });
  if (known === undefined || known.isFromSpans === true) return undefined;
  const other = [
    ...(known.dataset?.hash === fresh.dataset?.hash ? [] : ['the examples']),
    ...(known.repeats === fresh.repeats ? [] : [`--repeat (${known.repeats} before)`]),
    ...(known.provenance.configHash === fresh.provenance.configHash ? [] : ['the configuration']),
    ...(known.provenance.commit === fresh.provenance.commit ? [] : ['the commit']),
  ];
  if (other.length === 0) return known;
  // A finished experiment is nothing to go on with, so a new one of the name begins.
  if (known.state === 'done') return undefined;
  throw new UsageError(
    `${known.id} cannot go on. Changed since it began: ${other.join(', ')}. Leave out --resume to begin a new experiment.`,
  );
}

interface RunWith extends Opened {
  readonly experiment: Experiment;
  readonly runs: ReturnType<typeof exampleRuns>;
  readonly done: number;
  readonly signal: AbortSignal;
}

async function ran(
  input: CommandInput,
  settings: RunSettings,
  { loaded: { config, evaluators, secretVariables }, store, experiment, runs, done, signal }: RunWith,
): Promise<'done' | 'stopped'> {
  const collector = spanCollector({ spansMax: config.limits.spansPerTrace });
  const receivers = await receiving(settings, collector.ingest);
  const pool = judgePool(
    config.judges.map((judge) => ({ ...judge, cacheMs: 0 })),
    noTelemetry,
  );
  const http = httpClient();
  const bar = progressBar(process.stderr, done + runs.length, { nowMs: clock.nowMs, before: done });
  let shown = done;
  bar.show(shown);
  const { agent } = settings;
  const guard = agent.kind === 'command' ? processGuard(input.env['PATH']) : undefined;
  const starter: AgentStarter =
    agent.kind === 'command'
      ? commandStarter({ command: agent.command, env: withoutKeys(input, settings, secretVariables), addresses: receivers, sleep, guard })
      : urlStarter({ url: agent.url, http });
  if (settings.agent.kind === 'url') input.complain(`Spans go to ${receivers.http} (OTLP over HTTP) or ${receivers.grpc} (gRPC).`);
  try {
    return await runExamples(runs, {
      experiment,
      store: store.experiments,
      starter,
      collector,
      scoring: exampleScoring({
        config,
        members: evaluators,
        context: evaluationContext(),
        clock: { nowMs: () => performance.now() },
        ask: pool.ask,
        redaction: configuredRedaction(config.redact, noTelemetry),
        judgeTimeoutMs: settings.judgeTimeoutMs,
      }),
      concurrency: settings.concurrency,
      timeoutMs: settings.timeoutMs,
      clock,
      sleep,
      newIds,
      signal,
      onResult: () => bar.show(++shown),
    });
  } finally {
    bar.end();
    guard?.stop();
    http.stop();
    await pool.executor.stop(stopMs);
    await pool.stop();
    await receivers.stop();
  }
}

/** The environment of the command. An agent does not get the keys of judges and backends, unless the person passes one on. */
function withoutKeys({ env, complain, program }: CommandInput, { passed }: RunSettings, keys: readonly string[]): Environment {
  const kept = keys.filter((name) => env[name] !== undefined && !passed.includes(name));
  if (kept.length > 0)
    complain(
      `The command does not get ${kept.join(', ')}: the configuration names ${kept.length === 1 ? 'it as a key' : 'them as keys'}. --pass-env NAME passes one on (${program} experiment run --help).`,
    );
  return Object.fromEntries(Object.entries(env).filter(([name]) => !kept.includes(name)));
}

async function receiving({ port }: RunSettings, ingest: Parameters<typeof otlpReceivers>[0]['ingest']): ReturnType<typeof otlpReceivers> {
  try {
    return await otlpReceivers({ ingest, telemetry: noTelemetry, logger: pino({ level: 'silent' }), port });
  } catch (error) {
    throw new UsageError(`--port ${port} cannot be used (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}).`);
  }
}

const traceIdBytes = 16;
const spanIdBytes = 8;

function newIds(): {
  readonly traceId: NonNullable<ReturnType<typeof parseTraceId>>;
  readonly spanId: NonNullable<ReturnType<typeof parseSpanId>>;
} {
  const [traceId, spanId] = [
    parseTraceId(randomBytes(traceIdBytes).toString('hex')),
    parseSpanId(randomBytes(spanIdBytes).toString('hex')),
  ];
  // All zeros once in 2^64 draws.
  return traceId === undefined || spanId === undefined ? newIds() : { traceId, spanId };
}

/** Aborts at the first signal; a second one ends the program. */
async function withInterruption(
  work: (signal: AbortSignal) => Promise<'done' | 'stopped'>,
): Promise<'done' | { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' }> {
  const controller = new AbortController();
  let by: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const handlers = signals.map((signal) => {
    const handler = (): void => {
      by ??= signal;
      controller.abort();
    };
    process.once(signal, handler);
    return [signal, handler] as const;
  });
  try {
    return (await work(controller.signal)) === 'done' ? 'done' : { signal: by ?? 'SIGTERM' };
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}
