/** Rules for every collector, on recorded spans and on those written from documentation: it reads no attribute that it does not declare, and no value makes it throw. */
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recognises, type SpanFacts, type Wants } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import type { Attributed, LogRecord, Span } from '../../src/model/span.ts';
import { hostileValue } from '../builders/hostile-values.ts';
import { replaced } from '../builders/replaced.ts';
import { seeded } from '../builders/seeded.ts';
import { contentsOf, recordingsIn } from '../recordings/read.ts';
import { carries, fields, told } from './carried.ts';
import { documentedRecordings } from './documented.ts';
import { propertyRuns } from '../builders/property-runs.ts';

const contents = [...recordingsIn(fileURLToPath(new URL('../fixtures/recordings', import.meta.url))), ...documentedRecordings].map(
  contentsOf,
);
const spans = contents.flatMap((one) => one.spans);
const records = contents.flatMap((one) => one.records);

describe('every collector', () => {
  for (const collector of collectors) {
    const own = spans.filter((span) => recognises(collector, span));
    const known = new WeakMap<Span, SpanFacts>();
    /** Reads a recorded span once, however many tests ask. */
    const read = (span: Span): SpanFacts => {
      const facts = known.get(span) ?? collector.read(span);
      known.set(span, facts);
      return facts;
    };
    const ownRecords = records.filter((record) => collector.logs?.events.includes(record.eventName));

    test(`${collector.id}: reads no attribute of a recorded span that it does not declare`, () => {
      expect(own.length).toBeGreaterThan(0);
      const asked = new Set<string>();
      for (const span of own) collector.read(replaced(span, recorder(span, asked)));
      expect([...asked].filter((key) => !isDeclared(collector.wants, key))).toEqual([]);
      for (const record of ownRecords) collector.logs?.read([replaced(record, recorder(record, asked))]);
      expect(
        [...asked].filter((key) => !isDeclared(collector.wants, key) && !isDeclared(collector.logs?.wants ?? collector.wants, key)),
      ).toEqual([]);
    });

    test(`${collector.id}: reads the same from a recorded span when it sees only the attributes that it declares`, () => {
      for (const span of own) expect(collector.read(replaced(span, declaredOnly(span, collector.wants)))).toEqual(read(span));
    });

    test(`${collector.id}: each place that it names for a field carries it in a recording, and each field that it reads has a place`, () => {
      const named = fields.flatMap((field) => (collector.carriedBy?.[field] ?? []).map((place) => ({ field, place })));
      expect(
        named.filter(({ field, place }) => !carries(place, field, { ...collector, read }, { spans: own, records: ownRecords })),
      ).toEqual([]);
      const carried = fields.filter((field) => own.some((span) => told(field, read(span)) !== undefined));
      expect(carried.filter((field) => collector.carriedBy?.[field] === undefined)).toEqual([]);
    });

    test(`${collector.id}: recognises each agent's recorded span just as reading it does`, () => {
      const { isAgents } = collector;
      if (isAgents === undefined) return;
      expect(own.filter((span) => isAgents(span) !== roleIsAgents(read(span).role)).map(({ name }) => name)).toEqual([]);
    });

    test(`${collector.id}: no value of any attribute makes it throw`, () => {
      fc.assert(
        fc.property(fc.nat(own.length - 1), fc.nat(), fc.array(hostileValue, { minLength: 1, maxLength: 6 }), (index, seed, values) => {
          const span = own[index];
          if (span === undefined) return;
          const chance = seeded(seed);
          expect(() =>
            collector.read(spoilt(span, () => (chance.share() < 0.6 ? { value: chance.pick(values) } : undefined), collector.wants)),
          ).not.toThrow();
        }),
        { numRuns: propertyRuns({ short: 60, long: 1_500 }) },
      );
    });

    if (collector.logs !== undefined) {
      test(`${collector.id}: no log record makes it throw`, () => {
        expect(ownRecords.length).toBeGreaterThan(0);
        fc.assert(
          fc.property(fc.nat(ownRecords.length - 1), fc.array(hostileValue, { minLength: 1, maxLength: 4 }), (index, values) => {
            const record = ownRecords[index];
            if (record === undefined) return;
            const hostile = values.map((value): LogRecord => replaced(record, { attribute: () => value, body: () => value }));
            expect(() => collector.logs?.read(hostile)).not.toThrow();
          }),
          { numRuns: propertyRuns({ short: 50, long: 1_000 }) },
        );
      });
    }
  }
});

function roleIsAgents(role: SpanFacts['role']): boolean | undefined {
  return role === undefined ? undefined : role === 'agent' || role === 'workflow';
}

/** Notes which attributes are asked for. Walking over the keys to find declared prefixes asks for nothing. */
function recorder(from: Attributed, asked: Set<string>): Attributed {
  return {
    attribute(key) {
      asked.add(key);
      return from.attribute(key);
    },
    attributeKeys: () => from.attributeKeys(),
  };
}

function isDeclared(wants: Wants, key: string): boolean {
  return wants.keys.includes(key) || wants.prefixes.some((prefix) => key.startsWith(prefix));
}

function declaredOnly(from: Attributed, wants: Wants): Attributed {
  return {
    attribute: (key) => (isDeclared(wants, key) ? from.attribute(key) : undefined),
    attributeKeys: () => from.attributeKeys().filter((key) => isDeclared(wants, key)),
  };
}

/** A span with some values replaced and some added under every declared key. */
function spoilt(span: Span, replace: () => { readonly value: ReturnType<Attributed['attribute']> } | undefined, wants: Wants): Span {
  const added = [
    ...wants.keys,
    ...wants.prefixes.flatMap((prefix) =>
      [
        '0',
        '0.message',
        '0.message.role',
        '0.tool_call',
        '0.document.id',
        '0.tool.json_schema',
        '1.message.contents.0.message_content',
        '0.message.__proto__',
        'x',
      ].map((end) => `${prefix}${end}`),
    ),
  ];
  const values = new Map<string, ReturnType<Attributed['attribute']>>();
  for (const key of [...span.attributeKeys(), ...added]) {
    const replaced = replace();
    const value = replaced === undefined ? span.attribute(key) : replaced.value;
    if (value !== undefined) values.set(key, value);
  }
  return replaced(span, { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] });
}
