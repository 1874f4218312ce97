/** How a tool call ended, and how long it took. */
import type { ToolCall } from './agent-trace.ts';
import { errorSign } from './error-signs.ts';
import type { ErrorSign } from './error-signs.ts';

/** failed, returned, or asked for without a sign that it ran. What counts as failed here does so in metrics, stores and evaluators. */
export function callEnd(call: ToolCall): 'failed' | 'returned' | 'not_executed' {
  if (call.error !== undefined) return 'failed';
  if (!call.executed) return 'not_executed';
  return failureSign(call) === undefined ? 'returned' : 'failed';
}

/** The sign of an error in a result, where no span states another outcome. What an SDK writes in place of a result counts in any case. */
export function failureSign(call: ToolCall): ErrorSign | undefined {
  const sign = signInResult(call);
  return sign === undefined || (call.statedOk === true && !sign.isMark) ? undefined : sign;
}

/** The same, whatever the span states. What is left of a result that was cut short has its beginning. */
export function signInResult({ result, truncated }: ToolCall): ErrorSign | undefined {
  const seen = result ?? truncated?.result;
  return seen === undefined ? undefined : errorSign(seen);
}

/** Undefined: nothing tells both ends, or the end lies before the start. */
export function tookNano({ startUnixNano, endUnixNano }: Pick<ToolCall, 'startUnixNano' | 'endUnixNano'>): bigint | undefined {
  return startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano ? undefined : endUnixNano - startUnixNano;
}
