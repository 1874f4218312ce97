/**
 * Evaluations of Datadog LLM Observability: https://docs.datadoghq.com/llm_observability/instrumentation/api. Span ids are decimal there.
 * The tag `source:otel` makes the intake wait for a span that comes over OpenTelemetry.
 */
import { chunks } from '../../model/chunks.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { exportOutcome, oneByOne } from '../delivery/export-outcome.ts';
import type { ScoreApiAccount, ScoreApiBackend, ScoreApiCall } from './score-api-backend.ts';
import type { ScoreApiScore } from './score-api-score.ts';

/** Evaluations per request: with explanations of some kilobytes far below the limit of 5 MB. */
const metricsMax = 200;
const labelCharsMax = 200;

export const datadog = {
  id: 'datadog',
  title: 'Datadog',
  endpoint: { variables: ['DD_SITE'], ofVariable: (site) => `https://api.${site}`, preset: 'https://api.datadoghq.com' },
  keys: { api_key: { variables: ['DD_API_KEY'], isRequired: true }, project: { variables: ['DD_LLMOBS_ML_APP'] } },
  places: { run: 'evaluation of the agent’s span', toolCall: 'evaluation of the tool’s span', session: 'nowhere' },
  revisions: 'A further evaluation of the same label, with a later time.',
  cannotTake: [
    'A change or the end of an evaluation: evaluations have no ids. A score that is sent twice is there twice, and a withdrawn one stays.',
    'Verdicts on sessions: an evaluation joins a span.',
    'Evaluations that failed: an evaluation needs a value.',
    'Characters of names other than letters, digits and underscores: they become underscores.',
    'Evaluations whose span never comes: they are lost unseen, because the answer does not show whether the span is there.',
  ],
  itemsPerRequest: 32,
  headers: ({ keys: { api_key: key = '' } }) => ({ 'dd-api-key': key }),
  probe: { method: 'GET', path: '/api/v1/validate' },
  write,
} as const satisfies ScoreApiBackend;

async function write(scores: readonly ScoreApiScore[], call: ScoreApiCall, { keys }: ScoreApiAccount): Promise<ExportOutcome> {
  const metrics = scores.flatMap((score) => metricsOf(score, keys.project));
  return oneByOne(chunks(metrics, metricsMax), async (some) =>
    exportOutcome(
      await call({
        method: 'POST',
        path: '/api/intake/llm-obs/v2/eval-metric',
        body: { data: { type: 'evaluation_metric', attributes: { metrics: some } } },
      }),
    ),
  );
}

/**
 * The score, and a categorical evaluation when the label is one of the evaluator's own. The application defaults to the service of the
 * spans.
 */
function metricsOf(score: ScoreApiScore, app = score.service ?? 'unknown_service'): readonly JsonObject[] {
  const { place, value, explanation, metadata } = score;
  if (place.kind === 'session' || value.kind !== 'scored') return [];
  const common = {
    event_kind: 'evaluation',
    join_on: { span: { span_id: decimal(place.spanId), trace_id: decimal(place.traceId) } },
    ml_app: app,
    timestamp_ms: score.timeMs + score.revision - 1,
    ...(explanation === '' ? {} : { reasoning: explanation }),
    ...(value.passed === null ? {} : { assessment: value.passed ? 'pass' : 'fail' }),
    metadata,
    tags: ['source:otel'],
  };
  const label = labelOf(score.name);
  const isOwn = !['', 'pass', 'fail'].includes(value.label);
  return [
    { ...common, label, metric_type: 'score', score_value: value.score },
    ...(isOwn ? [{ ...common, label: `${label}_label`, metric_type: 'categorical', categorical_value: value.label }] : []),
  ];
}

function decimal(hex: string): string {
  return BigInt(`0x${hex}`).toString();
}

/** An ASCII letter first, then letters, digits and underscores, up to the limit of the intake. */
function labelOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_]/g, '_');
  return (/^[A-Za-z]/.test(plain) ? plain : `e_${plain}`).slice(0, labelCharsMax - '_label'.length);
}
