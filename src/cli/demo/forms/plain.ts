/** Spans made by hand: a name, what went in, what came out. They carry neither model calls nor tool schemas. */
import { jsonText } from '../../../model/json.ts';
import type { Sdk } from '../sdk.ts';
import { outcomeText } from './messages.ts';

export const plain: Sdk = {
  scope: 'demo.handmade',
  carriesTools: false,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: agent.name,
    attributes: {
      'agent.name': agent.name,
      'input.value': input,
      ...(answer === undefined ? {} : { 'output.value': answer }),
      ...(sessionId === undefined ? {} : { 'session.id': sessionId }),
    },
  }),
  tool: (_run, call) => ({
    name: call.tool,
    attributes: {
      'tool.name': call.tool,
      'input.value': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'output.value': outcomeText(call.outcome) } : {}),
    },
  }),
};
