/** The catalogue of user-visible errors: code, meaning and remedy. The thrower adds the cause. */

interface ErrorRow {
  readonly what: string;
  readonly todo: string;
  /** HTTP status when it occurs during a request. */
  readonly status: number;
  readonly retryable: boolean;
}

export const errorCatalogue = {
  OTLP_MALFORMED: {
    what: 'The body is not a valid OTLP request.',
    todo: 'Check the exporter and its Content-Type.',
    status: 400,
    retryable: false,
  },
  OTLP_TOO_LARGE: {
    what: 'The body is larger than limits.body_bytes, or inflates beyond limits.inflated_bytes.',
    todo: 'Send smaller batches or raise the limit.',
    status: 413,
    retryable: false,
  },
  OTLP_MEDIA_TYPE: {
    what: 'The Content-Type is neither application/x-protobuf nor application/json.',
    todo: 'Set the exporter to http/protobuf or http/json.',
    status: 415,
    retryable: false,
  },
  OTLP_ENCODING: {
    what: 'The Content-Encoding is not identity, gzip, deflate or zstd.',
    todo: 'Use gzip or no compression.',
    status: 415,
    retryable: false,
  },
  UNAUTHENTICATED: {
    what: 'The request carries no valid token.',
    todo: 'Send Authorization: Bearer with a token of listen.tokens that may do this.',
    status: 401,
    retryable: false,
  },
  OVERLOADED: {
    what: 'More bytes are in flight, or more runs wait to be scored, than the limits allow.',
    todo: 'The exporter retries by itself. If this lasts, the metric tracejury.stress.strain shows which limit to raise.',
    status: 429,
    retryable: true,
  },
  STOPPING: { what: 'The service is stopping.', todo: 'The exporter retries by itself.', status: 503, retryable: true },
  CONFIG_INVALID: {
    what: 'The configuration has faults.',
    todo: 'Correct the named lines. tracejury config check lists all faults at once.',
    status: 500,
    retryable: false,
  },
  LISTEN_FAILED: {
    what: 'The service cannot listen on one of its addresses.',
    todo: 'Stop the program that uses the port, or choose another one with the setting that the message names.',
    status: 500,
    retryable: false,
  },
  INPUT_UNREADABLE: {
    what: 'The file cannot be read.',
    todo: 'Give OTLP as protobuf, JSON or JSON lines, or a trace that Tempo, Jaeger or an OpenTelemetry SDK wrote.',
    status: 400,
    retryable: false,
  },
  JUDGE_UNAVAILABLE: {
    what: 'The judge endpoint did not answer.',
    todo: 'Check judges.<name>.base_url and the key; the verdict is failed, never a score.',
    status: 502,
    retryable: true,
  },
  JUDGE_ANSWER_INVALID: {
    what: 'The judge answered outside its schema.',
    todo: 'Use a model that supports structured output.',
    status: 502,
    retryable: false,
  },
  JOURNAL_REFUSED: {
    what: 'The request could not be written to the journal.',
    todo: 'The exporter retries by itself. If this lasts, raise limits.journal_bytes, or check the disk and the metric tracejury.journal.refused.',
    status: 503,
    retryable: true,
  },
  STORE_REFUSED: {
    what: 'The data of the request could not be stored.',
    todo: 'The exporter retries by itself. If this lasts, check the disk of store.url.',
    status: 503,
    retryable: true,
  },
  STORE_UNUSABLE: {
    what: 'The store cannot be used.',
    todo: 'Name another file or database in store.url, or repair the named fault.',
    status: 503,
    retryable: false,
  },
  STORE_AWAY: {
    what: 'The database of the store does not answer, or refuses the user.',
    todo: 'Start the database, or correct user, password or name in store.url. A service that waits for it continues by itself.',
    status: 503,
    retryable: true,
  },
  COPY_REFUSED: {
    what: 'The store is not copied.',
    todo: 'Repair the named fault, then run the same command again.',
    status: 409,
    retryable: false,
  },
  COPY_STOPPED: {
    what: 'The copy stopped before its end.',
    todo: 'Repair the named fault, then run the same command again: it continues where it stopped.',
    status: 503,
    retryable: true,
  },
  JOURNAL_UNUSABLE: {
    what: 'The journal cannot be used.',
    todo: 'Repair the named fault of its folder, or name another one in journal.url.',
    status: 500,
    retryable: false,
  },
  JOURNAL_LOCKED: {
    what: 'The folder of the journal is in use.',
    todo: 'Stop the other process, or give each its own folder in journal.url.',
    status: 500,
    retryable: false,
  },
  RESULT_REFUSED: {
    what: 'A result of the experiment was not stored.',
    todo: 'Run the experiment under another --id, and let no other program write to it.',
    status: 409,
    retryable: false,
  },
  EXPORT_FAILED: { what: 'A backend did not take the scores.', todo: 'Check export endpoint and headers.', status: 502, retryable: true },
} as const satisfies { readonly [code: string]: ErrorRow };

export type ErrorCode = keyof typeof errorCatalogue;

export class JuryError extends Error {
  readonly code: ErrorCode;
  /** The specific cause, without the catalogue's general sentence. */
  readonly why: string;

  constructor(code: ErrorCode, why: string, cause?: unknown) {
    super(`${errorCatalogue[code].what} ${why}`, cause === undefined ? undefined : { cause });
    this.name = 'JuryError';
    this.code = code;
    this.why = why;
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get retryable(): boolean {
    return errorCatalogue[this.code].retryable;
  }

  get todo(): string {
    return errorCatalogue[this.code].todo;
  }
}

/** Node codes for a full disk and an exhausted quota. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** SQLITE_FULL, the lowest byte of an extended code. https://sqlite.org/rescode.html#full */
const sqliteFull = 13;

export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && codes.has(error.code)) return true;
  return 'errcode' in error && typeof error.errcode === 'number' && error.errcode % 256 === sqliteFull;
}

/** The code of a fault that another thread reports: the store refuses a value, and no attempt could write it. */
export const valueRefused = 'VALUE_REFUSED';

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE; and what cannot be bound to a statement. */
const sqliteValueFaults: ReadonlySet<number> = new Set([18, 19, 20, 25]);
const bindFaults: ReadonlySet<unknown> = new Set(['ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_VALUE', 'ERR_OUT_OF_RANGE']);
/** Data exceptions and broken constraints. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const postgresValueFaults = /^2[23][0-9A-Z]{3}$/;

/** True when the same rows would be refused again. */
export function isValueRefused(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('errcode' in error && typeof error.errcode === 'number') return sqliteValueFaults.has(error.errcode % 256);
  if (!('code' in error)) return false;
  return (
    error.code === valueRefused || bindFaults.has(error.code) || (typeof error.code === 'string' && postgresValueFaults.test(error.code))
  );
}

/**
 * SQLITE_IOERR and SQLITE_CANTOPEN: SQLite reports an exhausted quota like a broken disk, as it tests only for ENOSPC.
 * https://sqlite.org/rescode.html#ioerr
 */
const sqliteDiskFaults: ReadonlySet<number> = new Set([10, 14]);

/** True when SQLite reports an error that an exhausted quota may have caused. */
export function mayBeDiskFull(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    sqliteDiskFaults.has(error.errcode % 256)
  );
}

export function diskFullText(folder: string): string {
  return `the disk is full: no room in ${folder}`;
}

/** INPUT_UNREADABLE with a remedy for a file that does not hold spans. */
class UnreadableInput extends JuryError {
  readonly #todo: string;

  constructor(why: string, todo: string) {
    super('INPUT_UNREADABLE', why);
    this.name = 'UnreadableInput';
    this.#todo = todo;
  }

  override get todo(): string {
    return this.#todo;
  }
}

/** `name`: of the input, with the place in it. `todo`: a whole sentence. */
export function unreadable(name: string, why: string, todo: string = errorCatalogue.INPUT_UNREADABLE.todo): JuryError {
  return new UnreadableInput(`${name}: ${why}`, todo);
}

/** A file that the system does not give out. */
export function unreadableFile(name: string, error: unknown): JuryError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const why = code === 'ENOENT' ? 'there is no such file.' : code === 'EACCES' ? 'this user may not read it.' : undefined;
  return unreadable(name, why ?? (error instanceof Error ? error.message : 'it cannot be read.'), 'Check the path and its permissions.');
}
