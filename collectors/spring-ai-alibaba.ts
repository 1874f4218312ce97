/** Spring AI Alibaba's graphs around the spans of Spring AI: `spring.ai.alibaba.kind` is a graph, one of its nodes or its edges. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';

export const springAiAlibaba: Collector = {
  id: 'spring_ai_alibaba',
  summary: 'Spring AI Alibaba graphs (spring.ai.alibaba.kind).',
  recognisedBy: { keys: ['spring.ai.alibaba.kind'] },
  wants: { keys: ['spring.ai.alibaba.kind', 'spring.ai.alibaba.graph.name'], prefixes: [] },
  documentedAt: ['https://github.com/alibaba/spring-ai-alibaba/tree/main/spring-ai-alibaba-graph-core'],
  captureHints: {
    content:
      'The starter for graph observation writes each model’s prompt and answer as one text each; set spring.ai.tools.observations.include-content=true for tools.',
    tools: 'Schemas come with tools that were called; name the tools under tools in the configuration.',
  },
  read,
};

/** The state of a graph is the text form of Java objects, so neither its input nor its output is reported. */
function read(span: Span): SpanFacts {
  if (textAttribute(span, 'spring.ai.alibaba.kind') !== 'graph') return { role: 'step' };
  const name = textAttribute(span, 'spring.ai.alibaba.graph.name');
  return { role: 'workflow', ...(name === undefined ? {} : { agentName: name }) };
}
