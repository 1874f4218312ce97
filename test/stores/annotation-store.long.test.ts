/** Annotations of runs, in every store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { annotationId, annotationsPerTraceMax, annotationsWaitingMax, type Annotation } from '../../src/model/store/annotation-store.ts';
import { noTenant, parseTraceId, tenant, type TraceId } from '../../src/model/ids.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store, StoreItem } from '../../src/model/store/store.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { retention } from '../builders/retention.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { closedLater, folder, members, open } from './members.ts';

const second = 1_000_000;
const base = 1_700_000_000 * second;

function traceId(number: number): TraceId {
  const id = parseTraceId(number.toString(16).padStart(32, '0'));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

const first = traceId(1);

/** A run of the first trace, that starts and ends at these seconds after the base. */
function item(
  span: number,
  {
    from = 0,
    to = 9,
    trace = first,
    of = noTenant,
    partOf,
  }: {
    readonly from?: number;
    readonly to?: number;
    readonly trace?: TraceId;
    readonly of?: typeof noTenant;
    readonly partOf?: { readonly spanId: ReturnType<typeof spanId>; readonly traceId: TraceId };
  } = {},
): StoreItem {
  const nanos = (seconds: number): bigint => BigInt(base + seconds * second) * 1_000n;
  const own = run({
    tenant: of,
    traceId: trace,
    spanId: spanId(span),
    trace: agentTrace({ agent: `agent ${span}` }),
    startUnixNano: nanos(from),
    endUnixNano: nanos(to),
    ...(partOf === undefined ? {} : { revision: 2, partOf: { tenant: of, ...partOf } }),
  });
  return scoredRun(partOf === undefined ? { answer_relevance: scored(0, { details: { model: 'gpt' } }) } : {}, own, {
    evaluatorKind: 'judge',
    evaluatorVersion: 3,
    sampleProbability: 0.25,
  });
}

function said(members: Partial<Annotation> = {}): Annotation {
  return {
    tenant: undefined,
    traceId: first,
    spanId: undefined,
    name: 'answer_relevance',
    by: 'ann',
    kind: 'human',
    label: undefined,
    score: undefined,
    passed: true,
    explanation: '',
    at: base,
    ...members,
  };
}

/** Whose annotations each of these runs has. */
async function heard(store: Store, ...spans: readonly number[]): Promise<readonly (readonly string[])[]> {
  return Promise.all(spans.map(async (span) => ((await store.run(item(span).run))?.annotations ?? []).map(({ by }) => by)));
}

const everything = { from: 0, to: base * 2, kinds: ['human', 'user', 'evaluator'], limit: 100 } as const;

describe.each(members)('%s', (member) => {
  test('stores: signs that no store keeps become one that it does, in names and in the id', async () => {
    const store = await open(member);
    await store.write([item(1)]);
    const odd = said({ name: 'a\0b', by: 'ann\ud800' });
    expect(await store.annotations.write([odd], base)).toEqual(['attached']);
    expect(await store.annotations.write([{ ...odd, at: odd.at + 1 }], base)).toEqual(['attached']);
    expect(await store.annotations.write([odd], base)).toEqual(['outdated']);
    expect(await store.annotations.remove(annotationId(odd))).toBe(true);
  });

  test('annotations: they are listed with the run, by name and annotator', async () => {
    const store = await open(member);
    await store.write([item(1)]);
    const whole = said({
      spanId: spanId(1),
      tenant: noTenant,
      by: 'bob',
      kind: 'user',
      label: 'down',
      score: 0.25,
      passed: false,
      explanation: 'It was rude.',
      at: base + 7,
    });
    expect(await store.annotations.write([whole, said({ name: 'tone' }), said()], base)).toEqual(['attached', 'attached', 'attached']);
    const { tenant: _tenant, traceId: _trace, spanId: _span, ...told } = whole;
    const found = await store.run(item(1).run);
    expect(found?.annotations.map(({ name, by }) => `${name} ${by}`)).toEqual(['answer_relevance ann', 'answer_relevance bob', 'tone ann']);
    expect(found?.annotations[1]).toEqual({ id: annotationId(whole), ...told });
  });

  test('annotations: for one annotator, run and name the newer one counts, in any order of arrival', async () => {
    const store = await open(member);
    await store.write([item(1)]);
    const labels = async (): Promise<unknown> => (await store.run(item(1).run))?.annotations.map(({ label }) => label);
    expect(await store.annotations.write([said({ label: 'b', at: base + 2 })], base)).toEqual(['attached']);
    expect(await store.annotations.write([said({ label: 'a', at: base + 1 })], base)).toEqual(['outdated']);
    expect(await labels()).toEqual(['b']);
    // The run named in another way is still the same run.
    expect(await store.annotations.write([said({ label: 'older', at: base + 1, spanId: spanId(1), tenant: noTenant })], base)).toEqual([
      'outdated',
    ]);
    expect(await store.annotations.write([said({ label: 'c', at: base + 3, spanId: spanId(1) })], base)).toEqual(['attached']);
    expect(await labels()).toEqual(['c']);
    expect(await store.annotations.write([said({ label: 'd', at: base + 3, spanId: spanId(1) })], base + 1)).toEqual(['attached']);
    expect(await store.annotations.write([said({ label: 'e', at: base + 5 }), said({ label: 'f', at: base + 4 })], base)).toEqual([
      'attached',
      'outdated',
    ]);
    expect(await labels()).toEqual(['e']);
  });

  test('annotations: those of a tool call are beside those of the run, one for each call, and are compared with the verdict on that call', async () => {
    const store = await open(member);
    const parts = [
      { index: 0, tool: 't', spanId: spanId(5), callId: 'call_a', score: 1, passed: true, explanation: 'e' },
      { index: 1, tool: 't', spanId: spanId(6), score: 0, passed: false, explanation: 'e' },
    ];
    const own = scoredRun({ answer_relevance: scored(0.5, { parts }), tone: scored(1) }, item(1).run, { evaluatorKind: 'judge' });
    await store.write([own]);
    const on = (toolCall: string, more: Partial<Annotation> = {}): Annotation => said({ toolCall, ...more });
    expect(
      await store.annotations.write(
        [
          said(),
          on(spanId(5)),
          on('call_a', { by: 'bob' }),
          on(spanId(6), { passed: false }),
          on('elsewhere'),
          on(spanId(5), { name: 'tone' }),
        ],
        base,
      ),
    ).toEqual(Array.from({ length: 6 }, () => 'attached'));
    // The newer word on a call takes the place of the older one, and of no other.
    expect(
      await store.annotations.write([on(spanId(5), { at: base + 1, explanation: 'newer' }), on(spanId(6), { at: base - 1 })], base),
    ).toEqual(['attached', 'outdated']);
    const kept = (await store.run(own.run))?.annotations ?? [];
    expect(kept.map(({ name, by, toolCall = '' }) => `${name} ${by} ${toolCall}`)).toEqual([
      'answer_relevance ann ',
      `answer_relevance ann ${spanId(5)}`,
      `answer_relevance ann ${spanId(6)}`,
      'answer_relevance ann elsewhere',
      'answer_relevance bob call_a',
      `tone ann ${spanId(5)}`,
    ]);
    expect(new Set(kept.map(({ id }) => id)).size).toBe(6);
    const rows = (await store.annotations.onRuns(everything)).map(
      ({ annotation, verdict, part }) =>
        `${annotation.name} ${annotation.by} ${annotation.toolCall ?? 'run'}: ${part ?? '-'} ${verdict?.word ?? 'none'}`,
    );
    expect(rows).toEqual([
      'answer_relevance ann run: - pass',
      `answer_relevance ann ${spanId(5)}: 0 pass`,
      `answer_relevance ann ${spanId(6)}: 1 fail`,
      'answer_relevance ann elsewhere: - none',
      'answer_relevance bob call_a: 0 pass',
      `tone ann ${spanId(5)}: - none`,
    ]);
    expect(await store.annotations.remove(kept[1]?.id ?? '')).toBe(true);
    expect(await store.run(own.run)).toMatchObject({ annotations: { length: 5 } });
  });

  test('annotations: what is taken back is gone from its run and from what figures are made of, and nothing else is', async () => {
    const store = await open(member);
    await store.write([item(1)]);
    await store.annotations.write(
      [said(), said({ by: 'bob' }), said({ name: 'tone', spanId: spanId(1), tenant: noTenant }), said({ traceId: traceId(2) })],
      base,
    );
    const ids = (await store.run(item(1).run))?.annotations.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(3);
    expect(await store.annotations.remove(ids[0] ?? '')).toBe(true);
    expect(await store.annotations.remove(ids[0] ?? '')).toBe(false);
    expect(await store.annotations.remove(annotationId(said({ traceId: traceId(2) })))).toBe(true);
    expect(await store.annotations.remove('7')).toBe(false);
    expect(await heard(store, 1)).toEqual([['bob', 'ann']]);
    expect((await store.annotations.onRuns(everything)).map(({ annotation }) => `${annotation.name} ${annotation.by}`)).toEqual([
      'answer_relevance bob',
      'tone ann',
    ]);
    expect(await store.annotations.waiting()).toBe(0);
    // Said once more it is there once more, by the same id.
    expect(await store.annotations.write([said()], base)).toEqual(['attached']);
    expect((await store.run(item(1).run))?.annotations[0]?.id).toBe(ids[0]);
  });

  test('annotations: what comes before its run waits for it, and goes when it has waited for too long', async () => {
    const store = await open(member);
    expect(await store.annotations.write([said(), said({ by: 'bob', spanId: spanId(1) })], base)).toEqual(['waiting', 'waiting']);
    expect(await store.annotations.write([said({ by: 'cid', spanId: spanId(9) }), said({ traceId: traceId(2) })], base + 1)).toEqual([
      'waiting',
      'waiting',
    ]);
    expect(await store.annotations.waiting()).toBe(4);
    await store.write([item(1)]);
    expect(await heard(store, 1)).toEqual([['ann', 'bob']]);
    expect(await store.annotations.expire({ before: base + 1, limit: 10 })).toBe(0);
    expect(await store.annotations.expire({ before: base + 2, limit: 1 })).toBe(1);
    expect(await store.annotations.expire({ before: base + 2, limit: 10 })).toBe(1);
    expect([await store.annotations.waiting(), await heard(store, 1)]).toEqual([0, [['ann', 'bob']]]);
  });

  test('annotations: without a span they are about the outermost run, also when that one comes last', async () => {
    const store = await open(member);
    await store.write([item(2, { from: 3, to: 5 })]);
    expect(
      await store.annotations.write(
        [said(), said({ by: 'bob', spanId: spanId(2) }), said({ by: 'near', spanId: spanId(7), isNear: true })],
        base,
      ),
    ).toEqual(['attached', 'attached', 'attached']);
    expect(await heard(store, 2)).toEqual([['ann', 'bob', 'near']]);
    await store.write([item(1, { from: 0, to: 9 })]);
    expect(await heard(store, 1, 2)).toEqual([['ann', 'near'], ['bob']]);
    await store.write([item(7, { from: 4, to: 5 })]);
    expect(await heard(store, 1, 2, 7)).toEqual([['ann'], ['bob'], ['near']]);
    // Said of both in the same way: of the outermost run that is the second time.
    expect(await store.annotations.write([said({ at: base + 1, spanId: spanId(1) })], base)).toEqual(['attached']);
    expect(await heard(store, 1, 2, 7)).toEqual([['ann'], ['bob'], ['near']]);
  });

  test('annotations: a run that turned out to be part of another one of its trace leaves them to that one', async () => {
    const store = await open(member);
    await store.write([item(2, { from: 0 })]);
    await store.annotations.write([said()], base);
    await store.write([item(1, { from: 1 }), item(2, { from: 0, partOf: item(1).run })]);
    expect(await heard(store, 1, 2)).toEqual([['ann'], []]);
  });

  test('annotations: tenants are apart, and who names none means the one that the trace belongs to', async () => {
    const store = await open(member);
    const team = tenant('team');
    await store.write([item(1, { of: team })]);
    expect(
      await store.annotations.write(
        [said({ by: 'any' }), said({ by: 'team', tenant: team }), said({ by: 'none', tenant: noTenant })],
        base,
      ),
    ).toEqual(['attached', 'attached', 'waiting']);
    expect((await store.run(item(1, { of: team }).run))?.annotations.map(({ by }) => by)).toEqual(['any', 'team']);
  });

  test('annotations: a trace takes a bounded number, and more are refused and keep none out', async () => {
    const store = await open(member);
    const many = Array.from({ length: annotationsPerTraceMax }, (_, at) => said({ by: `annotator ${at}` }));
    expect(new Set(await store.annotations.write(many, base))).toEqual(new Set(['waiting']));
    expect(await store.annotations.write([said({ by: 'late' }), said({ traceId: traceId(2) })], base)).toEqual(['too_many', 'waiting']);
  });

  test('annotations: runs are listed by whether they are annotated', async () => {
    const store = await open(member);
    const [one, other] = [item(1), item(1, { trace: traceId(2), from: 5 })];
    await store.write([one, other]);
    await store.annotations.write([said()], base);
    const listed = async (annotated: boolean, more = {}): Promise<unknown> =>
      (await store.runs({ limit: 10, annotated, ...more })).runs.map((row) => row.traceId);
    expect([await listed(true), await listed(false)]).toEqual([[first], [traceId(2)]]);
    expect([
      await listed(true, { evaluator: 'answer_relevance' }),
      await listed(true, { evaluator: 'other' }),
      await listed(false, { evaluator: 'answer_relevance' }),
    ]).toEqual([[first], [], [traceId(2)]]);
  });

  test('annotations: they go with their run', async () => {
    const store = await open(member);
    await store.write([item(1), item(1, { trace: traceId(2), from: 5 })]);
    await store.annotations.write([said(), said({ traceId: traceId(2) })], base);
    await store.prune(retention({ runsBefore: base + second, stepRuns: 10 }));
    expect(await store.annotations.waiting()).toBe(0);
    expect((await store.annotations.onRuns(everything)).map((row) => row.traceId)).toEqual([traceId(2)]);
    await store.write([item(1)]);
    expect(await heard(store, 1)).toEqual([[]]);
  });

  test('annotations: each is listed beside the verdict of its name, newest run first', async () => {
    const store = await open(member);
    await store.write([item(1), item(1, { trace: traceId(2), from: 5 })]);
    await store.annotations.write(
      [said({ by: 'bob', kind: 'user', passed: false }), said({ name: 'tone' }), said({ traceId: traceId(2) })],
      base,
    );
    const verdict = {
      evaluator: 'answer_relevance',
      kind: 'judge',
      version: 3,
      model: 'gpt',
      word: 'fail',
      label: 'fail',
      sampleProbability: 0.25,
    };
    const rows = await store.annotations.onRuns(everything);
    expect(rows.map((row) => [row.traceId, row.annotation.name, row.annotation.by, row.verdict])).toEqual([
      [traceId(2), 'answer_relevance', 'ann', verdict],
      [first, 'answer_relevance', 'bob', verdict],
      [first, 'tone', 'ann', undefined],
    ]);
    const few = async (query: object): Promise<number> => (await store.annotations.onRuns({ ...everything, ...query })).length;
    expect(
      await Promise.all(
        [
          { limit: 2 },
          { name: 'tone' },
          { kinds: ['user'] },
          { agent: 'agent 1' },
          { agent: 'agent 2' },
          { from: base + second },
          { to: base + second },
        ].map(few),
      ),
    ).toEqual([2, 1, 1, 3, 0, 1, 2]);
  });
});

test('annotations: a bounded number may wait for their run, and those that expire make room again', async () => {
  const store = await memoryStore();
  const waits = (trace: number): Annotation => said({ traceId: traceId(trace) });
  const batch = 1_000;
  for (let from = 0; from < annotationsWaitingMax - 1; from += batch) {
    const some = Array.from({ length: Math.min(batch, annotationsWaitingMax - 1 - from) }, (_, at) => waits(10 + from + at));
    expect(new Set(await store.annotations.write(some, base))).toEqual(new Set(['waiting']));
  }
  await store.write([item(1)]);
  expect(await store.annotations.write([waits(2), waits(3), said(), waits(4)], base + 1)).toEqual(['waiting', 'full', 'attached', 'full']);
  expect(await store.annotations.expire({ before: base + 1, limit: 3 })).toBe(3);
  expect(await store.annotations.write([waits(3), said({ by: 'cid' })], base + 1)).toEqual(['waiting', 'attached']);
});

test('annotations: a copy of the file has them', async () => {
  const at = `${folder()}/copy.db`;
  const store = await open('sqlite in a file');
  await store.write([item(1)]);
  await store.annotations.write([said(), said({ traceId: traceId(2) })], base);
  await store.backup(at);
  const copy = closedLater(await sqliteStore(at));
  expect([await heard(copy, 1), await copy.annotations.waiting()]).toEqual([[['ann']], 1]);
});

/** Few ids, so that they meet. */
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('run' as const), span: fc.integer({ min: 1, max: 3 }), from: fc.nat(3), team: fc.boolean() }),
  fc.record({
    kind: fc.constant('said' as const),
    span: fc.constantFrom(undefined, 1, 2),
    near: fc.boolean(),
    by: fc.constantFrom('a', 'b'),
    at: fc.nat(3),
    of: fc.constantFrom(undefined, '', 'team'),
    label: fc.constantFrom('x', 'y', 'z'),
  }),
);

test('annotations: a store in memory and one in a file are alike after the same steps', async () => {
  const stores = [await memoryStore(), await open('sqlite in a file')];
  let traces = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), async (steps) => {
      const trace = traceId(++traces);
      const told = await Promise.all(
        stores.map(async (store) => {
          const fates: unknown[] = [];
          for (const [nth, step] of steps.entries()) {
            if (step.kind === 'run') await store.write([item(step.span, { trace, from: step.from, of: tenant(step.team ? 'team' : '') })]);
            else
              fates.push(
                await store.annotations.write(
                  [
                    said({
                      traceId: trace,
                      by: step.by,
                      label: step.label,
                      at: base + step.at,
                      tenant: step.of === undefined ? undefined : tenant(step.of),
                      spanId: step.span === undefined ? undefined : spanId(step.span),
                      ...(step.near && step.span !== undefined ? { isNear: true } : {}),
                    }),
                  ],
                  base + nth,
                ),
              );
          }
          return {
            fates,
            rows: (await store.annotations.onRuns({ ...everything, limit: 1_000_000 })).filter((row) => row.traceId === trace),
            waiting: await store.annotations.waiting(),
          };
        }),
      );
      expect(told[1]).toEqual(told[0]);
    }),
    { numRuns: propertyRuns({ short: 20, long: 200 }) },
  );
});
