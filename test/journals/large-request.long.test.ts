/** A request of many spans is handed over in parts, and counts as taken when all of it is. */
import { expect, test } from 'vitest';
import { agentSpan, modelSpan } from '../builders/gen-ai-spans.ts';
import { span } from '../builders/spans.ts';
import { spansOf, started, world } from './intake-world.ts';

test('intake: a large request goes on in parts, and a small one that comes after it is taken in between', async () => {
  const of = world(10_000_000);
  const one = await started(of);
  const many = Array.from({ length: 9_999 }, (_, at) => span({ id: 10 + at, trace: 1, parent: 1, start: at }));
  const ends: string[] = [];
  const large = one.take([agentSpan({ id: 1, trace: 1, output: 'done' }), ...many]).then((end) => ends.push(`large ${end}`));
  const small = one.take(spansOf(2)).then((end) => ends.push(`small ${end}`));
  // Under way, it is kept: nothing below it may go.
  const tended = one.intake.tend();
  await Promise.all([large, small, tended]);
  expect(ends).toEqual(['small appended', 'large appended']);
  await one.pass(120_000);
  expect(of.delivered.map(({ run }) => `${run.traceId.slice(-1)}: ${run.revision}`).toSorted()).toEqual(['1: 1', '2: 1']);
});

test('intake: a process that dies while a large request goes on leaves all of it to the next one', async () => {
  const of = world(10_000_000);
  const one = await started(of);
  const questions = Array.from({ length: 4_000 }, (_, at) =>
    modelSpan({ id: 10 + at, trace: 1, parent: 1, start: at, says: `part ${at}` }),
  );
  void one.take([agentSpan({ id: 1, trace: 1, output: 'done' }), ...questions]);
  await one.pass(0);
  const next = await started(of);
  await next.pass(120_000);
  expect(of.delivered.map(({ run }) => [run.completeness, run.trace.modelCalls.length])).toEqual([['complete', 4_000]]);
});
