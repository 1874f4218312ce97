import { afterEach, expect, test } from 'vitest';
import { mlflow } from '../../../src/exporters/scores/mlflow.ts';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { nativeServer, traceAt, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Assessment {
  readonly assessment_id?: string;
  readonly assessment_name: string;
  readonly trace_id: string;
  readonly span_id?: string;
  readonly source: { readonly source_type: string };
  readonly feedback: { readonly value: number | null; readonly error?: { readonly error_code: string } };
  readonly rationale: string;
  readonly metadata: { readonly [key: string]: string };
  readonly create_time: string;
}

/** Follows MLflow 3.17. */
function rules(): NativeRules {
  const kept = new Map<string, Assessment>();
  let made = 0;
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      if (path === '/api/2.0/mlflow/experiments/search?max_results=1') return { status: 200, body: {} };
      const [, trace, id] = /^\/api\/3\.0\/mlflow\/traces\/(tr-[0-9a-f]{32})(?:\/assessments(?:\/(a-\d+))?)?$/.exec(path) ?? [];
      if (trace === undefined) return { status: 404, body: { error_code: 'ENDPOINT_NOT_FOUND' } };
      if (!this.hasSpans)
        return { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST', message: `Trace with ID '${trace}' not found.` } };
      if (method === 'GET')
        return {
          status: 200,
          body: {
            trace: {
              trace_info: {
                trace_id: trace,
                ...(kept.size === 0 ? {} : { assessments: [...kept.values()].filter(({ trace_id: own }) => own === trace) }),
              },
            },
          },
        };
      if (method === 'DELETE')
        return kept.delete(id ?? '') ? { status: 200, body: {} } : { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST' } };
      const { assessment, update_mask: mask } = body as { readonly assessment: Assessment; readonly update_mask?: string };
      if (!Object.values(assessment.metadata).every((value) => typeof value === 'string')) return { status: 400 };
      const before = kept.get(id ?? '');
      if (method === 'PATCH') {
        if (before === undefined || mask !== 'feedback,rationale,metadata') return { status: 400 };
        kept.set(id ?? '', {
          ...before,
          feedback: assessment.feedback,
          rationale: assessment.rationale,
          metadata: { ...before.metadata, ...assessment.metadata },
        });
        return { status: 200, body: { assessment } };
      }
      if (Number.isNaN(Date.parse(assessment.create_time)) || !['CODE', 'LLM_JUDGE'].includes(assessment.source.source_type))
        return { status: 400 };
      const own = `a-${++made}`;
      kept.set(own, { ...assessment, assessment_id: own });
      return { status: 200, body: { assessment: kept.get(own) } };
    },
    scores: () => [...kept.values()].map(shown),
  };
}

function shown({
  assessment_name: name,
  trace_id: trace,
  span_id: span,
  feedback,
  rationale: explanation,
  metadata,
}: Assessment): ShownScore {
  const label = feedback.error?.error_code ?? metadata['tracejury.label'];
  return {
    name,
    at: span === undefined ? traceAt(trace.slice(3)) : `span ${span}`,
    ...(feedback.value === null ? {} : { score: feedback.value }),
    ...(label === undefined ? {} : { label }),
    explanation,
  };
}

const verdict = { name: 'tool_error', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };

nativeSuite({
  backend: mlflow,
  rules,
  keys: { user: 'ann', api_key: 'k-1' },
  auth: { authorization: `Basic ${Buffer.from('ann:k-1').toString('base64')}` },
  shown: { outermost: [{ ...verdict, at: 'trace' }, part], called: [{ ...verdict, at: 'span 00000000000000a1' }, part] },
  failed: [{ name: 'tool_error', at: 'trace', label: 'judge_timed_out', explanation: 'The judge did not answer.' }],
  withdrawn: [],
  session: [],
  looksForSpans: true,
  scoresMax: 1,
  scoresIn: ({ body }) => (body === undefined ? 0 : 1),
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

for (const body of [{}, { trace: {} }, { trace: 'gone' }, { trace: { trace_info: [] } }])
  test(`mlflow: ${JSON.stringify(body)} in place of a trace is reported as such, and the item may come again`, async () => {
    const server = await nativeServer({ ...rules(), answer: () => ({ status: 200, body }) });
    const keys = { user: 'ann', api_key: 'k-1' };
    const exporter = scoreApiExporter(mlflow)({ endpoint: server.url, keys, timeoutMs: 60_000 }, { sleep: () => Promise.resolve() });
    open.push({ close: () => exporter.stop() }, server);
    expect(await exporter.send(scoredRun({ tool_error: scored(1) }))).toMatchObject({
      kind: 'failed',
      retryable: true,
      error: 'the trace cannot be read',
    });
  });
