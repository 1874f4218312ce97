import { expect, test } from 'vitest';
import { braintrust } from '../../../src/exporters/scores/braintrust.ts';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { nativeServer, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Merge {
  readonly id: string;
  readonly _is_merge: true;
  readonly scores: { readonly [name: string]: number | null };
  readonly metadata: { readonly tracejury: { readonly [name: string]: { readonly label: string; readonly explanation: string } | null } };
}

const projectId = '0190c3d4-0000-7000-8000-0000000000b1';

/** Follows its API reference and the types of its client: rows have ids of the backend and are merged by these. `hidden` are spans that it was never sent. */
function rules(hidden: readonly string[] = []): NativeRules {
  const kept = new Map<string, Merge>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      if (method === 'GET' && pathname === '/v1/project')
        return { status: 200, body: { objects: ['travel', null].includes(searchParams.get('project_name')) ? [{ id: projectId }] : [] } };
      if (method === 'POST' && path === '/btql') {
        const {
          query,
          fmt,
          brainstore_realtime: isNew,
        } = body as { readonly query: string; readonly fmt: string; readonly brainstore_realtime: boolean };
        const [, project, filter] =
          /^SELECT id, span_id FROM project_logs\('([\w-]+)'\) WHERE created >= '[\dTZ:.-]+' AND \((.+)\) LIMIT \d+$/.exec(query) ?? [];
        if (project !== projectId || filter === undefined || fmt !== 'json' || !isNew) return { status: 400 };
        const asked = filter.split(' OR ').map((term) => /^span_id = '([0-9a-f]{16})'$/.exec(term)?.[1] ?? '');
        return {
          status: 200,
          body: { data: this.hasSpans ? asked.filter((id) => !hidden.includes(id)).map((id) => ({ id: `row-${id}`, span_id: id })) : [] },
        };
      }
      if (method !== 'POST' || path !== `/v1/project_logs/${projectId}/insert`) return { status: 404 };
      const { events } = body as { readonly events: readonly Merge[] };
      if (
        !events.every(
          (event) =>
            event._is_merge &&
            event.id.startsWith('row-') &&
            Object.values(event.scores).every((score) => score === null || (score >= 0 && score <= 1)),
        )
      )
        return { status: 400 };
      for (const event of events) {
        const before = kept.get(event.id);
        kept.set(event.id, {
          ...event,
          scores: { ...before?.scores, ...event.scores },
          metadata: { tracejury: { ...before?.metadata.tracejury, ...event.metadata.tracejury } },
        });
      }
      return { status: 200, body: { row_ids: events.map(({ id }) => id) } };
    },
    scores: () => [...kept.values()].flatMap(shown),
  };
}

function shown({ id, scores, metadata }: Merge): readonly ShownScore[] {
  return Object.entries(scores).flatMap(([name, score]) => {
    const told = metadata.tracejury[name] ?? undefined;
    if (told === undefined && score === null) return [];
    return [
      {
        name,
        at: `span ${id.slice(4)}`,
        ...(score === null ? {} : { score }),
        ...(told === undefined ? {} : { label: told.label, explanation: told.explanation }),
      },
    ];
  });
}

const own = { name: 'tool_error', at: 'span 00000000000000a1', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };

nativeSuite({
  backend: braintrust,
  rules,
  keys: { api_key: 'k-1', project: 'travel' },
  auth: { authorization: 'Bearer k-1' },
  shown: { outermost: [own, part], called: [own, part] },
  failed: [{ name: 'tool_error', at: own.at, label: 'error: judge_timed_out', explanation: 'The judge did not answer.' }],
  withdrawn: [],
  session: [],
  looksForSpans: true,
  scoresMax: 200,
  scoresIn: ({ body }) =>
    ((body as { readonly events?: readonly Merge[] } | undefined)?.events ?? []).reduce(
      (sum, { scores }) => sum + Object.keys(scores).length,
      0,
    ),
});

test('braintrust: scores on spans that are there are written, and the rest waits', async () => {
  const own2 = rules([spanId(0xb2)]);
  own2.hasSpans = true;
  const server = await nativeServer(own2);
  const exporter = scoreApiExporter(braintrust)({ endpoint: server.url, keys: { project: projectId } }, { sleep: () => Promise.resolve() });
  const parts = [0xb1, 0xb2].map((number, index) => ({
    index,
    tool: 'search',
    spanId: spanId(number),
    score: 0,
    passed: false,
    explanation: 'It failed.',
  }));
  expect(await exporter.send(scoredRun({ tool_error: scored(0.25, { parts }) }))).toEqual({
    kind: 'failed',
    retryable: true,
    isMissing: true,
    error: 'its span is not there',
  });
  expect(own2.scores().map(({ at }) => at)).toEqual(['span 00000000000000a1', 'span 00000000000000b1']);
  expect(server.requests.map(({ path }) => path)).toEqual(['/btql', `/v1/project_logs/${projectId}/insert`]);
  await exporter.stop();
  await server.close();
});

test('braintrust: of runs that go together only those wait whose spans are not there, and no query is repeated for the others', async () => {
  const own3 = rules([spanId(0x11)]);
  own3.hasSpans = true;
  const server = await nativeServer(own3);
  const exporter = scoreApiExporter(braintrust)({ endpoint: server.url, keys: { project: projectId } }, { sleep: () => Promise.resolve() });
  const outcomes = await Promise.all(
    [0x10, 0x11, 0x12].map((number) => exporter.send(scoredRun({ tool_error: scored(1) }, run({ spanId: spanId(number) })))),
  );
  expect(outcomes).toEqual([
    { kind: 'sent' },
    { kind: 'failed', retryable: true, isMissing: true, error: 'its span is not there' },
    { kind: 'sent' },
  ]);
  expect(server.requests.map(({ path }) => path)).toEqual(['/btql', `/v1/project_logs/${projectId}/insert`]);
  await exporter.stop();
  await server.close();
});

test('braintrust: runs that come one after the other go together after three seconds', async () => {
  const own4 = rules();
  own4.hasSpans = true;
  const server = await nativeServer(own4);
  const rests: { readonly ms: number; readonly over: () => void }[] = [];
  const exporter = scoreApiExporter(braintrust)(
    { endpoint: server.url, keys: { project: projectId } },
    { sleep: (ms) => new Promise((over) => rests.push({ ms, over })) },
  );
  const first = exporter.send(scoredRun({ tool_error: scored(1) }, run({ spanId: spanId(0x10) })));
  await new Promise((resolve) => setImmediate(resolve));
  const second = exporter.send(scoredRun({ tool_error: scored(1) }, run({ spanId: spanId(0x11) })));
  await new Promise((resolve) => setImmediate(resolve));
  expect([rests.map(({ ms }) => ms), server.requests]).toEqual([[3_000], []]);
  rests[0]?.over();
  expect(await Promise.all([first, second])).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
  expect(server.requests.map(({ path }) => path)).toEqual(['/btql', `/v1/project_logs/${projectId}/insert`]);
  await exporter.stop();
  await server.close();
});

test('braintrust: rows are looked for from a week before the earliest of the runs that go together, in any order', async () => {
  const days = [14, 12, 16];
  for (const order of [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    const some = rules();
    some.hasSpans = true;
    const server = await nativeServer(some);
    const exporter = scoreApiExporter(braintrust)(
      { endpoint: server.url, keys: { project: projectId } },
      { sleep: () => Promise.resolve() },
    );
    await Promise.all(
      order.map((at) =>
        exporter.send(
          scoredRun(
            { tool_error: scored(1) },
            run({ spanId: spanId(0x10 + at), endUnixNano: BigInt(Date.UTC(2023, 10, days[at])) * 1_000_000n }),
          ),
        ),
      ),
    );
    const queries = server.requests.filter(({ path }) => path === '/btql').map(({ body }) => (body as { readonly query: string }).query);
    expect(queries.map((query) => /created >= '([^']+)'/.exec(query)?.[1])).toEqual(['2023-11-05T00:00:00.000Z']);
    await exporter.stop();
    await server.close();
  }
});
