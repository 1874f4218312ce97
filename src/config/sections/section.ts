/** Keys that several sections have. */
import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { expressionCharsMax } from '../../pipeline/evaluation/run-expression.ts';
import { field, type Field, integer, number, object, share, text } from '../field.ts';

/** An expression about a scored run, for rules that choose runs. */
export function expression(description: string): Field<string | undefined> {
  return text(
    { minLength: 1, maxLength: expressionCharsMax },
    `${description} Comparisons such as \`tool_error < 1\` or \`agent = support\`, with \`and\`, \`or\`, \`not\` and parentheses.`,
  );
}

/** The keys that rules share which choose runs while the service runs; `name` and `when` are descriptions. */
export function runRule({ name, when, max }: { readonly name: string; readonly when: string; readonly max: Field<number> }) {
  return {
    name: text({ minLength: 1, maxLength: 100 }, name),
    when: expression(when),
    sample: share(1, 'Share of the traces that the rule tests, always the same ones.'),
    max,
  };
}

const count = (minimum: number, unit: 'requests' | 'tokens', description: string) =>
  integer(undefined, minimum, 1_000_000_000_000, unit, description);

export function budget(description: string) {
  return object(
    { minProperties: 1 },
    {
      usd_per_day: number(
        { minimum: 0, maximum: 1_000_000, 'x-unit': 'US dollars' },
        'Most cost of a day (UTC). It needs the `price` of the judge for input and output tokens.',
      ),
      requests_per_day: count(0, 'requests', 'Most requests of a day (UTC), with retries.'),
      tokens_per_day: count(0, 'tokens', 'Most tokens of a day (UTC), of questions and answers together.'),
      requests_per_minute: count(1, 'requests', 'Most requests in any sixty seconds.'),
      tokens_per_minute: count(1, 'tokens', 'Most tokens in any sixty seconds; a request that may need more is sent by itself.'),
    },
    `${description} A question beyond a limit per day is not asked; one beyond a limit per minute waits.`,
  );
}

/** `tls` of an endpoint that the service connects to. `description`: the purpose. */
export function clientTls(description: string) {
  return object(
    {},
    {
      ca_file: text({ minLength: 1 }, 'Path of the only certificate authorities to trust, in PEM.'),
      cert_file: text({ minLength: 1 }, 'Path of the client certificate in PEM with its chain, for a server that requires one.'),
      key_file: text({ minLength: 1 }, 'Path of its private key in PEM, without a passphrase.'),
    },
    `${description} Paths are relative to the folder of the configuration; changes apply to new connections.`,
  );
}

/** Headers of requests, with secret values. `keywords`: the default, and other bounds. */
export function headers<const Keywords extends { readonly default?: {}; readonly maxProperties?: number }>(
  keywords: Keywords,
  description: string,
): Field<{ readonly [name: string]: string } | (Keywords extends { readonly default: {} } ? never : undefined)> {
  return field({ ...httpHeadersSchema, ...keywords, description });
}

/** A name in scores, metrics and the API. */
export const ownName = (description: string) =>
  text(
    {
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
      'x-words': 'Use letters, digits, dots, dashes and underscores, at most 100.',
    },
    description,
  );
