/**
 * Suppresses repeated log lines: a line passes at once, further lines of its key pass once per interval with the count since the last one.
 */
import type { Clock } from '../model/clock.ts';

export interface LogThrottleOptions {
  readonly clock: Clock;
  /** Interval between two lines of one key. */
  readonly everyMs?: number;
  /** Further keys count as the key `other`. */
  readonly keysMax?: number;
}

/** Occurrences that the line represents; `undefined` when no line is due. */
export type LogThrottle = (key: string, occurrences?: number) => number | undefined;

export function logThrottle({ clock, everyMs = 60_000, keysMax = 100 }: LogThrottleOptions): LogThrottle {
  const lines = new Map<string, { readonly atMs: number; suppressed: number }>();
  return (key, occurrences = 1) => {
    const counted = lines.size < keysMax || lines.has(key) ? key : 'other';
    const last = lines.get(counted);
    const nowMs = clock.nowMs();
    if (last !== undefined && nowMs - last.atMs < everyMs) {
      last.suppressed += occurrences;
      return undefined;
    }
    lines.set(counted, { atMs: nowMs, suppressed: 0 });
    return occurrences + (last?.suppressed ?? 0);
  };
}
