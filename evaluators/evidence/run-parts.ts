/**
 * The parts of a run that a judge can be asked about one by one: tool calls, retrievals, sub-agents and model calls. Each part is a trace of
 * its own: what went in is its input, what came out its final response. So an evaluator of runs judges a part without knowing of it.
 */
import { noParts, type AgentTrace, type ToolCall, type TruncatedPart } from '../../src/model/agent-trace.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { jsonText, plainText, type JsonValue } from '../../src/model/json.ts';
import type { PartVerdict } from '../../src/model/verdict.ts';
import { callName, listedOf, quoted } from '../explain/explanation.ts';
import { fits, sameTool } from '../matching/names.ts';
import { conversationOf } from './conversation.ts';
import { cutShort, executedCalls, notCarried, skipped, type PlacedCall, type Skipped } from './calls.ts';

/** A name, or one of several; a star in it matches any characters. `true` matches any name. */
export type NamePattern = true | readonly string[];

/** A selection of parts of a run. */
export type PartsOn =
  | { readonly kind: 'tool'; readonly name: NamePattern }
  | { readonly kind: 'sub_agent'; readonly name: NamePattern }
  | { readonly kind: 'retriever' | 'model_call' };

export interface RunPart {
  readonly target: Omit<PartVerdict, 'score' | 'passed' | 'explanation'>;
  /** Name of the part in sentences. */
  readonly name: string;
  /** The part as a trace, or why nothing can be asked about it. */
  readonly subject: { readonly kind: 'trace'; readonly trace: AgentTrace } | Skipped;
}

/** The judge's instructions about the blocks before the question. */
export const partInstructions: { readonly [kind in PartsOn['kind']]: string } = {
  tool: 'The question is about one tool call within a run of an agent. The input is the arguments of the call, and the final response is what the tool returned.',
  retriever:
    'The question is about one retrieval within a run of an agent. The input is what was looked for, and the final response is the documents that were found.',
  sub_agent:
    'The question is about one piece of work that an agent gave to a sub-agent. The input is the task, and the final response is what the sub-agent returned.',
  model_call:
    'The question is about one answer of a model within a run of an agent. The input is what the model was given last, and the final response is its answer, with the tool calls that it asks for.',
};

/** Nouns for sentences, one and several. */
export const partNouns: { readonly [kind in PartsOn['kind']]: readonly [one: string, many: string] } = {
  tool: ['tool call', 'tool calls'],
  retriever: ['retrieval', 'retrievals'],
  sub_agent: ['sub-agent call', 'sub-agent calls'],
  model_call: ['model call', 'model calls'],
};

/** In order, at least one. */
export function partsOfRun(trace: AgentTrace, on: PartsOn): readonly RunPart[] | Skipped {
  switch (on.kind) {
    case 'tool':
      return toolParts(trace, on.name);
    case 'sub_agent':
      return subAgentParts(trace, on.name);
    case 'retriever':
      return retrievals(trace);
    case 'model_call':
      return modelCalls(trace);
  }
}

function matcher(pattern: NamePattern, isSame: (expected: string, found: string) => boolean): (name: string) => boolean {
  return (name) => pattern === true || pattern.some((one) => (one.includes('*') ? fits(one, name) : isSame(one, name)));
}

/** For sentences: the names that were looked for. */
function patternText(pattern: NamePattern): string {
  return pattern === true ? '' : ` ${listedOf(pattern, quoted, ' or ')}`;
}

function toolParts(trace: AgentTrace, pattern: NamePattern): readonly RunPart[] | Skipped {
  const isMeant = matcher(pattern, sameTool);
  const calls = executedCalls(trace).filter(({ call }) => isMeant(call.name));
  if (calls.length === 0)
    return notCarried(trace) ?? skipped('no_such_target', `No call of a tool${patternText(pattern)} ran in this run.`);
  return calls.map((placed) => callPart(trace, placed));
}

/** A failed call has its error as response. */
function callPart(trace: AgentTrace, placed: PlacedCall): RunPart {
  const { index, call } = placed;
  const { id, spanId, truncated } = call;
  const input = argumentsOf(call);
  const cutParts: readonly TruncatedPart[] = [
    ...(truncated?.arguments === undefined ? [] : ['input' as const]),
    ...(truncated?.result === undefined ? [] : ['final_response' as const]),
  ];
  const response = call.error === undefined ? (call.result ?? truncated?.result) : `failed: ${call.error.message}`;
  return {
    target: { index, tool: call.name, ...(id === undefined ? {} : { callId: id }), ...(spanId === undefined ? {} : { spanId }) },
    name: callName(placed),
    subject: {
      kind: 'trace',
      trace: {
        ...bare(trace),
        toolCalls: [call],
        toolDefinitions: trace.toolDefinitions.filter(({ name }) => sameTool(name, call.name)),
        ...(input === undefined ? {} : { input }),
        ...(response === undefined ? {} : { finalResponse: response }),
        ...(cutParts.length === 0 ? {} : { truncated: cutParts }),
      },
    },
  };
}

function argumentsOf({ arguments: sent, argumentsText, truncated }: ToolCall): string | undefined {
  if (sent !== undefined && sent !== null) return jsonText(sent);
  return argumentsText ?? truncated?.arguments;
}

/** A sub-agent that works as a tool consists of the calls of that tool. Another one has a separate run, whose content is not in this run. */
function subAgentParts(trace: AgentTrace, pattern: NamePattern): readonly RunPart[] | Skipped {
  const isMeant = matcher(pattern, (expected, found) => expected === found);
  const meant = trace.subAgents.filter(({ agent }) => (agent === undefined ? pattern === true : isMeant(agent)));
  if (meant.length === 0) return skipped('no_such_target', `No sub-agent${patternText(pattern)} worked in this run.`);
  const tools = new Set(meant.flatMap(({ via, viaTool }) => (via === 'tool' && viaTool !== undefined ? [viaTool] : [])));
  const calls = executedCalls(trace).filter(({ call }) => tools.has(call.name));
  const others = meant.filter(({ viaTool }) => viaTool === undefined || !calls.some(({ call }) => call.name === viaTool));
  return [
    ...calls.map((placed) => callPart(trace, placed)),
    ...others.map(({ agent, spanId }, at): RunPart => ({
      target: { of: 'sub_agent', index: at, tool: agent ?? '', spanId },
      name: `the sub-agent ${quoted(agent ?? '')}`,
      subject: skipped(
        'results_not_carried',
        `What the sub-agent ${quoted(agent ?? '')} was asked and answered is not in this run; an entry with when: { agent: … } scores its own run.`,
      ),
    })),
  ];
}

/** The documents of one span are one retrieval. The arguments of a tool call on that span are what was looked for, else the input of the run is. */
function retrievals(trace: AgentTrace): readonly RunPart[] | Skipped {
  const { documents, truncated = [] } = trace;
  if (documents.length === 0)
    return truncated.includes('spans')
      ? cutShort('requests to models, and perhaps documents,')
      : skipped('no_such_target', 'Nothing was retrieved in this run.');
  return [...Map.groupBy(documents, ({ spanId }) => spanId)].map(([spanId, found], at): RunPart => {
    const call = spanId === undefined ? undefined : trace.toolCalls.find((one) => one.spanId === spanId);
    const texts = found.flatMap(({ content }) => (content === undefined || content.trim() === '' ? [] : [content]));
    const input = (call === undefined ? undefined : argumentsOf(call)) ?? trace.input;
    const name = `retrieval ${at + 1}`;
    return {
      target: { of: 'retriever', index: at, tool: call?.name ?? '', ...(spanId === undefined ? {} : { spanId }) },
      name,
      subject:
        texts.length === 0
          ? skipped('results_not_carried', `The spans carry no content of the documents of ${name}; switch on the capture of documents.`)
          : {
              kind: 'trace',
              trace: {
                ...bare(trace),
                documents: found,
                finalResponse: texts.map((text, number) => `${number + 1}. ${text}`).join('\n'),
                ...(input === undefined ? {} : { input }),
                ...(call === undefined && truncated.includes('input') ? { truncated: ['input'] } : {}),
              },
            },
    };
  });
}

/**
 * The answers of the model after the last message of the user. When spans carry no messages, they are the turns of calls and the final response. A
 * span is known when there are as many model calls as answers.
 */
function modelCalls(trace: AgentTrace): readonly RunPart[] | Skipped {
  const messages = conversationOf(trace);
  const from = messages.findLastIndex(({ role }) => role === 'user');
  const places = messages.flatMap(({ role }, at) => (role === 'assistant' && at > from ? [at] : []));
  const calls = trace.modelCalls.filter(({ failed }) => failed !== true);
  const areTold = trace.messages !== undefined || calls.length === places.length || trace.toolCalls.every(({ turn }) => turn !== undefined);
  if (places.length === 0) return skipped('no_such_target', 'No answer of a model is in this run.');
  if (!areTold) return skipped('no_such_target', 'The spans do not show which model call asked for which tool calls.');
  return places.map((at, number): RunPart => {
    const own = calls.length === places.length ? calls[number] : undefined;
    const before = messages.slice(0, at);
    const lastAnswer = before.findLastIndex(({ role }) => role === 'assistant');
    const given = before
      .slice(lastAnswer + 1)
      .flatMap(({ role, text }) => (text === undefined || role === 'system' ? [] : [text]))
      .join('\n');
    const earlier = before.flatMap((message) => message.calls);
    const response = answerOf(trace, messages[at]?.text, messages[at]?.calls ?? []);
    return {
      target: { of: 'model_call', index: number, tool: own?.model ?? trace.model ?? '', ...spanOf(own?.spanId) },
      name: `model call ${number + 1}`,
      subject: {
        kind: 'trace',
        trace: {
          ...bare(trace),
          ...(trace.systemPrompt === undefined ? {} : { systemPrompt: trace.systemPrompt }),
          toolDefinitions: trace.toolDefinitions,
          documents: trace.documents,
          // The model's knowledge: the calls before its answer, with their results.
          toolCalls: earlier.flatMap((index) => trace.toolCalls[index] ?? []),
          messages: before.map((message) => ({ ...message, calls: message.calls.map((index) => earlier.indexOf(index)) })),
          ...(given.trim() === '' ? {} : { input: given }),
          ...(response === undefined ? {} : { finalResponse: response }),
        },
      },
    };
  });
}

function spanOf(spanId: SpanId | undefined): { readonly spanId?: SpanId } {
  return spanId === undefined ? {} : { spanId };
}

function answerOf(trace: AgentTrace, text: string | undefined, calls: readonly number[]): JsonValue | undefined {
  const asked = calls.flatMap((index) => trace.toolCalls[index] ?? []).map((call) => `calls ${call.name}(${argumentsOf(call) ?? ''})`);
  const all = [...(text === undefined || text.trim() === '' ? [] : [plainText(text)]), ...asked];
  return all.length === 0 ? undefined : all.join('\n');
}

/** The members that apply to every part of a run. Everything that is known only of the whole run is left out. */
function bare({ agent, model, sessionId }: AgentTrace): AgentTrace {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(sessionId === undefined ? {} : { sessionId }),
    status: 'ok',
    ...noParts,
    toolCallsCarried: true,
  };
}
