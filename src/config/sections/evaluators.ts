/** `evaluators`: the keys of an entry, and the `options` and `expect` of each evaluator from its own schemas. */
import { turnGroupings } from '../../../evaluators/evidence/conversation.ts';
import { mapReduceSchema } from '../../../evaluators/judging/map-reduce.ts';
import { judgedPartsSchema } from '../../../evaluators/judging/judged-parts.ts';
import type { AnyEvaluator, JsonSchema } from '../../../evaluators/evaluator.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { EvaluatorKind } from '../../model/verdict.ts';
import { panelJudgesMax, slotsMax, votesMax } from '../../pipeline/jury/jury-panel.ts';
import { annotated, duration, field, flag, integer, list, object, oneOf, share, text, type ValueOf } from '../field.ts';
import { budget, clientTls, expression, ownName } from './section.ts';

const line = { type: 'string', maxLength: 10_000 } as const;

/** A condition on a text of the run; several conditions in one must all hold. */
const textCondition = {
  'x-as': 'condition',
  type: ['string', 'array', 'object'],
  maxLength: 10_000,
  minItems: 1,
  maxItems: 1000,
  items: line,
  additionalProperties: false,
  minProperties: 1,
  properties: {
    equals: { ...line, description: 'The whole text.' },
    in: { type: 'array', minItems: 1, maxItems: 1000, items: line, description: 'One of these texts.' },
    contains: { ...line, description: 'A part of the text.' },
    matches: { ...line, maxLength: 1000, 'x-pattern': true, description: 'A regular expression, searched anywhere.' },
    not: { ...line, description: 'Any other text.' },
  },
} as const;

const when = {
  type: 'object',
  description:
    'Runs that it scores. All named conditions must hold. A condition is a text (the whole value), a list (one of its texts), or a mapping of `equals`, `in`, `contains`, `matches` and `not`. `matches` searches a regular expression anywhere.',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    agent: { ...textCondition, description: 'Name of the agent.' },
    service: { ...textCondition, description: 'Name of the service (`service.name`).' },
    version: { ...textCondition, description: 'Version of the service (`service.version`).' },
    model: { ...textCondition, description: 'Model of the agent.' },
    input: { ...textCondition, description: 'Input of the agent.' },
    final_response: { ...textCondition, description: 'Final response of the agent.' },
    status: { ...textCondition, description: '`ok` or `error`.' },
    completeness: { ...textCondition, description: '`complete`, `partial`, `abandoned` or `evicted`.' },
    tenant: { ...textCondition, description: 'Name of the token that the spans came with.' },
    tool: { ...textCondition, description: 'Name of any called tool.' },
    attributes: {
      type: 'object',
      minProperties: 1,
      maxProperties: 100,
      additionalProperties: textCondition,
      description: 'Resource attributes, by key.',
    },
  },
} as const;

/** A judge costs money at every question, an endpoint is the user's own. */
export const sampleRateDefaults: { readonly [kind in EvaluatorKind]: number } = { rule: 1, judge: 0.05, http: 1 };

const sampleKeys = object(
  { default: {} },
  {
    rate: share(
      undefined,
      `A share of the received runs, between 0 and 1. Every question to a judge costs money. Left out: ${sampleRateDefaults.judge} with a judge, ${sampleRateDefaults.http} for \`use: http\`.`,
    ),
    raise: list(
      { default: [], maxItems: 100 },
      object(
        { required: ['when', 'to'] },
        {
          when: expression(
            'Condition on runs. The only evaluators it may name are rules, because the sample is drawn before any judge answers.',
          ),
          to: share(undefined, 'The rate of such runs.'),
        },
      ),
      'Higher rates for some runs, by their fields and the verdicts of rules; the highest that applies counts.',
    ),
  },
  'Share of the received runs for a judge or an endpoint: `0.05`, or a mapping with the keys below. Rules score every run.',
);
/** `sample: 0.05` is short for `sample: { rate: 0.05 }`. */
const sample: typeof sampleKeys = {
  ...annotated(sampleKeys, { type: ['object', 'number'], minimum: 0, maximum: 1, 'x-unit': 'share' }),
  read: (value) => sampleKeys.read(typeof value === 'number' ? { rate: value } : value),
};

const judgeName = (description?: string) => text({ maxLength: 100 }, description);

/** The judges of an entry and their votes. */
export const whoIsAsked = {
  judge: judgeName('Name under `judges`. For judge evaluators, and for rules that can ask a judge.'),
  judges: list({ minItems: 1, maxItems: panelJudgesMax }, judgeName(), 'Names of several judges instead of `judge`: each has a vote.'),
  votes: integer(
    undefined,
    1,
    votesMax,
    'votes',
    `Votes of each judge, 1 when left out. At most ${slotsMax} votes of all judges together.`,
  ),
  escalate: object(
    { required: ['to'] },
    {
      to: judgeName('Name of a judge that has no vote.'),
      below: share(
        undefined,
        'Escalates below this confidence; the judges then also give their confidence. Left out: confidence does not matter.',
      ),
      on_disagreement: flag(true, 'Escalates when votes differ.'),
    },
    'The judge to ask when the votes are not sure: its verdict replaces theirs.',
  ),
};

const drift = object(
  { required: ['dataset'] },
  {
    dataset: text(
      { minLength: 1, maxLength: 1000 },
      'File with one run a line, as `tracejury judge check` reads them, from the folder of the configuration; at most 500 runs.',
    ),
    every: duration('1d', '10m', '90d', 'Time from the start of one measurement to that of the next.'),
    looks: integer(
      undefined,
      1,
      10_000,
      'looks',
      'Number of planned measurements. Each gets an equal part of the 5 % of false alarms, and a new baseline begins after the last one. Left out: the parts shrink, and the baseline stays.',
    ),
    baseline: text({ maxLength: 100, default: '' }, 'Any text, such as a date; another text begins a new baseline.'),
  },
  'Measures the drift of the judge on a fixed set of runs at an interval. Needs an evaluator with a judge.',
);

export const evaluatorEntriesMax = 500;

/** The entry for all evaluators that are on by default. */
export const defaultsEntry = 'defaults';

const use = text(
  { maxLength: 1000 },
  'Name of the evaluator (`tracejury evaluators` lists them), or the path of a file that exports one, relative to the configuration: `./my-evaluator.ts`.',
);
const keys = {
  use,
  name: ownName('Unique name in its scores; the name of the evaluator when left out. `use: http` needs a name.'),
  when: field<JsonObject | undefined>(when),
  expect: field<JsonObject | undefined>({ type: 'object', description: 'Expectations of the run. The keys are those of the evaluator.' }),
  options: field<JsonObject>({ type: 'object', default: {}, description: 'Options. The keys are those of the evaluator.' }, (value) =>
    isJsonObject(value) ? value : {},
  ),
  threshold: field<number | null | undefined>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 1,
    'x-unit': 'score',
    description:
      'Least score that passes; `null` makes a raw metric that neither passes nor fails. Left out: the threshold of the evaluator.',
  }),
  turns: oneOf(
    turnGroupings,
    undefined,
    'For rules: scores each turn, and the worst turn counts. A turn is everything after a message of the user, or one message of the assistant. `expect.by_turn` lists the expectations of each turn.',
  ),
  on: field<JsonValue | undefined>(judgedPartsSchema),
  map: field<JsonValue | undefined>(mapReduceSchema),
  on_empty: oneOf(['skip', 'original'], undefined, 'Skips a run without tool calls, or scores it as the original system of the rule does.'),
  include_explanation: flag(true, 'False omits explanations from exports.'),
  ...whoIsAsked,
  sample,
  drift,
  tls: clientTls('Certificates for the connection to the endpoint of `use: http` over HTTPS.'),
  budget: budget('Budget of the evaluator, beside that of its judge.'),
};
const entry = object({ required: ['use'] }, keys);
export type WrittenEvaluator = ValueOf<typeof entry>;

/** The keys of an entry; its name is short for a mapping with `use`. */
export function readEntry(written: JsonValue): WrittenEvaluator {
  return entry.read(typeof written === 'string' ? { use: written } : written) ?? readEntry('');
}

export function evaluatorEntries(members: readonly AnyEvaluator[]) {
  const ids = members.map((member) => member.id);
  const byDefault = members.filter((member) => member.onByDefault).map((member) => member.id);
  const named = annotated(use, { anyOf: [{ enum: ids }, { pattern: '^\\.{0,2}/' }] });
  const items = object(
    {
      required: ['use'],
      type: ['string', 'object'],
      if: { type: 'string' },
      then: { enum: [...ids, defaultsEntry] },
      allOf: members.map(ofMember),
    },
    { ...keys, use: named },
  );
  return list(
    { default: byDefault, maxItems: evaluatorEntriesMax },
    field<WrittenEvaluator>(items.schema, readEntry),
    'The evaluators of runs. An entry is the name of an evaluator, a mapping with the keys below, or `defaults`. `defaults` means every evaluator that is on without a list, except those that another entry names. Defaults to `[ defaults ]`.',
  );
}

/** Applies only to entries that use this evaluator. */
function ofMember(member: AnyEvaluator): JsonSchema {
  const properties: { readonly [key: string]: JsonValue } = {
    options: own(member, 'options', member.optionsSchema),
    ...(member.expectationSchema === undefined ? {} : { expect: own(member, 'expect', member.expectationSchema) }),
  };
  // Only the name distinguishes endpoints.
  const named =
    member.kind === 'http'
      ? { required: ['name'], properties: { ...properties, name: { description: 'Name in its scores.' } } }
      : { properties };
  return { if: { type: 'object', required: ['use'], properties: { use: { const: member.id } } }, then: named };
}

/** An own id keeps `#/…` references within the schema of the member. */
function own(member: AnyEvaluator, part: string, schema: JsonSchema): JsonSchema {
  return JSON.stringify(schema).includes('"$ref"') ? { $id: `tracejury:evaluators/${member.id}/${part}`, ...schema } : schema;
}
