import { expect, test } from 'vitest';
import { langfuse } from '../../../src/exporters/scores/langfuse.ts';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { evaluation, run, scored, scoredRun } from '../../builders/scored-run.ts';
import { nativeServer, traceAt, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Body {
  readonly id: string;
  readonly traceId?: string;
  readonly observationId?: string;
  readonly sessionId?: string;
  readonly name: string;
  readonly dataType: 'NUMERIC' | 'BOOLEAN' | 'CATEGORICAL';
  readonly value: number | string;
  readonly comment?: string;
  readonly environment?: string;
  readonly metadata: object;
}

interface ScoreEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly body: Body;
}

interface Kept extends ScoreEvent {
  /** Immutable: that of the first. */
  readonly first: string;
}

/** As Langfuse 3 and 4 do it: an event is checked by itself, events of one score are merged in the order of their times. */
function rules(kept = new Map<string, Kept>()): NativeRules {
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      if (method === 'GET') return path === '/api/public/projects' ? { status: 200, body: { data: [{ id: 'p' }] } } : { status: 404 };
      const [, gone] = /^\/api\/public\/scores\/([\w-]+)$/.exec(path) ?? [];
      if (method === 'DELETE' && gone !== undefined) {
        kept.delete(gone);
        return { status: 202, body: { message: 'Score deletion queued successfully' } };
      }
      if (method !== 'POST' || path !== '/api/public/ingestion') return { status: 404 };
      const { batch } = body as { readonly batch: readonly ScoreEvent[] };
      const faulty = batch.filter((event) => !isValid(event));
      for (const event of batch) {
        const before = kept.get(event.body.id);
        if (faulty.includes(event) || (before !== undefined && before.timestamp > event.timestamp)) continue;
        kept.set(event.body.id, { ...event, first: before?.first ?? event.timestamp });
      }
      const answered = (events: readonly ScoreEvent[], status: number) => events.map(({ id }) => ({ id, status }));
      return {
        status: 207,
        body: {
          successes: answered(
            batch.filter((event) => !faulty.includes(event)),
            201,
          ),
          errors: answered(faulty, 400),
        },
      };
    },
    scores: () => [...kept.values()].map(({ body }) => shown(body)),
  };
}

function isValid({ id, type, timestamp, body }: ScoreEvent): boolean {
  const { traceId, observationId, sessionId, name, dataType, value } = body;
  const isPlaced =
    sessionId === undefined
      ? /^[0-9a-f]{32}$/.test(traceId ?? '') && /^([0-9a-f]{16})?$/.test(observationId ?? '')
      : traceId === undefined && observationId === undefined;
  const isTyped = {
    NUMERIC: typeof value === 'number',
    BOOLEAN: value === 0 || value === 1,
    CATEGORICAL: typeof value === 'string' && value !== '',
  }[dataType];
  return (
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) &&
    type === 'score-create' &&
    !Number.isNaN(Date.parse(timestamp)) &&
    name !== '' &&
    isPlaced &&
    isTyped
  );
}

function shown({ traceId = '', observationId, sessionId, name, dataType, value, comment }: Body): ShownScore {
  const at = sessionId !== undefined ? `session ${sessionId}` : observationId === undefined ? traceAt(traceId) : `span ${observationId}`;
  return {
    name,
    at,
    ...(dataType === 'NUMERIC' ? { score: Number(value) } : { label: `${dataType} ${value}` }),
    ...(comment === undefined ? {} : { explanation: comment }),
  };
}

const both = (at: string, score: number, passed: number, explanation: string): readonly ShownScore[] => [
  { name: 'tool_error', at, score, explanation },
  { name: 'tool_error', at, label: `BOOLEAN ${passed}`, explanation },
];
const part = both('span 00000000000000b1', 0, 0, 'It failed.');

nativeSuite({
  backend: langfuse,
  rules,
  keys: { public_key: 'pk-1', api_key: 'sk-1' },
  auth: { authorization: `Basic ${Buffer.from('pk-1:sk-1').toString('base64')}` },
  shown: {
    outermost: [...both('trace', 0.25, 0, 'It is 0.25.'), ...part],
    called: [...both('span 00000000000000a1', 0.25, 0, 'It is 0.25.'), ...part],
  },
  failed: [],
  withdrawn: [],
  session: both('session s-1', 0.25, 0, 'It is 0.25.'),
  looksForSpans: false,
  scoresMax: 100,
  scoresIn: ({ body }) => (body as { readonly batch: readonly unknown[] }).batch.length,
});

async function sent(
  ...items: readonly Parameters<ReturnType<ReturnType<typeof scoreApiExporter>>['send']>[0][]
): Promise<{ readonly kept: ReadonlyMap<string, Kept>; readonly outcomes: readonly unknown[] }> {
  const kept = new Map<string, Kept>();
  const server = await nativeServer(rules(kept));
  const exporter = scoreApiExporter(langfuse)({ endpoint: server.url });
  const outcomes: unknown[] = [];
  for (const item of items) outcomes.push(await exporter.send(item));
  await exporter.stop();
  await server.close();
  return { kept, outcomes };
}

test('langfuse: a raw metric is only a number, and a custom label of the evaluator is a category', async () => {
  const { kept } = await sent(
    scoredRun({
      raw: scored(0.4, { threshold: null, passed: null, label: '' }),
      graded: scored(0.5, { threshold: null, passed: null, label: 'partly' }),
    }),
  );
  expect([...kept.values()].map(({ body: { name, dataType, value } }) => [name, dataType, value])).toEqual([
    ['raw', 'NUMERIC', 0.4],
    ['graded', 'NUMERIC', 0.5],
    ['graded', 'CATEGORICAL', 'partly'],
  ]);
});

for (const { scores, want } of [
  {
    scores: 'numeric',
    want: [
      ['tool_error', 'NUMERIC'],
      ['raw', 'NUMERIC'],
      ['graded', 'NUMERIC'],
    ],
  },
  {
    scores: 'boolean',
    want: [
      ['tool_error', 'BOOLEAN'],
      ['raw', 'NUMERIC'],
      ['graded', 'NUMERIC'],
    ],
  },
] as const) {
  test(`langfuse: with scores: ${scores} a verdict is one score`, async () => {
    const kept = new Map<string, Kept>();
    const server = await nativeServer(rules(kept));
    const exporter = scoreApiExporter(langfuse)({ endpoint: server.url, keys: { scores } });
    await exporter.send(
      scoredRun({
        tool_error: scored(0.25),
        raw: scored(0.4, { threshold: null, passed: null, label: '' }),
        graded: scored(0.5, { threshold: null, passed: null, label: 'partly' }),
      }),
    );
    expect([...kept.values()].map(({ body: { name, dataType } }) => [name, dataType])).toEqual(want);
    await exporter.stop();
    await server.close();
  });
}

test('langfuse: a score has the time of its run, and the environment of its spans', async () => {
  const of = run({ resourceAttributes: { 'deployment.environment.name': 'production' } });
  const { kept } = await sent(scoredRun({ tool_error: scored(1) }, of), scoredRun({ tool_error: scored(0) }, { ...of, revision: 2 }));
  expect(
    [...kept.values()].map(({ first, timestamp, body: { dataType, value, environment } }) => ({
      first,
      timestamp,
      dataType,
      value,
      environment,
    })),
  ).toEqual([
    { first: '2023-11-14T22:13:21.123Z', timestamp: '2023-11-14T22:13:21.124Z', dataType: 'NUMERIC', value: 0, environment: 'production' },
    { first: '2023-11-14T22:13:21.123Z', timestamp: '2023-11-14T22:13:21.124Z', dataType: 'BOOLEAN', value: 0, environment: 'production' },
  ]);
});

test.each([
  {
    name: 'an empty one leaves it to the older key',
    attributes: { 'deployment.environment.name': '', 'deployment.environment': 'staging' },
    environment: 'staging',
  },
  {
    name: 'one that is not a text leaves it to the older key',
    attributes: { 'deployment.environment.name': 7, 'deployment.environment': 'staging' },
    environment: 'staging',
  },
  {
    name: 'no text at all is none',
    attributes: { 'deployment.environment.name': 7, 'deployment.environment': '' },
    environment: undefined,
  },
])('langfuse: of environments $name', async ({ attributes, environment }) => {
  const { kept } = await sent(scoredRun({ tool_error: scored(1) }, run({ resourceAttributes: attributes })));
  expect(new Set([...kept.values()].map(({ body }) => body.environment))).toEqual(new Set([environment]));
});

test('langfuse: a revision whose evaluation failed takes back what the one before said', async () => {
  const of = run({ revision: 2 });
  const { kept } = await sent(scoredRun({ tool_error: scored(1) }), {
    run: of,
    evaluations: [evaluation('tool_error', { kind: 'failed', error: 'judge_timed_out', explanation: '', details: {} }, of)],
    decisions: [],
  });
  expect([...kept.keys()]).toEqual([]);
});

test('langfuse: an event that it refuses by itself is final only for its run', async () => {
  const item = scoredRun({ tool_error: scored(Number.NaN) });
  const { kept, outcomes } = await sent(item, scoredRun({ tool_error: scored(1) }));
  expect(outcomes).toEqual([{ kind: 'failed', retryable: false, error: 'status 400' }, { kind: 'sent' }]);
  expect(kept.size).toBe(2);
});
