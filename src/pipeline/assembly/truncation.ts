/** What the spans of a run carry in part only, because an SDK or a length limit cut it short. */
import { isCutShort } from '../../../collectors/parsing/truncation.ts';
import type { AgentTrace, TruncatedPart } from '../../model/agent-trace.ts';
import type { JsonValue } from '../../model/json.ts';
import type { Node } from './span-tree.ts';

/** `telling` are the agent's span, its frames and its requests to models. */
export function truncatedParts(
  { input, finalResponse, systemPrompt }: Pick<AgentTrace, 'input' | 'finalResponse' | 'systemPrompt'>,
  ...telling: readonly (readonly Node[])[]
): readonly TruncatedPart[] {
  const parts: TruncatedPart[] = [];
  if (isCut(input)) parts.push('input');
  if (isCut(finalResponse)) parts.push('final_response');
  if (isCut(systemPrompt)) parts.push('system_prompt');
  if (telling.some((nodes) => nodes.some(isTruncated))) parts.push('spans');
  return parts;
}

function isTruncated({ told: { facts } }: Node): boolean {
  return facts.truncated === true;
}

function isCut(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && isCutShort(value);
}
