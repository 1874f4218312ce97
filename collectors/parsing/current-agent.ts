/** LlamaIndex names the agent only inside the events that the steps of its workflow take and return, as JSON or in the text form of Python's objects. */
import type { AttributeValue } from '../../src/model/span.ts';
import type { SpanFacts } from '../collector.ts';
import type { Observation } from './observation.ts';

const CURRENT_AGENT = /current_agent_name["']?\s?[:=]\s?["']([^"']{1,200})["']/;

/** The agent that a step works for. */
export function currentAgent({ input, output }: Pick<Observation, 'input' | 'output'>): Pick<SpanFacts, 'agentName'> {
  const agentName = nameIn(input) ?? nameIn(output);
  return agentName === undefined ? {} : { agentName };
}

function nameIn(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' ? CURRENT_AGENT.exec(value)?.[1] : undefined;
}
