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
  const clock = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) => padded(part, 2)).join(':');
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
  return [padded(year, 4), padded(month, 2), padded(dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1, 2)].join('-');
}

function padded(part: number, digits: number): string {
  return String(part).padStart(digits, '0');
}
