/** An agent trace out of the messages of a conversation, as the OpenAI chat API writes them. */
import { readMessages } from '../../evaluators/expectation/messages.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { JsonValue } from '../model/json.ts';

export interface FromMessages {
  readonly trace: AgentTrace;
  /** Results that answer none of the calls. */
  readonly orphanResults: number;
}

/** The trace of the whole conversation: its input is what the user said last. Throws at the first message that is none. */
export function fromMessages(messages: JsonValue, members: Partial<AgentTrace> = {}): FromMessages {
  const read = readMessages(messages);
  const [fault] = read.faults;
  if (fault !== undefined)
    throw new TypeError(
      `messages${fault.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')} ${fault.problem}`,
    );
  const input = lastText(read.messages, ['user']);
  const systemPrompt = lastText(read.messages, ['system', 'developer']);
  const trace: AgentTrace = {
    status: 'ok',
    ...(input === undefined ? {} : { input }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(read.finalResponse === undefined ? {} : { finalResponse: read.finalResponse }),
    toolCalls: read.toolCalls,
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    messages: read.messages,
    reasoningSteps: read.reasoningSteps,
    subAgents: [],
    toolCallsCarried: true,
    ...members,
  };
  return { trace, orphanResults: read.orphanResults };
}

function lastText(messages: NonNullable<AgentTrace['messages']>, roles: readonly string[]): string | undefined {
  return messages.findLast(({ role, text }) => roles.includes(role) && text !== undefined)?.text;
}
