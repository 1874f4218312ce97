import { expect, test } from 'vitest';
import { neighboursOf } from '../../../../src/console/parts/run/neighbours.ts';

function run(id: string, at: string): { readonly trace_id: string; readonly span_id: string; readonly started_at: string } {
  return { trace_id: id, span_id: 's', started_at: at };
}

test('a run stands between the ones that started before and after it', () => {
  const [one, two, three] = [run('c', '2026-01-01'), run('b', '2026-01-02'), run('a', '2026-01-03')];
  expect(neighboursOf(two, [three, two, one])).toEqual({ before: one, after: three, position: 2, count: 3 });
  expect(neighboursOf(two, [])).toEqual({ before: undefined, after: undefined, position: 1, count: 1 });
});
