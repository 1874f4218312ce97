/**
 * Verdicts by evaluator over time, out of the sums over time. A question takes days and hours that lie within its period and whose sums say what their
 * runs say. The runs of the rest are read: of the hours at its ends, of those that changed since they were summed, and of those with pruned runs.
 */
import { otherRollup, type RollupRow, rollupSteps } from '../../model/store/rollup-store.ts';
import type { SummaryQuery, SummaryRow } from '../../model/store/store.ts';
import { type VerdictWord, verdictWords } from '../../model/verdict.ts';
import { countsOfBody, daysUntil, startOf, type Times } from './rollup-sums.ts';
import type { SqlValue, Statements } from './statements.ts';

const [, hourMicros, dayMicros] = rollupSteps;

interface SummedVerdicts extends Pick<SummaryRow, 'at' | 'name' | 'verdict' | 'count'> {
  /** Their sum. */
  readonly scores: number | undefined;
}

interface Summed {
  readonly verdicts: readonly SummedVerdicts[];
  /** Times whose runs are to be read, in their order. */
  readonly rest: readonly Times[];
}

export async function summedVerdicts(on: Statements, query: SummaryQuery): Promise<Summed> {
  const { agent, version, model, prompt, by, bucketMicros } = query;
  // The end is exclusive, and a run may start in the last microsecond.
  const whole = { from: query.from, to: Math.min(query.to, Number.MAX_SAFE_INTEGER + 1) };
  const isOfRuns = agent === '' || [version, model, prompt, by].some((one) => one !== undefined) || bucketMicros % hourMicros !== 0;
  if (isOfRuns) return { verdicts: [], rest: [whole] };
  const begin = Math.min(whole.to, Math.max(whole.from, await summedFrom(on)));
  const changed = await changedHours(on, { from: begin, to: whole.to });
  const days = { width: dayMicros, until: await daysUntil(on) };
  const hours = { width: hourMicros, until: whole.to };
  const verdicts: SummedVerdicts[] = [];
  let rest: readonly Times[] = [{ from: begin, to: whole.to }];
  for (const steps of bucketMicros % dayMicros === 0 ? [days, hours] : [hours]) {
    const left: Times[] = [];
    for (const piece of rest) {
      const summed = await summedPiece(on, query, { ...steps, piece, changed });
      verdicts.push(...summed.verdicts);
      left.push(...summed.rest);
    }
    rest = joined(left);
  }
  return { verdicts, rest: joined([{ from: whole.from, to: begin }, ...rest]) };
}

/** Sums before this time count runs that are gone, or do not follow changes of their runs. */
async function summedFrom(on: Statements): Promise<number> {
  const until = Number((await on.first('select until_us as until from version_pruned'))?.['until'] ?? 0);
  return startOf(until, hourMicros) + hourMicros;
}

/** Hours with runs that changed since they were summed. */
async function changedHours(on: Statements, { from, to }: Times): Promise<ReadonlySet<number>> {
  const times = [startOf(from, hourMicros), to];
  const rows = await on.all(
    'select at_us as at from version_changes where at_us >= ? and at_us < ? union select at_us from rollup_changes where at_us >= ? and at_us < ?',
    [...times, ...times],
  );
  return new Set(rows.map(({ at }) => startOf(Number(at), hourMicros)));
}

interface Steps {
  readonly width: number;
  /** Steps before it have sums. */
  readonly until: number;
  readonly piece: Times;
  readonly changed: ReadonlySet<number>;
}

async function summedPiece(on: Statements, query: SummaryQuery, { width, until, piece, changed }: Steps): Promise<Summed> {
  const from = startOf(piece.from + width - 1, width);
  const to = startOf(Math.min(piece.to, until), width);
  if (from >= to) return { verdicts: [], rest: [piece] };
  const left = new Set([...changed].map((hour) => startOf(hour, width)).filter((at) => at >= from && at < to));
  const found = new Map<number, Map<string, Counts>>();
  for await (const rows of rowsOf(on, query, { width, from, to }))
    for (const [at, agent, name, body] of rows) {
      const counts = countsOfBody('evaluator', String(body));
      // `other` hides names.
      if (name === otherRollup || (query.agent !== undefined && agent === otherRollup) || !isComplete(counts)) left.add(Number(at));
      else addCounts(found, Number(at), { name: String(name), counts });
    }
  return {
    verdicts: [...found].flatMap(([at, byName]) =>
      left.has(at) ? [] : [...byName].flatMap(([name, counts]) => verdictsOf({ at: startOf(at, query.bucketMicros), name, counts })),
    ),
    rest: [
      { from: piece.from, to: from },
      ...[...left].toSorted((one, other) => one - other).map((at) => ({ from: at, to: at + width })),
      { from: to, to: piece.to },
    ],
  };
}

/** Sums of many agents and tenants become one for each step and evaluator while they are read. */
function addCounts(
  found: Map<number, Map<string, Counts>>,
  at: number,
  { name, counts }: { readonly name: string; readonly counts: Counts },
): void {
  const byName = found.get(at) ?? new Map<string, Counts>();
  found.set(at, byName);
  const before = byName.get(name);
  const sum = (key: string): number => (before?.[key as keyof Counts] ?? 0) + counts[key as keyof Counts];
  byName.set(name, before === undefined ? counts : (Object.fromEntries(Object.keys(counts).map((key) => [key, sum(key)])) as Counts));
}

function rowsOf(on: Statements, { agent, tenant, evaluator }: SummaryQuery, { width, from, to }: Times & Pick<Steps, 'width'>) {
  const conditions: readonly (readonly [sql: string, ...values: SqlValue[]])[] = [
    ['kind = ?', 'evaluator'],
    ['width_us = ?', width],
    ['at_us >= ? and at_us < ?', from, to],
    ...(tenant === undefined ? [] : [['tenant = ?', tenant] as const]),
    ...(agent === undefined ? [] : [['agent in (?, ?)', agent, otherRollup] as const]),
    ...(evaluator === undefined ? [] : [['name in (?, ?)', evaluator, otherRollup] as const]),
  ];
  return on.lists(
    `select at_us, agent, name, body from rollups where ${conditions.map(([sql]) => sql).join(' and ')}`,
    conditions.flatMap(([, ...values]) => values),
  );
}

type Counts = RollupRow<'evaluator'>['counts'];

/** False for sums with a part that an earlier release made, which lacks the scores by verdict. */
function isComplete({ pass, fail, raw, scored, worded }: Counts): boolean {
  return worded === scored && worded === pass + fail + raw;
}

function verdictsOf({ at, name, counts }: { readonly at: number; readonly name: string; readonly counts: Counts }) {
  const { score, passedScore, failedScore } = counts;
  const scores: { readonly [word in VerdictWord]?: number } = {
    pass: passedScore,
    fail: failedScore,
    raw: score - passedScore - failedScore,
  };
  return verdictWords
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => ({ at, name, verdict, count: counts[verdict], scores: scores[verdict] }));
}

/** Without empty ones, those behind one another as one. */
function joined(times: readonly Times[]): readonly Times[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of times) {
    const last = all.at(-1);
    if (from >= to) continue;
    if (last?.to === from) last.to = to;
    else all.push({ from, to });
  }
  return all;
}
