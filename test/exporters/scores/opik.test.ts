import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { opik } from '../../../src/exporters/scores/opik.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { nativeServer, traceAt, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Score {
  readonly id?: string;
  readonly thread_id?: string;
  readonly project_name: string;
  readonly name: string;
  readonly category_name?: string;
  readonly value: number;
  readonly reason?: string;
  readonly source: string;
}

/** The first span of each trace, as Opik saw it: some time before the end of the run. */
const startMs = 1_700_000_000_000;

/** As Opik does it: 48 bits of time, then 80 bits of a hash of the id, in which version and variant are written over. */
function opikId(hex: string, ms: number): string {
  const bytes = Buffer.concat([
    Buffer.from(ms.toString(16).padStart(12, '0'), 'hex'),
    Buffer.from(hash('sha256', Buffer.from(hex, 'hex'), 'hex'), 'hex').subarray(0, 10),
  ]);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const places = new Map([
  ...[0xa1, 0xb1].map((number) => [opikId(spanId(number), startMs), `span ${spanId(number)}`] as const),
  ...[run().traceId, ...Array.from({ length: 20 }, (_, at) => (0x100 + at).toString(16).padStart(32, '0'))].map(
    (id) => [opikId(id, startMs), traceAt(id)] as const,
  ),
]);
const traces = [...places].filter(([, at]) => at.startsWith('trace')).map(([id]) => id);

/** As its API and the types of its client have it. */
function rules(threads: 'open' | 'closed' = 'closed'): NativeRules {
  const kept = new Map<string, ShownScore>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      if (method === 'GET' && path === '/v1/private/projects?size=1') return { status: 200, body: { content: [] } };
      if (method === 'GET' && pathname === '/v1/private/traces') {
        const [filter] = JSON.parse(searchParams.get('filters') ?? '[]') as readonly {
          readonly field: string;
          readonly operator: string;
          readonly value: string;
        }[];
        const isIn = Date.parse(searchParams.get('from_time') ?? '') <= startMs && startMs < Date.parse(searchParams.get('to_time') ?? '');
        const found =
          this.hasSpans &&
          isIn &&
          filter?.field === 'id' &&
          filter.operator === 'ends_with' &&
          searchParams.get('project_name') === 'travel'
            ? traces.filter((id) => id.endsWith(filter.value))
            : [];
        return { status: 200, body: { page: 1, size: 1, total: found.length, content: found.map((id) => ({ id })) } };
      }
      const [, kind, gone] = /^\/v1\/private\/(traces|spans)\/([\w-]{36})\/feedback-scores\/delete$/.exec(path) ?? [];
      if (method === 'POST' && kind !== undefined && gone !== undefined) {
        kept.delete(`${gone} ${(body as { readonly name: string }).name}`);
        return { status: 204 };
      }
      if (method !== 'PUT' || !/^\/v1\/private\/(traces|spans|traces\/threads)\/feedback-scores$/.test(path)) return { status: 404 };
      if (path.includes('threads') && threads === 'open') return { status: 409 };
      const { scores } = body as { readonly scores: readonly Score[] };
      if (
        scores.length > 1000 ||
        !scores.every((score) => score.source === 'sdk' && score.project_name === 'travel' && typeof score.value === 'number')
      )
        return { status: 400 };
      for (const { id = '', thread_id: thread, name, category_name: label, value: score, reason } of scores) {
        const at = thread === undefined ? (places.get(id) ?? `unknown ${id}`) : `session ${thread}`;
        kept.set(`${thread ?? id} ${name}`, {
          name,
          at,
          score,
          ...(label === undefined ? {} : { label }),
          ...(reason === undefined ? {} : { explanation: reason }),
        });
      }
      return { status: 204 };
    },
    scores: () => [...kept.values()],
  };
}

const verdict = { name: 'tool_error', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };

nativeSuite({
  backend: opik,
  rules,
  keys: { api_key: 'k-1', workspace: 'w-1', project: 'travel' },
  auth: { authorization: 'k-1', 'comet-workspace': 'w-1' },
  shown: { outermost: [{ ...verdict, at: 'trace' }, part], called: [{ ...verdict, at: 'span 00000000000000a1' }, part] },
  failed: [],
  withdrawn: [],
  session: [{ ...verdict, at: 'session s-1' }],
  looksForSpans: true,
  scoresMax: 500,
  scoresIn: ({ body }) => (body as { readonly scores?: readonly unknown[] } | undefined)?.scores?.length ?? 0,
});

test('opik: of several calls on one span the worst is there', async () => {
  const own = rules();
  own.hasSpans = true;
  const server = await nativeServer(own);
  const exporter = scoreApiExporter(opik)({ endpoint: server.url, keys: { project: 'travel' } });
  const parts = [0.5, 0, 1].map((score, index) => ({
    index,
    tool: 'search',
    spanId: spanId(0xb1),
    score,
    passed: score > 0,
    explanation: `It is ${score}.`,
  }));
  expect(await exporter.send(scoredRun({ tool_error: scored(0.5, { parts }) }))).toEqual({ kind: 'sent' });
  expect(
    own
      .scores()
      .filter(({ at }) => at === part.at)
      .map(({ score }) => score),
  ).toEqual([0]);
  await exporter.stop();
  await server.close();
});

test('opik: a thread that is not ready waits', async () => {
  const server = await nativeServer(rules('open'));
  const exporter = scoreApiExporter(opik)({ endpoint: server.url, keys: { project: 'travel' } });
  const of = run({ trace: { ...run().trace, sessionId: 's-1' } });
  const key = { tenant: of.tenant, targetKind: 'session', targetId: 's-1', name: 'tool_error' } as const;
  expect(await exporter.send(scoredRun({ tool_error: scored(1) }, of, { key }))).toMatchObject({
    kind: 'failed',
    retryable: true,
    isMissing: true,
  });
  await exporter.stop();
  await server.close();
});

test('opik: of runs that go together only those wait whose traces are not there', async () => {
  const own = rules();
  own.hasSpans = true;
  const server = await nativeServer(own);
  const exporter = scoreApiExporter(opik)({ endpoint: server.url, keys: { project: 'travel' } });
  const outcomes = await Promise.all(
    [0x100, 0xfff, 0x101].map((number) => exporter.send(scoredRun({ tool_error: scored(1) }, run({ traceId: traceId(number) })))),
  );
  expect(outcomes).toEqual([
    { kind: 'sent' },
    { kind: 'failed', retryable: true, isMissing: true, error: 'its trace is not there' },
    { kind: 'sent' },
  ]);
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'PUT']);
  await exporter.stop();
  await server.close();
});
