/** The runs that are the turns of a session, and those that it keeps. */
import { expect, test } from 'vitest';
import { aroundMember, isTurn, sessionTurns, type SessionMember } from '../../../src/cli/replay/joined-session.ts';
import { sessionTurnsMax } from '../../../src/model/store/session-store.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';
import { traceId } from '../../stores/numbered.ts';

function member(id: string, startedAt: number, endedAt = startedAt + 1): SessionMember {
  return { id, traceId: id, startedAt, endedAt };
}

const cases: readonly {
  readonly name: string;
  readonly members: readonly SessionMember[];
  readonly before: string;
  readonly after: string;
}[] = [
  { name: 'alone', members: [member('x', 5)], before: '', after: '' },
  { name: 'between others', members: [member('a', 1), member('x', 5), member('b', 9)], before: 'a', after: 'b' },
  { name: 'after a pause', members: [member('a', 1), member('b', 30), member('x', 35)], before: 'b', after: '' },
  { name: 'before a pause', members: [member('a', 1), member('x', 5), member('b', 30)], before: 'a', after: '' },
  { name: 'a pause that a long run covers', members: [member('a', 1, 28), member('b', 2), member('x', 30)], before: 'a b', after: '' },
  { name: 'a pause of exactly the limit', members: [member('a', 1), member('x', 12)], before: 'a', after: '' },
  { name: 'unknown', members: [member('a', 1)], before: '', after: '' },
];

test.each(cases)('joined session: the members around one that is $name', ({ members, before, after }) => {
  const around = aroundMember(members, 'x', 10);
  const ids = (some: readonly SessionMember[]): string => some.map(({ id }) => id).join(' ');
  expect([ids(around.before), ids(around.after)]).toEqual([before, after]);
});

test('joined session: a run with a parent, or of another run, does not count as a turn', () => {
  const [key] = [{ tenant: run().tenant, traceId: traceId(1), spanId: spanId(1) }];
  expect([isTurn(run()), isTurn(run({ parent: key })), isTurn(run({ partOf: key }))]).toEqual([true, false, false]);
});

test('joined session: turns are in the order of their starts, and the middle ones of a long session are left out', () => {
  const turns = sessionTurns((one) => one);
  const count = sessionTurnsMax + 20;
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  for (const number of [...numbers.filter((one) => one % 2 === 1), ...numbers.filter((one) => one % 2 === 0)])
    turns.add({ run: { ...run({ spanId: spanId(number) }), revision: number }, at: member(String(number), number) });
  const session = turns.session(3);
  expect(session).toMatchObject({ first: { revision: 1 }, run: { revision: count, session: { revision: 3, turns: count, leftOut: 20 } } });
  expect(session?.run.session?.earlier).toHaveLength(sessionTurnsMax - 1);
});

test('joined session: without a turn there is no session', () => {
  expect(sessionTurns((one) => one).session(1)).toBeUndefined();
});
