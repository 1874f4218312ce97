/** Evaluates one run in this process: rules at once, judge evaluators with a given judge. */
import type { ConfiguredEvaluator, ConfiguredRule } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { readExpectedMessages } from '../../evaluators/expectation/messages.ts';
import type { AnyEvaluator, Answer, EmbeddingRequest, EvaluationContext, Fault, Question } from '../../evaluators/evaluator.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { Expectation, ExpectedMessage } from '../model/expectation.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { Verdict } from '../model/verdict.ts';
import { askOf, runJudge, type Call } from '../pipeline/jury/judge-driver.ts';
import { readyEvaluator } from './factory.ts';
import { turnsOf, worstOf, type TurnGrouping, type TurnVerdicts } from '../../evaluators/evidence/conversation.ts';

/** Made by a factory, or any object of the evaluator contract with its defaults. */
export type UsableEvaluator = ConfiguredEvaluator | AnyEvaluator;

/** Messages may have the form of the OpenAI API, as in files. */
export interface GivenExpectation extends Omit<Expectation, 'messages' | 'byTurn'> {
  readonly messages?: readonly (ExpectedMessage | JsonObject)[];
  readonly byTurn?: readonly GivenExpectation[];
}

export interface Expected {
  /** The expectation of this run. */
  readonly expect?: GivenExpectation;
}

export interface UsableJudge {
  /** Never rejects: a fault is an answer of the kind `failed`. */
  ask(question: Question): Promise<Answer>;
  embed?(request: EmbeddingRequest): Promise<Answer>;
}

export interface EvaluateWith {
  /** Answers questions: `scriptedJudge`, or an own object. With `embed` it also gives embeddings. */
  readonly judge?: UsableJudge;
  /** Sends a document to an endpoint and gives its JSON answer, for evaluators over HTTP. */
  readonly call?: Call;
  /** Caches of compiled schemas, to share between calls. Default: new ones for each call. */
  readonly context?: EvaluationContext;
}

/** The limit of the service. */
export const questionsMax = 50;

/** Resolves with one verdict for each evaluator, in their order. Rejects when an evaluator has wrong settings or no judge. */
export async function evaluate(
  trace: AgentTrace,
  { expect: given = {} }: Expected,
  evaluators: readonly UsableEvaluator[],
  { judge, call, context = evaluationContext() }: EvaluateWith = {},
): Promise<readonly Verdict[]> {
  const ready = evaluators.map((one) => readyEvaluator(one));
  for (const one of ready) refuseUnanswered(one, { judge, call });
  const ask = askOf(judge ?? {}, call);
  const expect = readyExpectation(given);
  return await Promise.all(
    ready.map(async (configured) => {
      if (configured.kind === 'rule') return ruleVerdict(configured, trace, { expect, context });
      return await runJudge(configured.judge(trace, expect, context), ask, { questionsMax, threshold: configured.threshold });
    }),
  );
}

/** The verdict of a rule, without waiting. */
export function ruleVerdict(
  rule: ConfiguredRule,
  trace: AgentTrace,
  { expect = {}, context = evaluationContext() }: Expected & Pick<EvaluateWith, 'context'>,
): Verdict {
  return rule.evaluate(trace, readyExpectation(expect), context);
}

/** Reads messages in the form of the OpenAI API. Throws a TypeError that names what is wrong with them. */
export function readyExpectation({ messages, byTurn, ...rest }: GivenExpectation): Expectation {
  const expect: Expectation = byTurn === undefined ? rest : { ...rest, byTurn: byTurn.map(readyExpectation) };
  if (messages === undefined) return expect;
  if (Array.isArray(messages) && messages.every(isReady)) return { ...expect, messages };
  const faults: Fault[] = [];
  const read = readExpectedMessages(messages as unknown as JsonValue, [], faults);
  const [fault] = faults;
  if (fault === undefined) return { ...expect, messages: read.map((one, at) => messages.slice(at, at + 1).find(isReady) ?? one) };
  const place = fault.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  throw new TypeError(`expect.messages${place} ${fault.problem}.`);
}

function isReady(message: ExpectedMessage | JsonObject | null): message is ExpectedMessage {
  return Array.isArray(message?.['toolCalls']);
}

/** Throws when an evaluator needs a judge and there is none. */
export function refuseUnanswered(
  { kind, name }: ConfiguredEvaluator,
  { judge, call }: { readonly judge: UsableJudge | undefined; readonly call: Call | undefined },
): void {
  if (kind === 'judge' && judge === undefined) throw new TypeError(`${name} asks a judge: give one as { judge }.`);
  if (kind === 'http' && call === undefined) throw new TypeError(`${name} calls an endpoint: give what does so as { call }.`);
}

export interface ExpectedByTurn extends Expected {
  /** The expectation of each turn by its position; further turns have none. */
  readonly byTurn?: readonly GivenExpectation[];
}

export interface EvaluateTurnsWith extends EvaluateWith {
  /** Default: `user_turn`. */
  readonly grouping?: TurnGrouping;
}

export interface NamedTurnVerdicts extends TurnVerdicts {
  /** The configured name. */
  readonly name: string;
}

/** Gives each evaluator's verdict on every turn and on the whole, and its worst turn. A trace without messages is one turn. */
export async function evaluateTurns(
  trace: AgentTrace,
  { expect = {}, byTurn = [] }: ExpectedByTurn,
  evaluators: readonly UsableEvaluator[],
  { grouping = 'user_turn', ...options }: EvaluateTurnsWith = {},
): Promise<readonly NamedTurnVerdicts[]> {
  const ready = evaluators.map(readyEvaluator);
  const turns = turnsOf(trace, grouping)?.traces ?? [trace];
  const flat = await evaluate(trace, { expect }, ready, options);
  const found = await Promise.all(turns.map(async (turn, at) => await evaluate(turn, { expect: byTurn[at] ?? {} }, ready, options)));
  return ready.flatMap(({ name }, nth) => {
    const whole = flat[nth];
    const own = found.flatMap((verdicts) => verdicts[nth] ?? []);
    return whole === undefined ? [] : [{ name, byTurn: own, flat: whole, worst: worstOf(own) }];
  });
}
