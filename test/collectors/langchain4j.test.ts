/** LangChain4j: on Quarkus the AI service is known only by its span's name; elsewhere OpenInference describes it. */
import { describe, expect, test } from 'vitest';
import { recognises } from '../../collectors/collector.ts';
import { langchain4j } from '../../collectors/langchain4j.ts';
import { span } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const cases: readonly Case[] = [
  {
    name: 'an AI service is an agent, named as its interface',
    span: { name: 'langchain4j.aiservices.TravelAgent.plan' },
    facts: { role: 'agent', agentName: 'TravelAgent' },
  },
  { name: 'a name that names nothing', span: { name: 'langchain4j.aiservices.' }, facts: { role: 'workflow' }, absent: ['agentName'] },
];

describe('langchain4j', () => {
  testCases(langchain4j, cases);

  test('langchain4j: spans of its models and tools are the conventions’', () => {
    expect(recognises(langchain4j, span({ id: 1, name: 'langchain4j.aiservices.A.b' }))).toBe(true);
    expect(
      recognises(langchain4j, span({ id: 1, name: 'langchain4j.tools.t', attributes: { 'gen_ai.operation.name': 'execute_tool' } })),
    ).toBe(false);
  });

  testDocumented('langchain4j');
  testDocumented('openinference-langchain4j');
});
