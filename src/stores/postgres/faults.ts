/** Tells a database that is away, which may come back, from one that this release cannot use. */
import { JuryError } from '../../model/errors.ts';
import { faultText } from '../sql/answers.ts';
import { databaseName } from './database-name.ts';

const unfit = 'UNFIT_DATABASE';

/** The database answers, and is none that this release can work with. A second attempt would meet the same. */
export class UnfitDatabase extends Error {
  readonly code = unfit;

  constructor(message: string) {
    super(message);
    this.name = 'UnfitDatabase';
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const sqlState = /^[0-9A-Z]{5}$/;
/** Classes of states that an operator or time mends: connections, sign-in, the name of the database, resources, shutdowns; missing rights, and locks that others hold. */
const passing = /^(?:08|28|3D|53|57|42501$|55P03$)/;

/** True when the database may be there later. Faults of the network have no state of SQL. */
export function isAway(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return true;
  return sqlState.test(code) ? passing.test(code) : code !== unfit;
}

/** The error for the caller who opens a store. */
export function storeFault(url: string, error: unknown): JuryError {
  if (isAway(error)) return new JuryError('STORE_AWAY', `${databaseName(url)}: ${faultText(error)}.`, error);
  return new JuryError('STORE_UNUSABLE', `${databaseName(url)} cannot be used as a store: ${faultText(error)}.`, error);
}
