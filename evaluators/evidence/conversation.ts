/** The messages of a run, from its spans or composed of its other parts; and the run by turns. */
import type { AgentTrace, ToolCall, TraceMessage } from '../../src/model/agent-trace.ts';
import { plainText, type JsonValue, type JsonObject } from '../../src/model/json.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { Outcome, Verdict } from '../../src/model/verdict.ts';
import { skipped } from './calls.ts';

/** Role of a message, and the trajectory indices of the calls that it requests. */
export type MessageOutline = Pick<TraceMessage, 'role' | 'calls'>;

/** The messages without texts. */
export function outlineOf(trace: AgentTrace): readonly MessageOutline[] {
  return trace.messages ?? composed(trace);
}

export function conversationOf(trace: AgentTrace): readonly TraceMessage[] {
  return (
    trace.messages ??
    composed(trace).map(({ role, calls, says }) => (says === undefined ? { role, calls } : { role, text: plainText(says), calls }))
  );
}

interface Composed extends MessageOutline {
  readonly says?: JsonValue;
}

/**
 * Composes messages when the spans have none: the input, each turn of calls with their results, and the final response. Calls without a
 * known turn are a turn each; texts in between are unknown.
 */
function composed(trace: AgentTrace): readonly Composed[] {
  const messages: Composed[] = trace.input === undefined ? [] : [{ role: 'user', calls: [], says: trace.input }];
  for (const calls of turnsOfCalls(trace.toolCalls)) {
    messages.push({ role: 'assistant', calls });
    for (const index of calls) {
      const result = trace.toolCalls[index]?.result;
      if (result !== undefined) messages.push({ role: 'tool', calls: [], says: result ?? '' });
    }
  }
  if (trace.finalResponse !== undefined) messages.push({ role: 'assistant', calls: [], says: trace.finalResponse });
  return messages;
}

function turnsOfCalls(calls: readonly ToolCall[]): readonly (readonly number[])[] {
  const turns: number[][] = [];
  for (const [index, { turn }] of calls.entries()) {
    const last = turns.at(-1);
    if (last !== undefined && turn !== undefined && calls[index - 1]?.turn === turn) last.push(index);
    else turns.push([index]);
  }
  return turns;
}

/** assistant_message: one group per assistant message. user_turn: one group per user message. */
export type TurnGrouping = 'assistant_message' | 'user_turn';

export const turnGroupings: readonly TurnGrouping[] = ['user_turn', 'assistant_message'];

/** Limit of turns; longer runs are not scored by turn. */
const turnsMax = 1_000;

interface Turns {
  /** Number of exchanges: the smaller number of messages of the two sides. */
  readonly turnCount: number;
  /** Calls of each group, also when it has none. */
  readonly groups: readonly (readonly ToolCall[])[];
  /** Each group as a run: its messages and calls, the last user message, and its answer. */
  readonly traces: readonly AgentTrace[];
}

export interface TurnVerdicts {
  readonly byTurn: readonly Verdict[];
  /** The verdict on all calls together. */
  readonly flat: Verdict;
  /** Index of the lowest score, the earliest of equal ones; `undefined` when no turn has a score. */
  readonly worst: number | undefined;
}

/** `undefined` when the messages of the run are unknown. */
export function turnsOf(trace: AgentTrace, grouping: TurnGrouping = 'assistant_message'): Turns | undefined {
  if (trace.messages === undefined) return undefined;
  const { messages } = trace;
  const count = (wanted: string): number => messages.filter(({ role }) => role === wanted).length;
  const traces = places(messages, grouping).map((own) => turnTrace(trace, messages, own));
  return { turnCount: Math.min(count('user'), count('assistant')), groups: traces.map(({ toolCalls }) => toolCalls), traces };
}

/** Index of the lowest score, the earliest of equal ones. */
export function worstOf(found: readonly (Verdict | Outcome)[]): number | undefined {
  let worst: number | undefined;
  let least = Infinity;
  for (const [at, one] of found.entries()) {
    if (one.kind !== 'scored' || one.score >= least) continue;
    worst = at;
    least = one.score;
  }
  return worst;
}

/**
 * The outcome of the worst turn is the outcome of the run. A turn has the expectation at its index, or the common one when there are none
 * by turn. An expected turn that is missing has no calls. A run without messages is one turn.
 */
export function outcomeByTurn(
  trace: AgentTrace,
  { byTurn, ...flat }: Expectation,
  grouping: TurnGrouping,
  evaluate: (turn: AgentTrace, expected: Expectation) => Outcome,
): Outcome {
  const actual = turnsOf(trace, grouping)?.traces ?? [trace];
  const never = Array.from({ length: Math.max(0, (byTurn?.length ?? 0) - actual.length) }, () => withoutWhole(trace));
  const turns = [...actual, ...never];
  if (turns.length === 0) return evaluate(trace, flat);
  if (turns.length > turnsMax)
    return skipped('too_large', `${turns.length} turns are more than the ${turnsMax} that are scored one by one.`);
  const found = turns.map((turn, at) => evaluate(turn, byTurn === undefined ? flat : (byTurn[at] ?? {})));
  const details: JsonObject = {
    by_turn: grouping,
    turns: found.map((one, at) => ({
      turn: at + 1,
      ...(one.kind === 'scored' ? { score: one.score } : one.kind === 'skipped' ? { skipped: one.reason } : { failed: one.error }),
    })),
    whole: scoreOf(evaluate(trace, flat)),
  };
  const broken = found.find(({ kind }) => kind === 'failed');
  if (broken !== undefined) return { ...broken, details: { ...broken.details, ...details } };
  const worst = worstOf(found);
  const one = worst === undefined ? found[0] : found[worst];
  if (worst === undefined || one?.kind !== 'scored')
    return one === undefined ? evaluate(trace, flat) : { ...one, details: { ...one.details, ...details } };
  const scored = found.filter(({ kind }) => kind === 'scored').length;
  return {
    ...one,
    explanation:
      one.score === 1
        ? `Each of ${scored} scored turns has the full score.`
        : `Turn ${worst + 1} of ${turns.length} scores lowest: ${one.explanation}`,
    parts: found.flatMap((outcome, at) => (outcome.kind === 'scored' ? partsInWhole(outcome, turns[at], trace) : [])),
    details: { ...details, worst_turn: worst + 1, worst: one.details },
  };
}

function scoreOf(whole: Outcome): JsonObject {
  return whole.kind === 'scored' ? { score: whole.score } : { [whole.kind]: whole.kind === 'skipped' ? whole.reason : whole.error };
}

/** Converts parts from indices within a turn to indices within the run. */
function partsInWhole(
  { parts = [] }: Extract<Outcome, { readonly kind: 'scored' }>,
  turn: AgentTrace | undefined,
  whole: AgentTrace,
): NonNullable<Extract<Outcome, { readonly kind: 'scored' }>['parts']> {
  return parts.flatMap((part) => {
    const call = turn?.toolCalls[part.index];
    const index = call === undefined ? -1 : whole.toolCalls.indexOf(call);
    return index === -1 ? [] : [{ ...part, index }];
  });
}

/** Message indices of each group. A user message opens a group, which counts once the assistant answers. */
function places(messages: readonly TraceMessage[], grouping: TurnGrouping): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let before: number[] = [];
  let open: number[] | undefined;
  for (const [at, { role }] of messages.entries()) {
    if (role === 'user') open = undefined;
    if (role === 'assistant' && (open === undefined || grouping === 'assistant_message')) {
      open = before;
      before = [];
      groups.push(open);
    }
    (open ?? before).push(at);
  }
  return groups;
}

function turnTrace(trace: AgentTrace, messages: readonly TraceMessage[], own: readonly number[]): AgentTrace {
  const said = own.flatMap((at) => messages[at] ?? []);
  const indexes = said.flatMap(({ calls }) => calls);
  const asked = messages.slice(0, (own.at(-1) ?? -1) + 1).findLast(({ role, text }) => role === 'user' && text !== undefined)?.text;
  const response = said.findLast(({ role, calls, text }) => role === 'assistant' && calls.length === 0 && text !== undefined)?.text;
  return {
    ...withoutWhole(trace),
    ...(own.at(-1) === messages.length - 1 ? endOf(trace) : {}),
    ...(asked === undefined ? {} : { input: asked }),
    ...(response === undefined ? {} : { finalResponse: response }),
    toolCalls: indexes.flatMap((index) => trace.toolCalls[index] ?? []),
    messages: said.map((message) => ({ ...message, calls: message.calls.map((index) => indexes.indexOf(index)) })),
    reasoningSteps: said.flatMap(({ role, calls, text }) =>
      role === 'assistant' && calls.length > 0 && text !== undefined && text.trim() !== '' ? [text] : [],
    ),
  };
}

/** The last turn ends as the run does. */
function endOf({ status, errorMessage, errorType, errorSpanId }: AgentTrace): Partial<AgentTrace> {
  return {
    status,
    ...(errorMessage === undefined ? {} : { errorMessage }),
    ...(errorType === undefined ? {} : { errorType }),
    ...(errorSpanId === undefined ? {} : { errorSpanId }),
  };
}

/** Leaves out what is known only of the whole run: answer, times, tokens, model calls, documents. */
function withoutWhole(trace: AgentTrace): AgentTrace {
  const {
    input: _input,
    finalResponse: _response,
    startUnixNano: _start,
    endUnixNano: _end,
    tokens: _tokens,
    errorMessage: _error,
    errorType: _type,
    errorSpanId: _span,
    ...rest
  } = trace;
  return { ...rest, status: 'ok', toolCalls: [], messages: [], modelCalls: [], documents: [], reasoningSteps: [], subAgents: [] };
}
