/** Leases in statements. Both engines have the function `lease_clock`: SQLite gives the time that it gets, PostgreSQL that of its server. */
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Lease } from '../../model/store/lease.ts';
import type { Micros } from '../../model/timestamp.ts';

/** The time of the store when the caller's clock shows `now`. */
export function storeTime(now: Micros): RawBuilder<number> {
  return sql<number>`lease_clock(${now})`;
}

/** The time of the store, as long before its present time as `past` is before `now`. */
export function storeTimeAt(past: Micros, now: Micros): RawBuilder<number> {
  return sql<number>`lease_clock(${now}) - ${now - past}`;
}

export function leaseEnd({ now, until }: Lease): RawBuilder<number> {
  return sql<number>`lease_clock(${now}) + ${until - now}`;
}

/** Rows that no process holds, or the owner, or one whose lease is over. Tables need the columns `owner` and `leased_us`. */
export function mayTake({ owner, now }: Lease): RawBuilder<SqlBool> {
  return sql<SqlBool>`(owner is null or owner = ${owner} or leased_us <= lease_clock(${now}))`;
}
