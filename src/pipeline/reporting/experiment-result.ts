/** A scored run as the result of an example of an experiment. */
import { createHash } from 'node:crypto';
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { cut, finalText, inputText } from '../../../evaluators/judging/judge-input.ts';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import { callCosts, type PriceTable } from '../../../evaluators/pricing/prices.ts';
import { type AgentTrace, type Run, runErrorText } from '../../model/agent-trace.ts';
import type { AgentFacts, ExperimentEvaluator, ExperimentResult, ResultError, ResultVerdict } from '../../model/experiment.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';
import { type Verdict, verdictWord } from '../../model/verdict.ts';
import { present } from '../../model/present.ts';

export function experimentEvaluator({ name, evaluator: { id, version }, threshold }: ConfiguredEvaluator): ExperimentEvaluator {
  return { name, evaluator: id, version, threshold };
}

/** Digits of a hash: enough to distinguish the prompts of a project. */
const hashDigits = 16;

export function agentFacts({ trace, serviceVersion }: Pick<Run, 'serviceVersion'> & { readonly trace: AgentTrace }): AgentFacts {
  const model = trace.model ?? trace.modelCalls.find((call) => call.model !== undefined)?.model;
  return present({
    agent: trace.agent,
    version: serviceVersion,
    model,
    promptHash: trace.systemPrompt === undefined ? undefined : hashOf(trace.systemPrompt),
    toolsHash: trace.toolDefinitions.length === 0 ? undefined : toolsHash(trace),
  });
}

function toolsHash({ toolDefinitions }: AgentTrace): string {
  const tools = toolDefinitions.map(({ name, description, inputSchema }) =>
    jsonText([name, description ?? null, inputSchema ?? null], { sortKeys: true }),
  );
  return hashOf(tools.sort().join('\n'));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hashDigits);
}

type Usage = Pick<ExperimentResult, 'inputTokens' | 'outputTokens' | 'cost'>;

/** Tokens and cost of a run with its sub-agents. A part that is unknown in one of them is unknown as a whole. */
export function usageOf(traces: readonly AgentTrace[], prices: PriceTable): Usage {
  const known = traces.flatMap(({ tokens }) => tokens ?? []);
  const sum = (of: 'input' | 'output'): number | undefined =>
    known.length === 0 || known.some((tokens) => tokens[of] === undefined)
      ? undefined
      : known.reduce((all, one) => all + (one[of] ?? 0), 0);
  const [input, output] = [sum('input'), sum('output')];
  const costs = traces.flatMap((trace) => callCosts(trace, prices));
  const cost =
    costs.length === 0 || costs.some(({ kind }) => kind !== 'priced')
      ? undefined
      : costs.reduce((all, one) => all + (one.kind === 'priced' ? numberOf(one.amount) : 0), 0);
  return present({ inputTokens: input, outputTokens: output, cost });
}

const inputChars = 160;

/** The beginning of an input in one line: of a text, of the last message of a user, or else of the JSON. Redacts before it cuts. */
export function inputExcerpt(input: JsonValue, redacted: (text: string) => string = (text) => text): string {
  const last = isJsonArray(input) ? input.findLast((message) => isJsonObject(message) && member(message, 'role') === 'user') : undefined;
  const content = isJsonObject(last ?? null) ? member(last as JsonObject, 'content') : undefined;
  const text = [input, content].find((value) => typeof value === 'string') ?? jsonText(input);
  // A longer text is mostly white space.
  const line = redacted(String(text))
    .slice(0, inputChars * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  return line.length > inputChars ? `${line.slice(0, inputChars - 1).toWellFormed()}…` : line;
}

/** Limit of each text. */
const textCharsMax = 8_000;

/** `trace` and `given`, the input of the example, are redacted. Without an input or a final response there is nothing to compare. */
export function textsOf(trace: AgentTrace, given = ''): Pick<ExperimentResult, 'texts'> {
  const [input, response] = [inputText(trace).trim() === '' ? given : inputText(trace), finalText(trace)];
  if (input.trim() === '' || response.trim() === '') return {};
  return { texts: { input: cut(input, textCharsMax).toWellFormed(), response: cut(response, textCharsMax).toWellFormed() } };
}

export function resultVerdict({
  name,
  evaluator,
  verdict,
  faults = [],
}: {
  readonly name: string;
  readonly evaluator: string;
  readonly verdict: Verdict;
  readonly faults?: ResultVerdict['faults'];
}): ResultVerdict {
  const word = verdictWord(verdict);
  return {
    name,
    evaluator,
    verdict: word,
    ...(verdict.kind === 'scored' ? { score: verdict.score } : {}),
    label: verdict.kind === 'scored' && verdict.label !== '' ? verdict.label : word,
    explanation: verdict.explanation,
    ...(verdict.kind === 'skipped' ? { reason: verdict.reason } : verdict.kind === 'failed' ? { reason: verdict.error } : {}),
    ...(faults.length === 0 ? {} : { faults }),
  };
}

/** `undefined` for a run that did not end in an error. */
export function runErrorOf(trace: AgentTrace): ResultError | undefined {
  if (trace.status !== 'error') return undefined;
  const text = runErrorText(trace);
  return { kind: 'run_error', message: text === '' ? 'The run ended in an error.' : `The run ended in an error: ${text}` };
}
