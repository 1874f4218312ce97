/** Answers of the API to the requests of its pages. */
import { afterAll, beforeAll, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { eventually } from '../service/running.ts';
import { expectGolden } from './golden.ts';
import { scene, startMs, type Scene } from './scene.ts';

let at: Scene;
let runs: readonly JsonObject[] = [];
beforeAll(async () => {
  at = await scene();
  runs = objects((await at.json('/runs?limit=200'))['runs']);
});
afterAll(() => at.stop());

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value ?? null) ? (value as readonly JsonValue[]).filter((one) => isJsonObject(one)) : [];
}

/** One after another: some change what the next one shows. */
async function answers(paths: readonly string[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const path of paths) texts.push(await at.get(path));
  return texts;
}

async function golden(name: string, paths: readonly string[]): Promise<void> {
  await expectGolden((await answers(paths)).join('\n\n'), `answers/${name}.txt`);
}

const forms = ['jsonl', 'json', 'yaml', 'csv', 'deepeval', 'agentevals', 'adk', 'dokimos', 'langsmith', 'braintrust', 'phoenix'];

const all = 'from=2020-01-01T00:00:00Z&to=2027-01-01T00:00:00Z';
const day = `from=${new Date(startMs).toISOString()}&to=${new Date(startMs + 86_400_000).toISOString()}`;

test('goldens: lists of runs', async () => {
  await eventually(async () => ((await at.json('/runs?text=mail'))['unindexed'] === 0 ? true : undefined), 'the words of all runs');
  await golden('runs', [
    '/runs?limit=200',
    '/runs?limit=2',
    '/runs?status=error',
    '/runs?evaluator=tool_error&verdict=fail',
    '/runs?agent=finder&limit=1',
    '/runs?text=mail',
    '/runs?colour=red',
    '/runs/export?format=csv&limit=3',
  ]);
});

test('goldens: every view of each run', async () => {
  for (const [number, { trace_id: trace, span_id: span }] of runs.entries()) {
    if (number % 3 !== 0) continue;
    const run = `/runs/${String(trace)}/${String(span)}`;
    const spans = objects((await at.json(`${run}/spans`))['spans']);
    const views = ['', '/spans?limit=3', '/tool-calls', '/timeline', '/conversation', '/related', '/example', '/questions/done'];
    await golden(`run-${number}`, [
      ...views.map((view) => `${run}${view}`),
      `${run}/spans/${String(spans[0]?.['span_id'])}`,
      `/decisions/${String(trace)}`,
    ]);
  }
});

test('goldens: figures', async () => {
  const by = (path: string, ...splits: readonly string[]): readonly string[] => splits.map((split) => `${path}&by=${split}`);
  await golden('figures', [
    ...['/summary', '/evaluators', '/rates', '/judges', '/overview', '/tools', '/models'].map((path) => `${path}?${day}`),
    `/summary?${day}&bucket=day&by=agent`,
    ...by(`/rates?${all}`, 'agent', 'model'),
    ...by(`/tools?${all}`, 'agent'),
    ...['duration', 'cost'].map((of) => `/distributions?${all}&of=${of}`),
    `/sessions?${all}`,
    '/versions',
    '/alerts',
    '/processes',
    '/evaluability',
  ]);
});

test('goldens: the service about itself', async () => {
  await golden('service', ['/exporters', '/exports', '/settings', '/replicas', '/notices', '/session', '/addresses']);
});

test('goldens: experiments', async () => {
  await golden('experiments', [
    '/experiments',
    '/experiments/main',
    '/experiments/main/results',
    ...['table', 'markdown', 'junit', 'json', 'html'].map((format) => `/experiments/compare?a=main&b=branch&format=${format}`),
    '/experiments/history?name=main',
    '/experiments/none',
  ]);
});

test('goldens: annotations, queues and datasets', async () => {
  const [first, second] = runs.map(({ trace_id: trace, span_id: span }) => ({ trace_id: String(trace), span_id: String(span) }));
  if (first === undefined || second === undefined) throw new Error('There are no runs.');
  const texts = [
    await at.send('POST /annotations', { annotations: [{ ...first, name: 'done', by: 'ann', score: 0, explanation: 'It did not.' }] }),
    await at.send('POST /annotations', { annotations: [{ ...first, name: '', by: 'ann' }] }),
    await at.send('POST /queues/review/items', { runs: [first, second], note: 'odd' }),
    await at.send('POST /queues/review/next', { person: 'ann' }),
    await at.send('POST /queues/review/answers', { item: 1, lease: 9, person: 'ann', answers: [] }),
    await at.get('/queues'),
    await at.get('/queues/review'),
    await at.get('/queues/review/items'),
    await at.send('POST /datasets/refunds/examples', { runs: [first, second], tags: ['mail'], by: 'ann' }),
    await at.send('POST /datasets/refunds/examples', { examples: [{ id: 'one', input: 'Where is it?' }] }),
    ...(await answers(
      [
        '',
        '/versions',
        '/examples',
        '/diff?from=1&to=2',
        '/forms',
        '/examples/one',
        '/examples/one/history',
        ...forms.map((form) => `/export?format=${form}`),
      ].map((path) => `/datasets/refunds${path}`),
    )),
  ];
  await expectGolden(texts.join('\n\n'), 'answers/people.txt');
});

test('goldens: the OpenAPI document', async () => {
  await expectGolden(await at.get('/openapi.json'), 'openapi.txt');
});

test('goldens: names, kinds, labels and meanings on the metrics page', async () => {
  const page = await eventually(
    async () => {
      const text = await at.metrics();
      return text.includes('tracejury_issues{') ? text : undefined;
    },
    'the number of issues, which is counted every ten seconds',
    { everyMs: 500, looksMax: 120 },
  );
  const lines = page.split('\n').map((line) => {
    const [name = ''] = line.split(/[{ ]/);
    return line.startsWith('#') ? line : `${name} ${[...line.matchAll(/(\w+)="/g)].map(([, label]) => label).join(' ')}`.trimEnd();
  });
  await expectGolden([...new Set(lines)].join('\n'), 'metrics.txt');
});
