/** The target of an evaluator of texts or values: the final response, the input, or the outputs of a tool, a retriever or a sub-agent. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { plainText, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import {
  callDetails,
  cutShort,
  executedCalls,
  foremost,
  named,
  noFinalResponse,
  noInput,
  notCarried,
  partOf,
  skipped,
  type OnEmpty,
  type PlacedCall,
  type Skipped,
} from './calls.ts';
import { choice, option, type OptionsOf } from '../configuration/define.ts';
import type { EvaluationContext } from '../evaluator.ts';
import { sameTool } from '../matching/names.ts';
import { mean, numberOf, type Rational } from '../matching/rational.ts';
import { callName, count, quoted, someOf } from '../explain/explanation.ts';

export type On = 'final_response' | 'input' | { readonly tool?: string; readonly retriever?: true; readonly subAgent?: string };

/** Options that every such evaluator appends to its own. */
export const targetOptions = {
  on: option<On>(
    {
      description:
        'The text that it checks: `final_response`, `input`, `{ tool: NAME }`, `{ retriever: true }` or `{ sub_agent: NAME }`. `tool` checks each output of that tool, `retriever` each retrieved document, and the score is the mean. `sub_agent` checks what a sub-agent returned that was called as a tool.',
      anyOf: [
        { enum: ['final_response', 'input'] },
        {
          type: 'object',
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          properties: { tool: { type: 'string', minLength: 1 }, retriever: { const: true }, sub_agent: { type: 'string', minLength: 1 } },
        },
      ],
    },
    'final_response',
  ),
  on_empty: choice<OnEmpty>(
    ['skip', 'original'],
    'Handling of a run without a final response: skip, or original to score it as null, as the original system does.',
  ),
};

export type TargetOptions = OptionsOf<typeof targetOptions>;

/** The result of a check of one value. */
export interface Finding {
  /** The score, 0 to 1. */
  readonly score: Rational;
  /** The rest of a sentence after the name of the target. */
  readonly says: string;
  readonly details: JsonObject;
}

/** Limit of UTF-16 units of a value as text; longer values are not scored. */
export const valueCharsMax = 500_000;

interface Target {
  readonly name: string;
  readonly value: JsonValue;
  readonly placed?: PlacedCall;
  readonly spanId?: SpanId;
}

type Found = { readonly kind: 'found'; readonly targets: readonly Target[]; readonly what: string } | Skipped;

/** The values for `checked`, for checks that prepare all of them first. */
export function targetValues(
  trace: AgentTrace,
  options: TargetOptions,
  context: EvaluationContext,
): { readonly kind: 'found'; readonly values: readonly JsonValue[] } | Skipped {
  const found = withinNumber(withinLength(targetsOf(trace, options)), context);
  return found.kind === 'skipped' ? found : { kind: 'found', values: found.targets.map(({ value }) => value) };
}

/** Checks each target. Several targets give the mean, with a part per call. */
export function checked(trace: AgentTrace, options: TargetOptions, check: (value: JsonValue) => Finding | Skipped): Outcome {
  const found = withinLength(targetsOf(trace, options));
  if (found.kind === 'skipped') return found;
  const judged: Judged[] = [];
  for (const target of found.targets) {
    const finding = check(target.value);
    if ('kind' in finding) return finding;
    judged.push({ target, finding, score: numberOf(finding.score) });
  }
  return verdict(judged, options.on, found.what);
}

/** Limits the number of targets when each costs a question. */
function withinNumber(found: Found, { toolCallsMax }: EvaluationContext): Found {
  if (found.kind === 'skipped' || found.targets.length <= toolCallsMax) return found;
  return skipped(
    'too_large',
    `${found.targets.length} ${found.what} are more than the ${toolCallsMax} that are scored in one run, and none of them was looked at.`,
    { targets: found.targets.length },
  );
}

function withinLength(found: Found): Found {
  if (found.kind === 'skipped') return found;
  const { targets } = found;
  const large = targets.find(({ value }) => plainText(value).length > valueCharsMax);
  return large === undefined
    ? found
    : skipped('too_large', `${sentenceStart(large.name)} is longer than the ${valueCharsMax} characters that are looked at.`);
}

interface Judged {
  readonly target: Target;
  readonly finding: Finding;
  readonly score: number;
}

function verdict(judged: readonly Judged[], on: On, what: string): Outcome {
  const short = judged.filter(({ score }) => score < 1);
  const [only] = judged;
  const evidence = named([...new Set(short.flatMap(({ target }) => (target.spanId === undefined ? [] : [target.spanId])))]);
  if (typeof on === 'string' && only !== undefined) {
    return {
      kind: 'scored',
      score: only.score,
      explanation: `${sentenceStart(only.target.name)} ${only.finding.says}.`,
      evidence,
      details: only.finding.details,
    };
  }
  const { kept, leftOut } = foremost(judged, ({ score }) => score === 1);
  return {
    kind: 'scored',
    score: numberOf(mean(judged.map(({ finding }) => finding.score))),
    explanation: explained(judged, short, what),
    evidence,
    parts: kept.flatMap(({ target: { name, placed }, finding, score }) =>
      placed === undefined ? [] : [{ ...partOf(placed, score === 1, `${sentenceStart(name)} ${finding.says}.`), score }],
    ),
    details: { total: judged.length, full: judged.length - short.length, each: kept.map(eachDetails), ...leftOut },
  };
}

function explained(judged: readonly Judged[], short: readonly Judged[], what: string): string {
  const inWords = ({ target, finding }: Judged): string => `${target.name} ${finding.says}`;
  const [first] = judged;
  if (judged.length === 1 && first !== undefined) return `${sentenceStart(inWords(first))}.`;
  if (short.length === 0) return `All ${judged.length} ${what} pass.`;
  return `${someOf(short, `${judged.length} ${what}`, ['falls short', 'fall short'], inWords)}.`;
}

function eachDetails({ target, finding, score }: Judged): JsonObject {
  const ownPlace: JsonObject = target.spanId === undefined ? {} : { span_id: target.spanId };
  const place = target.placed === undefined ? ownPlace : callDetails(target.placed);
  return { ...place, score, ...finding.details };
}

function targetsOf(trace: AgentTrace, { on, onEmpty }: TargetOptions): Found {
  if (typeof on === 'string' && trace.truncated?.some((part) => part === on) === true)
    return cutShort(on === 'input' ? 'the input' : 'the final response');
  if (on === 'input') return trace.input === undefined ? noInput() : single('the input', trace.input);
  if (on === 'final_response') {
    if (trace.finalResponse === undefined && onEmpty === 'skip') return noFinalResponse();
    return single('the final response', trace.finalResponse ?? null);
  }
  if (on.tool !== undefined) return outputsOf(trace, on.tool, `outputs of ${on.tool}`);
  if (on.subAgent !== undefined) return subAgentOutputs(trace, on.subAgent);
  return documents(trace);
}

function single(name: string, value: JsonValue): Found {
  return { kind: 'found', targets: [{ name, value }], what: 'values' };
}

/** A failed call counts as null. */
function outputsOf(trace: AgentTrace, tool: string, what: string): Found {
  const calls = executedCalls(trace).filter(({ call }) => sameTool(tool, call.name));
  if (calls.length === 0) return notCarried(trace) ?? skipped('no_such_target', `No call of ${quoted(tool)} ran in this run.`);
  const known = calls.filter(({ call }) => call.result !== undefined || call.error !== undefined);
  if (known.length < calls.length && calls.some(({ call }) => call.truncated?.result !== undefined))
    return cutShort(`results of ${quoted(tool)}`);
  if (known.length === 0)
    return skipped('results_not_carried', `The spans carry no results of ${quoted(tool)}; switch on the capture of tool outputs.`);
  return {
    kind: 'found',
    targets: known.map((placed) => ({
      name: callName(placed),
      value: placed.call.result ?? null,
      placed,
      ...(placed.call.spanId === undefined ? {} : { spanId: placed.call.spanId }),
    })),
    what,
  };
}

/** The outputs of a sub-agent that came back through a tool; its own run is scored separately. */
function subAgentOutputs(trace: AgentTrace, name: string): Found {
  const tool = trace.subAgents.find(({ agent, viaTool }) => agent === name && viaTool !== undefined)?.viaTool;
  if (tool === undefined) return skipped('no_such_target', `No sub-agent ${quoted(name)} that was called as a tool is in this run.`);
  return outputsOf(trace, tool, `outputs of the sub-agent ${name}`);
}

function documents(trace: AgentTrace): Found {
  if (trace.documents.length === 0) return skipped('no_such_target', 'Nothing was retrieved in this run.');
  const targets = trace.documents.flatMap(({ content, spanId }, at): readonly Target[] =>
    content === undefined ? [] : [{ name: `document ${at + 1}`, value: content, ...(spanId === undefined ? {} : { spanId }) }],
  );
  if (targets.length === 0)
    return skipped(
      'results_not_carried',
      `The spans carry no content of the ${count(trace.documents.length, 'retrieved document')}; switch on the capture of documents.`,
    );
  return { kind: 'found', targets, what: 'retrieved documents' };
}

function sentenceStart(text: string): string {
  return text.startsWith('the ') ? `The ${text.slice(4)}` : text;
}
