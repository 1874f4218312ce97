/** CrewAI under OpenLLMetry, and under Langtrace which writes its names: no model spans; the dialogue is one text in Python's notation inside the crew's output. */
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { readMessages } from './parsing/messages.ts';
import { parsePythonLiteral, pythonLiteralEnd } from './parsing/python-literal.ts';
import { parseContainer } from './parsing/parsing.ts';

export const crewai: Collector = {
  id: 'crewai',
  summary: 'CrewAI under OpenLLMetry and Langtrace (crewai.*).',
  recognisedBy: {
    scopes: ['opentelemetry.instrumentation.crewai.instrumentation', 'langtrace_python_sdk.instrumentation.crewai.instrumentation'],
  },
  wants: {
    keys: [
      'crewai.crew.tasks',
      'crewai.crew.result',
      'crewai.crew.tasks_output',
      'crewai.agent.role',
      'crewai.agent.tools',
      'crewai.agent.llm',
      'crewai.task.description',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Leave TRACELOOP_TRACE_CONTENT at true, its default.',
    tools: 'Names and descriptions of tools are sent, schemas are not; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['crewai.task.description', 'crewai.crew.tasks'],
    final_response: ['crewai.crew.result', 'crewai.crew.tasks_output'],
    tool_calls: ['crewai.crew.tasks_output'],
    tool_arguments: ['crewai.crew.tasks_output'],
    tool_results: ['crewai.crew.tasks_output'],
    tool_definitions: ['crewai.agent.tools'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const role = textAttribute(span, 'crewai.agent.role');
  if (role !== undefined) {
    const model = textAttribute(span, 'crewai.agent.llm');
    const toolDefinitions = readDefinitions(span.attribute('crewai.agent.tools'));
    return {
      role: 'agent',
      agentName: role,
      ...(model === undefined ? {} : { model }),
      ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    };
  }
  const task = textAttribute(span, 'crewai.task.description');
  if (task !== undefined) return { role: 'workflow', input: task };
  return crewFacts(span);
}

function crewFacts(span: Span): SpanFacts {
  const tasks = parseContainer(textAttribute(span, 'crewai.crew.tasks') ?? '');
  const first = isJsonArray(tasks) ? tasks[0] : undefined;
  const input = isJsonObject(first) ? member(first, 'description') : undefined;
  const output = textAttribute(span, 'crewai.crew.result');
  const outputMessages = dialogue(textAttribute(span, 'crewai.crew.tasks_output') ?? '');
  return {
    role: 'workflow',
    ...(typeof input === 'string' ? { input } : {}),
    ...(output === undefined ? {} : { output }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
  };
}

/** More tasks than this in one crew are not read. */
const dialoguesMax = 100;

/** `[TaskOutput(…, messages=[{…}, …])]`: the messages are a literal inside a text that is not one. */
function dialogue(text: string): readonly Message[] {
  const found: Message[] = [];
  for (let from = 0, count = 0; count < dialoguesMax; count++) {
    const at = text.indexOf('messages=[', from);
    if (at === -1) break;
    const start = at + 'messages='.length;
    const end = pythonLiteralEnd(text, start);
    const list = parsePythonLiteral(text.slice(start, end));
    if (isJsonArray(list)) found.push(...readMessages(list, 'user'));
    from = Math.max(end, start + 1);
  }
  return found.filter((message) => message.requested.length > 0 || message.results.length > 0);
}
