/** `when` of an evaluator as a test of runs, and the condition of a raised sample rate. */
import type { Run } from '../../model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, plainText, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { ScoreCondition } from '../../pipeline/evaluation/sampling.ts';
import { linearPattern } from '../checks/pattern.ts';

export type RunCondition = (run: Run) => boolean;

type TextCondition = (text: string) => boolean;

/** Texts that a condition may test. One of several must hold; without any the condition does not hold. */
const fields: { readonly [name: string]: (run: Run) => readonly (string | undefined)[] } = {
  agent: (run) => [run.trace.agent],
  service: (run) => [run.service],
  version: (run) => [run.serviceVersion],
  model: (run) => [run.trace.model, ...run.trace.modelCalls.map((call) => call.model)],
  input: (run) => [run.trace.input],
  final_response: (run) => [run.trace.finalResponse === undefined ? undefined : plainText(run.trace.finalResponse)],
  status: (run) => [run.trace.status],
  completeness: (run) => [run.completeness],
  tenant: (run) => [run.tenant],
  tool: (run) => run.trace.toolCalls.map((call) => call.name),
};

/** The test for a `when` that has passed the schema. */
export function runCondition(when: JsonObject): RunCondition {
  const tests: RunCondition[] = [];
  for (const [name, condition] of Object.entries(when)) {
    const texts = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (texts !== undefined) tests.push(anyText(texts, textCondition(condition)));
    else if (isJsonObject(condition))
      for (const [key, value] of Object.entries(condition)) tests.push(anyText(resourceAttribute(key), textCondition(value)));
  }
  return (run) => tests.every((test) => test(run));
}

function anyText(texts: (run: Run) => readonly (string | undefined)[], test: TextCondition): RunCondition {
  return (run) => texts(run).some((text) => text !== undefined && test(text));
}

function resourceAttribute(key: string): (run: Run) => readonly (string | undefined)[] {
  return (run) => {
    const value = member(run.resourceAttributes, key);
    return [value === undefined ? undefined : plainText(value)];
  };
}

function textCondition(condition: JsonValue): TextCondition {
  if (isJsonArray(condition)) return (text) => condition.includes(text);
  if (!isJsonObject(condition)) return (text) => text === condition;
  const tests = Object.entries(condition).map(([name, wanted]) => comparison(name, wanted));
  return (text) => tests.every((test) => test(text));
}

function comparison(name: string, wanted: JsonValue): TextCondition {
  const given = plainText(wanted);
  switch (name) {
    case 'in':
      return (text) => isJsonArray(wanted) && wanted.includes(text);
    case 'contains':
      return (text) => text.includes(given);
    case 'matches':
      return linearPattern(given);
    case 'not':
      return (text) => text !== given;
    default:
      return (text) => text === given;
  }
}

const WRITTEN = /^\s*([A-Za-z0-9][A-Za-z0-9_.-]{0,99})\s*(<=|>=|<|>|=)\s*(\d+(?:\.\d{1,15})?)\s*$/;

/** `tool_error < 1`; undefined when it is not written so or the score is none. */
export function parseScoreCondition(text: string): ScoreCondition | undefined {
  const match = WRITTEN.exec(text);
  const score = Number(match?.[3]);
  if (match === null || score > 1) return undefined;
  return { evaluator: match[1] ?? '', comparison: match[2] as ScoreCondition['comparison'], score };
}
