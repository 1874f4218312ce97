/**
 * Scores in the metadata of Laminar traces. Laminar has removed its route for span scores (decision 14). It merges metadata that arrive
 * later into those of the trace, which is how Laminar's own client attaches scores: https://docs.laminar.sh.
 */
import { chunks } from '../../model/chunks.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { missingOr, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiBackend, ScoreApiCall } from './score-api-backend.ts';
import { type ScoreApiScore, uuidText } from './score-api-score.ts';

/** Scores per request: with explanations of some kilobytes far below the limit. */
const scoresMax = 100;

export const laminar = {
  id: 'laminar',
  title: 'Laminar',
  endpoint: { variables: ['LMNR_BASE_URL'], preset: 'https://api.lmnr.ai' },
  keys: { api_key: { variables: ['LMNR_PROJECT_API_KEY'], isRequired: true } },
  places: { run: 'metadata of the trace; of a run that another agent called, nowhere', toolCall: 'nowhere', session: 'nowhere' },
  revisions: 'The same keys of the metadata are overwritten.',
  cannotTake: [
    'Verdicts on runs that another agent called, on tool calls and on sessions.',
    'Scores: they are `tracejury.NAME.score`, `.label` and `.explanation` in the metadata. A withdrawn score is null.',
    'Two outermost runs of one trace: only the verdicts of the one written last are there.',
  ],
  itemsPerRequest: 1,
  headers: ({ keys: { api_key: key = '' } }) => ({ authorization: `Bearer ${key}` }),
  probe: { method: 'GET', path: '/v1/project' },
  write,
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall): Promise<ExportOutcome> {
  const traces = Map.groupBy(
    scores.flatMap(({ place, ...score }) => (place.kind === 'run' && place.isOutermost ? [{ ...score, place }] : [])),
    ({ place }) => place.traceId,
  );
  const requests = [...traces].flatMap(([traceId, own]) =>
    chunks(own, scoresMax).map((some) => ({ traceId: uuidText(traceId), metadata: Object.assign({}, ...some.map(entries)) as JsonObject })),
  );
  return oneByOne(requests, async (body) =>
    missingOr(await call({ method: 'POST', path: '/v1/traces/metadata', body }), /Trace not found/, 'its trace is not there'),
  );
}

function entries({ name, value, explanation }: ScoreApiScore): JsonObject {
  const key = `tracejury.${name}`;
  if (value.kind === 'withdrawn') return { [`${key}.score`]: null, [`${key}.label`]: null, [`${key}.explanation`]: null };
  return {
    [`${key}.score`]: value.kind === 'scored' ? value.score : null,
    [`${key}.label`]: value.kind === 'failed' ? `error: ${value.error}` : value.label === '' ? null : value.label,
    [`${key}.explanation`]: explanation,
  };
}
