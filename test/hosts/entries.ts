/** Every rule evaluator as an entry of a configuration, with whatever it cannot do without. */
import { configuredEvaluator, type EvaluatorEntry } from '../../evaluators/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

/** By the name of an option that has no default. */
const neededOptions: { readonly [option: string]: JsonValue } = {
  name: 'search_flights',
  sequence: [{ name: 'search_flights' }, { name: 'book_hotel' }],
  text: 'Paris',
  value: 'booked',
  path: '$.status',
  operator: 'EXISTS',
  pattern: 'HX-[0-9]+',
  keywords: ['flight', 'hotel'],
};

/** By the name of a member of `expect`. */
const expectations: { readonly [member: string]: JsonValue } = {
  tool_calls: [{ name: 'search_flights' }, { name: 'book_hotel', arguments: { nights: 5 } }],
  tool_outputs: [{ name: 'book_hotel', output: { confirmation: 'HX-4471' } }],
  tool_calls_count: { search_flights: 1, book_hotel: '>=1' },
  tool_calls_order: ['search_flights', 'book_hotel'],
  messages: [{ role: 'user', content: 'Book.' }, { role: 'assistant', content: '', tool_calls: [{ name: 'search_flights', args: {} }] }],
  output: 'The hotel is booked.',
  search_text: ['HX-4471', 'AF007'],
  tasks: ['book a hotel'],
};

export const ruleEntries: readonly (EvaluatorEntry & { readonly options?: JsonObject; readonly expect?: JsonObject })[] = evaluators
  .filter(({ kind }) => kind === 'rule')
  .map(({ id, expectationSchema }) => {
    const expect = chosen(expectations, Object.keys((expectationSchema?.['properties'] ?? {}) as object));
    const entry = { use: id, ...(Object.keys(expect).length === 0 ? {} : { expect }) };
    const made = configuredEvaluator(entry, evaluators);
    const options = made.kind === 'ready' ? {} : chosen(neededOptions, made.faults.map(({ path }) => String(path.at(-1))));
    return { ...entry, ...(Object.keys(options).length === 0 ? {} : { options }) };
  });

function chosen(from: { readonly [name: string]: JsonValue }, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}
