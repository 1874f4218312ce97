import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTimeText, timeText } from '../../src/model/timestamp.ts';

const times: readonly (readonly [unixNano: bigint, text: string])[] = [
  [0n, '1970-01-01T00:00:00.000000Z'],
  [1_709_164_800_000_000_000n, '2024-02-29T00:00:00.000000Z'],
  [1_709_251_199_999_999_999n, '2024-02-29T23:59:59.999999Z'],
  [4_107_542_400_000_000_000n, '2100-03-01T00:00:00.000000Z'],
  [1_767_225_600_000_001_999n, '2026-01-01T00:00:00.000001Z'],
  [2n ** 64n - 1n, '2554-07-21T23:34:33.709551Z'],
];
for (const [unixNano, text] of times) test(`time text: ${unixNano} ns is ${text}`, () => expect(timeText(unixNano)).toBe(text));

test('time text: it agrees with the calendar of JavaScript, to the millisecond', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (unixNano) => {
      const text = timeText(unixNano);
      return `${text.slice(0, -'000Z'.length)}Z` === new Date(Number(unixNano / 1_000_000n)).toISOString();
    }),
  );
});

test('time text: it is read as the time that it was written from, to the microsecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (micros) => {
      expect(parseTimeText(timeText(BigInt(micros) * 1_000n))).toBe(micros);
    }),
  );
});

test.each([
  ['2026-11-21', Date.UTC(2026, 10, 21) * 1_000],
  ['2026-11-21T09:30:00Z', Date.UTC(2026, 10, 21, 9, 30) * 1_000],
  ['2026-11-21T09:30Z', Date.UTC(2026, 10, 21, 9, 30) * 1_000],
  ['2026-11-21T09:30:00.1234567+02:00', Date.UTC(2026, 10, 21, 7, 30) * 1_000 + 123_456],
  ['2026-01-01T00:00:00-01:30', Date.UTC(2026, 0, 1, 1, 30) * 1_000],
  ['1969-12-31T23:59:59Z', -1_000_000],
  ['2026-02-29', undefined],
  ['2024-02-29', Date.UTC(2024, 1, 29) * 1_000],
  ['2026-13-01', undefined],
  ['2026-12-31T24:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
])('time text: %j is the time %j', (text, micros) => {
  expect(parseTimeText(text)).toBe(micros);
});
