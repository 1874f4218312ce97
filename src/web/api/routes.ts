/** The routes of the API. The listener serves each row, and the OpenAPI document describes it. */
import * as api from '../../model/resource.ts';
import { list, nextOf, NotKept, pageOf, pages, Refusal, type Route } from './route.ts';
import type { TraceId } from '../../model/ids.ts';
import { examinedMax } from '../../model/store/store.ts';
import { alertRoutes } from './alerts.ts';
import { annotationRoutes } from './annotations.ts';
import { datasetFileRoutes } from './dataset-files.ts';
import { datasetRoutes } from './datasets.ts';
import { experimentHistoryRoutes } from './experiment-history.ts';
import { evaluatorRoutes } from './evaluators.ts';
import { experimentRoutes } from './experiments.ts';
import { rateRoutes } from './rates.ts';
import { issueDifferenceRoutes } from './issue-differences.ts';
import { issueRoutes } from './issues.ts';
import { judgeRoutes } from './judges.ts';
import { evaluabilityRoutes } from './evaluability.ts';
import { summaryRoutes } from './summary.ts';
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
import { runFilters, runsPage, searchableFilter, searchedRuns, tenant, traceId } from './run-list.ts';
import { runSpanRoutes } from './run-spans.ts';
import { sessionRoutes } from './sessions.ts';
import { decision, decisionJson, gone, run as runResource, runJsonWithIssues, spansGone } from './run-json.ts';
import { otlpLines, spanPage, spanResource } from './span-json.ts';
import { settingsRoutes } from './settings.ts';
import { listMax, listMaxOf, toolCallRoutes } from './tool-calls.ts';
/** Most bytes of the spans of one file, before it is written. */
const otlpBytesMax = 64 * 1024 * 1024;
const spansLimitDefault = 200;

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
    summary: 'One run with its tool calls, verdicts, decisions and issues.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant, list_max: listMax },
    answer: runResource.schema,
    async handle({ store }, query) {
      const run = await storedRun(store, query);
      return run === undefined ? undefined : runJsonWithIssues(run, await store.issues.issuesOf(run), listMaxOf(query));
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/spans',
    summary:
      'The stored spans of the run’s trace: first those of the run and its sub-agents by start, then the others. `cut` names shortened texts.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant, limit: { ...pages.limit, maximum: 500, default: spansLimitDefault }, cursor: pages.cursor },
    answer: api.object({
      spans: api.many(spanResource.schema),
      next: api.orNull(api.text),
      whole: api.orNull(api.flag, 'False when some spans of the trace are not stored.'),
      spans_gone: api.optional(gone.schema, 'Why the store has none.'),
    }),
    async handle({ store, spans }, query) {
      const run = await storedRun(store, query);
      const kept = run === undefined ? undefined : await spans(run);
      if (run === undefined) return undefined;
      if (kept === undefined) return { spans: [], next: null, whole: null, spans_gone: gone.write(spansGone(run)) };
      const { limit, after: from = 0 } = pageOf(query, spansLimitDefault);
      const page = spanPage(kept.spans, run.spanId, { from, limit });
      return { spans: page.spans, next: nextOf(page.next), whole: kept.isWhole, spans_gone: null };
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/otlp',
    summary: 'All stored spans and log records of the run’s trace as lines of OTLP/JSON, for `tracejury eval` and `tracejury inspect`.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: { tenant },
    answer: api.text,
    file: { type: 'application/x-ndjson', ending: 'otlp.jsonl' },
    refusals: { 422: `The spans have more than ${otlpBytesMax} bytes.` },
    async handle({ store, spans }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const kept = await spans(run);
      if (kept === undefined) throw new NotKept(`The store has no spans of this run. ${spansGone(run).explanation}`);
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
    answer: list('decisions', decision),
    handle: async ({ store }, { trace, tenant: of }) => ({
      decisions: (await store.decisions(trace as TraceId)).filter((one) => of === undefined || one.tenant === of).map(decisionJson),
      next: null,
    }),
  },
  ...sessionRoutes,
  ...summaryRoutes,
  ...evaluabilityRoutes,
  ...evaluatorRoutes,
  ...rateRoutes,
  ...judgeRoutes,
  ...overviewRoutes,
  ...callRoutes,
  ...versionRoutes,
  ...alertRoutes,
  ...issueRoutes,
  ...issueDifferenceRoutes,
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
