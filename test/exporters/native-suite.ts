/** Duties of every backend with a score API. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Exporter } from '../../src/exporters/exporter.ts';
import type { ScoreApiBackend, ScoreApiSettings } from '../../src/exporters/scores/score-api-backend.ts';
import { scoreApiExporter } from '../../src/exporters/scores/score-api-exporter.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { evaluation, failed, run, scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';
import { nativeServer, type NativeRules, type NativeServer, type NativeServerRequest, type ShownScore } from './native-server.ts';

export interface NativeSuite {
  readonly backend: ScoreApiBackend;
  readonly rules: () => NativeRules;
  readonly keys: ScoreApiSettings['keys'];
  /** Headers that show who asks. */
  readonly auth: { readonly [name: string]: string };
  /** The scores for a rule's verdict of 0.25, of an outermost run and of one that another agent called, with a part on the span b1. */
  readonly shown: { readonly outermost: readonly ShownScore[]; readonly called: readonly ShownScore[] };
  /** The scores for a failed evaluation, and for one that is withdrawn. */
  readonly failed: readonly ShownScore[];
  readonly withdrawn: readonly ShownScore[];
  /** The scores for a verdict of 0.25 on the session s-1. */
  readonly session: readonly ShownScore[];
  /** It answers by itself that a span is not there; one that takes scores for spans to come never does. */
  readonly looksForSpans: boolean;
  /** Most scores of a request, and how many are in one. */
  readonly scoresMax: number;
  readonly scoresIn: (request: NativeServerRequest) => number;
}

const parts = [
  { index: 0, tool: 'search', callId: 'call_1', spanId: spanId(0xb1), score: 0, passed: false, explanation: 'It failed.' },
  { index: 1, tool: 'nowhere', score: 1, passed: true, explanation: 'No span shows it.' },
];
const first = scoredRun({ tool_error: scored(0.25, { parts }) });
const revised = scoredRun(
  { tool_error: scored(0.75, { parts: [{ ...parts[0], index: 0, tool: 'search', score: 1, passed: true, explanation: 'It worked.' }] }) },
  run({ revision: 2 }),
);

export function nativeSuite(suite: NativeSuite): void {
  const { backend, keys } = suite;
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  async function started(): Promise<{ readonly exporter: Exporter; readonly rules: NativeRules; readonly server: NativeServer }> {
    const rules = suite.rules();
    rules.hasSpans = true;
    const server = await nativeServer(rules);
    const exporter = scoreApiExporter(backend)({ endpoint: `${server.url}/`, keys, timeoutMs: 60_000 }, { sleep: () => Promise.resolve() });
    open.push({ close: () => exporter.stop() }, server);
    return { exporter, rules, server };
  }

  const sorted = (scores: readonly ShownScore[]): readonly ShownScore[] =>
    scores.toSorted((a, b) => `${a.at} ${a.name}`.localeCompare(`${b.at} ${b.name}`));

  describe(backend.id, () => {
    test(`${backend.id}: a verdict stands where it belongs, and its parts on the spans of their tools`, async () => {
      const { exporter, rules, server } = await started();
      expect(await exporter.send(first)).toEqual({ kind: 'sent' });
      expect(sorted(rules.scores())).toEqual(sorted(suite.shown.outermost));
      for (const request of server.requests) expect(request.headers).toMatchObject(suite.auth);
    });

    test(`${backend.id}: the verdict on a run that another agent called is on its own span`, async () => {
      const { exporter, rules } = await started();
      const of = run({ parent: { ...run(), spanId: spanId(0xc1) } });
      expect(await exporter.send(scoredRun({ tool_error: scored(0.25, { parts }) }, of))).toEqual({ kind: 'sent' });
      expect(sorted(rules.scores())).toEqual(sorted(suite.shown.called));
    });

    test(`${backend.id}: the same item again changes nothing, and a revision takes the place of what was there`, async () => {
      const { exporter, rules } = await started();
      await exporter.send(first);
      expect(await exporter.send(first)).toEqual({ kind: 'sent' });
      const before = sorted(rules.scores());
      expect(before).toEqual(sorted(suite.shown.outermost));
      expect(await exporter.send(revised)).toEqual({ kind: 'sent' });
      const after = sorted(rules.scores());
      expect(after.map(({ name, at }) => [name, at])).toEqual(before.map(({ name, at }) => [name, at]));
      expect(new Set(after.flatMap(({ score, at }) => (score === undefined || at === 'span 00000000000000b1' ? [] : [score])))).toContain(
        0.75,
      );
      expect(after.some(({ score }) => score === 0.25)).toBe(false);
    });

    test(`${backend.id}: a verdict that a revision lacks is withdrawn, and one that never was sent is not`, async () => {
      const { exporter, rules } = await started();
      await exporter.send(scoredRun({ tool_error: skipped }));
      expect(rules.scores()).toEqual([]);
      await exporter.send(scoredRun({ tool_error: scored(0.25) }));
      const partOf: Verdict = { kind: 'skipped', reason: 'part_of_another_run', explanation: '', details: {} };
      const of = run({ revision: 2 });
      expect(await exporter.send({ run: of, evaluations: [evaluation('tool_error', partOf, of)], decisions: [] })).toEqual({
        kind: 'sent',
      });
      expect(await exporter.send({ run: of, evaluations: [evaluation('tool_error', partOf, of)], decisions: [] })).toEqual({
        kind: 'sent',
      });
      expect(sorted(rules.scores())).toEqual(sorted(suite.withdrawn));
    });

    test(`${backend.id}: a failed evaluation has no score`, async () => {
      const { exporter, rules } = await started();
      expect(await exporter.send(scoredRun({ tool_error: failed() }))).toEqual({ kind: 'sent' });
      expect(sorted(rules.scores())).toEqual(sorted(suite.failed));
    });

    test(`${backend.id}: a verdict on a session stands with the session, or nowhere`, async () => {
      const { exporter, rules } = await started();
      const of = run({ trace: agentTrace({ agent: 'a', sessionId: 's-1' }) });
      const key = { tenant: of.tenant, targetKind: 'session', targetId: 's-1', name: 'tool_error' } as const;
      expect(await exporter.send(scoredRun({ tool_error: scored(0.25) }, of, { key }))).toEqual({ kind: 'sent' });
      expect(rules.scores()).toEqual(suite.session);
    });

    test(`${backend.id}: several runs at one time are all there`, async () => {
      const { exporter, rules } = await started();
      const runs = Array.from({ length: 20 }, (_, at) =>
        scoredRun(
          { tool_error: scored(0.5) },
          run({ traceId: traceId(0x100 + at), spanId: spanId(0x100 + at), trace: agentTrace({ agent: 'a' }) }),
        ),
      );
      expect(await Promise.all(runs.map((one) => exporter.send(one)))).toEqual(runs.map(() => ({ kind: 'sent' })));
      const places = new Set(suite.shown.outermost.map(({ at }) => at).filter((at) => at !== 'span 00000000000000b1'));
      expect(new Set(rules.scores().map(({ at }) => at)).size).toBe(20 * places.size);
    });

    test(`${backend.id}: no request has more scores than it takes, and all of them arrive`, async () => {
      const { exporter, rules, server } = await started();
      const count = suite.scoresMax === 1 ? 60 : 620;
      const many = Object.fromEntries(Array.from({ length: count }, (_, at) => [`e_${at}`, scored(0.5)]));
      expect(await exporter.send(scoredRun(many))).toEqual({ kind: 'sent' });
      const each = server.requests.map((request) => suite.scoresIn(request));
      expect(Math.max(...each)).toBeLessThanOrEqual(suite.scoresMax);
      expect(each.length).toBeLessThan(suite.scoresMax === 1 ? 2.1 * count : 40);
      expect(new Set(rules.scores().map(({ name }) => name)).size).toBe(count);
    });

    test(`${backend.id}: credentials are tried with one request that changes nothing`, async () => {
      const { exporter, rules, server } = await started();
      expect(await exporter.probe?.()).toEqual({ kind: 'sent' });
      server.next = { status: 401 };
      expect(await exporter.probe?.()).toEqual({
        kind: 'failed',
        retryable: true,
        error: expect.stringMatching(/^status 401: .*api_key is refused$/) as string,
      });
      expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
      expect(server.requests[0]?.headers).toMatchObject(suite.auth);
      expect(rules.scores()).toEqual([]);
    });

    test(`${backend.id}: a dry run lists the requests to an empty backend, and sends none`, async () => {
      const { exporter, rules, server } = await started();
      const plan = await exporter.plan?.([first]);
      expect(server.requests).toEqual([]);
      expect(rules.scores()).toEqual([]);
      await exporter.send(first);
      const same = ({ method, path }: { readonly method: string; readonly path: string }) => [
        method,
        path.split('?')[0]?.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, 'ID'),
      ];
      expect(plan?.map(({ method, url }) => same({ method, path: url.slice(server.url.length) }))).toEqual(server.requests.map(same));
      for (const [at, { headers, body }] of (plan ?? []).entries()) {
        expect(server.requests[at]?.headers).toMatchObject(headers);
        expect(Object.keys((body ?? {}) as object)).toEqual(Object.keys(server.requests[at]?.body ?? {}));
      }
    });

    for (const { status, headers = {}, want } of [
      { status: 429, headers: { 'retry-after': '7' }, want: { kind: 'failed', retryable: true, retryAfterMs: 7_000 } },
      { status: 429, headers: { 'ratelimit-reset': '9' }, want: { kind: 'failed', retryable: true, retryAfterMs: 9_000 } },
      {
        status: 429,
        headers: { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 3_600) },
        want: {
          kind: 'failed',
          retryable: true,
          retryAfterMs: expect.toSatisfy((ms: number) => ms > 3_000_000 && ms <= 3_601_000) as number,
        },
      },
      { status: 503, want: { kind: 'failed', retryable: true } },
      { status: 401, want: { kind: 'failed', retryable: true } },
      { status: 404, want: { kind: 'failed', retryable: true } },
      { status: 302, headers: { location: '/elsewhere' }, want: { kind: 'failed', retryable: true } },
      { status: 400, want: { kind: 'failed', retryable: false } },
      { status: 413, want: { kind: 'failed', retryable: false } },
    ] as const) {
      test(`${backend.id}: ${[status, ...Object.keys(headers)].join(' with ')} is ${want.retryable ? 'about the backend' : 'about the item'}, nothing is repeated at once, and the item may come again`, async () => {
        const { exporter, rules, server } = await started();
        server.next = { status, headers, body: { secret: 'of the backend' } };
        const outcome = await exporter.send(first);
        expect(outcome).toMatchObject(want);
        expect(outcome).not.toHaveProperty('isMissing');
        expect(JSON.stringify(outcome)).not.toContain('secret');
        if (status === 401) expect(outcome).toHaveProperty('error', expect.stringContaining('api_key is refused'));
        expect(server.requests).toHaveLength(1);
        expect(await exporter.send(first)).toEqual({ kind: 'sent' });
        expect(sorted(rules.scores())).toEqual(sorted(suite.shown.outermost));
      });
    }

    for (const body of [{}, [], null, 'ok', { data: 1, trace: 1 }])
      test(`${backend.id}: a backend that answers ${JSON.stringify(body)} to everything breaks nothing`, async () => {
        const server = await nativeServer({ ...suite.rules(), answer: () => ({ status: 200, body }) });
        const exporter = scoreApiExporter(backend)({ endpoint: server.url, keys, timeoutMs: 60_000 }, { sleep: () => Promise.resolve() });
        open.push({ close: () => exporter.stop() }, server);
        const { kind, error = '' } = { error: undefined, ...(await exporter.send(first)) };
        expect([kind === 'sent' || error !== '', server.requests.length > 0]).toEqual([true, true]);
      });

    test(`${backend.id}: spans that are not there yet are ${suite.looksForSpans ? 'distinguished from a backend that fails' : 'none of its business'}`, async () => {
      const { exporter, rules } = await started();
      rules.hasSpans = false;
      const outcome = await exporter.send(first);
      if (suite.looksForSpans) expect(outcome).toMatchObject({ kind: 'failed', retryable: true, isMissing: true });
      else expect(outcome).toEqual({ kind: 'sent' });
      rules.hasSpans = true;
      expect(await exporter.send(first)).toEqual({ kind: 'sent' });
      expect(sorted(rules.scores())).toEqual(sorted(suite.shown.outermost));
    });

    test(`${backend.id}: a long answer is not kept, and an absent backend is a failure that may pass`, async () => {
      const { exporter, server } = await started();
      server.next = { status: 500, body: 'x'.repeat(1_000_000) };
      expect(await exporter.send(first)).toEqual({ kind: 'failed', retryable: true, error: 'status 500' });
      await server.close();
      expect(await exporter.send(first)).toMatchObject({ kind: 'failed', retryable: true });
    });

    test(`${backend.id}: texts are cut and well-formed`, async () => {
      const { exporter, server } = await started();
      await exporter.send(
        scoredRun({
          tool_error: scored(0.25, { explanation: `${'x'.repeat(10_000)}\ud800` }),
          other: scored(0.5, { explanation: 'lone \ud800' }),
        }),
      );
      const text = JSON.stringify(server.requests.map(({ body }) => body));
      expect(text).not.toContain('x'.repeat(5_000));
      expect(text).not.toContain('\\ud800');
    });
  });
}
