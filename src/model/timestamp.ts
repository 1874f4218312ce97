/** RFC 3339 times in UTC with microseconds, computed without the machine's calendar. */

/** Microseconds since the epoch, as a whole number. */
export type Micros = number;

const microsPerDay = 86_400_000_000n;
/** Days from 0000-03-01 to 1970-01-01, and days of the 400-year cycle of the Gregorian calendar. */
const epochDays = 719_468;
const eraDays = 146_097;

/** The text of a time since 1970; nanoseconds are cut. */
export function timeText(unixNano: bigint): string {
  const micros = unixNano / 1_000n;
  const rest = Number(micros % microsPerDay);
  const seconds = Math.floor(rest / 1_000_000);
  const clock = `${padded(Math.floor(seconds / 3_600), 2)}:${padded(Math.floor(seconds / 60) % 60, 2)}:${padded(seconds % 60, 2)}`;
  return `${dateText(Number(micros / microsPerDay))}T${clock}.${padded(rest % 1_000_000, 6)}Z`;
}

/** Counts years from March, so the leap day is the last day of a year. */
function dateText(daysFromEpoch: number): string {
  const days = daysFromEpoch + epochDays;
  const dayOfEra = days % eraDays;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + Math.floor(days / eraDays) * 400 + (month <= 2 ? 1 : 0);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1, 2)}`;
}

function padded(part: number, digits: number): string {
  return String(part).padStart(digits, '0');
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** A date, or a time in RFC 3339; digits beyond microseconds are cut. `undefined` for any other text. */
export function parseTimeText(text: string): Micros | undefined {
  const found = RFC_3339.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59) return undefined;
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{2}):(\d{2})/.exec(found[8] ?? '') ?? [];
  const ahead = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const seconds = ((daysFrom(year, month, day) * 24 + hour) * 60 + minute - ahead) * 60 + second;
  return seconds * 1_000_000 + Number((found[7] ?? '').padEnd(6, '0').slice(0, 6));
}

function daysIn(year: number, month: number): number {
  return daysFrom(month === 12 ? year + 1 : year, (month % 12) + 1, 1) - daysFrom(year, month, 1);
}

/** Days since the epoch; the inverse of `dateText`. */
function daysFrom(year: number, month: number, day: number): number {
  const yearFromMarch = month <= 2 ? year - 1 : year;
  const monthFromMarch = (month + 9) % 12;
  const era = Math.floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  return era * eraDays + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - epochDays;
}
