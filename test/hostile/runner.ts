/** Runs one case and returns the deviations. */
import type { HostileCase, Wanted } from './case.ts';
import { good, protobuf } from './bodies.ts';
import { post } from './senders.ts';
import type { Target } from './target.ts';

export interface Outcome {
  readonly wanted: string;
  readonly got: string;
  /** Empty: as wanted. */
  readonly faults: readonly string[];
  /** The longest turn of the service's event loop, from the request to the runs that came of it. */
  readonly turnMs: number;
}

/** `number` makes the trace ids: each case has a separate one, and one for the good request that follows it. */
export async function outcomeOf(target: Target, { prepare, want }: HostileCase, number: number): Promise<Outcome> {
  const trace = `ca5e${number.toString(16).padStart(28, '0')}`;
  const send = prepare(trace);
  const before = await target.counts();
  await target.longestTurnMs();
  const answer = await send(target);
  const counted = difference(before, await target.counts());
  const rejected = { ...rejectedIn(counted, 'spans'), ...rejectedIn(counted, 'log_records') };
  const accepted = counted.get('tracejury_receiver_spans_total{tracejury_outcome="accepted"}') ?? 0;
  const requests = requestsIn(counted);
  // A refused request makes no run, and the case does not wait for it.
  const runs = want.runs === undefined || accepted !== want.accepted ? [] : await target.runs(trace, want.runs);
  const turnMs = await target.longestTurnMs();
  const after = await post(protobuf(good(trace.replace('ca5e', 'f01d'))))(target);

  const faults = [
    ...unequal('answer', answer.status, want.status),
    ...(want.says === undefined || want.says.test(answer.says) ? [] : [`it says “${answer.says}”, not ${String(want.says)}`]),
    ...unequal('accepted by the metrics', accepted, want.accepted ?? 0),
    ...unequal('rejected by the metrics', rejected, want.rejected ?? {}),
    ...unequal('rejected by the answer', answer.rejected, total(want.rejected ?? {})),
    ...unequal('requests by the metrics', requests, want.requests),
    ...Object.entries(want.counts ?? {}).flatMap(([sample, count]) => unequal(sample, counted.get(sample) ?? 0, count)),
    ...unequal('runs', runs.length, want.runs ?? 0),
    ...(want.verdict === undefined ? [] : unequal('verdicts', [...new Set(runs)], [want.verdict])),
    ...unequal('the answer to a good request behind it', after.status, '200'),
  ];
  return {
    wanted: inWords(want.status, want.accepted ?? 0, want.rejected ?? {}, want),
    got: inWords(answer.status, accepted, rejected, { runs: runs.length }),
    faults,
    turnMs,
  };
}

function inWords(
  status: string,
  accepted: number,
  rejected: { readonly [reason: string]: number },
  { runs = 0 }: Pick<Wanted, 'runs'>,
): string {
  const parts = [
    status,
    ...(accepted > 0 ? [`${accepted} taken`] : []),
    ...Object.entries(rejected).map(([reason, count]) => `${count} ${reason}`),
    ...(runs > 0 ? [`${runs} ${runs === 1 ? 'run' : 'runs'}`] : []),
  ];
  return parts.join(', ');
}

function difference(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(
    [...after].map(([sample, value]) => [sample, value - (before.get(sample) ?? 0)] as const).filter(([, value]) => value !== 0),
  );
}

function rejectedIn(counted: ReadonlyMap<string, number>, items: 'spans' | 'log_records'): { readonly [reason: string]: number } {
  const prefix = `tracejury_receiver_${items}_total{tracejury_outcome="rejected",tracejury_reason="`;
  return Object.fromEntries(
    [...counted].filter(([sample]) => sample.startsWith(prefix)).map(([sample, value]) => [sample.slice(prefix.length, -2), value]),
  );
}

/** `http traces 413 otlp_too_large`, by the values of the labels. */
function requestsIn(counted: ReadonlyMap<string, number>): { readonly [labels: string]: number } {
  const found = [...counted].filter(([sample]) => sample.startsWith('tracejury_receiver_requests_total{'));
  return Object.fromEntries(
    found.map(([sample, value]) => [[...sample.matchAll(/="([^"]*)"/g)].map(([, label]) => label).join(' '), value]),
  );
}

function unequal(what: string, got: unknown, wanted: unknown): readonly string[] {
  const [one, other] = [sorted(got), sorted(wanted)];
  return one === other ? [] : [`${what}: ${one}, not ${other}`];
}

function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))));
}

function total(counts: { readonly [reason: string]: number }): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
