/** `docs/reference/evaluators.md`, from the evaluators' own data. */
import { evaluators } from '../../evaluators/index.ts';
import type { AnyEvaluator, JsonSchema, Need } from '../../evaluators/evaluator.ts';
import { switchingOn } from '../../evaluators/configuration/switching-on.ts';
import { exampleText } from './evaluator-examples.ts';
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

<!-- Written by npm run docs from the evaluators' own data and examples/evaluators.yaml. -->

\`\`\`yaml
evaluators:
  - defaults                      # the rules that are on without a list
  - tool_recovery                 # only a name: with its defaults
  - use: tool_trajectory
    name: booking_path            # the name that the scores carry
    expect: { tool_calls: [ { name: search_flights }, { name: book_hotel } ] }
    options: { mode: in_order, arguments: { mode: subset } }
    threshold: 1
\`\`\`

An evaluator scores one run of an agent. Each evaluation ends in exactly one of three outcomes:

- **scored**: a score from 0 to 1, where higher is better. A sentence names the remedy, and span ids prove it.
  The run passes when the score is at least the threshold. With \`threshold: null\` the score is a raw metric, which neither passes nor fails.
- **skipped**: the run had nothing to score, and the reason names what was missing. A skipped evaluation never counts as 0 or as 1.
- **failed**: the judge or the evaluator itself broke off. It has no meaning for the agent.

## How to read the examples

Each evaluator below has an example with its verdict. \`run\` is an agent trace or a list of messages, as \`tracejury eval\` reads them.
\`entry\` is next to \`use:\` in the configuration. \`answers\` are what the judge or the endpoint answered, and \`vectors\` what an embedding model answered.
A test scores every example again. All of them are in [\`examples/evaluators.yaml\`](../../examples/evaluators.yaml).

## Expectations

An expectation comes from the entry, from a dataset, or with the run as JSON in the attribute \`tracejury.expected\`. A member that comes with the run
replaces the same member of the configuration. An expected call without \`arguments\` accepts any arguments.

Evaluators compare values as JSON. The number 1 equals 1.0, a boolean is not a number, and null differs from a missing key. Whole numbers of any length are exact.

## Calls that never ran

A model may ask for a call that nothing shows to have run. Evaluators of the model's decision count such a call: \`tool_call_validity\`, \`tool_permission\`
and all that compare calls with expected ones. Evaluators of the execution leave it out: \`tool_error\`, \`tool_recovery\`, \`tool_efficiency\`,
\`loop_detection\`, \`step_count\`, \`tool_call_output\`.

## Conversations

With \`turns: user_turn\` a rule scores a conversation turn by turn, and the worst turn gives the verdict. With \`turns: assistant_message\` each
message of the assistant is a turn. The details hold the score of each turn, the number of the worst one (\`worst_turn\`, from 1) and the score of the
whole conversation (\`whole\`).

\`expect.by_turn\` lists what is expected of each turn; null expects nothing. Without it each turn is compared with the common expectation. An expected
turn that never came has no calls. A run without messages is one turn, and so is each run of a session.

## Labels

The label of a score is \`pass\` or \`fail\`. A raw metric has no label. A judge with its own labels gives the label of the verdict. That is the label of the
whole run, or the worst label among its calls, documents, turns or blocks. [Judges](../guides/judges.md#questions-by-evaluator) lists them.

## Rules that can ask a judge

The kind \`rule, more with a judge\` scores every run by rules until its entry names a judge (\`judge: NAME\`). Then it asks about a sample of the runs,
like a judge evaluator. When the judge gives no usable answer, the findings of the rules remain, and the details hold \`judge_error\`.

## All evaluators

The column *on* names what an evaluator needs to be on. Those that are on by default need nothing. Every other one exists and is off until \`evaluators\` has an entry for it.
Some need more: a judge under \`judges\`, an option, or an expectation.`;

const closing = `## Groups of runs

\`convergence\` compares several runs of one task. It is a function of the library and no entry of \`evaluators:\`. Its value is the mean of least steps
divided by own steps over all runs. The least number comes from the runs that succeeded, or from a known optimum. A run that failed or took no step counts 0.
The result always names the number of runs, because a single run is its own optimum. [Several runs of one task](../guides/tasks.md) shows where it appears.`;

function table(): string {
  const rows = evaluators.map(
    (one) => `| [${one.id}](#${one.id}) | ${one.summary} | ${kind(one)} | ${switchedOn(one)} | ${threshold(one)} |`,
  );
  return ['| evaluator | what it finds | kind | on | threshold |', '|---|---|---|---|---|', ...rows].join('\n');
}

function switchedOn(one: AnyEvaluator): string {
  if (one.onByDefault) return 'by default';
  const needs = switchingOn(one, evaluators).map((need) => (/^[\w.]+$/.test(need) ? `\`${need}\`` : need));
  return `with an entry${needs.length === 0 ? '' : ` and ${needs.join(', ')}`}`;
}

function section(one: AnyEvaluator): string {
  const needs = one.needs.map((need) => needWords[need]).join(', ');
  const options = rows(one.optionsSchema, one.defaults, '');
  const expected = one.expectationSchema === undefined ? [] : expectation(one.expectationSchema);
  const on = Object.keys(one.switchedOnBy ?? {});
  return [
    `## ${one.id}`,
    one.summary,
    exampleText(one),
    [
      `- Looks at: ${needs === '' ? (one.kind === 'http' ? 'the parts that the endpoint wants' : 'the parts that its options name') : needs}`,
      `- Kind: ${kind(one)}, ${one.onByDefault ? 'on' : 'off'} by default, threshold ${threshold(one)}, version ${one.version}`,
      `- Source: ${one.source}`,
    ].join('\n'),
    ...(on.length === 0
      ? []
      : [
          `A dataset that expects ${on.map((part) => `\`${part}\``).join(' or ')} [switches it on](../guides/ci.md#evaluators-that-check-an-expectation), unless another evaluator checks that part.`,
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
