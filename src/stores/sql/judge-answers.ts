/** Answers of judges in the SQLite store. */
import { sql, type Kysely } from 'kysely';
import type { JudgeAnswerStore, JudgeBatchStore, QuestionState } from '../../model/store/judge-store.ts';
import type { Tables } from './tables.ts';
import { leaseEnd, mayTake } from './leases.ts';
import { chunks, oneOf } from './rows.ts';

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
        select key from (select key, answered_us, row_number() over newest as nth, sum(chars) over newest as held from judge_answers window newest as (order by answered_us desc, key)) as held
        where answered_us < ${before} or nth > ${rows} or held > ${chars})`.execute(db);
    },
  };
}

export function batchStore(db: Kysely<Tables>): JudgeBatchStore {
  return {
    async prepare({ id, judge, endpoint, preparedAt, questions }, lease) {
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto('judge_batches')
          .values({ id, judge, endpoint, remote_id: null, prepared_us: preparedAt, owner: lease.owner, leased_us: leaseEnd(lease) })
          .execute();
        for (const some of chunks(questions)) {
          await tx
            .insertInto('judge_batch_questions')
            .values(some.map((question) => ({ question, batch_id: id, answered_us: null, answer: null })))
            .onConflict((conflict) => conflict.column('question').doUpdateSet({ batch_id: id, answered_us: null, answer: null }))
            .execute();
        }
      });
    },
    async submitted(id, remoteId) {
      await db.updateTable('judge_batches').set({ remote_id: remoteId }).where('id', '=', id).execute();
    },
    async end(id, answers, at) {
      await db.transaction().execute(async (tx) => {
        for (const { question, text } of answers)
          await tx
            .updateTable('judge_batch_questions')
            .set({ batch_id: null, answered_us: at, answer: text })
            .where('question', '=', question)
            .where('batch_id', '=', id)
            .execute();
        // With what was not answered.
        await tx.deleteFrom('judge_batches').where('id', '=', id).execute();
      });
    },
    async take({ judge, endpoint, known }, lease) {
      const rows = await db
        .updateTable('judge_batches')
        .set({ owner: lease.owner, leased_us: leaseEnd(lease) })
        .where('judge', '=', judge)
        .where('endpoint', '=', endpoint)
        .where(mayTake(lease))
        .returning(['id', 'remote_id', 'prepared_us'])
        .execute();
      const before = new Set(known);
      const fresh = rows
        .filter(({ id }) => !before.has(id))
        .toSorted((one, other) => one.prepared_us - other.prepared_us || (one.id < other.id ? -1 : 1));
      const taken = await Promise.all(
        fresh.map(async ({ id, remote_id: remoteId, prepared_us: preparedAt }) => {
          const questions = await db
            .selectFrom('judge_batch_questions')
            .select('question')
            .where('batch_id', '=', id)
            .orderBy('question')
            .execute();
          return { id, judge, endpoint, remoteId: remoteId ?? undefined, preparedAt, questions: questions.map(({ question }) => question) };
        }),
      );
      return { held: rows.flatMap(({ id }) => (before.has(id) ? [id] : [])), taken };
    },
    async renew({ judge, endpoint }, lease) {
      await db
        .updateTable('judge_batches')
        .set({ leased_us: leaseEnd(lease) })
        .where('judge', '=', judge)
        .where('endpoint', '=', endpoint)
        .where('owner', '=', lease.owner)
        .execute();
    },
    async endOthers({ judge, endpoint }, lease) {
      await db.deleteFrom('judge_batches').where('judge', '=', judge).where('endpoint', '<>', endpoint).where(mayTake(lease)).execute();
    },
    async find(questions) {
      const found = new Map<string, QuestionState>();
      for (const some of chunks(questions))
        for (const { question, batch_id: batch, answer } of await db
          .selectFrom('judge_batch_questions')
          .select(['question', 'batch_id', 'answer'])
          .where('question', 'in', oneOf(some))
          .execute())
          if (answer !== null) found.set(question, { kind: 'answered', text: answer });
          else if (batch !== null) found.set(question, { kind: 'in_batch', batch });
      return found;
    },
    async forget({ before, rows }) {
      await db.deleteFrom('judge_batches').where('prepared_us', '<', before).execute();
      await sql`delete from judge_batch_questions where question in (
        select question from judge_batch_questions where answered_us < ${before}
        union all select question from (
          select question, row_number() over (order by answered_us desc, question) as nth from judge_batch_questions where answered_us is not null) as numbered
        where nth > ${rows})`.execute(db);
    },
  };
}
