/**
 * Feedback scores of Opik: https://www.comet.com/docs/opik/reference/rest-api. Ids are UUIDs of version 7. For a trace or span that came
 * over OpenTelemetry, the last 80 bits are a hash of the OpenTelemetry id. The time before them is that of the first span that Opik saw,
 * which no client knows. So the exporter looks the trace up by the hash, and reuses its time for the spans.
 */
import { hash } from 'node:crypto';
import { chunks } from '../../model/chunks.ts';
import { member, type JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { exportOutcome, hasStatus, missing, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiAccount, ScoreApiBackend, ScoreApiCall, ScoreApiOutcome, ScoreApiRequest } from './score-api-backend.ts';
import { isEnded, type ScoreApiScore, spanScores, worstPerName } from './score-api-score.ts';
import { type Answer, answerObject, objectsIn } from '../delivery/http-client.ts';
import { present } from '../../model/present.ts';

/** Opik accepts 1000. */
const scoresMax = 500;
/** Limit of the trace that the exporter looks up, without input and output. */
const traceBytesMax = 1024 * 1024;
/** Range of the look-up around the end of the run: ids are sorted by the time of the trace's first span. */
const beforeMs = 7 * 86_400_000;
const afterMs = 86_400_000;
/** Digits that Opik keeps. */
const digits = 9;

export const opik = {
  id: 'opik',
  title: 'Opik',
  endpoint: { variables: ['OPIK_URL_OVERRIDE'], preset: 'https://www.comet.com/opik/api' },
  keys: {
    api_key: { variables: ['OPIK_API_KEY'] },
    workspace: { variables: ['OPIK_WORKSPACE'] },
    project: { variables: ['OPIK_PROJECT_NAME'], preset: 'Default Project' },
  },
  places: {
    run: 'feedback score of the trace; of a run that another agent called, of its span',
    toolCall: 'feedback score of the tool’s span',
    session: 'feedback score of the thread of that id',
  },
  revisions: 'The same score is overwritten: a trace, span or thread has one of a name.',
  cannotTake: [
    'Traces whose spans have `opik.trace_id`, or that Opik’s own SDK sends: their ids do not follow from those of OpenTelemetry.',
    'Several verdicts of one evaluator on one span: only the worst of them is there.',
    'Evaluations that failed: a score needs a value.',
    'Metadata.',
    'Spans that come after Opik has forgotten its id of their trace: they become a second trace, and scores are on one of the two.',
  ],
  itemsPerRequest: 8,
  headers: ({ keys: { api_key: key, workspace } }) => present({ authorization: key, 'comet-workspace': workspace }),
  probe: { method: 'GET', path: '/v1/private/projects?size=1' },
  write,
  supposed: ({ path }) => ({ content: [{ id: `00000000-0000${/(-7\w{3}-\w{4}-\w{12})/.exec(decodeURIComponent(path))?.[0] ?? ''}` }] }),
} as const satisfies ScoreApiBackend;

const kinds = [
  { kind: 'traces', idKey: 'id' },
  { kind: 'spans', idKey: 'id' },
  { kind: 'traces/threads', idKey: 'thread_id' },
] as const;

interface Placed extends ScoreApiScore {
  readonly kind: (typeof kinds)[number]['kind'];
  readonly targetId: string;
}

async function write(
  scores: readonly ScoreApiScore[],
  call: ScoreApiCall,
  { keys: { project = 'Default Project' } }: ScoreApiAccount,
): Promise<ScoreApiOutcome> {
  const placed: Placed[] = scores.flatMap((score) =>
    score.place.kind === 'session' ? [{ ...score, kind: 'traces/threads' as const, targetId: score.place.sessionId }] : [],
  );
  const traces = Map.groupBy(spanScores(scores), ({ place }) => place.traceId);
  const only = new Set<string>();
  for (const [traceId, own] of traces) {
    const found = await traceIn(call, project, { traceId, timeMs: Math.min(...own.map(({ timeMs }) => timeMs)) });
    if (typeof found === 'object') return found;
    if (found === '') {
      for (const { id } of own) only.add(id);
      continue;
    }
    const time = found.slice(0, timeChars);
    placed.push(
      ...own.map((score): Placed =>
        score.place.kind === 'run' && score.place.isOutermost
          ? { ...score, kind: 'traces', targetId: found }
          : { ...score, kind: 'spans', targetId: `${time}${latterPart(score.place.spanId)}` },
      ),
    );
  }
  const each = worstPerName(placed, ({ kind, targetId }) => `${kind} ${targetId}`);
  const writings = kinds.flatMap(({ kind, idKey }) =>
    chunks(
      each.filter((one) => one.kind === kind && one.value.kind === 'scored'),
      scoresMax,
    ).map((some): ScoreApiRequest => ({
      method: 'PUT',
      path: `/v1/private/${kind}/feedback-scores`,
      body: { scores: some.map((score) => ({ [idKey]: score.targetId, project_name: project, ...scoreOf(score) })) },
    })),
  );
  const ended = each.filter(isEnded).map((one) => ending(one, project));
  const outcome = await oneByOne([...writings, ...ended], async (request) => outcomeOf(await call(request)));
  return outcome.kind === 'failed' || only.size === 0 ? outcome : { ...missing('its trace is not there'), only };
}

function scoreOf({ name, value, explanation }: ScoreApiScore): JsonObject {
  if (value.kind !== 'scored') return {};
  return {
    name,
    value: Number(value.score.toFixed(digits)),
    ...(value.label === '' ? {} : { category_name: value.label }),
    ...(explanation === '' ? {} : { reason: explanation }),
    source: 'sdk',
  };
}

function ending({ kind, targetId: id, name }: Placed, project: string): ScoreApiRequest {
  if (kind === 'traces/threads')
    return {
      method: 'POST',
      path: '/v1/private/traces/threads/feedback-scores/delete',
      body: { project_name: project, thread_id: id, names: [name] },
    };
  return { method: 'POST', path: `/v1/private/${kind}/${id}/feedback-scores/delete`, body: { name } };
}

/** Length of `tttttttt-tttt`, before the first dash of the hash part. */
const timeChars = 13;

/** The empty text when the trace has not arrived. */
async function traceIn(
  call: ScoreApiCall,
  project: string,
  { traceId, timeMs }: { readonly traceId: string; readonly timeMs: number },
): Promise<string | ExportOutcome> {
  const ending = latterPart(traceId);
  const query = new URLSearchParams({
    project_name: project,
    size: '1',
    truncate: 'true',
    exclude: '["input","output","metadata"]',
    from_time: new Date(timeMs - beforeMs).toISOString(),
    to_time: new Date(timeMs + afterMs).toISOString(),
    filters: JSON.stringify([{ field: 'id', key: '', type: 'string', operator: 'ends_with', value: ending }]),
  });
  const answer = await call({ method: 'GET', path: `/v1/private/traces?${query.toString()}`, answerBytesMax: traceBytesMax });
  const outcome = exportOutcome(answer);
  if (outcome.kind === 'failed' || answer.kind === 'unanswered') return outcome;
  const [first = {}] = objectsIn(member(answerObject(answer) ?? {}, 'content'));
  const id = member(first, 'id');
  return typeof id === 'string' && id.endsWith(ending) ? id : '';
}

/** The last 80 bits of the UUID: the first ones of a hash of the id, except version and variant. */
function latterPart(hex: string): string {
  const bits = hash('sha256', Buffer.from(hex, 'hex'), 'hex');
  const variant = ((Number.parseInt(bits[4] ?? '0', 16) & 0b11) | 0b1000).toString(16);
  return `-7${bits.slice(1, 4)}-${variant}${bits.slice(5, 8)}-${bits.slice(8, 20)}`;
}

/** 409: the thread is closed for scores, or has not arrived yet. */
function outcomeOf(answer: Answer): ExportOutcome {
  return hasStatus(answer, 409) ? missing('its thread is not ready') : exportOutcome(answer);
}
