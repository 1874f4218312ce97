/** Budgets of evaluators beside those of judges, in requests and tokens beside money, by the day and by the minute. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const budgetsMigration: Migration = {
  async up(db) {
    for (const statement of [
      // Whoever had reserved it is not there any more.
      'update judge_spend set nano_usd = nano_usd + reserved_nano_usd',
      'alter table judge_spend drop column reserved_nano_usd',
      'alter table judge_spend rename column judge to account',
      `create table judge_reservations (
         account text not null, day text not null, owner text not null, nano_usd integer not null, requests integer not null, tokens integer not null, renewed_us integer not null,
         primary key (account, day, owner)) strict, without rowid`,
      'create table judge_minutes (account text not null, second integer not null, requests integer not null, tokens integer not null, primary key (account, second)) strict, without rowid',
    ])
      await sql.raw(statement).execute(db);
  },
};
