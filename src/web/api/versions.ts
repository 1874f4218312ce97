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
import * as api from '../../model/resource.ts';
import { type VersionFigure, versionFigureKinds } from '../../model/store/version-store.ts';
import { estimate } from './estimate-json.ts';
import { type Parameters, QueryFault, type Route, runParameters, tenantOf, textParameter } from './route.ts';

/** Versions of one answer: those that came last. */
export const versionsMax = 100;
const namesMax = 20;

const measure: JsonObject = { enum: ['pass_rate', 'mean_score'] };

type NamedRuns = VersionReport['models'];
const namedRuns = (description: string): api.Shape<NamedRuns> => {
  const { schema, write } = api.many(api.inline<NamedRuns[number]>()({ name: api.text, runs: api.count }), description);
  return { schema, write: (all) => write(all.slice(0, namesMax)) };
};

const version = api.resource<VersionReport>()('Version', {
  agent: [api.textOrNull(), ({ agent }) => (agent === '' ? null : agent)],
  version: [api.textOrNull('Null for runs without a version.'), (report) => (report.version === '' ? null : report.version)],
  first_seen: [{ ...api.time, description: 'Start of its first run.' }, ({ firstAt }) => firstAt],
  last_seen: [{ ...api.time, description: 'Start of its last run.' }, ({ lastAt }) => lastAt],
  runs: api.count,
  input_tokens_per_run: [api.numberOrNull('Mean of the runs that report it. Null when none does.'), ({ inputTokens }) => inputTokens],
  output_tokens_per_run: [api.numberOrNull(), ({ outputTokens }) => outputTokens],
  cost_per_run: [
    api.numberOrNull('Mean in US dollars over the runs whose cost is known, from `prices` or from the spans.'),
    ({ costUsd }) => costUsd,
  ],
  costed_runs: { ...api.count, description: 'Runs whose cost is known.' },
  mean_seconds: [api.inSeconds(api.numberOrNull('Mean duration of its runs.')), ({ meanMicros }) => meanMicros],
  median_seconds: [api.inSeconds(api.numberOrNull('Accurate to 2 %.')), ({ medianMicros }) => medianMicros],
  p95_seconds: [api.inSeconds(api.numberOrNull('Accurate to 2 %.')), ({ p95Micros }) => p95Micros],
  models: namedRuns(`Its models by runs, at most ${namesMax}.`),
  prompts: namedRuns(`Hashes of its system prompts by runs, at most ${namesMax}.`),
  evaluators: api.many(api.inline<VersionReport['evaluators'][number]>()({ name: api.text, measure, rate: estimate })),
});

const comparedEvaluator = api.resource<ComparedEvaluator>()('ComparedEvaluator', {
  name: api.text,
  measure,
  version: estimate,
  against: estimate,
  difference: api.described(estimate, 'Rate of `version` less that of `against`, within −1..1.'),
  p: [
    api.numberOrNull('Always-valid p-value of “both rates are the same”. Null when one of the two has no verdict.'),
    ({ difference }) => (difference.kind === 'estimated' ? difference.p : null),
  ],
  tasks: {
    ...api.count,
    description: 'Tasks of both versions that the difference is averaged over; 0: runs name no task, or none in common.',
  },
  left_out: {
    ...api.share,
    description: 'Share of the verdicts whose task is not compared: only one version has it, or others have more runs.',
  },
  session_runs: {
    ...api.number,
    minimum: 1,
    description: 'Verdicts in the session of a verdict, on average; intervals count that many as one. With 1, each run counts by itself.',
  },
  word: { enum: ['better', 'worse', 'no_difference_shown', 'not_estimable'] },
});

interface VersionComparison {
  readonly version: string;
  readonly against: string;
  readonly evaluators: readonly ComparedEvaluator[];
}

const comparison = api.resource<VersionComparison>()('VersionComparison', {
  version: api.text,
  against: api.text,
  confidence: [{ ...api.number, description: 'Confidence of all looks together.' }, () => versionConfidence],
  evaluators: api.many(comparedEvaluator),
});

export const versionSchemas = api.schemasOf(version, comparison, comparedEvaluator);

export const versionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/versions',
    summary: `Versions of agents with their figures over all their runs, and the comparison of two versions of one agent. Its intervals hold at all looks together with ${versionConfidence * 100} % confidence, so they may be looked at every minute. Lists the ${versionsMax} versions that came last.`,
    path_parameters: {},
    query_parameters: {
      agent: { ...runParameters.agent, description: 'Name of the agent. Without it there is no comparison.' },
      tenant: { ...textParameter, description: 'Only runs of this tenant. All tenants when left out.' },
      version: { ...textParameter, description: 'The version to compare; the one that came last when left out.' },
      against: { ...textParameter, description: 'The version to compare it with; the one that came before it when left out.' },
    },
    answer: api.object({
      versions: api.many(version.schema, 'By agent, the one that came last first.'),
      comparison: api.optional(comparison.schema, 'Null when no agent is named, or it has fewer than two versions.'),
      whole: {
        ...api.flag,
        description: 'False while runs from before the last start are not counted yet. The service counts them step by step.',
      },
      next: { type: 'null' },
    }),
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
          .map(version.write),
        comparison: api.optional(comparison).write(typeof agent === 'string' ? compared(figures, reports, query) : undefined),
        whole,
        next: null,
      };
    },
  },
];

function compared(figures: readonly VersionFigure[], reports: readonly VersionReport[], query: Parameters): VersionComparison | undefined {
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
            .join(', ') || 'its versions (it has none)'
        }.`,
      );
    return value;
  };
  const ordered = comparableVersions(reports);
  const [givenVersion, givenAgainst] = [known('version'), known('against')];
  const version = givenVersion ?? ordered.find((one) => one.version !== givenAgainst)?.version;
  const came = reports.find((one) => one.version === version)?.firstAt ?? 0;
  const against = givenAgainst ?? ordered.find((one) => one.version !== version && one.firstAt <= came)?.version;
  if (version === undefined || against === undefined || version === against) return undefined;
  return { version, against, evaluators: compareVersions(figures, { version, against }) };
}
