import { expect, test } from 'vitest';
import { pageOf } from '../../../src/console/parts/page-path.ts';

const pages = [{ path: '/' }, { path: '/runs' }, { path: '/runs/:trace/:span' }, { path: '/sessions/:id' }];

test.each([
  { path: '/', want: { page: { path: '/' }, params: {} } },
  { path: '/runs/', want: { page: { path: '/runs' }, params: {} } },
  { path: '/runs/a/b', want: { page: { path: '/runs/:trace/:span' }, params: { trace: 'a', span: 'b' } } },
  { path: '/sessions/a%2Fb%20c', want: { page: { path: '/sessions/:id' }, params: { id: 'a/b c' } } },
  { path: '/runs/a', want: undefined },
  { path: '/nothing', want: undefined },
  { path: '/sessions/%', want: undefined },
])('page: $path', ({ path, want }) => {
  expect(pageOf(pages, path)).toEqual(want);
});
