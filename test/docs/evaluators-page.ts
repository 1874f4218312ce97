/** `docs/reference/evaluators.md`, from the evaluators' own data. */
import { evaluators } from '../../evaluators/index.ts';
import type { AnyEvaluator, JsonSchema, Need } from '../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, jsonText, member } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

const needWords: { readonly [need in Need]: string } = {
  tool_calls: 'tool calls',
  tool_definitions: 'tool definitions',
  tool_results: 'tool results',
  input: 'the input',
  final_response: 'the final response',
  expected_tool_calls: 'expected tool calls',
  expected_tool_outputs: 'expected tool outputs',
  expected_tool_counts: 'expected numbers of tool calls',
  expected_tool_order: 'the expected order of tools',
  expected_messages: 'the reference messages',
  expected_output: 'the expected output',
  expected_context: 'a context that holds what is true',
  documents: 'retrieved documents',
  search_text: 'the texts to search for',
  tokens: 'tokens of model calls',
  times: 'start and end of the run',
  tasks: 'tasks',
};

export function evaluatorsPage(): string {
  return `${[opening, table(), ...evaluators.map(section), closing].join('\n\n')}\n`;
}

const opening = `# Evaluators

<!-- Written by npm run docs from the evaluators' own data. -->

An evaluator looks at one run of an agent and ends in exactly one of three outcomes:

- **scored**: a score from 0 to 1, higher is better, with one sentence that says what to do and the ids of the spans that prove it.
  It passes when the score is at least the threshold; with \`threshold: null\` it is a raw metric that neither passes nor fails.
- **skipped**: there was nothing to score, and the reason says what was missing. That is never 0 and never 1.
- **failed**: the judge, or the evaluator itself, broke off. That says nothing about the agent.

An entry of \`evaluators:\` is a name, or:

\`\`\`yaml
evaluators:
  - use: tool_trajectory
    name: booking_path            # the name that the scores carry
    expect: { tool_calls: [ { name: search_flights }, { name: book_hotel } ] }
    options: { mode: in_order, arguments: { mode: subset } }
    threshold: 1
\`\`\`

What is expected can also come with the run, as JSON in the attribute \`tracejury.expected\`; a member given there wins over the same
member in the configuration. An expected call without \`arguments\` accepts any. Values are compared as JSON: 1 equals 1.0, a boolean is
no number, null differs from a missing key, and whole numbers of any length are exact.

Calls that a model asked for and that nothing shows to have run count where the model's decision is judged (\`tool_call_validity\`,
\`tool_permission\` and all that compare calls with expected ones) and are left out where the execution is (\`tool_error\`, \`tool_recovery\`,
\`tool_efficiency\`, \`loop_detection\`, \`step_count\`, \`tool_call_output\`).

With \`turns: user_turn\` an entry of a rule scores a conversation turn by turn, and its worst turn is the verdict; \`assistant_message\` makes each
message of the assistant a turn. The details have the score of each turn, the worst one (\`worst_turn\`, from 1) and what the whole would get
(\`whole\`). \`expect.by_turn\` lists what is expected of each turn, null for nothing; otherwise each is held against the common expectation. A turn that is
expected and never came has no calls. A run that tells no messages is one turn, as the runs of a session are.

The label of a score is \`pass\` or \`fail\`, and none for a raw metric. A judge that gives labels of its own gives the label of the verdict: for the run
as a whole, or the worst among its calls, documents, turns or blocks. [Judges](../guides/judges.md#what-they-are-asked) lists them.

A rule that can ask \`more with a judge\` looks at every run by its rules alone until its entry names a judge (\`judge: NAME\`); then it asks
about a sample of the runs, like a judge evaluator. Where the judge gives no usable answer, what the rules found remains, and the
details say \`judge_error\`.`;

const closing = `## Groups of runs

\`convergence\` looks at several runs of one task, so it is a function and no entry of \`evaluators:\`: the mean over all runs of least
steps / own steps, where the least is that of the runs that succeeded, or a known optimum. A run that failed or took no step counts 0,
and the number of runs is always told: one run alone is its own optimum. [Several runs of one task](../guides/tasks.md) says where it is shown.`;

function table(): string {
  const rows = evaluators.map(
    (one) => `| [${one.id}](#${one.id}) | ${one.summary} | ${kind(one)} | ${one.onByDefault ? 'yes' : 'no'} | ${threshold(one)} |`,
  );
  return ['| evaluator | what it finds | kind | on by default | threshold |', '|---|---|---|---|---|', ...rows].join('\n');
}

function section(one: AnyEvaluator): string {
  const needs = one.needs.map((need) => needWords[need]).join(', ');
  const options = rows(one.optionsSchema, one.defaults, '');
  const expected = one.expectationSchema === undefined ? [] : expectation(one.expectationSchema);
  const on = Object.keys(one.switchedOnBy ?? {});
  return [
    `## ${one.id}`,
    `${one.summary} Version ${one.version}, threshold ${threshold(one)}, ${one.onByDefault ? 'on' : 'off'} by default; after ${one.source}.`,
    `Looks at: ${needs === '' ? (one.kind === 'http' ? 'whatever the endpoint wants' : 'whatever its options name') : needs}.`,
    ...(on.length === 0
      ? []
      : [
          `A dataset that expects ${on.map((part) => `\`${part}\``).join(' or ')} [switches it on](../guides/ci.md#what-checks-an-expectation) where no other evaluator checks that.`,
        ]),
    ...(expected.length === 0 ? [] : [['| under `expect` | meaning |', '|---|---|', ...expected].join('\n')]),
    ...(options.length === 0 ? [] : [['| option | default | meaning |', '|---|---|---|', ...options].join('\n')]),
  ].join('\n\n');
}

function kind(one: AnyEvaluator): string {
  if (one.target === 'session') return `${one.kind}, on sessions`;
  return one.kind === 'rule' && one.evaluateWithJudge !== undefined ? 'rule, more with a judge' : one.kind;
}

function threshold({ defaultThreshold }: AnyEvaluator): string {
  return defaultThreshold === null ? 'none' : String(defaultThreshold);
}

function expectation(schema: JsonSchema): readonly string[] {
  return Object.entries(propertiesOf(schema)).map(([key, one]) => `| \`${key}\` | ${cell(meaning(one))} |`);
}

/** One row an option; options of options are written with dots. */
function rows(schema: JsonSchema, defaults: unknown, prefix: string): readonly string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([key, one]) => {
    const preset = memberOf(defaults, camelCase(key));
    const inner = isJsonObject(one) ? propertiesOf(one) : {};
    if (isJsonObject(one) && Object.keys(inner).length > 0) return rows(one, preset, `${prefix}${key}.`);
    return [`| \`${prefix}${key}\` | ${preset === undefined ? '' : `\`${jsonText(preset as JsonValue)}\``} | ${cell(meaning(one))} |`];
  });
}

function meaning(schema: JsonValue): string {
  if (!isJsonObject(schema)) return '';
  const [description, listed] = [member(schema, 'description'), member(schema, 'enum')];
  const choices = isJsonArray(listed) ? `One of ${listed.map((one) => `\`${String(one)}\``).join(', ')}. ` : '';
  return `${choices}${typeof description === 'string' ? description : ''}`;
}

function propertiesOf(schema: JsonSchema): JsonObject {
  const properties = member(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
