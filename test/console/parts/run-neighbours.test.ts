import { expect, test } from 'vitest';
import { neighboursOf } from '../../../src/console/parts/run-neighbours.ts';

const list = ['/runs/a/1?tenant=default', '/runs/b/2?tenant=default', '/runs/b/2?tenant=other', '/runs/c/3?tenant=other'];

test.each([
  ['the first', '/runs/a/1', 'default', { before: undefined, next: list[1], at: 0, of: 4 }],
  ['one of two tenants', '/runs/b/2', 'other', { before: list[1], next: list[3], at: 2, of: 4 }],
  ['the last', '/runs/c/3', 'other', { before: list[2], next: undefined, at: 3, of: 4 }],
  ['of another tenant', '/runs/c/3', 'default', undefined],
  ['of no list', '/runs/d/4', undefined, undefined],
])('neighbours: %s', (_, path, tenant, expected) => {
  expect(neighboursOf(list, { path, tenant })).toEqual(expected);
});
