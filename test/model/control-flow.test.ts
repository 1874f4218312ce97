/** Pauses, refusals and hand-overs, as frameworks raise and write them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { controlFlowOf, holdIn, statesPause } from '../../src/model/control-flow.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { ordinaryResults } from '../evaluators/ordinary-results.ts';

const flows: readonly (readonly [what: string, error: Parameters<typeof controlFlowOf>[0], want: ReturnType<typeof controlFlowOf>])[] = [
  ['an interrupt of LangGraph by its class', { type: 'langgraph.errors.GraphInterrupt', message: '(Interrupt(...),)' }, 'waiting'],
  ['one by its repr', { message: "GraphInterrupt((Interrupt(value='ok?', resumable=True),))" }, 'waiting'],
  ['one in front of its message', { type: 'Error', message: 'GraphInterrupt: [{"value":"ok?"}]' }, 'waiting'],
  ['one in front of a stack', { message: '\n\nGraphInterrupt\n    at interrupt (file:///srv/graph.js:1:1)' }, 'waiting'],
  [
    'one at the end of a traceback',
    { message: 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nlanggraph.errors.NodeInterrupt: human\n' },
    'waiting',
  ],
  ['a deferred call', { type: 'pydantic_ai.exceptions.CallDeferred', message: '' }, 'waiting'],
  ['a call that needs approval', { type: 'ApprovalRequired', message: '' }, 'waiting'],
  ['an interrupt of Strands', { type: 'strands.types.interrupt.InterruptException', message: 'approve?' }, 'waiting'],
  ['one in TypeScript', { type: 'InterruptError', message: 'approve?' }, 'waiting'],
  ['a custom approval', { type: 'shop.errors.HumanApprovalRequired', message: 'amount over 100' }, 'waiting'],
  ['a custom suspension', { type: 'WorkflowSuspended', message: '' }, 'waiting'],
  ['feedback that a flow waits for', { type: 'HumanFeedbackPending', message: '' }, 'waiting'],
  ['a command for the parent graph', { type: 'ParentCommand', message: '' }, 'passed_on'],
  ['one by its repr in another exception', { type: 'Exception', message: "ParentCommand(Command(graph='a', update={}))" }, 'passed_on'],
  ['the answer of a tool', { type: 'smolagents.local_python_executor.FinalAnswerException', message: '42' }, 'passed_on'],
  ['a retry of Pydantic AI', { type: 'pydantic_ai.exceptions.ToolRetryError', message: 'Fix the errors and try again.' }, undefined],
  ['a cancelled call', { type: 'asyncio.exceptions.CancelledError', message: '' }, undefined],
  ['Control-C', { type: 'KeyboardInterrupt', message: '' }, undefined],
  ['a system call that a signal broke', { type: 'InterruptedError', message: '[Errno 4] Interrupted system call' }, undefined],
  ['a resume that fits no interrupt', { type: 'langgraph.errors.UnknownInterruptError', message: '' }, undefined],
  ['a graph that ran too long', { type: 'GraphRecursionError', message: 'Recursion limit of 25 reached' }, undefined],
  ['an ordinary error that speaks of an interrupt', { type: 'ValueError', message: 'the interrupt GraphInterrupt is unknown' }, undefined],
  ['a rate limit', { type: 'RateLimitError', message: 'Error code: 429' }, undefined],
];

const refusals: readonly string[] = [
  'Tool execution was not approved.',
  'The tool call was denied.',
  'This tool call is rejected.',
  'User rejected the tool call for `pay` with id p9. The tool was not executed.',
  'User rejected the tool call for `pay` with reason: too much',
  'Tool call execution denied.',
  'Tool call was not approved by the user',
  'Error: Tool call invocation was rejected by user.',
  'Function call was rejected by the user',
  "Tool execution for 'pay' was rejected by the user. With user feedback: too much",
  'tool cancelled by user',
  "The user doesn't want to proceed with this tool use. The tool use was rejected.",
  'The user denied this tool call.',
  'The user has declined the wipe command.',
  'Operator rejected this action: maintenance window',
  'The action was declined by a reviewer.',
  'Execution of this tool was denied by the administrator',
  '用户拒绝了此工具调用',
  'Der Aufruf wurde vom Benutzer abgelehnt.',
];

const waiting: readonly string[] = [
  'This tool call requires confirmation, please approve or reject.',
  'The action is pending approval.',
  'Waiting for human approval',
];

const ordinary: readonly string[] = [
  'Access denied',
  'Permission denied',
  'The user rejected the proposal on 12 May.',
  'User denied having placed the order.',
  'The bank declined the card.',
  'Order 12 was rejected by the warehouse.',
  'Request was rejected by the server: 503',
  'Booking cancelled by customer on Monday; refund issued.',
  'Three pull requests are pending review.',
  'The connection was refused.',
  `The user denied this tool call. ${'x'.repeat(2_000)}`,
];

describe('control flow', () => {
  test.each(flows)('control flow: %s', (_what, error, want) => {
    expect(controlFlowOf(error)).toBe(want);
  });

  test.each(refusals)('control flow: "%s" is a refusal', (text) => {
    expect([holdIn(text), holdIn({ error: text })]).toEqual(['refused', 'refused']);
  });

  test.each(waiting)('control flow: "%s" is a call that waits', (text) => {
    expect([holdIn(text), holdIn({ error: text })]).toEqual(['waiting', 'waiting']);
  });

  test.each(ordinary)('control flow: "%s" is a result', (text) => {
    expect([holdIn(text), holdIn({ result: text })]).toEqual([undefined, undefined]);
  });

  test('control flow: no ordinary result is held', () => {
    const texts = ['harmless', 'errors'].flatMap(
      (name) =>
        JSON.parse(readFileSync(new URL(`../fixtures/error-signs/${name}.json`, import.meta.url), 'utf8')) as {
          readonly result: JsonValue;
        }[],
    );
    const results = [...ordinaryResults.map(({ text }) => text), ...texts.map(({ result }) => result)];
    expect(results.filter((result) => holdIn(result) !== undefined)).toEqual([]);
  });

  test('control flow: a denied output of the AI SDK is a refusal', () => {
    expect(holdIn({ type: 'execution-denied', reason: 'no' })).toBe('refused');
  });

  test.each([
    ['a graph that is interrupted', '{"messages": [], "__interrupt__": [{"value": "ok?"}]}', true],
    ['a graph that is not', { messages: [], __interrupt__: [] }, false],
    ['deferred tools', { calls: [], approvals: [{ tool_name: 'pay' }], metadata: {} }, true],
    ['no deferred tools', { calls: [], approvals: [], metadata: {} }, false],
    ['interruptions of a result', { interruptions: [{ name: 'pay' }] }, true],
    ['a suspended workflow', { finishReason: 'suspended' }, true],
    ['a paused run', { status: 'PAUSED', tools: [] }, true],
    ['an order with a status', { status: 'shipped' }, false],
    ['a text about an interrupt', 'The key __interrupt__ holds interrupts.', false],
  ] as const)('control flow: the output of %s', (_what, output, want) => {
    expect(statesPause(output)).toBe(want);
  });
});
