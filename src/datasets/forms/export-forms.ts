/** Writes examples in the forms of other programs, as far as these can hold them. */
import { expectationNames } from '../../../evaluators/expectation/expectation.ts';
import { stringify } from 'yaml';
import { exampleJson } from '../example-json.ts';
import type { DatasetExample } from '../../model/example.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member, plainText } from '../../model/json.ts';
import { csvText } from './csv.ts';
import { filled } from './entries.ts';
import { ownCsv } from './own-form.ts';

export interface ExportForm {
  /** The value of `--format`. */
  readonly name: string;
  readonly summary: string;
  /** Extension of a file of the form. */
  readonly ending: 'jsonl' | 'json' | 'yaml' | 'csv';
  /** Members that the form can hold, as `heldMembers` names them. Default: all. */
  readonly holds?: ReadonlySet<string>;
  readonly write: (examples: readonly DatasetExample[]) => string;
}

/** Members that an example has: those of `expect` by name, and inputs other than texts by their kind. */
export function heldMembers({ id: _id, input, expect = {}, ...rest }: DatasetExample): readonly string[] {
  const kind = isJsonArray(input) ? 'conversations as input' : isJsonObject(input) ? 'named inputs' : 'input';
  const others = Object.entries(rest).flatMap(([key, value]) =>
    value === undefined ? [] : [key === 'timeoutSeconds' ? 'timeout_seconds' : key],
  );
  return [kind, ...Object.keys(expect).map((key) => `expect.${key}`), ...others];
}

/** Members that a form leaves out, with the number of examples that have them. */
export function leftOutOf({ holds }: ExportForm, examples: readonly DatasetExample[]): ReadonlyMap<string, number> {
  const left = new Map<string, number>();
  if (holds === undefined) return left;
  for (const example of examples) for (const name of heldMembers(example)) if (!holds.has(name)) left.set(name, (left.get(name) ?? 0) + 1);
  return left;
}

const jsonLines = (values: readonly JsonValue[]): string => values.map((value) => jsonText(value)).join('\n');
const wholeJson = (value: JsonValue): string => JSON.stringify(JSON.parse(jsonText(value)), undefined, 2);

/** The last message of the user represents a conversation where a form takes a text. */
function inputText({ input }: DatasetExample): string {
  if (!isJsonArray(input)) return input === null ? '' : plainText(input);
  const last = input.findLast((message) => isJsonObject(message) && member(message, 'role') === 'user');
  return isJsonObject(last) ? plainText(member(last, 'content') ?? '') : '';
}

function callsOf({ expect = {} }: DatasetExample): readonly JsonObject[] | undefined {
  const calls = expect['tool_calls'];
  return calls !== undefined && isJsonArray(calls) ? calls.filter((call) => isJsonObject(call)) : undefined;
}

/** Calls under other names of their members. */
function callsAs(example: DatasetExample, names: { readonly arguments: string; readonly result?: string }): JsonValue | undefined {
  return callsOf(example)?.map(
    (call) =>
      filled({
        name: call['name'],
        [names.arguments]: call['arguments'],
        ...(names.result === undefined ? {} : { [names.result]: call['result'] }),
      }) ?? {},
  );
}

function outputText({ expect = {} }: DatasetExample): string | undefined {
  return expect['output'] === undefined ? undefined : plainText(expect['output']);
}

/** Named inputs, for forms that know nothing else. */
function inputs({ input }: DatasetExample): JsonObject {
  if (isJsonObject(input)) return input;
  return isJsonArray(input) ? { messages: input } : { input };
}

/** The expected output itself when nothing else is expected, and the whole expectation otherwise. */
function expected({ expect }: DatasetExample): JsonValue | undefined {
  if (expect === undefined) return undefined;
  const names = Object.keys(expect);
  return names.length === 1 && names[0] === 'output' && typeof expect['output'] === 'string' ? expect['output'] : expect;
}

function notes({ metadata }: DatasetExample): JsonObject {
  return metadata === undefined ? {} : isJsonObject(metadata) ? metadata : { metadata };
}

/** The conversation that is expected, made of the calls and the answer when the example has none. */
function trajectory(example: DatasetExample): readonly JsonValue[] {
  const { input, expect = {} } = example;
  const messages = expect['messages'];
  if (messages !== undefined && isJsonArray(messages)) return messages;
  const output = outputText(example);
  return [
    ...(isJsonArray(input) ? input : [{ role: 'user', content: inputText(example) }]),
    ...(callsOf(example) ?? []).flatMap((call, at): readonly JsonObject[] => {
      const asked = { name: call['name'] ?? '', arguments: jsonText(call['arguments'] ?? {}) };
      return [
        { role: 'assistant', content: '', tool_calls: [{ id: `call_${at + 1}`, type: 'function', function: asked }] },
        ...(call['result'] === undefined ? [] : [{ role: 'tool', tool_call_id: `call_${at + 1}`, content: plainText(call['result']) }]),
      ];
    }),
    ...(output === undefined ? [] : [{ role: 'assistant', content: output }]),
  ];
}

function golden(example: DatasetExample): JsonObject {
  const { id, expect = {}, tags, metadata } = example;
  return (
    filled({
      name: id,
      input: inputText(example),
      expected_output: outputText(example),
      expected_tools: callsAs(example, { arguments: 'input_parameters', result: 'output' }),
      context: expect['context'],
      tags,
      additional_metadata: metadata,
    }) ?? {}
  );
}

function evalCase(example: DatasetExample): JsonObject {
  const output = outputText(example);
  const said = (role: string, text: string): JsonObject => ({ role, parts: [{ text }] });
  const calls = callsAs(example, { arguments: 'args' });
  const turn = filled({
    user_content: said('user', inputText(example)),
    final_response: output === undefined ? undefined : said('model', output),
    intermediate_data: calls === undefined ? undefined : { tool_uses: calls },
  });
  return { eval_id: example.id, conversation: [turn ?? {}] };
}

function dokimosExample(example: DatasetExample): JsonObject {
  const { id, expect = {}, tasks, tools, constraints } = example;
  const outputs = filled({ output: expect['output'], toolCalls: callsAs(example, { arguments: 'arguments', result: 'result' }) });
  const metadata = filled({ ...notes(example), tasks, tools, constraints });
  return filled({ id, inputs: inputs(example), expectedOutputs: outputs, metadata }) ?? {};
}

function phoenixRow(example: DatasetExample): JsonObject {
  const part = (prefix: string, members: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([key, value]) => [`${prefix}_${key}`, value]));
  const { id, tags, split, expect = {} } = example;
  return {
    example_id: id,
    ...part('input', inputs(example)),
    ...part('output', expect),
    ...part('metadata', filled({ ...notes(example), tags, split }) ?? {}),
  };
}

const everyInput = ['input', 'named inputs', 'conversations as input'];
const everyExpectation = expectationNames.map((name) => `expect.${name}`);

export const exportForms: readonly ExportForm[] = [
  {
    name: 'jsonl',
    summary: 'JSON lines in the form of tracejury',
    ending: 'jsonl',
    write: (examples) => jsonLines(examples.map(exampleJson)),
  },
  { name: 'json', summary: 'JSON in the form of tracejury', ending: 'json', write: (examples) => wholeJson(examples.map(exampleJson)) },
  {
    name: 'yaml',
    summary: 'YAML in the form of tracejury',
    ending: 'yaml',
    write: (examples) =>
      stringify(
        examples.map((one): unknown => JSON.parse(jsonText(exampleJson(one)))),
        { lineWidth: 0, aliasDuplicateObjects: false },
      ).trimEnd(),
  },
  { name: 'csv', summary: 'CSV in the form of tracejury', ending: 'csv', write: (examples) => ownCsv(examples.map(exampleJson)) },
  {
    name: 'deepeval',
    summary: 'goldens of DeepEval',
    ending: 'json',
    holds: new Set(['input', 'expect.output', 'expect.tool_calls', 'expect.context', 'tags', 'metadata']),
    write: (examples) => wholeJson(examples.map(golden)),
  },
  {
    name: 'agentevals',
    summary: 'reference trajectories of agentevals',
    ending: 'json',
    holds: new Set(['input', 'conversations as input', 'expect.messages', 'expect.tool_calls', 'expect.output', 'tags', 'metadata']),
    write: (examples) =>
      wholeJson(
        examples.map(
          (one) =>
            filled({
              id: one.id,
              inputs: { input: inputText(one) },
              reference_outputs: { messages: trajectory(one) },
              tags: one.tags,
              metadata: one.metadata,
            }) ?? {},
        ),
      ),
  },
  {
    name: 'adk',
    summary: 'an eval set of the Agent Development Kit',
    ending: 'json',
    holds: new Set(['input', 'expect.output', 'expect.tool_calls']),
    write: (examples) => wholeJson({ eval_set_id: 'tracejury', eval_cases: examples.map(evalCase) }),
  },
  {
    name: 'dokimos',
    summary: 'a dataset of Dokimos',
    ending: 'json',
    holds: new Set([...everyInput, 'expect.output', 'expect.tool_calls', 'tasks', 'tools', 'constraints', 'metadata']),
    write: (examples) => wholeJson({ name: 'tracejury', examples: examples.map(dokimosExample) }),
  },
  {
    name: 'langsmith',
    summary: 'JSON lines for LangSmith',
    ending: 'jsonl',
    holds: new Set([...everyInput, ...everyExpectation, 'split', 'metadata']),
    write: (examples) =>
      jsonLines(
        examples.map((one) => {
          const about = filled({ ...notes(one), dataset_split: one.split === undefined ? undefined : [one.split] });
          return filled({ id: one.id, inputs: inputs(one), outputs: one.expect, metadata: about }) ?? {};
        }),
      ),
  },
  {
    name: 'braintrust',
    summary: 'JSON lines for Braintrust',
    ending: 'jsonl',
    holds: new Set([...everyInput, ...everyExpectation, 'split', 'tags', 'metadata']),
    write: (examples) =>
      jsonLines(
        examples.map(
          (one) =>
            filled({
              id: one.id,
              input: one.input,
              expected: expected(one),
              tags: one.tags,
              metadata: filled({ ...notes(one), split: one.split }),
            }) ?? {},
        ),
      ),
  },
  {
    name: 'phoenix',
    summary: 'CSV for Phoenix',
    ending: 'csv',
    holds: new Set([...everyInput, ...everyExpectation, 'split', 'tags', 'metadata']),
    write: (examples) => {
      const rows = examples.map(phoenixRow);
      return csvText([...new Set(rows.flatMap((row) => Object.keys(row)))], rows);
    },
  },
];
