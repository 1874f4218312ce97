/** Time ranges of pages: a length up to now, or two times. In the address as `range=24h`, or as `from` and `to`. */
import type { Query } from './address.ts';

export const ranges = [
  { value: '1h', title: 'Last hour', ms: 3_600_000 },
  { value: '24h', title: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', title: 'Last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', title: 'Last 30 days', ms: 30 * 86_400_000 },
] as const;

export const rangeDefault = '24h';
/** Parameters of the address that a link to another page keeps. */
export const rangeParameters: readonly string[] = ['range', 'from', 'to'];

export interface TimeRange {
  /** RFC 3339. */
  readonly from: string;
  /** RFC 3339; `undefined`: up to now. */
  readonly to: string | undefined;
  /** `own` for two times. */
  readonly value: string;
  readonly title: string;
}

/** Range of the address, at the time `nowMs`. A range up to now begins on a whole minute. */
export function timeRangeOf({ range, from, to }: Query, nowMs: number): TimeRange {
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  if (Number.isFinite(fromMs) && !(toMs <= fromMs)) {
    const end = Number.isFinite(toMs) ? new Date(toMs).toISOString() : undefined;
    const begin = new Date(fromMs).toISOString();
    return { from: begin, to: end, value: 'own', title: `${minuteText(begin)} to ${end === undefined ? 'now' : minuteText(end)} UTC` };
  }
  const known = ranges.find(({ value }) => value === range) ?? ranges.find(({ value }) => value === rangeDefault);
  const { value = rangeDefault, title = '', ms = 86_400_000 } = known ?? {};
  return { from: new Date(Math.floor((nowMs - ms) / 60_000) * 60_000).toISOString(), to: undefined, value, title };
}

function minuteText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** For an input of type `datetime-local`, in local time. */
export function localInput(iso: string | undefined, offsetMinutes: number): string {
  return iso === undefined ? '' : new Date(Date.parse(iso) - offsetMinutes * 60_000).toISOString().slice(0, 16);
}
