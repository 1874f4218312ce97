/**
 * Assessments of MLflow 3: https://mlflow.org/docs/latest/genai/assessments/feedback. The server makes their ids. The exporter puts an id
 * of ours into the metadata, looks assessments up by it, and changes them or creates them.
 */
import { isJsonObject, member, type JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { missingOr, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiBackend, ScoreApiCall, ScoreApiRequest } from './score-api-backend.ts';
import { type ScoreApiScore, type SpanScore, spanScores } from './score-api-score.ts';
import { type Answer, answerObject, objectsIn } from '../delivery/http-client.ts';

/** A trace comes with all its assessments, up to the number of scores of a run. */
const traceBytesMax = 8 * 1024 * 1024;
const idKey = 'tracejury.id';

export const mlflow = {
  id: 'mlflow',
  title: 'MLflow',
  endpoint: { variables: ['MLFLOW_TRACKING_URI'], isRequired: true, local: 'http://127.0.0.1:5000' },
  keys: {
    user: { variables: ['MLFLOW_TRACKING_USERNAME'] },
    api_key: { variables: ['MLFLOW_TRACKING_TOKEN', 'MLFLOW_TRACKING_PASSWORD'] },
  },
  places: {
    run: 'assessment of the trace; of a run that another agent called, of its span',
    toolCall: 'assessment of the tool’s span',
    session: 'nowhere',
  },
  revisions: 'The assessment is looked up by our id in its metadata, and changed.',
  cannotTake: [
    'Verdicts on sessions: an assessment is about a trace.',
    'Numbers in metadata: they become texts.',
    'The pass mark of a score; the label is in the metadata.',
  ],
  itemsPerRequest: 1,
  headers: ({ keys: { user, api_key: key } }) =>
    key === undefined
      ? {}
      : { authorization: user === undefined ? `Bearer ${key}` : `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}` },
  probe: { method: 'GET', path: '/api/2.0/mlflow/experiments/search?max_results=1' },
  write,
  supposed: () => ({ trace: { trace_info: {} } }),
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall): Promise<ExportOutcome> {
  const traces = Map.groupBy(spanScores(scores), ({ place }) => `tr-${place.traceId}`);
  return oneByOne([...traces], async ([trace, own]) => {
    const path = `/api/3.0/mlflow/traces/${trace}`;
    const answer = await call({ method: 'GET', path, answerBytesMax: traceBytesMax });
    const outcome = outcomeOf(answer);
    if (outcome.kind === 'failed') return outcome;
    const known = assessmentIds(answer);
    if (known === undefined) return { kind: 'failed', retryable: true, error: 'the trace cannot be read' };
    const requests = own.flatMap((score) => requestsFor({ score, trace, path: `${path}/assessments`, known: known.get(score.id) }));
    return oneByOne(requests, async (request) => outcomeOf(await call(request)));
  });
}

function requestsFor({
  score,
  trace,
  path,
  known,
}: {
  readonly score: SpanScore;
  readonly trace: string;
  readonly path: string;
  readonly known: string | undefined;
}): readonly ScoreApiRequest[] {
  const at = known === undefined ? undefined : `${path}/${encodeURIComponent(known)}`;
  if (score.value.kind === 'withdrawn') return at === undefined ? [] : [{ method: 'DELETE', path: at }];
  const { place, value, explanation, metadata } = score;
  const label = value.kind === 'scored' && value.label !== '' ? { 'tracejury.label': value.label } : {};
  const changing: JsonObject = {
    feedback:
      value.kind === 'scored' ? { value: value.score } : { value: null, error: { error_code: value.error, error_message: explanation } },
    rationale: explanation,
    metadata: { ...Object.fromEntries(Object.entries(metadata).map(([key, one]) => [key, String(one)])), ...label, [idKey]: score.id },
  };
  if (at !== undefined)
    return [
      {
        method: 'PATCH',
        path: at,
        body: { assessment: { assessment_id: known ?? '', trace_id: trace, ...changing }, update_mask: Object.keys(changing).join(',') },
      },
    ];
  const time = new Date(score.timeMs).toISOString();
  const span = place.kind === 'run' && place.isOutermost ? {} : { span_id: place.spanId };
  const source = { source_type: score.evaluatorKind === 'judge' ? 'LLM_JUDGE' : 'CODE', source_id: 'tracejury' };
  return [
    {
      method: 'POST',
      path,
      body: {
        assessment: {
          assessment_name: score.name,
          trace_id: trace,
          ...span,
          source,
          create_time: time,
          last_update_time: time,
          ...changing,
        },
      },
    },
  ];
}

/** Server ids by our ids; `undefined` when the answer is not a trace of MLflow, or exceeds the limit. */
function assessmentIds(answer: Answer): ReadonlyMap<string, string> | undefined {
  const info = below(below(answerObject(answer), 'trace'), 'trace_info');
  if (info === undefined) return undefined;
  const pairs = objectsIn(member(info, 'assessments')).flatMap((one) => {
    const [ours, theirs] = [member(below(one, 'metadata') ?? {}, idKey), member(one, 'assessment_id')];
    return typeof ours === 'string' && typeof theirs === 'string' ? [[ours, theirs] as const] : [];
  });
  return new Map(pairs);
}

function below(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from === undefined ? undefined : member(from, key);
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

function outcomeOf(answer: Answer): ExportOutcome {
  return missingOr(answer, /"RESOURCE_DOES_NOT_EXIST"/, 'its trace is not there');
}
