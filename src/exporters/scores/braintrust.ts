/**
 * Scores of Braintrust: https://www.braintrust.dev/docs/api-reference/logs. A score belongs to the row of a span, and Braintrust makes the
 * id of the row. The exporter looks rows up by span id and merges scores into them. The feedback route would add a comment each time.
 */
import { chunks } from '../../model/chunks.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { exportOutcome, missing, oneByOne } from '../delivery/export-outcome.ts';
import {
  type ScoreApiAccount,
  type ScoreApiBackend,
  type ScoreApiCall,
  type ScoreApiOutcome,
  type ScoreApiRequest,
  projectId,
} from './score-api-backend.ts';
import { type ScoreApiScore, type SpanScore, spanScores, worstPerName } from './score-api-score.ts';
import { type Answer, answerObject, objectsIn } from '../delivery/http-client.ts';

/** Spans per query, which keeps it at some kilobytes. */
const spansMax = 500;
/** Scores per request: with explanations of some kilobytes far below the limit of 6 MB. */
const scoresMax = 200;
/** The earliest creation of a row, before the end of the run. */
const beforeMs = 7 * 86_400_000;

export const braintrust = {
  id: 'braintrust',
  title: 'Braintrust',
  endpoint: { variables: ['BRAINTRUST_API_URL'], preset: 'https://api.braintrust.dev' },
  keys: {
    api_key: { variables: ['BRAINTRUST_API_KEY'], isRequired: true },
    project: { variables: ['BRAINTRUST_PARENT'], isRequired: true, ofVariable: (parent) => /^project_(?:id|name):(.+)$/.exec(parent)?.[1] },
  },
  places: { run: 'scores of the agent’s span', toolCall: 'scores of the tool’s span', session: 'nowhere' },
  revisions: 'The scores are merged into the row of the span: those of the same name are overwritten.',
  cannotTake: [
    'Verdicts on sessions: scores belong to spans.',
    'Several verdicts of one evaluator on one span: only the worst of them is there.',
    'Many requests: smaller plans have some twenty queries a minute. Scores wait three seconds for others, and longer when Braintrust asks for a rest.',
    'Scores of spans that are not in the project: Braintrust’s span processor can leave out all but model calls. The exporter gives them up after `give_up.missing`.',
  ],
  itemsPerRequest: 100,
  // Smaller plans have some twenty queries a minute.
  gatherMs: 3_000,
  headers: ({ keys: { api_key: key = '' } }) => ({ authorization: `Bearer ${key}` }),
  probe: { method: 'GET', path: '/v1/project?limit=1' },
  write,
  supposed: supposedAnswer,
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall, account: ScoreApiAccount): Promise<ScoreApiOutcome> {
  const placed = worstPerName(spanScores(scores), ({ place }) => place.spanId);
  if (placed.length === 0) return { kind: 'sent' };
  const project = await projectId({
    call,
    account,
    path: (name) => `/v1/project?${new URLSearchParams({ project_name: name, limit: '1' }).toString()}`,
    listIn: (body) => (isJsonObject(body) ? member(body, 'objects') : undefined),
  });
  if (typeof project === 'object') return project;
  const rows = new Map<string, string>();
  const since = new Date(Math.min(...placed.map(({ timeMs }) => timeMs)) - beforeMs).toISOString();
  const lookup = await oneByOne(chunks([...new Set(placed.map(({ place }) => place.spanId))], spansMax), async (spans) => {
    const answer = await call({
      method: 'POST',
      path: '/btql',
      body: { query: query(project, spans, since), fmt: 'json', brainstore_realtime: true },
    });
    for (const [spanId, id] of rowsIn(answer)) rows.set(spanId, id);
    return exportOutcome(answer);
  });
  if (lookup.kind === 'failed') return lookup;
  const there = placed.filter(({ place }) => rows.has(place.spanId));
  const outcome = await oneByOne(chunks(there, scoresMax), async (some) =>
    exportOutcome(await call({ method: 'POST', path: `/v1/project_logs/${project}/insert`, body: { events: merges(some, rows) } })),
  );
  if (outcome.kind === 'failed' || there.length === placed.length) return outcome;
  const only = new Set(placed.filter(({ place }) => !rows.has(place.spanId)).map(({ id }) => id));
  return { ...missing('its span is not there'), only };
}

/** Ids are hexadecimal, so the query needs no escaping. */
function query(project: string, spans: readonly string[], since: string): string {
  return `SELECT id, span_id FROM project_logs('${project}') WHERE created >= '${since}' AND (${spans.map((id) => `span_id = '${id}'`).join(' OR ')}) LIMIT ${spans.length * 2}`;
}

function rowsIn(answer: Answer): readonly (readonly [string, string])[] {
  return objectsIn(member(answerObject(answer) ?? {}, 'data')).flatMap((row) => {
    const [spanId, id] = [member(row, 'span_id'), member(row, 'id')];
    return typeof spanId === 'string' && typeof id === 'string' ? [[spanId, id] as const] : [];
  });
}

/** One event per row. A null removes the score. */
function merges(placed: readonly SpanScore[], rows: ReadonlyMap<string, string>): readonly JsonObject[] {
  return [...Map.groupBy(placed, ({ place }) => rows.get(place.spanId) ?? '')].map(([id, own]) => ({
    id,
    _is_merge: true,
    scores: Object.fromEntries(own.map(({ name, value }) => [name, value.kind === 'scored' ? value.score : null])),
    metadata: { tracejury: Object.fromEntries(own.map((score) => [score.name, metadataOf(score)])) },
  }));
}

function metadataOf({ value, explanation, metadata }: ScoreApiScore): JsonValue {
  if (value.kind === 'withdrawn') return null;
  return { ...metadata, label: value.kind === 'failed' ? `error: ${value.error}` : value.label, explanation };
}

function supposedAnswer({ path, body }: ScoreApiRequest): JsonValue {
  if (path.startsWith('/v1/project?')) return { objects: [{ id: '00000000-0000-0000-0000-000000000000' }] };
  const text = body !== undefined && isJsonObject(body) ? String(member(body, 'query')) : '';
  return { data: [...text.matchAll(/span_id = '(\w+)'/g)].map(([, id = '']) => ({ id: `row of span ${id}`, span_id: id })) };
}
