/** Resolves a checked configuration into the form of the service and the form of `config print`. */
import { configuredEvaluator, type ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { filledOptions, snakeMembers } from '../../evaluators/configuration/options.ts';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import type { LearningOptions } from '../../evaluators/process/learning.ts';
import type { ToolDefinition } from '../model/agent-trace.ts';
import type { ClientTls } from '../model/client-tls.ts';
import { type JsonObject, member } from '../model/json.ts';
import type { EvaluatorKind } from '../model/verdict.ts';
import { type ExpressionNames, parseRunExpression } from '../pipeline/evaluation/run-expression.ts';
import { defaultClosing } from '../pipeline/gathering/close-policy.ts';
import type { Tls } from '../receivers/tls.ts';
import { rights } from '../web/api/route.ts';
import type { Config, DriftConfig, EvaluatorConfig, JudgeConfig } from './config.ts';
import { asObject, listAt, objectAt, type Path, pathText, ownMembers } from './diagnostic.ts';
import type { Environment } from './document.ts';
import { leadsBack } from './entries/address.ts';
import { alertRules } from './entries/alert-entry.ts';
import { datasetRules } from './entries/dataset-rule.ts';
import { dialectSettings } from './entries/dialect-entry.ts';
import {
  askable,
  askedBy,
  evaluatorEntry,
  type PlacedEntry,
  placedEntries,
  raiseNames,
  runCondition,
  withContext,
} from './entries/evaluator-entry.ts';
import { exporterEntry } from './entries/exporter-entry.ts';
import { ownTraces } from './entries/own-traces.ts';
import { queueConfigs } from './entries/queue-entry.ts';
import { redactionSettings } from './entries/redaction.ts';
import type { DriftFiles } from './files/drift-files.ts';
import type { ClientTlsFiles } from './files/tls-files.ts';
import { sampleRateDefaults, whoIsAsked, type WrittenEvaluator } from './sections/evaluators.ts';
import { readSections, type Written } from './sections/index.ts';
import type { WrittenJudge } from './sections/judges.ts';
import { answerTokensDefault } from '../judges/judge.ts';
import { present } from '../model/present.ts';

interface Checked {
  /** Has no faults and all defaults. */
  readonly value: JsonObject;
  readonly members: readonly AnyEvaluator[];
  /** The index of each evaluator's entry in the file. */
  readonly entryIndexes: readonly number[];
  readonly env: Environment;
  readonly tools: readonly ToolDefinition[];
  readonly drift: DriftFiles;
  readonly tls: Tls | undefined;
  readonly clientTls: ClientTlsFiles['tls'];
}

export function resolveConfig({ value, members, entryIndexes, env, tools, drift, tls, clientTls }: Checked): Config {
  const written = readSections(value);
  const { listen, limits, sessions, judges, prices, groups, store, journal, log } = written;
  const ofEntry = (...path: Path): ClientTls | undefined => clientTls.get(pathText(path));
  const { traces } = ownTraces(written.telemetry, env, leadsBack(listen));
  const entries = placedEntries(value, members);
  const names = raiseNames(entries);
  return {
    listen: listenOf(listen, tls),
    limits,
    closing: closingTimes(written.closing),
    redact: redactionSettings(written.redact),
    tools,
    evaluators: entries.map((entry, index) =>
      evaluator(entry, { members, drift, names, judges, tls: ofEntry('evaluators', entryIndexes[index] ?? index) }),
    ),
    dialects: dialectSettings(listAt(value, 'dialects')),
    sessions,
    judges: Object.entries(judges).map(([name, one]) => judge(name, one, isBounded(name, written), ofEntry('judges', name))),
    exporters: written.export.map((one, index) =>
      exporterEntry(one, asObject(listAt(value, 'export')[index]), { env, tls: ofEntry('export', index), console: consoleUrl(listen) }),
    ),
    prices,
    groups: {
      taskKey: groups.taskKey,
      runsMax: groups.runs,
      tasksMax: groups.tasks,
      steps: groups.steps,
      ...(groups.success === undefined || groups.success === '' ? {} : { success: groups.success }),
    },
    versionKey: groups.versionKey,
    store: {
      address: store.url,
      content: { content: store.content, sampleRate: store.contentSample, perMinute: store.contentPerMinute },
      search: { isOn: store.search, charsMax: store.searchChars },
      keep: {
        runsMs: store.keep.runsMs,
        contentMs: store.keep.contentMs,
        bytes: store.keep.bytes,
        exportsMs: store.keep.exportsMs,
        exports: store.keep.exportRows,
      },
      annotationsWaitMs: store.keep.annotationsMs,
      experimentsMs: store.keep.experimentsMs,
      judgeJobs: { ageMs: store.keep.judgeAgeMs, rows: store.keep.judgeRows },
    },
    journal: journal.url,
    log,
    alerts: alertRules(written.alerts),
    datasets: datasetRules(written.datasets),
    queues: queueConfigs(written.queues),
    issues: written.issues,
    ...(traces === undefined ? {} : { ownTraces: traces }),
  };
}

function listenOf(listen: Written['listen'], tls: Tls | undefined): Config['listen'] {
  const { tls: _files, consoleUrl: _url, tokens, oidc, ...rest } = listen;
  return {
    ...rest,
    ...(tls === undefined ? {} : { tls }),
    tokens: tokens.map(({ name, value, may, sees }) => ({ name, value, may, ...(sees === 'own' ? { sees } : {}) })),
    ...(oidc === undefined
      ? {}
      : {
          oidc: {
            ...oidc,
            allowed: oidc.allowed.map((people) => ({ ...people, may: rights.filter((right) => people.may.includes(right)) })),
          },
        }),
  };
}

/** Address at which browsers reach the console; `undefined` when the listener does not name one host and one port. */
function consoleUrl(listen: Written['listen']): string | undefined {
  const written = listen.consoleUrl ?? listen.oidc?.url;
  if (written !== undefined) return written;
  const { host, port } = listen.console;
  if (port === 0 || host === '0.0.0.0' || host === '::') return undefined;
  return `${listen.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Limits the defaults to `quiet`. */
function closingTimes({ settleMs, ...rest }: Written['closing']): Config['closing'] {
  return {
    ...rest,
    settleMs: settleMs ?? Math.min(defaultClosing.settleMs, rest.quietMs),
    batchedSettleMs: settleMs ?? Math.min(defaultClosing.batchedSettleMs, rest.quietMs),
  };
}

/** The configuration in the form of the file, every evaluator with all its options. */
export function resolveValue({ value, members }: Pick<Checked, 'value' | 'members'>): JsonObject {
  const { judges } = readSections(value);
  const evaluators = placedEntries(value, members).map(({ raw, written }) => {
    const { kind, evaluator: used, name, threshold } = configured(raw, members, judges);
    const options = filledOptions(used.optionsSchema, used.defaults, objectAt(raw, 'options')) as JsonObject;
    return ownMembers([
      ['use', used.id],
      ['name', name],
      ...Object.entries(raw).filter(([key]) => ['when', 'expect', 'turns', 'on', 'map', 'on_empty', 'tls', 'budget'].includes(key)),
      ...Object.entries(raw).filter(([key]) => (key === 'drift' || Object.hasOwn(whoIsAsked, key)) && kind === 'judge'),
      ...(kind === 'rule' ? [] : [['sample', { ...objectAt(raw, 'sample'), rate: sampleRate(kind, written) }] as const]),
      ['options', snakeMembers(used.optionsSchema, options)],
      ['threshold', threshold],
      ['include_explanation', member(raw, 'include_explanation') !== false],
    ]);
  });
  const exporters = listAt(value, 'export').map((entry) => printedExporter(asObject(entry)));
  const lists: JsonObject = { evaluators, export: exporters };
  return ownMembers(Object.entries(value).map(([key, below]) => [key, member(lists, key) ?? below]));
}

/** Omits defaults of keys that do not apply to the exporter. */
function printedExporter(entry: JsonObject): JsonObject {
  const to = member(entry, 'to');
  if (to === 'metrics' && member(entry, 'endpoint') === undefined) return { to };
  const meaningless: readonly string[] =
    to === 'metrics' ? ['give_up', 'protocol', 'judge_calls'] : ['interval', 'temporality', ...(to === 'forward' ? ['judge_calls'] : [])];
  return ownMembers(Object.entries(entry).filter(([key]) => !meaningless.includes(key)));
}

interface EvaluatorContext {
  readonly members: readonly AnyEvaluator[];
  readonly drift: DriftFiles;
  readonly tls: ClientTls | undefined;
  readonly names: ExpressionNames;
  readonly judges: Written['judges'];
}

function evaluator({ raw, written: draft }: PlacedEntry, { members, drift, tls, names, judges }: EvaluatorContext): EvaluatorConfig {
  const written = draft as WrittenEvaluator;
  const made = configured(raw, members, judges);
  return {
    configured: made.kind === 'http' && tls !== undefined ? { ...made, tls } : made,
    sampleRate: sampleRate(made.kind, written),
    raise: written.sample.raise.flatMap(({ when, to }) => {
      const parsed = parseRunExpression(when, names);
      return parsed.kind === 'faulty' ? [] : [{ when: parsed.expression, to }];
    }),
    ...(written.when === undefined ? {} : { when: runCondition(written.when) }),
    ...(made.kind === 'judge' ? askedBy(written) : {}),
    ...(written.drift === undefined ? {} : { drift: driftOf(written.drift, drift) }),
    ...(written.budget === undefined ? {} : { budget: written.budget }),
    ...learningOf(made, written, names),
  };
}

/** Settings of an evaluator that learns, without a given model. */
function learningOf(
  { evaluator: { learns, optionsSchema, defaults } }: ConfiguredEvaluator,
  { options }: WrittenEvaluator,
  names: ExpressionNames,
): Pick<EvaluatorConfig, 'learning'> {
  if (learns === undefined || member(options, 'model') !== undefined) return {};
  const { runsMin, runsMax, freeze, formerVersion, learnWhen } = filledOptions(optionsSchema, defaults, options) as LearningOptions;
  const parsed = learnWhen === undefined ? undefined : parseRunExpression(learnWhen, names);
  const when = parsed?.kind === 'parsed' ? { when: parsed.expression } : {};
  return { learning: { runsMin, runsMax, freezes: freeze, usesFormer: formerVersion, ...when } };
}

function driftOf({ dataset, ...written }: NonNullable<WrittenEvaluator['drift']>, files: DriftFiles): DriftConfig {
  const read = files.get(dataset);
  return { ...written, runs: read?.kind === 'read' ? read.runs : [] };
}

function sampleRate(kind: EvaluatorKind, { sample }: PlacedEntry['written']): number {
  return sample?.rate ?? sampleRateDefaults[kind];
}

function configured(entry: JsonObject, members: readonly AnyEvaluator[], judges: Written['judges']): ConfiguredEvaluator {
  const result = configuredEvaluator(evaluatorEntry(withContext(entry, judges)), members);
  if (result.kind === 'faulty') throw new Error(`unchecked evaluator: ${result.faults.map(({ problem }) => problem).join(', ')}`);
  return result.evaluator;
}

/** With a budget in money or tokens an answer has a limit, for a reservation needs the most that a call may use. */
function judge(name: string, written: WrittenJudge, isBounded: boolean, tls: ClientTls | undefined): JudgeConfig {
  const {
    tls: _files,
    contextTokens: _context,
    mode,
    batch,
    price,
    headers,
    extraBody,
    answerFormat,
    answerTokens,
    maxOutputTokens,
    ...rest
  } = written;
  const { inputPerMillion, outputPerMillion } = price ?? {};
  const answerTokensMax = maxOutputTokens ?? answerTokens ?? (isBounded ? answerTokensDefault : undefined);
  return present({
    name,
    ...rest,
    tls,
    answerFormat: answerFormat === 'auto' ? undefined : answerFormat,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    extraBody: Object.keys(extraBody).length === 0 ? undefined : extraBody,
    price: inputPerMillion === undefined || outputPerMillion === undefined ? undefined : { inputPerMillion, outputPerMillion },
    answerTokensMax,
    batch: mode === 'batch' ? batch : undefined,
  });
}

/** `true` when the budget of the judge or of one of its evaluators counts money or tokens. */
function isBounded(name: string, { judges, evaluators }: Written): boolean {
  const asking = evaluators.filter((entry) => askable(entry).includes(name));
  return [judges[name]?.budget, ...asking.map((entry) => entry.budget)].some(
    (budget) => (budget?.usdPerDay ?? budget?.tokensPerDay ?? budget?.tokensPerMinute) !== undefined,
  );
}
