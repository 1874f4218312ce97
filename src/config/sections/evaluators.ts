/** `evaluators`: the keys of an entry, and the `options` and `expect` of each evaluator from its own schemas. */
import { turnGroupings } from '../../../evaluators/evidence/conversation.ts';
import { mapReduceSchema } from '../../../evaluators/judging/map-reduce.ts';
import { judgedPartsSchema } from '../../../evaluators/judging/judged-parts.ts';
import type { AnyEvaluator, JsonSchema } from '../../../evaluators/evaluator.ts';
import type { JsonValue } from '../../model/json.ts';
import type { EvaluatorKind } from '../../model/verdict.ts';
import { panelJudgesMax, slotsMax, votesMax } from '../../pipeline/jury/jury-panel.ts';
import { budgetSchema, clientTlsSchema, expressionSchema, type Section, integer, duration } from './section.ts';

const text = { type: 'string', maxLength: 10_000 } as const;

/** A condition on a text of the run; several conditions in one must all hold. */
const textCondition = {
  'x-as': 'condition',
  type: ['string', 'array', 'object'],
  maxLength: 10_000,
  minItems: 1,
  maxItems: 1000,
  items: text,
  additionalProperties: false,
  minProperties: 1,
  properties: {
    equals: { ...text, description: 'The whole text.' },
    in: { type: 'array', minItems: 1, maxItems: 1000, items: text, description: 'One of these texts.' },
    contains: { ...text, description: 'A part of the text.' },
    matches: { ...text, maxLength: 1000, 'x-pattern': true, description: 'A regular expression, searched anywhere.' },
    not: { ...text, description: 'Any other text.' },
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

const sample = {
  type: ['object', 'number'],
  minimum: 0,
  maximum: 1,
  'x-unit': 'share',
  description: 'Share of the received runs for a judge or an endpoint: `0.05`, or a mapping with the keys below. Rules score every run.',
  additionalProperties: false,
  default: {},
  properties: {
    rate: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      'x-unit': 'share',
      description: `A share of the received runs, between 0 and 1. Every question to a judge costs money. Left out: ${sampleRateDefaults.judge} with a judge, ${sampleRateDefaults.http} for \`use: http\`.`,
    },
    raise: {
      type: 'array',
      default: [],
      maxItems: 100,
      description: 'Higher rates for some runs, by their fields and the verdicts of rules; the highest that applies counts.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['when', 'to'],
        properties: {
          when: expressionSchema('Which runs. Of evaluators it may name rules, as the sample is drawn before any judge answers.'),
          to: { type: 'number', minimum: 0, maximum: 1, 'x-unit': 'share', description: 'The rate of such runs.' },
        },
      },
    },
  },
} as const;

const judgeName = { type: 'string', maxLength: 100 } as const;

/** The judges of an entry and their votes. */
export const whoIsAskedSchema = {
  judge: { ...judgeName, description: 'Name under `judges`. For judge evaluators, and for rules that can ask a judge.' },
  judges: {
    type: 'array',
    minItems: 1,
    maxItems: panelJudgesMax,
    items: judgeName,
    description: 'Names of several judges instead of `judge`: each has a vote.',
  },
  votes: integer(
    undefined,
    1,
    votesMax,
    'votes',
    `Votes of each judge, 1 when left out. At most ${slotsMax} votes of all judges together.`,
  ),
  escalate: {
    type: 'object',
    description: 'The judge to ask when the votes are not sure: its verdict replaces theirs.',
    additionalProperties: false,
    required: ['to'],
    properties: {
      to: { ...judgeName, description: 'Name of a judge that has no vote.' },
      below: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        'x-unit': 'share',
        description: 'Escalates below this confidence; the judges then also give their confidence. Left out: confidence does not matter.',
      },
      on_disagreement: { type: 'boolean', default: true, description: 'Escalates when votes differ.' },
    },
  },
} as const;

const drift = {
  type: 'object',
  description: 'Measures the drift of the judge on a fixed set of runs at an interval. For evaluators with a judge.',
  additionalProperties: false,
  required: ['dataset'],
  properties: {
    dataset: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description:
        'File with one run a line, as `tracejury judge check` reads them, from the folder of the configuration; at most 500 runs.',
    },
    every: duration('1d', '10m', '90d', 'From the start of one measurement to that of the next.'),
    looks: integer(
      undefined,
      1,
      10_000,
      'looks',
      'Number of planned measurements. Each gets an equal part of the 5 % of false alarms, and a new baseline begins after the last one. Left out: the parts shrink, and the baseline stays.',
    ),
    baseline: {
      type: 'string',
      maxLength: 100,
      default: '',
      description: 'Any text, such as a date; another text begins a new baseline.',
    },
  },
} as const;

export const evaluatorEntriesMax = 500;

/** The entry for all evaluators that are on by default. */
export const defaultsEntry = 'defaults';

export function evaluatorsSection(members: readonly AnyEvaluator[]): Section {
  const ids = members.map((member) => member.id);
  const byDefault = members.filter((member) => member.onByDefault).map((member) => member.id);
  return {
    key: 'evaluators',
    schema: {
      type: 'array',
      description:
        'The evaluators of runs. An entry is the name of an evaluator, a mapping with the keys below, or `defaults`. `defaults` stands for every evaluator that is on without a list, except those that another entry names. Left out: `[ defaults ]`.',
      default: byDefault,
      maxItems: evaluatorEntriesMax,
      items: {
        type: ['string', 'object'],
        if: { type: 'string' },
        then: { enum: [...ids, defaultsEntry] },
        additionalProperties: false,
        required: ['use'],
        properties: {
          use: {
            type: 'string',
            maxLength: 1000,
            anyOf: [{ enum: ids }, { pattern: '^\\.{0,2}/' }],
            description:
              'Name of the evaluator (`tracejury evaluators` lists them), or the path of a file that exports one, relative to the configuration: `./my-evaluator.ts`.',
          },
          name: {
            type: 'string',
            pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
            'x-words': 'Use letters, digits, dots, dashes and underscores, at most 100.',
            description: 'Unique name in its scores; the name of the evaluator when left out. `use: http` needs a name.',
          },
          when,
          expect: { type: 'object', description: 'Expectations of the run. The keys are those of the evaluator.' },
          options: { type: 'object', default: {}, description: 'Options. The keys are those of the evaluator.' },
          threshold: {
            type: ['number', 'null'],
            minimum: 0,
            maximum: 1,
            'x-unit': 'score',
            description:
              'Least score that passes; `null` makes a raw metric that neither passes nor fails. Left out: the threshold of the evaluator.',
          },
          turns: {
            enum: [...turnGroupings],
            description:
              'For rules: scores each turn, and the worst turn counts. A turn is everything after a message of the user, or one message of the assistant. `expect.by_turn` lists the expectations of each turn.',
          },
          on: judgedPartsSchema,
          map: mapReduceSchema,
          on_empty: {
            enum: ['skip', 'original'],
            description: 'Skips a run without tool calls, or scores it as the original system of the rule does.',
          },
          include_explanation: { type: 'boolean', default: true, description: 'False omits explanations from exports.' },
          ...whoIsAskedSchema,
          sample,
          drift,
          tls: clientTlsSchema('Certificates for the connection to the endpoint of `use: http` over HTTPS.'),
          budget: budgetSchema('Budget of the evaluator, beside that of its judge.'),
        },
        allOf: members.map(ofMember),
      },
    },
  };
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
