/** A conversation turn by turn: which calls belong to which turn, and what an evaluator finds in each. */
import type { AgentTrace, ToolCall } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { unreachable } from '../src/model/ids.ts';
import type { Verdict } from '../src/model/verdict.ts';
import type { ConfiguredRule } from './configured.ts';
import type { EvaluationContext } from './evaluator.ts';

/** assistant_message: every message of the assistant is a group of its own. user_turn: all that follows one message of the user. */
export type TurnGrouping = 'assistant_message' | 'user_turn';

export interface Turns {
  /** Exchanges: as many as there are messages on the side that has fewer of them. */
  readonly turnCount: number;
  /** The calls of each group, groups without calls included. */
  readonly groups: readonly (readonly ToolCall[])[];
}

export interface TurnVerdicts {
  readonly byTurn: readonly Verdict[];
  /** On all calls together. */
  readonly flat: Verdict;
  /** Index of the lowest score, the earliest of equal ones; undefined when no turn was scored. */
  readonly worst: number | undefined;
}

/** Undefined: the messages of the run are not known. */
export function turnsOf(trace: AgentTrace, grouping: TurnGrouping = 'assistant_message'): Turns | undefined {
  if (trace.messages === undefined) return undefined;
  const count = (wanted: string): number => trace.messages?.filter(({ role }) => role === wanted).length ?? 0;
  const groups: ToolCall[][] = [];
  let open: ToolCall[] | undefined;
  for (const { role, calls } of trace.messages) {
    if (role === 'user') open = undefined;
    if (role !== 'assistant') continue;
    if (open === undefined || startsGroup(grouping)) {
      open = [];
      groups.push(open);
    }
    open.push(...calls.flatMap((index) => trace.toolCalls[index] ?? []));
  }
  return { turnCount: Math.min(count('user'), count('assistant')), groups };
}

/** The expectation of a turn stands at its index; further turns have none, so that evaluators that need one skip them. */
export function verdictsByTurn(trace: AgentTrace, turns: Turns, evaluator: ConfiguredRule, given: { readonly byTurn: readonly Expectation[]; readonly flat: Expectation; readonly context: EvaluationContext }): TurnVerdicts {
  const byTurn = turns.groups.map((toolCalls, at) => evaluator.evaluate(withCalls(trace, toolCalls), given.byTurn[at] ?? {}, given.context));
  let worst: number | undefined;
  for (const [at, verdict] of byTurn.entries()) {
    if (verdict.kind === 'scored' && verdict.score < scoreOf(worst === undefined ? undefined : byTurn[worst])) worst = at;
  }
  return { byTurn, flat: evaluator.evaluate(trace, given.flat, given.context), worst };
}

function startsGroup(grouping: TurnGrouping): boolean {
  switch (grouping) {
    case 'assistant_message':
      return true;
    case 'user_turn':
      return false;
    default:
      return unreachable(grouping);
  }
}

/** The messages are left out: their calls count within the whole run. */
function withCalls({ messages: _whole, ...trace }: AgentTrace, toolCalls: readonly ToolCall[]): AgentTrace {
  return { ...trace, toolCalls };
}

function scoreOf(verdict: Verdict | undefined): number {
  return verdict?.kind === 'scored' ? verdict.score : Infinity;
}
