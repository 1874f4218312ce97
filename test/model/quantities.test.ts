import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quantityOf } from '../../src/model/quantities.ts';

const durations = [
  ['500ms', 500],
  ['5s', 5000],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['7d', 604_800_000],
  ['0s', 0],
  ['0.3s', 300],
  ['1.5h', 5_400_000],
  ['2 h', 7_200_000],
  ['0.5ms', undefined],
  ['5', undefined],
  ['5S', undefined],
  ['5 sec', undefined],
  ['1h30m', undefined],
  ['-5s', undefined],
  ['', undefined],
  ['.5s', undefined],
  ['٥s', undefined],
  ['999999999999999d', undefined],
] as const;
for (const [text, want] of durations)
  test(`quantities: ${JSON.stringify(text)} is ${want ?? 'no duration'}`, () => expect(quantityOf('duration', text)).toBe(want));

const sizes = [
  ['16MiB', 16_777_216],
  ['4GiB', 4_294_967_296],
  ['512KiB', 524_288],
  ['1TiB', 1_099_511_627_776],
  ['1048576', 1_048_576],
  ['12B', 12],
  ['0.5KiB', 512],
  [4096, 4096],
  [0, 0],
  [-1, undefined],
  [1.5, undefined],
  ['16MB', undefined],
  ['16mib', undefined],
  ['1e3', undefined],
  ['0.1B', undefined],
  ['9007199254740992', undefined],
  [9_007_199_254_740_992, undefined],
] as const;
for (const [text, want] of sizes)
  test(`quantities: ${JSON.stringify(text)} is ${want ?? 'no size'}`, () => expect(quantityOf('bytes', text)).toBe(want));

const unitSizes = {
  duration: { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  bytes: { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
} as const;

for (const kind of ['duration', 'bytes'] as const) {
  test(`quantities: a whole number with a unit is that many ${kind} units`, () => {
    const unit = fc.constantFrom(...Object.entries<number>(unitSizes[kind]));
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), unit, (count, [name, size]) => {
        expect(quantityOf(kind, `${count}${name}`)).toBe(count * size);
      }),
    );
  });

  test(`quantities: any text is a whole ${kind} from 0 or nothing`, () => {
    const pieces = fc.array(fc.constantFrom('1', '0', '9', '.', ' ', 's', 'm', 'h', 'KiB', 'MiB', 'e', '-', '\n'), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const value = quantityOf(kind, parts.join(''));
        expect(value === undefined || (Number.isSafeInteger(value) && value >= 0)).toBe(true);
      }),
    );
  });

  for (const value of [null, undefined, true, [], {}]) {
    test(`quantities: ${JSON.stringify(value)} is not a ${kind}`, () => expect(quantityOf(kind, value)).toBeUndefined());
  }
}
