/** What the spans of a run carry in part only, because an SDK or a length limit cut it short. */
import { isCutShort } from '../../collectors/reading/truncation.ts';
import type { AgentTrace, TruncatedPart } from '../model/agent-trace.ts';
import type { JsonValue } from '../model/json.ts';
import type { Node } from './tree.ts';

/** `telling` are the agent's span, its frames and its requests to models. */
export function truncatedParts({ input, finalResponse, systemPrompt }: Pick<AgentTrace, 'input' | 'finalResponse' | 'systemPrompt'>, telling: readonly (Node | undefined)[]): Pick<AgentTrace, 'truncated'> {
  const parts: readonly TruncatedPart[] = [
    ...(isCut(input) ? ['input' as const] : []),
    ...(isCut(finalResponse) ? ['final_response' as const] : []),
    ...(isCut(systemPrompt) ? ['system_prompt' as const] : []),
    ...(telling.some((node) => node?.told.facts.truncated === true) ? ['spans' as const] : []),
  ];
  return parts.length === 0 ? {} : { truncated: parts };
}

function isCut(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && isCutShort(value);
}
