/** Every evaluator of the table as an entry of a configuration: what it may expect of the run, and what it cannot do without. */
import { configuredEvaluator, type ConfiguredEvaluator, type EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';

/** Required options of evaluators, and options that leave them nothing to do. */
const optionsOf: { readonly [evaluator: string]: JsonObject } = {
  tool_called: { name: 'search_flights' },
  tool_permission: { allow: ['search_*', 'get_weather', 'book_hotel', 'convert_money', 'send_message'] },
  step_count: { max: 1_000 },
  message_order: { sequence: [{ name: 'search_flights' }, { name: 'book_hotel' }] },
  output_contains: { text: 'Paris' },
  output_equals: { value: 'booked' },
  json_path: { path: '$.stops[*].city', operator: 'exists', value: true },
  regex_match: { pattern: 'REF-[0-9]+' },
  keywords: { keywords: ['trip', 'hotel'] },
  code_parseable: { on: { retriever: true } },
  cosine_similarity: { target_output_key: 'embedding' },
  http: { url: 'http://127.0.0.1:9/' },
  latency: { budget_seconds: 60 },
  token_usage: { total_budget: 10_000 },
  cost: { prices: { 'gpt-5-mini': { input_per_million: 0.25, output_per_million: 2 } }, budget: 0.01 },
};

/** A measured evaluator, ready to run, or the reason why it cannot be. */
export type Entry =
  | { readonly kind: 'ready'; readonly id: string; readonly evaluator: ConfiguredEvaluator }
  | { readonly kind: 'faulty'; readonly id: string; readonly why: string };

export function entriesFor(expected: JsonObject): readonly Entry[] {
  return evaluators.map(({ id, expectationSchema }) => {
    const expect = chosen(expected, Object.keys((expectationSchema?.['properties'] ?? {}) as object));
    return entryOf({
      use: id,
      name: id,
      ...(Object.keys(expect).length === 0 ? {} : { expect }),
      ...(Object.hasOwn(optionsOf, id) ? { options: optionsOf[id] ?? {} } : {}),
    });
  });
}

function entryOf(entry: EvaluatorEntry): Entry {
  const made = configuredEvaluator(entry, evaluators);
  if (made.kind === 'ready') return { kind: 'ready', id: entry.use, evaluator: made.evaluator };
  return { kind: 'faulty', id: entry.use, why: made.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`).join('; ') };
}

function chosen(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}
