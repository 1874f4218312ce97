/** How a run ended, by its own spans: the agent's span, its frames, the last request to a model, and calls that wait. */
import { lastText } from '../../../collectors/parsing/messages.ts';
import { isAnswerTool } from '../../../collectors/parsing/tool-classes.ts';
import type { AgentTrace, ToolCall, ToolError } from '../../model/agent-trace.ts';
import { controlFlowOf, statesPause } from '../../model/control-flow.ts';
import { type JsonValue, plainText } from '../../model/json.ts';
import type { Mutable } from '../../model/mutable.ts';
import type { AgentScope } from './agent-scopes.ts';
import { failureOf, statesFailure } from './failures.ts';
import { errorOf, isPhrase } from './span-facts.ts';
import type { Node } from './span-tree.ts';

interface RunSpans {
  readonly scope: AgentScope;
  /** The agent's span and its frames. */
  readonly outer: readonly Node[];
  readonly own: readonly Node[];
  /** Requests to models, by start time. */
  readonly models: readonly Node[];
  /** The last request, also of an agent that this one handed over to. */
  readonly lastModel: Node | undefined;
  readonly calls: readonly ToolCall[];
  readonly response: JsonValue | undefined;
}

export type RunEnd = Pick<AgentTrace, 'status' | 'errorMessage' | 'errorType' | 'errorSpanId'>;

/**
 * An agent span in error decides, with or without output, and so does its exception where the run has no response. Otherwise a last request that
 * failed does, unless the run went on without it.
 */
export function runEnd(spans: RunSpans): RunEnd {
  const failed =
    spans.outer.find((node) => (statesFailure(node) || spans.response === undefined) && isFailed(node, spans)) ?? failedRequest(spans);
  const failure = failed === undefined ? undefined : failureOf(failed);
  if (failed === undefined || failure === undefined) return { status: isPaused(spans) ? 'paused' : 'ok' };
  const end: Mutable<RunEnd> = { status: 'error', errorSpanId: failed.span.spanId };
  const type = failure.type ?? causeOf(spans)?.type;
  const message = withoutClass(messageOf(failed, failure, spans), type);
  if (message !== '') end.errorMessage = message;
  if (type !== undefined) end.errorType = type;
  return end;
}

/** SDKs write the class before the message of a span's status too, with or without its module: `ValueError: no city`. */
function withoutClass(message: string, type = ''): string {
  const name = [type, type.slice(type.lastIndexOf('.') + 1)].find((one) => one !== '' && message.startsWith(`${one}: `));
  return name === undefined ? message : message.slice(name.length + 2);
}

function isFailed(node: Node, spans: RunSpans): boolean {
  const failure = failureOf(node);
  return failure !== undefined && controlFlowOf(failure) === undefined && !isPassedOn(node, failure, spans);
}

/**
 * Some instrumentations repeat the error of a tool on the spans around it and on later requests, though the model answered it. Control flow
 * marks the spans around it as failed, in some dialects without a message.
 */
function isPassedOn(node: Node, failure: ToolError, { own, scope, models }: RunSpans): boolean {
  const message = failure.message.trim();
  const others = [...own, ...scope.subAgents.flatMap((sub) => sub.node ?? [])].filter((other) => other !== node && !isModel(other));
  if (message === '') return failure.type === undefined && others.some((other) => isFlow(errorOf(other.span, other.reading.facts.tool)));
  const cause = others.find((other) => errorOf(other.span, other.reading.facts.tool)?.message.trim() === message);
  return cause !== undefined && models.some((model) => model.span.startUnixNano >= cause.span.endUnixNano && textOf(model) !== undefined);
}

function isFlow(error: ToolError | undefined): boolean {
  return error !== undefined && controlFlowOf(error) !== undefined;
}

function isModel({ reading: { facts } }: Node): boolean {
  return facts.role === 'model';
}

function textOf({ reading: { facts } }: Node): string | undefined {
  const text = lastText(facts.outputMessages ?? [], 'assistant')?.trim();
  return text === '' ? undefined : text;
}

/** The last request, when it failed and neither later work nor the answer of another request shows that the run went on. */
function failedRequest(spans: RunSpans): Node | undefined {
  const last = lastRequest(spans);
  if (last === undefined || !isFailed(last, spans)) return undefined;
  return wentOn(spans, last) || isAnsweredBy(spans) ? undefined : last;
}

/** A failed request that a tool sends to a model fails the tool. */
function lastRequest({ models, lastModel }: RunSpans): Node | undefined {
  return lastModel !== undefined && !models.includes(lastModel) ? lastModel : models.findLast((node) => !isInsideTool(node));
}

function isInsideTool({ parent }: Node): boolean {
  for (let at = parent; at !== undefined; at = at.parent) {
    const { role } = at.reading.facts;
    if (role === 'tool') return true;
    if (role === 'agent' || role === 'workflow') return false;
  }
  return false;
}

/** True when a tool, a retrieval or a sub-agent began after the end of the request. */
function wentOn({ own, scope }: RunSpans, { span: { startUnixNano, endUnixNano } }: Node): boolean {
  const since = endUnixNano < startUnixNano ? startUnixNano : endUnixNano;
  const isLater = (node: Node | undefined): boolean => node !== undefined && node.span.startUnixNano >= since;
  return own.some((node) => isWork(node) && isLater(node)) || scope.subAgents.some(({ node }) => isLater(node));
}

function isWork({ reading: { facts } }: Node): boolean {
  return facts.role === 'tool' || facts.role === 'retriever';
}

/** True when the response holds the answer of a request that succeeded, such as one beside a failed one. */
function isAnsweredBy({ models, response }: RunSpans): boolean {
  if (response === undefined) return false;
  const text = plainText(response);
  return models.some((node) => {
    const answer = failureOf(node) === undefined ? textOf(node) : undefined;
    return answer !== undefined && text.includes(answer) && requestsOf(node).length === 0;
  });
}

function requestsOf({ reading: { facts } }: Node): readonly { readonly name: string }[] {
  return facts.outputMessages?.at(-1)?.requested ?? [];
}

/** The message of the failed request replaces a generic phrase. */
function messageOf({ span }: Node, failure: ToolError, spans: RunSpans): string {
  const texts = [span.status.message, failure.message, causeOf(spans)?.message ?? ''];
  return texts.find((text) => !isPhrase(text)) ?? texts.find((text) => text !== '') ?? '';
}

function causeOf(spans: RunSpans): ToolError | undefined {
  const last = lastRequest(spans);
  return last === undefined ? undefined : failureOf(last);
}

function isPaused(spans: RunSpans): boolean {
  const { outer, response } = spans;
  const isStated = outer.some((node) => {
    const failure = failureOf(node);
    return node.reading.facts.waits === true || (failure !== undefined && controlFlowOf(failure) === 'waiting');
  });
  return isStated || statesPause(response) || holdsCall(spans) || endsWithOpenCall(spans);
}

/** A call waits, and no model was asked after it. */
function holdsCall({ calls, models }: RunSpans): boolean {
  const waiting = calls.findLast(({ hold }) => hold === 'waiting');
  return waiting !== undefined && !models.some(({ span }) => span.startUnixNano >= (waiting.endUnixNano ?? 0n));
}

/**
 * The agent ended in good order while calls of its last request had not run: another process runs them, or a person decides. Calls for an
 * answer run nowhere.
 */
function endsWithOpenCall(spans: RunSpans): boolean {
  const { scope, calls, models, response } = spans;
  const last = models.at(-1);
  if (scope.implicit || scope.node === undefined || last === undefined || last !== lastRequest(spans)) return false;
  if (response !== undefined && response !== textOf(last)) return false;
  const asked = requestsOf(last).filter(({ name }) => !isAnswerTool(name));
  const isOpen = ({ executed, result, hold, turn }: ToolCall): boolean =>
    !executed && result === undefined && hold === undefined && turn === models.length - 1;
  return asked.length > 0 && calls.some(isOpen) && !wentOn(spans, last);
}
