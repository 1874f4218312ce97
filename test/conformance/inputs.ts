/** Builds what the product takes from what a case gives: an entry of the configuration and an agent trace. */
import { toolAttributes } from '../../collectors/tool-attributes.ts';
import type { EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import type { AgentTrace, ToolCall, ToolDefinition } from '../../src/model/agent-trace.ts';
import { fromMessages } from '../../src/library/openai-messages.ts';
import { isJsonArray, isJsonObject, member, plainText } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { span } from './spans.ts';
import type { Names } from './names.ts';
import type { Case } from './vectors.ts';

export function entryOf(
  one: Pick<Case, 'config' | 'trace' | 'expected' | 'judgeAnswers'>,
  evaluator: AnyEvaluator,
  names: Names,
): EvaluatorEntry {
  let entry: JsonObject = { options: names.options };
  for (const [key, value] of Object.entries(one.config)) {
    const path = names.config[key] ?? ['options', key];
    entry = withAt(entry, path, inOurWords(value, path.join('.'), names.words ?? {}));
  }
  const expect = Object.entries(one.expected).map(([key, value]) => [names.expected[key] ?? key, value] as const);
  const options = member(evaluator.optionsSchema, 'properties');
  const emptyListGiven = !evaluator.needs.includes('tool_definitions') || isJsonArray(member(one.trace, 'tools'));
  return {
    use: evaluator.id,
    ...entry,
    ...(evaluator.kind === 'rule' && evaluator.evaluateWithJudge !== undefined && one.judgeAnswers !== undefined
      ? { judge: 'scripted' }
      : {}),
    ...(expect.length === 0 ? {} : { expect: Object.fromEntries(expect) }),
    ...(isJsonObject(options) && Object.hasOwn(options, 'on_empty') && emptyListGiven ? { on_empty: 'original' } : {}),
  };
}

function inOurWords(value: JsonValue, path: string, words: NonNullable<Names['words']>): JsonValue {
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inOurWords(inner, `${path}.${key}`, words)]));
  const own = Object.entries(words).find(([pattern]) =>
    pattern
      .split('.')
      .every((step, at, steps) => step === '*' || (step === path.split('.')[at] && steps.length === path.split('.').length)),
  );
  return typeof value === 'string' ? (own?.[1][value] ?? value) : value;
}

function withAt(entry: JsonObject, path: readonly string[], value: JsonValue): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return entry;
  const inner = member(entry, key);
  return {
    ...entry,
    [key]:
      rest.length === 0
        ? isJsonObject(inner) && isJsonObject(value)
          ? { ...inner, ...value }
          : value
        : withAt(isJsonObject(inner) ? inner : {}, rest, value),
  };
}

export function traceOf({ trace }: Case): AgentTrace {
  const [input, output, tasks, constraints, calls, spans, messages] = [
    'input',
    'output',
    'tasks',
    'constraints',
    'tool_calls',
    'spans',
    'messages',
  ].map((key) => member(trace, key));
  const told = isJsonArray(messages) ? asRun(fromMessages(messages).trace) : undefined;
  const made = isJsonArray(spans) ? callsOfSpans(spans) : objects(calls).map(callOf);
  // Calls beside messages are the same calls, with their results.
  const consistent = told !== undefined && (made.length === 0 || made.length === told.toolCalls.length);
  return agentTrace({
    ...(consistent ? told : {}),
    ...(typeof input === 'string' ? { input } : {}),
    ...(output === undefined || output === null ? {} : { finalResponse: output }),
    ...(isJsonArray(tasks) ? { tasks: tasks.map(plainText) } : {}),
    ...(typeof constraints === 'string' ? { constraints } : {}),
    ...(consistent && made.length === 0 ? {} : { toolCalls: made }),
    toolDefinitions: objects(member(trace, 'tools')).map(definitionOf),
  });
}

/** The originals know no call that did not run. */
function asRun(trace: AgentTrace): AgentTrace {
  return { ...trace, toolCalls: trace.toolCalls.map((call) => ({ ...call, executed: true, result: call.result ?? null })) };
}

/** In the vectors an absent result is a null one, and absent or null arguments are none, unless a text beside them has other values. */
function callOf(given: JsonObject): ToolCall {
  const sent = member(given, 'arguments') ?? null;
  const text = member(given, 'arguments_text');
  // Readers take a blank text and the word null for no arguments.
  const written = typeof text === 'string' && /^\s*(null)?\s*$/.test(text) ? undefined : text;
  const toolId = member(given, 'tool_id');
  const unreadable = typeof written === 'string' ? written : isJsonObject(sent) || sent === null ? undefined : plainText(sent);
  return {
    name: plainText(member(given, 'name') ?? ''),
    ...(isJsonObject(sent) ? { arguments: sent } : { arguments: unreadable === undefined ? {} : null }),
    ...(unreadable === undefined ? {} : { argumentsText: unreadable }),
    result: member(given, 'result') ?? null,
    ...(typeof toolId === 'string' ? { toolId } : {}),
    executed: true,
  };
}

function definitionOf(given: JsonObject): ToolDefinition {
  const [description, schema] = [member(given, 'description'), member(given, 'input_schema')];
  return {
    name: plainText(member(given, 'name') ?? ''),
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema === undefined ? {} : { inputSchema: schema }),
  };
}

/** Spans are read by the collector that reads such spans in the product. */
function callsOfSpans(spans: readonly JsonValue[]): readonly ToolCall[] {
  return objects(spans).flatMap((given) => {
    const read = toolAttributes.read(span(given));
    const tool = read.role === 'tool' ? read.tool : undefined;
    if (tool?.name === undefined) return [];
    const { name, result, toolId, argumentsText } = tool;
    return [
      {
        name,
        arguments: tool.arguments ?? {},
        ...(argumentsText === undefined ? {} : { argumentsText }),
        ...(toolId === undefined ? {} : { toolId }),
        result: result ?? null,
        executed: true,
      },
    ];
  });
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
