/**
 * No tool result gives orders to the agent that reads it. A rule: it knows phrases, marks and hidden characters, not meanings. What it
 * finds was in the result; whether the agent obeyed is another question.
 */
import { isJsonArray, isJsonObject, jsonDepthMax, parseJsonContainer, type JsonObject, type JsonValue } from '../src/model/json.ts';
import type { ToolCall } from '../src/model/agent-trace.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  callDetails,
  evidenceOf,
  executedCalls,
  named,
  noToolCalls,
  notCarried,
  partOf,
  partsOf,
  resultsUnknown,
  skipped,
  type PlacedCall,
} from './evidence/calls.ts';
import type { EvaluationContext } from './evaluator.ts';
import { injectionSigns, signMeanings, type FoundSign } from './evidence/injection-signs.ts';
import { callName, count, listed, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { option, texts } from './configuration/option-table.ts';

export const promptInjectionInToolResult = rule({
  id: 'prompt_injection_in_tool_result',
  version: 2,
  summary: 'No tool result gives orders to the agent that reads it.',
  needs: ['tool_calls', 'tool_results'],
  guard: true,
  defaultThreshold: 1,
  options: {
    ignore_tools: texts(
      'Names of tools whose results may well speak of orders to models, for example one that reads source code or pages about prompts.',
      { maxItems: 1000, maxLength: 200 },
    ),
    ignore_signs: option<readonly string[]>(
      {
        type: 'array',
        maxItems: 20,
        items: { enum: Object.keys(signMeanings) },
        description: `Signs that do not count. There are ${Object.keys(signMeanings)
          .map((sign) => `\`${sign}\``)
          .join(', ')}.`,
      },
      [],
    ),
  },
  source: 'phrases and marks of prompt injection as they are published',
  evaluate({ trace }, { ignoreTools, ignoreSigns }, context) {
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    const calls = executedCalls(trace).filter(({ call }) => !ignoreTools.includes(call.name));
    if (calls.length === 0) return noToolCalls(trace);
    const withResult = calls.filter(
      ({ call }) => call.result !== undefined || call.error !== undefined || call.truncated?.result !== undefined,
    );
    if (withResult.length === 0)
      return resultsUnknown(calls, 'The spans carry no results of tool calls; switch on the capture of tool outputs.');
    const scan = scanned(withResult, ignoreSigns, context);
    const isHit = scan.searched.some(({ found }) => found.length > 0);
    if (!isHit && scan.unsearched > 0) return tooMuch(scan, withResult.length);
    return verdict(scan, {
      withResult: withResult.length,
      total: calls.length,
      cut: withResult.filter(({ call }) => call.truncated?.result !== undefined).length,
    });
  },
});

/** Characters of all results of one run that are searched. */
const searchedMax = 4_000_000;
/** Places of one run at which a search for a sign begins. */
const placesMax = 200_000;
const culpritsMade = 3;

interface Searched {
  readonly placed: PlacedCall;
  readonly found: readonly FoundSign[];
}

interface Scan {
  /** Results that were searched to their end, and those in which something was found. */
  readonly searched: readonly Searched[];
  /** Results of which at least a part was not searched, and in whose searched part nothing was found. */
  readonly unsearched: number;
  readonly characters: number;
}

function scanned(withResult: readonly PlacedCall[], ignoreSigns: readonly string[], context: EvaluationContext): Scan {
  const work = { steps: placesMax };
  const searched: Searched[] = [];
  let characters = 0;
  let unsearched = 0;
  for (const placed of withResult) {
    if (characters >= searchedMax || work.steps <= 0) {
      unsearched++;
      continue;
    }
    const whole = resultText(placed.call);
    const text = whole.slice(0, searchedMax - characters);
    characters += text.length;
    const found = injectionSigns(text, context, work).filter(({ sign }) => !ignoreSigns.includes(sign));
    const isWhole = text.length === whole.length && work.steps > 0;
    if (isWhole || found.length > 0) searched.push({ placed, found });
    else unsearched++;
  }
  return { searched, unsearched, characters };
}

function tooMuch({ searched, unsearched, characters }: Scan, withResult: number): Outcome {
  return skipped(
    'too_large',
    `${unsearched} of ${count(withResult, 'tool result')} ${unsearched === 1 ? 'was' : 'were'} not searched to the end: one run may have ${searchedMax} characters and ${placesMax} suspicious places searched. The ${characters} characters that were searched hold no sign of orders to the agent.`,
    { searched: searched.length, not_searched: unsearched, characters },
  );
}

function verdict(
  { searched, unsearched, characters }: Scan,
  { withResult, total, cut }: { readonly withResult: number; readonly total: number; readonly cut: number },
): Outcome {
  const hit = searched.filter(({ found }) => found.length > 0);
  const clean = searched.length - hit.length;
  const inWords = ({ placed, found }: Searched): string =>
    `${callName(placed)} asks ${listed(found.map(({ sign }) => signMeanings[sign] ?? sign))}: ${quoted(found[0]?.excerpt ?? '')}`;
  const calls = searched.map(({ placed, found }) => ({ ...placed, one: { placed, found } }));
  const { parts, leftOut } = partsOf(
    calls,
    ({ one }) => one.found.length === 0,
    ({ one }) =>
      partOf(one.placed, one.found.length === 0, one.found.length === 0 ? 'No sign of orders to the agent.' : `${inWords(one)}.`),
  );
  const notes = [
    ...(unsearched === 0 ? [] : [`${count(unsearched, 'further result')} ${unsearched === 1 ? 'was' : 'were'} not searched to the end.`]),
    ...(cut === 0
      ? []
      : [
          `${count(cut, 'result')} ${cut === 1 ? 'was' : 'were'} cut short on the way, and searched as far as the spans carry ${cut === 1 ? 'it' : 'them'}.`,
        ]),
    ...(withResult === total ? [] : [`The spans carry no result of ${count(total - withResult, 'further call')}.`]),
  ];
  const found =
    hit.length === 0
      ? `No sign of orders to the agent in ${count(searched.length, 'tool result')} (${count(characters, 'character')}).`
      : `${hit.length} of ${count(searched.length, 'tool result')} ${hit.length === 1 ? 'holds' : 'hold'} orders to the agent: ${listed(hit.slice(0, culpritsMade).map(inWords), '; ', hit.length)}.`;
  return {
    kind: 'scored',
    score: clean / searched.length,
    explanation: [found, ...notes].join(' '),
    evidence: evidenceOf(hit.map(({ placed }) => placed)),
    parts,
    details: {
      clean,
      searched: searched.length,
      characters,
      total,
      signs: [...new Set(hit.flatMap((one) => one.found.map(({ sign }) => sign)))],
      found: named(hit).map((one): JsonObject => ({
        ...callDetails(one.placed),
        signs: one.found.map(({ sign, excerpt }) => ({ sign, excerpt })),
      })),
      ...(unsearched === 0 ? {} : { not_searched: unsearched }),
      ...(unsearched > 0 || cut > 0 ? { truncated: true } : {}),
      ...leftOut,
    },
  };
}

/** All that the model read of the call: the texts of its result, its error, and what is left of a result that was cut. */
function resultText({ result, error, truncated }: ToolCall): string {
  const parts: string[] = [];
  if (result !== undefined) collect(result, parts, 0);
  if (error !== undefined && error.message !== result) parts.push(error.message);
  if (truncated?.result !== undefined) parts.push(truncated.result);
  return parts.join('\n');
}

/** Texts inside of JSON as they read, not as JSON writes them. */
function collect(value: JsonValue, parts: string[], depth: number): void {
  if (depth > jsonDepthMax) return;
  if (typeof value === 'string') {
    const inner = depth === 0 ? parseJsonContainer(value) : undefined;
    parts.push(value);
    if (inner !== undefined) collect(inner, parts, depth + 1);
  } else if (isJsonArray(value)) {
    for (const item of value) collect(item, parts, depth + 1);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      parts.push(key);
      collect(item, parts, depth + 1);
    }
  }
}
