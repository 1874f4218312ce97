/** Selected runs as the requests of the API take them. */
import { countText } from './format.ts';

/** A run as the API names it. */
export interface RunReference {
  readonly tenant: string;
  readonly trace_id: string;
  readonly span_id: string;
}

export interface RunRequest {
  readonly tenant: string;
  readonly runs: readonly { readonly trace_id: string; readonly span_id: string }[];
}

/** Runs that the API takes in one request. */
const runsAtOnceMax = 200;

/** A change is about runs of one tenant, so each tenant has separate requests. */
export function runRequests(runs: readonly RunReference[]): readonly RunRequest[] {
  return [...Map.groupBy(runs, ({ tenant }) => tenant)].flatMap(([tenant, own]) =>
    Array.from({ length: Math.ceil(own.length / runsAtOnceMax) }, (_, at) => ({
      tenant,
      runs: own.slice(at * runsAtOnceMax, (at + 1) * runsAtOnceMax).map(({ trace_id, span_id }) => ({ trace_id, span_id })),
    })),
  );
}

export function runsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'run' : 'runs'}`;
}
