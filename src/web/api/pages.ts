/** Schemas that routes with lists share. */
import type { JsonObject } from '../../model/json.ts';

export const text = { type: 'string', maxLength: 1_000 } as const;
export const limitDefault = 50;
export const pages = {
  limit: { type: 'integer', minimum: 1, maximum: 200, default: limitDefault, description: 'Entries of one page.' },
  cursor: { ...text, description: '`next` of the page before it.' },
} as const;

export function list(key: string, schema: string): JsonObject {
  return {
    type: 'object',
    required: [key, 'next'],
    properties: {
      [key]: { type: 'array', items: { $ref: `#/components/schemas/${schema}` } },
      next: { type: ['string', 'null'], description: 'Cursor of the next page; null: this is the last.' },
    },
  };
}
