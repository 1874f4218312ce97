/**
 * The contract of a section: one top-level key of the configuration, as JSON Schema (draft 2020-12). Defaults stand in the schema,
 * beside the words of the reference page. Our own annotations:
 * `x-quantity` { kind, minimum, maximum } a duration or a size; `x-address` host:port; `x-pattern` a linear-time regular expression;
 * `x-secret` true = the value is always masked, 'url' = its password and query are always masked; `x-unit` the unit of a plain number;
 * `x-words` the `pattern` beside it in words; `x-as` one word for a form that another place describes. `x-from`, in an evaluator's
 * schema: the section that gives an option where an entry leaves it out. `x-restart`: a new
 * value holds only after a restart; 'presence' = whether there is one does. `x-planned`: the feature is not there yet.
 */
import type { JsonSchema } from '../../../evaluators/evaluator.ts';

export interface Section {
  readonly key: string;
  readonly schema: JsonSchema;
}

/** A mapping of which every key may be left out. */
export function settings<Properties extends { readonly [key: string]: JsonSchema }>(description: string, properties: Properties) {
  return { type: 'object', description, additionalProperties: false, default: {}, properties } as const;
}

export function duration(preset: string | undefined, minimum: string, maximum: string, description: string) {
  return { type: 'string', 'x-quantity': { kind: 'duration', minimum, maximum }, ...optional(preset), description } as const;
}

export function integer(preset: number | undefined, minimum: number, maximum: number, unit: string, description: string) {
  return { type: 'integer', minimum, maximum, ...optional(preset), 'x-unit': unit, description } as const;
}

function optional<Value>(preset: Value | undefined): { readonly default?: Value } {
  return preset === undefined ? {} : { default: preset };
}

// A budget, as it stands under a judge and under an evaluator.

const count = (unit: 'requests' | 'tokens', description: string) =>
  ({ type: 'integer', minimum: 0, maximum: 1_000_000_000_000, 'x-unit': unit, description }) as const;

export function budgetSchema(description: string): JsonSchema {
  return {
    type: 'object',
    description: `${description} What does not fit into a day is not asked; what does not fit into a minute waits.`,
    additionalProperties: false,
    minProperties: 1,
    properties: {
      usd_per_day: {
        type: 'number',
        minimum: 0,
        maximum: 1_000_000,
        'x-unit': 'US dollars',
        description: 'Most that a day (UTC) may cost. It needs the `price` of the judge, of input and of output tokens.',
      },
      requests_per_day: count('requests', 'Most requests of a day (UTC), repeated ones among them.'),
      tokens_per_day: count('tokens', 'Most tokens of a day (UTC), of questions and answers together.'),
      requests_per_minute: { ...count('requests', 'Most requests in any sixty seconds.'), minimum: 1 },
      tokens_per_minute: {
        ...count('tokens', 'Most tokens in any sixty seconds; a request that may need more than that goes alone.'),
        minimum: 1,
      },
    },
  };
}

// `tls` of the endpoints that the service connects to.

/** `description`: the purpose; the other texts are the same everywhere. */
export const clientTlsSchema = (description: string) =>
  ({
    type: 'object',
    description: `${description} The files are named relative to the folder of the configuration; what they say holds for new connections when they change.`,
    additionalProperties: false,
    properties: {
      ca_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the certificate authorities to trust, in PEM; these alone are trusted then.',
      },
      cert_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the client certificate in PEM, followed by those that lead to its authority, for a server that asks for one.',
      },
      key_file: { type: 'string', minLength: 1, description: 'Path of its private key in PEM, without a passphrase.' },
    },
  }) as const;
