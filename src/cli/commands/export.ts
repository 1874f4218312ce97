/** `tracejury export`: sends scores of recorded or stored runs to the backends of a configuration, or prints the requests. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { type CommandProgram, type CommandInput, type ExitCode, UsageError, textOption, reportFormat } from '../command.ts';
import { configOption, formatOption, tenantOption } from '../common-options.ts';
import { readInputs } from '../eval/inputs.ts';
import { recordedRuns } from '../inspect/inspection.ts';
import { openInputs } from '../inspect/recording.ts';
import { verdictOfStored } from '../stored-verdict.ts';
import type { Config, EvaluatorConfig, ExporterConfig } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { readConfig } from '../../config/load.ts';
import { mask, maskedUrl } from '../../config/secrets.ts';
import { failureReason } from '../../exporters/delivery/export-outcome.ts';
import type { Exporter, PlannedRequest } from '../../exporters/exporter.ts';
import type { Run, RunKey, SessionSoFar } from '../../model/agent-trace.ts';
import { chunks } from '../../model/chunks.ts';
import { parseSpanId, parseTraceId, type SpanId, tenant, type Tenant, type TraceId } from '../../model/ids.ts';
import { type JsonObject, jsonText, member } from '../../model/json.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Store, StoredVerdict } from '../../model/store/store.ts';
import { type Evaluation, sampledBy, targetKey } from '../../model/verdict.ts';
import { evaluateRun } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { configuredExporter } from '../../service/exporter-set.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { mayBeThere, openStore, storeName } from '../../stores/index.ts';
import { keptSpans } from '../../stores/span-archiver.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

const inputsMax = 1_000;
/** Used by exporters without `itemsAtOnce`. */
const itemsAtOnceDefault = 4;

export const exportScores: CommandProgram = {
  examples: [
    { does: 'Shows the requests without keys and sends nothing:', line: 'tracejury export spans.jsonl -c tracejury.yaml --dry-run' },
    { does: 'Sends the scores of a stored trace:', line: 'tracejury export --run 4bf92f3577b34da6a3ce929d0e0e4736 -c tracejury.yaml' },
  ],
  options: {
    config: configOption('uses the evaluators and exporters of this configuration'),
    run: {
      type: 'string',
      value: 'TRACE_ID[/SPAN_ID]',
      summary: 'reads the runs of a trace, or one run, from the store instead of files',
    },
    tenant: tenantOption('names the tenant of the trace'),
    to: {
      type: 'string',
      value: 'NAME',
      summary: 'sends to this entry of `export` only; `forward` gets evaluation spans, without the agents’ own spans',
    },
    'dry-run': { type: 'boolean', summary: 'shows the requests without keys and sends nothing' },
    format: formatOption('writes a dry run as text (default) or json', 'text|json'),
  },
  positionalsMax: inputsMax,
  async run(input) {
    const format = reportFormat(input);
    const file = textOption(input, 'config');
    if (file === undefined) throw new UsageError('Name the configuration with -c.');
    const { config } = await readConfig({ file, env: input.env, evaluators });
    const entries = entriesOf(config, textOption(input, 'to'));
    const scored = await itemsOf(input, config);
    if (scored === undefined) return 1;
    if (scored.notAsked > 0) input.complain(`Omitted verdicts, for export asks no judge: ${scored.notAsked}.`);
    for (const { to, name } of entries)
      if (to === 'forward') input.complain(`${name}: export sends evaluation spans; only a service forwards the agents’ own spans.`);
    const all = entries.map((entry) => ({
      name: entry.name,
      exporter: configuredExporter(entry, { telemetry: noTelemetry, clock, sleep }),
    }));
    try {
      if (input.options['dry-run'] === true) return await writeRequests(all, scored.items, { format, say: input.say });
      return await sent(all, scored.items, input);
    } finally {
      for (const { exporter } of all) await exporter.stop();
    }
  },
};

interface Named {
  readonly name: string;
  readonly exporter: Exporter;
}

function entriesOf({ exporters }: Config, name: string | undefined): readonly ExporterConfig[] {
  const wanted = exporters.filter((entry) => entry.to !== 'metrics' && (name === undefined || entry.name === name));
  if (wanted.length > 0) return wanted;
  throw new UsageError(
    name === undefined
      ? 'The configuration has no entry of `export` that sends scores.'
      : `No entry of \`export\` that sends scores has the name ${JSON.stringify(name)}.`,
  );
}

/** `undefined` when there is none, after a message. */
async function itemsOf(input: CommandInput, config: Config): Promise<ScoredRuns | undefined> {
  const run = textOption(input, 'run');
  if ((run === undefined) === (input.positionals.length === 0))
    throw new UsageError('Name files of recorded spans, or - for standard input, or a stored run with --run.');
  return run === undefined ? await recorded(input, config) : await stored(input, config, run);
}

async function recorded({ positionals, complain }: CommandInput, config: Config): Promise<ScoredRuns | undefined> {
  const { items, rejections } = readInputs(await openInputs(positionals, process.stdin), { reading: config, take: (item) => item });
  for (const { where, reason, count } of rejections) complain(`${where}: ${count} left out (${reason})`);
  const runs = items.filter(({ ordered }) => !ordered).map((item) => item.run);
  if (runs.length < items.length) complain(`Omitted agent traces, for scores need spans: ${items.length - runs.length}.`);
  if (runs.length > 0) return scoredRuns(runs, config);
  complain('No agent run was found.');
  return undefined;
}

async function stored(input: CommandInput, config: Config, named: string): Promise<ScoredRuns | undefined> {
  const [trace = '', span, ...more] = named.split('/');
  const [traceId, spanId] = [parseTraceId(trace), parseSpanId(span ?? '')];
  if (traceId === undefined || (span !== undefined && spanId === undefined) || more.length > 0)
    throw new UsageError('--run takes a trace id of 32 hexadecimal digits, or TRACE_ID/SPAN_ID with a span id of 16.');
  const { address } = config.store;
  if (address.scheme === 'memory') throw new UsageError('store.url is memory, which only its own process can read.');
  if (!mayBeThere(address))
    throw new UsageError(`There is no store at ${storeName(address)}; store.url names it, from the folder in which this is run.`);
  const store = await openStore(address);
  try {
    const found = await storedRuns(store, { tenant: tenant(textOption(input, 'tenant') ?? ''), traceId, spanId }, config);
    if (found === undefined) input.complain('The store has no such run, or no spans of it.');
    return found;
  } finally {
    await store.stop();
  }
}

async function writeRequests(
  all: readonly Named[],
  items: readonly ScoredRun[],
  { format, say }: { readonly format: 'text' | 'json'; readonly say: CommandInput['say'] },
): Promise<ExitCode> {
  const requests = [];
  for (const { name, exporter } of all) requests.push({ exporter: name, requests: await exporter.plan?.(items) });
  say(format === 'json' ? requestsJson(requests) : requestsText(requests));
  return 0;
}

/** Sends once to each backend and prints the result. */
async function sent(all: readonly Named[], items: readonly ScoredRun[], { say, complain }: CommandInput): Promise<ExitCode> {
  let isWhole = true;
  for (const { name, exporter } of all) {
    const outcomes = [];
    for (const some of chunks(items, exporter.itemsAtOnce ?? itemsAtOnceDefault))
      outcomes.push(...(await Promise.all(some.map((item) => exporter.send(item)))));
    const failures = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome] : []));
    const faults = new Set(failures.map(({ error }) => error));
    const taken = outcomes.filter(({ kind }) => kind === 'sent').length;
    say(`${name}: ${taken} of ${outcomes.length} sent${faults.size === 0 ? '' : ` (${[...faults].join('; ')})`}`);
    for (const todo of new Set(failures.map((failure) => failureReason(failure).todo))) if (todo !== '') complain(`${name}: ${todo}`);
    isWhole &&= taken === outcomes.length;
  }
  return isWhole ? 0 : 1;
}

/** Headers without credentials. The output masks all others. */
const plainHeaders: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);

interface ExporterRequests {
  readonly exporter: string;
  /** `undefined` when the exporter cannot list its requests. */
  readonly requests: readonly PlannedRequest[] | undefined;
}

function requestsJson(all: readonly ExporterRequests[]): string {
  const list = all.flatMap(({ exporter, requests = [] }) =>
    requests.map((request): JsonObject => ({
      exporter,
      method: request.method,
      url: hiddenUrl(request),
      headers: hiddenHeaders(request),
      ...(request.body === undefined ? {} : { body: request.body }),
    })),
  );
  return indented({ requests: list });
}

function requestsText(all: readonly ExporterRequests[]): string {
  return all
    .map(({ exporter, requests }) => [`# ${exporter}: ${countText(requests)}`, ...(requests ?? []).map(requestText)].join('\n\n'))
    .join('\n\n');
}

function countText(requests: readonly PlannedRequest[] | undefined): string {
  if (requests === undefined) return 'has no requests to print';
  return requests.length === 1 ? '1 request' : `${requests.length} requests`;
}

function requestText(request: PlannedRequest): string {
  const headers = Object.entries(hiddenHeaders(request)).map(([name, value]) => `${name}: ${value}`);
  return [`${request.method} ${hiddenUrl(request)}`, ...headers, ...(request.body === undefined ? [] : ['', indented(request.body)])].join(
    '\n',
  );
}

function hiddenHeaders({ headers }: PlannedRequest): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plainHeaders.has(name.toLowerCase()) ? value : mask]));
}

function hiddenUrl({ url, query }: PlannedRequest): string {
  return query === undefined ? maskedUrl(url) : `${maskedUrl(url)}?${query}`;
}

function indented(value: Parameters<typeof jsonText>[0]): string {
  return JSON.stringify(JSON.parse(jsonText(value)), undefined, 2);
}

interface ScoredRuns {
  readonly items: readonly ScoredRun[];
  /** Verdicts that need a judge. */
  readonly notAsked: number;
}

/** Scores runs as the service does, without questions to judges. Verdicts of rules share an item; each judge has its own. */
function scoredRuns(runs: readonly Run[], config: Config, stored: (run: RunKey) => readonly Evaluation[] = () => []): ScoredRuns {
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const context = evaluationContext();
  const clock = { nowMs: () => performance.now() };
  let notAsked = 0;
  const items = runs.flatMap((run) => {
    const { evaluations, decisions, toJudge } = evaluateRun(run, config.evaluators, { context, clock, telemetry: noTelemetry });
    const answered = stored(run);
    const names = new Set(answered.map(({ key }) => key.name));
    notAsked += toJudge.filter(({ configured }) => !names.has(configured.name)).length;
    const left = redactedRun(run, redaction);
    return [left.item({ evaluations, decisions }), ...answered.map((one) => itemOf(left.item({ evaluations: [one], decisions: [] }), one))];
  });
  return { items, notAsked };
}

/** The run of a session verdict represents the session. */
function itemOf(item: ScoredRun, { key, revision }: Evaluation): ScoredRun {
  return key.targetKind === 'session' ? { ...item, run: { ...item.run, session: asStored({ revision }) } } : item;
}

interface StoredPlace {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  /** All runs of the trace when `undefined`. */
  readonly spanId: SpanId | undefined;
}

/** `undefined` when the store has no spans of the trace, or no such run in them. */
async function storedRuns(store: Store, place: StoredPlace, config: Config): Promise<ScoredRuns | undefined> {
  const { tenant, traceId, spanId } = place;
  const [kept, [known]] = await Promise.all([keptSpans(await store.spans(tenant, traceId)), store.known([{ tenant, traceId }])]);
  if (kept === undefined) return undefined;
  const runs = recordedRuns(kept, config);
  const revisions = new Map(known?.runs.map((one) => [one.spanId, one.revision]));
  const wanted = runs
    .filter((run) => run.traceId === traceId && (spanId === undefined || run.spanId === spanId))
    .map((run): Run => ({ ...run, tenant, revision: revisions.get(run.spanId) ?? run.revision }));
  if (wanted.length === 0) return undefined;
  const judged = new Map<RunKey, ReturnType<typeof storedEvaluations>>();
  for (const run of wanted) judged.set(run, storedEvaluations(run, (await store.run(run))?.verdicts ?? [], config.evaluators));
  return scoredRuns(wanted, config, (run) => judged.get(run) ?? []);
}

/** Stored verdicts of judges and endpoints; rules score again. */
function storedEvaluations(run: Run, verdicts: readonly StoredVerdict[], plan: readonly EvaluatorConfig[]): readonly Evaluation[] {
  return verdicts.flatMap((stored) => {
    const planned = plan.find(({ configured }) => configured.name === stored.name);
    if (planned === undefined || planned.configured.kind === 'rule') return [];
    const { tenant, traceId, spanId } = run;
    return [
      {
        key: targetKey(member(stored.details, 'session') === undefined ? run : { ...run, session: asStored(stored) }, stored.name),
        run: { tenant, traceId, spanId },
        evaluator: stored.evaluator,
        evaluatorKind: planned.configured.kind,
        evaluatorVersion: stored.version,
        optionsHash: '',
        revision: stored.revision,
        completeness: run.completeness,
        verdict: verdictOfStored(stored, planned.configured.threshold),
        sampleProbability: stored.sampleProbability,
        ...sampledBy(stored),
      },
    ];
  });
}

/** The store does not have the number of turns of a judged session. */
function asStored({ revision }: Pick<StoredVerdict, 'revision'>): SessionSoFar {
  return { revision, turns: 0, leftOut: 0 };
}
