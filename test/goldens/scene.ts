/** A service with a judge that has taken the same recorded requests in the same order, and what people did with their runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonText, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running } from '../service/running.ts';

export interface Scene {
  /** The request and its answer, as far as that is the same at each start. */
  readonly get: (path: string) => Promise<string>;
  readonly json: (path: string) => Promise<JsonObject>;
  readonly send: (path: string, body: JsonValue) => Promise<string>;
  readonly metrics: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

const recordings = join(import.meta.dirname, '../fixtures/recordings');
const recorded = [
  'google-adk/trip',
  'google-adk/handoff',
  'google-adk/toolerror',
  'pydantic-ai/multiturn',
  'openinference-langchain/parallel',
  'openinference-crewai/trip',
  'js-ai-sdk-v5/convo',
];

/** The time of the hand-made runs. */
export const startMs = Date.UTC(2026, 0, 5, 12);

export async function scene(yaml = ''): Promise<Scene> {
  const judge = await chatServer(says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}'));
  const service =
    await running(`judges: { main: { base_url: "${judge.baseUrl}", model: m, price: { input_per_million: 1, output_per_million: 4 } } }
evaluators:
  - defaults
  - { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } }
queues:
  - { name: review, ask: [ { label: tone, values: [ good, bad ] }, { score: helpful, min: 1, max: 5 }, { text: why } ] }
store: { url: "memory:", content: all, keep: { runs: 3650d, content: 3650d } }
${yaml}`);
  const asked = async (path: string, init: RequestInit = {}): Promise<Response> => await fetch(`${service.console}/api/v1${path}`, init);
  const json = async (path: string): Promise<JsonObject> => (await (await asked(path)).json()) as JsonObject;

  async function take(body: Uint8Array<ArrayBuffer>): Promise<void> {
    await fetch(`${service.otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/x-protobuf' }, body });
  }

  for (const name of recorded) {
    const folder = join(recordings, name);
    for (const file of readdirSync(folder)
      .filter((one) => one.startsWith('request-'))
      .toSorted())
      await take(new Uint8Array(readFileSync(join(folder, file))));
    await settled(json);
  }
  for (const [at, experiment] of ['main', 'main', 'branch', 'branch'].entries()) {
    const trace = 1_000 + at;
    const resource = { 'service.name': 'shop', 'tracejury.experiment.id': experiment, 'tracejury.example.id': `example ${at % 2}` };
    const times = (start: number, end: number) => ({ trace, resource, start: startMs + start, end: startMs + end });
    const error = { status: 'error', message: 'mail server down' } as const;
    const call = { ...times(10, 20), id: 2, parent: 1, tool: 'find', call: 'c', arguments: '{"x":1}', result: 'there' };
    const agent = agentSpan({ ...times(0, 70), id: 1, agent: 'finder', input: 'Where is it?', output: 'There.' });
    await take(new Uint8Array(writeTraces([toolSpan({ ...call, ...(at === 1 ? error : {}) }), agent], 'protobuf')));
    await settled(json);
  }
  return {
    json,
    async get(path) {
      const response = await asked(path);
      return `GET ${path}\n${response.status} ${response.headers.get('content-type')}\n${stable(pretty(await response.text()))}`;
    },
    async send(path, body) {
      const [method = '', at = ''] = path.split(' ');
      const response = await asked(at, { method, headers: { 'content-type': 'application/json' }, body: jsonText(body) });
      return `${path} ${jsonText(body)}\n${response.status} ${response.headers.get('content-type')}\n${stable(pretty(await response.text()))}`;
    },
    metrics: () => service.metrics(),
    async stop() {
      await service.stop();
      await judge.close();
    },
  };
}

/** Until no run waits for its judge, and no further one comes. */
async function settled(json: Scene['json']): Promise<void> {
  let before = '';
  await eventually(
    async () => {
      const now = jsonText((await json('/runs?limit=200'))['runs'] ?? null);
      const isSame = now === before && now !== '[]' && !now.includes('"pending"');
      before = now;
      return isSame ? true : undefined;
    },
    'runs that stay unchanged',
    { everyMs: 150, looksMax: 400 },
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 1);
  } catch {
    return text;
  }
}

/** Times of this start, how long answers took and ids drawn at the start are others the next time. */
function stable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, (time) => (Date.parse(time) > performance.timeOrigin - 60_000 ? '<now>' : time))
    .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
    .replaceAll(/"(bytes)": \d{6,8},/g, '"$1": "<bytes>",')
    .replaceAll(/"((?:mean|p50|p95)_seconds)": [\d.]+/g, '"$1": "<time>"')
    .replaceAll(/"id": "[0-9a-f]{32}"/g, '"id": "<id>"');
}
