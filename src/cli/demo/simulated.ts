/** A simulated run of an agent: what it was asked, what it did, how each call ended. Spans are written from it, in the form of its SDK. */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';

/** How the agent is instrumented; the forms of spans stand in `sdks.ts`. */
export type SdkName = 'plain' | 'flattened' | 'conventions' | 'ai_sdk';

export type CallOutcome =
  | { readonly kind: 'returned'; readonly result: JsonValue }
  | { readonly kind: 'failed'; readonly message: string }
  /** The model asked for it, and then the process died. */
  | { readonly kind: 'lost' };

export interface SimulatedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly outcome: CallOutcome;
  readonly tookMs: number;
  /** The agent that does the work of this tool. */
  readonly by?: SimulatedRun;
}

export interface SimulatedTurn {
  readonly thoughtMs: number;
  readonly calls: readonly SimulatedCall[];
}

export interface SimulatedAgent {
  readonly name: string;
  readonly sdk: SdkName;
  readonly version: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
}

export interface SimulatedRun {
  readonly agent: SimulatedAgent;
  /** Which scenario it was made from. */
  readonly scenario: string;
  readonly input: string;
  readonly sessionId?: string;
  /** Each is one model call that asked for tools, with the calls that followed. */
  readonly turns: readonly SimulatedTurn[];
  /** The last model call: the answer. */
  readonly answerMs: number;
  /** Absent: it broke off before it answered. */
  readonly answer?: string;
}

/** How long a run takes from its first to its last moment. */
export function tookMs(run: SimulatedRun): number {
  const turns = run.turns.reduce((sum, turn) => sum + turn.thoughtMs + turn.calls.reduce((calls, call) => calls + callMs(call), 0), 0);
  return edgeMs + turns + (run.answer === undefined ? 0 : run.answerMs) + edgeMs;
}

/** Before its first and after its last step an agent does this and that. */
export const edgeMs = 2;

export function callMs({ by, tookMs: own, outcome }: SimulatedCall): number {
  if (outcome.kind === 'lost') return 0;
  return by === undefined ? own : tookMs(by) + edgeMs;
}
