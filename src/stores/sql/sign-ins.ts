/** Sessions of browsers and the secrets behind them, for all processes on one store. */
import type { Kysely } from 'kysely';
import type { SignInStore } from '../../model/store/sign-in-store.ts';
import type { Tables } from './tables.ts';

export function signInStore(db: Kysely<Tables>): SignInStore {
  return {
    async begin({ hash, holder, antiForgery, expiresAt }, { now, sessionsMax }) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('browser_sessions').where('expires_us', '<=', now).execute();
        const holders = await tx
          .selectFrom('browser_sessions')
          .select(({ fn }) => ['holder', fn.countAll<number>().as('count')])
          .groupBy('holder')
          .orderBy('count', 'desc')
          .orderBy('holder')
          .execute();
        const [largest] = holders;
        if (largest !== undefined && holders.reduce((sum, { count }) => sum + count, 0) >= sessionsMax) {
          const oldest = tx
            .selectFrom('browser_sessions')
            .select('hash')
            .where('holder', '=', largest.holder)
            .orderBy('expires_us')
            .orderBy('hash')
            .limit(1);
          await tx.deleteFrom('browser_sessions').where('hash', 'in', oldest).execute();
        }
        await tx.insertInto('browser_sessions').values({ hash, holder, anti_forgery: antiForgery, expires_us: expiresAt }).execute();
      });
    },
    async find(hash, now) {
      const row = await db
        .selectFrom('browser_sessions')
        .selectAll()
        .where('hash', '=', hash)
        .where('expires_us', '>', now)
        .executeTakeFirst();
      return row === undefined ? undefined : { hash, holder: row.holder, antiForgery: row.anti_forgery, expiresAt: row.expires_us };
    },
    async end(hash) {
      await db.deleteFrom('browser_sessions').where('hash', '=', hash).execute();
    },
    async secret(name, fresh) {
      await db
        .insertInto('shared_secrets')
        .values({ name, value: fresh })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      return (await db.selectFrom('shared_secrets').select('value').where('name', '=', name).executeTakeFirstOrThrow()).value;
    },
  };
}
