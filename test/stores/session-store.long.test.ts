/** Turns of sessions that are judged as a whole, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/model/agent-trace.ts';
import { parseTraceId } from '../../src/model/ids.ts';
import { sessionTurnsMax } from '../../src/model/store/session-store.ts';
import type { SessionChoice } from '../../src/model/judge-work.ts';
import { targetKey } from '../../src/model/verdict.ts';
import { withoutEarlier } from '../../src/pipeline/evaluation/session-turns.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store, StoreItem } from '../../src/model/store/store.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { retention } from '../builders/retention.ts';
import { evaluation, run, scored } from '../builders/scored-run.ts';
import { closedLater, folder, members, open } from './members.ts';

/** The turn of that number; it began then. */
function nth(number: number, given: Partial<Run> = {}, session = 's'): Run {
  const traceId = parseTraceId((number + 1).toString(16).padStart(32, '0'));
  if (traceId === undefined) throw new Error('no trace id');
  return run({
    traceId,
    startUnixNano: BigInt(number) * 1_000_000n,
    endUnixNano: BigInt(number) * 1_000_000n,
    trace: agentTrace({ agent: 'a', sessionId: session, input: `turn ${number}` }),
    ...given,
  });
}

const choice = (given: Partial<SessionChoice> = {}): SessionChoice => ({
  name: 'g',
  evaluator: 'goal_reached',
  evaluatorKind: 'judge',
  queueKey: 'main',
  optionsHash: 'o',
  probability: 0.25,
  end: undefined,
  mayBeChosen: true,
  ...given,
});
const turn = (of: Run, at: number, ...choices: readonly SessionChoice[]): StoreItem => ({
  run: of,
  evaluations: [],
  decisions: [],
  turn: { sessionId: of.trace.sessionId ?? '', at, choices: choices.length === 0 ? [choice()] : choices },
});
const passedOver = choice({ end: { decision: 'sampled_out' }, mayBeChosen: false });
const always = { quietBefore: 1e15, changedBefore: 0, limit: 10 };
const all = { limit: 100, except: [] } as const;

async function ripe({ judgeSessions }: Store, query: Partial<typeof always> = {}): Promise<readonly string[]> {
  return (await judgeSessions.ripe({ ...always, ...query })).map(
    ({ name, revision, turns, leftOut }) =>
      `${name} ${revision}: ${turns.map(({ trace }) => trace.input?.slice(5)).join(' ')}${leftOut === 0 ? '' : ` without ${leftOut}`}`,
  );
}

async function handOn(store: Store, at = 1_000): Promise<readonly boolean[]> {
  return await Promise.all((await store.judgeSessions.ripe(always)).map((one) => store.judgeSessions.handOn(one, at)));
}

/** Answers the waiting jobs. */
async function answer(store: Store, score = 1): Promise<void> {
  for (const { run: of, name, probability } of await store.judgeJobs.due(all)) {
    if (of === undefined) throw new Error('unreadable');
    const told = withoutEarlier(of);
    const verdict = evaluation(name, scored(score), told, {
      key: targetKey(told, name),
      evaluatorKind: 'judge',
      revision: told.session?.revision ?? 0,
      sampleProbability: probability,
    });
    await store.write([
      {
        run: told,
        evaluations: [verdict],
        decisions: [{ name, evaluator: 'goal_reached', evaluatorKind: 'judge', decision: 'scored' }],
        answered: true,
      },
    ]);
  }
}

/** The runs with a verdict on their session and its revision, and the ends of their pairs. */
async function standing(store: Store): Promise<{ readonly verdicts: readonly string[]; readonly decisions: readonly string[] }> {
  const { runs } = await store.runs({ limit: 200 });
  const number = ({ traceId }: { readonly traceId: string }): number => Number.parseInt(traceId, 16) - 1;
  const decisions = await Promise.all(runs.map(({ traceId }) => store.decisions(traceId)));
  return {
    verdicts: runs.flatMap((one) => one.verdicts.map(({ name, revision, score }) => `${number(one)} ${name} ${revision}: ${score}`)),
    decisions: decisions.flat().map((one) => `${number(one)} ${one.name} ${one.decision}`),
  };
}

describe.each(members)('%s', (member) => {
  test('stores: turns are gathered in the order in which they began, for each evaluator, and come out when the session is quiet', async () => {
    const store = await open(member);
    await store.write([
      turn(nth(2), 20, choice(), choice({ name: 'h' })),
      turn(nth(1), 30, choice()),
      turn(nth(5, {}, 'other'), 5, choice()),
    ]);
    expect(await ripe(store)).toEqual(['g 1: 5', 'g 2: 1 2', 'h 1: 2']);
    expect(await ripe(store, { quietBefore: 20 })).toEqual(['g 1: 5', 'h 1: 2']);
    // One that never is quiet comes out by its first change.
    expect(await ripe(store, { quietBefore: 20, changedBefore: 20 })).toEqual(['g 1: 5', 'g 2: 1 2', 'h 1: 2']);
    expect(await store.judgeSessions.counts()).toEqual({ held: 3, rows: 3, waiting: [{ queueKey: 'main', sessions: 3 }] });
  });

  test('stores: what is handed on waits as a job about the last turn, with those before, and nothing else of it', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1), turn(nth(1, { revision: 2 }), 2)]);
    expect(await handOn(store)).toEqual([true]);
    const [job, ...more] = await store.judgeJobs.due(all);
    expect(more).toEqual([]);
    expect(job).toMatchObject({
      name: 'g',
      evaluator: 'goal_reached',
      evaluatorKind: 'judge',
      queueKey: 'main',
      optionsHash: 'o',
      probability: 0.25,
      offeredAt: 1_000,
      run: { ...nth(1, { revision: 2 }), session: { revision: 1, turns: 2, leftOut: 0, earlier: [nth(0).trace] } },
    });
    expect([await ripe(store), await store.judgeSessions.counts()]).toEqual([[], { held: 1, rows: 1, waiting: [] }]);
  });

  test('stores: a session that has changed meanwhile, or is handed on already, is not handed on', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1)]);
    const [before] = await store.judgeSessions.ripe(always);
    if (before === undefined) throw new Error('nothing is ripe');
    await store.write([turn(nth(1), 2)]);
    expect(await store.judgeSessions.handOn(before, 1)).toBe(false);
    const [now] = await store.judgeSessions.ripe(always);
    if (now === undefined) throw new Error('nothing is ripe');
    expect([await store.judgeSessions.handOn(now, 1), await store.judgeSessions.handOn(now, 1)]).toEqual([true, false]);
    expect(await store.judgeJobs.counts()).toEqual([{ queueKey: 'main', waiting: 1, oldestAt: 1 }]);
  });

  test('stores: a later turn has the session judged again, after the question that is under way, and there is one verdict, with the last turn', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1)]);
    await handOn(store);
    await store.write([turn(nth(1), 2)]);
    expect(await ripe(store)).toEqual([]);
    await answer(store, 0);
    expect(await standing(store)).toEqual({ verdicts: ['0 g 1: 0'], decisions: ['0 g scored'] });
    expect(await ripe(store)).toEqual(['g 2: 0 1']);
    await handOn(store);
    // The verdict of before stands where the next one will.
    expect(await standing(store)).toEqual({ verdicts: ['1 g 1: 0'], decisions: ['1 g scored'] });
    await answer(store, 1);
    expect(await standing(store)).toEqual({ verdicts: ['1 g 2: 1'], decisions: ['1 g scored'] });
    expect([await ripe(store), await store.judgeJobs.counts()]).toEqual([[], []]);
  });

  test('stores: a revision of a turn has it judged again, and the same turn once more does not', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1), turn(nth(1), 2)]);
    await handOn(store);
    await answer(store);
    await store.write([turn(nth(0), 3), turn(nth(1), 3)]);
    expect(await ripe(store)).toEqual([]);
    await store.write([turn(nth(0, { revision: 2 }), 4)]);
    expect(await ripe(store)).toEqual(['g 3: 0 1']);
    await handOn(store);
    await answer(store, 0);
    expect(await standing(store)).toEqual({ verdicts: ['1 g 2: 0'], decisions: ['1 g scored'] });
  });

  test('stores: the first turn decides: a session that was passed over stays so, and one that was chosen keeps its probability', async () => {
    const store = await open(member);
    await store.write([
      turn(nth(0), 1, passedOver),
      turn(nth(1), 2, choice({ probability: 0.9 })),
      turn(nth(2, {}, 'other'), 3),
      turn(nth(3, {}, 'other'), 4, choice({ probability: 0.9, end: { decision: 'over_budget' } })),
    ]);
    expect(await ripe(store)).toEqual(['g 2: 2 3']);
    await handOn(store);
    expect((await store.judgeJobs.due(all)).map(({ probability }) => probability)).toEqual([0.25]);
    expect((await standing(store)).decisions).toEqual(['0 g sampled_out']);
    expect(await store.judgeSessions.counts()).toEqual({ held: 1, rows: 2, waiting: [] });
  });

  test('stores: a turn that turns out to be part of another run is none any more, and goes with what was said', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1), turn(nth(1), 2)]);
    await handOn(store);
    await answer(store);
    await store.write([{ run: nth(1, { revision: 2, partOf: nth(0) }), evaluations: [], decisions: [] }]);
    expect(await ripe(store)).toEqual(['g 3: 0']);
    await handOn(store);
    await answer(store, 0);
    expect(await standing(store)).toEqual({ verdicts: ['0 g 2: 0'], decisions: ['0 g scored'] });
  });

  test('stores: of more turns than are kept those in the middle go, and are counted', async () => {
    const store = await open(member);
    for (let number = 0; number < sessionTurnsMax + 3; number++) await store.write([turn(nth(number), number)]);
    const [session] = await store.judgeSessions.ripe(always);
    expect([session?.turns.length, session?.leftOut]).toEqual([sessionTurnsMax, 3]);
    expect([session?.turns[0]?.trace.input, session?.turns.at(-1)?.trace.input]).toEqual(['turn 0', `turn ${sessionTurnsMax + 2}`]);
    await handOn(store);
    expect((await store.judgeJobs.due(all))[0]?.run?.session).toMatchObject({ turns: sessionTurnsMax + 3, leftOut: 3 });
  });

  test('stores: what has been quiet for long is forgotten, but not what waits; a later turn begins another session', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1), turn(nth(1, {}, 'waiting'), 2), turn(nth(2, {}, 'passed'), 3, passedOver)]);
    const first = (await store.judgeSessions.ripe({ ...always, quietBefore: 1 }))[0];
    if (first === undefined) throw new Error('nothing is ripe');
    await store.judgeSessions.handOn(first, 1);
    await answer(store);
    expect(await store.judgeSessions.forget(3, 10)).toBe(1);
    await store.write([turn(nth(3), 9), turn(nth(4, {}, 'passed'), 9)]);
    expect(await ripe(store)).toEqual(['g 1: 1', 'g 1: 3']);
    expect(await store.judgeSessions.forget(100, 1)).toBe(1);
  });

  test('stores: turns keep their runs from going by age until their session is judged, or they are there for too long', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 10), turn(nth(1), 20), turn(nth(2), 30), turn(nth(3, {}, 'passed'), 40, passedOver)]);
    const limits = retention({ runsBefore: 1e17, turnsBefore: 10, jobsBefore: 1_000 });
    const left = async (): Promise<readonly number[]> =>
      (await store.runs({ limit: 10 })).runs.map(({ traceId }) => Number.parseInt(traceId, 16) - 1).toReversed();
    expect(await store.prune(limits)).toMatchObject({ runs: 1 });
    expect(await left()).toEqual([0, 1, 2]);
    await store.prune({ ...limits, turnsBefore: 11 });
    expect([await left(), await ripe(store)]).toEqual([[1, 2], ['g 3: 1 2 without 1']]);
    // From then on the question waits, with all that it is about.
    await handOn(store);
    await store.prune(limits);
    expect([await left(), (await store.judgeJobs.due(all))[0]?.run?.session]).toMatchObject([[2], { turns: 3, leftOut: 1 }]);
    await answer(store);
    await store.prune(limits);
    expect(await left()).toEqual([]);
  });

  test('stores: turns go with their runs, and a session without one is over', async () => {
    const store = await open(member);
    await store.write([turn(nth(0), 1)]);
    await store.prune(retention({ runsBefore: 1e17, turnsBefore: 2 }));
    expect(await ripe(store)).toEqual(['g 1:  without 1']);
    expect(await handOn(store)).toEqual([true]);
    expect([await ripe(store), await store.judgeJobs.counts()]).toEqual([[], []]);
  });

  test('stores: a turn that is gone with its run counts as left out only of its session, also one that was judged before', async () => {
    const store = await open(member);
    await store.write([
      turn(nth(0), 10),
      turn(nth(1), 20, choice(), choice({ name: 'h' })),
      turn(nth(2), 30),
      turn(nth(3, {}, 'other'), 40),
    ]);
    await handOn(store);
    await answer(store);
    await store.prune(retention({ runsBefore: 1_500, turnsBefore: 1e9 }));
    expect(await ripe(store)).toEqual([]);
    await store.write([turn(nth(4), 50, choice(), choice({ name: 'h' })), turn(nth(5, {}, 'other'), 60)]);
    expect(await ripe(store)).toEqual(['g 4: 2 4 without 2', 'h 2: 4 without 1', 'g 2: 3 5']);
    await handOn(store);
    const asked = (await store.judgeJobs.due(all)).map(({ name, run: of }) => `${name} ${of?.session?.turns} ${of?.session?.leftOut}`);
    expect(asked.toSorted()).toEqual(['g 2 0', 'g 4 2', 'h 2 1']);
    // One that turns out to be part of another run never was a turn.
    await store.write([{ run: nth(4, { revision: 2, partOf: nth(2) }), evaluations: [], decisions: [] }]);
    expect((await ripe(store)).filter((one) => one.startsWith('g'))).toEqual(['g 5: 2 without 2']);
  });

  test('stores: a session that is not judged yet counts as waiting, with its probability, and once', async () => {
    const store = await open(member);
    const decided = async () =>
      (await store.verdicts.decided({ name: 'g', from: 0, to: 1e15 })).map(({ decision, runs, weight }) => `${decision} ${runs} ${weight}`);
    await store.write([turn(nth(0), 1), turn(nth(1), 2), turn(nth(2, {}, 'passed'), 3, passedOver)]);
    expect(await decided()).toEqual(['sampled_out 1 0', 'waiting 1 4']);
    await handOn(store);
    expect(await decided()).toEqual(['sampled_out 1 0', 'waiting 1 4']);
    await answer(store);
    expect(await decided()).toEqual(['sampled_out 1 0', 'scored 1 0']);
    await store.write([turn(nth(3), 4)]);
    await handOn(store);
    expect(await decided()).toEqual(['sampled_out 1 0', 'scored 1 0']);
  });
});

test('stores: turns are there when the file is opened again', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  await first.write([turn(nth(0), 1)]);
  await first.stop();
  const second = closedLater(await sqliteStore(file));
  await second.write([turn(nth(1), 2)]);
  expect(await ripe(second)).toEqual(['g 2: 0 1']);
});
