/** Options whose schema marks them as secret (`x-secret`): nothing may be made from them that leaves the process. */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** Secrets are left out; of URLs the user and the query. */
export function withoutSecrets(schema: JsonObject, value: JsonValue): JsonValue {
  if (member(schema, 'x-secret') === 'url' && typeof value === 'string')
    return value.replace(/(:\/\/)[^/\s"'@]*@/, '$1').replace(/\?.*$/, '');
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const below = schemaOf(schema, name);
      return below !== undefined && member(below, 'x-secret') === true
        ? []
        : [[name, below === undefined ? item : withoutSecrets(below, item)] as const];
    }),
  );
}

function schemaOf(schema: JsonObject, name: string): JsonObject | undefined {
  const properties = member(schema, 'properties');
  const own = isJsonObject(properties) ? member(properties, name) : undefined;
  const found = own ?? member(schema, 'additionalProperties');
  return isJsonObject(found) ? found : undefined;
}
