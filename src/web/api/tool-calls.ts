/** The tool calls of one run, page by page, and the parameter that bounds the lists in the answer about the run. */
import { isJsonObject, type JsonValue, member } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { spanId, storedRun } from './one-run.ts';
import { toolCallsOf } from './run-lists.ts';
import { tenant, traceId } from './run-list.ts';
import { list, nextOf, pageOf, pages, type Parameters, type Route } from './route.ts';

/** More than the content of a run has. */
const pageMax = 100_000;

export const listMax = {
  type: 'integer',
  minimum: 0,
  maximum: pageMax,
  description:
    'Entries of `tool_calls`, and of `parts` in the details of each verdict: all failed parts, then the first ones that passed. All when left out.',
} as const;

export const placedToolCall = api.resource<{ readonly index: number; readonly call: JsonValue }>()('PlacedToolCall', {
  index: { ...api.count, description: 'Position among the tool calls of the run.' },
  call: api.reference('ToolCall'),
});

export const toolCallRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/{trace}/{span}/tool-calls',
    summary: 'The tool calls of the run, in its order. Empty when the store has no content of it.',
    path_parameters: { trace: traceId, span: spanId },
    query_parameters: {
      tenant,
      index: { ...api.count, description: 'Only the call at this position.' },
      of_span: { ...spanId, description: 'Calls that this span executes.' },
      limit: { ...pages.limit, maximum: pageMax },
      cursor: pages.cursor,
    },
    answer: list('tool_calls', placedToolCall),
    async handle({ store }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const { index, of_span: ofSpan } = query;
      const calls = toolCallsOf(run)
        .map((call, at) => ({ index: at, call }))
        .filter((one) => (index === undefined || one.index === index) && (ofSpan === undefined || isOfSpan(one.call, ofSpan)));
      const { limit, after: from = 0 } = pageOf(query);
      const to = from + limit;
      return { tool_calls: calls.slice(from, to).map(placedToolCall.write), next: nextOf(to < calls.length ? to : undefined) };
    },
  },
];

export function listMaxOf({ list_max: given }: Parameters): number | undefined {
  return typeof given === 'number' ? given : undefined;
}

function isOfSpan(call: JsonValue, id: string | number): boolean {
  return isJsonObject(call) && member(call, 'span_id') === id;
}
