/** The connected parts of a large trace, against a forest that is built anew; looking at parts gives the same as looking at all. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../src/model/agent-trace.ts';
import type { Span } from '../../../src/model/span.ts';
import { partsFromSpans } from '../../../src/pipeline/gathering/scan-planner.ts';
import { traceParts } from '../../../src/pipeline/gathering/connected-spans.ts';
import { gathered } from '../../builders/gathered.ts';
import { largeRun } from '../../builders/large-run.ts';
import { seeded } from '../../builders/seeded.ts';
import { span } from '../../builders/spans.ts';

/** Parents by span; some never come, and a cycle is possible. */
const forest = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 1, max: 40 }), parent: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }) }),
  { selector: ({ id }) => id, maxLength: 40 },
);

function topOf(id: number, parents: ReadonlyMap<number, number | undefined>): string {
  const seen = new Set<number>();
  let at = id;
  for (;;) {
    const parent = parents.get(at);
    if (parent === undefined) return 'roots';
    if (seen.has(at)) return `cycle ${Math.min(...seen)}`;
    seen.add(at);
    if (!parents.has(parent)) return `below ${at}`;
    at = parent;
  }
}

describe('parts', () => {
  test('parts: spans are in one part when they have one top', () => {
    fc.assert(
      fc.property(forest, (spans) => {
        const parts = traceParts();
        for (const { id, parent } of spans) parts.add(span({ id, parent }), 0, false);
        const parents = new Map(spans.map(({ id, parent }) => [id, parent]));
        const byTop = Map.groupBy(spans, ({ id }) => topOf(id, parents).replace(/^cycle.*/, 'cycle'));
        for (const [top, own] of byTop) {
          const found = new Set(own.map(({ id }) => parts.of(span({ id }).spanId)));
          // Several cycles are several parts.
          if (top !== 'cycle') expect([top, found.size]).toEqual([top, 1]);
          for (const part of found)
            for (const spanId of part?.spans ?? []) expect(own.map(({ id }) => span({ id }).spanId)).toContain(spanId);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('parts: of what was due each part comes out once, and a part that was joined to another comes out with that', () => {
    const parts = traceParts();
    const first = parts.add(span({ id: 1, parent: 9 }), 0, true);
    const second = parts.add(span({ id: 2, parent: 8 }), 0, true);
    parts.set(first, 10);
    parts.set(second, 20);
    const joined = parts.add(span({ id: 9, parent: 2 }), 5, false);
    parts.set(joined, 30);
    expect([
      parts.nextMs(),
      parts.takeDue(29),
      parts.takeDue(30).map(({ spans, carries }) => [spans.length, carries]),
      parts.nextMs(),
    ]).toEqual([30, [], [[3, true]], Infinity]);
  });
});

const spans = largeRun(40);

function lastRuns(batches: readonly (readonly Span[])[], pauseMs: () => number): readonly Run[] {
  const to = gathered();
  for (const batch of batches) {
    to.spans(...batch);
    to.pass(pauseMs());
  }
  to.pass(1_200_000);
  return [...new Map(to.runs().map((run) => [run.spanId, run])).values()].toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

const told = (runs: readonly Run[]): readonly unknown[] =>
  runs.map(({ spanId, parent, completeness, trace }) => ({ spanId, parent, completeness, trace }));

describe('looks', () => {
  test('looks: a large trace that comes in any order gives the runs that it gives at once', () => {
    expect(spans.length).toBeGreaterThan(2 * partsFromSpans);
    const atOnce = told(lastRuns([spans], () => 0));
    expect(atOnce).toHaveLength(41);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const chance = seeded(seed);
        const shuffled = chance.shuffled(spans);
        const batches = Array.from({ length: 12 }, (_, at) => shuffled.slice(at * 60, at * 60 + 60));
        expect(told(lastRuns([...batches, shuffled.slice(720)], () => chance.pick([0, 100, 700, 6_000, 40_000])))).toEqual(atOnce);
      }),
      { numRuns: 40 },
    );
  });

  test('looks: in the order in which spans end, each sub-agent closes when it is done, and is revised once, when its parent is there', () => {
    const to = gathered();
    const inOrder = spans.toSorted((a, b) => (a.endUnixNano < b.endUnixNano ? -1 : 1));
    for (let at = 0; at < inOrder.length; at += 18) {
      to.spans(...inOrder.slice(at, at + 18));
      to.pass(2_000);
    }
    const before = to
      .runs()
      .filter((run) => run.revision === 1 && run.parent === undefined && run.trace.agent?.startsWith('helper')).length;
    to.pass(60_000);
    // The last ones were still waiting for their parent when it came.
    expect(before).toBeGreaterThan(35);
    expect(
      to
        .runs()
        .filter((run) => run.trace.agent?.startsWith('helper'))
        .every((run) => run.revision <= 2),
    ).toBe(true);
    expect(
      to
        .runs()
        .filter((run) => run.trace.agent === 'planner')
        .map(({ completeness, revision, trace }) => [completeness, revision, trace.subAgents.length]),
    ).toEqual([['complete', 1, 40]]);
  });
});
