/** The run ended with a final response that is not blank. */
import { isJsonArray, isJsonObject, type JsonValue } from '../src/model/json.ts';
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { cutShort, skipped } from './evidence/calls.ts';
import { isBlank } from './tool-failures.ts';
import { quoted } from './explain/explanation.ts';
import { rule, flag } from './configuration/define.ts';

export const finalResponsePresent = rule({
  id: 'final_response_present',
  version: 2,
  summary: 'The run ended with a final response.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    empty_containers: flag('An empty object or list is a response.'),
  },
  source: 'runs that end in silence: an abandoned loop, a model that gave nothing, an error',
  evaluate({ trace }, { emptyContainers }) {
    const response = trace.finalResponse;
    if (response === undefined && !showsContent(trace))
      return skipped('no_final_response', 'The spans carry neither input nor final response; switch on the capture of message content.');
    if (response === undefined && trace.truncated?.includes('spans') === true) return cutShort('the answers of models');
    if (response === undefined && trace.status === 'paused')
      return skipped('paused', 'The run waits for a person or another program, so it has no final response yet.');
    const present = response !== undefined && !isBlank(response) && (emptyContainers || !isEmpty(response));
    return {
      kind: 'scored',
      score: present ? 1 : 0,
      explanation: explained(trace, present),
      evidence: [],
      details: { present, status: trace.status },
    };
  },
});

/** A missing response is evidence if the spans carry other content, or the run failed. */
function showsContent(trace: AgentTrace): boolean {
  return trace.input !== undefined || trace.status === 'error';
}

function explained({ finalResponse, status, errorMessage }: AgentTrace, present: boolean): string {
  if (present) return 'The run ended with a final response.';
  if (finalResponse !== undefined) return 'The final response is empty.';
  if (status === 'error') return `The run failed without a final response${errorMessage === undefined ? '' : `: ${quoted(errorMessage)}`}.`;
  return 'The run ended without a final response.';
}

function isEmpty(value: JsonValue): boolean {
  return isJsonArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
