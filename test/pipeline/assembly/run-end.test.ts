/** How a run ended, by its own spans. */
import { describe, expect, test } from 'vitest';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import type { Span } from '../../../src/model/span.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { assembled } from '../../builders/assembled.ts';
import { agentSpan, modelSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { span } from '../../builders/spans.ts';

const root = agentSpan({ id: 1, start: 0, end: 1_000, agent: 'a', input: 'q' });
const answering = agentSpan({ id: 1, start: 0, end: 1_000, agent: 'a', input: 'q', output: 'a' });
const quota = { status: 'error', message: 'usage limit reached', attributes: { 'error.type': 'RateLimitError' } } as const;
const exception = (type: string, message: string) => [
  { name: 'exception', attributes: { 'exception.type': type, 'exception.message': message } },
];

const failing: readonly {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly end: Partial<AgentTrace>;
}[] = [
  {
    name: 'an agent span in error',
    spans: [agentSpan({ id: 1, ...quota })],
    end: { errorMessage: 'usage limit reached', errorType: 'RateLimitError', errorSpanId: spanId(1) },
  },
  {
    name: 'an agent span in error that has an output',
    spans: [agentSpan({ id: 1, status: 'error', message: 'gone', output: 'a' })],
    end: { errorMessage: 'gone', errorSpanId: spanId(1) },
  },
  {
    name: 'a phrase on the agent span, beside a request with a cause',
    spans: [
      agentSpan({ id: 1, start: 0, end: 90, status: 'error', message: 'Error' }),
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', ...quota }),
    ],
    end: { errorMessage: 'usage limit reached', errorType: 'RateLimitError', errorSpanId: spanId(1) },
  },
  {
    name: 'an exception on an agent span without status and output',
    spans: [agentSpan({ id: 1, events: exception('ValueError', 'no such city') })],
    end: { errorMessage: 'no such city', errorType: 'ValueError' },
  },
  {
    name: 'a status that repeats the class of the exception',
    spans: [
      agentSpan({ id: 1, status: 'error', message: 'RateLimitError: slow down', events: exception('openai.RateLimitError', 'slow down') }),
    ],
    end: { errorMessage: 'slow down', errorType: 'openai.RateLimitError' },
  },
  {
    name: 'a status that begins with another class',
    spans: [agentSpan({ id: 1, status: 'error', message: 'Error: slow down', attributes: { 'error.type': 'RateLimitError' } })],
    end: { errorMessage: 'Error: slow down', errorType: 'RateLimitError' },
  },
  {
    name: 'a last request in error under an agent span without status',
    spans: [root, modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', ...quota })],
    end: { errorMessage: 'usage limit reached', errorType: 'RateLimitError', errorSpanId: spanId(2) },
  },
  {
    name: 'a last request in error under an agent span with the status OK and an excuse',
    spans: [
      agentSpan({ id: 1, start: 0, end: 90, status: 'ok', output: 'Sorry, try again later.' }),
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', ...quota }),
    ],
    end: { errorSpanId: spanId(2) },
  },
  {
    name: 'a stream that broke off within the answer',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', says: 'The flight', status: 'error', message: 'stream broke off' }),
    ],
    end: { errorMessage: 'stream broke off', finalResponse: 'The flight' },
  },
  {
    name: 'a request that ended for the reason error',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', attributes: { 'gen_ai.response.finish_reasons': ['error'] } }),
    ],
    end: { errorSpanId: spanId(2) },
  },
  {
    name: 'an exception on a last request without status and answer',
    spans: [root, modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', events: exception('APITimeoutError', 'Request timed out.') })],
    end: { errorMessage: 'Request timed out.', errorType: 'APITimeoutError' },
  },
  {
    name: 'a last request in error whose agent span never came',
    spans: [
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', asks: [{ id: 'c', name: 't' }] }),
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, call: 'c', result: 'r' }),
      modelSpan({ id: 4, parent: 1, start: 5, end: 6, user: 'q', status: 'error', message: 'stream broke off' }),
    ],
    end: { errorMessage: 'stream broke off' },
  },
  {
    name: 'a request whose inner span failed',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, start: 1, end: 5, user: 'q', scope: 'langchain' }),
      modelSpan({ id: 3, parent: 2, start: 2, end: 4, user: 'q', scope: 'openai', ...quota }),
    ],
    end: { errorMessage: 'usage limit reached', errorType: 'RateLimitError' },
  },
  {
    name: 'a level of Langfuse without a status',
    spans: [
      span({
        id: 1,
        attributes: {
          'langfuse.observation.type': 'agent',
          'langfuse.observation.input': '"q"',
          'langfuse.observation.level': 'ERROR',
          'langfuse.observation.status_message': 'the model is overloaded',
        },
      }),
    ],
    end: { errorMessage: 'the model is overloaded' },
  },
  {
    name: 'a stream of the AI SDK that ended for the reason error',
    spans: [
      span({ id: 1, start: 0, end: 9, attributes: { 'ai.operationId': 'ai.streamText', 'ai.prompt': '{"prompt":"q"}' } }),
      span({
        id: 2,
        parent: 1,
        start: 1,
        end: 8,
        attributes: { 'ai.operationId': 'ai.streamText.doStream', 'ai.response.finishReason': 'error', 'ai.response.text': 'The' },
      }),
    ],
    end: { errorSpanId: spanId(2) },
  },
];

const recovered: readonly (readonly [name: string, spans: readonly Span[]])[] = [
  [
    'a request in error and then one that succeeded',
    [
      answering,
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', ...quota }),
      modelSpan({ id: 3, parent: 1, start: 3, end: 4, user: 'q', says: 'a' }),
    ],
  ],
  [
    'a request in error and then one that succeeded, without content',
    [
      agentSpan({ id: 1, start: 0, end: 90 }),
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, ...quota }),
      modelSpan({ id: 3, parent: 1, start: 3, end: 4 }),
    ],
  ],
  [
    'a failed request for a title beside the answer',
    [
      answering,
      modelSpan({ id: 2, parent: 1, start: 1, end: 4, user: 'q', says: 'a' }),
      modelSpan({ id: 3, parent: 1, start: 2, end: 3, user: 'Name this conversation.', ...quota }),
    ],
  ],
  [
    'a failed request after which a tool ran',
    [
      answering,
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', ...quota }),
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, result: 'r' }),
    ],
  ],
  [
    'a failed request within a tool',
    [answering, toolSpan({ id: 2, parent: 1, start: 1, end: 4, result: 'r' }), modelSpan({ id: 3, parent: 2, start: 2, end: 3, ...quota })],
  ],
  [
    'an exception event on an agent span with the status OK',
    [agentSpan({ id: 1, status: 'ok', events: exception('asyncio.exceptions.CancelledError', '') })],
  ],
  ['an exception event on an agent span with an output', [agentSpan({ id: 1, output: 'a', events: exception('ValueError', 'retried') })]],
  [
    'an exception event on an agent span without output, when a request answered',
    [
      agentSpan({ id: 1, start: 0, end: 90, events: exception('ValueError', 'retried') }),
      modelSpan({ id: 2, parent: 1, start: 3, end: 4, user: 'q', says: 'a' }),
    ],
  ],
  [
    'the error of a tool on the spans around it, when the model answered it',
    [
      agentSpan({ id: 1, start: 0, end: 90, status: 'error', message: 'timeout for X-9', output: 'a' }),
      toolSpan({ id: 2, parent: 1, start: 1, end: 2, status: 'error', message: 'timeout for X-9' }),
      modelSpan({ id: 3, parent: 1, start: 3, end: 4, user: 'q', says: 'a', status: 'error', message: 'timeout for X-9' }),
    ],
  ],
  [
    'one of several choices that failed',
    [root, modelSpan({ id: 2, parent: 1, user: 'q', says: 'a', attributes: { 'gen_ai.response.finish_reasons': ['stop', 'error'] } })],
  ],
];

const interrupt = { status: 'error', message: "GraphInterrupt((Interrupt(value='ok?'),))" } as const;
const asking = modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', asks: [{ id: 'c', name: 'pay', arguments: { bill: 9 } }] });

const paused: readonly {
  readonly name: string;
  readonly spans: readonly Span[];
  /** Holds of the calls. */
  readonly holds: readonly (string | undefined)[];
  readonly answer?: string;
}[] = [
  {
    name: 'an interrupt within a tool, on the spans around it too',
    spans: [
      agentSpan({ id: 1, start: 0, end: 90, ...interrupt }),
      asking,
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, call: 'c', ...interrupt }),
    ],
    holds: ['waiting'],
  },
  {
    name: 'an interrupt that the spans around it repeat without a message',
    spans: [
      agentSpan({ id: 1, start: 0, end: 90, status: 'error' }),
      asking,
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, call: 'c', status: 'error', events: exception('GraphInterrupt', '') }),
    ],
    holds: ['waiting'],
  },
  {
    name: 'a deferred call without an exception',
    spans: [
      agentSpan({ id: 1, start: 0, end: 90 }),
      asking,
      toolSpan({
        id: 3,
        parent: 1,
        start: 3,
        end: 4,
        tool: 'pay',
        call: 'c',
        scope: 'pydantic-ai',
        attributes: { 'pydantic_ai.tool.deferral.name': 'ApprovalRequired' },
      }),
    ],
    holds: ['waiting'],
  },
  { name: 'an agent that ends while its call is open', spans: [root, asking], holds: ['waiting'] },
  {
    name: 'one of two calls that is open',
    spans: [
      root,
      modelSpan({
        id: 2,
        parent: 1,
        start: 1,
        end: 9,
        user: 'q',
        asks: [
          { id: 'a', name: 'look' },
          { id: 'c', name: 'pay' },
        ],
      }),
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, tool: 'look', call: 'a', result: 'r' }),
    ],
    holds: [undefined, 'waiting'],
  },
  {
    name: 'a state with interrupts, which is not an answer',
    spans: [agentSpan({ id: 1, output: '{"messages":[],"__interrupt__":[{"value":"ok?"}]}' })],
    holds: [],
  },
  {
    name: 'a reason of the agent’s message',
    spans: [
      agentSpan({
        id: 1,
        attributes: {
          'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"May I?"}],"finish_reason":"interrupt"}]',
        },
      }),
    ],
    holds: [],
    answer: 'May I?',
  },
  {
    name: 'a result that asks for confirmation',
    spans: [
      root,
      asking,
      toolSpan({
        id: 3,
        parent: 1,
        start: 3,
        end: 4,
        call: 'c',
        result: { error: 'This tool call requires confirmation, please approve or reject.' },
      }),
    ],
    holds: ['waiting'],
  },
];

const ended: readonly {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly holds: readonly (string | undefined)[];
}[] = [
  {
    name: 'an interrupt after which the call returned',
    spans: [
      answering,
      asking,
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, tool: 'pay', call: 'c', ...interrupt }),
      toolSpan({ id: 4, parent: 1, start: 5, end: 6, tool: 'pay', call: 'c', result: 'paid' }),
      modelSpan({ id: 5, parent: 1, start: 7, end: 8, user: 'q', told: [{ id: 'c', response: 'paid' }], says: 'a' }),
    ],
    holds: [undefined],
  },
  {
    name: 'a refused call',
    spans: [
      answering,
      asking,
      modelSpan({
        id: 3,
        parent: 1,
        start: 3,
        end: 4,
        user: 'q',
        told: [{ id: 'c', response: 'The user denied this tool call.' }],
        says: 'a',
      }),
    ],
    holds: ['refused'],
  },
  {
    name: 'a refused call that its message marks as an error',
    spans: [
      answering,
      asking,
      modelSpan({
        id: 3,
        parent: 1,
        start: 3,
        end: 4,
        user: 'q',
        told: [{ id: 'c', response: 'User rejected the tool call for `pay` with id c.', is_error: true }],
        says: 'a',
      }),
    ],
    holds: ['refused'],
  },
  {
    name: 'a command for the parent graph',
    spans: [
      answering,
      asking,
      toolSpan({
        id: 3,
        parent: 1,
        start: 3,
        end: 4,
        tool: 'pay',
        call: 'c',
        status: 'error',
        events: exception('langgraph.errors.ParentCommand', 'x'),
      }),
    ],
    holds: [undefined],
  },
  {
    name: 'an open call in one request without an agent',
    spans: [modelSpan({ id: 2, user: 'q', asks: [{ id: 'c', name: 'pay' }] })],
    holds: [undefined],
  },
  {
    name: 'an open call for the answer',
    spans: [root, modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'q', asks: [{ id: 'c', name: 'final_answer' }] })],
    holds: [],
  },
  {
    name: 'an open call of an agent with an answer',
    spans: [answering, asking],
    holds: [undefined],
  },
];

describe('run end', () => {
  test.each(paused)('run end: $name is a pause', ({ spans, holds, answer }) => {
    const { status, toolCalls = [], finalResponse } = assembled(spans)[0]?.trace ?? {};
    expect({
      status,
      holds: toolCalls.map(({ hold }) => hold),
      errors: toolCalls.flatMap(({ error }) => error ?? []),
      answer: finalResponse,
    }).toEqual({
      status: 'paused',
      holds,
      errors: [],
      answer,
    });
  });

  test.each(ended)('run end: $name is none', ({ spans, holds }) => {
    const { status, toolCalls = [] } = assembled(spans)[0]?.trace ?? {};
    expect({ status, holds: toolCalls.map(({ hold }) => hold), errors: toolCalls.flatMap(({ error }) => error ?? []) }).toEqual({
      status: 'ok',
      holds,
      errors: [],
    });
  });

  test('run end: another error beside a call that waits is an error', () => {
    const [run] = assembled([
      agentSpan({ id: 1, start: 0, end: 90, status: 'error', message: 'out of memory' }),
      asking,
      toolSpan({ id: 3, parent: 1, start: 3, end: 4, call: 'c', ...interrupt }),
    ]);
    expect(run?.trace).toMatchObject({ status: 'error', errorMessage: 'out of memory' });
  });

  test.each(failing)('run end: $name is an error', ({ spans, end }) => {
    expect(assembled(spans)[0]?.trace).toMatchObject({ status: 'error', ...end });
  });

  test.each(recovered)('run end: %s is ok', (_name, spans) => {
    const { status, errorMessage, errorSpanId } = assembled(spans)[0]?.trace ?? {};
    expect({ status, errorMessage, errorSpanId }).toEqual({ status: 'ok', errorMessage: undefined, errorSpanId: undefined });
  });

  test('run end: an error of the tool ends the run when nothing answers it', () => {
    const [run] = assembled([
      agentSpan({ id: 1, start: 0, end: 90, status: 'error', message: 'timeout for X-9' }),
      toolSpan({ id: 2, parent: 1, start: 1, end: 2, status: 'error', message: 'timeout for X-9' }),
    ]);
    expect(run?.trace).toMatchObject({ status: 'error', errorMessage: 'timeout for X-9' });
  });

  test('run end: the last request of an agent that took over fails both runs', () => {
    const runs = assembled([
      span({ id: 1, start: 0, end: 99, attributes: { 'acme.span.kind': 'workflow', 'acme.input': 'q' } }),
      agentSpan({ id: 2, parent: 1, start: 1, end: 9, agent: 'a' }),
      modelSpan({ id: 3, parent: 2, start: 2, end: 3, user: 'q', says: 'b takes over' }),
      span({ id: 4, parent: 2, start: 4, end: 5, attributes: { type: 'handoff', to_agent: 'b' } }),
      agentSpan({ id: 5, parent: 1, start: 10, end: 90, agent: 'b' }),
      modelSpan({ id: 6, parent: 5, start: 11, end: 12, user: 'q', ...quota }),
    ]);
    expect(runs.map(({ trace }) => [trace.agent, trace.status])).toEqual([
      ['a', 'error'],
      ['b', 'error'],
    ]);
  });
});
