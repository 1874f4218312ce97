/**
 * `npm run check -- phoenix`: runs docs/guides/phoenix.md and docs/guides/forward.md with a real Phoenix. Exit code 1 when a condition is missed.
 *
 *   --url URL           uses a Phoenix that runs
 *   --phoenix COMMAND   starts one with this command (phoenix); `pip install arize-phoenix` brings it
 */
import { tell, type Condition } from '../../bench/overload/conditions.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { serviceFolder } from '../../service/process.ts';
import { backendServer } from '../server.ts';
import { phoenixServer } from './server.ts';
import { eventually } from '../../service/running.ts';
import { newRun, pageConfig, patient, scoresTrial, type Found } from '../trial.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({ options: { url: { type: 'string' }, phoenix: { type: 'string', default: 'phoenix' } } });
const server = await backendServer(values.url, phoenixServer(values.phoenix));

async function listed(path: string): Promise<readonly JsonObject[]> {
  const answer = await fetch(`${server.url}/v1/projects/default/${path}`);
  // It knows neither the project nor the spans before they have come.
  if (answer.status === 404) return [];
  const { data } = (await answer.json()) as { readonly data?: JsonValue };
  return data !== undefined && isJsonArray(data) ? data.filter(isJsonObject) : [];
}

function foundOf({ id, name, span_id: span, result }: JsonObject): Found {
  const { score, explanation } = isJsonObject(result ?? null) ? (result as JsonObject) : {};
  return {
    id: String(id),
    name: String(name),
    spanId: typeof span === 'string' ? span : undefined,
    score: typeof score === 'number' ? score : null,
    explanation: String(explanation),
  };
}

async function scores(traceId: string, spanIds: readonly string[]): Promise<readonly Found[]> {
  const [spans, traces] = [
    await listed(`span_annotations?limit=1000&${spanIds.map((id) => `span_ids=${id}`).join('&')}`),
    await listed(`trace_annotations?limit=1000&trace_ids=${traceId}`),
  ];
  return [...spans, ...traces].map(foundOf);
}

/** The agent sends only to the service. */
async function forwardTrial(): Promise<readonly Condition[]> {
  const folder = serviceFolder();
  folder.configure(pageConfig('forward.md', server.url));
  const service = await folder.start();
  try {
    const run = newRun();
    await service.send([...run.first, ...run.late]);
    const spans = await eventually(
      async () => [await listed(`spans?limit=100&trace_id=${run.traceId}`)].find((all) => all.length >= 3),
      'the spans',
      patient,
    );
    const told = (spanId: string, key: string): string =>
      JSON.stringify(
        spans.find(({ context }) => isJsonObject(context ?? null) && (context as JsonObject)['span_id'] === spanId)?.[key] ?? null,
      );
    const holds = (what: string, wanted: string, measured: string): Condition => ({
      what,
      wanted,
      measured: measured.includes(wanted) ? wanted : measured.slice(0, 300),
      holds: measured.includes(wanted),
    });
    return [
      holds('spans of the trace', '3', String(spans.length)),
      holds('on the agent’s span', '"tracejury.verdict":"fail"', told(run.agent, 'attributes')),
      holds('an event for each verdict there', '"gen_ai.evaluation.name":"tool_error"', told(run.agent, 'events')),
      holds('an event on the tool’s span', '"gen_ai.evaluation.score.label":"fail"', told(run.lateTool, 'events')),
    ];
  } finally {
    await service.end('SIGTERM');
    await folder.remove();
  }
}

try {
  const holds = [
    tell('Scores in Phoenix', await scoresTrial({ page: 'phoenix.md', url: server.url, scores, runScoresOn: ['span', 'trace'] })),
    tell('In-line in front of Phoenix', await forwardTrial()),
  ];
  process.exitCode = holds.every(Boolean) ? 0 : 1;
} finally {
  await server.stop();
}
