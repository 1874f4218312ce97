/** CrewAI under OpenLLMetry: crew, task and agent; the dialogue is in the text form of the crew's output. */
import { describe } from 'vitest';
import { crewai } from '../../collectors/crewai.ts';
import { testCases, type Case } from './cases.ts';

const asks =
  "{'role': 'assistant', 'content': None, 'tool_calls': [{'id': 'c1', 'type': 'function', 'function': {'name': 't', 'arguments': '{\"city\": \"Val d\\'Isère [73]\"}'}}]}";
const tells = "{'role': 'tool', 'tool_call_id': 'c1', 'name': 't', 'content': '{\"r\": 1}'}";

function outputs(...messages: readonly string[]): string {
  return `[${messages.map((list) => `TaskOutput(description='say "messages=" [twice]', raw='a', agent='A', output_format=<OutputFormat.RAW: 'raw'>, messages=[${list}])`).join(', ')}]`;
}

const cases: readonly Case[] = [
  {
    name: 'an agent is named by its role',
    attributes: { 'crewai.agent.role': 'Travel agent', 'crewai.agent.llm': 'm', 'crewai.agent.tools': '[{"name":"t","description":"d"}]' },
    facts: { role: 'agent', agentName: 'Travel agent', model: 'm', toolDefinitions: [{ name: 't', description: 'd' }] },
    absent: ['toolDefinitions.0.inputSchema', 'input', 'output', 'inputTokens'],
  },
  {
    name: 'an agent without tools has none',
    attributes: { 'crewai.agent.role': 'a', 'crewai.agent.tools': '[]' },
    facts: { role: 'agent' },
    absent: ['toolDefinitions', 'model'],
  },
  {
    name: 'a task’s description is its input',
    attributes: { 'crewai.task.description': 'find a flight' },
    facts: { role: 'workflow', input: 'find a flight' },
    absent: ['output', 'agentName'],
  },
  {
    name: 'a crew: the first task’s description in, the result out',
    attributes: { 'crewai.crew.tasks': '[{"description":"find a flight"},{"description":"book it"}]', 'crewai.crew.result': 'a' },
    facts: { role: 'workflow', input: 'find a flight', output: 'a' },
    absent: ['outputMessages'],
  },
  {
    name: 'the dialogue is read out of the outputs’ text, calls and results only',
    attributes: {
      'crewai.crew.tasks_output': outputs(`{'role': 'user', 'content': 'q'}, ${asks}, ${tells}, {'role': 'assistant', 'content': 'a'}`),
    },
    facts: {
      outputMessages: [
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { city: "Val d'Isère [73]" } }] },
        { role: 'tool', results: [{ id: 'c1', name: 't', result: { r: 1 } }] },
      ],
    },
    absent: ['input', 'output'],
  },
  {
    name: 'the dialogues of several tasks follow each other',
    attributes: { 'crewai.crew.tasks_output': outputs(asks, tells) },
    facts: { outputMessages: [{ requested: [{ name: 't' }] }, { results: [{ id: 'c1' }] }] },
  },
  {
    name: 'a dialogue that is cut short is left out',
    attributes: { 'crewai.crew.tasks_output': outputs(asks, tells).slice(0, -20) },
    facts: { outputMessages: [{ requested: [{ name: 't' }] }] },
  },
  {
    name: 'no dialogue at all',
    attributes: { 'crewai.crew.tasks_output': "[TaskOutput(raw='a')]" },
    facts: { role: 'workflow' },
    absent: ['outputMessages'],
  },
  {
    name: 'a text full of beginnings is looked through to a limit',
    attributes: { 'crewai.crew.tasks_output': 'messages=['.repeat(20_000) },
    facts: { role: 'workflow' },
    absent: ['outputMessages'],
  },
  {
    name: 'tasks that are none',
    attributes: { 'crewai.crew.tasks': '{"description":"x"}', 'crewai.crew.result': 7 },
    facts: { role: 'workflow' },
    absent: ['input', 'output'],
  },
];

describe('crewai', () => {
  testCases(crewai, cases);
});
