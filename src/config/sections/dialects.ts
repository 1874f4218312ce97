/** `dialects`: readers of attributes that no built-in collector knows. */
import { dialectFields, dialectRoles } from '../../../collectors/configured/dialect.ts';
import { expressionCharsMax } from '../../../collectors/configured/expression.ts';
import type { Section } from './section.ts';

const keyList = { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 200 } } as const;

const roleTexts: { readonly [role in (typeof dialectRoles)[number]]: string } = {
  agent: 'the span of an agent',
  tool: 'one execution of a tool',
  model: 'a request to a model',
  retriever: 'a retrieval',
  workflow: 'what encloses agents and is none itself',
  step: 'a stage without a meaning of its own',
};

export const dialects: Section = {
  key: 'dialects',
  schema: {
    type: 'array',
    description:
      'Readers of attributes that no built-in collector knows, without code. They stand before the built-in ones, so what they tell of a span counts first. `tracejury inspect FILE --propose-dialect` writes an entry from recorded spans; docs/guides/own-dialect.md says more.',
    default: [],
    maxItems: 100,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'match'],
      properties: {
        name: {
          type: 'string',
          pattern: '^[a-z][a-z0-9_-]{0,62}$',
          'x-words': 'Use lower-case letters, digits, dashes and underscores, a letter first.',
          description: 'Name of the dialect, as runs, logs and `inspect` show it.',
        },
        match: {
          type: 'object',
          description: 'Which spans are read: one sign is enough.',
          additionalProperties: false,
          minProperties: 1,
          properties: {
            scope: {
              type: 'string',
              minLength: 1,
              maxLength: 200,
              description: 'Name of the instrumentation scope; `*` stands for any text.',
            },
            keys: { ...keyList, description: 'Spans with one of these attributes.' },
            key_prefixes: { ...keyList, description: 'Spans with an attribute whose key begins so.' },
          },
        },
        span: {
          type: 'object',
          description:
            "What a span is: a comparison of one attribute with a text (`kind = 'TOOL'`, `kind != 'TOOL'`) or `exists(KEY)`; `span.name` stands for the name. Asked in this order, and the first that holds counts.",
          additionalProperties: false,
          properties: Object.fromEntries(
            dialectRoles.map((role) => [role, { type: 'string', description: `Condition of ${roleTexts[role]}.` }]),
          ),
        },
        read: {
          type: 'object',
          description: `Where values stand: \`attributes.KEY\`, \`json(attributes.KEY).member[0]\` or \`span.name\`, each of at most ${expressionCharsMax} characters. Results and messages are unwrapped as everywhere.`,
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(dialectFields).map(([field, description]) => [field, { type: 'string', description }]),
          ),
        },
      },
    },
  },
};
