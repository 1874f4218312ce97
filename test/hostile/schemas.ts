/** Definitions of tools that come with the spans: schemas that are wrong, endless, or made to be slow. */
import { gzipSync } from 'node:zlib';
import { good, json, plain, spanId } from './bodies.ts';
import { taken, type HostileCase, type Wanted } from './case.ts';
import { asJson, post } from './senders.ts';

const times = <T>(count: number, make: (at: number) => T): readonly T[] => Array.from({ length: count }, (_, at) => make(at));
const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });

/** A run with one call of the tool whose schema is given; `verdict` is that of `tool_call_validity`. */
function schema(name: string, parameters: unknown, args: unknown, verdict: string, more: Partial<Wanted> = {}): HostileCase {
  return tools(name, 1, () => parameters, args, verdict, more);
}

/** A run with this many tools, each with a separate schema and called once. Functions are called when the case is run. */
function tools(
  name: string,
  count: number,
  schemaOf: (at: number) => unknown,
  args: unknown,
  verdict: string,
  more: Partial<Wanted> = {},
): HostileCase {
  const made = (given: unknown): unknown => (typeof given === 'function' ? (given as () => unknown)() : given);
  return {
    name,
    prepare(trace) {
      const definitions = JSON.stringify(times(count, (at) => ({ type: 'function', name: `find_${at}`, parameters: made(schemaOf(at)) })));
      const agent = good(trace, {
        attributes: [
          text('gen_ai.operation.name', 'invoke_agent'),
          text('gen_ai.agent.name', 'good'),
          text('gen_ai.tool.definitions', definitions),
        ],
      });
      const sent = JSON.stringify(made(args));
      const calls = times(count, (at) =>
        plain(trace, {
          spanId: spanId(at + 1),
          parentSpanId: agent['spanId'],
          attributes: [
            text('gen_ai.operation.name', 'execute_tool'),
            text('gen_ai.tool.name', `find_${at}`),
            text('gen_ai.tool.call.arguments', sent),
          ],
        }),
      );
      return post(gzipSync(json(agent, ...calls)), { headers: { ...asJson, 'content-encoding': 'gzip' } });
    },
    want: taken(1 + count, { runs: 1, verdict, ...more }),
  };
}

const passes = 'scored 1';
const fails = 'scored 0';
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const named = (count: number, schemaOf: (at: number) => unknown): object =>
  Object.fromEntries(times(count, (at) => [`p${at}`, schemaOf(at)]));
const needing = (at: number): object => object({ [`p${at}`]: { type: 'string' } }, { required: [`p${at}`] });
const tooMuch = 'skipped too_large';
const notApplied = 'skipped schema_not_applied';
/** One object of 100,000 members is parsed in one piece, and parsing it takes longer than anything else of its length. */
const oneObject: Partial<Wanted> = { turnMs: 100 };
const nested = (levels: number): object => (levels === 0 ? { type: 'string' } : object({ a: nested(levels - 1) }));

export const schemaCases: readonly HostileCase[] = [
  schema('a schema elsewhere', { $ref: 'http://127.0.0.1:9/schema.json' }, { a: 1 }, notApplied),
  schema('a schema in a file', { $ref: 'file:///etc/passwd' }, { a: 1 }, notApplied),
  schema(
    'a part elsewhere beside a part that is wrong',
    object({ a: { $ref: 'http://127.0.0.1:9/a.json' }, b: { type: 'string' } }),
    { a: 1, b: 2 },
    fails,
  ),
  schema('a schema that is itself', { $ref: '#' }, { a: 1 }, tooMuch),
  schema(
    'two definitions that are each other',
    { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
    { a: 1 },
    tooMuch,
  ),
  schema(
    'a tree that doubles with each level',
    { $defs: { t: object({ l: { $ref: '#/$defs/t' }, r: { $ref: '#/$defs/t' } }) }, anyOf: [{ $ref: '#/$defs/t' }, { $ref: '#/$defs/t' }] },
    { l: { l: { l: {} } } },
    passes,
  ),
  schema('a pattern without end', object({ a: { type: 'string', pattern: '^(a+)+$' } }), { a: `${'a'.repeat(50_000)}!` }, fails),
  schema('a pattern of backreferences', object({ a: { type: 'string', pattern: '(a*)*\\1b' } }), { a: 'a'.repeat(50_000) }, notApplied),
  schema('a pattern that is none', object({ a: { type: 'string', pattern: '([' } }), { a: 'x' }, notApplied),
  schema(
    'a property pattern without end',
    { type: 'object', patternProperties: { '^(x+x+)+y$': { type: 'string' } } },
    { ['x'.repeat(5_000)]: 1 },
    passes,
  ),
  schema(
    'a hundred thousand properties',
    () => object(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`p${at}`, { type: 'string' }]))),
    { p1: 1 },
    fails,
    oneObject,
  ),
  schema('a thousand levels', () => nested(1_000), { a: {} }, 'skipped no_tool_definitions'),
  schema('a thousand alternatives', object({ a: { anyOf: Array.from({ length: 1_000 }, (_, at) => ({ const: at })) } }), { a: 'x' }, fails),
  schema('an enumeration of five thousand', object({ a: { enum: Array.from({ length: 5_000 }, (_, at) => `v${at}`) } }), { a: 'x' }, fails),
  schema(
    'names of the object prototype',
    {
      type: 'object',
      properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"number"}}') as object,
      required: ['constructor'],
    },
    JSON.parse('{"__proto__":"x","constructor":"y"}'),
    passes,
  ),
  schema('names of the object prototype that are missing', { type: 'object', required: ['constructor', 'toString'] }, {}, fails),
  schema('an unknown draft', { $schema: 'http://example.com/draft-99', type: 'object' }, { a: 1 }, passes),
  schema('a schema that is a text', 'object', { a: 1 }, notApplied),
  schema('a schema that is a list', [1, 2], { a: 1 }, notApplied),
  schema('a schema that allows nothing', false, { a: 1 }, fails),
  schema('keywords of wrong types', { type: 7, properties: [], required: 'a', minimum: {}, pattern: 1 }, { a: 1 }, notApplied),
  schema('lengths below zero', object({ a: { type: 'string', minLength: -1, maxLength: 1e300 } }), { a: 'x' }, passes),
  schema('six hundred alternatives of objects', () => object({ a: { oneOf: times(600, needing) } }), { a: {} }, fails),
  schema(
    'fifteen hundred patterns of names',
    () => ({ type: 'object', patternProperties: Object.fromEntries(times(1_500, (at) => [`^a${at}`, { type: 'string' }])) }),
    { a: 1 },
    notApplied,
  ),
  schema(
    'patterns that repeat repetitions',
    () => object(named(60, (at) => ({ pattern: `${'((a{1,9}){1,9}){1,9}|'.repeat(45)}${at}` }))),
    { p1: 'a' },
    notApplied,
  ),
  schema('five thousand required names', () => ({ type: 'object', required: times(5_000, (at) => `r${at}`) }), {}, fails),
  schema(
    'a hundred thousand items that must differ',
    object({ a: { type: 'array', uniqueItems: true } }),
    () => ({ a: times(100_000, (at) => ({ at })) }),
    tooMuch,
  ),
  schema(
    'a hundred thousand items, each with nine hundred choices',
    () => object({ a: { type: 'array', items: { anyOf: times(900, (at) => ({ const: at })) } } }),
    () => ({ a: times(100_000, () => 'x') }),
    fails,
  ),
  tools('a thousand tools with separate schemas', 1_000, (at) => object(named(20, () => ({ const: `${at}` }))), { a: 1 }, tooMuch),
  tools(
    'thirty tools, each with the largest schema',
    30,
    (at) => object(named(1_500, () => ({ type: 'string', title: `${at}` }))),
    { a: 1 },
    tooMuch,
  ),
  tools(
    'a hundred tools whose texts are searched a hundred times',
    100,
    () => object(named(1, () => ({ pattern: `^(a?){1,60}(b|c|a*)*!$` }))),
    () => ({ p0: 'a'.repeat(100_000) }),
    fails,
  ),
  schema('a multiple of zero', object({ a: { type: 'number', multipleOf: 0 } }), { a: 1 }, passes),
  schema(
    'code in names',
    {
      type: 'object',
      properties: { "'];process.exit(1);//": { type: 'string' }, '${process.exit(1)}': { type: 'string' } },
      required: ["'];process.exit(1);//"],
    },
    { "'];process.exit(1);//": 'x' },
    passes,
  ),
];
