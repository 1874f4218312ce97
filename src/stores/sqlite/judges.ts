/** What judges have cost and answered, in the SQLite store. */
import { sql, type Kysely, type Selectable } from 'kysely';
import { enteredSpend, noSpending, type DaySpend, type JudgeAnswerStore, type JudgeSpendStore } from '../../model/judge-store.ts';
import type { Tables } from './tables.ts';

export function spendStore(db: Kysely<Tables>): JudgeSpendStore {
  return {
    async enter({ judge, day, ...entry }) {
      return await db.transaction().execute(async (tx) => {
        const entered = enteredSpend(await daySpend(tx, judge, day), entry);
        const { nanoUsd, reservedNanoUsd, requests, inputTokens, outputTokens } = entered.spend;
        const columns = { nano_usd: nanoUsd, reserved_nano_usd: reservedNanoUsd, requests, input_tokens: inputTokens, output_tokens: outputTokens };
        await tx.insertInto('judge_spend').values({ judge, day, ...columns }).onConflict((conflict) => conflict.columns(['judge', 'day']).doUpdateSet(columns)).execute();
        return entered;
      });
    },
    of: (judge, day) => daySpend(db, judge, day),
    async adopt(forget) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('judge_spend').where('day', '<', forget).execute();
        await tx.updateTable('judge_spend').set({ nano_usd: sql`nano_usd + reserved_nano_usd`, reserved_nano_usd: 0 }).where('reserved_nano_usd', '>', 0).execute();
      });
    },
  };
}

async function daySpend(db: Kysely<Tables>, judge: string, day: string): Promise<DaySpend> {
  const row: Selectable<Tables['judge_spend']> | undefined = await db.selectFrom('judge_spend').selectAll().where('judge', '=', judge).where('day', '=', day).executeTakeFirst();
  return row === undefined ? { ...noSpending, reservedNanoUsd: 0 } : { nanoUsd: row.nano_usd, reservedNanoUsd: row.reserved_nano_usd, requests: row.requests, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}

export function answerStore(db: Kysely<Tables>): JudgeAnswerStore {
  return {
    async find(key, since) {
      const row = await db.selectFrom('judge_answers').selectAll().where('key', '=', key).where('answered_us', '>=', since).executeTakeFirst();
      return row === undefined ? undefined : { key, value: row.value, answeredAt: row.answered_us };
    },
    async keep(answers) {
      if (answers.length === 0) return;
      const rows = new Map(answers.map(({ key, value, answeredAt }) => [key, { key, value, chars: value.length, answered_us: answeredAt }] as const));
      await db
        .insertInto('judge_answers')
        .values([...rows.values()])
        .onConflict((conflict) => conflict.column('key').doUpdateSet(({ ref }) => ({ value: ref('excluded.value'), chars: ref('excluded.chars'), answered_us: ref('excluded.answered_us') })).whereRef('excluded.answered_us', '>=', 'judge_answers.answered_us'))
        .execute();
    },
    async prune({ before, rows, chars }) {
      await sql`delete from judge_answers where key in (
        select key from (select key, answered_us, row_number() over newest as nth, sum(chars) over newest as held from judge_answers window newest as (order by answered_us desc, key))
        where answered_us < ${before} or nth > ${rows} or held > ${chars})`.execute(db);
    },
  };
}
