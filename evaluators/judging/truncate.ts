/** What a judge is shown of a run, as text of bounded length. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { jsonText, plainText } from '../../src/model/json.ts';

/** Characters of one block of data. */
export const blockMax = 30_000;
/** Characters of one result among the tool calls. */
const resultMax = 2_000;

export function callsText({ toolCalls }: AgentTrace): string {
  if (toolCalls.length === 0) return '(none)';
  return toolCalls
    .map((call, at) => {
      const sent = call.arguments === undefined || call.arguments === null ? (call.argumentsText ?? '') : jsonText(call.arguments);
      const outcome = !call.executed
        ? 'did not run'
        : call.error !== undefined
          ? `failed: ${call.error.message}`
          : call.result === undefined
            ? 'result not recorded'
            : `returned: ${call.result === null ? '(nothing)' : plainText(call.result)}`;
      return `${at + 1}. ${call.name}(${cut(sent, resultMax)})\n   ${cut(outcome, resultMax)}`;
    })
    .join('\n');
}

export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)} [cut: ${text.length - max} more characters]`;
}
