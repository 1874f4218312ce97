import { dialectFields, dialectRoles } from '../../../collectors/configured/dialect.ts';
import { expressionCharsMax } from '../../../collectors/configured/expression.ts';
import { wire } from '../../model/attributes.ts';
import { duration, type Section, integer, settings } from './section.ts';
import { TASK_PATH } from '../../pipeline/reporting/task-keys.ts';
import { readyPatterns, replacementDefault } from '../../redaction/settings.ts';

export const closing: Section = {
  key: 'closing',
  schema: settings('When a run closes and is scored.', {
    settle: duration(
      undefined,
      '0ms',
      '1h',
      'Wait after the last span of a complete run. Left out: 500 ms, because requests may overtake one another. The first close of a trace that came in one request, without log records, waits only 50 ms. That needs several spans, and no other request that is being received. A value holds for every run. Runs that are due within 50 ms of one another close together.',
    ),
    quiet: duration('5s', '0ms', '1d', 'Wait after the last span of a run with its agent span but with missing parts. At least `settle`.'),
    abandon: duration('10m', '1s', '30d', 'Wait after the last span of a run without its agent span. At least `quiet`.'),
    late: duration('1h', '0ms', '30d', 'How long after its close late spans reopen a run.'),
  }),
};

export const sessions: Section = {
  key: 'sessions',
  schema: settings(
    'Runs with one session id are the turns of a session. Evaluators of whole sessions, such as `goal_reached`, judge a quiet session.',
    {
      quiet: duration('10m', '1s', '7d', 'Time without a turn until a session is judged; after a later turn it is judged again.'),
      latest: duration('6h', '1m', '30d', 'Interval of judgements of a session that never pauses. At least `quiet`.'),
      keep: duration('1d', '1m', '30d', 'Time without a turn until a session ends: a later turn begins another one. At least `quiet`.'),
      rows: integer(
        10_000,
        1,
        1_000_000,
        'sessions',
        'Most chosen sessions in the store, with their turns; further ones end as `overload`.',
      ),
    },
  ),
};

export const redact: Section = {
  key: 'redact',
  schema: {
    type: 'array',
    description:
      'Texts to replace before runs are stored, judged, exported or logged. Rules read the true values. Of overlapping matches, the first entry of the list applies. See docs/guides/redaction.md.',
    default: [],
    maxItems: 100,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        match: { enum: readyPatterns, description: 'A ready pattern.' },
        pattern: { type: 'string', minLength: 1, maxLength: 1000, 'x-pattern': true, description: 'A regular expression of your own.' },
        replace: {
          type: 'string',
          maxLength: 1000,
          default: replacementDefault,
          description: 'The replacement. No entry of the list may match it.',
        },
      },
    },
  },
};

export const tools: Section = {
  key: 'tools',
  schema: {
    type: 'array',
    description:
      'Tool definitions for agents whose spans carry none. For a run that names its tools, they only fill in missing parts and add no tool.',
    default: [],
    maxItems: 10_000,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 1000, description: 'Name of the tool in the spans.' },
        description: { type: 'string', default: '', description: 'Description for the model.' },
        input_schema: { type: 'object', description: 'JSON Schema of its arguments.' },
        file: {
          type: 'string',
          minLength: 1,
          description: 'Instead of the above: a JSON file with a list of definitions, relative to the configuration.',
        },
      },
    },
  },
};

/** Pairs of agent and task. */
export const tasksDefault = 500;

export const groups: Section = {
  key: 'groups',
  schema: settings('Comparison of the last runs of the same agent and task.', {
    task_key: {
      type: 'string',
      pattern: TASK_PATH,
      'x-words': 'Write attributes. and the key of an attribute, or input.',
      default: 'attributes.task',
      description:
        'Source of the name of the task. `attributes.KEY`: an attribute of the agent’s span, else of another span of its trace, else of the resource. `input`: the input of the agent.',
    },
    version_key: {
      type: 'string',
      pattern: '^attributes\\..{1,900}$',
      'x-words': 'Write attributes. and the key of an attribute.',
      default: `attributes.${wire.serviceVersion}`,
      description:
        'Source of the version of an agent: an attribute of the agent’s span, else of the resource. Figures can be split by it (docs/guides/versions.md).',
    },
    runs: integer(50, 2, 100, 'runs', 'Compared runs of one agent and task: the last ones by start.'),
    tasks: integer(
      tasksDefault,
      1,
      1000,
      'tasks',
      'Pairs of agent and task. Beyond it the tenant with the most pairs loses the one with the oldest last run.',
    ),
    steps: { enum: ['tool_calls', 'tool_and_model_calls'], default: 'tool_calls', description: 'Calls that count as steps.' },
    success: {
      type: 'string',
      maxLength: 100,
      description:
        'Name of an evaluator that decides about success; runs without its verdict do not count. Left out: a run succeeds unless it ends in an error.',
    },
  }),
};

const keyList = { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 200 } } as const;

const roleTexts: { readonly [role in (typeof dialectRoles)[number]]: string } = {
  agent: 'the span of an agent',
  tool: 'one execution of a tool',
  model: 'a request to a model',
  retriever: 'a retrieval',
  workflow: 'a workflow around agents',
  step: 'a stage without a meaning of its own',
};

export const dialects: Section = {
  key: 'dialects',
  schema: {
    type: 'array',
    description:
      'Readers of attributes of an unknown SDK, without code. They come before the built-in ones. `tracejury inspect FILE --propose-dialect` writes an entry from recorded spans; see docs/guides/own-dialect.md.',
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
          description: 'Name of the dialect in runs, logs and `inspect`.',
        },
        match: {
          type: 'object',
          description: 'The spans to read: one matching sign is enough.',
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
            key_prefixes: { ...keyList, description: 'Spans with an attribute whose key has this prefix.' },
          },
        },
        span: {
          type: 'object',
          description:
            "Conditions of roles: `KEY = 'text'`, `KEY != 'text'` or `exists(KEY)`. `span.name`, or `events['NAME'].attributes.KEY`, may replace the key. The first condition that holds, in this order, decides.",
          additionalProperties: false,
          properties: Object.fromEntries(
            dialectRoles.map((role) => [role, { type: 'string', description: `Condition of ${roleTexts[role]}.` }]),
          ),
        },
        read: {
          type: 'object',
          description: `Paths of values: \`attributes.KEY\`, \`json(attributes.KEY).member[0]\` or \`span.name\`, each of at most ${expressionCharsMax} characters. For lists in many keys write \`list(attributes.PREFIX)\`, for an event \`events['NAME'].attributes.KEY\`. Results and messages are unwrapped as for built-in dialects.`,
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(dialectFields).map(([field, description]) => [field, { type: 'string', description }]),
          ),
        },
      },
    },
  },
};
