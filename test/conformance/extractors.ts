/** The readers of cases that have details and no score, by the evaluator that their file names. */
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import { evaluators } from '../../evaluators/index.ts';
import { normalizedName } from '../../evaluators/matching/names.ts';
import { turnsOf } from '../../evaluators/evidence/conversation.ts';
import { fromMessages } from '../../src/library/openai-messages.ts';
import { isJsonArray, member, plainText } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { entryOf, traceOf } from './inputs.ts';
import { namesOf } from './names.ts';
import type { Case } from './vectors.ts';

export const extractors: { readonly [evaluator: string]: ((one: Case) => JsonObject) | undefined } = {
  tool_name_normalization: normalizedNames,
  trajectory_messages: messages,
  conversation_turns: turns,
};

function normalizedNames(one: Case): JsonObject {
  const { toolCalls, toolDefinitions } = traceOf(one);
  const known = new Set([...list(member(one.config, 'known_tools')).map(plainText), ...toolDefinitions.map(({ name }) => name)]);
  return {
    normalized: toolCalls.map(({ name }) => (member(one.config, 'normalize_tool_names') === true ? normalizedName(name, known) : name)),
  };
}

function messages(one: Case): JsonObject {
  const { trace, orphanResults } = fromMessages(member(one.trace, 'messages') ?? []);
  return {
    tool_calls: trace.toolCalls.map(({ id, name, arguments: sent, argumentsText, result }) => ({
      id: id ?? null,
      name,
      arguments: sent ?? null,
      ...(argumentsText === undefined ? {} : { arguments_text: argumentsText }),
      result: result ?? null,
    })),
    orphan_results: orphanResults,
    reasoning_steps: trace.reasoningSteps,
    final_response: trace.finalResponse ?? null,
  };
}

function turns(one: Case): JsonObject {
  const trace = traceOf(one);
  const found = turnsOf(trace);
  if (found === undefined) return {};
  const names = found.groups.map((calls) => calls.map(({ name }) => name));
  return { turn_count: found.turnCount, tools_flat: names.flat(), tools_by_turn: names, ...scores(one) };
}

function scores(one: Case): JsonObject {
  const { per_turn_evaluator: id, ...config } = one.config;
  const evaluator = evaluators.find((other) => other.id === id);
  const trace = traceOf(one);
  const found = turnsOf(trace);
  if (evaluator === undefined || found === undefined) return {};
  const configuration = configuredEvaluator(entryOf({ ...one, config, expected: {} }, evaluator, namesOf(evaluator.id)), evaluators);
  if (configuration.kind === 'faulty' || configuration.evaluator.kind !== 'rule') return {};
  const byTurn = list(member(one.expected, 'by_turn')).map((calls) => readExpectation({ tool_calls: calls }).expectation);
  const { evaluator: rule } = configuration;
  const verdicts = found.traces.map((turn, at) => rule.evaluate(turn, byTurn[at] ?? {}, evaluationContext()));
  return { scores_by_turn: verdicts.map((verdict) => (verdict.kind === 'scored' ? verdict.score : verdict.kind)) };
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}
