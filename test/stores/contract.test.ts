/** The contract of every store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run, RunStatus } from '../../src/model/agent-trace.ts';
import { noTenant } from '../../src/model/ids.ts';
import { runJson } from '../../src/model/run-json.ts';
import { slimItem } from '../../src/stores/blob-codec.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { piecesPerTraceMax, type RunQuery, type SpanPiece, type Store, type StoreItem } from '../../src/model/store/store.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { retention } from '../builders/retention.ts';
import { failed, scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { members, open } from './members.ts';
import { base, nth, numbers, piece, secondMicros, traceId } from './numbered.ts';

const all: RunQuery = { limit: 200 };

describe.each(members)('%s', (member) => {
  test('stores: a run is read back whole', async () => {
    const store = await open(member);
    const trace = agentTrace({
      agent: 'travel-agent',
      input: 'A trip',
      sessionId: 's1',
      userId: 'u1',
      model: 'gpt',
      toolCalls: [call({ name: 'book', arguments: { id: 1234567890123456789n } })],
    });
    const given = nth(1, { trace, serviceVersion: '2', resourceAttributes: { 'deployment.environment.name': 'production' } });
    const part = { index: 0, tool: 'book', score: 0, passed: false, explanation: 'It failed.' };
    await store.write([
      {
        ...scoredRun(
          {
            tool_error: scored(0.25, { parts: [part], evidence: [spanId(7)], details: { failed: 1 } }),
            tool_efficiency: skipped,
            judge: failed('timed_out'),
          },
          given,
        ),
        decisions: [
          { name: 'tool_error', evaluator: 'tool_error', evaluatorKind: 'rule', decision: 'scored' },
          { name: 'judge', evaluator: 'judge', evaluatorKind: 'judge', decision: 'sampled_out' },
        ],
      },
    ]);
    const found = await store.run(given);
    expect(found).toMatchObject({
      agent: 'travel-agent',
      service: 'travel',
      version: '2',
      sessionId: 's1',
      userId: 'u1',
      environment: 'production',
      model: 'gpt',
      startedAt: base + secondMicros,
      endedAt: base + 3 * secondMicros,
      completeness: 'complete',
      status: 'ok',
      revision: 1,
      content: runJson(trace, given),
      decisions: [
        { name: 'judge', decision: 'sampled_out', reason: undefined },
        { name: 'tool_error', decision: 'scored' },
      ],
      verdicts: [
        { name: 'judge', verdict: 'error', score: undefined, reason: 'timed_out' },
        { name: 'tool_efficiency', verdict: 'skipped', reason: 'no_tool_calls' },
        {
          name: 'tool_error',
          verdict: 'fail',
          score: 0.25,
          label: 'fail',
          evidence: [spanId(7)],
          details: { failed: 1, parts: [{ ...part, call_id: null, span_id: null }] },
        },
      ],
    });
    expect(await store.run({ ...given, spanId: spanId(0xff) })).toBeUndefined();
  });

  test('stores: what a revision changed is kept', async () => {
    const store = await open(member);
    const [first, second] = [
      nth(1, { completeness: 'partial', trace: agentTrace({ toolCalls: [call({ name: 'find' })] }) }),
      nth(1, { revision: 2, trace: agentTrace({ toolCalls: [call({ name: 'find' }), call({ name: 'find' })] }) }),
    ];
    await store.write([scoredRun({ a: scored(1), b: scored(1) }, first)]);
    expect((await store.run(first))?.revisions).toBeUndefined();
    await store.write([scoredRun({ a: scored(0), b: scored(1) }, second)]);
    await store.write([scoredRun({ a: scored(1) }, first)]);
    expect((await store.run(first))?.revisions).toEqual([
      {
        revision: 2,
        changes: [
          { of: 'completeness', before: 'partial', after: 'complete' },
          { of: 'tool_calls', name: 'find', before: 1, after: 2 },
          { of: 'verdict', name: 'a', before: 'pass', after: 'fail' },
        ],
      },
    ]);
  });

  test('stores: a later revision replaces a run and its verdicts, an earlier one does not', async () => {
    const store = await open(member);
    const [first, second] = [nth(1, { completeness: 'partial' }), nth(1, { revision: 2 })];
    await store.write([scoredRun({ a: scored(0), b: scored(0) }, first)]);
    await store.write([scoredRun({ a: scored(1) }, second), scoredRun({ c: scored(1) }, first)]);
    await store.write([scoredRun({ a: scored(0), b: scored(1) }, first)]);
    const found = await store.run(first);
    expect(found).toMatchObject({ revision: 2, completeness: 'complete', content: { revision: 2 } });
    expect(found?.verdicts.map(({ name, revision, verdict }) => `${name}${revision} ${verdict}`)).toEqual([
      'a2 pass',
      'b1 fail',
      'c1 pass',
    ]);
  });

  test('stores: a process that scores a stored run from spans that came again changes nothing, and a judge may speak again', async () => {
    const store = await open(member);
    const [whole, rest] = [nth(1, { trace: agentTrace({ toolCalls: [call({ name: 'find' })] }) }), nth(1, { trace: agentTrace() })];
    const decided = (decision: 'scored' | 'skipped') => ({
      decisions: [{ name: 'tool_error', evaluator: 'tool_error', evaluatorKind: 'rule' as const, decision }],
    });
    await store.write([{ ...scoredRun({ tool_error: scored(0) }, whole), ...decided('scored') }]);
    await store.write([scoredRun({ judged: failed() }, whole, { evaluatorKind: 'judge' })]);
    await store.write([{ ...scoredRun({ tool_error: skipped }, rest), ...decided('skipped') }]);
    await store.write([scoredRun({ judged: scored(1) }, whole, { evaluatorKind: 'judge' })]);
    const found = await store.run(whole);
    expect(found?.verdicts.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual(['judged pass', 'tool_error fail']);
    expect(found?.decisions.map(({ name, decision }) => `${name} ${decision}`)).toEqual(['tool_error scored']);
  });

  test('stores: a run that turns out to be part of another one is in no list, and names it', async () => {
    const store = await open(member);
    const [part, whole] = [nth(1, { trace: agentTrace({ toolCalls: [call({ name: 'find' })] }) }), nth(2)];
    await store.write([scoredRun({ a: scored(0) }, part), scoredRun({ a: scored(1) }, whole)]);
    await store.write([scoredRun({}, { ...part, revision: 2, trace: agentTrace(), partOf: whole })]);
    await store.write([scoredRun({ judge: scored(1) }, part)]);
    expect(numbers(await store.runs(all))).toEqual([2]);
    expect(numbers(await store.runs({ ...all, evaluator: 'a' }))).toEqual([2]);
    expect(await store.run(part)).toMatchObject({ partOf: `${whole.traceId}/${whole.spanId}`, verdicts: [], decisions: [] });
    expect(
      (await store.summary({ from: 0, to: base * 2, bucketMicros: base * 2 })).map(({ name, verdict }) => `${name} ${verdict}`),
    ).toEqual(['a pass']);
    expect(await store.tools({ from: 0, to: base * 2 })).toEqual([]);
  });

  test('stores: the usage counts runs and bytes, and names the oldest run', async () => {
    const store = await open(member);
    expect(await store.usage()).toMatchObject({ runs: 0, oldestAt: undefined });
    await store.write([3, 1, 2].map((at) => scoredRun({ a: scored(1) }, nth(at))));
    const { runs, oldestAt, bytes } = await store.usage();
    expect([runs, oldestAt]).toEqual([3, base + secondMicros]);
    expect(bytes).toBeGreaterThan(0);
  });

  test('stores: a run at the end of time is listed, and hides no other one', async () => {
    const store = await open(member);
    const endOfTime = 18_446_744_073_709_551_615n;
    const toolCalls = [call({ name: 'book', startUnixNano: 0n, endUnixNano: endOfTime })];
    await store.write([
      scoredRun({ tool_error: scored(1) }, nth(1)),
      scoredRun({ tool_error: scored(0) }, nth(2, { trace: agentTrace({ toolCalls }), startUnixNano: endOfTime, endUnixNano: endOfTime })),
    ]);
    const last = Number.MAX_SAFE_INTEGER;
    expect((await store.runs(all)).runs.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [last, last],
      [base + secondMicros, base + 3 * secondMicros],
    ]);
    expect(await store.run(nth(2))).toMatchObject({ startedAt: last, verdicts: [{ name: 'tool_error' }] });
    expect(await store.tools({ from: 0, to: Infinity })).toMatchObject([{ name: 'book', tookMicros: last }]);
    expect(await store.summary({ from: 0, to: Infinity, bucketMicros: secondMicros })).toHaveLength(2);
  });

  test('stores: filters hold together, newest first', async () => {
    const store = await open(member);
    const agents = ['x', 'y'] as const;
    const ends = new Map<number, RunStatus>([
      [2, 'error'],
      [4, 'paused'],
      [6, 'error'],
    ]);
    await store.write(
      Array.from({ length: 8 }, (_, at) =>
        scoredRun(
          { a: scored(at % 2), ...(at < 4 ? { b: skipped } : {}) },
          nth(at, {
            trace: agentTrace({
              agent: agents[at % 4 < 2 ? 0 : 1],
              sessionId: `s${at % 3}`,
              status: ends.get(at) ?? 'ok',
              ...(at < 5 ? { userId: `u${at % 2}` } : {}),
            }),
            service: at < 6 ? 'one' : 'two',
            ...(at < 3 ? { resourceAttributes: { 'deployment.environment': 'staging' } } : {}),
          }),
        ),
      ),
    );
    const found = async (filter: Partial<RunQuery>): Promise<readonly number[]> => numbers(await store.runs({ ...all, ...filter }));
    expect(await found({})).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await found({ agent: 'x' })).toEqual([5, 4, 1, 0]);
    expect(await found({ service: 'two' })).toEqual([7, 6]);
    expect(await found({ sessionId: 's1' })).toEqual([7, 4, 1]);
    expect(await found({ userId: 'u0' })).toEqual([4, 2, 0]);
    expect(await found({ userId: 'u1', agent: 'y' })).toEqual([3]);
    expect(await found({ environment: 'staging', sessionId: 's1' })).toEqual([1]);
    expect(await found({ evaluator: 'a', verdict: 'fail' })).toEqual([6, 4, 2, 0]);
    expect(await found({ evaluator: 'a', verdict: 'fail', agent: 'x' })).toEqual([4, 0]);
    expect(await found({ verdict: 'skipped' })).toEqual([3, 2, 1, 0]);
    expect(await found({ evaluator: 'b' })).toEqual([3, 2, 1, 0]);
    expect(await found({ verdict: 'pass', from: base + 3 * secondMicros, to: base + 7 * secondMicros })).toEqual([5, 3]);
    expect(await found({ evaluator: 'a', verdict: 'raw' })).toEqual([]);
    expect(await found({ traceId: traceId(3) })).toEqual([2]);
    expect(await found({ status: 'error' })).toEqual([6, 2]);
    expect(await found({ status: 'paused' })).toEqual([4]);
    expect(await found({ status: 'ok' })).toEqual([7, 5, 3, 1, 0]);
    expect(await found({ status: 'error', agent: 'y', from: base + 3 * secondMicros })).toEqual([6]);
    expect(await found({ status: 'paused', sessionId: 's1', verdict: 'fail' })).toEqual([4]);
    expect(await found({ status: 'error', verdict: 'pass' })).toEqual([]);
  });

  test.each([{}, { verdict: 'pass' }, { evaluator: 'a' }] as const)('stores: pages of %j survive what comes in between', async (filter) => {
    const store = await open(member);
    const verdicts = { a: scored(1), b: scored(1) };
    // Two runs start at the same moment.
    await store.write([0, 1, 2, 2.5, 3, 4].map((at) => scoredRun(verdicts, nth(Math.floor(at), at === 2.5 ? { spanId: spanId(9) } : {}))));
    const seen: number[] = [];
    let after: RunQuery['after'];
    for (let pages = 0; pages < 10; pages++) {
      const page = await store.runs({ ...filter, limit: 2, ...(after === undefined ? {} : { after }) });
      seen.push(...numbers(page));
      await store.write([scoredRun(verdicts, nth(10 + pages))]);
      after = page.next;
      if (after === undefined) break;
    }
    expect(seen).toEqual([4, 3, 2, 2, 1, 0]);
  });

  test('stores: tenants share nothing', async () => {
    const store = await open(member);
    const [one, other] = [nth(1), nth(1, { tenant: 'team' as Run['tenant'] })];
    await store.write([scoredRun({ a: scored(1) }, one), scoredRun({ a: scored(0) }, other)]);
    expect((await store.run(one))?.verdicts[0]?.score).toBe(1);
    expect((await store.runs({ ...all, tenant: other.tenant })).runs.map(({ tenant }) => tenant)).toEqual(['team']);
  });

  test('stores: verdicts are summed by time and evaluator', async () => {
    const store = await open(member);
    await store.write(
      [0, 1, 5, 12].map((at) => scoredRun({ a: scored(at === 5 ? 0.75 : at === 1 ? 0 : 1), ...(at === 0 ? { b: skipped } : {}) }, nth(at))),
    );
    const ten = 10 * secondMicros;
    expect(await store.summary({ from: base, to: base + ten * 10, bucketMicros: ten })).toEqual([
      { at: base, name: 'a', verdict: 'fail', count: 1, score: 0 },
      { at: base, name: 'a', verdict: 'pass', count: 2, score: 0.875 },
      { at: base, name: 'b', verdict: 'skipped', count: 1, score: undefined },
      { at: base + ten, name: 'a', verdict: 'pass', count: 1, score: 1 },
    ]);
    expect(await store.summary({ from: base, to: base + ten, bucketMicros: ten, evaluator: 'b', agent: 'travel-agent' })).toHaveLength(1);
  });

  test('stores: tools are counted once, over all revisions', async () => {
    const store = await open(member);
    const error = { message: 'no', sign: 'is_error' } as const;
    const times = { startUnixNano: 1_000n, endUnixNano: 5_000n };
    const first = nth(1, { trace: agentTrace({ agent: 'x', toolCalls: [call({ name: 'find' })] }) });
    const second = nth(1, {
      revision: 2,
      trace: agentTrace({
        agent: 'x',
        toolCalls: [call({ name: 'find', ...times }), call({ name: 'find', error }), call({ name: 'book', executed: false })],
      }),
    });
    await store.write([scoredRun({}, first)]);
    await store.write([scoredRun({}, second)]);
    expect((await store.tools({ from: 0, to: base * 2 })).map(({ times: took, ...row }) => ({ ...row, timed: took.count }))).toEqual([
      { agent: 'x', name: 'find', calls: 2, errors: 1, notExecuted: 0, tookMicros: 4, timed: 1, argumentFailures: [] },
      { agent: 'x', name: 'book', calls: 1, errors: 0, notExecuted: 1, tookMicros: undefined, timed: 0, argumentFailures: [] },
    ]);
    expect(await store.tools({ from: 0, to: base * 2, agent: 'y' })).toEqual([]);
  });

  test('stores: a run without its content has the reason, and a later revision may bring it', async () => {
    const store = await open(member);
    const [kept, out] = [nth(1), nth(2)];
    await store.write([
      scoredRun({ a: scored(1) }, kept),
      { ...scoredRun({ a: scored(1) }, out), withoutContent: 'sampled_out' },
      { ...scoredRun({}, nth(3)), withoutContent: 'switched_off' },
      { ...scoredRun({ a: scored(1) }, nth(4)), withoutContent: 'overload' },
    ]);
    // A judge that comes later does not decide about the content.
    await store.write([{ ...scoredRun({ judge: scored(1) }, kept), withoutContent: 'sampled_out' }, scoredRun({ judge: scored(1) }, out)]);
    const told = async (of: Run) => {
      const { content, contentGone, verdicts } = (await store.run(of)) ?? {};
      return [content !== undefined, contentGone, verdicts?.length];
    };
    expect([await told(kept), await told(out), await told(nth(3)), await told(nth(4))]).toEqual([
      [true, undefined, 2],
      [false, 'sampled_out', 2],
      [false, 'switched_off', 0],
      [false, 'overload', 1],
    ]);
    await store.write([
      scoredRun({ a: scored(0) }, { ...out, revision: 2 }),
      { ...scoredRun({ a: scored(1) }, { ...kept, revision: 2 }), withoutContent: 'sampled_out' },
    ]);
    expect([await told(kept), await told(out)]).toEqual([
      [false, 'sampled_out', 2],
      [true, undefined, 2],
    ]);
    await store.prune(retention({ contentBefore: base * 2, stepRuns: 10 }));
    expect([await told(kept), await told(out)]).toEqual([
      [false, 'sampled_out', 2],
      [false, 'expired', 2],
    ]);
  });

  test('stores: spans are kept by trace, a piece once, and found from a trace that was joined to it', async () => {
    const store = await open(member);
    await store.write([scoredRun({}, nth(1)), scoredRun({}, nth(2)), scoredRun({}, nth(1, { tenant: 'team' as Run['tenant'] }))]);
    const [first, late] = [
      piece(1, { joined: [traceId(3)] }),
      piece(1, { digest: 'late', spans: 1, body: new Uint8Array([4]), isWhole: false, isRedacted: true, joined: [traceId(3)] }),
    ];
    await store.writeSpans([first]);
    await store.writeSpans([first, late, piece(5)]);
    expect(await store.spans(noTenant, traceId(2))).toEqual([first, late]);
    expect(await store.spans(noTenant, traceId(3))).toEqual([first, late]);
    expect([
      (await store.run(nth(1)))?.spans,
      (await store.run(nth(2)))?.spans,
      (await store.run(nth(1, { tenant: 'team' as Run['tenant'] })))?.spans,
    ]).toEqual([4, 4, 0]);
    expect([await store.spans('team' as Run['tenant'], traceId(2)), await store.spans(noTenant, traceId(9))]).toEqual([[], []]);
  });

  test('stores: which traces are known, with their runs', async () => {
    const store = await open(member);
    const team = 'team' as Run['tenant'];
    await store.write([
      scoredRun({}, nth(1)),
      scoredRun({}, nth(1, { spanId: spanId(9), revision: 3, partOf: nth(1) })),
      scoredRun({}, nth(2, { tenant: team })),
    ]);
    await store.writeSpans([piece(1, { joined: [traceId(50)] })]);
    const asked = [2, 3, 50, 60].map((id) => ({ tenant: noTenant, traceId: traceId(id) }));
    expect(await store.known([...asked, { tenant: team, traceId: traceId(3) }])).toEqual([
      {
        tenant: noTenant,
        traceId: traceId(2),
        isJoined: false,
        runs: [
          { spanId: nth(1).spanId, revision: 1, partOf: undefined },
          { spanId: spanId(9), revision: 3, partOf: `${traceId(2)}/${nth(1).spanId}` },
        ],
      },
      { tenant: noTenant, traceId: traceId(50), isJoined: true, runs: [] },
      { tenant: team, traceId: traceId(3), isJoined: false, runs: [{ spanId: nth(2).spanId, revision: 1, partOf: undefined }] },
    ]);
    expect(await store.known([])).toEqual([]);
  });

  test('stores: a bounded number of pieces of one trace is kept', async () => {
    const store = await open(member);
    for (let number = 0; number < piecesPerTraceMax + 5; number++) await store.writeSpans([piece(1, { digest: String(number) })]);
    expect(await store.spans(noTenant, traceId(2))).toHaveLength(piecesPerTraceMax);
    expect((await store.spans(noTenant, traceId(2))).at(-1)?.digest).toBe(String(piecesPerTraceMax - 1));
  });

  test('stores: nothing to write and an empty store are fine', async () => {
    const store = await open(member);
    await store.write([]);
    expect([
      await store.runs(all),
      await store.summary({ from: 0, to: 1, bucketMicros: 1 }),
      await store.tools({ from: 0, to: 1 }),
      await store.decisions(traceId(1)),
    ]).toEqual([{ runs: [], next: undefined }, [], [], []]);
    expect(await store.prune(retention({ runsBefore: 1, contentBefore: 1, exportsBefore: 1, stepRuns: 10 }))).toEqual({
      runs: 0,
      contents: 0,
      spans: 0,
      exports: {},
      jobs: 0,
      more: false,
    });
  });
});

/** Small numbers, so that items meet. */
const anyItem: fc.Arbitrary<StoreItem> = fc
  .record({
    without: fc.constantFrom(undefined, 'sampled_out' as const, 'switched_off' as const, 'overload' as const),
    at: fc.nat(3),
    span: fc.integer({ min: 1, max: 2 }),
    revision: fc.integer({ min: 1, max: 3 }),
    verdicts: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom(scored(1), scored(0.2), skipped, failed('x'))),
    decided: fc.subarray(['a', 'b']),
  })
  .map(({ without, at, span, revision, verdicts, decided }) => ({
    ...(without === undefined ? {} : { withoutContent: without }),
    ...scoredRun(
      verdicts,
      nth(at, {
        spanId: spanId(span),
        revision,
        trace: agentTrace({ agent: `agent ${at % 2}`, toolCalls: [call({ name: `tool ${revision}` })] }),
      }),
    ),
    decisions: decided.map(
      (name) => ({ name, evaluator: name, evaluatorKind: 'rule', decision: revision === 1 ? 'scored' : 'skipped' }) as const,
    ),
  }));

const anyPiece: fc.Arbitrary<SpanPiece> = fc
  .record({ at: fc.nat(3), digest: fc.constantFrom('a', 'b'), spans: fc.nat(9) })
  .map(({ at, ...more }) => piece(at, more));

test('stores: a store with a thread and one without are alike after the same writes, also for items that were made light', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyItem, { maxLength: 4 }), { maxLength: 4 }),
      fc.array(anyPiece, { maxLength: 6 }),
      fc.nat(5),
      fc.boolean(),
      async (batches, pieces, contentUntil, isLight) => {
        const [one, other] = [await openedInMemory(), await sqliteStore(':memory:')];
        for (const batch of batches) {
          await one.write(batch);
          await other.write(isLight ? batch.map(slimItem) : batch);
        }
        const pruned = await Promise.all(
          [one, other].map(async (store) => {
            for (const one of pieces) await store.writeSpans([one]);
            return await store.prune(retention({ runsBefore: base, contentBefore: base + contentUntil * secondMicros, stepRuns: 100 }));
          }),
        );
        expect(pruned[1]).toEqual(pruned[0]);
        const told = async (store: Store) => ({
          runs: await Promise.all(
            [{}, { verdict: 'pass' }, { evaluator: 'b' }, { agent: 'agent 1' }].map(async (filter) =>
              (await store.runs({ ...all, ...filter } as RunQuery)).runs
                .map((row) => ({ ...row, place: `${row.traceId}/${row.spanId}` }))
                .sort((a, b) => (a.place < b.place ? -1 : 1)),
            ),
          ),
          whole: await Promise.all(batches.flat().map(({ run: of }) => store.run(of))),
          spans: await Promise.all([1, 2, 3, 4, 5].map((id) => store.spans(noTenant, traceId(id)))),
          summary: await store.summary({ from: 0, to: base * 2, bucketMicros: secondMicros }),
          tools: await store.tools({ from: 0, to: base * 2 }),
        });
        expect(await told(other)).toEqual(await told(one));
        await Promise.all([one.stop(), other.stop()]);
      },
    ),
    { numRuns: propertyRuns({ short: 2, long: 30 }) },
  );
});
