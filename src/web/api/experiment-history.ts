/** Experiments of each agent over time, with their rates: whether later versions do better. */
import { setImmediate as turn } from 'node:timers/promises';
import { experimentInHistory } from '../../analytics/experiment-json.ts';
import { experimentSummary } from '../../analytics/experiment-summary.ts';
import type { AgentFacts, ExperimentResult } from '../../model/experiment.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import type { StoredExperiment } from '../../model/store/experiment-store.ts';
import { analysedMax, wholeResults } from './experiment-results.ts';
import { type ApiDeps, named, type Parameters, type Route, tenantOf, textParameter } from './route.ts';

const experimentsDefault = 30;
const experimentsMax = 100;
/** Versions and models that an entry names. */
const namesMax = 20;

export const experimentHistoryRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/experiments/history',
    summary: 'The newest experiments by agent, oldest first, with the rates of their evaluators.',
    path_parameters: {},
    query_parameters: {
      name: { ...textParameter, description: 'Experiments of this name.' },
      dataset: { ...textParameter, description: 'Experiments on a dataset, or file, of this name.' },
      agent: { ...textParameter, description: 'Results of this agent.' },
      tenant: { ...textParameter, description: 'Tenant of the experiments; all when left out.' },
      limit: { type: 'integer', minimum: 1, maximum: experimentsMax, default: experimentsDefault, description: 'Experiments to read.' },
    },
    answer: api.object({
      agents: api.many(
        api.object({ agent: api.textOrNull('Null when the runs name no agent.'), experiments: api.many(experimentInHistory.schema) }),
      ),
      left_out: {
        ...api.count,
        description: `Experiments that are left out, because together they have more than ${analysedMax} results.`,
      },
      next: { type: 'null' },
    }),
    handle: history,
  },
];

interface InHistory {
  readonly agent: string | undefined;
  readonly entry: JsonObject;
}

async function history({ store: { experiments } }: ApiDeps, query: Parameters): Promise<JsonValue> {
  const { limit, agent: wanted } = query;
  const page = await experiments.list({
    ...tenantOf(query),
    ...named(query, 'name', 'name'),
    ...named(query, 'dataset', 'dataset'),
    limit: typeof limit === 'number' ? limit : experimentsDefault,
  });
  const entries: InHistory[] = [];
  let read = 0;
  let leftOut = 0;
  for (const experiment of page.experiments) {
    if (read + experiment.results > analysedMax) {
      leftOut += 1;
      continue;
    }
    read += experiment.results;
    const results = await wholeResults(experiments, experiment);
    const groups = [...Map.groupBy(results, ({ agent: { agent } }) => agent)];
    // A run that did not come to its end names no agent, and counts for the only one.
    const ofAgents = groups.filter(([agent]) => agent !== undefined);
    const merged = ofAgents.length === 1 ? ofAgents.map(([agent]) => [agent, results] as const) : groups;
    entries.push(
      ...merged
        .filter(([agent]) => wanted === undefined || agent === wanted)
        .map(([agent, own]) => ({ agent, entry: entryOf(experiment, own) })),
    );
    await turn();
  }
  const agents = [...Map.groupBy(entries, ({ agent }) => agent)].map(([agent, own]) => ({
    agent: agent ?? null,
    experiments: own.map(({ entry }) => entry).toReversed(),
  }));
  return { agents, left_out: leftOut, next: null };
}

function entryOf(experiment: StoredExperiment, results: readonly ExperimentResult[]): JsonObject {
  const values = (key: keyof AgentFacts): readonly string[] =>
    [...new Set(results.flatMap(({ agent }) => agent[key] ?? []))].slice(0, namesMax);
  return experimentInHistory.write({
    experiment,
    results: results.length,
    versions: values('version'),
    models: values('model'),
    evaluators: experimentSummary(experiment, results).evaluators,
  });
}
