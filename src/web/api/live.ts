/** The live list of runs: a stream of rows as the store writes them. */
import type { EventSource, StreamEvent } from '../event-streams.ts';
import * as api from '../../model/resource.ts';
import type { ApiDeps, Parameters, Route } from './route.ts';
import { run, runRowJson } from './run-json.ts';
import { runFilters, searchableFilter } from './run-list.ts';
import { present } from '../../model/present.ts';

/** Rows of one reading; the last ones of more. */
const rowsMax = 100;

export const liveRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/live',
    summary: `Runs as the service stores them, as server-sent events: \`run\` with a row of \`/runs\`, also when a run gets a verdict or a revision. At most ${rowsMax} rows come at once; \`lag\` has the number of others that were left out.`,
    path_parameters: {},
    query_parameters: runFilters,
    answer: { anyOf: [run.schema, api.object({ left_out: api.count })] },
    file: { type: 'text/event-stream', ending: 'txt' },
    handle: async () => undefined,
    events: (parts, query, lastId) => recentRuns(parts, query, lastId),
  },
];

/** From now on, or from the last event that the client has had. */
function recentRuns(parts: Pick<ApiDeps, 'store' | 'searches'>, query: Parameters, lastId: string | undefined): EventSource {
  const filter = searchableFilter(parts, query);
  let after = /^\d{1,15}$/.test(lastId ?? '') ? Number(lastId) : undefined;
  return {
    async next() {
      const { runs, position, leftOut } = await parts.store.recent(present({ ...filter, limit: rowsMax, after }));
      after = position;
      const rows = runs.map((row): StreamEvent => ({ event: 'run', data: runRowJson(row) }));
      // The position stands with the last event, so a client that has had a part of the rows gets them all again.
      const all: readonly StreamEvent[] = leftOut === 0 ? rows : [{ event: 'lag', data: { left_out: leftOut } }, ...rows];
      return all.map((one, at) => (at === all.length - 1 ? { ...one, id: String(position) } : one));
    },
  };
}
