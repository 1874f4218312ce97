/** Durations and sizes in configuration: `500ms`, `5s`, `10m`, `1h`, `7d`; `16MiB`, `512KiB`, plain bytes. */

export type QuantityKind = 'duration' | 'bytes';

const durationUnits: readonly Unit[] = [
  { name: 'd', size: 86_400_000 },
  { name: 'h', size: 3_600_000 },
  { name: 'm', size: 60_000 },
  { name: 's', size: 1000 },
  { name: 'ms', size: 1 },
];

const byteUnits: readonly Unit[] = [
  { name: 'TiB', size: 1024 ** 4 },
  { name: 'GiB', size: 1024 ** 3 },
  { name: 'MiB', size: 1024 ** 2 },
  { name: 'KiB', size: 1024 },
  { name: 'B', size: 1 },
];

interface Unit {
  readonly name: string;
  /** In milliseconds, or in bytes. */
  readonly size: number;
}

/** Fifteen digits before and nine after the point: enough for every unit, and exact. */
const WRITTEN = /^(\d{1,15})(?:\.(\d{1,9}))? ?([A-Za-z]*)$/;

/** Examples for error messages. */
export const quantityExamples: { readonly [kind in QuantityKind]: string } = {
  duration: 'a number with a unit: 500ms, 5s, 10m, 1h or 7d',
  bytes: 'a whole number of bytes or a number with a unit: 512KiB, 16MiB or 4GiB',
};

/** Whole milliseconds; `undefined` when the text is not a duration. The unit is required, as `5` is ambiguous. */
function parseDuration(text: string): number | undefined {
  return quantity(text, durationUnits);
}

/** Whole bytes; `undefined` when the text is not a size. Units are binary; `MB` is rejected as ambiguous. */
function parseBytes(text: string): number | undefined {
  const digits = /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (digits !== undefined) return Number.isSafeInteger(digits) ? digits : undefined;
  return quantity(text, byteUnits);
}

/** The value of a quantity in milliseconds or bytes, from text or a number; `undefined` when it is none. */
export function quantityOf(kind: QuantityKind, value: unknown): number | undefined {
  if (kind === 'bytes' && typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  return kind === 'duration' ? parseDuration(value) : parseBytes(value);
}

function quantity(text: string, units: readonly Unit[]): number | undefined {
  const match = WRITTEN.exec(text);
  const unit = units.find(({ name }) => name === match?.[3]);
  if (match === null || unit === undefined) return undefined;
  const fraction = match[2] ?? '';
  // Computes in units of the last decimal, so that 0.3s is 300 ms and not 299.99….
  const scaled = BigInt(`${match[1] ?? ''}${fraction}`) * BigInt(unit.size);
  const divisor = 10n ** BigInt(fraction.length);
  if (scaled % divisor !== 0n) return undefined;
  const value = Number(scaled / divisor);
  return Number.isSafeInteger(value) ? value : undefined;
}
