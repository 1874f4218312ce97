/** Evaluation by an HTTP endpoint, which gets the run as one JSON document and returns an outcome. */
import { isJsonObject, jsonText, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { quantityOf } from '../src/model/quantities.ts';
import { runJson } from '../src/model/run-json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { skipped } from './evidence/calls.ts';
import type { EvaluationContext, JsonSchema } from './evaluator.ts';
import { schemaFaults } from './configuration/options.ts';
import { writtenExpectation } from './expectation/expectation.ts';
import { validateOutcome } from './configuration/validate-outcome.ts';
import { listed } from './explain/explanation.ts';
import { endpoint, option, required, type OptionsOf } from './configuration/define.ts';

/** The schema of the headers of a request, for every place in a configuration (RFC 9110, 5.1 and 5.5). Their values are secret. */
export const httpHeadersSchema = {
  type: 'object',
  maxProperties: 100,
  propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 'x-words': 'Write the name of an HTTP header.' },
  additionalProperties: {
    type: 'string',
    maxLength: 10_000,
    pattern: '^[ -~]*$',
    'x-words': 'Use ASCII characters in one line.',
    'x-secret': true,
  },
} as const satisfies JsonSchema;

const timeoutDefault = '10s';
/** Limit of the document; larger runs are skipped. */
const bodyCharsMax = 8 * 1024 * 1024;
/** Headers that the connection sets itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const httpOptions = {
  url: required(
    {
      type: 'string',
      maxLength: 10_000,
      'x-url': true,
      'x-secret': 'url',
      description: 'Where the run is sent, by POST. Required.',
    },
    '',
  ),
  headers: option<{ readonly [name: string]: string }>(
    {
      ...httpHeadersSchema,
      description: 'Headers of every request, for example the key of the endpoint.',
    },
    {},
  ),
  timeout: option(
    {
      type: 'string',
      'x-quantity': { kind: 'duration', minimum: '100ms', maximum: '10m' },
      description: 'Longest wait for one whole answer.',
    },
    timeoutDefault,
  ),
  concurrency: option(
    {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      'x-unit': 'runs',
      description: 'Runs that it is asked about at the same time.',
    },
    8,
  ),
  parameters: option<JsonObject>({ type: 'object', description: 'Further data for the endpoint. It is sent unchanged.' }, {}),
  schema: option<JsonSchema>(
    { type: 'object', description: 'JSON Schema (draft 2020-12) of the parameters, which are checked with the configuration.' },
    {},
  ),
};

type HttpOptions = OptionsOf<typeof httpOptions>;

export const http = endpoint({
  id: 'http',
  summary: 'An HTTP endpoint of yours gives the verdict.',
  needs: [],
  defaultThreshold: null,
  options: httpOptions,
  expectationSchema: { type: 'object' },
  source: 'an endpoint of your own',
  optionFaults,
  concurrency: ({ concurrency }) => concurrency,
  *evaluate({ trace, expected, run }, options, context) {
    const body = jsonText({ run: runJson(trace, run), expected: writtenExpectation(expected), parameters: options.parameters });
    if (body.length > bodyCharsMax)
      return skipped('too_large', `As JSON the run has ${body.length} characters, more than the ${bodyCharsMax} that are sent.`);
    const answer = yield {
      kind: 'call',
      url: options.url,
      headers: options.headers,
      timeoutMs: quantityOf('duration', options.timeout) ?? 0,
      body,
    };
    if (answer.kind === 'failed')
      return { kind: 'failed', error: answer.error, explanation: `The endpoint gave no verdict: ${answer.error}.` };
    return remoteOutcome(answer.value, context);
  },
});

function optionFaults({ headers, parameters, schema }: HttpOptions): ReturnType<typeof schemaFaults> {
  const taken = Object.keys(headers)
    .filter((name) => ownHeaders.has(name.toLowerCase()))
    .map((name) => ({ path: ['headers', name], problem: 'is set by the service itself; leave it out' }));
  return [...taken, ...parameterFaults(schema, parameters)];
}

function parameterFaults(schema: JsonSchema, parameters: JsonValue): ReturnType<typeof schemaFaults> {
  try {
    return schemaFaults(isJsonObject(schema) ? schema : {}, parameters).map(({ path, problem }) => ({
      path: ['parameters', ...path],
      problem,
    }));
  } catch {
    return [{ path: ['schema'], problem: 'is not a JSON Schema (draft 2020-12) that compiles' }];
  }
}

/** Bounds labels and errors, which become metric labels. `validateOutcome` checks the rest. */
const answerSchema: JsonSchema = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { enum: ['scored', 'skipped', 'failed'] },
    score: { type: 'number' },
    label: { type: 'string', maxLength: 100 },
    explanation: { type: 'string', maxLength: 10_000 },
    evidence: { type: 'array', maxItems: 1_000, items: { type: 'string', pattern: '^[0-9a-f]{16}$' } },
    details: { type: 'object' },
    reason: { type: 'string' },
    error: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,63}$' },
  },
};

function remoteOutcome(answer: JsonValue, context: EvaluationContext): Outcome {
  const received = isJsonObject(answer) ? withoutNulls(answer) : answer;
  const problems = context.schema(answerSchema)?.problems(received);
  if (problems === undefined) return broken('it cannot be checked');
  if (problems.length > 0 || !isJsonObject(received))
    return broken(
      listed(
        problems.map(({ path, message }) => [path.join('.'), message].filter((text) => text !== '').join(' ')),
        '; ',
      ),
    );
  const { status, score, label, explanation, evidence = [], details = {}, reason, error } = received;
  switch (status) {
    case 'scored':
      return validateOutcome({ kind: status, score, explanation, evidence, details, ...(label === undefined ? {} : { label }) });
    case 'skipped':
      return validateOutcome({ kind: status, reason, explanation, details });
    default:
      return validateOutcome({ kind: 'failed', error, explanation, details });
  }
}

/** Removes nulls, which many languages write for absent members. */
function withoutNulls(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
}

function broken(fault: string): Outcome {
  return {
    kind: 'failed',
    error: 'outcome_invalid',
    explanation: `The endpoint’s answer is not an outcome: ${fault}. This is a fault of the evaluator, not of the agent.`,
  };
}
