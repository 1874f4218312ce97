/** The forms in which the agents of the demonstration tell their runs, one for each kind of instrumentation. */
import type { AttributeValue, SpanKind } from '../../model/span.ts';
import { aiSdk } from './forms/ai-sdk.ts';
import { conventions } from './forms/conventions.ts';
import { flattened } from './forms/flattened.ts';
import { plain } from './forms/plain.ts';
import type { SdkName, SimulatedCall, SimulatedRun } from './simulated.ts';

export interface Attributes {
  readonly [key: string]: AttributeValue;
}

export interface SpanData {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
}

/** The model's id of a call, by the number of the turn and of the call in it. */
export type CallId = (turn: number, call: number) => string;

export interface Sdk {
  readonly scope: string;
  /** Its spans tell which tools there are. */
  readonly tellsTools: boolean;
  agent(run: SimulatedRun): SpanData;
  /** The model call that asked for the tools of a turn, or that answered, for the number after the last turn. Absent: it tells no model calls. */
  readonly model?: (run: SimulatedRun, turn: number, callId: CallId) => SpanData;
  tool(run: SimulatedRun, call: SimulatedCall, callId: string): SpanData;
}

export const sdks: { readonly [name in SdkName]: Sdk } = { plain, flattened, conventions, ai_sdk: aiSdk };
