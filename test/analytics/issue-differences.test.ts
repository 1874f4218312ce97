import { expect, test } from 'vitest';
import { comparedValuesMax, issueDifferences, usersOf } from '../../src/analytics/issue-differences.ts';
import type { ComparedRun } from '../../src/model/store/issue-store.ts';
import { seeded } from '../builders/seeded.ts';
import { causes, differencesOf, drawnRun } from './issue-worlds.ts';

const plain: ComparedRun = {
  version: '1',
  model: undefined,
  service: undefined,
  user: undefined,
  environment: undefined,
  prompt: undefined,
  inputTokens: undefined,
  tools: [],
  earlierRuns: undefined,
  startedAt: 0,
};
const times = (count: number, run: Partial<ComparedRun>): readonly ComparedRun[] =>
  Array.from({ length: count }, () => ({ ...plain, ...run }));

test('usersOf: users of runs, those of the most runs first, without the runs that name none', () => {
  const runs = [...times(2, { user: 'b' }), ...times(3, { user: 'c' }), ...times(2, { user: 'a' }), ...times(4, {})];
  expect(usersOf(runs)).toEqual([
    { user: 'c', runs: 3 },
    { user: 'a', runs: 2 },
    { user: 'b', runs: 2 },
  ]);
});

test('issueDifferences: a failure of one customer in one environment names both', () => {
  const everyday = times(60, { environment: 'production' }).map((one, at) => ({ ...one, user: `u${at % 6}` }));
  const rows = issueDifferences({ tool: '' }, { own: times(9, { user: 'acme', environment: 'staging' }), others: everyday });
  expect(rows.filter(({ differs, lift }) => differs && lift === undefined).map(({ property, value }) => [property, value])).toEqual([
    ['environment', 'staging'],
    ['user', 'acme'],
  ]);
});

test('issueDifferences: shares, lift and the exact test of a version', () => {
  const rows = issueDifferences(
    { tool: '' },
    { own: [...times(12, { version: '2' }), ...times(6, {})], others: [...times(5, { version: '2' }), ...times(20, {})] },
  );
  expect(rows.map(({ property, value }) => [property, value])).toEqual([
    ['version', '2'],
    ['version', '1'],
    ['hour', '00:00 to 03:00 UTC'],
  ]);
  expect(rows[0]).toMatchObject({ own: { hits: 12, of: 18 }, others: { hits: 5, of: 25 }, differs: true });
  expect(rows[0]?.lift).toBeCloseTo(12 / 18 / (5 / 25), 10);
  expect(rows[0]?.p).toBeCloseTo(0.003_893_786_7, 9);
  // Two rows could have reached it; all runs began in one part of the day.
  expect(rows[0]?.adjusted).toBeCloseTo(2 * 0.003_893_786_7, 9);
  expect(rows[2]).toMatchObject({ p: 1, adjusted: 1, lift: 1, differs: false });
});

test('issueDifferences: a value that no other run has gives no lift, and unknown values do not count', () => {
  const rows = issueDifferences(
    { tool: '' },
    { own: [...times(8, { model: 'new' }), ...times(3, {})], others: [...times(9, { model: 'old' }), ...times(5, {})] },
  );
  expect(rows.find(({ value }) => value === 'new')).toMatchObject({
    own: { hits: 8, of: 8 },
    others: { hits: 0, of: 9 },
    lift: undefined,
    differs: true,
  });
});

test('issueDifferences: the tool of the issue has no row, and another tool has one', () => {
  const rows = issueDifferences(
    { tool: 'book' },
    { own: times(20, { tools: ['book', 'search'] }), others: [...times(20, { tools: ['book'] }), ...times(20, {})] },
  );
  expect(rows.filter(({ property }) => property === 'tool').map(({ value }) => value)).toEqual(['search']);
});

test('issueDifferences: nothing is compared without runs on both sides', () => {
  expect(issueDifferences({ tool: '' }, { own: [], others: times(5, {}) })).toEqual([]);
  expect(issueDifferences({ tool: '' }, { own: times(5, {}), others: [] })).toEqual([]);
});

test('issueDifferences: a property with many values has rows for those of the most runs', () => {
  const runs = Array.from({ length: 200 }, (_, at) => ({ ...plain, version: `v${at % 50}` }));
  const rows = issueDifferences({ tool: '' }, { own: runs, others: [...runs, ...times(50, { version: 'usual' })] });
  const versions = rows.filter(({ property }) => property === 'version').map(({ value }) => value);
  expect(versions).toHaveLength(comparedValuesMax);
  expect(versions).toContain('usual');
});

test('issueDifferences: bins of tokens and of session lengths have every run once', () => {
  const chance = seeded(7);
  const runs = Array.from({ length: 300 }, () => drawnRun(chance));
  const rows = issueDifferences({ tool: '' }, { own: runs, others: runs });
  for (const property of ['input_tokens', 'session_length', 'hour'] as const) {
    const own = rows.filter((row) => row.property === property);
    expect(own.length).toBeGreaterThan(2);
    expect(own.reduce((sum, row) => sum + row.own.hits, 0)).toBe(own[0]?.own.of);
  }
  expect(rows.some(({ differs }) => differs)).toBe(false);
});

test('issueDifferences: a run at the edge of two bins is in the lower one', () => {
  const [own, others] = [[10, 20, 20, 40].flatMap((inputTokens) => times(5, { inputTokens })), times(20, { inputTokens: 30 })];
  const rows = issueDifferences({ tool: '' }, { own, others }).filter(({ property }) => property === 'input_tokens');
  expect(Object.fromEntries(rows.map((row) => [row.value, [row.own.hits, row.others.hits]]))).toEqual({
    'up to 20': [15, 0],
    '21 to 30': [0, 20],
    'more than 30': [5, 0],
  });
});

test('issueDifferences: planted causes are found in 19 of 20 worlds of 200 runs', () => {
  const chance = seeded(2026);
  const found = Array.from({ length: 20 }, (_, at) => causes[at % causes.length]).filter((cause) => {
    if (cause === undefined) return false;
    const [first, ...rest] = differencesOf(chance, { runs: 200, cause, rate: 0.5, otherwise: 0.05 });
    const same = [first, ...rest.filter(({ adjusted }) => adjusted === first?.adjusted)];
    return first?.differs === true && same.some((row) => row?.property === cause.property && row.value === cause.value);
  });
  expect(found.length).toBeGreaterThanOrEqual(19);
});
