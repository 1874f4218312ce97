/** The route of notices: what is wrong with the service itself, each with the way out. */
import { isLack, lackTexts, missingDataOf } from '../../pipeline/reporting/missing-data.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import type { MetricValue, ReplicaStatus, ServiceMetrics } from '../../model/service-status.ts';
import { clockSkewMaxMs, replicaName } from '../../model/store/replica-store.ts';
import { timeText } from '../../model/timestamp.ts';
import { exporterRows } from './exports.ts';
import type { ApiDeps, Route } from './route.ts';

const severities = ['error', 'warning', 'info'] as const;

interface Notice {
  readonly code: string;
  readonly severity: (typeof severities)[number];
  readonly message: string;
  readonly todo: string;
  readonly link: string;
}

/** Most notices of one answer; the most severe ones come first. */
export const noticesMax = 100;
/** As the alert TracejuryExporterBehind has it. */
const behindSeconds = 600;
const behindItems = 1_000;
/** An evaluator with fewer attempts may score the next run. */
const attemptsMin = 10;
const runbook = 'docs/guides/runbook.md';

/** Counters whose growth in the last hour the notices report. */
export const watchedCounters: ReadonlySet<string> = new Set([
  'tracejury.stress.shed',
  'tracejury.stress.refused',
  'tracejury.store.items',
  'tracejury.exporter.items',
]);

const noticeResource = api.resource<Notice>()('Notice', {
  code: { ...api.text, description: 'A word for programs, such as `exporter_down`.' },
  severity: {
    enum: severities,
    description: '`error`: data is lost or held up. `warning`: figures lack something. `info`: it may be meant so.',
  },
  message: api.text,
  todo: { ...api.text, description: 'The remedy.' },
  link: {
    ...api.text,
    description: 'A page of the console, which begins with `/`, or a section of the documentation, which begins with `docs/`.',
  },
});

export const noticeSchemas = api.schemasOf(noticeResource);

export const noticeRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/notices',
    summary: `Faults of the service itself, the most severe first. Empty when there are none. At most ${noticesMax} notices.`,
    path_parameters: {},
    query_parameters: {},
    answer: api.object({ notices: api.many(noticeResource.schema), next: { type: 'null' } }),
    async handle(deps) {
      const metrics = deps.status.metrics();
      const notices = [
        ...diskNotices(deps),
        ...configNotices(deps),
        ...replicaNotices(await deps.status.replicas()),
        ...lostNotices(metrics),
        ...(await exporterRows(deps)).flatMap(exporterNotices),
        ...judgeNotices(deps, metrics),
        ...loadNotices(metrics),
        ...evaluatorNotices(deps),
        ...recognitionNotices(deps, metrics),
      ];
      return {
        notices: notices
          .toSorted((one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity))
          .slice(0, noticesMax)
          .map(noticeResource.write),
        next: null,
      };
    },
  },
];

function diskNotices({ status }: ApiDeps): readonly Notice[] {
  const folder = status.fullFolder();
  if (folder === undefined) return [];
  return [
    {
      code: 'disk_full',
      severity: 'error',
      message: `The disk is full: no room in ${folder}.`,
      todo: 'Make room on the disk, or lower store.keep.',
      link: `${runbook}#tracejurystorediskfull`,
    },
  ];
}

function replicaNotices(replicas: readonly ReplicaStatus[]): readonly Notice[] {
  const configurations = new Set(replicas.filter(({ isAlive }) => isAlive).map(({ configuration }) => configuration));
  const silent = replicas.filter(({ isAlive }) => !isAlive).map(replicaName);
  // The process that answers is alive: then the store takes no writes, and no sign of life is recent.
  const isStuck = replicas.some(({ isOwn, isAlive }) => isOwn && !isAlive);
  const skewed = replicas.filter(({ isAlive, skew = 0 }) => isAlive && Math.abs(skew) > clockSkewMaxMs * 1_000);
  return [
    ...(configurations.size < 2
      ? []
      : [
          {
            code: 'configurations_differ',
            severity: 'warning',
            message: `The replicas run with ${configurations.size} different configurations, so verdicts depend on the replica that a run comes to.`,
            todo: 'Give all replicas the same file.',
            link: '/settings',
          } as const,
        ]),
    ...(skewed.length === 0
      ? []
      : [
          {
            code: 'clocks_differ',
            severity: 'warning',
            message: `The clock of ${counted(skewed.length, 'replica')} differs from that of the database by more than ${clockSkewMaxMs / 1_000} seconds: ${skewed.map(({ skew = 0, ...one }) => `${replicaName(one)} (${skew > 0 ? '+' : ''}${Math.round(skew / 1_000_000)} s)`).join(', ')}. Times of verdicts, days of budgets and conditions of alerts follow it.`,
            todo: 'Synchronise the clock of the machine, and restart the replica: a process keeps the clock of its start.',
            link: '/settings',
          } as const,
        ]),
    ...(silent.length === 0
      ? []
      : [
          {
            code: 'replica_silent',
            severity: 'warning',
            ...(isStuck
              ? {
                  message: 'The store took no sign of life of this replica for 30 seconds, so it is unknown which replicas run.',
                  todo: 'Check in pg_stat_activity what the statements of tracejury wait for. The log names those that failed.',
                }
              : {
                  message: `${counted(silent.length, 'replica')} gave no sign of life for 30 seconds: ${silent.join(', ')}. Runs that were open there wait in its journal.`,
                  todo: 'Start it again over its journal. The others do its tasks meanwhile.',
                }),
            link: '/settings',
          } as const,
        ]),
  ];
}

function configNotices({ status }: ApiDeps): readonly Notice[] {
  const { warnings, waiting, refused } = status.configuration();
  const notices: Notice[] = [];
  const [fault] = refused;
  if (fault !== undefined)
    notices.push({
      code: 'configuration_refused',
      severity: 'error',
      message: `The changed configuration has ${counted(refused.length, 'fault')} and is not in force. ${placeText(fault)}${fault.problem}.`,
      todo: fault.todo,
      link: '/settings',
    });
  if (waiting.length > 0)
    notices.push({
      code: 'restart_needed',
      severity: 'warning',
      message: `These keys keep the values from the start of the service: ${waiting.join(', ')}.`,
      todo: 'Restart the service to put their new values in force.',
      link: '/settings',
    });
  const [warning] = warnings;
  if (warning !== undefined)
    notices.push({
      code: 'configuration_warning',
      severity: 'info',
      message: `The configuration has ${counted(warnings.length, 'warning')}. ${placeText(warning)}${warning.problem}.`,
      todo: warning.todo,
      link: '/settings',
    });
  return notices;
}

function placeText({ key, line }: { readonly key: string; readonly line: number }): string {
  const place = [...(key === '' ? [] : [key]), ...(line === 0 ? [] : [`line ${line}`])].join(', ');
  return place === '' ? '' : `${place}: `;
}

/** Data that is lost for good. */
function lostNotices(metrics: ServiceMetrics): readonly Notice[] {
  const runs = sum(metrics.lastHour('tracejury.store.items').filter(isDropped));
  const scores = Map.groupBy(metrics.lastHour('tracejury.exporter.items').filter(isDropped), ({ labels }) => labels['tracejury.exporter']);
  return [
    ...(runs === 0
      ? []
      : [
          {
            code: 'runs_dropped',
            severity: 'error',
            message: `The store could not be written: ${counted(runs, 'scored run')} of the last hour were not stored.`,
            todo: 'The log has the reason: a full disk, missing rights, or another process that holds the file.',
            link: `${runbook}#tracejurystoredropped`,
          } as const,
        ]),
    ...[...scores].map(([exporter = '', dropped]) => ({
      code: 'scores_dropped',
      severity: 'error' as const,
      message: `The exporter ${exporter} dropped ${counted(sum(dropped), 'score')} in the last hour.`,
      todo: 'Raise store.keep.exports or store.keep.export_rows, and check why the backend takes nothing.',
      link: `${runbook}#tracejuryexporterdropped`,
    })),
  ];
}

function isDropped({ labels }: MetricValue): boolean {
  return labels['tracejury.outcome'] === 'dropped';
}

/** `row`: an exporter as `GET /exporters` lists it. */
function exporterNotices(row: JsonObject): readonly Notice[] {
  const { name, sends, configured, circuit, fault, to_send: toSend, dead, oldest_age_seconds: age, last_failure: failure } = row;
  const notices: Notice[] = [];
  const waiting = typeof toSend === 'number' ? toSend : 0;
  const oldest = typeof age === 'number' ? age : 0;
  const remedy = isJsonObject(failure ?? null) ? String((failure as JsonObject)['todo']) : '';
  const what = sends === 'spans' ? 'request' : 'score';
  const held = waiting === 0 ? '' : ` ${counted(waiting, what)} ${waiting === 1 ? 'waits' : 'wait'}.`;
  const common = { todo: remedy === '' ? 'See its last failure, then its endpoint and its credentials.' : remedy, link: '/settings' };
  if (configured === true && (circuit === 'open' || (sends === 'metrics' && fault !== null)))
    notices.push({
      code: 'exporter_down',
      severity: 'error',
      message: `The exporter ${String(name)} sends nothing: ${String(fault ?? 'its backend asked for a pause')}.${held}`,
      ...common,
    });
  else if (configured === true && sends === 'scores' && (oldest > behindSeconds || waiting > behindItems))
    notices.push({
      code: 'exporter_behind',
      severity: 'warning',
      message: `The exporter ${String(name)} is behind.${held} The oldest is ${Math.round(oldest / 60)} min old.`,
      ...common,
    });
  else if (configured === false && waiting > 0)
    notices.push({
      code: 'exporter_removed',
      severity: 'warning',
      message: `The exporter ${String(name)} is not in the configuration.${held}`,
      todo: 'Add its entry to `export` again to send them. Otherwise they are deleted after store.keep.exports.',
      link: '/settings',
    });
  if (typeof dead === 'number' && dead > 0)
    notices.push({
      code: 'dead_letters',
      severity: 'warning',
      message: `The exporter ${String(name)} has ${counted(dead, 'dead letter')}.`,
      todo: 'See GET /api/v1/exports?state=dead for the reasons, remove the cause, then send them again with POST /api/v1/exports/retry.',
      link: '/settings',
    });
  return notices;
}

function judgeNotices({ budgets, judgeOutages }: ApiDeps, metrics: ServiceMetrics): readonly Notice[] {
  const spent = budgets().filter(({ share }) => share === 0);
  const down = new Set(
    metrics.values('tracejury.judge.circuit').flatMap(({ labels, value }) => (value === 2 ? [labels['tracejury.judge'] ?? ''] : [])),
  );
  const outages = judgeOutages();
  const unexplained = [...down].filter((name) => !outages.some(({ judge }) => judge === name));
  return [
    ...outages.map(({ judge, sinceMs, fault, todo }) => ({
      code: 'judge_down',
      severity: 'error' as const,
      message: `${judgeWords(judge)} has not answered since ${minuteText(sinceMs)}: ${fault}.${down.has(judge) ? triedSeldom : ''}`,
      todo: `${todo} Questions without an answer fail; when ten in a row have failed, further ones wait in the store.`,
      link: `${runbook}#tracejuryjudgedown`,
    })),
    ...unexplained.map((judge) => ({
      code: 'judge_down',
      severity: 'error' as const,
      message: `${judgeWords(judge)} did not answer ten questions in a row.${triedSeldom}`,
      todo: 'Check its endpoint, its quota and its key. Questions wait in the store, up to store.keep.judge_age.',
      link: `${runbook}#tracejuryjudgedown`,
    })),
    ...spent.map(({ judge, evaluator, limit, most, spent: used }) => ({
      code: 'budget_spent',
      severity: 'warning' as const,
      message: `${judge === undefined ? `The evaluator ${evaluator ?? ''}` : `The judge ${judge}`} has no budget left for now: ${rounded(used)} of ${rounded(most)} ${limit} are spent.`,
      todo: `Raise budget.${limit}, or lower sample.rate. A new budget begins at midnight (UTC).`,
      link: '/judges',
    })),
  ];
}

const triedSeldom = ' The service tries it once a minute.';

/** `http:` begins the name of an evaluator with an endpoint. */
function judgeWords(judge: string): string {
  return judge.startsWith('http:') ? `The endpoint of the evaluator ${judge.slice('http:'.length)}` : `The judge ${judge}`;
}

function minuteText(ms: number): string {
  return `${timeText(BigInt(Math.floor(ms)) * 1_000_000n)
    .slice(0, 16)
    .replace('T', ' ')} UTC`;
}

function loadNotices(metrics: ServiceMetrics): readonly Notice[] {
  const level = Math.max(0, ...metrics.values('tracejury.stress.level').map(({ value }) => value));
  const shed = metrics.lastHour('tracejury.stress.shed');
  const [questions, contents] = ['judge', 'content'].map((what) => sum(shed.filter(({ labels }) => labels['tracejury.what'] === what)));
  const refused = sum(metrics.lastHour('tracejury.stress.refused'));
  const parts = [
    ...(questions === undefined || questions === 0 ? [] : [`${counted(questions, 'question')} to judges were not asked`]),
    ...(contents === undefined || contents === 0 ? [] : [`the content of ${counted(contents, 'run')} was not stored`]),
    ...(refused === 0 ? [] : [`${counted(refused, 'request')} were put off`]),
  ];
  if (level === 0 && parts.length === 0) return [];
  const now = level === 0 ? 'The service was overloaded in the last hour' : 'The service is overloaded';
  return [
    {
      code: 'load_shed',
      severity: level >= 3 ? 'error' : 'warning',
      message: `${now}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`,
      todo: 'See tracejury_stress_strain_ratio for the resource that is short, and docs/guides/operations.md for the remedy.',
      link: 'docs/guides/operations.md#overload',
    },
  ];
}

/** Evaluators that read runs and scored none of them since the start. */
function evaluatorNotices({ evaluability }: ApiDeps): readonly Notice[] {
  const byName = Map.groupBy(evaluability(), ({ name }) => String(name));
  return [...byName].flatMap(([name, rows]): readonly Notice[] => {
    const attempts = rows.map((row) => ({ row, count: Number(row['count']) }));
    const all = attempts.reduce((total, { count }) => total + count, 0);
    if (all < attemptsMin || attempts.some(({ row }) => row['outcome'] === 'scored')) return [];
    // An evaluator that finds nothing to evaluate lacks nothing.
    const lacking = attempts.filter(({ row }) => row['outcome'] === 'failed' || isLack(String(row['need'])));
    const [worst] = lacking.toSorted((one, other) => other.count - one.count);
    if (worst === undefined) return [];
    const need = String(worst.row['need']);
    const lack = isLack(need) ? need : undefined;
    const remedy = lack === undefined ? undefined : missingDataOf(lack, [String(worst.row['dialect'])]);
    return [
      {
        code: 'not_scorable',
        severity: 'warning',
        message: `The evaluator ${name} scored none of ${counted(all, 'run')}: ${lack === undefined ? 'it failed' : `${worst.count} lack ${lackTexts[lack]}`}.`,
        todo: remedy ?? 'See GET /api/v1/evaluability for the reasons, and tracejury inspect FILE for what the spans carry.',
        link: `/evaluators?name=${encodeURIComponent(name)}`,
      },
    ];
  });
}

/** One for each service. Where runs come from other services, shops and databases are expected beside agents: a note, and no warning. */
function recognitionNotices({ unrecognised }: ApiDeps, metrics: ServiceMetrics): readonly Notice[] {
  const severity = sum(metrics.values('tracejury.runs')) > 0 ? 'info' : 'warning';
  return [...Map.groupBy(unrecognised(), ({ service }) => service)].flatMap(([service, rows]): readonly Notice[] => {
    const [first] = rows;
    if (first === undefined) return [];
    const spans = rows.reduce((total, row) => total + row.spans, 0);
    const scopes = [...new Set(rows.map(({ scope }) => (scope === '' ? 'without a name' : scope)))];
    return [
      {
        code: 'unrecognised_spans',
        severity,
        message: `No agent is recognised in ${counted(spans, 'span')} of ${service === '' ? 'a service without a name' : service} (${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}). ${first.missing}`,
        todo: first.todo,
        link: 'docs/guides/troubleshooting.md#no-run-appears',
      },
    ];
  });
}

function sum(values: readonly MetricValue[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

function rounded(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
