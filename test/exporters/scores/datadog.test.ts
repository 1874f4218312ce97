import { expect, test } from 'vitest';
import { datadog } from '../../../src/exporters/scores/datadog.ts';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { nativeServer, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Metric {
  readonly event_kind: string;
  readonly join_on: { readonly span: { readonly span_id: string; readonly trace_id: string } };
  readonly ml_app: string;
  readonly timestamp_ms: number;
  readonly metric_type: 'score' | 'categorical';
  readonly label: string;
  readonly score_value?: number;
  readonly categorical_value?: string;
  readonly assessment?: 'pass' | 'fail';
  readonly reasoning?: string;
  readonly tags: readonly string[];
}

/** As its documentation and the types of dd-trace have it: of one span and label the newest is shown. */
function rules(): NativeRules {
  const kept = new Map<string, Metric>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      if (method === 'GET' && path === '/api/v1/validate') return { status: 200, body: { valid: true } };
      if (method !== 'POST' || path !== '/api/intake/llm-obs/v2/eval-metric') return { status: 404 };
      const { data } = body as { readonly data: { readonly type: string; readonly attributes: { readonly metrics: readonly Metric[] } } };
      if (data.type !== 'evaluation_metric' || !data.attributes.metrics.every(isValid)) return { status: 400 };
      for (const metric of data.attributes.metrics) {
        const key = `${metric.join_on.span.span_id} ${metric.label}`;
        if ((kept.get(key)?.timestamp_ms ?? 0) <= metric.timestamp_ms) kept.set(key, metric);
      }
      return { status: 202, body: {} };
    },
    scores: () => [...kept.values()].map(shown),
  };
}

function isValid({
  event_kind: kind,
  join_on: { span },
  ml_app: app,
  timestamp_ms: ms,
  metric_type: type,
  label,
  score_value: score,
  categorical_value: word,
  tags,
}: Metric): boolean {
  const isDecimal = [span.span_id, span.trace_id].every((id) => /^[1-9]\d*$/.test(id));
  return (
    kind === 'evaluation' &&
    isDecimal &&
    app !== '' &&
    Number.isInteger(ms) &&
    (type === 'score' ? typeof score === 'number' : typeof word === 'string') &&
    /^[A-Za-z]\w{0,199}$/.test(label) &&
    tags.includes('source:otel')
  );
}

function shown({ join_on: { span }, label: name, score_value: score, categorical_value: word, assessment, reasoning }: Metric): ShownScore {
  const label = word ?? assessment;
  return {
    name,
    at: `span ${BigInt(span.span_id).toString(16).padStart(16, '0')}`,
    ...(score === undefined ? {} : { score }),
    ...(label === undefined ? {} : { label }),
    ...(reasoning === undefined ? {} : { explanation: reasoning }),
  };
}

const own = { name: 'tool_error', at: 'span 00000000000000a1', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };

nativeSuite({
  backend: datadog,
  rules,
  keys: { api_key: 'k-1', project: 'travel' },
  auth: { 'dd-api-key': 'k-1' },
  shown: { outermost: [own, part], called: [own, part] },
  failed: [],
  withdrawn: [own],
  session: [],
  looksForSpans: false,
  scoresMax: 200,
  scoresIn: ({ body }) =>
    (body as { readonly data: { readonly attributes: { readonly metrics: readonly unknown[] } } }).data.attributes.metrics.length,
});

test('datadog: ids are decimal, the application is the service of the spans, and names are as the intake wants them', async () => {
  const server = await nativeServer(rules());
  const exporter = scoreApiExporter(datadog)({ endpoint: server.url, keys: { api_key: 'k-1' } });
  const of = run({ revision: 3 });
  expect(
    await exporter.send(
      scoredRun({ 'my-check.v2': scored(0.5, { threshold: null, passed: null, label: 'partly' }), '2nd': scored(1) }, of),
    ),
  ).toEqual({ kind: 'sent' });
  const { data } = (server.requests[0]?.body ?? {}) as { readonly data: { readonly attributes: { readonly metrics: readonly Metric[] } } };
  expect(
    data.attributes.metrics.map(({ label, metric_type: type, ml_app: app, timestamp_ms: ms, assessment }) => ({
      label,
      type,
      app,
      ms,
      assessment,
    })),
  ).toEqual([
    { label: 'my_check_v2', type: 'score', app: 'travel', ms: 1_700_000_001_125, assessment: undefined },
    { label: 'my_check_v2_label', type: 'categorical', app: 'travel', ms: 1_700_000_001_125, assessment: undefined },
    { label: 'e_2nd', type: 'score', app: 'travel', ms: 1_700_000_001_125, assessment: 'pass' },
  ]);
  expect(data.attributes.metrics[0]?.join_on.span).toEqual({ span_id: '161', trace_id: '100985939111033328018442752961257817910' });
  await exporter.stop();
  await server.close();
});
