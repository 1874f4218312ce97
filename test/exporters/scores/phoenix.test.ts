import { expect, test } from 'vitest';
import { scoreApiExporter } from '../../../src/exporters/scores/score-api-exporter.ts';
import { phoenix } from '../../../src/exporters/scores/phoenix.ts';
import { run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { nativeServer, traceAt, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

interface Annotation {
  readonly span_id?: string;
  readonly trace_id?: string;
  readonly session_id?: string;
  readonly name: string;
  readonly annotator_kind: string;
  readonly identifier: string;
  readonly result: { readonly score?: number; readonly label?: string; readonly explanation?: string };
}

/** As Phoenix 20 does it. */
function rules(): NativeRules {
  const kept = new Map<string, ShownScore>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      if (method === 'GET') return { status: path === '/v1/projects?limit=1' ? 200 : 404, body: { data: [] } };
      const gone = /^\/v1\/projects\/default\/(span|trace|session)_annotations\?name=(\w+)&identifier=(\w+)&delete_all=true$/.exec(path);
      if (method === 'DELETE' && gone !== null) {
        for (const key of kept.keys())
          if (key.endsWith(`,${gone[2]},${gone[3]}`) && kept.get(key)?.at.startsWith(gone[1] ?? '')) kept.delete(key);
        return { status: 204 };
      }
      if (method !== 'POST' || !/^\/v1\/(span|trace|session)_annotations\?sync=true$/.test(path)) return { status: 404, body: 'Not Found' };
      if (!this.hasSpans) return { status: 404, body: 'Spans with IDs 00000000000000a1 do not exist.' };
      const { data } = body as { readonly data: readonly Annotation[] };
      for (const { span_id, trace_id, session_id, name, annotator_kind, identifier, result } of data) {
        if (!['CODE', 'LLM'].includes(annotator_kind) || Object.keys(result).length === 0) return { status: 422 };
        const at = session_id !== undefined ? `session ${session_id}` : span_id === undefined ? traceAt(trace_id ?? '') : `span ${span_id}`;
        kept.set([session_id ?? span_id ?? trace_id, name, identifier].join(), { name, at, ...result });
      }
      return { status: 200, body: { data: data.map((_, at) => ({ id: String(at) })) } };
    },
    scores: () => [...kept.values()],
  };
}

const verdict = { name: 'tool_error', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };
const own = { ...verdict, at: 'span 00000000000000a1' };
const part = { name: 'tool_error', at: 'span 00000000000000b1', score: 0, label: 'fail', explanation: 'It failed.' };
const bothPlaces = (result: Omit<ShownScore, 'at' | 'name'>): readonly ShownScore[] =>
  ['trace', 'span 00000000000000a1'].map((at) => ({ name: 'tool_error', at, ...result }));

nativeSuite({
  backend: phoenix,
  rules,
  keys: { api_key: 'k-1' },
  auth: { authorization: 'Bearer k-1' },
  shown: { outermost: [{ ...verdict, at: 'trace' }, own, part], called: [own, part] },
  failed: bothPlaces({ label: 'error: judge_timed_out', explanation: 'The judge did not answer.' }),
  withdrawn: [],
  session: [{ ...verdict, at: 'session s-1' }],
  looksForSpans: true,
  scoresMax: 500,
  scoresIn: ({ body }) => (body as { readonly data: readonly unknown[] }).data.length,
});

test('phoenix: an older server that deletes nothing shows what is taken back as such', async () => {
  const own20 = rules();
  own20.hasSpans = true;
  const server = await nativeServer({
    ...own20,
    answer: (request) => (request.method === 'DELETE' ? { status: 405 } : own20.answer(request)),
  });
  const exporter = scoreApiExporter(phoenix)({ endpoint: server.url });
  await exporter.send(scoredRun({ tool_error: scored(0.25) }));
  expect(await exporter.send(scoredRun({ tool_error: skipped }, run({ revision: 2 })))).toEqual({ kind: 'sent' });
  expect(own20.scores()).toEqual(bothPlaces({ label: 'withdrawn', explanation: 'It called no tool.' }).toReversed());
  await exporter.stop();
  await server.close();
});
