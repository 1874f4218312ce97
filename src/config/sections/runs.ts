import { dialectFields, dialectRoles } from '../../../collectors/configured/dialect.ts';
import { expressionCharsMax } from '../../../collectors/configured/expression.ts';
import { duration, type Section, integer, settings } from './section.ts';
import { TASK_PATH } from '../../pipeline/reporting/task-keys.ts';
import { readyPatterns, replacementDefault } from '../../redaction/settings.ts';

export const closing: Section = {
  key: 'closing',
  schema: settings('When a run counts as finished and is scored.', {
    settle: duration('500ms', '0ms', '1h', 'Wait after the last span of a run of which nothing is missing.'),
    quiet: duration(
      '5s',
      '0ms',
      '1d',
      'Wait after the last span of a run whose agent span has come while other parts are missing. At least `settle`.',
    ),
    abandon: duration('10m', '1s', '30d', 'Wait after the last span of a run whose agent span never came. At least `quiet`.'),
    late: duration('1h', '0ms', '30d', 'How long after its close a run still takes late spans and is scored again.'),
  }),
};

/** `sessions`: when the turns of a conversation are judged as a whole. */
export const sessions: Section = {
  key: 'sessions',
  schema: settings(
    'Runs with one session id are the turns of a session. Evaluators that judge sessions as a whole, such as `goal_reached`, judge it after it has been quiet.',
    {
      quiet: duration(
        '10m',
        '1s',
        '7d',
        'Without a further turn for so long, a session is judged; a turn that comes later has it judged again.',
      ),
      latest: duration('6h', '1m', '30d', 'A session that never pauses is judged as often as this. At least `quiet`.'),
      keep: duration(
        '1d',
        '1m',
        '30d',
        'Without a turn for so long, a session is forgotten: a turn that comes later begins another one. At least `quiet`.',
      ),
      rows: integer(
        10_000,
        1,
        1_000_000,
        'sessions',
        'How many sessions that were chosen to be judged are remembered, with their turns; while there are as many, those that begin end as `overload`.',
      ),
    },
  ),
};

// What is done to the traffic: `redact`, `tools`, `groups`.

export const redact: Section = {
  key: 'redact',
  schema: {
    type: 'array',
    description:
      'Texts that are replaced before runs are stored, judged, exported or logged. Rules read the true values. Where matches overlap, what stands first in the list says what stands in their place. docs/guides/redaction.md says more.',
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
          description: 'What stands in its place. No entry of the list may match it.',
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
      'Tool definitions for agents whose spans carry none. Where the spans of a run name its tools, what they lack about these is filled in, and no tool is added.',
    default: [],
    maxItems: 10_000,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 1000, description: 'Name of the tool, as the spans carry it.' },
        description: { type: 'string', default: '', description: 'What the model reads about it.' },
        input_schema: { type: 'object', description: 'JSON Schema of its arguments.' },
        file: {
          type: 'string',
          minLength: 1,
          description: 'Instead of the above: a JSON file with a list of definitions, from the folder of the configuration.',
        },
      },
    },
  },
};

export const groups: Section = {
  key: 'groups',
  schema: settings('Which runs are compared with one another: the last ones of the same agent and task.', {
    task_key: {
      type: 'string',
      pattern: TASK_PATH,
      'x-words': 'Write attributes. and the key of an attribute, or input.',
      default: 'attributes.task',
      description:
        'Where the name of the task stands. `attributes.KEY`: an attribute of the agent’s span, else of another span of its trace, else of the resource. `input`: what the agent was asked.',
    },
    runs: integer(50, 2, 100, 'runs', 'Runs of one agent and task that are compared, the last ones by their start.'),
    tasks: integer(
      500,
      1,
      1000,
      'tasks',
      'Pairs of agent and task that are remembered. Beyond it the one that had no run for longest is forgotten.',
    ),
    steps: { enum: ['tool_calls', 'tool_and_model_calls'], default: 'tool_calls', description: 'What counts as a step.' },
    success: {
      type: 'string',
      maxLength: 100,
      description:
        'Name of an evaluator: a run succeeds when it passes, and is left out while it has no verdict. Left out: a run succeeds unless it ends in an error.',
    },
  }),
};

// `dialects`: readers of attributes that no built-in collector knows.

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
            "What a span is: `KEY = 'text'`, `KEY != 'text'` or `exists(KEY)`. `span.name`, or `events['NAME'].attributes.KEY`, may stand for the key. Asked in this order, and the first that holds counts.",
          additionalProperties: false,
          properties: Object.fromEntries(
            dialectRoles.map((role) => [role, { type: 'string', description: `Condition of ${roleTexts[role]}.` }]),
          ),
        },
        read: {
          type: 'object',
          description: `Where values stand: \`attributes.KEY\`, \`json(attributes.KEY).member[0]\` or \`span.name\`, each of at most ${expressionCharsMax} characters. For lists in many keys write \`list(attributes.PREFIX)\`, for an event \`events['NAME'].attributes.KEY\`. Results and messages are unwrapped as everywhere.`,
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(dialectFields).map(([field, description]) => [field, { type: 'string', description }]),
          ),
        },
      },
    },
  },
};
