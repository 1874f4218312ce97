import { dialectFields, dialectRoles } from '../../../collectors/configured/dialect.ts';
import { expressionCharsMax } from '../../../collectors/configured/expression.ts';
import { wire } from '../../model/attributes.ts';
import type { JsonObject } from '../../model/json.ts';
import { defaultTaskKey, TASK_PATH, taskPath } from '../../pipeline/reporting/task-keys.ts';
import { readyPatterns, replacementDefault } from '../../redaction/settings.ts';
import { as, duration, type Field, field, integer, list, mapping, object, oneOf, settings, text } from '../field.ts';

export const closing = settings('When a run closes and is scored.', {
  settle: duration(
    undefined,
    '0ms',
    '1h',
    'Wait after the last span of a complete run. Left out: 500 ms, because requests may overtake one another. The first close of a trace that came in one request, without log records, waits only 50 ms. That needs several spans, and no other request that is being received. A value holds for every run. Runs that are due within 50 ms of one another close together.',
  ),
  quiet: duration('5s', '0ms', '1d', 'Wait after the last span of a run with its agent span but with missing parts. At least `settle`.'),
  abandon: duration('10m', '1s', '30d', 'Wait after the last span of a run without its agent span. At least `quiet`.'),
  late: duration('1h', '0ms', '30d', 'Time after its close in which late spans reopen a run.'),
});

export const sessions = settings(
  'Runs with one session id are the turns of a session. Evaluators of whole sessions, such as `goal_reached`, judge a quiet session.',
  {
    quiet: duration('10m', '1s', '7d', 'Time without a turn until a session is judged; after a later turn it is judged again.'),
    latest: duration('6h', '1m', '30d', 'Interval of judgements of a session that never pauses. At least `quiet`.'),
    keep: duration('1d', '1m', '30d', 'Time without a turn until a session ends: a later turn begins another one. At least `quiet`.'),
    rows: integer(10_000, 1, 1_000_000, 'sessions', 'Most chosen sessions in the store, with their turns; further ones end as `overload`.'),
  },
);

export const redact = list(
  { default: [], maxItems: 100 },
  object(
    {},
    {
      match: oneOf(readyPatterns, undefined, 'A ready pattern.'),
      pattern: text({ minLength: 1, maxLength: 1000, 'x-pattern': true }, 'A regular expression of your own.'),
      replace: text({ maxLength: 1000, default: replacementDefault }, 'The replacement. No entry of the list may match it.'),
    },
  ),
  'Texts to replace before runs are stored, judged, exported or logged. Rules read the true values. The first entry of the list applies to overlapping matches. See docs/guides/redaction.md.',
);

export const tools = list(
  { default: [], maxItems: 10_000 },
  object(
    {},
    {
      name: text({ minLength: 1, maxLength: 1000 }, 'Name of the tool in the spans.'),
      description: text({ default: '' }, 'Description for the model.'),
      input_schema: field<JsonObject | undefined>({ type: 'object', description: 'JSON Schema of its arguments.' }),
      file: text({ minLength: 1 }, 'Instead of the above: a JSON file with a list of definitions, relative to the configuration.'),
    },
  ),
  'Tool definitions for agents whose spans carry none. For a run that names its tools, they only fill in missing parts and add no tool.',
);

/** Pairs of agent and task. */
export const tasksDefault = 500;

export const groups = settings('Comparison of the last runs of the same agent and task.', {
  task_key: as(
    text(
      {
        pattern: TASK_PATH,
        'x-words': 'Write attributes. and the key of an attribute, or input.',
        default: 'attributes.task',
      },
      'Source of the name of the task. `attributes.KEY`: an attribute of the agent’s span, else of another span of its trace, else of the resource. `input`: the input of the agent.',
    ),
    (path) => taskPath(path) ?? defaultTaskKey,
  ),
  version_key: as(
    text(
      {
        pattern: '^attributes\\..{1,900}$',
        'x-words': 'Write attributes. and the key of an attribute.',
        default: `attributes.${wire.serviceVersion}`,
      },
      'Source of the version of an agent: an attribute of the agent’s span, else of the resource. Figures can be split by it (docs/guides/versions.md).',
    ),
    (path) => path.slice('attributes.'.length),
  ),
  runs: integer(50, 2, 100, 'runs', 'Compared runs of one agent and task: the last ones by start.'),
  tasks: integer(
    tasksDefault,
    1,
    1000,
    'tasks',
    'Pairs of agent and task. Beyond it the tenant with the most pairs loses the one with the oldest last run.',
  ),
  steps: oneOf(['tool_calls', 'tool_and_model_calls'], 'tool_calls', 'Calls that count as steps.'),
  success: text(
    { maxLength: 100 },
    'Name of an evaluator that decides about success; runs without its verdict do not count. Left out: a run succeeds unless it ends in an error.',
  ),
});

const keyList = (description: string) => list({ minItems: 1, maxItems: 100 }, text({ minLength: 1, maxLength: 200 }), description);

const roleTexts: { readonly [role in (typeof dialectRoles)[number]]: string } = {
  agent: 'the span of an agent',
  tool: 'one execution of a tool',
  model: 'a request to a model',
  retriever: 'a retrieval',
  workflow: 'a workflow around agents',
  step: 'a stage without a meaning for evaluators',
};

export const dialects = list(
  { default: [], maxItems: 100 },
  object(
    { required: ['name', 'match'] },
    {
      name: text(
        {
          pattern: '^[a-z][a-z0-9_-]{0,62}$',
          'x-words': 'Use lower-case letters, digits, dashes and underscores, a letter first.',
        },
        'Name of the dialect in runs, logs and `inspect`.',
      ),
      match: object(
        { minProperties: 1 },
        {
          scope: text({ minLength: 1, maxLength: 200 }, 'Name of the instrumentation scope; `*` matches any text.'),
          keys: keyList('Spans with one of these attributes.'),
          key_prefixes: keyList('Spans with an attribute whose key has this prefix.'),
        },
        'The spans to read: one matching sign is enough.',
      ),
      span: texts(
        dialectRoles.map((role) => [role, `Condition of ${roleTexts[role]}.`]),
        "Conditions of roles: `KEY = 'text'`, `KEY != 'text'` or `exists(KEY)`. `span.name`, or `events['NAME'].attributes.KEY`, may replace the key. The first condition that holds, in this order, decides.",
      ),
      read: texts(
        Object.entries(dialectFields),
        `Paths of values: \`attributes.KEY\`, \`json(attributes.KEY).member[0]\` or \`span.name\`, each of at most ${expressionCharsMax} characters. Write lists in many keys as \`list(attributes.PREFIX)\`, and an event as \`events['NAME'].attributes.KEY\`. Results and messages are unwrapped as for built-in dialects.`,
      ),
    },
  ),
  'Readers of attributes of an unknown SDK, without code. They come before the built-in ones. `tracejury inspect FILE --propose-dialect` writes an entry from recorded spans; see docs/guides/own-dialect.md.',
);

/** A mapping with a text of each of these names. */
function texts(
  names: readonly (readonly [name: string, description: string])[],
  description: string,
): Field<{ readonly [name: string]: string } | undefined> {
  const fields = Object.fromEntries(names.map(([name, meaning]) => [name, text({}, meaning)]));
  const { read } = mapping({}, text({}));
  return { ...object({}, fields, description), read };
}
