/**
 * Feedback of LangSmith: https://docs.langchain.com/langsmith/feedback-data-format. LangSmith derives the id of a run from its span id. The
 * exporter creates feedback under an id of ours and changes it for a revision, as LangSmith does not document what a second creation does.
 */
import { member, type JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { deletionOutcome, exportOutcome, hasStatus, missing, oneByOne } from '../delivery/export-outcome.ts';
import { type ScoreApiAccount, type ScoreApiBackend, type ScoreApiCall, projectId } from './score-api-backend.ts';
import { type ScoreApiScore, type SpanScore, spanScores, uuidText } from './score-api-score.ts';
import { type Answer, answerObject } from '../delivery/http-client.ts';
import { present } from '../../model/present.ts';

/** The API refuses scores with more digits. */
const digits = 4;

export const langsmith = {
  id: 'langsmith',
  title: 'LangSmith',
  endpoint: { variables: ['LANGSMITH_ENDPOINT', 'LANGCHAIN_ENDPOINT'], preset: 'https://api.smith.langchain.com' },
  keys: {
    api_key: { variables: ['LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'], isRequired: true },
    project: { variables: ['LANGSMITH_PROJECT', 'LANGCHAIN_PROJECT'] },
    workspace: { variables: ['LANGSMITH_WORKSPACE_ID'] },
  },
  places: { run: 'feedback on the agent’s run', toolCall: 'feedback on the tool’s run', session: 'nowhere' },
  revisions: 'The feedback is changed, by its id.',
  cannotTake: [
    'Verdicts on sessions: feedback is about a run.',
    'More than four digits of a score.',
    'New metadata: a revision changes score, label and explanation only.',
    'Runs that LangSmith’s own SDK sends: only spans over OpenTelemetry keep their ids.',
    'Feedback without a `project`: newer servers refuse it.',
  ],
  itemsPerRequest: 1,
  headers: ({ keys: { api_key: key = '', workspace } }) => present({ 'x-api-key': key, 'x-tenant-id': workspace }),
  probe: { method: 'GET', path: '/sessions?limit=1' },
  write,
  supposed: ({ path }) => (path.startsWith('/sessions?') ? [{ id: '00000000-0000-0000-0000-000000000000' }] : {}),
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall, account: ScoreApiAccount): Promise<ExportOutcome> {
  const placed = spanScores(scores);
  if (placed.length === 0) return { kind: 'sent' };
  const project = await projectId({
    call,
    account,
    path: (name) => `/sessions?${new URLSearchParams({ name, limit: '1' }).toString()}`,
    listIn: (body) => body,
  });
  if (typeof project === 'object') return project;
  return oneByOne(placed, (score) => written(score, call, project));
}

async function written(score: SpanScore, call: ScoreApiCall, project: string): Promise<ExportOutcome> {
  const changeable = feedback(score);
  const place = { run_id: uuidText(score.place.spanId.padStart(32, '0')), ...(project === '' ? {} : { session_id: project }) };
  const id = uuidText(score.id);
  const path = `/feedback/${id}`;
  if (score.value.kind === 'withdrawn') return deletionOutcome(await call({ method: 'DELETE', path }));
  const change = (): Promise<Answer> => call({ method: 'PATCH', path, body: changeable });
  if (score.revision > 1) {
    const answer = await change();
    if (!hasStatus(answer, 404)) return exportOutcome(answer);
  }
  const source = { type: score.evaluatorKind === 'judge' ? 'model' : 'api', metadata: score.metadata };
  const answer = await call({
    method: 'POST',
    path: '/feedback',
    body: { id, ...place, key: score.name, ...changeable, feedback_source: source },
  });
  return hasStatus(answer, 409) ? exportOutcome(await change()) : creation(answer);
}

/** The fields that a revision changes. */
function feedback({ value, explanation }: ScoreApiScore): JsonObject {
  if (value.kind !== 'scored')
    return { score: null, value: value.kind === 'failed' ? `error: ${value.error}` : null, comment: explanation };
  return { score: Number(value.score.toFixed(digits)), value: value.label === '' ? null : value.label, comment: explanation };
}

/** A run that may still arrive has a `detail` that names it; for a wrong address `detail` is `Not Found`. */
function creation(answer: Answer): ExportOutcome {
  const detail = hasStatus(answer, 404) ? member(answerObject(answer) ?? {}, 'detail') : undefined;
  return typeof detail === 'string' && detail !== 'Not Found' ? missing('its run is not there') : exportOutcome(answer);
}
