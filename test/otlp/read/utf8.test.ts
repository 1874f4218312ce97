/** Texts in bytes of other programs, such as the names of spans. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { field, idBytes, MiB, requestOf } from '../../hostile/bodies.ts';

const nameOf = (name: Uint8Array): string | undefined =>
  readTraces(requestOf([Buffer.concat([idBytes('a'.repeat(32)), field(0x2a, name)])]), 'protobuf').spans[0]?.name;
const replaced = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

describe('otlp: texts that are not UTF-8', () => {
  test('bad bytes become U+FFFD each, in texts of any length, as the Encoding Standard has it', () => {
    const character = fc.constantFrom('a', '\u00e4', '\u20ac', '\u{1f600}');
    fc.assert(
      fc.property(
        character,
        fc.integer({ min: 60_000, max: 140_000 }),
        fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 6 })), { maxLength: 4 }),
        (one, bytes, damages) => {
          const written = Buffer.from(one.repeat(Math.ceil(bytes / Buffer.byteLength(one))));
          for (const [at, by] of damages) written.set(by, at % (written.length - by.length));
          expect(nameOf(written) === replaced(written)).toBe(true);
        },
      ),
      { numRuns: propertyRuns({ short: 12, long: 60 }) },
    );
  });

  test('a long text of nothing but bad bytes is kept in part, and what is good in it stays', () => {
    const bad = nameOf(Buffer.alloc(8 * MiB, 0xff)) ?? '';
    expect(bad.replaceAll('\ufffd', '')).toBe('');
    expect(bad.length).toBeGreaterThanOrEqual(MiB);
    expect(bad.length).toBeLessThan(1.1 * MiB);
    const mixed = nameOf(Buffer.concat([Buffer.alloc(8 * MiB, 0xff), Buffer.alloc(MiB, 'good')])) ?? '';
    expect(mixed.endsWith('good'.repeat(MiB / 8))).toBe(true);
  });
});
