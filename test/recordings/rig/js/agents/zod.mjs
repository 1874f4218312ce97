/** The zod schema of a tool, for SDKs that take nothing else. */
import { z } from 'zod';

export function zodOf({ properties }) {
  const one = (schema) => (schema.type === 'array' ? z.array(one(schema.items)) : z[schema.type]());
  return z.object(Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, one(schema)])));
}
