/** Definitions of tools that come with the spans: schemas that are wrong, endless, or made to be slow. */
import { good, json, plain } from './bodies.ts';
import { taken, type HostileCase } from './case.ts';
import { asJson, post } from './senders.ts';

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });

/** A run with one call of the tool whose schema is given; `verdict` is what `tool_call_validity` says of it. */
function schema(name: string, parameters: unknown, args: unknown, verdict: string): HostileCase {
  return {
    name,
    prepare(trace) {
      const definitions = JSON.stringify([{ type: 'function', name: 'find', parameters: typeof parameters === 'function' ? (parameters as () => unknown)() : parameters }]);
      const agent = good(trace, { attributes: [text('gen_ai.operation.name', 'invoke_agent'), text('gen_ai.agent.name', 'good'), text('gen_ai.tool.definitions', definitions)] });
      const tool = plain(trace, { parentSpanId: agent['spanId'], attributes: [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 'find'), text('gen_ai.tool.call.arguments', JSON.stringify(args))] });
      return post(json(agent, tool), { headers: asJson });
    },
    want: taken(2, { runs: 1, verdict }),
  };
}

const passes = 'scored 1';
const fails = 'scored 0';
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const nested = (levels: number): object => (levels === 0 ? { type: 'string' } : object({ a: nested(levels - 1) }));

export const schemaCases: readonly HostileCase[] = [
  schema('a schema elsewhere', { $ref: 'http://127.0.0.1:9/schema.json' }, { a: 1 }, passes),
  schema('a schema in a file', { $ref: 'file:///etc/passwd' }, { a: 1 }, passes),
  schema('a part elsewhere beside a part that is wrong', object({ a: { $ref: 'http://127.0.0.1:9/a.json' }, b: { type: 'string' } }), { a: 1, b: 2 }, fails),
  schema('a schema that is itself', { $ref: '#' }, { a: 1 }, passes),
  schema('two definitions that are each other', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, { a: 1 }, passes),
  schema('a tree that doubles with each level', { $defs: { t: object({ l: { $ref: '#/$defs/t' }, r: { $ref: '#/$defs/t' } }) }, anyOf: [{ $ref: '#/$defs/t' }, { $ref: '#/$defs/t' }] }, { l: { l: { l: {} } } }, passes),
  schema('a pattern without end', object({ a: { type: 'string', pattern: '^(a+)+$' } }), { a: `${'a'.repeat(50_000)}!` }, fails),
  schema('a pattern of backreferences', object({ a: { type: 'string', pattern: '(a*)*\\1b' } }), { a: 'a'.repeat(50_000) }, passes),
  schema('a pattern that is none', object({ a: { type: 'string', pattern: '([' } }), { a: 'x' }, passes),
  schema('a property pattern without end', { type: 'object', patternProperties: { '^(x+x+)+y$': { type: 'string' } } }, { ['x'.repeat(5_000)]: 1 }, passes),
  schema('a hundred thousand properties', () => object(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`p${at}`, { type: 'string' }]))), { p1: 1 }, passes),
  schema('a thousand levels', () => nested(1_000), { a: {} }, 'skipped no_tool_definitions'),
  schema('a thousand alternatives', object({ a: { anyOf: Array.from({ length: 1_000 }, (_, at) => ({ const: at })) } }), { a: 'x' }, fails),
  schema('an enumeration of five thousand', object({ a: { enum: Array.from({ length: 5_000 }, (_, at) => `v${at}`) } }), { a: 'x' }, fails),
  schema('names of the object prototype', { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"number"}}') as object, required: ['constructor'] }, JSON.parse('{"__proto__":"x","constructor":"y"}'), passes),
  schema('names of the object prototype that are missing', { type: 'object', required: ['constructor', 'toString'] }, {}, fails),
  schema('a draft of nobody', { $schema: 'http://example.com/draft-99', type: 'object' }, { a: 1 }, passes),
  schema('a schema that is a text', 'object', { a: 1 }, passes),
  schema('a schema that is a list', [1, 2], { a: 1 }, passes),
  schema('a schema that allows nothing', false, { a: 1 }, fails),
  schema('keywords of wrong types', { type: 7, properties: [], required: 'a', minimum: {}, pattern: 1 }, { a: 1 }, passes),
  schema('lengths below zero', object({ a: { type: 'string', minLength: -1, maxLength: 1e300 } }), { a: 'x' }, passes),
  schema('a multiple of zero', object({ a: { type: 'number', multipleOf: 0 } }), { a: 1 }, passes),
  schema('code in names', { type: 'object', properties: { "'];process.exit(1);//": { type: 'string' }, '${process.exit(1)}': { type: 'string' } }, required: ["'];process.exit(1);//"] }, { "'];process.exit(1);//": 'x' }, passes),
];
