/** Runs as turns of sessions, and sessions as conversations. */
import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { tenant } from '../../../src/model/ids.ts';
import { sessionRun } from '../../../src/model/store/session-store.ts';
import { evaluateRun, type PlannedEvaluator } from '../../../src/pipeline/evaluation/evaluate.ts';
import { asConversation, sessionSample, turnOf, withoutEarlier, type TurnsWith } from '../../../src/pipeline/evaluation/session-turns.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

function planned(use: string, more: Partial<PlannedEvaluator> = {}): PlannedEvaluator {
  const result = configuredEvaluator({ use, judge: 'main' }, evaluators);
  if (result.kind === 'faulty') throw new Error('no evaluator');
  return { configured: result.evaluator, judge: 'main', sampleRate: 1, ...more };
}

const clock = manualClock();
const options: TurnsWith = { clock, queueKeyOf: ({ judge = '' }) => judge, refused: () => undefined };
const turn = (sessionId: string, more: Partial<Run> = {}): Run =>
  run({ trace: agentTrace({ agent: 'a', sessionId, input: 'hello', finalResponse: 'hi' }), ...more });
const choices = (of: Run, plan: readonly PlannedEvaluator[], more: Partial<TurnsWith> = {}) =>
  turnOf(of, of, plan, { ...options, ...more })?.choices;

test('session turns: an evaluator of sessions is silent about single runs, unless they are not gathered', () => {
  const plan = [planned('goal_reached'), planned('task_completion')];
  const asked = (more: object): readonly string[] =>
    evaluateRun(turn('s'), plan, { context: evaluationContext(), clock, telemetry: noTelemetry, ...more }).toJudge.map(
      ({ configured }) => configured.name,
    );
  expect([asked({}), asked({ sessionsAsRuns: true })]).toEqual([['task_completion'], ['goal_reached', 'task_completion']]);
  const taken = evaluateRun(turn('s', { partOf: run() }), plan, { context: evaluationContext(), clock, telemetry: noTelemetry });
  expect(taken.evaluations.map(({ key }) => key.name)).toEqual(['task_completion']);
});

const others: readonly (readonly [string, Run])[] = [
  ['a run without a session', run()],
  ['a run with an empty session id', turn('')],
  ['what a sub-agent did', turn('s', { parent: run() })],
  ['a run that is part of another one', turn('s', { partOf: run() })],
];
for (const [name, of] of others)
  test(`session turns: ${name} is not a turn`, () => expect(turnOf(of, of, [planned('goal_reached')], options)).toBeUndefined());

test('session turns: a session whose id is redacted is none', () => {
  expect(turnOf(turn('ann@example.com'), turn('[email]'), [planned('goal_reached')], options)).toBeUndefined();
});

test('session turns: a plan without evaluators of sessions, or with one that has no judge to ask, makes no turn', () => {
  expect(choices(turn('s'), [planned('task_completion')])).toBeUndefined();
  const { judge: _judge, ...nobody } = planned('goal_reached');
  expect(choices(turn('s'), [nobody])).toBeUndefined();
});

test('session turns: every turn of a session, on every trace, is chosen alike, and about the share of sessions in the rate', () => {
  const plan = [planned('goal_reached', { sampleRate: 0.3 })];
  let chosen = 0;
  for (let nth = 0; nth < 2_000; nth++) {
    const [first, second] = [
      choices(turn(`s${nth}`), plan)?.[0],
      choices(turn(`s${nth}`, { spanId: run().spanId, startUnixNano: 5n }), plan)?.[0],
    ];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ name: 'goal_reached', queueKey: 'main', probability: 0.3 });
    expect(first?.mayBeChosen).toBe(first?.end === undefined);
    if (first?.end === undefined) chosen++;
  }
  // Five standard deviations.
  expect(Math.abs(chosen - 600)).toBeLessThan(5 * Math.sqrt(2_000 * 0.3 * 0.7));
});

test('session turns: a higher rate keeps what a lower one keeps, and tenants are distinguished', () => {
  const ids = Array.from({ length: 300 }, (_, nth) => `s${nth}`);
  const kept = (rate: number, of = ''): ReadonlySet<string> =>
    new Set(ids.filter((sessionId) => sessionSample({ tenant: of, sessionId }, rate).sampled));
  expect([...kept(0.2)].every((id) => kept(0.4).has(id))).toBe(true);
  expect([...kept(0.2)]).not.toEqual([...kept(0.2, tenant('team'))]);
  expect([kept(0).size, kept(1).size]).toEqual([0, 300]);
});

const ends: readonly (readonly [string, readonly PlannedEvaluator[], Partial<TurnsWith>, object])[] = [
  ['what the rate leaves out', [planned('goal_reached', { sampleRate: 0 })], {}, { end: { decision: 'sampled_out' }, mayBeChosen: false }],
  [
    'what the budget leaves nothing of',
    [planned('goal_reached')],
    { pace: () => ({ left: 0, by: 'usd_per_day' }) },
    { end: { decision: 'over_budget', reason: 'usd_per_day' }, probability: 0, mayBeChosen: true },
  ],
  ['what a condition leaves out', [planned('goal_reached', { when: () => false })], {}, { end: { decision: 'filtered', reason: 'when' } }],
  [
    'what finds no room',
    [planned('goal_reached')],
    { refused: () => 'queue_full' },
    { end: { decision: 'overload', reason: 'queue_full' }, probability: 1 },
  ],
];
for (const [name, plan, more, want] of ends)
  test(`session turns: ${name} is in the choice`, () => expect(choices(turn('s'), plan, more)).toMatchObject([want]));

test('session turns: the pace of the budget is in the probability, and who may have been chosen at another pace stays', () => {
  const plan = [planned('goal_reached')];
  const id =
    Array.from({ length: 100 }, (_, nth) => `s${nth}`).find((sessionId) => !sessionSample({ tenant: '', sessionId }, 0.5).sampled) ?? '';
  expect(choices(turn(id), plan, { pace: () => ({ left: 0.5, by: 'usd_per_day' }) })).toMatchObject([
    { probability: 0.5, end: { decision: 'sampled_out' }, mayBeChosen: true },
  ]);
});

test('session turns: a session is shown turn by turn, each with what was new in it', () => {
  const first = agentTrace({
    sessionId: 's',
    input: 'Book a room.',
    finalResponse: 'Where?',
    toolDefinitions: [{ name: 'book' }],
    truncated: ['spans'],
  });
  // Earlier messages come along again.
  const second = agentTrace({
    sessionId: 's',
    input: 'In Rome.',
    finalResponse: 'One moment.',
    toolCalls: [call({ name: 'find' })],
    toolDefinitions: [{ name: 'find' }, { name: 'book', description: 'd' }],
    messages: [
      { role: 'user', text: 'Book a room.', calls: [] },
      { role: 'assistant', text: 'Where?', calls: [] },
      { role: 'user', text: 'In Rome.', calls: [] },
      { role: 'assistant', text: 'I look.', calls: [0] },
      { role: 'tool', text: 'ok', calls: [] },
      { role: 'assistant', text: 'One moment.', calls: [] },
    ],
  });
  // Its messages have no call.
  const third = agentTrace({
    sessionId: 's',
    input: 'And?',
    finalResponse: { done: true },
    toolCalls: [call({ name: 'book' }), call({ name: 'mail' })],
    messages: [{ role: 'user', text: 'And?', calls: [] }],
  });
  const whole = sessionRun({ times: 4, leftOut: 2, turns: [first, second, third].map((trace) => run({ trace, revision: 2 })) });
  if (whole === undefined) throw new Error('no session');
  expect(whole).toMatchObject({ revision: 2, trace: third, session: { revision: 4, turns: 5, leftOut: 2 } });
  const told = asConversation(whole);
  expect(told.revision).toBe(4);
  expect(told.trace).toMatchObject({
    input: 'Book a room.',
    finalResponse: { done: true },
    truncated: ['spans'],
    toolDefinitions: [{ name: 'book', description: 'd' }, { name: 'find' }],
  });
  expect(told.trace.toolCalls.map(({ name }) => name)).toEqual(['find', 'book', 'mail']);
  expect(told.trace.messages).toEqual([
    { role: 'user', text: 'Book a room.', calls: [] },
    { role: 'assistant', text: 'Where?', calls: [] },
    { role: 'user', text: 'In Rome.', calls: [] },
    { role: 'assistant', text: 'I look.', calls: [0] },
    { role: 'tool', text: 'ok', calls: [] },
    { role: 'assistant', text: 'One moment.', calls: [] },
    { role: 'user', text: 'And?', calls: [] },
    { role: 'assistant', calls: [1] },
    { role: 'assistant', calls: [2] },
    { role: 'assistant', text: '{"done":true}', calls: [] },
  ]);
  expect(withoutEarlier(whole).session).toEqual({ revision: 4, turns: 5, leftOut: 2 });
  expect(asConversation(withoutEarlier(whole))).toEqual(withoutEarlier(whole));
});
