import { laminar } from '../../../src/exporters/scores/laminar.ts';
import { traceAt, type NativeRules, type ShownScore } from '../native-server.ts';
import { nativeSuite } from '../native-suite.ts';

type Metadata = { readonly [key: string]: string | number | null };

/** As its server does it: the keys that come are merged into those that are there, and a trace that it has not got is a 404. */
function rules(): NativeRules {
  const kept = new Map<string, Metadata>();
  return {
    hasSpans: false,
    answer({ method, path, body }) {
      if (method === 'GET') return path === '/v1/project' ? { status: 200, body: { projectId: 'p' } } : { status: 404 };
      if (method !== 'POST' || path !== '/v1/traces/metadata') return { status: 404 };
      const { traceId, metadata } = body as { readonly traceId: string; readonly metadata: Metadata };
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(traceId) || Object.keys(metadata).length === 0) return { status: 400 };
      if (!this.hasSpans) return { status: 404, body: 'Trace not found' };
      kept.set(traceId, { ...kept.get(traceId), ...metadata });
      return { status: 200 };
    },
    scores: () => [...kept].flatMap(([traceId, metadata]) => shown(traceAt(traceId.replaceAll('-', '')), metadata)),
  };
}

function shown(at: string, metadata: Metadata): readonly ShownScore[] {
  const names = Object.keys(metadata).flatMap((key) => /^tracejury\.(\w+)\.explanation$/.exec(key)?.[1] ?? []);
  return names.flatMap((name) => {
    const [score, label, explanation] = ['score', 'label', 'explanation'].map((key) => metadata[`tracejury.${name}.${key}`]);
    if (typeof explanation !== 'string') return [];
    return [{ name, at, ...(typeof score === 'number' ? { score } : {}), ...(typeof label === 'string' ? { label } : {}), explanation }];
  });
}

const verdict = { name: 'tool_error', at: 'trace', score: 0.25, label: 'fail', explanation: 'It is 0.25.' };

nativeSuite({
  backend: laminar,
  rules,
  keys: { api_key: 'k-1' },
  auth: { authorization: 'Bearer k-1' },
  shown: { outermost: [verdict], called: [] },
  failed: [{ name: 'tool_error', at: 'trace', label: 'error: judge_timed_out', explanation: 'The judge did not answer.' }],
  withdrawn: [],
  session: [],
  looksForSpans: true,
  scoresMax: 100,
  scoresIn: ({ body }) => Object.keys((body as { readonly metadata: Metadata }).metadata).length / 3,
});
