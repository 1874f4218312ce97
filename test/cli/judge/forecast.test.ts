import { expect, test } from 'vitest';
import { scarcest } from '../../../src/cli/judge/forecast.ts';

const use = (requests: number, usd?: number, tokens = 0) => ({ requests, usd, tokens });

test('judge forecast: a budget of one request a day leaves room for one, and for half of two', () => {
  expect(scarcest({ requestsPerDay: 1 }, use(1))).toBeUndefined();
  expect(scarcest({ requestsPerDay: 1 }, use(0.5))).toBeUndefined();
  expect(scarcest({ requestsPerDay: 1 }, use(2))).toEqual({ key: 'requests_per_day', most: 1, left: 0.5 });
  expect(scarcest({ requestsPerDay: 0 }, use(1))).toEqual({ key: 'requests_per_day', most: 0, left: 0 });
  expect(scarcest({ requestsPerDay: 0 }, use(0))).toBeUndefined();
});

test('judge forecast: the scarcest of several limits is shown, and an unknown cost bounds nothing', () => {
  expect(scarcest({ requestsPerDay: 1, usdPerDay: 1, tokensPerDay: 10 }, use(2, 4, 10))).toEqual({
    key: 'usd_per_day',
    most: 1,
    left: 0.25,
  });
  expect(scarcest({ usdPerDay: 1 }, use(2))).toBeUndefined();
  expect(scarcest({ tokensPerDay: 10 }, use(1, 0, 10))).toBeUndefined();
  expect(scarcest(undefined, use(5, 5, 5))).toBeUndefined();
});
