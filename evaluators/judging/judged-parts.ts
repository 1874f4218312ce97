/**
 * `on` of an entry: asks a judge about each part of a run instead of the run. The evaluator's own questions are asked once a part, and the
 * parts' scores give the run's. A part without a verdict counts neither as 0 nor as 1.
 */
import { hash } from 'node:crypto';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome, PartVerdict } from '../../src/model/verdict.ts';
import type { Answer, AnyEvaluator, Asking, EvaluatorRequest, Fault, JsonSchema } from '../evaluator.ts';
import { briefExplanation, count, listedOf, someOf } from '../explain/explanation.ts';
import { skipped } from '../evidence/calls.ts';
import { partInstructions, partNouns, partsOfRun, type NamePattern, type PartsOn, type RunPart } from '../evidence/run-parts.ts';
import { snakeCase } from '../configuration/define.ts';
import { mean, numberOf, rational } from '../matching/rational.ts';
import { notAsked } from './judge-input.ts';

/** The ways to combine the scores of parts into the score of the run. */
const aggregates = ['mean', 'min', 'share'] as const;
type Aggregate = (typeof aggregates)[number];

export interface JudgedParts {
  readonly on: PartsOn;
  readonly aggregate: Aggregate;
  /** Parts of one run that are asked about. */
  readonly partsMax: number;
}

const partsMaxDefault = 10;
/** Each part is at least one question, and the host ends an evaluation with more than 50. */
const questionsMax = 50;
const partsMaxMost = 40;
const namePattern = (description: string): JsonSchema => ({
  description,
  anyOf: [
    { const: true },
    { type: 'string', minLength: 1, maxLength: 200 },
    { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 200 } },
  ],
});

const kinds = ['tool', 'retriever', 'sub_agent', 'model_call'] as const;

export const judgedPartsSchema: JsonSchema = {
  type: 'object',
  description:
    'Makes a judge evaluator ask about each part of a run instead of the whole run. It names one of `tool`, `retriever`, `sub_agent` and `model_call`. The input of the part is then the input, and its output is the final response.',
  additionalProperties: false,
  properties: {
    tool: namePattern('Calls of a tool: its name, a list of names, or `true` for all. `*` in a name matches any characters.'),
    retriever: { const: true, description: 'Each retrieval, with the documents that it found.' },
    sub_agent: namePattern(
      'Work that was given to a sub-agent through a tool: its name, a list of names, or `true` for all. `*` in a name matches any characters.',
    ),
    model_call: { const: true, description: 'Each answer of a model after the last message of the user.' },
    aggregate: {
      enum: [...aggregates],
      default: aggregates[0],
      description: 'The score of the run: the `mean` of its parts, the lowest (`min`), or the `share` of parts that pass the threshold.',
    },
    parts_max: {
      type: 'integer',
      minimum: 1,
      maximum: partsMaxMost,
      default: partsMaxDefault,
      'x-unit': 'parts',
      description: 'Most parts of a run to ask about, each with one or more separate questions. If there are more, a hash chooses.',
    },
  },
};

/** `on` in a program. */
export type PartsSetting = (
  | { readonly tool: true | string | readonly string[] }
  | { readonly subAgent: true | string | readonly string[] }
  | { readonly retriever: true }
  | { readonly modelCall: true }
) & { readonly aggregate?: Aggregate; readonly partsMax?: number };

export function writtenParts(setting: PartsSetting): JsonObject {
  return Object.fromEntries(Object.entries<JsonValue>(setting).map(([name, value]) => [snakeCase(name), value]));
}

/** `undefined` when the entry has faults. */
export function readJudgedParts(written: JsonValue): JudgedParts | undefined {
  if (!isJsonObject(written)) return undefined;
  const [kind, ...others] = kinds.filter((one) => member(written, one) !== undefined);
  if (kind === undefined || others.length > 0) return undefined;
  const [aggregate, most] = [member(written, 'aggregate'), member(written, 'parts_max')];
  return {
    on: kind === 'tool' || kind === 'sub_agent' ? { kind, name: patternOf(member(written, kind)) } : { kind },
    aggregate: aggregates.find((one) => one === aggregate) ?? aggregates[0],
    partsMax: typeof most === 'number' ? most : partsMaxDefault,
  };
}

function patternOf(written: JsonValue | undefined): NamePattern {
  if (typeof written === 'string') return [written];
  return written !== undefined && isJsonArray(written) ? written.filter((one) => typeof one === 'string') : true;
}

/** Faults beyond the schema; paths below `on`. */
export function judgedPartsFaults(written: JsonValue, evaluator: AnyEvaluator, threshold: number | null): readonly Fault[] {
  const { id, kind, needs, target, optionsSchema } = evaluator;
  const properties = member(optionsSchema, 'properties');
  if (kind !== 'judge') {
    const own = isJsonObject(properties) && Object.hasOwn(properties, 'on');
    return [{ path: [], problem: `is for judge evaluators, and ${id} is none${own ? '; write options: { on: … }' : ''}` }];
  }
  if (target === 'session') return [{ path: [], problem: `is not for ${id}, which judges sessions as a whole` }];
  if (needs.includes('tool_calls') || needs.includes('tool_definitions'))
    return [{ path: [], problem: `is not for ${id}, which judges the tool calls of a run together` }];
  if (!isJsonObject(written)) return [];
  const named = kinds.filter((one) => member(written, one) !== undefined);
  if (named.length !== 1)
    return [
      { path: [], problem: `names ${named.length === 0 ? 'no part of a run' : named.join(' and ')}; name one of ${kinds.join(', ')}` },
    ];
  return member(written, 'aggregate') === 'share' && threshold === null
    ? [{ path: ['aggregate'], problem: 'is share, which needs a threshold that parts pass or fail' }]
    : [];
}

interface PartsWith {
  readonly parts: JudgedParts;
  readonly threshold: number | null;
  /** Decides which of too many parts are asked about, the same in every process. */
  readonly seed: string;
  /** The evaluator's own questions about one part. */
  readonly questions: (part: AgentTrace) => Asking<Outcome>;
}

interface JudgedPart {
  readonly part: RunPart;
  readonly outcome: Outcome;
}

export function* judgeParts(trace: AgentTrace, { parts, threshold, seed, questions }: PartsWith): Asking<Outcome> {
  const found = partsOfRun(trace, parts.on);
  if ('kind' in found) return { ...found, details: { ...found.details, ...notAsked } };
  const chosen = chosenParts(found, parts.partsMax, seed);
  const judged: JudgedPart[] = [];
  let [asked, mostAsked] = [0, 1];
  for (const part of chosen) {
    if (asked + mostAsked > questionsMax) break;
    const { outcome, count: own } = yield* judgedPart(part, parts.on, questions);
    asked += own;
    mostAsked = Math.max(mostAsked, own);
    judged.push({ part, outcome });
  }
  return outcomeOf(judged, { parts, threshold, found: found.length, chosen: chosen.length, asked });
}

/** The parts with the lowest hashes, in the order of the run. So the choice depends on nothing that a part holds. */
function chosenParts(parts: readonly RunPart[], most: number, seed: string): readonly RunPart[] {
  if (parts.length <= most) return parts;
  const ranked = parts.map((part, at) => ({ part, at, rank: hash('sha256', `${seed} ${at}`, 'hex') }));
  return ranked
    .toSorted((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : one.at - other.at))
    .slice(0, most)
    .toSorted((one, other) => one.at - other.at)
    .map(({ part }) => part);
}

function* judgedPart(
  part: RunPart,
  on: PartsOn,
  questions: PartsWith['questions'],
): Generator<EvaluatorRequest, { readonly outcome: Outcome; readonly count: number }, Answer> {
  if (part.subject.kind === 'skipped') return { outcome: part.subject, count: 0 };
  const asking = questions(part.subject.trace);
  let asked = 0;
  try {
    let step = asking.next();
    while (step.done !== true) {
      asked++;
      step = asking.next(yield introduced(step.value, on));
    }
    return { outcome: step.value, count: asked };
  } finally {
    // The host may end the whole evaluation early.
    asking.return({ kind: 'failed', error: 'not_asked', explanation: '' });
  }
}

/** The words before the question are ours and name nothing of the run. */
function introduced(request: EvaluatorRequest, on: PartsOn): EvaluatorRequest {
  if (request.kind !== undefined && request.kind !== 'ask') return request;
  return { ...request, instruction: `${partInstructions[on.kind]}\n\n${request.instruction}` };
}

interface About {
  readonly parts: JudgedParts;
  readonly threshold: number | null;
  /** Parts of the run that match. */
  readonly found: number;
  /** Number of parts that were chosen. */
  readonly chosen: number;
  /** Number of questions. */
  readonly asked: number;
}

type Scored = Extract<Outcome, { readonly kind: 'scored' }>;

interface ScoredPart {
  readonly part: RunPart;
  readonly outcome: Scored;
  readonly passed: boolean;
}

/** More than half of the parts that could be judged must have a score, as with the votes of a jury. */
function outcomeOf(judged: readonly JudgedPart[], about: About): Outcome {
  const { parts, threshold } = about;
  const [one, many] = partNouns[parts.on.kind];
  const failed = judged.filter(({ outcome }) => outcome.kind === 'failed');
  const scored = judged.flatMap(({ part, outcome }): readonly ScoredPart[] =>
    outcome.kind === 'scored' ? [{ part, outcome, passed: outcome.score >= (threshold ?? 1) }] : [],
  );
  const details = detailsOf(judged, scored, about);
  const [firstFailed, first] = [failed[0]?.outcome, judged[0]?.outcome];
  if (scored.length === 0 && firstFailed?.kind === 'failed')
    return { ...firstFailed, explanation: `No ${one} of ${judged.length} has a verdict: ${firstFailed.explanation}`, details };
  if (scored.length === 0)
    return first?.kind === 'skipped'
      ? skipped(first.reason, `No ${one} of ${judged.length} could be judged: ${first.explanation}`, details)
      : skipped('no_such_target', `The run has no ${one} to judge.`, details);
  if (failed.length >= scored.length)
    return {
      kind: 'failed',
      error: 'parts_incomplete',
      explanation: `Only ${scored.length} of ${count(scored.length + failed.length, one, many)} have a verdict; more than half are needed.`,
      details,
    };
  const short = scored.filter(({ passed }) => !passed);
  return {
    kind: 'scored',
    score: scoreOf(scored, parts.aggregate),
    explanation: explained(scored, short, judged, about),
    evidence: [...new Set(short.flatMap(({ part }) => part.target.spanId ?? []))],
    parts: scored.map(partVerdict),
    details,
  };
}

function scoreOf(scored: readonly ScoredPart[], aggregate: Aggregate): number {
  if (aggregate === 'min') return Math.min(...scored.map(({ outcome }) => outcome.score));
  if (aggregate === 'share') return scored.filter(({ passed }) => passed).length / scored.length;
  return numberOf(mean(scored.map(({ outcome }) => rational(outcome.score))));
}

function partVerdict({ part, outcome, passed }: ScoredPart): PartVerdict {
  return { ...part.target, score: outcome.score, passed, explanation: `${part.name}: ${outcome.explanation}` };
}

function explained(
  scored: readonly ScoredPart[],
  short: readonly ScoredPart[],
  judged: readonly JudgedPart[],
  { parts, found, chosen }: About,
): string {
  const [one, many] = partNouns[parts.on.kind];
  const inWords = ({ part, outcome }: ScoredPart): string => `${part.name} (${briefExplanation(outcome.explanation)})`;
  const main =
    short.length > 0
      ? someOf(short, count(scored.length, one, many), ['falls short', 'fall short'], inWords)
      : scored.length === 1
        ? `The ${one} passes: ${listedOf(scored, inWords)}`
        : `All ${scored.length} ${many} that were judged pass`;
  const missing = judged.length - scored.length;
  const others = [
    ...(missing === 0 ? [] : [`${missing} of ${judged.length} ${missing === 1 ? 'has' : 'have'} no verdict`]),
    ...(chosen === found ? [] : [`${chosen} of ${found} were chosen`]),
    ...(judged.length === chosen ? [] : [`${chosen - judged.length} were not asked about, as the questions of one run are bounded`]),
  ];
  return `${main}${others.length === 0 ? '' : ` (${others.join('; ')})`}.`;
}

function detailsOf(judged: readonly JudgedPart[], scored: readonly ScoredPart[], { parts, found, chosen, asked }: About): JsonObject {
  const number = (kind: Outcome['kind']): number => judged.filter(({ outcome }) => outcome.kind === kind).length;
  const truncated = scored.some(({ outcome }) => outcome.details['truncated'] === true);
  return {
    judge_called: asked > 0,
    judge_calls: asked,
    on: parts.on.kind,
    aggregate: parts.aggregate,
    found,
    judged: judged.length,
    ...(chosen === found ? {} : { chosen_by: 'hash', parts_max: parts.partsMax }),
    // The questions of one evaluation are bounded.
    ...(judged.length === chosen ? {} : { not_asked: chosen - judged.length, questions_max: questionsMax }),
    scored: scored.length,
    skipped: number('skipped'),
    failed: number('failed'),
    each: judged.map(eachDetails),
    ...(truncated ? { truncated } : {}),
  };
}

function eachDetails({ part: { target }, outcome }: JudgedPart): JsonObject {
  const place: JsonObject = {
    index: target.index,
    ...(target.tool === '' ? {} : { tool: target.tool }),
    ...(target.callId === undefined ? {} : { call_id: target.callId }),
    ...(target.spanId === undefined ? {} : { span_id: target.spanId }),
    status: outcome.kind,
  };
  const explanation = briefExplanation(outcome.explanation);
  if (outcome.kind === 'skipped') return { ...place, reason: outcome.reason, explanation };
  if (outcome.kind === 'failed') return { ...place, error: outcome.error, explanation };
  return { ...place, score: outcome.score, ...(outcome.label === undefined ? {} : { label: outcome.label }), explanation };
}
