/** LangChain4j on Quarkus: the GenAI conventions inside a span named after the method of the AI service, which carries nothing but its name. */
import type { Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';

const prefix = 'langchain4j.aiservices.';

export const langchain4j: Collector = {
  id: 'langchain4j',
  summary: 'LangChain4j on Quarkus (spans langchain4j.aiservices.*).',
  recognisedBy: { namePrefixes: [prefix] },
  wants: { keys: [], prefixes: [] },
  documentedAt: [
    'https://docs.quarkiverse.io/quarkus-langchain4j/dev/observability.html',
    'https://github.com/quarkiverse/quarkus-langchain4j',
  ],
  captureHints: {
    content:
      'Set quarkus.langchain4j.tracing.include-tool-arguments, include-tool-result and include-completion to true. It runs the messages of a prompt together in one text, so the input is on no span.',
    tools: 'Definitions are on no span; name the tools under tools in the configuration.',
  },
  read,
};

/** `langchain4j.aiservices.TravelAgent.plan`: the interface, then the method. */
function read(span: Span): SpanFacts {
  const agentName = span.name.slice(prefix.length).split('.')[0];
  return agentName === undefined || agentName === '' ? { role: 'workflow' } : { role: 'agent', agentName };
}
