import { expect, test } from 'vitest';
import { verdictKind, worstFirst } from '../../../src/console/parts/verdict.ts';

test.each([
  [{ status: 'scored', passed: true }, 'pass'],
  [{ status: 'scored', passed: false }, 'fail'],
  [{ status: 'scored', passed: null }, 'raw'],
  [{ status: 'skipped', passed: null }, 'skipped'],
  [{ status: 'failed', passed: null }, 'error'],
] as const)('verdict: %j is %s', (verdict, want) => {
  expect(verdictKind(verdict)).toBe(want);
});

test('verdict: the worst stands first, equals in their order', () => {
  const of = (name: string, passed: boolean | null, status: 'scored' | 'skipped' | 'failed' = 'scored') => ({ name, passed, status });
  const verdicts = [of('a', true), of('b', null, 'skipped'), of('c', false), of('d', null, 'failed'), of('e', false), of('f', null)];
  expect(worstFirst(verdicts).map(({ name }) => name)).toEqual(['c', 'e', 'd', 'f', 'a', 'b']);
});
