/** The account of a trial of a budget: by the read API, by the store, and by the judge's own bill. */
import { DatabaseSync } from 'node:sqlite';
import type { Host } from '../../faults/host.ts';
import { parsedEntries, type RunEntry } from '../../../src/stores/run-record.ts';
import { blockReader } from '../../../src/stores/sql/blocks.ts';
import type { Charge } from './charging-judge.ts';
import { evaluators, type Order } from './orders.ts';

export interface BudgetAccount extends Told, Stored, Billed {
  readonly pairs: number;
  /** Pairs that would be asked about without a budget. */
  readonly wanted: number;
  readonly budgetUsd: number;
  readonly kills: number;
}

/** Figures of the read API. */
interface Told {
  /** Number of pairs that ended so. */
  readonly decisions: ReadonlyMap<string, number>;
  readonly undecided: number;
  readonly decidedTwice: number;
}

/** Figures of the tables. */
interface Stored {
  /** Rows of decisions on these evaluators. */
  readonly decisionRows: number;
  /** Includes reservations for calls with an unknown end. */
  readonly countedUsd: number;
  /** The runs that the verdicts represent by their probabilities, over the runs that were there when something was left of the budget; 1 but for chance. */
  readonly balance: number;
}

/** Figures of the judge. */
interface Billed {
  readonly asked: number;
  readonly chargedUsd: number;
  readonly dearestUsd: number;
  /** Questions that the judge had and had not answered at a kill, all kills together. */
  readonly underWay: number;
  /** Questions beyond the first about the same pair. */
  readonly askedAgain: number;
  /** Those of them whose earlier answer had left the judge. */
  readonly askedAgainAnswered: number;
  /** Those of them whose verdict was in the store. */
  readonly askedAgainDecided: number;
}

export interface Kill {
  /** Pairs whose verdict was in the store. */
  readonly verdicts: ReadonlySet<string>;
  /** Questions that there had been. */
  readonly asked: number;
  readonly underWay: number;
}

/** Requests to the API at a time. */
const readers = 4;

export async function told(service: Host, all: readonly Order[]): Promise<Told> {
  const decisions = new Map<string, number>();
  let [undecided, decidedTwice] = [0, 0];
  const queue = all.values();
  async function reader(): Promise<void> {
    for (const { traceId } of queue) {
      const rows = await service.decisions(traceId);
      for (const name of evaluators) {
        const own = rows.filter((row) => row['name'] === name);
        if (own.length === 0) undecided++;
        if (own.length > 1) decidedTwice++;
        for (const { decision } of own) decisions.set(String(decision), (decisions.get(String(decision)) ?? 0) + 1);
      }
    }
  }
  await Promise.all(Array.from({ length: readers }, reader));
  return { decisions, undecided, decidedTwice };
}

export function verdictsIn(file: string, all: readonly Order[]): ReadonlySet<string> {
  const numbers = new Map(all.map(({ traceId, number }) => [String(traceId), number] as const));
  return read(
    file,
    (db) =>
      new Set(
        entriesIn(db)
          .filter(({ decision }) => decision?.decision === 'scored')
          .map(({ trace, name }) => `${numbers.get(trace) ?? ''} ${name}`),
      ),
  );
}

export function decisionsIn(file: string): number {
  return read(file, (db) => entriesIn(db).filter(({ decision }) => decision !== undefined).length);
}

export function stored(file: string, all: readonly Order[]): Stored {
  return read(file, (db) => {
    const one = (query: string): number => Number(Object.values(db.prepare(query).get() ?? {})[0] ?? 0);
    const entries = entriesIn(db);
    const unreachable = entries.filter(({ decision }) => decision?.decision === 'over_budget').length;
    const weight = entries.reduce((sum, { verdict }) => sum + (verdict === undefined ? 0 : 1 / verdict.sampleProbability), 0);
    return {
      decisionRows: entries.filter(({ decision }) => decision !== undefined).length,
      countedUsd:
        (one("select sum(nano_usd) from judge_spend where account = 'main'") +
          one("select sum(nano_usd) from judge_reservations where account = 'main'")) /
        1e9,
      balance: weight / Math.max(1, all.length * evaluators.length - unreachable),
    };
  });
}

/** Verdicts on runs under the names of the evaluators. */
function entriesIn(db: DatabaseSync): readonly (RunEntry & { readonly trace: string })[] {
  db.function('block_text', blockReader());
  return db
    .prepare(
      'select r.trace_id as trace, block_text(b.body, r.verdicts_at, r.verdicts_length) as said from runs r join blocks b on b.id = r.verdicts_block order by b.id',
    )
    .all()
    .flatMap(({ trace, said }) => parsedEntries(String(said)).map((entry) => ({ ...entry, trace: String(trace) })))
    .filter(({ name }) => evaluators.some((one) => one === name));
}

export function billed(bill: readonly Charge[], kills: readonly Kill[]): Billed {
  const answered = new Set<string>();
  let [askedAgain, askedAgainAnswered] = [0, 0];
  const seen = new Set<string>();
  for (const { pair, wasAnswered } of bill) {
    if (seen.has(pair)) askedAgain++;
    if (answered.has(pair)) askedAgainAnswered++;
    seen.add(pair);
    if (wasAnswered) answered.add(pair);
  }
  return {
    asked: bill.length,
    chargedUsd: bill.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0) / 1e9,
    dearestUsd: Math.max(0, ...bill.map(({ nanoUsd }) => nanoUsd)) / 1e9,
    underWay: kills.reduce((sum, { underWay }) => sum + underWay, 0),
    askedAgain,
    askedAgainAnswered,
    askedAgainDecided: kills.reduce(
      (sum, { verdicts, asked }) => sum + bill.slice(asked).filter(({ pair }) => verdicts.has(pair)).length,
      0,
    ),
  };
}

function read<Result>(file: string, ask: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return ask(db);
  } finally {
    db.close();
  }
}
