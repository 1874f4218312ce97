/** OpenLIT: what differs from the GenAI conventions that it speaks. */
import { describe } from 'vitest';
import { openlit } from '../../collectors/openlit.ts';
import { pythonLiteralCharsMax } from '../../collectors/parsing/python-literal.ts';
import { testCases, type Case } from './cases.ts';

function tool(result: string): Pick<Case, 'attributes'> {
  return { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.result': result } };
}

const cases: readonly Case[] = [
  {
    name: 'a tool message in the text form of Python',
    ...tool(`content='{"r": 1}' name='t' id='m1' tool_call_id='c1'`),
    facts: { role: 'tool', tool: { id: 'c1', result: { r: 1 } } },
    absent: ['tool.failed', 'tool.name', 'tool.arguments'],
  },
  {
    name: 'quotes of either kind, and escapes',
    ...tool(`content="it's \\"late\\"" name='t' tool_call_id='c1'`),
    facts: { tool: { result: 'it\'s "late"' } },
  },
  {
    name: 'a message that reports a failed call, while the span is well',
    ...tool(`content='no hotel in Atlantis' name='t' tool_call_id='c1' status='error'`),
    facts: { tool: { result: 'no hotel in Atlantis', failed: { message: 'no hotel in Atlantis' } } },
  },
  {
    name: 'members in the content do not count',
    ...tool(`content="status='error' tool_call_id='x'" name='t' tool_call_id='c1'`),
    facts: { tool: { id: 'c1', result: "status='error' tool_call_id='x'" } },
    absent: ['tool.failed'],
  },
  {
    name: 'of two members of one name the first counts',
    ...tool("content='a' tool_call_id='c1' tool_call_id='c2' content='b'"),
    facts: { tool: { id: 'c1', result: 'a' } },
  },
  { name: 'a text that Python would not write is not a text', ...tool("content='\\x4' tool_call_id='c1'"), facts: {}, absent: ['tool'] },
  {
    name: 'a member whose name only ends alike is another',
    ...tool("content='a' other_content='b' old_status='error'"),
    facts: { tool: { result: 'a' } },
    absent: ['tool.failed'],
  },
  {
    name: 'a text beyond the limit is left to the conventions',
    ...tool(`content='${'a'.repeat(pythonLiteralCharsMax)}'`),
    facts: {},
    absent: ['tool'],
  },
  { name: 'any other result is left to the conventions', ...tool('{"r":1}'), facts: {}, absent: ['role', 'tool'] },
  { name: 'a message that is cut short is left to the conventions', ...tool('content=\'{"r": '), facts: {}, absent: ['role', 'tool'] },
  {
    name: 'a workflow’s input',
    attributes: { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.input': '{"messages":[{"role":"user","content":"q"}]}' },
    facts: { input: 'q' },
    absent: ['role'],
  },
  {
    name: 'input that holds messages as texts of Python objects is left out',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'travel',
      'gen_ai.workflow.input': `{"messages":["content='q' additional_kwargs={}"]}`,
    },
    facts: {},
    absent: ['input', 'role'],
  },
  ...['agent', 'tools', 'model'].map((node): Case => ({
    name: `the graph’s node ${node} is a step, though it is called an agent`,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': node },
    facts: { role: 'step' },
  })),
  {
    name: 'an agent of another name is left to the conventions',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'travel' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'a model’s span that names a tool is not a tool',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.tool.name': 't',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.call.result': "content='x'",
    },
    facts: {},
    absent: ['role', 'tool'],
  },
];

describe('openlit', () => {
  testCases(openlit, cases);
});
