/** The routes of the API. The listener serves each row, and the OpenAPI document describes it. */
import {
  list,
  named,
  NotKept,
  offsetOf,
  offsetText,
  pages,
  type Parameters,
  periodOf,
  QueryFault,
  Refusal,
  type Route,
  runParameters,
  runsOf,
  splitDescription,
  splitOf,
} from './route.ts';
import type { TraceId } from '../../model/ids.ts';
import { examinedMax } from '../../model/store/store.ts';
import { type RunSplit, runSplits } from '../../model/store/verdict-rows.ts';
import { alertRoutes } from './alerts.ts';
import { annotationRoutes } from './annotations.ts';
import { datasetFileRoutes } from './dataset-files.ts';
import { datasetRoutes } from './datasets.ts';
import { experimentHistoryRoutes } from './experiment-history.ts';
import { evaluatorRoutes } from './evaluators.ts';
import { experimentRoutes } from './experiments.ts';
import { figureRoutes } from './figures.ts';
import { exportRoutes } from './exports.ts';
import { queueRoutes } from './queues.ts';
import { versionRoutes } from './versions.ts';
import { callRoutes } from './calls.ts';
import { noticeRoutes } from './notices.ts';
import { overviewRoutes } from './overview.ts';
import { processRoutes } from './processes.ts';
import { firstStepRoutes } from './first-steps.ts';
import { browserSessionRoutes } from './browser-session.ts';
import { liveRoutes } from './live.ts';
import { spanId, storedRun } from './one-run.ts';
import { replicaRoutes } from './replicas.ts';
import { runContextRoutes } from './run-context.ts';
import { runExportRoutes } from './run-export.ts';
import { runFilters, runsPage, searchableFilter, searchedRuns, tenant, time, traceId } from './run-list.ts';
import { runSpanRoutes } from './run-spans.ts';
import { sessionRoutes } from './sessions.ts';
import { decisionJson, otlpLines, runJson, spanPage, spansGoneJson, summaryJson } from './json.ts';
import { settingsRoutes } from './settings.ts';
import { listMax, listMaxOf, toolCallRoutes } from './tool-calls.ts';
/** Of the spans of one file, before it is written. */
const otlpBytesMax = 64 * 1024 * 1024;
const spansLimitDefault = 200;
const period = {
  from: { ...time, description: 'Runs that started at this time or later; a day ago when left out.' },
  to: { ...time, description: 'Runs that started before this time; now when left out.' },
} as const;
const by = { enum: runSplits, description: `${splitDescription}, the others as \`other\`.` } as const;
const dayMicros = 86_400_000_000;
const buckets: { readonly [name: string]: number } = { minute: 60_000_000, hour: 3_600_000_000, day: dayMicros };
/** Buckets of one answer. */
const bucketsMax = 1_500;

export const routes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs',
    summary: `Runs, newest first, without their long fields. A page examines at most ${examinedMax} runs when no index answers the filter.`,
    path_parameters: {},
    query_parameters: { ...runFilters, ...pages },
    answer: searchedRuns,
    handle: async (parts, query) => await runsPage(parts.store, searchableFilter(parts, query), query),
  },
  ...liveRoutes,
  ...runExportRoutes,
  {
    method: 'get',
    path: '/runs/{trace}/{span}',
    summary: 'One run with its tool calls, verdicts and decisions.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant, list_max: listMax },
    answer: { $ref: '#/components/schemas/Run' },
    async handle({ store }, query) {
      const run = await storedRun(store, query);
      return run === undefined ? undefined : runJson(run, listMaxOf(query));
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/spans',
    summary:
      'The stored spans of the run’s trace: first those of the run and its sub-agents by start, then the others. `cut` names shortened texts.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant, limit: { ...pages.limit, maximum: 500, default: spansLimitDefault }, cursor: pages.cursor },
    answer: {
      type: 'object',
      required: ['spans', 'next', 'whole', 'spans_gone'],
      properties: {
        spans: { type: 'array', items: { $ref: '#/components/schemas/Span' } },
        next: { type: ['string', 'null'] },
        whole: { type: ['boolean', 'null'], description: 'False: some spans of the trace are not stored.' },
        spans_gone: { anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }], description: 'Why the store has none.' },
      },
    },
    async handle({ store, spans }, query) {
      const run = await storedRun(store, query);
      const kept = run === undefined ? undefined : await spans(run);
      if (run === undefined) return undefined;
      if (kept === undefined) return { spans: [], next: null, whole: null, spans_gone: spansGoneJson(run) };
      const { cursor, limit } = query;
      const page = spanPage(kept.spans, run.spanId, {
        from: typeof cursor === 'string' ? offsetOf(cursor) : 0,
        limit: typeof limit === 'number' ? limit : spansLimitDefault,
      });
      return { spans: page.spans, next: page.next === undefined ? null : offsetText(page.next), whole: kept.isWhole, spans_gone: null };
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/otlp',
    summary: 'All stored spans and log records of the run’s trace as lines of OTLP/JSON, for `tracejury eval` and `tracejury inspect`.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant },
    answer: { type: 'string' },
    file: { type: 'application/x-ndjson', ending: 'otlp.jsonl' },
    refusals: { 422: `The spans have more than ${otlpBytesMax} bytes.` },
    async handle({ store, spans }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const kept = await spans(run);
      const gone = spansGoneJson(run);
      if (kept === undefined) throw new NotKept(`The store has no spans of this run. ${gone.explanation}`);
      if (kept.spans.reduce((sum, { wireBytes }) => sum + wireBytes, 0) > otlpBytesMax)
        throw new Refusal(422, {
          code: 'too_large',
          message: `The spans have more than ${otlpBytesMax} bytes.`,
          todo: 'GET …/spans has them in pages.',
        });
      return otlpLines(kept);
    },
  },
  ...toolCallRoutes,
  ...runSpanRoutes,
  ...runContextRoutes,
  {
    method: 'get',
    path: '/decisions/{trace}',
    summary: 'The decision on each pair of run and evaluator of this trace.',
    path_parameters: { trace: traceId },
    query_parameters: { tenant },
    answer: list('decisions', 'Decision'),
    handle: async ({ store }, { trace, tenant: of }) => ({
      decisions: (await store.decisions(trace as TraceId)).filter((one) => of === undefined || one.tenant === of).map(decisionJson),
      next: null,
    }),
  },
  ...sessionRoutes,
  {
    method: 'get',
    path: '/summary',
    summary: 'Verdicts by evaluator over time.',
    path_parameters: {},
    query_parameters: {
      ...period,
      ...runParameters,
      tenant,
      evaluator: runFilters.evaluator,
      by,
      bucket: { enum: Object.keys(buckets), default: 'hour', description: 'Width of one step in time.' },
    },
    answer: list('summary', 'SummaryRow'),
    async handle({ store, clock }, query) {
      const bucketMicros = buckets[String(query['bucket'] ?? 'hour')] ?? dayMicros;
      const between = periodOf(query, clock);
      if ((between.to - between.from) / bucketMicros > bucketsMax)
        throw new QueryFault(`from and to are more than ${bucketsMax} steps apart.`, 'Name a wider bucket or a shorter time.');
      const rows = await store.summary({
        ...between,
        bucketMicros,
        ...runsOf(query),
        ...named(query, 'evaluator', 'evaluator'),
        ...splitIn(query),
      });
      return { summary: rows.map((row) => summaryJson(row, splitOf(query))), next: null };
    },
  },
  {
    method: 'get',
    path: '/evaluability',
    summary: 'Outcomes of each evaluator since the start of the service, by agent and dialect, with the missing data.',
    path_parameters: {},
    query_parameters: {},
    answer: {
      type: 'object',
      required: ['evaluability', 'unrecognised', 'next'],
      properties: {
        evaluability: { type: 'array', items: { $ref: '#/components/schemas/EvaluabilityRow' } },
        unrecognised: {
          type: 'array',
          items: { $ref: '#/components/schemas/UnrecognisedService' },
          description: 'Services and scopes whose spans hold no agent, model call or tool call for eight seconds or longer.',
        },
        next: { type: 'null' },
      },
    },
    handle: async ({ evaluability, unrecognised }) => ({
      evaluability: evaluability(),
      unrecognised: unrecognised().map((notice) => ({ ...notice })),
      next: null,
    }),
  },
  ...evaluatorRoutes,
  ...figureRoutes,
  ...overviewRoutes,
  ...callRoutes,
  ...versionRoutes,
  ...alertRoutes,
  ...processRoutes,
  ...annotationRoutes,
  ...exportRoutes,
  ...datasetRoutes,
  ...queueRoutes,
  ...datasetFileRoutes,
  ...experimentRoutes,
  ...browserSessionRoutes,
  ...firstStepRoutes,
  ...experimentHistoryRoutes,
  ...settingsRoutes,
  ...replicaRoutes,
  ...noticeRoutes,
];

function splitIn(query: Parameters): { readonly by?: RunSplit } {
  const split = splitOf(query);
  return split === undefined ? {} : { by: split };
}
