/** Every rule evaluator as an entry of a configuration, with the options that it requires. */
import { configuredEvaluator, type EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** By the name of an option that has no default; one that is not here gets a value that its schema allows. */
const neededOptions: { readonly [option: string]: JsonValue } = {
  max: 3,
  prices: { '*': { input_per_million: 1, output_per_million: 2 } },
  name: 'search_flights',
  sequence: [{ name: 'search_flights' }, { name: 'book_hotel' }],
  text: 'Paris',
  value: 'booked',
  path: '$.status',
  operator: 'EXISTS',
  pattern: 'HX-[0-9]+',
  keywords: ['flight', 'hotel'],
};

/** Values by the name of a member of `expect`. */
const expectations: { readonly [member: string]: JsonValue } = {
  tool_calls: [{ name: 'search_flights' }, { name: 'book_hotel', arguments: { nights: 5 } }],
  tool_outputs: [{ name: 'book_hotel', output: { confirmation: 'HX-4471' } }],
  tool_calls_count: { search_flights: 1, book_hotel: '>=1' },
  tool_calls_order: ['search_flights', 'book_hotel'],
  messages: [
    { role: 'user', content: 'Book.' },
    { role: 'assistant', content: '', tool_calls: [{ name: 'search_flights', args: {} }] },
  ],
  output: 'The hotel is booked.',
  search_text: ['HX-4471', 'AF007'],
  tasks: ['book a hotel'],
};

export const ruleEntries: readonly (EvaluatorEntry & { readonly options?: JsonObject; readonly expect?: JsonObject })[] = evaluators
  .filter(({ kind }) => kind === 'rule')
  .map(({ id, expectationSchema, optionsSchema }) => {
    const expect = chosen(expectations, Object.keys((expectationSchema?.['properties'] ?? {}) as object));
    const entry = { use: id, ...(Object.keys(expect).length === 0 ? {} : { expect }) };
    const made = configuredEvaluator(entry, evaluators);
    const options =
      made.kind === 'ready'
        ? {}
        : Object.fromEntries(
            made.faults
              .map(({ path }) => String(path.at(-1)))
              .map((name) => [name, neededOptions[name] ?? allowedBy(propertyOf(optionsSchema, name))]),
          );
    return { ...entry, ...(Object.keys(options).length === 0 ? {} : { options }) };
  });

function propertyOf(schema: JsonObject, name: string): JsonValue {
  const properties = schema['properties'];
  return isJsonObject(properties) ? (properties[name] ?? {}) : {};
}

function allowedBy(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return 'book';
  const [listed, forms, type] = [schema['enum'], schema['anyOf'], schema['type']];
  if (isJsonArray(listed)) return listed[0] ?? null;
  if (isJsonArray(forms)) return allowedBy(forms[0] ?? {});
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [allowedBy(schema['items'] ?? {})];
  return type === 'object' ? {} : 'book';
}

function chosen(from: { readonly [name: string]: JsonValue }, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}
