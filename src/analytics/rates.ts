/** Computes the rates of evaluators from the store: the newest runs of a period, in pages. */
import { annotationRowsMax, type AnnotatorKind } from '../model/store/annotation-store.ts';
import type { Tenant } from '../model/ids.ts';
import { type RowPlace, type RunPeriod, type RunSplit, splitValuesMax, type VerdictRow } from '../model/store/verdict-rows.ts';
import type { Store } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { trafficRate, type TrafficRate, labelledRuns, weightMaxOf } from './corrected-rate.ts';

export type RateSource = Pick<Store, 'verdicts' | 'annotations'>;

export interface RatesQuery extends RunPeriod {
  /** `undefined` for all evaluators that are not rules. */
  readonly name?: string;
  readonly kinds: readonly AnnotatorKind[];
  /** Limit of runs; the newest count. */
  readonly runsMax: number;
  /** Number of agents with separate rates: those with the most verdicts. */
  readonly agentsMax?: number;
  /** Number of tenants with separate rates: those with the most verdicts. */
  readonly tenantsMax?: number;
  /** Also rates of the values with the most verdicts, at most `splitValuesMax`. */
  readonly by?: RunSplit;
}

export interface EvaluatorRate extends TrafficRate {
  readonly name: string;
  readonly kind: string;
  /** `undefined` for all agents. */
  readonly agent: string | undefined;
  /** `undefined` for all tenants. */
  readonly tenant: Tenant | undefined;
  /** Value of the split; `undefined` for all values. */
  readonly of: string | undefined;
}

export interface Rates {
  /** Start of the counted runs; later than requested when the limit applies. */
  readonly since: Micros;
  readonly rates: readonly EvaluatorRate[];
}

/** Annotators whose labels correct a rate. */
export const peopleKinds: readonly AnnotatorKind[] = ['human', 'user'];

const pageRows = 5_000;

export async function rates(
  store: RateSource,
  { name, kinds, runsMax, agentsMax = 0, tenantsMax = 0, by, ...period }: RatesQuery,
): Promise<Rates> {
  const since = await store.verdicts.since({ ...period, runsMax });
  const within = { ...period, from: since };
  const evaluators = (await store.verdicts.evaluators()).filter((one) => (name === undefined ? one.kind !== 'rule' : one.name === name));
  const found: EvaluatorRate[] = [];
  for (const evaluator of evaluators) {
    const rows = await allRows(store, { ...within, name: evaluator.name });
    const weightMax = weightMaxOf(rows);
    const decided = await store.verdicts.decided({ ...within, name: evaluator.name, weightMax });
    const annotated = await store.annotations.onRuns({ ...within, name: evaluator.name, kinds, limit: annotationRowsMax });
    const labels = new Map(
      labelledRuns(annotated.filter(({ annotation }) => annotation.toolCall === undefined)).runs.flatMap(({ key, passed, probability }) =>
        passed === undefined ? [] : [[key, { passed, probability }] as const],
      ),
    );
    const about = { agent: period.agent, tenant: period.tenant, of: undefined };
    found.push({ ...evaluator, ...about, ...trafficRate({ rows, labels, decided }) });
    for (const tenant of most(rows, (row) => row.tenant, tenantsMax)) {
      const own = rows.filter((row) => row.tenant === tenant);
      const ofTenant = await store.verdicts.decided({ ...within, tenant, name: evaluator.name, weightMax: weightMaxOf(own) });
      found.push({ ...evaluator, ...about, tenant, ...trafficRate({ rows: own, labels, decided: ofTenant }) });
    }
    if (by !== undefined) {
      for (const of of most(rows, (row) => row[by], splitValuesMax)) {
        const own = rows.filter((row) => row[by] === of);
        const ofValue = await store.verdicts.decided({ ...within, [by]: of, name: evaluator.name, weightMax: weightMaxOf(own) });
        found.push({ ...evaluator, ...about, of, ...trafficRate({ rows: own, labels, decided: ofValue }) });
      }
    }
    for (const agent of most(rows, (row) => row.agent, agentsMax)) {
      found.push({
        ...evaluator,
        ...about,
        agent,
        ...trafficRate({ rows: rows.filter((row) => row.agent === agent), labels, decided: decided.filter((one) => one.agent === agent) }),
      });
    }
  }
  return { since, rates: found };
}

async function allRows(store: RateSource, query: RunPeriod & { readonly name: string }): Promise<readonly VerdictRow[]> {
  const rows: VerdictRow[] = [];
  for (let after: RowPlace | undefined; ;) {
    const page = await store.verdicts.page({ ...query, limit: pageRows, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

/** The names with the most rows, sorted by name. */
function most<Name extends string>(
  rows: readonly VerdictRow[],
  nameOf: (row: VerdictRow) => Name | undefined,
  namesMax: number,
): readonly Name[] {
  if (namesMax === 0) return [];
  const counts = [...Map.groupBy(rows, nameOf)].flatMap(([name, own]) => (name === undefined ? [] : [{ name, count: own.length }]));
  return counts
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
    .slice(0, namesMax)
    .map(({ name }) => name)
    .sort();
}
