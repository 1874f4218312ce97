/** Resolves a checked configuration into the form of the service and the form of `config print`. */
import { ownTraces } from './entries/own-traces.ts';
import { configuredEvaluator, type ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import type { LearningOptions } from '../../evaluators/process/learning.ts';
import { snakeMembers, filledOptions } from '../../evaluators/configuration/options.ts';
import type { Price } from '../../evaluators/pricing/prices.ts';
import type { ToolDefinition } from '../model/agent-trace.ts';
import type { ClientTls } from '../model/client-tls.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import type { BudgetLimits } from '../model/budget.ts';
import { quantityOf, type QuantityKind } from '../model/quantities.ts';
import type { EvaluatorKind } from '../model/verdict.ts';
import { type ExpressionNames, parseRunExpression } from '../pipeline/evaluation/run-expression.ts';
import { defaultClosing } from '../pipeline/gathering/close-policy.ts';
import type { TaskGroupSettings } from '../pipeline/reporting/task-groups.ts';
import type { Tls } from '../receivers/tls.ts';
import { dialectSettings } from './entries/dialect-entry.ts';
import { redactionSettings } from './entries/redaction.ts';
import { answerFormats } from '../judges/judge.ts';
import { journalAddress } from '../journals/index.ts';
import { contentChoices } from '../stores/content-policy.ts';
import { storeAddress } from '../stores/index.ts';
import { rights } from '../web/api/route.ts';
import { defaultTaskKey, taskPath } from '../pipeline/reporting/task-keys.ts';
import { alertRules } from './entries/alert-entry.ts';
import { addressOf, leadsBack, type Address } from './entries/address.ts';
import type { ClientTlsFiles } from './files/tls-files.ts';
import { datasetRules } from './entries/dataset-rule.ts';
import { askable, askedBy, entryOf, evaluatorEntry, raiseNames, runCondition, withContext } from './entries/evaluator-entry.ts';
import type { Config, DriftConfig, EvaluatorConfig, JudgeConfig } from './config.ts';
import type { DriftFiles } from './files/drift-files.ts';
import { exporterEntry } from './entries/exporter-entry.ts';
import { queueConfigs } from './entries/queue-entry.ts';
import { asObject, listAt, objectAt, type Path, pathText } from './diagnostic.ts';
import { ownMembers } from './schema.ts';
import { sampleRateDefaults, whoIsAskedSchema } from './sections/evaluators.ts';
import { logFormats, logLevels } from './sections/operation.ts';
import { answerTokensDefault } from './sections/judges.ts';
import type { Environment } from './document.ts';

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
  const ofEntry = (...path: Path): ClientTls | undefined => clientTls.get(pathText(path));
  const { traces } = ownTraces(value, env, leadsBack(value));
  const raisable = raiseNames(value, members);
  const [listen, limits, closing] = [objectAt(value, 'listen'), objectAt(value, 'limits'), objectAt(value, 'closing')];
  return {
    listen: {
      otlpHttp: address(listen, 'otlp_http'),
      otlpGrpc: address(listen, 'otlp_grpc'),
      console: address(listen, 'console'),
      ...(tls === undefined ? {} : { tls }),
      insecure: member(listen, 'insecure') === true,
      ...names(listen, 'allowed_hosts', 'allowedHosts'),
      ...names(listen, 'allowed_origins', 'allowedOrigins'),
      tokens: listAt(listen, 'tokens').map(token),
      ...people(objectAt(listen, 'oidc')),
    },
    limits: {
      bodyBytes: quantity('bytes', limits, 'body_bytes'),
      inflatedBytes: quantity('bytes', limits, 'inflated_bytes'),
      memoryBytes: quantity('bytes', limits, 'memory_bytes'),
      journalBytes: quantity('bytes', limits, 'journal_bytes'),
      closingLagMs: quantity('duration', limits, 'closing_lag'),
      retryAfterMs: quantity('duration', limits, 'retry_after'),
      upstreamProbability: number(limits, 'upstream_probability'),
      spansPerTrace: number(limits, 'spans_per_trace'),
      ...(member(limits, 'metric_agents') === undefined ? {} : { metricAgents: number(limits, 'metric_agents') }),
      metricVersions: number(limits, 'metric_versions'),
      ...(member(limits, 'connections') === undefined ? {} : { connections: number(limits, 'connections') }),
    },
    closing: closingTimes(closing),
    redact: redactionSettings(listAt(value, 'redact')),
    tools,
    evaluators: listAt(value, 'evaluators').map((entry, index) =>
      evaluator(entry, members, {
        drift,
        names: raisable,
        judges: objectAt(value, 'judges'),
        tls: ofEntry('evaluators', entryIndexes[index] ?? index),
      }),
    ),
    dialects: dialectSettings(listAt(value, 'dialects')),
    sessions: sessions(objectAt(value, 'sessions')),
    judges: Object.entries(objectAt(value, 'judges')).map(([name, judgeOf]) =>
      judge(name, asObject(judgeOf), { isBounded: isBounded(name, value), tls: ofEntry('judges', name) }),
    ),
    exporters: listAt(value, 'export').map((entry, index) =>
      exporterEntry(asObject(entry), { env, tls: ofEntry('export', index), console: consoleUrl(value) }),
    ),
    prices: Object.fromEntries(Object.entries(objectAt(value, 'prices')).map(([model, written]) => [model, price(asObject(written))])),
    groups: groups(objectAt(value, 'groups')),
    versionKey: text(objectAt(value, 'groups'), 'version_key').slice('attributes.'.length),
    store: store(objectAt(value, 'store')),
    journal: journal(objectAt(value, 'journal')),
    log: log(objectAt(value, 'log')),
    alerts: alertRules(listAt(value, 'alerts')),
    shards: number(value, 'shards'),
    datasets: datasetRules(value),
    queues: queueConfigs(value),
    ...(traces === undefined ? {} : { ownTraces: traces }),
  };
}

/** Address at which browsers reach the console; `undefined` when the listener does not name one host and one port. */
function consoleUrl(value: JsonObject): string | undefined {
  const listen = objectAt(value, 'listen');
  const written = member(listen, 'console_url') ?? member(objectAt(listen, 'oidc'), 'url');
  if (typeof written === 'string') return written;
  const { host, port } = address(listen, 'console');
  if (port === 0 || host === '0.0.0.0' || host === '::') return undefined;
  return `${member(listen, 'tls') === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The configuration in the form of the file, every evaluator with all its options. */
export function resolveValue({ value, members }: Pick<Checked, 'value' | 'members'>): JsonObject {
  const evaluators = listAt(value, 'evaluators').map((entry) => {
    const written = entryOf(entry);
    const { kind, evaluator: used, name, threshold } = configured(entry, members, objectAt(value, 'judges'));
    const options = filledOptions(used.optionsSchema, used.defaults, objectAt(written, 'options')) as JsonObject;
    return ownMembers([
      ['use', used.id],
      ['name', name],
      ...Object.entries(written).filter(([key]) => ['when', 'expect', 'turns', 'on', 'map', 'on_empty', 'tls', 'budget'].includes(key)),
      ...Object.entries(written).filter(([key]) => (key === 'drift' || Object.hasOwn(whoIsAskedSchema, key)) && kind === 'judge'),
      ...(kind === 'rule' ? [] : [['sample', { ...objectAt(written, 'sample'), rate: sampleRate(kind, written) }] as const]),
      ['options', snakeMembers(used.optionsSchema, options)],
      ['threshold', threshold],
      ['include_explanation', member(written, 'include_explanation') !== false],
    ]);
  });
  const exporters = listAt(value, 'export').map((entry) => printedExporter(asObject(entry)));
  const lists: JsonObject = { evaluators, export: exporters };
  return ownMembers(Object.entries(value).map(([key, below]) => [key, member(lists, key) ?? below]));
}

/** Omits defaults of keys that do not apply to the exporter. */
function printedExporter(entry: JsonObject): JsonObject {
  const isMetrics = text(entry, 'to') === 'metrics';
  if (isMetrics && member(entry, 'endpoint') === undefined) return { to: 'metrics' };
  const meaningless: readonly string[] = isMetrics
    ? ['give_up', 'protocol', 'judge_calls']
    : ['interval', 'temporality', ...(text(entry, 'to') === 'forward' ? ['judge_calls'] : [])];
  return ownMembers(Object.entries(entry).filter(([key]) => !meaningless.includes(key)));
}

function evaluator(
  entry: JsonValue,
  members: readonly AnyEvaluator[],
  files: { readonly drift: DriftFiles; readonly tls: ClientTls | undefined; readonly names: ExpressionNames; readonly judges: JsonObject },
): EvaluatorConfig {
  const written = entryOf(entry);
  const [when, drift] = [member(written, 'when'), member(written, 'drift')];
  const evaluatorOf = configured(entry, members, files.judges);
  return {
    configured: evaluatorOf.kind === 'http' && files.tls !== undefined ? { ...evaluatorOf, tls: files.tls } : evaluatorOf,
    sampleRate: sampleRate(evaluatorOf.kind, written),
    raise: listAt(objectAt(written, 'sample'), 'raise').flatMap((item) => raised(asObject(item), files.names)),
    ...(isJsonObject(when) ? { when: runCondition(when) } : {}),
    ...(evaluatorOf.kind === 'judge' ? askedBy(written) : {}),
    ...(isJsonObject(drift) ? { drift: driftOf(drift, files.drift) } : {}),
    ...budgetOf(written),
    ...learningOf(evaluatorOf, written, files.names),
  };
}

/** Settings of an evaluator that learns, without a given model. */
function learningOf(
  { evaluator: { learns, optionsSchema, defaults } }: ConfiguredEvaluator,
  written: JsonObject,
  names: ExpressionNames,
): Pick<EvaluatorConfig, 'learning'> {
  const given = objectAt(written, 'options');
  if (learns === undefined || member(given, 'model') !== undefined) return {};
  const { runsMin, runsMax, freeze, formerVersion, learnWhen } = filledOptions(optionsSchema, defaults, given) as LearningOptions;
  const parsed = learnWhen === undefined ? undefined : parseRunExpression(learnWhen, names);
  const when = parsed?.kind === 'parsed' ? { when: parsed.expression } : {};
  return { learning: { runsMin, runsMax, freezes: freeze, usesFormer: formerVersion, ...when } };
}

function sessions(written: JsonObject): Config['sessions'] {
  return {
    quietMs: quantity('duration', written, 'quiet'),
    latestMs: quantity('duration', written, 'latest'),
    keepMs: quantity('duration', written, 'keep'),
    rows: number(written, 'rows'),
  };
}

function driftOf(written: JsonObject, files: DriftFiles): DriftConfig {
  const [read, looks] = [files.get(text(written, 'dataset')), member(written, 'looks')];
  return {
    runs: read?.kind === 'read' ? read.runs : [],
    everyMs: quantity('duration', written, 'every'),
    ...(typeof looks === 'number' ? { looks } : {}),
    baseline: text(written, 'baseline'),
  };
}

function sampleRate(kind: EvaluatorKind, written: JsonObject): number {
  const rate = member(objectAt(written, 'sample'), 'rate');
  return typeof rate === 'number' ? rate : sampleRateDefaults[kind];
}

function configured(entry: JsonValue, members: readonly AnyEvaluator[], judges: JsonObject): ConfiguredEvaluator {
  const result = configuredEvaluator(evaluatorEntry(withContext(entryOf(entry), judges)), members);
  if (result.kind === 'faulty') throw new Error(`unchecked evaluator: ${result.faults.map(({ problem }) => problem).join(', ')}`);
  return result.evaluator;
}

function raised(item: JsonObject, names: ExpressionNames): EvaluatorConfig['raise'] {
  const parsed = parseRunExpression(text(item, 'when'), names);
  return parsed.kind === 'faulty' ? [] : [{ when: parsed.expression, to: number(item, 'to') }];
}

function judge(
  name: string,
  written: JsonObject,
  { isBounded: bounded, tls }: { readonly isBounded: boolean; readonly tls: ClientTls | undefined },
): JudgeConfig {
  return {
    name,
    baseUrl: text(written, 'base_url'),
    model: text(written, 'model'),
    apiKey: text(written, 'api_key'),
    concurrency: number(written, 'concurrency'),
    timeoutMs: quantity('duration', written, 'timeout'),
    cacheMs: quantity('duration', written, 'cache'),
    ...(member(written, 'requests_per_minute') === undefined ? {} : { requestsPerMinute: number(written, 'requests_per_minute') }),
    ...(tls === undefined ? {} : { tls }),
    ...requestParts(written),
    ...judgeCosts(written, bounded),
    ...(text(written, 'mode') === 'batch' ? { batch: batches(objectAt(written, 'batch')) } : {}),
  };
}

/** Optional members of every request. */
function requestParts(
  written: JsonObject,
): Pick<JudgeConfig, 'temperature' | 'reasoningEffort' | 'answerFormat' | 'headers' | 'extraBody'> {
  const [temperature, effort, format, headers, extraBody] = [
    member(written, 'temperature'),
    member(written, 'reasoning_effort'),
    answerFormats.find((one) => one === member(written, 'answer_format')),
    objectAt(written, 'headers'),
    objectAt(written, 'extra_body'),
  ];
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof effort === 'string' ? { reasoningEffort: effort } : {}),
    ...(format === undefined ? {} : { answerFormat: format }),
    ...(Object.keys(headers).length === 0
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)] as const)) }),
    ...(Object.keys(extraBody).length === 0 ? {} : { extraBody }),
  };
}

function batches(written: JsonObject): NonNullable<JudgeConfig['batch']> {
  const prices = member(written, 'price');
  return {
    pollMs: quantity('duration', written, 'poll'),
    gatherMs: quantity('duration', written, 'gather'),
    withinMs: quantity('duration', written, 'within'),
    requests: number(written, 'requests'),
    bytes: quantity('bytes', written, 'bytes'),
    inFlight: number(written, 'in_flight'),
    ...(isJsonObject(prices)
      ? { price: { inputPerMillion: number(prices, 'input_per_million'), outputPerMillion: number(prices, 'output_per_million') } }
      : {}),
  };
}

/** With a budget in money or tokens an answer has a limit, for a reservation needs the most that a call may use. */
function judgeCosts(written: JsonObject, isBounded: boolean): Pick<JudgeConfig, 'price' | 'budget' | 'answerTokensMax'> {
  const [prices, answerTokens] = [objectAt(written, 'price'), member(written, 'max_output_tokens') ?? member(written, 'answer_tokens')];
  const isPriced = member(prices, 'input_per_million') !== undefined && member(prices, 'output_per_million') !== undefined;
  return {
    ...(isPriced
      ? { price: { inputPerMillion: number(prices, 'input_per_million'), outputPerMillion: number(prices, 'output_per_million') } }
      : {}),
    ...budgetOf(written),
    ...(answerTokens !== undefined || isBounded ? { answerTokensMax: Number(answerTokens ?? answerTokensDefault) } : {}),
  };
}

/** `true` when the budget of the judge or of one of its evaluators counts money or tokens. */
function isBounded(judgeName: string, value: JsonObject): boolean {
  const asking = listAt(value, 'evaluators')
    .map(entryOf)
    .filter((entry) => askable(entry).includes(judgeName));
  return [asObject(member(objectAt(value, 'judges'), judgeName)), ...asking].some((entry) =>
    ['usd_per_day', 'tokens_per_day', 'tokens_per_minute'].some((key) => member(objectAt(entry, 'budget'), key) !== undefined),
  );
}

function budgetOf(entry: JsonObject): { readonly budget?: BudgetLimits } {
  const written = member(entry, 'budget');
  if (!isJsonObject(written)) return {};
  const limit = (key: string, as: keyof BudgetLimits): BudgetLimits =>
    member(written, key) === undefined ? {} : { [as]: number(written, key) };
  return {
    budget: {
      ...limit('usd_per_day', 'usdPerDay'),
      ...limit('requests_per_day', 'requestsPerDay'),
      ...limit('tokens_per_day', 'tokensPerDay'),
      ...limit('requests_per_minute', 'requestsPerMinute'),
      ...limit('tokens_per_minute', 'tokensPerMinute'),
    },
  };
}

function price(written: JsonObject): Price {
  const long = member(written, 'long_context');
  return {
    ...tokenPrices(written),
    ...(isJsonObject(long) ? { longContext: { overInputTokens: number(long, 'over_input_tokens'), ...tokenPrices(long) } } : {}),
  };
}

function tokenPrices(written: JsonObject): Omit<Price, 'longContext'> {
  const cached = member(written, 'cached_per_million');
  return {
    inputPerMillion: number(written, 'input_per_million'),
    outputPerMillion: number(written, 'output_per_million'),
    ...(typeof cached === 'number' ? { cachedPerMillion: cached } : {}),
  };
}

function groups(written: JsonObject): TaskGroupSettings {
  const success = text(written, 'success');
  return {
    taskKey: taskPath(text(written, 'task_key')) ?? defaultTaskKey,
    runsMax: number(written, 'runs'),
    tasksMax: number(written, 'tasks'),
    steps: text(written, 'steps') === 'tool_calls' ? 'tool_calls' : 'tool_and_model_calls',
    ...(success === '' ? {} : { success }),
  };
}

function log(written: JsonObject): Config['log'] {
  const [format, level] = [
    logFormats.find((known) => known === text(written, 'format')),
    logLevels.find((known) => known === text(written, 'level')),
  ];
  if (format === undefined || level === undefined) throw new Error('unchecked log');
  return { format, level };
}

function journal(written: JsonObject): Config['journal'] {
  const address = journalAddress(text(written, 'url'));
  if (address === undefined) throw new Error('unchecked journal.url');
  return address;
}

function store(written: JsonObject): Config['store'] {
  const address = storeAddress(text(written, 'url'));
  if (address === undefined) throw new Error('unchecked store.url');
  const keep = objectAt(written, 'keep');
  const content = contentChoices.find((choice) => choice === text(written, 'content'));
  if (content === undefined) throw new Error('unchecked store.content');
  return {
    address,
    content: { content, sampleRate: number(written, 'content_sample'), perMinute: number(written, 'content_per_minute') },
    search: { isOn: member(written, 'search') === true, charsMax: number(written, 'search_chars') },
    keep: {
      runsMs: quantity('duration', keep, 'runs'),
      contentMs: quantity('duration', keep, 'content'),
      bytes: quantity('bytes', keep, 'bytes'),
      exportsMs: quantity('duration', keep, 'exports'),
      exports: number(keep, 'export_rows'),
    },
    annotationsWaitMs: quantity('duration', keep, 'annotations'),
    experimentsMs: quantity('duration', keep, 'experiments'),
    judgeJobs: { ageMs: quantity('duration', keep, 'judge_age'), rows: number(keep, 'judge_rows') },
  };
}

function names(
  listen: JsonObject,
  key: string,
  name: 'allowedHosts' | 'allowedOrigins',
): { readonly [key in typeof name]?: readonly string[] } {
  return member(listen, key) === undefined ? {} : { [name]: listAt(listen, key).filter((item) => typeof item === 'string') };
}

function token(written: JsonValue): Config['listen']['tokens'][number] {
  const from = asObject(written);
  return {
    name: text(from, 'name'),
    value: text(from, 'value'),
    may: listAt(from, 'may') as Config['listen']['tokens'][number]['may'],
    ...(member(from, 'sees') === 'own' ? { sees: 'own' } : {}),
  };
}

function address(from: JsonObject, key: string): Address {
  return addressOf(text(from, key)) ?? { host: '127.0.0.1', port: 0 };
}

function quantity(kind: QuantityKind, from: JsonObject, key: string): number {
  return quantityOf(kind, member(from, key)) ?? 0;
}

/** A default is no longer than `quiet`. */
function closingTimes(closing: JsonObject): Config['closing'] {
  const settleMs = quantityOf('duration', member(closing, 'settle'));
  const quietMs = quantity('duration', closing, 'quiet');
  return {
    settleMs: settleMs ?? Math.min(defaultClosing.settleMs, quietMs),
    batchedSettleMs: settleMs ?? Math.min(defaultClosing.batchedSettleMs, quietMs),
    quietMs,
    abandonMs: quantity('duration', closing, 'abandon'),
    lateMs: quantity('duration', closing, 'late'),
  };
}

function number(from: JsonObject, key: string): number {
  return Number(member(from, key));
}

function text(from: JsonObject, key: string): string {
  const value = member(from, key);
  return typeof value === 'string' ? value : '';
}

/** Reads `listen.oidc`; empty without the key. */
function people(written: JsonObject): Pick<Config['listen'], 'oidc'> {
  const [issuer, clientId, clientSecret, url] = ['issuer', 'client_id', 'client_secret', 'url'].map((key) => member(written, key));
  if (typeof issuer !== 'string') return {};
  return {
    oidc: {
      issuer,
      clientId: String(clientId),
      clientSecret: String(clientSecret),
      ...(typeof url === 'string' ? { url } : {}),
      allowed: listAt(written, 'allowed').map((entry) => {
        const [email, subject] = ['email', 'subject'].map((key) => member(asObject(entry), key));
        return {
          ...(typeof email === 'string' ? { email } : {}),
          ...(typeof subject === 'string' ? { subject } : {}),
          may: rights.filter((right) => listAt(asObject(entry), 'may').includes(right)),
        };
      }),
    },
  };
}
