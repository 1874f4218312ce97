/** The days in which lists of issues count runs and sessions. */
import type { Micros } from './timestamp.ts';

/** Days in UTC, with today. */
export const issueDays = 14;
export const dayMicros = 24 * 3_600_000_000;

/** Start of the first day. */
export function issueDaysFrom(now: Micros): Micros {
  return now - (now % dayMicros) - (issueDays - 1) * dayMicros;
}
