/** The contract of a simulated SDK: the spans that it makes of a run. */
import type { AttributeValue, SpanKind } from '../../model/span.ts';
import type { SimulatedCall, SimulatedRun } from './simulated.ts';

export interface SpanData {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
}

export interface Sdk {
  readonly scope: string;
  /** Its spans carry tool definitions. */
  readonly carriesTools: boolean;
  agent(run: SimulatedRun): SpanData;
  /** The model call that asked for the tools of a turn, or that answered, for the number after the last turn. Absent when its spans carry no model calls. */
  readonly model?: (run: SimulatedRun, turn: number, callId: CallId) => SpanData;
  tool(run: SimulatedRun, call: SimulatedCall, callId: string): SpanData;
}

export interface Attributes {
  readonly [key: string]: AttributeValue;
}

/** The model's id of a call, by the number of the turn and of the call in it. */
export type CallId = (turn: number, call: number) => string;
