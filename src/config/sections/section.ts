/**
 * The contract of a section: one top-level key of the configuration, as JSON Schema (draft 2020-12) with defaults and the texts of the
 * reference page. Annotations of tracejury:
 * `x-quantity` { kind, minimum, maximum } a duration or a size; `x-address` host:port; `x-pattern` a linear-time regular expression;
 * `x-secret` true = the value is always masked, 'url' = its password and query are always masked; `x-unit` the unit of a plain number;
 * `x-words` the `pattern` in words; `x-as` one word for a form with its own description. `x-from`, in an evaluator's schema: the section with
 * the default of an option. `x-restart`: a new value takes effect after a restart; 'presence' = only its presence does.
 */
import type { JsonSchema } from '../../../evaluators/evaluator.ts';
import { expressionCharsMax } from '../../pipeline/evaluation/run-expression.ts';

export interface Section {
  readonly key: string;
  readonly schema: JsonSchema;
}

/** A mapping of optional keys. */
export function settings<Properties extends { readonly [key: string]: JsonSchema }>(description: string, properties: Properties) {
  return { type: 'object', description, additionalProperties: false, default: {}, properties } as const;
}

export function duration(preset: string | undefined, minimum: string, maximum: string, description: string) {
  return { type: 'string', 'x-quantity': { kind: 'duration', minimum, maximum }, ...optional(preset), description } as const;
}

/** An expression about a scored run, for rules that choose runs. */
export function expressionSchema(description: string): JsonSchema {
  return {
    type: 'string',
    minLength: 1,
    maxLength: expressionCharsMax,
    description: `${description} Comparisons such as \`tool_error < 1\` or \`agent = support\`, with \`and\`, \`or\`, \`not\` and parentheses.`,
  };
}

/** The keys that rules share which choose runs while the service runs; `name` and `when` are descriptions. */
export function runRuleKeys({ name, when, max }: { readonly name: string; readonly when: string; readonly max: JsonSchema }) {
  return {
    name: { type: 'string', minLength: 1, maxLength: 100, description: name },
    when: expressionSchema(when),
    sample: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      'x-unit': 'share',
      description: 'Share of the traces that the rule tests, always the same ones.',
    },
    max,
  } as const;
}

export function integer(preset: number | undefined, minimum: number, maximum: number, unit: string, description: string) {
  return { type: 'integer', minimum, maximum, ...optional(preset), 'x-unit': unit, description } as const;
}

function optional<Value>(preset: Value | undefined): { readonly default?: Value } {
  return preset === undefined ? {} : { default: preset };
}

const count = (unit: 'requests' | 'tokens', description: string) =>
  ({ type: 'integer', minimum: 0, maximum: 1_000_000_000_000, 'x-unit': unit, description }) as const;

export function budgetSchema(description: string): JsonSchema {
  return {
    type: 'object',
    description: `${description} A question beyond a limit per day is not asked; one beyond a limit per minute waits.`,
    additionalProperties: false,
    minProperties: 1,
    properties: {
      usd_per_day: {
        type: 'number',
        minimum: 0,
        maximum: 1_000_000,
        'x-unit': 'US dollars',
        description: 'Most cost of a day (UTC). It needs the `price` of the judge for input and output tokens.',
      },
      requests_per_day: count('requests', 'Most requests of a day (UTC), with retries.'),
      tokens_per_day: count('tokens', 'Most tokens of a day (UTC), of questions and answers together.'),
      requests_per_minute: { ...count('requests', 'Most requests in any sixty seconds.'), minimum: 1 },
      tokens_per_minute: {
        ...count('tokens', 'Most tokens in any sixty seconds; a request that may need more runs alone.'),
        minimum: 1,
      },
    },
  };
}

/** `tls` of an endpoint that the service connects to. `description`: the purpose. */
export const clientTlsSchema = (description: string) =>
  ({
    type: 'object',
    description: `${description} Paths are relative to the folder of the configuration; changes apply to new connections.`,
    additionalProperties: false,
    properties: {
      ca_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the only certificate authorities to trust, in PEM.',
      },
      cert_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the client certificate in PEM with its chain, for a server that requires one.',
      },
      key_file: { type: 'string', minLength: 1, description: 'Path of its private key in PEM, without a passphrase.' },
    },
  }) as const;
