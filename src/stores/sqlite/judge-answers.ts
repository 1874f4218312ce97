/** What judges have answered, in the SQLite store. */
import { sql, type Kysely } from 'kysely';
import type { JudgeAnswerStore } from '../../model/store/judge-store.ts';
import type { Tables } from './tables.ts';

export function answerStore(db: Kysely<Tables>): JudgeAnswerStore {
  return {
    async find(key, since) {
      const row = await db
        .selectFrom('judge_answers')
        .selectAll()
        .where('key', '=', key)
        .where('answered_us', '>=', since)
        .executeTakeFirst();
      return row === undefined ? undefined : { key, value: row.value, answeredAt: row.answered_us };
    },
    async keep(answers) {
      if (answers.length === 0) return;
      const rows = new Map(
        answers.map(({ key, value, answeredAt }) => [key, { key, value, chars: value.length, answered_us: answeredAt }] as const),
      );
      await db
        .insertInto('judge_answers')
        .values([...rows.values()])
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet(({ ref }) => ({
              value: ref('excluded.value'),
              chars: ref('excluded.chars'),
              answered_us: ref('excluded.answered_us'),
            }))
            .whereRef('excluded.answered_us', '>=', 'judge_answers.answered_us'),
        )
        .execute();
    },
    async prune({ before, rows, chars }) {
      await sql`delete from judge_answers where key in (
        select key from (select key, answered_us, row_number() over newest as nth, sum(chars) over newest as held from judge_answers window newest as (order by answered_us desc, key))
        where answered_us < ${before} or nth > ${rows} or held > ${chars})`.execute(db);
    },
  };
}
