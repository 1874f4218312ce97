/**
 * Annotations of Arize Phoenix: https://arize.com/docs/phoenix/sdk-api-reference/rest-api. A span has one annotation per name and
 * identifier, and a second one replaces it. Phoenix answers 404 for the whole request when it does not have one of the spans yet.
 */
import { chunks } from '../../model/chunks.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { missingOr, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiAccount, ScoreApiBackend, ScoreApiCall } from './score-api-backend.ts';
import type { ScoreApiScore } from './score-api-score.ts';
import type { Answer } from '../delivery/http-client.ts';

const annotationsMax = 500;

export const phoenix = {
  id: 'phoenix',
  title: 'Arize Phoenix',
  endpoint: { variables: ['PHOENIX_COLLECTOR_ENDPOINT'], isRequired: true, local: 'http://127.0.0.1:6006' },
  keys: { api_key: { variables: ['PHOENIX_API_KEY'] }, project: { variables: ['PHOENIX_PROJECT_NAME'] } },
  places: {
    run: 'annotation of the agent’s span; of a run that no other agent called, of its trace too',
    toolCall: 'annotation of the tool’s span',
    session: 'annotation of the session',
  },
  revisions: 'The same annotation is overwritten.',
  cannotTake: [
    'Before version 20, and where the project is not known, a withdrawn score stays with the label `withdrawn` and no value. The project is `project`, else that of the spans, else `default`.',
  ],
  itemsPerRequest: 16,
  headers: ({ keys }) => (keys.api_key === undefined ? {} : { authorization: `Bearer ${keys.api_key}` }),
  probe: { method: 'GET', path: '/v1/projects?limit=1' },
  write,
} as const satisfies ScoreApiBackend;

/** Targets of annotations. `kind` names the field of the target's id. */
const kinds = [
  { kind: 'span', idOf: ({ place }: ScoreApiScore) => (place.kind === 'session' ? undefined : place.spanId) },
  { kind: 'trace', idOf: ({ place }: ScoreApiScore) => (place.kind === 'run' && place.isOutermost ? place.traceId : undefined) },
  { kind: 'session', idOf: ({ place }: ScoreApiScore) => (place.kind === 'session' ? place.sessionId : undefined) },
] as const;

interface Written {
  readonly kind: string;
  readonly score: ScoreApiScore;
  readonly body: JsonObject;
}

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall, { keys }: ScoreApiAccount): Promise<ExportOutcome> {
  const all = kinds.flatMap(({ kind, idOf }) =>
    scores.flatMap((score): readonly Written[] => {
      const id = idOf(score);
      return id === undefined ? [] : [{ kind, score, body: { [`${kind}_id`]: id, ...annotation(score) } }];
    }),
  );
  const writings = kinds.flatMap(({ kind }) =>
    chunks(
      all.filter((one) => one.kind === kind && one.score.value.kind !== 'withdrawn'),
      annotationsMax,
    ),
  );
  // Without `sync`, Phoenix answers before it looks for the spans.
  const put = async (chunk: readonly Written[]): Promise<ExportOutcome> =>
    outcomeOf(
      await call({
        method: 'POST',
        path: `/v1/${chunk[0]?.kind ?? 'span'}_annotations?sync=true`,
        body: { data: chunk.map(({ body }) => body) },
      }),
    );
  const outcome = await oneByOne(writings, put);
  if (outcome.kind === 'failed') return outcome;
  return oneByOne(
    all.filter(({ score }) => score.value.kind === 'withdrawn'),
    async (one) => {
      const answer = await call({ method: 'DELETE', path: deletion(one, keys.project) });
      return answer.kind === 'answered' && notDeletable.has(answer.status) ? put([one]) : outcomeOf(answer);
    },
  );
}

/** Older versions of Phoenix, and a project of another name. */
const notDeletable: ReadonlySet<number> = new Set([404, 405, 422]);

/** The identifier belongs to one verdict, so nothing else is deleted. `delete_all` deletes it at any age. */
function deletion({ kind, score }: Written, project = score.project ?? 'default'): string {
  const query = new URLSearchParams({ name: score.name, identifier: score.id, delete_all: 'true' });
  return `/v1/projects/${encodeURIComponent(project)}/${kind}_annotations?${query.toString()}`;
}

function annotation(score: ScoreApiScore): JsonObject {
  return {
    name: score.name,
    annotator_kind: score.evaluatorKind === 'judge' ? 'LLM' : 'CODE',
    identifier: score.id,
    result: resultOf(score),
    metadata: score.metadata,
  };
}

/** An overwrite clears the fields that are left out. */
function resultOf({ value, explanation }: ScoreApiScore): JsonObject {
  const explained = explanation === '' ? {} : { explanation };
  if (value.kind === 'scored') return { score: value.score, ...(value.label === '' ? {} : { label: value.label }), ...explained };
  return { label: value.kind === 'failed' ? `error: ${value.error}` : 'withdrawn', ...explained };
}

/** Phoenix answers `Spans with IDs … do not exist.`. */
function outcomeOf(answer: Answer): ExportOutcome {
  return missingOr(answer, /\bdo(?:es)? not exist\b/, 'its span is not there');
}
