/** `docs/reference/limits.md`, from the bounds over what senders and callers choose. */
import { contentPerMinuteDefault } from '../../src/config/sections/storage.ts';
import { tasksDefault } from '../../src/config/sections/runs.ts';
import { verdictsRememberedMax } from '../../src/exporters/metrics/metrics.ts';
import { itemsMaxDefault as itemsOfExporterMax } from '../../src/exporters/delivery/delivery-queue.ts';
import { reportedMax } from '../../src/exporters/webhook/webhook.ts';
import { storeRowsMax } from '../../src/judges/client/answer-cache.ts';
import { jobsWaitingMax } from '../../src/judges/queue/executor.ts';
import { silencesMax } from '../../src/model/alert.ts';
import { identityBytesMax, identityCharsMax } from '../../src/model/identity-text.ts';
import { annotationsPerTraceMax, annotationsWaitingMax } from '../../src/model/store/annotation-store.ts';
import { datasetExamplesMax, datasetsMax, datasetVersionsMax } from '../../src/model/store/dataset-store.ts';
import { experimentsMax, resultsMax, spanExperimentsMax } from '../../src/model/store/experiment-store.ts';
import { issuesPerAgentMax, issuesPerTenantMax } from '../../src/model/store/issue-store.ts';
import { processesMax } from '../../src/model/store/process-store.ts';
import { sessionRunsMax } from '../../src/model/store/session-list.ts';
import { sessionTurnsMax } from '../../src/model/store/session-store.ts';
import { queueItemsMax } from '../../src/model/store/queue-store.ts';
import { piecesPerTraceMax } from '../../src/model/store/store.ts';
import { sessionsMax as toolSessionsMax } from '../../src/pipeline/assembly/session-tool-definitions.ts';
import { agentsWatchedMax } from '../../src/pipeline/reporting/content-notices.ts';
import { servicesMax } from '../../src/pipeline/reporting/recognition.ts';
import { defaultGroupLimits } from '../../src/pipeline/gathering/close-policy.ts';
import { labelledMaxDefault } from '../../src/pipeline/reporting/task-groups.ts';
import { tracesMaxDefault } from '../../src/pipeline/reporting/task-keys.ts';
import { alertAgentsMax } from '../../src/service/alert-watch.ts';
import { waitingResultsMax, waitingRunsMax } from '../../src/service/experiment-writer.ts';
import { rowsMax as judgedSessionsMax } from '../../src/service/judge-admission.ts';
import { processesMaxDefault } from '../../src/service/process-learning.ts';
import { runsMax as gaugedRunsMax } from '../../src/service/rate-gauges.ts';
import { waitingMax } from '../../src/service/rule-matcher.ts';
import { itemsMaxDefault } from '../../src/stores/run-writer.ts';
import { knownMax, tracesMaxDefault as tracesWaitingMax, wantedMaxDefault } from '../../src/stores/span-archiver.ts';
import { tracesPerTurn } from '../../src/stores/late-span-lookup.ts';
import { pageCharsMax } from '../../src/stores/sql/body-pages.ts';
import { marksMax } from '../../src/stores/sql/marks.ts';
import { runsMax as liveRunsMax } from '../../src/stores/sql/recent-runs.ts';
import { namesMax, rollupAgentsMax, rowsMax } from '../../src/stores/sql/rollup-sums.ts';
import { tasksMax, versionsMax } from '../../src/stores/sql/version-sums.ts';
import { labelSetsPreset } from '../../src/telemetry/registry.ts';
import { runsListedMax } from '../../src/exporters/webhook/webhook-message.ts';
import { rowsMax as callRowsMax } from '../../src/web/api/calls.ts';
import { runsMax } from '../../src/web/api/rates.ts';
import { noticesMax } from '../../src/web/api/notices.ts';
import { versionsMax as versionsAnsweredMax } from '../../src/web/api/versions.ts';
import { attemptsMax, sessionsMax } from '../../src/web/browser-sessions.ts';
import { usedTicketsMax } from '../../src/web/people.ts';
import { defaultStreamBounds } from '../../src/web/event-streams.ts';
import { messageBytesMax } from '../../src/web/mcp-routes.ts';
import { answerBytesMax, pageEntriesMax } from '../../src/web/mcp/tool-answer.ts';
import { defaultResponseBounds } from '../../src/web/request-guard.ts';

interface Limit {
  readonly counts: string;
  readonly most: number;
  /** The owner of the bound, or how several share it. */
  readonly per: string;
  readonly beyond: string;
  /** Count of items beyond the bound. */
  readonly counted?: string;
}

interface Group {
  readonly title: string;
  readonly limits: readonly Limit[];
}

const [tenant, shared, largest] = ['tenant', 'all tenants, *in shares*', 'all tenants, *the largest gives*'];

const groups: readonly Group[] = [
  {
    title: 'Names from spans',
    limits: [
      {
        counts: `characters of the name of an agent, session, version, tool, service or model, in at most ${identityBytesMax} bytes`,
        most: identityCharsMax,
        per: 'name',
        beyond: 'the name keeps its beginning and a hash',
      },
      {
        counts: 'agents in the sums of five minutes, an hour or a day',
        most: rollupAgentsMax,
        per: tenant,
        beyond: 'one agent `other` of the tenant',
      },
      {
        counts: 'tools, models and evaluators, each, in these sums',
        most: namesMax,
        per: 'agent',
        beyond: 'one name `other` of the agent',
      },
      {
        counts: 'rows of one answer from these sums',
        most: rowsMax,
        per: 'answer, in equal shares for the tenants in it',
        beyond: 'one row `other`',
      },
      {
        counts: 'pairs of agent and version in the sums of one time',
        most: versionsMax,
        per: tenant,
        beyond: 'the version `other`, and one agent `other` beyond twice as many',
      },
      { counts: 'tasks of one version in these sums', most: tasksMax, per: 'version of an agent', beyond: 'only the sum over all tasks' },
      {
        counts: 'agents that one alert looks at',
        most: alertAgentsMax,
        per: 'rule; the tenants take turns by their runs',
        beyond: 'agents with fewer runs are not looked at; as many more keep a state that they had',
      },
      { counts: 'issues of one agent', most: issuesPerAgentMax, per: 'agent', beyond: 'one issue `other failures` of the evaluator' },
      {
        counts: 'issues of all agents',
        most: issuesPerTenantMax,
        per: tenant,
        beyond: 'one issue `other failures` of the evaluator, without an agent',
      },
      {
        counts: 'services that may be reported as not recognised',
        most: servicesMax,
        per: tenant,
        beyond: 'later services have no report',
      },
      {
        counts: 'agents, by instrumentation, whose first runs are watched for missing data',
        most: agentsWatchedMax,
        per: tenant,
        beyond: 'later agents have no notice',
      },
      {
        counts: 'sessions whose turns complete definitions of tools for each other',
        most: toolSessionsMax,
        per: largest,
        beyond: 'a turn has only the definitions in its spans',
      },
      {
        counts: 'traces whose task is known',
        most: tracesMaxDefault,
        per: largest,
        beyond: 'the run has no task',
      },
      {
        counts: 'pairs of agent and task whose runs are compared, `groups.tasks`',
        most: tasksDefault,
        per: largest,
        beyond: 'the pair begins anew',
        counted: 'tracejury_tasks_forgotten_total',
      },
      {
        counts: 'of them with their own labels',
        most: labelledMaxDefault,
        per: shared,
        beyond: 'one task `other` of all',
      },
      {
        counts: 'traces without a root that are looked up in the store at once',
        most: tracesPerTurn,
        per: 'all tenants, in turns',
        beyond: 'late spans begin a new run',
        counted: 'tracejury_store_lookups_total',
      },
      {
        counts: 'label sets of one metric',
        most: labelSetsPreset,
        per: shared,
        beyond: 'agents, services and tools count as `other`',
        counted: 'tracejury_metrics_folded_total',
      },
      {
        counts: 'runs that one message of a webhook lists',
        most: runsListedMax,
        per: 'message; the tenants take turns',
        beyond: 'the message counts them',
        counted: 'tracejury_webhook_runs_total',
      },
      {
        counts: 'versions of one answer, those that came last',
        most: versionsAnsweredMax,
        per: 'answer; `tenant` and `agent` give one of them the whole',
        beyond: 'earlier versions are left out',
      },
      {
        counts: 'newest runs of one answer about rates',
        most: runsMax,
        per: 'answer; `tenant` gives one tenant the whole',
        beyond: '`since` names the start of the counted time',
      },
      {
        counts: 'learnt processes, by agent and version',
        most: processesMax,
        per: tenant,
        beyond: 'the one that was not used for longest goes',
      },
      {
        counts: 'of them in the memory of one thread',
        most: processesMaxDefault,
        per: largest,
        beyond: 'the thread reads it from the store again',
        counted: 'tracejury_process_runs_total',
      },
      { counts: 'runs of one session in its figures', most: sessionRunsMax, per: 'session of a tenant', beyond: 'the newest count' },
      {
        counts: 'turns of one session that a judge sees',
        most: sessionTurnsMax,
        per: 'session of a tenant',
        beyond: 'turns from the middle are left out',
        counted: 'tracejury_judge_sessions_left_out_total',
      },
      { counts: 'stored pieces of one trace', most: piecesPerTraceMax, per: 'trace of a tenant', beyond: 'later spans are not stored' },
    ],
  },
  {
    title: 'Runs and spans on their way',
    limits: [
      {
        counts: 'further runs a minute whose content is kept, `store.content_per_minute`',
        most: contentPerMinuteDefault,
        per: shared,
        beyond: 'the run has no content, `sampled_out`',
      },
      {
        counts: 'runs that wait for the store',
        most: itemsMaxDefault,
        per: largest,
        beyond: 'dropped',
        counted: 'tracejury_store_items_total',
      },
      {
        counts: 'runs in memory that wait for one exporter',
        most: itemsOfExporterMax,
        per: largest,
        beyond: 'dropped, unless the store has them',
        counted: 'tracejury_exporter_items_total',
      },
      {
        counts: 'traces whose spans wait for the store',
        most: tracesWaitingMax,
        per: largest,
        beyond: 'their spans are dropped',
        counted: 'tracejury_store_traces_total',
      },
      {
        counts: 'open traces whose spans will be stored',
        most: wantedMaxDefault,
        per: largest,
        beyond: 'their spans are not stored',
      },
      {
        counts: 'evaluations in memory that wait for judges and endpoints',
        most: jobsWaitingMax,
        per: shared,
        beyond: 'the decision `overload`, `queue_full`',
        counted: 'tracejury_decisions_total',
      },
    ],
  },
  {
    title: 'Annotations, queues and datasets',
    limits: [
      {
        counts: 'annotations of one trace',
        most: annotationsPerTraceMax,
        per: 'trace of a tenant',
        beyond: 'refused as `too_many`',
        counted: 'tracejury_annotations_total',
      },
      {
        counts: 'annotations that wait for their run',
        most: annotationsWaitingMax,
        per: tenant,
        beyond: 'refused as `full`',
        counted: 'tracejury_annotations_total',
      },
      {
        counts: 'open items of one queue, at most the `max` of the queue',
        most: queueItemsMax,
        per: tenant,
        beyond: 'refused as `full`',
        counted: 'tracejury_queues_runs_total',
      },
      {
        counts: 'runs that wait for a rule of a queue or a dataset',
        most: waitingMax,
        per: shared,
        beyond: 'dropped',
        counted: 'tracejury_queues_runs_total',
      },
      { counts: 'datasets', most: datasetsMax, per: tenant, beyond: 'refused' },
      { counts: 'versions of one dataset', most: datasetVersionsMax, per: 'dataset', beyond: 'refused' },
      { counts: 'examples of one version', most: datasetExamplesMax, per: 'dataset', beyond: 'left out as `full`' },
    ],
  },
  {
    title: 'Experiments',
    limits: [
      { counts: 'experiments with a runner', most: experimentsMax, per: tenant, beyond: 'the command is refused' },
      {
        counts: 'experiments made only of spans',
        most: spanExperimentsMax,
        per: tenant,
        beyond: 'further ones are refused',
        counted: 'tracejury_experiments_results_total',
      },
      { counts: 'results', most: resultsMax, per: 'experiment', beyond: 'refused', counted: 'tracejury_experiments_results_total' },
      {
        counts: 'results that wait for the store',
        most: waitingResultsMax,
        per: shared,
        beyond: 'left out',
        counted: 'tracejury_experiments_results_total',
      },
      {
        counts: 'runs that wait for the expectation of a dataset',
        most: waitingRunsMax,
        per: shared,
        beyond: 'left out',
        counted: 'tracejury_experiments_results_total',
      },
    ],
  },
  {
    title: 'The console and the API',
    limits: [
      {
        counts: 'answers in progress to callers who may read',
        most: defaultResponseBounds.answersMax,
        per: 'all callers; one of them takes three quarters',
        beyond: 'the request waits, then 503',
        counted: 'tracejury_console_busy_total',
      },
      {
        counts: 'answers in progress to all others',
        most: defaultResponseBounds.strangersMax,
        per: 'all machines; one of them takes three quarters',
        beyond: 'the request waits, then 503',
        counted: 'tracejury_console_busy_total',
      },
      {
        counts: 'requests that wait for an answer, of each kind of caller',
        most: defaultResponseBounds.waitingMax,
        per: 'all callers; the one with the most gives its newest',
        beyond: '503',
        counted: 'tracejury_console_busy_total',
      },
      {
        counts: 'streams of events',
        most: defaultStreamBounds.streamsMax,
        per: 'all callers; one of them takes three quarters',
        beyond: '503',
        counted: 'tracejury_console_busy_total',
      },
      {
        counts: 'bytes of an answer of a tool over MCP',
        most: answerBytesMax,
        per: 'answer',
        beyond: 'long texts and lists are cut',
      },
      { counts: 'bytes of a message over MCP', most: messageBytesMax, per: 'request', beyond: '413' },
      { counts: 'entries of a list over MCP', most: pageEntriesMax, per: 'page', beyond: 'the next page has them' },
      { counts: 'sessions of browsers', most: sessionsMax, per: 'all callers', beyond: 'the holder with the most loses its oldest' },
      { counts: 'silences of alerts', most: silencesMax, per: 'tenant of the alerts', beyond: '409' },
      {
        counts: 'tools, or models, of one answer, those with the most calls',
        most: callRowsMax,
        per: 'answer; `tenant` gives one tenant the whole',
        beyond: 'those with fewer calls are left out',
      },
      {
        counts: 'notices of one answer, the most severe first',
        most: noticesMax,
        per: 'answer; services of several tenants take turns',
        beyond: 'left out',
      },
      {
        counts: 'failed sign-ins within a minute',
        most: attemptsMax.ofAddress,
        per: `machine; one each after ${attemptsMax.ofAll} of all`,
        beyond: '429',
        counted: 'tracejury_console_sign_ins_refused_total',
      },
      {
        counts: 'characters of the examples or results of one page',
        most: pageCharsMax,
        per: 'answer',
        beyond: 'the page ends, and `next` goes on',
      },
    ],
  },
];

/** A flood of one tenant shortens it for all. */
const remembered: Group = {
  title: 'Memory of the service for all tenants',
  limits: [
    {
      counts: 'traces that are over, in each thread',
      most: defaultGroupLimits.tombstonesMax,
      beyond: 'late spans are looked up in the store, as those of a new trace',
      counted: 'tracejury_store_lookups_total',
    },
    { counts: 'traces whose spans were stored or left out', most: knownMax, beyond: 'late spans that change no run are not stored' },
    { counts: 'verdicts that one webhook has sent', most: reportedMax, beyond: 'a revision that changes nothing may be sent again' },
    { counts: 'verdicts in metrics', most: verdictsRememberedMax, beyond: 'the change of a later revision counts as `unknown`' },
    { counts: 'answers of judges in the store', most: storeRowsMax, beyond: 'the question is asked again' },
    { counts: 'sessions that judges have evaluated', most: judgedSessionsMax, beyond: 'the oldest that do not wait are forgotten' },
    { counts: 'runs that were written last, for live lists', most: liveRunsMax, beyond: 'the event `lag` counts them' },
    { counts: 'newest runs behind the gauges about rates', most: gaugedRunsMax, beyond: 'older runs do not count; the API takes `tenant`' },
    {
      counts: 'labels of verdicts that runs can be found by, by evaluator and verdict',
      most: marksMax,
      per: 'all tenants; the first stay',
      beyond: 'no run is found by a further label',
    },
    { counts: 'sign-ins of people that are over', most: usedTicketsMax, beyond: 'only the issuer refuses a second use' },
  ].map((limit) => ({ per: 'all tenants; the newest stay', ...limit })),
};

export function limitsPage(): string {
  return `${[opening, ...[...groups, remembered].map(section), closing].join('\n\n')}\n`;
}

function section({ title, limits }: Group): string {
  const rows = limits.map(
    ({ counts, most, per, beyond, counted }) =>
      `| ${counts} | ${most.toLocaleString('en')} | ${per} | ${beyond} | ${counted === undefined ? '' : `\`${counted}\``} |`,
  );
  return [
    `## ${title}`,
    ['| what is bounded | most | for each | beyond it | counted by |', '|---|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}

const opening = `# Limits

<!-- Written by npm run docs from the constants. -->

Senders and callers choose names, ids and amounts. These bounds keep one of them from taking the room of others. [Operations](../guides/operations.md#sizes) has
the bounds on memory, disk and time. A tenant has the name of the token that sent the spans; without tokens there is one tenant.

- *in shares*: beyond the bound each tenant still gets an equal share.
- *the largest gives*: beyond the bound the tenant with the most gives its oldest.`;

const closing = `## Not shared by tenant

The [configuration](configuration.md) sets these bounds, which count all tenants together.

| key | beyond it |
|---|---|
| \`store.keep.bytes\` | The store deletes the oldest runs. |
| \`store.keep.export_rows\` | The store deletes the oldest unsent scores. |
| \`store.keep.judge_rows\` | Pairs of run and evaluator end as \`overload\`. |
| \`sessions.rows\` | Sessions end as \`overload\`. |
| \`limits.memory_bytes\` | Beyond its quarter for open runs the service refuses requests, small senders last, and closes the oldest run without new spans. |
| \`limits.journal_bytes\` | The service refuses requests. |

Label sets of metrics without a label of the tenant, such as those about tools, are bounded together too. Beyond their number agents and services fold into \`other\`.`;
