/** How a tool call ended, and how long it took. */
import type { ToolCall } from './agent-trace.ts';

/** failed, returned, or asked for without a sign that it ran. */
export function callEnd(call: ToolCall): 'failed' | 'returned' | 'not_executed' {
  return call.error !== undefined ? 'failed' : call.executed ? 'returned' : 'not_executed';
}

/** Undefined: nothing tells both ends, or the end lies before the start. */
export function tookNano({ startUnixNano, endUnixNano }: Pick<ToolCall, 'startUnixNano' | 'endUnixNano'>): bigint | undefined {
  return startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano ? undefined : endUnixNano - startUnixNano;
}
