/** Spans of whole runs from their story: the pages must show what a test has sent. */
import type { AttributeValue, Span } from '../../../../src/model/span.ts';
import { agentSpan, modelSpan, toolSpan } from '../../../builders/gen-ai-spans.ts';
import type { Attributes } from '../../../builders/spans.ts';

export interface CallStory {
  readonly tool: string;
  readonly arguments: AttributeValue;
  readonly result?: AttributeValue;
  /** The call fails with this message. */
  readonly error?: string;
  readonly ms?: number;
  /** The tool is a sub-agent. */
  readonly by?: RunStory;
}

export interface RunStory {
  readonly agent: string;
  readonly input: string;
  /** Left out: the run broke off. */
  readonly answer?: string;
  /** Calls of one turn begin at the same time. */
  readonly turns?: readonly (readonly CallStory[])[];
  readonly service?: string;
  readonly version?: string;
  readonly model?: string;
  readonly session?: string;
  readonly tools?: readonly object[];
  /** The model of each call. */
  readonly tokens?: { readonly input: number; readonly output: number };
  readonly attributes?: Attributes;
  readonly resource?: Attributes;
}

/** US dollars. */
export const pricePerMillion = { input: 1, output: 2 } as const;
const tokensDefault = { input: 100, output: 20 } as const;
const modelMs = 800;
const callMs = 200;
const edgeMs = 20;

/** `trace` makes the ids, so it differs between runs; `startMs` is Unix time. */
export function spansOfStory(story: RunStory, { trace, startMs }: { readonly trace: number; readonly startMs: number }): readonly Span[] {
  let ids = 0;
  const nextId = (): number => ++ids;
  const resource: Attributes = {
    'service.name': story.service ?? `${story.agent}-service`,
    ...(story.version === undefined ? {} : { 'service.version': story.version }),
    ...story.resource,
  };
  return spansOf(story, { trace, startMs, resource, nextId, parent: undefined }).spans;
}

interface Place {
  readonly trace: number;
  readonly startMs: number;
  readonly resource: Attributes;
  readonly nextId: () => number;
  readonly parent: number | undefined;
}

interface Made {
  readonly spans: readonly Span[];
  readonly endMs: number;
}

function spansOf(story: RunStory, { trace, startMs, resource, nextId, parent }: Place): Made {
  const root = nextId();
  const spans: Span[] = [];
  let at = startMs + edgeMs;
  const base = { trace, resource, parent: root } as const;
  const usage = {
    'gen_ai.request.model': story.model ?? 'gpt-5-mini',
    'gen_ai.usage.input_tokens': (story.tokens ?? tokensDefault).input,
    'gen_ai.usage.output_tokens': (story.tokens ?? tokensDefault).output,
  };
  for (const calls of story.turns ?? []) {
    const named = calls.map((call, nth) => ({ call, id: `call_${trace}_${root}_${spans.length}_${nth}` }));
    spans.push(
      modelSpan({
        ...base,
        id: nextId(),
        name: `chat ${usage['gen_ai.request.model']}`,
        kind: 3,
        start: at,
        end: at + modelMs,
        user: story.input,
        asks: named.map(({ call, id }) => ({ id, name: call.tool, arguments: call.arguments })),
        attributes: usage,
      }),
    );
    at += modelMs;
    let turnEndMs = at;
    for (const { call, id } of named) {
      const made = callSpans(call, id, { ...base, startMs: at, nextId });
      spans.push(...made.spans);
      turnEndMs = Math.max(turnEndMs, made.endMs);
    }
    at = turnEndMs + edgeMs;
  }
  if (story.answer !== undefined) {
    spans.push(
      modelSpan({
        ...base,
        id: nextId(),
        name: `chat ${usage['gen_ai.request.model']}`,
        kind: 3,
        start: at,
        end: at + modelMs,
        user: story.input,
        says: story.answer,
        attributes: usage,
      }),
    );
    at += modelMs;
  }
  const endMs = at + edgeMs;
  spans.push(
    agentSpan({
      id: root,
      parent,
      trace,
      resource,
      name: `invoke_agent ${story.agent}`,
      start: startMs,
      end: endMs,
      agent: story.agent,
      input: story.input,
      ...(story.answer === undefined ? { status: 'error', message: 'the worker was killed' } : { output: story.answer }),
      attributes: {
        ...(story.session === undefined ? {} : { 'gen_ai.conversation.id': story.session }),
        ...(story.tools === undefined ? {} : { 'gen_ai.tool.definitions': JSON.stringify(story.tools) }),
        ...story.attributes,
      },
    }),
  );
  return { spans, endMs };
}

function callSpans(call: CallStory, callId: string, place: Place): Made {
  const { trace, resource, parent, startMs, nextId } = place;
  const id = nextId();
  const inner = call.by === undefined ? undefined : spansOf(call.by, { ...place, startMs: startMs + edgeMs / 2, parent: id });
  const endMs = inner === undefined ? startMs + (call.ms ?? callMs) : inner.endMs + edgeMs / 2;
  const tool = toolSpan({
    id,
    parent,
    trace,
    resource,
    name: `execute_tool ${call.tool}`,
    start: startMs,
    end: endMs,
    tool: call.tool,
    call: callId,
    arguments: call.arguments,
    ...(call.result === undefined ? {} : { result: call.result }),
    ...(call.error === undefined
      ? {}
      : {
          status: 'error',
          message: call.error,
          events: [{ name: 'exception', attributes: { 'exception.type': 'ToolError', 'exception.message': call.error } }],
        }),
  });
  return { spans: [...(inner?.spans ?? []), tool], endMs };
}

/** Duration of the run of a story. */
export function secondsOf(story: RunStory): number {
  const root = spansOfStory(story, { trace: 1, startMs: 0 }).find(({ parentSpanId }) => parentSpanId === undefined);
  if (root === undefined) throw new Error('a story without a root');
  return Number(root.endUnixNano - root.startUnixNano) / 1e9;
}

/** US dollars of the run with its sub-agents, at the price that the configuration of the world gives to all its models. */
export function costOf({ turns = [], answer, tokens = tokensDefault }: RunStory): number {
  const calls = turns.length + (answer === undefined ? 0 : 1);
  const inner = turns.flat().reduce((sum, { by }) => sum + (by === undefined ? 0 : costOf(by)), 0);
  return (calls * (tokens.input * pricePerMillion.input + tokens.output * pricePerMillion.output)) / 1e6 + inner;
}
