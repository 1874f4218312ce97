/**
 * An endpoint that believes what stands outside the fences: it gives one answer as long as a word stands inside them, another as soon as
 * the word stands anywhere else. What it answers has the form of the schema that it is asked with.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { says, type ChatRequest, type Play } from './chat-server.ts';

/** How many verdicts a list has, and which of two verdicts each is. */
export interface Shape {
  readonly items: number;
  readonly pick: 'first' | 'last';
}

export function gullible(word: string, inside: Shape, outside: Shape): Play {
  return (response, request) => {
    const shape = outsideFences(request).includes(word) ? outside : inside;
    says(JSON.stringify(filled(schemaOf(request), shape, 0)))(response, request);
  };
}

export function schemaOf({ body }: ChatRequest): JsonObject {
  const schema: unknown = body.response_format?.json_schema?.schema;
  if (!isJsonObject(schema)) throw new Error('the question came without a schema');
  return schema;
}

/** All text of the messages outside of blocks. The first message holds the code by which blocks begin and end. */
export function outsideFences({ body }: ChatRequest): string {
  const [system, ...others] = body.messages.map(({ content }) => content);
  const code = /\[\[BEGIN (\S+) title\]\]/.exec(system ?? '')?.[1];
  if (code === undefined) throw new Error('the question names no code');
  let inside = false;
  const kept = others
    .join('\n')
    .split('\n')
    .filter((line) => {
      const begins = line.startsWith(`[[BEGIN ${code} `) && line.endsWith(']]');
      if (begins) inside = true;
      const keeps = begins || !inside;
      if (line === `[[END ${code}]]`) inside = false;
      return keeps;
    });
  return [system, ...kept].join('\n');
}

function filled(schema: JsonObject, shape: Shape, place: number, name = ''): JsonValue {
  const listed = member(schema, 'enum');
  if (isJsonArray(listed)) return (shape.pick === 'first' ? listed[0] : listed.at(-1)) ?? null;
  const [least, most] = [member(schema, 'minimum') ?? 0, member(schema, 'maximum') ?? 1];
  switch (schema['type']) {
    case 'boolean':
      return shape.pick === 'first';
    case 'number':
    case 'integer':
      return shape.pick === 'first' ? most : least;
    case 'array':
      return filledList(schema, shape, name);
    case 'object':
      return Object.fromEntries(
        Object.entries(objectOf(schema, 'properties')).map(([name, one]) => [
          name,
          name === 'number' ? place + 1 : filled(isJsonObject(one) ? one : {}, shape, place, name),
        ]),
      );
    default:
      return 'Oslo';
  }
}

/** Where all is well there is nothing to list, of faults, claims or wrong arguments; a plan has steps all the same. */
function filledList(schema: JsonObject, shape: Shape, name: string): JsonValue {
  const items = objectOf(schema, 'items');
  if (items['type'] === 'string' && name !== 'plan' && shape.pick === 'first') return [];
  return Array.from({ length: shape.items }, (_, place) => filled(items, shape, place));
}

function objectOf(schema: JsonObject, name: string): JsonObject {
  const one = member(schema, name);
  return isJsonObject(one) ? one : {};
}
