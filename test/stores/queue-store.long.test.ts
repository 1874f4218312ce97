/** Annotation queues, in every store: leases, people, expiry, and what two people may do at the same time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noTenant, tenant } from '../../src/model/ids.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { Annotation } from '../../src/model/store/annotation-store.ts';
import type {
  AddingItems,
  DrawingItems,
  LeaseRequest,
  NewQueueResponse,
  QueueItem,
  QueueStore,
} from '../../src/model/store/queue-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { retention } from '../builders/retention.ts';
import { traceId } from '../builders/spans.ts';
import { members, open, type Member } from './members.ts';

const second = 1_000_000;

function nth(at: number, given: Partial<Run> = {}): Run {
  return run({ traceId: traceId(at + 1), ...given });
}

async function opened(member: Member, runs: number, given: Partial<Run> = {}): Promise<Store> {
  const store = await open(member);
  await store.write(Array.from({ length: runs }, (_, at) => scoredRun({ goal: scored(at % 2) }, nth(at, given))));
  return store;
}

function adding(runs: readonly Run[], given: Partial<AddingItems> = {}): AddingItems {
  return {
    queue: 'refunds',
    items: runs.map(({ tenant: of, traceId: trace, spanId: span }) => ({ tenant: of, traceId: trace, spanId: span, why: 'goal < 1' })),
    addedBy: 'rule refunds',
    at: second,
    dueAt: undefined,
    itemsMax: 100,
    reopens: false,
    ...given,
  };
}

/** `number`: place in the random order, of runs that were judged for sure unless a probability is given. */
function drawing(runs: readonly (readonly [run: Run, number: number, judged?: number])[], given: Partial<DrawingItems> = {}): DrawingItems {
  const { items, itemsMax: _itemsMax, reopens: _reopens, ...rest } = adding(runs.map(([of]) => of));
  return {
    ...rest,
    drawnMax: 4,
    evaluator: 'goal',
    items: items.map((item, at) => ({ ...item, draw: { number: runs[at]?.[1] ?? 0, judged: runs[at]?.[2] ?? 1 } })),
    ...given,
  };
}

function asking(person: string, given: Partial<LeaseRequest> = {}): LeaseRequest {
  const now = given.now ?? 2 * second;
  return { queue: 'refunds', person, people: 1, now, until: now + 60 * second, ...given };
}

function saying(person: string, item: QueueItem | undefined, given: Partial<NewQueueResponse> = {}): NewQueueResponse {
  return {
    queue: 'refunds',
    item: item?.id ?? 0,
    lease: item?.lease?.id ?? 0,
    person,
    people: 1,
    kind: 'answer',
    values: { goal: 'pass' },
    comment: '',
    at: 3 * second,
    annotations: [],
    ...given,
  };
}

async function leasedItem(queues: QueueStore, person: string, given: Partial<LeaseRequest> = {}): Promise<QueueItem | undefined> {
  return (await queues.lease(asking(person, given)))?.item;
}

function annotationOf(person: string, { traceId: trace, spanId: span }: Pick<QueueItem, 'traceId' | 'spanId'>): Annotation {
  const shared = {
    tenant: noTenant,
    kind: 'human',
    label: 'pass',
    score: undefined,
    passed: true,
    explanation: '',
    at: 3 * second,
  } as const;
  return { ...shared, traceId: trace, spanId: span, name: 'goal', by: person };
}

describe.each(members)('%s', (member) => {
  test('queues: a run enters once, no more than the limit, and only when it is stored', async () => {
    const { queues } = await opened(member, 3);
    expect(await queues.add(adding([nth(0), nth(0), nth(9), nth(1), nth(2)], { itemsMax: 2 }))).toEqual([
      'added',
      'known',
      'not_stored',
      'added',
      'full',
    ]);
    expect(await queues.add(adding([nth(2)], { queue: 'other' }))).toEqual(['added']);
    expect(await queues.counts({ now: second })).toEqual([
      { queue: 'other', open: 1, leased: 0, done: 0, skipped: 0, expired: 0, answers: 0, oldestAt: second },
      { queue: 'refunds', open: 2, leased: 0, done: 0, skipped: 0, expired: 0, answers: 0, oldestAt: second },
    ]);
    expect((await queues.items({ queue: 'refunds', limit: 10 })).items).toMatchObject([
      {
        traceId: nth(0).traceId,
        state: 'open',
        why: 'goal < 1',
        addedBy: 'rule refunds',
        enteredAt: second,
        dueAt: undefined,
        responses: [],
      },
      { traceId: nth(1).traceId },
    ]);
  });

  test('queues: one person holds an item, and gets the same one until it is answered', async () => {
    const { queues } = await opened(member, 2);
    await queues.add(adding([nth(0), nth(1)]));
    const first = await leasedItem(queues, 'ann');
    expect(first).toMatchObject({ traceId: nth(0).traceId, lease: { id: 1, person: 'ann', until: 62 * second } });
    expect(await leasedItem(queues, 'ann', { now: 10 * second })).toMatchObject({ id: first?.id, lease: { id: 1, until: 70 * second } });
    const other = await leasedItem(queues, 'bob');
    expect(other).toMatchObject({ traceId: nth(1).traceId });
    expect(await leasedItem(queues, 'cid')).toBeUndefined();
    expect(await queues.respond(saying('ann', first))).toMatchObject({
      kind: 'taken',
      isRepeated: false,
      item: {
        state: 'done',
        closedAt: 3 * second,
        lease: undefined,
        responses: [{ person: 'ann', kind: 'answer', values: { goal: 'pass' } }],
      },
    });
    expect(await leasedItem(queues, 'ann')).toBeUndefined();
    expect(await queues.counts({ now: 3 * second })).toMatchObject([{ open: 1, leased: 1, done: 1, answers: 1 }]);
  });

  test('queues: a lease that has ended passes on, and its answer is refused from then on', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    const first = await leasedItem(queues, 'ann');
    expect(await queues.lease(asking('bob', { now: 61 * second }))).toBeUndefined();
    const passed = await queues.lease(asking('bob', { now: 62 * second }));
    expect(passed).toMatchObject({ tookOver: true, item: { id: first?.id, lease: { id: 2, person: 'bob' } } });
    expect(await queues.respond(saying('ann', first))).toEqual({ kind: 'refused', reason: 'lost' });
    // Nor under the number of the other one.
    expect(await queues.respond(saying('ann', passed?.item))).toEqual({ kind: 'refused', reason: 'lost' });
    expect(await queues.release({ queue: 'refunds', item: first?.id ?? 0, lease: 1, person: 'ann' })).toBe(false);
    expect(await queues.respond(saying('bob', passed?.item))).toMatchObject({ kind: 'taken' });
    expect(await queues.respond(saying('ann', first))).toEqual({ kind: 'refused', reason: 'closed' });
  });

  test('queues: the answer of a lease that has ended counts while no other person has the item', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    const first = await leasedItem(queues, 'ann');
    expect((await queues.upkeep({ at: 100 * second, people: new Map(), limit: 10 })).lapsed).toEqual(new Map([['refunds', 1]]));
    expect((await queues.upkeep({ at: 101 * second, people: new Map(), limit: 10 })).lapsed).toEqual(new Map());
    expect(await queues.respond(saying('ann', first, { at: 102 * second }))).toMatchObject({ kind: 'taken', item: { state: 'done' } });
  });

  test('queues: a lease that was counted is not counted again when it passes on', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    await leasedItem(queues, 'ann');
    await queues.upkeep({ at: 100 * second, people: new Map(), limit: 10 });
    expect(await queues.lease(asking('bob', { now: 100 * second }))).toMatchObject({ tookOver: false });
  });

  test('queues: the same answer again changes nothing, and another one of the same person is refused', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    const item = await leasedItem(queues, 'ann', { people: 2 });
    expect(await queues.respond(saying('ann', item, { people: 2 }))).toMatchObject({ isRepeated: false, item: { state: 'open' } });
    expect(await queues.respond(saying('ann', item, { people: 2, values: { goal: 'fail' } }))).toMatchObject({
      kind: 'taken',
      isRepeated: true,
      item: { responses: [{ values: { goal: 'pass' } }] },
    });
    const next = await leasedItem(queues, 'bob', { people: 2 });
    expect(await queues.respond(saying('ann', next, { people: 2 }))).toEqual({ kind: 'refused', reason: 'responded' });
    expect(await queues.respond(saying('bob', next, { people: 2 }))).toMatchObject({ item: { state: 'done' } });
    expect(await queues.respond(saying('bob', { ...next, id: 99 } as QueueItem))).toEqual({ kind: 'refused', reason: 'unknown' });
    expect(await queues.respond(saying('bob', next, { queue: 'other' }))).toEqual({ kind: 'refused', reason: 'unknown' });
  });

  test('queues: different people answer an item, none of them twice, and as many skips close it', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    const people = 2;
    const say = async (person: string, given: Partial<NewQueueResponse>): Promise<unknown> =>
      await queues.respond(saying(person, await leasedItem(queues, person, { people }), { people, ...given }));
    expect(await say('ann', { kind: 'skip', values: {}, comment: 'not mine' })).toMatchObject({ item: { state: 'open' } });
    expect(await leasedItem(queues, 'ann', { people })).toBeUndefined();
    expect(await say('bob', {})).toMatchObject({ item: { state: 'open' } });
    expect(await say('cid', { kind: 'skip', values: {}, comment: 'nor mine' })).toMatchObject({ item: { state: 'skipped' } });
    expect(await leasedItem(queues, 'dot', { people })).toBeUndefined();
    expect(await queues.people({ queue: 'refunds', limit: 10 })).toEqual([
      { person: 'ann', answers: 0, skips: 1 },
      { person: 'bob', answers: 1, skips: 0 },
      { person: 'cid', answers: 0, skips: 1 },
    ]);
  });

  test('queues: an item expires at its due time unless a person holds it, and people may open it again', async () => {
    const { queues } = await opened(member, 2);
    await queues.add(adding([nth(0), nth(1)], { dueAt: 50 * second }));
    const held = await leasedItem(queues, 'ann');
    const upkeep = async (at: number): Promise<unknown> => (await queues.upkeep({ at, people: new Map(), limit: 10 })).expired;
    expect(await upkeep(49 * second)).toEqual(new Map());
    expect(await upkeep(50 * second)).toEqual(new Map([['refunds', 1]]));
    expect(await leasedItem(queues, 'bob', { now: 51 * second })).toBeUndefined();
    expect(await queues.respond(saying('ann', held, { at: 55 * second }))).toMatchObject({ kind: 'taken' });
    expect(await queues.counts({ now: 55 * second })).toMatchObject([{ open: 0, done: 1, expired: 1 }]);
    const again = { at: 60 * second, dueAt: 90 * second };
    expect(await queues.add(adding([nth(1), nth(0)], again))).toEqual(['known', 'known']);
    expect(await queues.add(adding([nth(1), nth(0)], { ...again, reopens: true }))).toEqual(['reopened', 'known']);
    expect(await leasedItem(queues, 'bob', { now: 61 * second })).toMatchObject({ traceId: nth(1).traceId, dueAt: 90 * second });
  });

  test('queues: an item is given back without an answer, and a queue that asks fewer people closes what has enough', async () => {
    const { queues } = await opened(member, 1);
    await queues.add(adding([nth(0)]));
    const first = await leasedItem(queues, 'ann', { people: 3 });
    expect(await queues.release({ queue: 'refunds', item: first?.id ?? 0, lease: 1, person: 'ann' })).toBe(true);
    const second_ = await leasedItem(queues, 'bob', { people: 3 });
    expect(second_).toMatchObject({ lease: { id: 2 } });
    await queues.respond(saying('bob', second_, { people: 3 }));
    expect(await leasedItem(queues, 'ann', { people: 1 })).toBeUndefined();
    await queues.upkeep({ at: 5 * second, people: new Map([['refunds', 1]]), limit: 10 });
    expect(await queues.item('refunds', first?.id ?? 0)).toMatchObject({ state: 'done', closedAt: 5 * second });
  });

  test('queues: an answer and its annotations are stored or refused together', async () => {
    const store = await opened(member, 1);
    await store.queues.add(adding([nth(0)]));
    const item = await leasedItem(store.queues, 'ann');
    if (item === undefined) throw new Error('no item');
    const many = Array.from({ length: 1_001 }, (_, at) => ({ ...annotationOf('ann', item), name: `name ${at}` }));
    expect(await store.queues.respond(saying('ann', item, { annotations: many }))).toEqual({ kind: 'refused', reason: 'full' });
    expect((await store.run(nth(0)))?.annotations).toEqual([]);
    expect(await store.queues.respond(saying('ann', item, { annotations: [annotationOf('ann', item)] }))).toMatchObject({ kind: 'taken' });
    expect((await store.run(nth(0)))?.annotations).toMatchObject([{ name: 'goal', by: 'ann', kind: 'human', passed: true }]);
  });

  test('queues: candidates have the verdicts of their runs, and the first free one of a list is leased', async () => {
    const { queues } = await opened(member, 3);
    await queues.add(adding([nth(0), nth(1), nth(2)]));
    const candidates = await queues.candidates({ queue: 'refunds', person: 'ann', people: 1, now: second, limit: 2 });
    expect(candidates.map(({ verdicts }) => verdicts)).toMatchObject([
      [{ name: 'goal', kind: 'rule', verdict: 'fail', score: 0 }],
      [{ name: 'goal', kind: 'rule', verdict: 'pass', score: 1 }],
    ]);
    const ids = (await queues.items({ queue: 'refunds', limit: 10 })).items.map(({ id }) => id).toReversed();
    expect(await leasedItem(queues, 'ann', { among: ids })).toMatchObject({ traceId: nth(2).traceId });
    expect(await leasedItem(queues, 'bob', { among: ids })).toMatchObject({ traceId: nth(1).traceId });
    // Items that a person holds come first.
    expect(await leasedItem(queues, 'ann', { among: ids.toReversed() })).toMatchObject({ traceId: nth(2).traceId });
    expect(await leasedItem(queues, 'cid', { among: [] })).toBeUndefined();
  });

  test('queues: tenants have separate items, pages follow one another, and answers of two are listed', async () => {
    const store = await opened(member, 2);
    const acme = tenant('acme');
    await store.write([scoredRun({}, nth(5, { tenant: acme }))]);
    await store.queues.add(adding([nth(0), nth(1), nth(5, { tenant: acme })]));
    expect(await leasedItem(store.queues, 'ann', { tenant: acme })).toMatchObject({ tenant: acme });
    expect(await store.queues.counts({ tenant: acme, now: second })).toMatchObject([{ open: 1 }]);
    const first = await store.queues.items({ queue: 'refunds', limit: 2 });
    expect(first.items).toHaveLength(2);
    const rest = await store.queues.items({ queue: 'refunds', limit: 2, ...(first.next === undefined ? {} : { after: first.next }) });
    expect([rest.items.length, rest.next]).toEqual([1, undefined]);
    expect((await store.queues.items({ queue: 'refunds', state: 'done', limit: 2 })).items).toEqual([]);
    for (const person of ['bob', 'cid'])
      await store.queues.respond(saying(person, await leasedItem(store.queues, person, { people: 2, tenant: noTenant }), { people: 2 }));
    expect(await store.queues.answered({ queue: 'refunds', limit: 5 })).toMatchObject([
      {
        answers: [
          { person: 'bob', values: { goal: 'pass' } },
          { person: 'cid', values: { goal: 'pass' } },
        ],
      },
    ]);
    expect(await store.queues.answered({ queue: 'refunds', tenant: acme, limit: 5 })).toEqual([]);
  });

  test('queues: drawn runs have separate room, and a thinning keeps those that come first with the probability that they now have', async () => {
    const { queues } = await opened(member, 10);
    const numbers = [0.5, 0.1, 0.9, 0.3, 0.7, 0.2, 0.05, 0.4];
    const outcomes: unknown[] = [];
    for (const [at, number] of numbers.entries()) outcomes.push(...(await queues.draw(drawing([[nth(at), number]]))));
    // The fifth is one too many: the rate falls to 0.5, the first number that goes. The eighth is one again, and the rate falls to 0.2.
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => 'drawn'));
    const { items } = await queues.items({ queue: 'refunds', limit: 10 });
    expect(items.map((item) => [item.traceId, item.probability])).toEqual([
      [nth(1).traceId, 0.2],
      [nth(6).traceId, 0.2],
    ]);
    expect(await queues.draw(drawing([[nth(8), 0.2]]))).toEqual(['not_drawn']);
    // A run that was judged with 0.2 was drawn for sure.
    expect(await queues.draw(drawing([[nth(9), 0.1, 0.2]]))).toEqual(['drawn']);
    expect((await queues.items({ queue: 'refunds', limit: 10 })).items.at(-1)).toMatchObject({ probability: 1 });
    expect(await queues.draw(drawing([[nth(1), 0.1]]))).toEqual(['known']);
    // Neither a run that was not drawn nor one that has left the queue has another chance, at any new rate or number.
    expect(
      await queues.draw(
        drawing([
          [nth(8), 0.01],
          [nth(3), 0.01, 0.2],
        ]),
      ),
    ).toEqual(['known', 'known']);
    expect(await queues.add(adding([nth(0), nth(2)], { itemsMax: 2 }))).toEqual(['added', 'added']);
  });

  test('queues: turns of the random share give drawn runs in their own order, and only their labels have a probability', async () => {
    const store = await opened(member, 6);
    const { queues } = store;
    await queues.add(adding([nth(0), nth(1), nth(2)]));
    await queues.draw(
      drawing([
        [nth(3), 0.6],
        [nth(4), 0.2],
      ]),
    );
    // A run that a rule chose is drawn too: from then on it waits for its place.
    await queues.draw(drawing([[nth(0), 0.4]]));
    // And one that was drawn is chosen too.
    expect(await queues.add(adding([nth(4)]))).toEqual(['known']);
    const given: unknown[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const item = await leasedItem(queues, 'ann', { random: 0.5 });
      if (item === undefined) throw new Error('no item');
      await queues.respond(saying('ann', item, { annotations: [annotationOf('ann', item)] }));
      given.push([item.traceId, (await store.run(item))?.annotations[0]?.probability]);
    }
    expect(given).toEqual([
      [nth(1).traceId, undefined],
      [nth(4).traceId, 0.4],
      [nth(2).traceId, undefined],
      [nth(0).traceId, 0.6],
      [nth(3).traceId, 1],
    ]);
  });

  test('queues: labels that come before the draw count when the random order comes to their run, and a corrected label stays drawn', async () => {
    const store = await opened(member, 3);
    const { queues } = store;
    await queues.add(adding([nth(0)]));
    const chosen = await leasedItem(queues, 'ann');
    if (chosen === undefined) throw new Error('no item');
    await queues.respond(
      saying('ann', chosen, { annotations: [annotationOf('ann', chosen), { ...annotationOf('ann', chosen), name: 'tone' }] }),
    );
    expect(
      await queues.draw(
        drawing([
          [nth(0), 0.4],
          [nth(1), 0.2],
          [nth(2), 0.6],
        ]),
      ),
    ).toEqual(['drawn', 'drawn', 'drawn']);
    const probabilities = async (at: number): Promise<unknown> =>
      Object.fromEntries(((await store.run(nth(at)))?.annotations ?? []).map(({ name, probability }) => [name, probability]));
    const next = async (): Promise<QueueItem | undefined> => await leasedItem(queues, 'ann', { random: 1 });
    const first = await next();
    // The first that waits is behind the early one. A run that the queue did not ask about stays chosen.
    expect([first?.traceId, await probabilities(0)]).toEqual([nth(1).traceId, { goal: 0.6, tone: undefined }]);
    await queues.respond(saying('ann', first, { annotations: [annotationOf('ann', nth(1))] }));
    expect([(await next())?.traceId, await probabilities(0)]).toEqual([nth(2).traceId, { goal: 1, tone: undefined }]);
    await store.annotations.write(
      [{ ...annotationOf('ann', nth(1)), spanId: undefined, tenant: undefined, passed: false, at: 4 * second }],
      4 * second,
    );
    expect((await store.run(nth(1)))?.annotations).toMatchObject([{ name: 'goal', passed: false, probability: 1 }]);
  });

  test('queues: the probability of a label is the cut-off up to which people have come since its run entered', async () => {
    const store = await opened(member, 8);
    const { queues } = store;
    const label = async (): Promise<void> => {
      const item = await leasedItem(queues, 'ann', { random: 1 });
      if (item !== undefined) await queues.respond(saying('ann', item, { annotations: [annotationOf('ann', item)] }));
    };
    const probabilities = async (): Promise<unknown> => {
      const stored = await Promise.all(Array.from({ length: 8 }, (_, at) => store.run(nth(at))));
      return stored.map((own) => own?.annotations[0]?.probability);
    };
    const draw = async (...runs: readonly (readonly [at: number, number: number, judged?: number])[]): Promise<void> => {
      await queues.draw(drawing(runs.map(([at, number, judged = 1]) => [nth(at), number, judged])));
    };
    await draw([0, 0.3], [1, 0.7]);
    await label();
    expect((await probabilities()) as unknown[]).toEqual([0.7, ...Array.from({ length: 7 })]);
    // The run that comes later has a lower cut-off, and takes nothing from the first.
    await draw([2, 0.1, 0.2], [3, 0.4]);
    await label();
    expect(await probabilities()).toEqual([0.7, undefined, 1, ...Array.from({ length: 5 })]);
    await label();
    expect(await probabilities()).toEqual([0.7, undefined, 1, 0.7, ...Array.from({ length: 4 })]);
    // Five wait where there is room for four: the rate falls to 0.6, and no later turn raises the cut-off of what came before beyond it.
    await draw([4, 0.5], [5, 0.55], [6, 0.6], [7, 0.65]);
    for (let turn = 0; turn < 3; turn++) await label();
    expect(await probabilities()).toEqual([0.7, undefined, 1, 0.7, 0.6, 0.6, undefined, undefined]);
  });

  test('queues: a drawn item that a person opens again is chosen', async () => {
    const store = await opened(member, 1);
    const { queues } = store;
    await queues.draw(drawing([[nth(0), 0.2]], { dueAt: 2 * second }));
    await queues.upkeep({ at: 3 * second, people: new Map(), limit: 10 });
    expect(await queues.add(adding([nth(0)], { reopens: true }))).toEqual(['reopened']);
    const item = await leasedItem(queues, 'ann', { now: 4 * second });
    expect(item?.probability).toBeUndefined();
    await queues.respond(saying('ann', item, { at: 5 * second, annotations: [annotationOf('ann', nth(0))] }));
    const { annotations = [] } = (await store.run(nth(0))) ?? {};
    expect(annotations.map(({ name, probability }) => [name, probability])).toEqual([['goal', undefined]]);
    expect(await queues.draw(drawing([[nth(0), 0.2]]))).toEqual(['known']);
  });

  test('queues: only the label of the evaluator that the queue draws by, on the run itself, has the probability', async () => {
    const store = await opened(member, 2);
    const { queues } = store;
    await queues.add(adding([nth(0)]));
    const labels = (at: number): readonly Annotation[] => [annotationOf('ann', nth(at)), { ...annotationOf('ann', nth(at)), name: 'tone' }];
    const given = { values: { goal: 'pass', tone: 'good' } };
    await queues.respond(saying('ann', await leasedItem(queues, 'ann'), { ...given, annotations: labels(0) }));
    await store.annotations.write([{ ...annotationOf('ann', nth(0)), toolCall: 'call_1' }], 3 * second);
    await queues.draw(
      drawing([
        [nth(0), 0.2],
        [nth(1), 0.4],
      ]),
    );
    await queues.respond(saying('ann', await leasedItem(queues, 'ann'), { ...given, annotations: labels(1) }));
    for (const at of [0, 1]) {
      const { annotations = [] } = (await store.run(nth(at))) ?? {};
      expect(annotations.filter(({ probability }) => probability !== undefined).map(({ name, toolCall }) => [name, toolCall])).toEqual([
        ['goal', undefined],
      ]);
      expect(annotations).toHaveLength(at === 0 ? 3 : 2);
    }
  });

  test('queues: the turns of one tenant do not move the share of another', async () => {
    const store = await open(member);
    const { queues } = store;
    const tenants = [tenant('acme'), tenant('bolt')] as const;
    const of = (at: number): Run => nth(at, { tenant: tenants[at % 2] ?? noTenant });
    const numbers = Array.from({ length: 16 }, (_, at) => at);
    await store.write(numbers.map((at) => scoredRun({}, of(at))));
    await queues.add(adding(numbers.slice(0, 8).map((at) => of(at))));
    for (const at of numbers.slice(8)) await queues.draw(drawing([[of(at), at / 20]], { drawnMax: 8 }));
    const drawnTurns = new Map<string, number>();
    for (let turn = 0; turn < 4; turn++)
      for (const own of tenants) {
        const item = await leasedItem(queues, `person of ${own}`, { tenant: own, random: 0.5 });
        if (item?.probability !== undefined) drawnTurns.set(own, (drawnTurns.get(own) ?? 0) + 1);
        await queues.respond(saying(`person of ${own}`, item));
      }
    expect([...drawnTurns]).toEqual(tenants.map((own) => [own, 2]));
  });

  test('queues: items go with their runs', async () => {
    const store = await opened(member, 2);
    await store.queues.add(adding([nth(0), nth(1)]));
    await store.queues.respond(saying('ann', await leasedItem(store.queues, 'ann')));
    await store.prune(retention({ runsBefore: Number.MAX_SAFE_INTEGER }));
    expect(await store.queues.counts({ now: second })).toEqual([]);
    expect(await store.queues.people({ queue: 'refunds', limit: 10 })).toEqual([]);
  });

  test('queues: two people at the same time never hold the same item', async () => {
    const { queues } = await opened(member, 8);
    await queues.add(adding(Array.from({ length: 8 }, (_, at) => nth(at))));
    const people = Array.from({ length: 12 }, (_, at) => `person ${at}`);
    const found = await Promise.all(people.map((person) => leasedItem(queues, person)));
    const ids = found.flatMap((item) => (item === undefined ? [] : [item.id]));
    expect(ids).toHaveLength(8);
    expect(new Set(ids).size).toBe(8);
  });
});

type Step =
  | { readonly kind: 'lease' | 'answer' | 'skip' | 'release' | 'repeat'; readonly person: number }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'upkeep' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('lease', 'answer', 'skip', 'release', 'repeat'), person: fc.nat(4) }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.nat(90) }),
  fc.constant({ kind: 'upkeep' } as const),
);

test('queues: in any course of events, no item is answered by more people than asked, twice by one, or lost', async () => {
  const runs = 3;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), fc.boolean(), async (steps, people, expires) => {
      const { queues, stop } = await freshStore(runs);
      await queues.add(
        adding(
          Array.from({ length: runs }, (_, at) => nth(at)),
          expires ? { dueAt: 300 * second } : {},
        ),
      );
      /** The item that each person opened last, at any age. */
      const opened_ = new Map<number, QueueItem>();
      let now = 2 * second;
      const respond = async (person: number, kind: 'answer' | 'skip'): Promise<void> => {
        const item = opened_.get(person);
        if (item === undefined) return;
        const annotations = kind === 'answer' ? [annotationOf(`p${person}`, item)] : [];
        await queues.respond(saying(`p${person}`, item, { people, kind, at: now, annotations }));
      };
      for (const one of steps) {
        if (one.kind === 'wait') now += one.seconds * second;
        else if (one.kind === 'upkeep') await queues.upkeep({ at: now, people: new Map([['refunds', people]]), limit: 10 });
        else if (one.kind === 'lease') {
          const item = await leasedItem(queues, `p${one.person}`, { people, now });
          // A person never gets what the person has responded to.
          expect(item?.responses.map(({ person }) => person) ?? []).not.toContain(`p${one.person}`);
          if (item !== undefined) opened_.set(one.person, item);
        } else if (one.kind === 'release') {
          const item = opened_.get(one.person);
          if (item?.lease !== undefined)
            await queues.release({ queue: 'refunds', item: item.id, lease: item.lease.id, person: `p${one.person}` });
        } else await respond(one.person, one.kind === 'skip' ? 'skip' : 'answer');
        const { items } = await queues.items({ queue: 'refunds', limit: 10 });
        expect(items).toHaveLength(runs);
        for (const item of items) {
          const answers = item.responses.filter(({ kind }) => kind === 'answer');
          expect(answers.length).toBeLessThanOrEqual(people);
          expect(new Set(item.responses.map(({ person }) => person)).size).toBe(item.responses.length);
          if (item.state === 'done') expect(answers.length).toBe(people);
          if (item.state === 'open') expect(answers.length).toBeLessThan(people);
        }
        const held = items.flatMap(({ state, lease }) =>
          state === 'open' && lease !== undefined && lease.until > now ? [lease.person] : [],
        );
        expect(new Set(held).size).toBe(held.length);
      }
      await stop();
    }),
    { numRuns: propertyRuns({ short: 20, long: 200 }) },
  );
});

async function freshStore(runs: number): Promise<Store> {
  const store = await openedInMemory();
  await store.write(Array.from({ length: runs }, (_, at) => scoredRun({}, nth(at))));
  return store;
}
