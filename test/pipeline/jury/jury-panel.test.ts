import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgesOf, ofQuorum, panelModel, quorumOf, slotsOf, type Panel } from '../../../src/pipeline/jury/jury-panel.ts';

test('panel: each judge is asked as often as there are votes, and whom it escalates to has none', () => {
  const panel: Panel = { judges: ['a', 'b'], votes: 2, escalate: { to: 'c', onDisagreement: true } };
  expect(slotsOf(panel)).toEqual([
    { judge: 'a', vote: 1 },
    { judge: 'a', vote: 2 },
    { judge: 'b', vote: 1 },
    { judge: 'b', vote: 2 },
  ]);
  expect(judgesOf(panel)).toEqual(['a', 'b', 'c']);
});

const quorums: readonly { readonly values: readonly number[]; readonly want: number }[] = [
  { values: [3], want: 3 },
  { values: [1, 0], want: 0 },
  { values: [0, 8, 8], want: 8 },
  { values: [0, 0, 8], want: 0 },
  { values: [0.2, 1, 0.7], want: 0.7 },
  { values: [1, 2, 3, 4], want: 2 },
];
for (const { values, want } of quorums)
  test(`panel: most of [${values.join(', ')}] reach ${want}`, () => expect(ofQuorum(values)).toBe(want));

test('panel: what a quorum reaches, more than half reach, and nothing higher', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 15 }), (values) => {
      const found = ofQuorum(values);
      const reach = (limit: number): number => values.filter((value) => value >= limit).length;
      expect(reach(found)).toBeGreaterThanOrEqual(quorumOf(values.length));
      expect(reach(found) * 2).toBeGreaterThan(values.length);
      expect(reach(found + 1)).toBeLessThan(quorumOf(values.length));
    }),
  );
});

const models: readonly { readonly panel: Panel; readonly want: string }[] = [
  { panel: { judges: ['cheap'], votes: 3 }, want: 'mini*3' },
  { panel: { judges: ['b', 'cheap', 'a'], votes: 1 }, want: 'a + b + mini' },
  { panel: { judges: ['cheap', 'a', 'b'], votes: 1 }, want: 'a + b + mini' },
  { panel: { judges: ['cheap'], votes: 1, escalate: { to: 'dear', below: 0.7, onDisagreement: true } }, want: 'mini -> dear' },
  { panel: { judges: ['cheap', 'a'], votes: 2, escalate: { to: 'dear', onDisagreement: true } }, want: 'a*2 + mini*2 -> dear' },
];
for (const { panel, want } of models)
  test(`panel: ${JSON.stringify(panel)} goes by the name ${want}`, () =>
    expect(panelModel(panel, (judge) => (judge === 'cheap' ? 'mini' : undefined))).toBe(want));
