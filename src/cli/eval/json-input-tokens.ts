/** Tokens of a run that is given as JSON: of its model calls, else as a whole. Numbers that are none are left out. */
import type { AgentTrace, ModelCall } from '../../model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { tokensOf } from '../../pipeline/assembly/model-calls.ts';

/** `model_calls`: a list of `model`, `input_tokens`, `output_tokens`, `cached_input_tokens`; `tokens`: `input` and `output`. In camelCase as well. */
export function givenTokens(value: JsonObject): Pick<AgentTrace, 'modelCalls' | 'tokens'> {
  const calls = member(value, 'model_calls') ?? member(value, 'modelCalls');
  const modelCalls = isJsonArray(calls) ? calls.filter(isJsonObject).map(modelCall) : [];
  const whole = member(value, 'tokens');
  const tokens = tokensOf(
    modelCalls.length > 0 || !isJsonObject(whole)
      ? modelCalls
      : [{ ...count('inputTokens', member(whole, 'input')), ...count('outputTokens', member(whole, 'output')) }],
  );
  return { modelCalls, ...(tokens === undefined ? {} : { tokens }) };
}

function modelCall(given: JsonObject): ModelCall {
  const model = member(given, 'model');
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...count('inputTokens', member(given, 'input_tokens') ?? member(given, 'inputTokens')),
    ...count('outputTokens', member(given, 'output_tokens') ?? member(given, 'outputTokens')),
    ...count('cachedInputTokens', member(given, 'cached_input_tokens') ?? member(given, 'cachedInputTokens')),
  };
}

function count<Name extends 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>(
  name: Name,
  value: JsonValue | undefined,
): { readonly [Key in Name]?: number } {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? ({ [name]: value } as { readonly [Key in Name]: number })
    : {};
}
