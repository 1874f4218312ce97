/** The tool calls of a run on its page. The answer about a run has the first ones; the others are read when the page shows them. */
import { useMemo, useRef } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { type Loaded, useGet } from '../../api/use-api.ts';
import type { Target } from './verdict-cards.tsx';

type Run = Schemas['Run'];
export type PlacedCall = Schemas['PlacedToolCall'];

/** Tool calls, and passed parts of a verdict, in the answer about a run. */
export const firstCalls = 200;
/** All that a run may have. */
const callsMax = 100_000;

function addressOf({ trace_id: trace, span_id: span }: Run): { readonly trace: string; readonly span: string } {
  return { trace, span };
}

/** The call that is selected; without a value when there is none. `role`: of the selected span; `undefined` when it is not known yet. */
export function useSelectedCall(run: Run, { spanId, call }: Target, role: string | null | undefined): Loaded<PlacedCall> {
  const first = useMemo((): PlacedCall | undefined => {
    const calls = run.tool_calls ?? [];
    const index = call ?? calls.findIndex(({ span_id: id }) => id !== null && id === spanId);
    const found = calls[index];
    return found === undefined ? undefined : { index, call: found };
  }, [run, spanId, call]);
  const mayBeCall = call !== undefined || (spanId !== undefined && (role === 'tool' || role === null));
  const hasOthers = first === undefined && (run.tool_calls_left_out ?? 0) > 0;
  const isOff = !hasOthers || !mayBeCall;
  const { value, ...state } = useGet(
    '/runs/{trace}/{span}/tool-calls',
    { path: addressOf(run), query: { tenant: run.tenant, limit: 1, ...(call === undefined ? { of_span: spanId } : { index: call }) } },
    { isOff },
  );
  const isUndecided = hasOthers && call === undefined && role === undefined;
  return { ...state, isLoading: state.isLoading || isUndecided, value: first ?? (isOff ? undefined : value?.tool_calls[0]) };
}

export interface AllCalls {
  /** The first ones until all are there. */
  readonly calls: readonly Schemas['ToolCall'][];
  readonly state: Loaded<unknown>;
}

/** All calls of the run, from the first time on that they are wanted. */
export function useAllCalls(run: Run, isWanted: boolean): AllCalls {
  const wasWanted = useRef(false);
  wasWanted.current ||= isWanted;
  const isOff = !wasWanted.current || (run.tool_calls_left_out ?? 0) === 0;
  const state = useGet(
    '/runs/{trace}/{span}/tool-calls',
    { path: addressOf(run), query: { tenant: run.tenant, limit: callsMax } },
    { isOff },
  );
  const { value } = state;
  const calls = useMemo(() => value?.tool_calls.map(({ call }) => call) ?? run.tool_calls ?? [], [value, run]);
  return { calls, state };
}
