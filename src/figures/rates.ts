/** The rates of evaluators, out of the store: the newest runs of a period, a page at a time. */
import { annotationRowsMax, type AnnotatorKind } from '../model/annotation.ts';
import type { RowPlace, RunPeriod, VerdictRow } from '../model/verdict-rows.ts';
import type { Micros, Store } from '../stores/store.ts';
import { honestRate, type HonestRate } from './honest-rate.ts';
import { labelledRuns } from './people.ts';

export type RateSource = Pick<Store, 'verdicts' | 'annotations'>;

export interface RatesQuery extends RunPeriod {
  /** Undefined: those that ask somebody. */
  readonly name?: string;
  readonly kinds: readonly AnnotatorKind[];
  /** Of the period the newest so many count. */
  readonly runsMax: number;
  /** Also by agent, of the agents with the most verdicts. */
  readonly agentsMax?: number;
}

export interface EvaluatorRate extends HonestRate {
  readonly name: string;
  readonly kind: string;
  /** Undefined: of all agents. */
  readonly agent: string | undefined;
}

export interface Rates {
  /** From when on runs count: later than asked for where there are too many. */
  readonly since: Micros;
  readonly rates: readonly EvaluatorRate[];
}

/** Whoever gives words on which a rate is corrected. */
export const peopleKinds: readonly AnnotatorKind[] = ['human', 'user'];

const pageRows = 5_000;

export async function rates(store: RateSource, { name, kinds, runsMax, agentsMax = 0, ...period }: RatesQuery): Promise<Rates> {
  const since = await store.verdicts.since({ ...period, runsMax });
  const within = { ...period, from: since };
  const evaluators = (await store.verdicts.evaluators()).filter((one) => (name === undefined ? one.kind !== 'rule' : one.name === name));
  const found: EvaluatorRate[] = [];
  for (const evaluator of evaluators) {
    const rows = await allRows(store, { ...within, name: evaluator.name });
    const decided = await store.verdicts.decided({ ...within, name: evaluator.name });
    const annotated = await store.annotations.onRuns({ ...within, name: evaluator.name, kinds, limit: annotationRowsMax });
    const labels = new Map(labelledRuns(annotated.filter(({ annotation }) => annotation.toolCall === undefined)).runs.flatMap(({ key, passed }) => (passed === undefined ? [] : [[key, passed] as const])));
    found.push({ ...evaluator, agent: period.agent, ...honestRate({ rows, labels, decided }) });
    for (const agent of topAgents(rows, agentsMax)) {
      found.push({ ...evaluator, agent, ...honestRate({ rows: rows.filter((row) => row.agent === agent), labels, decided: decided.filter((one) => one.agent === agent) }) });
    }
  }
  return { since, rates: found };
}

async function allRows(store: RateSource, query: RunPeriod & { readonly name: string }): Promise<readonly VerdictRow[]> {
  const rows: VerdictRow[] = [];
  for (let after: RowPlace | undefined; ; ) {
    const page = await store.verdicts.page({ ...query, limit: pageRows, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

function topAgents(rows: readonly VerdictRow[], agentsMax: number): readonly string[] {
  if (agentsMax === 0) return [];
  const counts = [...Map.groupBy(rows, ({ agent }) => agent)].flatMap(([agent, own]) => (agent === undefined ? [] : [{ agent, count: own.length }]));
  return counts.sort((one, other) => other.count - one.count || (one.agent < other.agent ? -1 : 1)).slice(0, agentsMax).map(({ agent }) => agent).sort();
}
