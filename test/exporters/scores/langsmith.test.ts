import { expect, test } from 'vitest';
import { langsmith } from '../../../src/exporters/scores/langsmith.ts';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { evaluation, run, scored, scoredRun } from '../../builders/scored-run.ts';
import { nativeServer, type NativeRules, type NativeServer, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Feedback {
  readonly id: string;
  readonly run_id: string;
  readonly session_id?: string;
  readonly key: string;
  readonly score: number | null;
  readonly value: string | null;
  readonly comment: string;
  readonly feedback_source: { readonly type: string; readonly metadata: object };
}

const projectId = '0190c3d4-0000-7000-8000-0000000000b1';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Follows the types and the client of LangSmith 0.12. They leave open whether a repeated id is refused or overwritten: `again` decides. */
function rules(again: 'conflict' | 'overwrite' = 'conflict'): NativeRules {
  const kept = new Map<string, Feedback>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      const url = new URL(path, 'http://localhost');
      if (method === 'GET' && url.pathname === '/sessions')
        return { status: 200, body: ['travel', null].includes(url.searchParams.get('name')) ? [{ id: projectId }] : [] };
      const [, id] = /^\/feedback\/([\w-]+)$/.exec(path) ?? [];
      const before = kept.get(id ?? '');
      if (id !== undefined && before === undefined) return { status: 404, body: { detail: 'Feedback not found' } };
      if (method === 'DELETE' && id !== undefined) return { status: kept.delete(id) ? 200 : 404 };
      if (method === 'PATCH' && id !== undefined && before !== undefined) {
        const change = body as Feedback;
        if (Object.keys(change).some((key) => !['score', 'value', 'comment', 'correction'].includes(key)) || !isRounded(change.score))
          return { status: 422 };
        kept.set(id, { ...before, ...change });
        return { status: 200 };
      }
      if (method !== 'POST' || path !== '/feedback') return { status: 404, body: { detail: 'Not Found' } };
      const made = body as Feedback;
      if (
        ![made.id, made.run_id, made.session_id ?? projectId].every((one) => uuid.test(one)) ||
        !['api', 'model'].includes(made.feedback_source.type) ||
        !isRounded(made.score)
      )
        return { status: 422 };
      if (!this.hasSpans) return { status: 404, body: { detail: 'Run not found' } };
      if (kept.has(made.id) && again === 'conflict') return { status: 409, body: { detail: 'Feedback exists' } };
      kept.set(made.id, made);
      return { status: 200, body: made };
    },
    scores: () => [...kept.values()].map(shown),
  };
}

function isRounded(score: number | null): boolean {
  return score === null || Number(score.toFixed(4)) === score;
}

function shown({ run_id: at, key, score, value, comment }: Feedback): ShownScore {
  return {
    name: key,
    at: `span ${at.replaceAll('-', '').slice(16)}`,
    ...(score === null ? {} : { score }),
    ...(value === null ? {} : { label: value }),
    explanation: comment,
  };
}

const own = { name: 'tool_error', at: 'span 00000000000000a1', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };

for (const again of ['conflict', 'overwrite'] as const) {
  nativeSuite({
    backend: langsmith,
    rules: () => rules(again),
    keys: { api_key: 'k-1', project: projectId, workspace: 'w-1' },
    auth: { 'x-api-key': 'k-1', 'x-tenant-id': 'w-1' },
    shown: { outermost: [own, part], called: [own, part] },
    failed: [{ name: 'tool_error', at: own.at, label: 'error: judge_timed_out', explanation: 'The judge did not answer.' }],
    withdrawn: [],
    session: [],
    looksForSpans: true,
    scoresMax: 1,
    scoresIn: ({ body }) => (body === undefined ? 0 : 1),
  });
}

async function started(
  project?: string,
): Promise<{ readonly server: NativeServer; readonly exporter: ReturnType<ReturnType<typeof scoreApiExporter>> }> {
  const own20 = rules();
  own20.hasSpans = true;
  const server = await nativeServer(own20);
  return { server, exporter: scoreApiExporter(langsmith)({ endpoint: server.url, keys: project === undefined ? {} : { project } }) };
}

test('langsmith: a project that is named is looked up once, and its id goes along', async () => {
  const { server, exporter } = await started('travel');
  for (const at of [1, 2]) await exporter.send(scoredRun({ [`e_${at}`]: scored(1) }));
  expect(server.requests.filter(({ method }) => method === 'GET').map(({ path }) => path)).toEqual(['/sessions?name=travel&limit=1']);
  expect(server.requests.filter(({ method }) => method === 'POST').map(({ body }) => (body as Feedback).session_id)).toEqual([
    projectId,
    projectId,
  ]);
  await exporter.stop();
  await server.close();
});

test('langsmith: a project that is not there yet comes with its first run', async () => {
  const { server, exporter } = await started('elsewhere');
  expect(await exporter.send(scoredRun({ tool_error: scored(1) }))).toEqual({
    kind: 'failed',
    retryable: true,
    isMissing: true,
    error: 'its project is not there',
  });
  await exporter.stop();
  await server.close();
});

test('langsmith: a revision of a run that was never sent is made, scores have four digits, and judges are models', async () => {
  const { server, exporter } = await started();
  const of = run({ revision: 2 });
  const item = { run: of, evaluations: [evaluation('task_completion', scored(2 / 3), of, { evaluatorKind: 'judge' })], decisions: [] };
  expect(await exporter.send(item)).toEqual({ kind: 'sent' });
  expect(server.requests.map(({ method }) => method)).toEqual(['PATCH', 'POST']);
  expect(server.requests[1]?.body).toMatchObject({
    run_id: '00000000-0000-0000-0000-0000000000a1',
    score: 0.6667,
    feedback_source: { type: 'model' },
  });
  expect(server.requests[1]?.body).not.toHaveProperty('session_id');
  await exporter.stop();
  await server.close();
});
