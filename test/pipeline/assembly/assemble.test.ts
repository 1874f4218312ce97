/** The content of a run: input, answer, status, models, definitions, and the parts that it still waits for. */
import { describe, expect, test } from 'vitest';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import type { LogRecord, Span } from '../../../src/model/span.ts';
import { assembled, onlyTrace } from '../../builders/assembled.ts';
import { agentSpan, assistant, choiceRecord, modelSpan, modelSpanWithRecords, toolSpan, user } from '../../builders/gen-ai-spans.ts';
import { record, span } from '../../builders/spans.ts';

const root = agentSpan({ id: 1, start: 0, end: 1_000, agent: 'a' });
const tokens = (input: number, output: number): { readonly [key: string]: number } => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});

interface Case {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly records?: readonly LogRecord[];
  readonly trace: Partial<AgentTrace>;
  /** Members that must not be there. */
  readonly without?: readonly (keyof AgentTrace)[];
}

const cases: readonly Case[] = [
  {
    name: 'the agent’s own words are its input and answer',
    spans: [agentSpan({ id: 1, input: 'q', output: 'a' }), modelSpan({ id: 2, parent: 1, user: 'other', says: 'other' })],
    trace: { input: 'q', finalResponse: 'a' },
  },
  {
    name: 'else the user’s last message to the first model and the last text of the last model',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, history: [user('old'), assistant({ text: 'old' }), user('q')], says: 'thinking' }),
      modelSpan({ id: 3, parent: 1, user: 'q', says: 'a' }),
    ],
    trace: { input: 'q', finalResponse: 'a' },
  },
  {
    name: 'of one request whose messages were written down when the run had gone on, the last one is the answer',
    spans: [
      root,
      modelSpan({
        id: 2,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [{ id: 'c', name: 'f' }] }), assistant({ text: 'a' })],
        asks: [{ id: 'c', name: 'f' }],
      }),
    ],
    trace: { input: 'q', finalResponse: 'a' },
  },
  {
    name: 'a model that only asks for tools gives no answer',
    spans: [
      agentSpan({ id: 1, status: 'error', message: 'gone' }),
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [{ id: 'c', name: 'f' }] }),
    ],
    trace: { status: 'error', errorMessage: 'gone' },
    without: ['finalResponse'],
  },
  {
    name: 'the system prompt comes from the agent, else from the first request',
    spans: [root, modelSpan({ id: 2, parent: 1, history: [{ role: 'system', parts: [{ type: 'text', content: 'be kind' }] }, user('q')] })],
    trace: { systemPrompt: 'be kind', input: 'q' },
  },
  ...(
    [
      ['goes whole to the model, behind the agent’s name', 'You are desk. Be kind.\nBe quick.', 'You are desk. Be kind.\nBe quick.'],
      ['stands before what a framework appends', 'Be kind.\nYou are desk.', 'Be kind.'],
      ['is in a frame that does not name the agent', 'You supervise others. Be kind.', 'Be kind.'],
    ] as const
  ).map(([what, asked, systemPrompt]): Case => ({
    name: `a system prompt of an agent’s span ${what}`,
    spans: [
      agentSpan({ id: 1, agent: 'desk', attributes: { 'gen_ai.system_instructions': [{ type: 'text', content: 'Be kind.' }] } }),
      modelSpan({ id: 2, parent: 1, history: [{ role: 'system', parts: [{ type: 'text', content: asked }] }, user('q')] }),
    ],
    trace: { systemPrompt },
  })),
  ...(
    [
      ['the first question of the conversation, is not the one that this run answers', ['q', 'a1', 'q2'], 'a2', 'q2'],
      ['the last question, stays', ['q0', 'a1', 'q'], 'a2', 'q'],
      ['a question that the request does not have, stays', ['q0', 'a1', 'q2'], 'a2', 'q'],
      ['a question whose answer the request has already, stays', ['q', 'a1', 'q2'], 'a1', 'q'],
    ] as const
  ).map(([what, [first, answer, last], output, input]): Case => ({
    name: `the input of an agent’s span that is ${what}`,
    spans: [
      agentSpan({ id: 1, input: 'q', output }),
      modelSpan({ id: 2, parent: 1, history: [user(first), assistant({ text: answer }), user(last)], says: output }),
    ],
    trace: { input, finalResponse: output },
  })),
  {
    name: 'tokens are added over model spans only',
    spans: [
      agentSpan({ id: 1, attributes: tokens(999, 999) }),
      modelSpan({ id: 2, parent: 1, attributes: tokens(10, 1) }),
      modelSpan({ id: 3, parent: 1, attributes: tokens(20, 2) }),
    ],
    trace: { tokens: { input: 30, output: 3 } },
  },
  {
    name: 'the sum on the agent’s span counts where one span covers a whole loop of requests',
    spans: [
      agentSpan({ id: 1, start: 0, end: 100, attributes: tokens(744, 87) }),
      modelSpan({ id: 2, parent: 1, start: 10, end: 90, attributes: tokens(285, 35) }),
      toolSpan({ id: 3, parent: 1, start: 40, end: 50 }),
    ],
    trace: { tokens: { input: 744, output: 87 } },
  },
  {
    name: 'the sum on the agent’s span does not count where no tool ran during the request',
    spans: [
      agentSpan({ id: 1, start: 0, end: 100, attributes: tokens(744, 87) }),
      modelSpan({ id: 2, parent: 1, start: 10, end: 30, attributes: tokens(285, 35) }),
      toolSpan({ id: 3, parent: 1, start: 40, end: 50 }),
    ],
    trace: { tokens: { input: 285, output: 35 } },
  },
  {
    name: 'without any token count there are no tokens, which is not zero',
    spans: [root, modelSpan({ id: 2, parent: 1 })],
    trace: { model: 'm' },
    without: ['tokens'],
  },
  {
    name: 'two spans of one response beside one another are one request, with the numbers of the one nearer to the API',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, end: 90, scope: 'a', says: 'a', attributes: { ...tokens(10, 2), 'gen_ai.response.id': 'r1' } }),
      modelSpan({ id: 3, parent: 1, end: 80, scope: 'b', attributes: { ...tokens(10, 1), 'gen_ai.response.id': 'r1' } }),
    ],
    trace: { tokens: { input: 10, output: 1 }, finalResponse: 'a' },
  },
  {
    name: 'two spans of two responses are two requests',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, end: 90, scope: 'a', says: 'a', attributes: { ...tokens(10, 2), 'gen_ai.response.id': 'r1' } }),
      modelSpan({ id: 3, parent: 1, end: 80, scope: 'b', attributes: { ...tokens(10, 1), 'gen_ai.response.id': 'r2' } }),
    ],
    trace: { tokens: { input: 20, output: 3 } },
  },
  {
    name: 'one model span inside another is one request reported twice',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, end: 90, attributes: tokens(10, 1) }),
      span({ id: 3, parent: 2 }),
      modelSpan({ id: 4, parent: 3, says: 'a', attributes: tokens(10, 1) }),
    ],
    trace: {
      tokens: { input: 10, output: 1 },
      finalResponse: 'a',
      modelCalls: [expect.objectContaining({ spanId: span({ id: 2 }).spanId })] as never,
    },
  },
  {
    name: 'several model spans inside another are the requests of a loop',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, end: 90, attributes: tokens(30, 3) }),
      modelSpan({ id: 3, parent: 2, attributes: tokens(10, 1) }),
      modelSpan({ id: 4, parent: 2, attributes: tokens(20, 2) }),
    ],
    trace: { tokens: { input: 30, output: 3 } },
  },
  {
    name: 'the requests of a loop whose span is the only one with the model and the tokens',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, end: 90, attributes: { 'gen_ai.request.model': 'large', ...tokens(30, 3) } }),
      span({ id: 3, parent: 2, attributes: { 'gen_ai.operation.name': 'chat' } }),
      span({ id: 4, parent: 2, attributes: { 'gen_ai.operation.name': 'chat' } }),
    ],
    trace: {
      model: 'large',
      tokens: { input: 30, output: 3 },
      modelCalls: [
        expect.objectContaining({ spanId: span({ id: 3 }).spanId, model: 'large' }),
        expect.objectContaining({ spanId: span({ id: 4 }).spanId, model: 'large' }),
      ] as never,
    },
  },
  {
    name: 'a step with the kind of a request, beside requests that were answered, is none',
    spans: [
      root,
      span({ id: 2, parent: 1, attributes: { 'acme.span.kind': 'llm', 'acme.model': 'm', 'acme.tools': '["<Tool object>"]' } }),
      modelSpan({ id: 3, parent: 1, says: 'a', attributes: tokens(10, 1) }),
    ],
    trace: { modelCalls: [expect.objectContaining({ spanId: span({ id: 3 }).spanId })] as never },
  },
  {
    name: 'a request that leaves one span as it begins and another as it ends',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, user: 'q' }),
      modelSpan({ id: 3, parent: 1, user: 'q', says: 'a', attributes: tokens(10, 1) }),
    ],
    trace: {
      tokens: { input: 10, output: 1 },
      finalResponse: 'a',
      modelCalls: [expect.objectContaining({ spanId: span({ id: 2 }).spanId, inputTokens: 10 })] as never,
    },
  },
  {
    name: 'a failed request and the one that repeats it are two',
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, user: 'q', status: 'error' }),
      modelSpan({ id: 3, parent: 1, user: 'q', says: 'a', attributes: tokens(10, 1) }),
    ],
    trace: {
      modelCalls: [
        expect.objectContaining({ spanId: span({ id: 2 }).spanId }),
        expect.objectContaining({ spanId: span({ id: 3 }).spanId }),
      ] as never,
    },
  },
  {
    name: 'a step with the calls of a request gives the model where the request does not',
    spans: [
      root,
      span({ id: 2, parent: 1, attributes: { 'pydantic_ai.node.type': 'ModelRequestNode' } }),
      span({
        id: 3,
        parent: 1,
        attributes: {
          'pydantic_ai.node.type': 'CallToolsNode',
          'pydantic_ai.response.model_name': 'm',
          'pydantic_ai.response.parts.0.type': 'ToolCallPart',
          'pydantic_ai.response.parts.0.tool_name': 'f',
        },
      }),
    ],
    trace: { model: 'm', modelCalls: [expect.objectContaining({ spanId: span({ id: 2 }).spanId })] as never },
  },
  ...(
    [
      ['text', 'a', 'a'],
      ['json', 'a', undefined],
    ] as const
  ).map(([type, output, finalResponse]): Case => ({
    name: `an answer in words under a separate key, whose type is ${type}`,
    spans: [
      root,
      modelSpan({ id: 2, parent: 1, user: 'q', attributes: { ...tokens(10, 1), 'acme.output': output, 'acme.output.type': type } }),
    ],
    trace: { input: 'q', ...(finalResponse === undefined ? {} : { finalResponse }) },
    ...(finalResponse === undefined ? { without: ['finalResponse'] } : {}),
  })),
  {
    name: 'a request without any further data counts where there is no other',
    spans: [root, span({ id: 2, parent: 1, attributes: { 'acme.span.kind': 'llm', 'acme.model': 'm' } })],
    trace: { model: 'm', modelCalls: [expect.objectContaining({ spanId: span({ id: 2 }).spanId })] as never },
  },
  {
    name: 'definitions of all spans are united, and those of tool spans fill in',
    spans: [
      agentSpan({ id: 1, attributes: { 'gen_ai.tool.definitions': '["f","g"]' } }),
      modelSpan({
        id: 2,
        parent: 1,
        attributes: { 'gen_ai.tool.definitions': '[{"type":"function","name":"f","description":"does f","parameters":{"type":"object"}}]' },
      }),
      toolSpan({ id: 3, parent: 1, tool: 'h', attributes: { 'gen_ai.tool.description': 'does h' } }),
    ],
    trace: {
      toolDefinitions: [
        { name: 'f', description: 'does f', inputSchema: { type: 'object' } },
        { name: 'g' },
        { name: 'h', description: 'does h' },
      ],
    },
  },
  {
    name: 'reasoning is kept apart from the answer',
    spans: [
      root,
      modelSpan({
        id: 2,
        parent: 1,
        attributes: {
          'gen_ai.output.messages': [
            {
              role: 'assistant',
              parts: [
                { type: 'reasoning', content: 'hm' },
                { type: 'text', content: 'a' },
              ],
            },
          ],
        },
      }),
    ],
    trace: { reasoningSteps: ['hm'], finalResponse: 'a' },
  },
  {
    name: 'a dialect that carries no messages carries no tool calls',
    spans: [root, modelSpan({ id: 2, parent: 1 })],
    trace: { toolCalls: [], toolCallsCarried: false },
  },
  {
    name: 'a model that answers without tools made no call, and that is carried',
    spans: [root, modelSpan({ id: 2, parent: 1, says: 'a' })],
    trace: { toolCalls: [], toolCallsCarried: true },
  },
  {
    name: 'messages in log records are read in order of time, however they arrive',
    spans: [root, modelSpanWithRecords({ id: 2, parent: 1 })],
    records: [
      choiceRecord({ span: 2, time: 3, text: 'a' }),
      record({ span: 2, time: 2, event: 'gen_ai.user.message', body: { content: 'q' } }),
      record({ span: 2, time: 1, event: 'gen_ai.user.message', body: { content: 'before' } }),
    ],
    trace: { input: 'q', finalResponse: 'a' },
  },
  {
    name: 'a span that speaks two dialects is read by both, and the more specific one counts',
    spans: [
      agentSpan({
        id: 1,
        agent: 'of gen_ai',
        output: 'of gen_ai',
        attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': 'of openinference', 'session.id': 's' },
      }),
    ],
    trace: { agent: 'of openinference', finalResponse: 'of gen_ai', sessionId: 's' },
  },
  {
    name: 'the session may be on any span of the run',
    spans: [root, toolSpan({ id: 2, parent: 1, attributes: { 'gen_ai.conversation.id': 's' } })],
    trace: { sessionId: 's' },
  },
  ...['user.id', 'enduser.id', 'langfuse.user.id', 'ai.telemetry.metadata.userId', 'traceloop.association.properties.user_id'].map(
    (key): Case => ({
      name: `the user is read from ${key} on the agent’s span`,
      spans: [agentSpan({ id: 1, agent: 'a', attributes: { [key]: 'u-1' } })],
      trace: { userId: 'u-1' },
    }),
  ),
  {
    name: 'the user is read from a number, and from a span around the agent',
    spans: [span({ id: 9, name: 'POST /chat', attributes: { 'enduser.id': 42n } }), agentSpan({ id: 1, parent: 9, agent: 'a' })],
    trace: { userId: '42' },
  },
  {
    name: 'the user is read from the first request to a model where the agent’s span has none',
    spans: [root, modelSpan({ id: 2, parent: 1, attributes: { 'user.id': 'u-1' } })],
    trace: { userId: 'u-1' },
  },
  {
    name: 'neither a text that languages write for a missing value nor an argument of a tool is the user',
    spans: [
      agentSpan({ id: 1, agent: 'a', attributes: { 'user.id': 'None' } }),
      toolSpan({ id: 2, parent: 1, attributes: { 'user.id': 'of the call' } }),
    ],
    trace: { agent: 'a' },
    without: ['userId'],
  },
];

describe('assemble', () => {
  for (const { name, spans, records, trace, without } of cases) {
    test(`assemble: ${name}`, () => {
      const found = onlyTrace(spans, records);
      expect(found).toMatchObject(trace);
      for (const key of without ?? []) expect(found).not.toHaveProperty(key);
    });
  }

  test.each([
    ['does not count where it may hold what a sub-agent used', tokens(744, 87), tokens(100, 10), { input: 285, output: 35 }],
    ['counts where it is less than both used together', tokens(744, 87), tokens(500, 60), { input: 744, output: 87 }],
  ])('assemble: over a loop of requests, the sum on the span of an agent with a sub-agent %s', (_name, sum, below, expected) => {
    const [run] = assembled([
      agentSpan({ id: 1, start: 0, end: 100, attributes: sum }),
      modelSpan({ id: 2, parent: 1, start: 10, end: 90, attributes: tokens(285, 35) }),
      toolSpan({ id: 3, parent: 1, start: 40, end: 50 }),
      agentSpan({ id: 4, parent: 3, start: 41, end: 49, agent: 'other' }),
      modelSpan({ id: 5, parent: 4, start: 42, end: 48, attributes: below }),
    ]);
    expect(run?.trace.tokens).toEqual(expected);
  });

  const waiting: readonly {
    readonly name: string;
    readonly spans: readonly Span[];
    readonly waitsFor: readonly string[];
    readonly rootArrived?: boolean;
    readonly parentMissing?: boolean;
  }[] = [
    { name: 'a run whose spans are all there waits for nothing', spans: [root, toolSpan({ id: 2, parent: 1 })], waitsFor: [] },
    {
      name: 'a call without an answer is waited for',
      spans: [root, modelSpan({ id: 2, parent: 1, asks: [{ id: 'c', name: 'f' }] })],
      waitsFor: ['tool_results'],
    },
    { name: 'content in log records is waited for', spans: [root, modelSpanWithRecords({ id: 2, parent: 1 })], waitsFor: ['log_records'] },
    {
      name: 'a stray that began while the agent worked is waited for',
      spans: [root, toolSpan({ id: 3, parent: 9, start: 1_000 })],
      waitsFor: ['parent_spans'],
    },
    {
      name: 'a stray that began after the agent had ended is not',
      spans: [root, toolSpan({ id: 3, parent: 9, start: 1_001 })],
      waitsFor: [],
    },
    {
      name: 'an agent whose own parent is missing does not wait for itself',
      spans: [agentSpan({ id: 2, parent: 9 }), toolSpan({ id: 3, parent: 2 })],
      waitsFor: [],
      parentMissing: true,
    },
    {
      name: 'an agent below a span whose parent is missing may still turn out to work for another',
      spans: [span({ id: 2, parent: 9 }), agentSpan({ id: 3, parent: 2 })],
      waitsFor: [],
      parentMissing: true,
    },
    {
      name: 'strays without an agent wait for their parent',
      spans: [toolSpan({ id: 3, parent: 9 })],
      waitsFor: ['parent_spans'],
      rootArrived: false,
    },
    {
      name: 'a root that only replaces another has not arrived while its parent is missing',
      spans: [span({ id: 2, parent: 9 }), toolSpan({ id: 3, parent: 2 })],
      waitsFor: [],
      rootArrived: false,
      parentMissing: true,
    },
  ];
  for (const { name, spans, waitsFor, rootArrived = true, parentMissing = false } of waiting) {
    test(`assemble: ${name}`, () => {
      expect(assembled(spans)[0]).toMatchObject({ waitsFor, rootArrived, parentMissing });
    });
  }

  const read: readonly (readonly [name: string, spans: Parameters<typeof assembled>[0], want: object | undefined])[] = [
    [
      'read by evidence',
      [
        span({ id: 1, attributes: { 'acme.span.kind': 'agent', 'acme.agent.name': 'a', 'acme.input': 'q', 'acme.output.text': 'x' } }),
        span({ id: 2, parent: 1, attributes: { 'acme.tool.name': 't', 'acme.tool.args': '{}' } }),
        span({ id: 3, parent: 1, attributes: { 'acme.span.kind': 'tool', 'acme.tool.name': 't', args: '{}' } }),
      ],
      { agent: 'kind_and_key', input: 'ending', final_response: 'kind_and_key', tool_calls: 'ending' },
    ],
    [
      'read by a convention',
      [agentSpan({ id: 1, agent: 'a', input: 'q', output: 'x' }), toolSpan({ id: 2, parent: 1, result: 'r' })],
      undefined,
    ],
    [
      'with one tool that only evidence shows',
      [agentSpan({ id: 1, agent: 'a' }), span({ id: 2, parent: 1, attributes: { 'acme.tool_name': 't' } })],
      { tool_calls: 'key' },
    ],
  ];
  for (const [name, spans, want] of read)
    test(`assemble: the evidence of a run ${name}`, () => {
      expect(assembled(spans)[0]?.evidence?.fields).toEqual(want);
    });

  test('assemble: for agents that hand over inside a frame the frame has the input, and the last model the answer', () => {
    const [run, other] = assembled([
      span({ id: 1, attributes: { 'acme.span.kind': 'workflow', 'acme.input': 'q' } }),
      agentSpan({ id: 2, parent: 1, agent: 'a', input: 'Context: q', output: 'b takes over' }),
      span({ id: 3, parent: 2, attributes: { type: 'handoff', to_agent: 'b' } }),
      agentSpan({ id: 4, parent: 1, agent: 'b' }),
      modelSpan({ id: 5, parent: 4, user: 'Context: q', says: 'done' }),
    ]);
    expect([run?.trace.agent, run?.trace.input, run?.trace.finalResponse]).toEqual(['a', 'q', 'done']);
    expect(other?.parent).toEqual(run?.key);
  });
});

test.each([1, 2])('assemble: an agent and its sub-agent have one user, on the span of agent %i', (named) => {
  const user = (id: number): { readonly [key: string]: string } => (id === named ? { 'user.id': 'u-1' } : {});
  const spans = [agentSpan({ id: 1, agent: 'a', attributes: user(1) }), agentSpan({ id: 2, parent: 1, agent: 'sub', attributes: user(2) })];
  expect(assembled(spans).map(({ trace: { agent, userId } }) => [agent, userId])).toEqual([
    ['a', 'u-1'],
    ['sub', 'u-1'],
  ]);
});
