/**
 * Scores of Langfuse: https://langfuse.com/docs/evaluation. Versions 3 and 4 take scores through the ingestion route of Langfuse's own
 * clients, with the time of the run and an id of ours. A score with a known id replaces the earlier one if its time is later, so each
 * revision adds a millisecond.
 */
import { hash } from 'node:crypto';
import { chunks } from '../../model/chunks.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { deletionOutcome, exportOutcome, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiAccount, ScoreApiBackend, ScoreApiCall } from './score-api-backend.ts';
import { isEnded, type ScoreApiScore, uuidText } from './score-api-score.ts';
import { type Answer, answerObject } from '../delivery/http-client.ts';

/** The number that Langfuse's clients send; with explanations of some kilobytes far below the limit of 4.5 MB. */
const scoresMax = 100;

export const langfuse = {
  id: 'langfuse',
  title: 'Langfuse',
  endpoint: { variables: ['LANGFUSE_BASE_URL', 'LANGFUSE_HOST', 'LANGFUSE_BASEURL'], preset: 'https://cloud.langfuse.com' },
  keys: {
    public_key: { variables: ['LANGFUSE_PUBLIC_KEY'], isRequired: true },
    api_key: { variables: ['LANGFUSE_SECRET_KEY'], isRequired: true },
    scores: { variables: [], preset: 'all' },
  },
  places: {
    run: 'scores of the trace; of a run that another agent called, of its observation',
    toolCall: 'scores of the tool’s observation',
    session: 'scores of the session',
  },
  revisions: 'The same scores are overwritten.',
  cannotTake: ['Evaluations that failed: a score needs a value.', 'The spans of the trace that prove a verdict.'],
  itemsPerRequest: 16,
  headers: ({ keys: { public_key: user = '', api_key: key = '' } }) => ({
    authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
  }),
  probe: { method: 'GET', path: '/api/public/projects' },
  write,
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall, { keys }: ScoreApiAccount): Promise<ExportOutcome> {
  const outcome = await oneByOne(
    chunks(
      scores.flatMap((score) => events(score, keys.scores)),
      scoresMax,
    ),
    async (batch) => outcomeOf(await call({ method: 'POST', path: '/api/public/ingestion', body: { batch } })),
  );
  if (outcome.kind === 'failed') return outcome;
  return oneByOne(
    scores.filter(isEnded).flatMap(({ id }) => suffixes.map((suffix) => `${id}${suffix}`)),
    async (id) => deletionOutcome(await call({ method: 'DELETE', path: `/api/public/scores/${id}` })),
  );
}

/**
 * One verdict is up to three scores of one name: its number, whether it passes, and the evaluator's own label. The key `scores` may select
 * one.
 */
const suffixes = ['', '-passed', '-label'] as const;

function events(score: ScoreApiScore, types = 'all'): readonly JsonObject[] {
  const { id, name, value, explanation, metadata, environment } = score;
  if (value.kind !== 'scored') return [];
  const common = {
    ...placeOf(score),
    name,
    ...(explanation === '' ? {} : { comment: explanation }),
    metadata,
    ...(environment === undefined ? {} : { environment }),
  };
  const event = (suffix: (typeof suffixes)[number], dataType: string, scored: JsonValue): JsonObject => ({
    // The same revision gives the same id, so a repeat is the same event.
    id: uuidText(hash('sha256', `${id}${suffix}/${score.revision}`, 'hex')),
    type: 'score-create',
    timestamp: new Date(score.timeMs + score.revision - 1).toISOString(),
    body: { id: `${id}${suffix}`, ...common, dataType, value: scored },
  });
  const number = [event('', 'NUMERIC', value.score)];
  const passed = value.passed === null ? [] : [event('-passed', 'BOOLEAN', value.passed ? 1 : 0)];
  if (types === 'numeric') return number;
  if (types === 'boolean') return passed.length === 0 ? number : passed;
  return [...number, ...passed, ...(['', 'pass', 'fail'].includes(value.label) ? [] : [event('-label', 'CATEGORICAL', value.label)])];
}

function placeOf({ place }: ScoreApiScore): JsonObject {
  if (place.kind === 'session') return { sessionId: place.sessionId };
  return { traceId: place.traceId, ...(place.kind === 'run' && place.isOutermost ? {} : { observationId: place.spanId }) };
}

/** The answer is 207 with a status per failed event. A retryable failure wins over a final one. */
function outcomeOf(answer: Answer): ExportOutcome {
  const outcome = exportOutcome(answer);
  if (outcome.kind === 'failed' || answer.kind === 'unanswered') return outcome;
  const errors = member(answerObject(answer) ?? {}, 'errors');
  const failures = (errors !== undefined && isJsonArray(errors) ? errors : [])
    .map((error) => exportOutcome({ ...answer, status: statusOf(error) }))
    .filter(({ kind }) => kind === 'failed');
  return failures.find((failure) => failure.kind === 'failed' && failure.retryable) ?? failures[0] ?? outcome;
}

function statusOf(error: JsonValue): number {
  const status = isJsonObject(error) ? member(error, 'status') : undefined;
  return typeof status === 'number' ? status : 500;
}
