import { expect, test } from 'vitest';
import { evaluationContext } from '../../evaluators/context.ts';
import { turnsOf, verdictsByTurn } from '../../evaluators/turns.ts';
import { fromMessages } from '../../src/library/from-messages.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { rule } from './score.ts';

const user: JsonValue = { role: 'user', content: 'u' };
const assistant = (...names: readonly string[]): JsonValue => ({ role: 'assistant', content: 'a', tool_calls: names.map((name) => ({ name, args: {} })) });
const trace = (...messages: JsonValue[]) => fromMessages(messages).trace;

const rows = [
  { name: 'two exchanges', messages: [user, assistant('a'), user, assistant('b', 'c')], count: 2, messageGroups: [['a'], ['b', 'c']], userGroups: [['a'], ['b', 'c']] },
  { name: 'two assistant messages in a row', messages: [user, assistant('a'), assistant('b')], count: 1, messageGroups: [['a'], ['b']], userGroups: [['a', 'b']] },
  { name: 'a greeting first', messages: [assistant(), user, assistant('a')], count: 1, messageGroups: [[], ['a']], userGroups: [[], ['a']] },
  { name: 'a user who gets no answer', messages: [user, assistant('a'), user], count: 1, messageGroups: [['a']], userGroups: [['a']] },
  { name: 'nobody', messages: [], count: 0, messageGroups: [], userGroups: [] },
];
for (const { name, messages, count, messageGroups, userGroups } of rows) {
  test(`turns: ${name} make ${count} turns`, () => {
    const byMessage = turnsOf(trace(...messages));
    const byUser = turnsOf(trace(...messages), 'user_turn');
    expect(byMessage?.turnCount).toBe(count);
    expect(byMessage?.groups.map((calls) => calls.map((call) => call.name))).toEqual(messageGroups);
    expect(byUser?.groups.map((calls) => calls.map((call) => call.name))).toEqual(userGroups);
  });
}

test('turns: they are unknown without messages', () => {
  expect(turnsOf(agentTrace())).toBeUndefined();
});

test('turns: every turn is scored against its own expectation, and the whole against all', () => {
  const run = trace(user, assistant('a'), user, assistant('b'), user, assistant('c'));
  const turns = turnsOf(run) ?? { turnCount: 0, groups: [] };
  const expected = { byTurn: [{ toolCalls: [{ name: 'a' }] }, { toolCalls: [{ name: 'x' }] }], flat: { toolCalls: [{ name: 'a' }, { name: 'x' }] } };
  const found = verdictsByTurn(run, turns, rule({ use: 'tool_correctness' }), { ...expected, context: evaluationContext() });
  expect(found).toMatchObject({ byTurn: [{ score: 1 }, { score: 0 }, { kind: 'skipped', reason: 'no_expectation' }], flat: { score: 0.4 }, worst: 1 });
});

test('turns: without a scored turn none is the worst', () => {
  const run = trace(user, assistant());
  expect(verdictsByTurn(run, turnsOf(run) ?? { turnCount: 0, groups: [] }, rule({ use: 'tool_error' }), { byTurn: [], flat: {}, context: evaluationContext() }).worst).toBeUndefined();
});
