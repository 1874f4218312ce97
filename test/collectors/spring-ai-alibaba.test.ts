/** Spring AI Alibaba: graphs around Spring AI's own spans. */
import { describe } from 'vitest';
import { springAiAlibaba } from '../../collectors/spring-ai-alibaba.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const kind = 'spring.ai.alibaba.kind';

const cases: readonly Case[] = [
  {
    name: 'a graph encloses the work and has a name',
    attributes: { [kind]: 'graph', 'spring.ai.alibaba.graph.name': 'g', 'spring.ai.alibaba.graph.state': '{input=q}' },
    facts: { role: 'workflow', agentName: 'g' },
    absent: ['input'],
  },
  { name: 'a graph without a name', attributes: { [kind]: 'graph' }, facts: { role: 'workflow' }, absent: ['agentName'] },
  ...['graph_node', 'graph_edge', 7].map((one): Case => ({
    name: `${one} is a step`,
    attributes: { [kind]: one, 'spring.ai.alibaba.graph.name': 'g' },
    facts: { role: 'step' },
    absent: ['agentName'],
  })),
];

describe('spring_ai_alibaba', () => {
  testCases(springAiAlibaba, cases);
  testDocumented('spring-ai-alibaba');
});
