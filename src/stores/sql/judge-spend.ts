/** Cost of judges, and reservations for calls under way, in the SQLite store. Each transaction begins with a write, so that two processes never decide by the same sums. */
import { sql, type Kysely, type Transaction } from 'kysely';
import { isNothing, noAmount, sumOfAmounts, type Amount } from '../../model/budget.ts';
import {
  adopted,
  fitsMinute,
  minuteSeconds,
  noSpending,
  reservedAfter,
  type DaySpend,
  type JudgeSpendStore,
  type Spending,
} from '../../model/store/judge-store.ts';
import { storeTime, storeTimeAt } from './leases.ts';
import type { Tables } from './tables.ts';

type Tx = Transaction<Tables>;

export function spendStore(db: Kysely<Tables>): JudgeSpendStore {
  return {
    async enter({ account, day, owner, at, ...entry }) {
      return await db.transaction().execute(async (tx) => {
        const spent = await addSpending(tx, { account, day }, entry.spent);
        const { own, others } = await reserved(tx, { account, day, owner });
        const after = reservedAfter({ spent, own, others }, entry);
        await writeReservation(tx, { account, day, owner }, after.own, at);
        return { over: after.over, spend: after.spend };
      });
    },
    async on(day) {
      const found = new Map<string, DaySpend>();
      for (const { account, ...row } of await db.selectFrom('judge_spend').selectAll().where('day', '=', day).execute())
        found.set(account, { ...spendingOf(row), reserved: noAmount });
      for (const { account, ...row } of await db.selectFrom('judge_reservations').selectAll().where('day', '=', day).execute()) {
        const known = found.get(account) ?? { ...noSpending, reserved: noAmount };
        found.set(account, { ...known, reserved: sumOfAmounts(known.reserved, amount(row)) });
      }
      return found;
    },
    async renew(owner, at) {
      await db
        .updateTable('judge_reservations')
        .set({ renewed_us: storeTime(at) })
        .where('owner', '=', owner)
        .execute();
    },
    async adopt({ now, before, forget }) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('judge_spend').where('day', '<', forget).execute();
        for (const row of await tx
          .deleteFrom('judge_reservations')
          .where('renewed_us', '<', storeTimeAt(before, now))
          .returningAll()
          .execute())
          if (row.day >= forget) await addSpending(tx, row, adopted(amount(row)));
      });
    },
    async pass({ account, at, back, ...entry }) {
      const now = sql<number>`cast(lease_clock(${at}) / 1000000 as bigint)`;
      return await db.transaction().execute(async (tx) => {
        await tx
          .deleteFrom('judge_minutes')
          .where('second', '<=', sql<number>`${now} - ${minuteSeconds}`)
          .execute();
        for (const { second, amount: given } of back) {
          const less = {
            requests: sql<number>`max(0, requests - ${given.requests})`,
            tokens: sql<number>`max(0, tokens - ${given.tokens})`,
          };
          await tx.updateTable('judge_minutes').set(less).where('account', '=', account).where('second', '=', second).execute();
        }
        const { requests = 0, tokens = 0 } =
          (await tx
            .selectFrom('judge_minutes')
            .select(({ fn }) => [fn.sum<number | null>('requests').as('requests'), fn.sum<number | null>('tokens').as('tokens')])
            .where('account', '=', account)
            .executeTakeFirst()) ?? {};
        if (!fitsMinute({ nanoUsd: 0, requests: requests ?? 0, tokens: tokens ?? 0 }, entry)) return undefined;
        const noted = await tx
          .insertInto('judge_minutes')
          .values({ account, second: now, requests: entry.wanted.requests, tokens: entry.wanted.tokens })
          .onConflict((conflict) =>
            conflict.columns(['account', 'second']).doUpdateSet({
              requests: sql`judge_minutes.requests + excluded.requests`,
              tokens: sql`judge_minutes.tokens + excluded.tokens`,
            }),
          )
          .returning('second')
          .executeTakeFirstOrThrow();
        return noted.second;
      });
    },
  };
}

interface Place {
  readonly account: string;
  readonly day: string;
}

/** The day's sum including it. */
async function addSpending(tx: Tx, { account, day }: Place, { nanoUsd, requests, inputTokens, outputTokens }: Spending): Promise<Spending> {
  const sums = {
    nano_usd: sql<number>`judge_spend.nano_usd + excluded.nano_usd`,
    requests: sql<number>`judge_spend.requests + excluded.requests`,
    input_tokens: sql<number>`judge_spend.input_tokens + excluded.input_tokens`,
    output_tokens: sql<number>`judge_spend.output_tokens + excluded.output_tokens`,
  };
  const row = await tx
    .insertInto('judge_spend')
    .values({ account, day, nano_usd: nanoUsd, requests, input_tokens: inputTokens, output_tokens: outputTokens })
    .onConflict((conflict) => conflict.columns(['account', 'day']).doUpdateSet(sums))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? noSpending : spendingOf(row);
}

async function reserved(
  tx: Tx,
  { account, day, owner }: Place & { readonly owner: string },
): Promise<{ readonly own: Amount; readonly others: Amount }> {
  const rows = await tx.selectFrom('judge_reservations').selectAll().where('account', '=', account).where('day', '=', day).execute();
  const sum = (some: typeof rows): Amount => some.map(amount).reduce(sumOfAmounts, noAmount);
  return { own: sum(rows.filter((row) => row.owner === owner)), others: sum(rows.filter((row) => row.owner !== owner)) };
}

async function writeReservation(tx: Tx, place: Place & { readonly owner: string }, own: Amount, at: number): Promise<void> {
  const { account, day, owner } = place;
  if (isNothing(own)) {
    await tx.deleteFrom('judge_reservations').where('account', '=', account).where('day', '=', day).where('owner', '=', owner).execute();
    return;
  }
  const columns = { nano_usd: own.nanoUsd, requests: own.requests, tokens: own.tokens, renewed_us: storeTime(at) };
  await tx
    .insertInto('judge_reservations')
    .values({ account, day, owner, ...columns })
    .onConflict((conflict) => conflict.columns(['account', 'day', 'owner']).doUpdateSet(columns))
    .execute();
}

function amount({
  nano_usd: nanoUsd,
  requests,
  tokens,
}: {
  readonly nano_usd: number;
  readonly requests: number;
  readonly tokens: number;
}): Amount {
  return { nanoUsd, requests, tokens };
}

function spendingOf(row: {
  readonly nano_usd: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}): Spending {
  return { nanoUsd: row.nano_usd, requests: row.requests, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}
