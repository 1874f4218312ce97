/** Counts of tokens under any prefix: on the span, in its events, or in one JSON text of them all. */
import type { Mutable } from '../../src/model/mutable.ts';
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import { textAttribute, type Attributed, type AttributeValue, type Span } from '../../src/model/span.ts';
import type { SpanFacts } from '../collector.ts';
import { keyEvidenceOf, type KeyEvidence } from './key-evidence.ts';
import { parseContainer } from './parsing.ts';
import { answerOfChunks } from './streamed-answer.ts';
import { usageSum } from './usage.ts';

const tokenFields = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const;

export function tokensOf(span: Span, evidence: KeyEvidence): SpanFacts {
  const { keys } = evidence;
  const facts = countsIn(span, evidence);
  // When events repeat a count, the last one has the whole.
  if (facts.inputTokens === undefined && facts.outputTokens === undefined)
    for (const event of span.events) Object.assign(facts, countsIn(event, keyEvidenceOf(event)));
  if (facts.inputTokens !== undefined && facts.outputTokens !== undefined) return facts;
  for (const key of keys.usage ?? []) addUsage(usageIn(textAttribute(span, key) ?? ''), facts);
  return facts;
}

/** The text form of an object of counts: `prompt_tokens=720 completion_tokens=72`. Source: CrewAI under Langtrace. */
const COUNTS = /^\w{1,100}=\d{1,15}(?: \w{1,100}=\d{1,15}){1,20}$/;

function usageIn(text: string): JsonValue | undefined {
  if (!COUNTS.test(text)) return parseContainer(text);
  return Object.fromEntries(
    text.split(' ').map((count) => [count.slice(0, count.indexOf('=')), Number(count.slice(count.indexOf('=') + 1))]),
  );
}

/** The usage and the model in a model's answer in one JSON text. */
export function answerFacts(text: string): Pick<SpanFacts, 'inputTokens' | 'outputTokens' | 'model'> {
  const given = ANSWER.test(text) ? parseContainer(text) : undefined;
  const answer = isJsonArray(given) ? answerOfChunks(given) : given;
  const facts: Mutable<SpanFacts> = {};
  if (!isJsonObject(answer)) return facts;
  const around = frameNames.map((name) => member(answer, name)).filter(isJsonObject);
  for (const from of [answer, ...around]) for (const name of answerUsageNames) addUsage(member(from, name), facts);
  const model = ['model', 'modelVersion', 'model_version', 'model_name'].map((name) => member(answer, name));
  const named = model.find((value): value is string => typeof value === 'string' && value !== '');
  if (named !== undefined) facts.model = named;
  return facts;
}

const ANSWER = /"(?:usage|usage_?metadata|token_?usage|model|model_?version|model_name)"/i;
const answerUsageNames = ['usage', 'usageMetadata', 'usage_metadata', 'tokenUsage', 'token_usage'] as const;
/** The frames around a usage in the answers of LangChain. */
const frameNames = ['llmOutput', 'llm_output', 'response_metadata'] as const;

function addUsage(usage: JsonValue | undefined, facts: Mutable<SpanFacts>): void {
  if (!isJsonObject(usage)) return;
  for (const [field, names] of usageNames) {
    const value =
      usageSum(usage, field === 'inputTokens' ? 'input' : 'output') ??
      names.map((name) => numberOf(member(usage, name))).find((one) => one !== undefined);
    if (value !== undefined) facts[field] ??= value;
  }
}

function countsIn(from: Attributed, { keys }: KeyEvidence): Mutable<SpanFacts> {
  const facts: Mutable<SpanFacts> = {};
  for (const field of tokenFields) {
    const value = keys[field]?.map((key) => numberOf(from.attribute(key))).find((one) => one !== undefined);
    if (value !== undefined) facts[field] = value;
  }
  return facts;
}

/** The members of a usage in one JSON text. */
const usageNames = [
  ['inputTokens', ['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens', 'prompt_token_count', 'promptTokenCount']],
  [
    'outputTokens',
    ['output_tokens', 'completion_tokens', 'outputTokens', 'completionTokens', 'candidates_token_count', 'candidatesTokenCount'],
  ],
] as const;

/** Some write numbers as texts. */
function numberOf(value: AttributeValue | JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
