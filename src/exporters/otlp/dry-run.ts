/** Requests over OTLP as they would be sent, their bodies as JSON whatever the encoding. */
import { chunks } from '../../model/chunks.ts';
import { parseJson } from '../../model/json.ts';
import type { PlannedRequest } from '../exporter.ts';
import type { OtlpWriter } from '../../otlp/write/outgoing-span.ts';

export interface OtlpPlan<Item> {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** What each run is sent as. */
  readonly runs: readonly (readonly Item[])[];
  /** Of one request. */
  readonly runsMax: number;
  readonly json: OtlpWriter<Item>;
}

export function otlpPlan<Item>({ url, headers, runs, runsMax, json }: OtlpPlan<Item>): readonly PlannedRequest[] {
  const told = runs.filter((items) => items.length > 0);
  return chunks(told, runsMax).map((some) => ({ method: 'POST', url, headers, body: parseJson(json.request(some.map((items) => json.write(...items))).toString()) ?? null }));
}
