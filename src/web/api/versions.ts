/** The route of versions: what each version of an agent did, and how two of them differ. */
import {
  compareVersions,
  type ComparedEvaluator,
  comparableVersions,
  type VersionReport,
  versionConfidence,
  versionReports,
} from '../../analytics/version-comparison.ts';
import type { JsonObject } from '../../model/json.ts';
import { type VersionFigure, versionFigureKinds } from '../../model/store/version-store.ts';
import { type Micros, timeText } from '../../model/timestamp.ts';
import { estimateJson } from './estimate-json.ts';
import { count, object, type Parameters, QueryFault, type Route, runParameters, tenantOf, text, textParameter, time } from './route.ts';

/** Versions of one answer: those that came last. */
export const versionsMax = 100;
const namesMax = 20;

const estimate: JsonObject = { $ref: '#/components/schemas/Estimate' };
const orNull = (type: 'number' | 'string', description?: string): JsonObject => ({
  type: [type, 'null'],
  ...(description === undefined ? {} : { description }),
});
const namedRuns: JsonObject = { type: 'array', items: object({ name: text, runs: count }) };
const measure: JsonObject = { enum: ['pass_rate', 'mean_score'] };

export const versionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/versions',
    summary: `Versions of agents with their figures over all their runs, and the comparison of two versions of one agent. Its intervals hold at all looks together with ${versionConfidence * 100} % confidence, so they may be looked at every minute. Lists the ${versionsMax} versions that came last.`,
    path_parameters: {},
    query_parameters: {
      agent: { ...runParameters.agent, description: 'Name of the agent. Without it there is no comparison.' },
      tenant: { ...textParameter, description: 'Runs of this tenant alone; all tenants when left out.' },
      version: { ...textParameter, description: 'The version to compare; the one that came last when left out.' },
      against: { ...textParameter, description: 'The version to compare it with; the one that came before it when left out.' },
    },
    answer: {
      type: 'object',
      required: ['versions', 'comparison', 'whole', 'next'],
      properties: {
        versions: {
          type: 'array',
          items: { $ref: '#/components/schemas/Version' },
          description: 'By agent, the one that came last first.',
        },
        comparison: {
          anyOf: [{ $ref: '#/components/schemas/VersionComparison' }, { type: 'null' }],
          description: 'Null: no agent is named, or it has fewer than two versions.',
        },
        whole: {
          type: 'boolean',
          description: 'False: runs of before the last start are not counted yet. The service does so step by step.',
        },
        next: { type: 'null' },
      },
    },
    async handle({ store, refreshVersions }, query) {
      const whole = await refreshVersions();
      const agent = query['agent'];
      const figures = await store.versions.figures({
        ...(typeof agent === 'string' ? { agent } : {}),
        ...tenantOf(query),
        kinds: versionFigureKinds,
        byTask: typeof agent === 'string',
      });
      const reports = versionReports(figures);
      return {
        versions: reports
          .toSorted((one, another) => another.firstAt - one.firstAt)
          .slice(0, versionsMax)
          .map(reportJson),
        comparison: typeof agent === 'string' ? comparisonJson(figures, reports, query) : null,
        whole,
        next: null,
      };
    },
  },
];

function comparisonJson(figures: readonly VersionFigure[], reports: readonly VersionReport[], query: Parameters): JsonObject | null {
  const known = (name: 'version' | 'against'): string | undefined => {
    const value = query[name];
    if (typeof value !== 'string') return undefined;
    if (!reports.some(({ version }) => version === value))
      throw new QueryFault(
        `${name} is ${JSON.stringify(value)}, which this agent has no runs of.`,
        `Name one of ${
          reports
            .slice(0, namesMax)
            .map(({ version }) => JSON.stringify(version))
            .join(', ') || 'its versions, of which it has none'
        }.`,
      );
    return value;
  };
  const ordered = comparableVersions(reports);
  const [givenVersion, givenAgainst] = [known('version'), known('against')];
  const version = givenVersion ?? ordered.find((one) => one.version !== givenAgainst)?.version;
  const came = reports.find((one) => one.version === version)?.firstAt ?? 0;
  const against = givenAgainst ?? ordered.find((one) => one.version !== version && one.firstAt <= came)?.version;
  if (version === undefined || against === undefined || version === against) return null;
  const evaluators = compareVersions(figures, { version, against }).map(comparedJson);
  return { version, against, confidence: versionConfidence, evaluators };
}

function reportJson(report: VersionReport): JsonObject {
  const { agent, version, firstAt, lastAt, runs, models, prompts, evaluators } = report;
  const seconds = (micros: number | undefined): number | null => (micros === undefined ? null : micros / 1_000_000);
  return {
    agent: agent === '' ? null : agent,
    version: version === '' ? null : version,
    first_seen: timeOf(firstAt),
    last_seen: timeOf(lastAt),
    runs,
    input_tokens_per_run: report.inputTokens ?? null,
    output_tokens_per_run: report.outputTokens ?? null,
    cost_per_run: report.costUsd ?? null,
    costed_runs: report.costedRuns,
    mean_seconds: seconds(report.meanMicros),
    median_seconds: seconds(report.medianMicros),
    p95_seconds: seconds(report.p95Micros),
    models: models.slice(0, namesMax).map((one) => ({ ...one })),
    prompts: prompts.slice(0, namesMax).map((one) => ({ ...one })),
    evaluators: evaluators.map((one) => ({ name: one.name, measure: one.measure, rate: estimateJson(one.rate) })),
  };
}

function comparedJson({
  name,
  measure: by,
  version,
  against,
  difference,
  tasks,
  leftOut,
  sessionRuns,
  word,
}: ComparedEvaluator): JsonObject {
  return {
    name,
    measure: by,
    version: estimateJson(version),
    against: estimateJson(against),
    difference: estimateJson(difference),
    p: difference.kind === 'estimated' ? difference.p : null,
    tasks,
    left_out: leftOut,
    session_runs: sessionRuns,
    word,
  };
}

function timeOf(micros: Micros): string {
  return timeText(BigInt(Math.max(0, micros)) * 1_000n);
}

export const versionSchemas: { readonly [name: string]: JsonObject } = {
  Version: object({
    agent: orNull('string'),
    version: orNull('string', 'Null: runs without a version.'),
    first_seen: { ...time, description: 'Start of its first run.' },
    last_seen: { ...time, description: 'Start of its last run.' },
    runs: count,
    input_tokens_per_run: orNull('number', 'Mean of the runs that tell it. Null: none does.'),
    output_tokens_per_run: orNull('number'),
    cost_per_run: orNull('number', 'Mean in US dollars over the runs whose cost is known, by `prices` or as the spans tell it.'),
    costed_runs: { ...count, description: 'Runs whose cost is known.' },
    mean_seconds: orNull('number', 'Mean duration of its runs.'),
    median_seconds: orNull('number', 'To 2 % of its value.'),
    p95_seconds: orNull('number', 'To 2 % of its value.'),
    models: { ...namedRuns, description: `Its models by runs, at most ${namesMax}.` },
    prompts: { ...namedRuns, description: `Hashes of its system prompts by runs, at most ${namesMax}.` },
    evaluators: { type: 'array', items: object({ name: text, measure, rate: estimate }) },
  }),
  VersionComparison: object({
    version: text,
    against: text,
    confidence: { type: 'number', description: 'Of all looks together.' },
    evaluators: { type: 'array', items: { $ref: '#/components/schemas/ComparedEvaluator' } },
  }),
  ComparedEvaluator: object({
    name: text,
    measure,
    version: estimate,
    against: estimate,
    difference: { ...estimate, description: 'Rate of `version` less that of `against`, within −1..1.' },
    p: orNull('number', 'Always-valid p-value of “both rates are the same”. Null: one of the two has no verdict.'),
    tasks: {
      ...count,
      description: 'Tasks of both versions that the difference is averaged over; 0: runs name no task, or none in common.',
    },
    left_out: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Share of the verdicts whose task is not compared: one version has it alone, or others have more runs.',
    },
    session_runs: {
      type: 'number',
      minimum: 1,
      description: 'Verdicts in the session of a verdict, on average; intervals count so many as one. 1: each run stands for itself.',
    },
    word: { enum: ['better', 'worse', 'no_difference_shown', 'not_estimable'] },
  }),
};
