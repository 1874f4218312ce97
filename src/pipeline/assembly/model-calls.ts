/** The requests to models among an agent's spans, without duplicates. */
import type { Message, RequestedCall, SpanFacts, ToolFacts } from '../../../collectors/collector.ts';
import { saying } from '../../../collectors/parsing/message-evidence.ts';
import { lastText } from '../../../collectors/parsing/messages.ts';
import type { AgentTrace, ModelCall } from '../../model/agent-trace.ts';
import type { Mutable } from '../../model/mutable.ts';
import { failureOf, hasOutput } from './failures.ts';
import { identity } from './requested-calls.ts';
import { joined } from './span-facts.ts';
import { sortedBy } from '../../model/nano-time.ts';
import { textAttribute, type Span } from '../../model/span.ts';
import { byStart, type Node } from './span-tree.ts';

interface Enclosed {
  /** The outermost model span around a node. */
  readonly outer: Node | undefined;
  /** Number of model spans around it. */
  readonly depth: number;
  /** The node itself, where it is a request. */
  readonly self: Node | undefined;
}

/**
 * Removes duplicates of requests. A single model span inside another is the same request, reported by two instrumentations; it completes
 * the outer one. So do several at once that use as many tokens. Several others are the requests of a loop. `all` has parents before their
 * children.
 */
export function withoutNestedModels(all: readonly Node[]): readonly Node[] {
  return withoutGuesses(unnested(withLaterMessages(withoutDuplicates(withFollowedChoices(all)))));
}

/** When a request has several answers, the agent follows one; the others, and the calls in them, are dropped. */
function withFollowedChoices(own: readonly Node[]): readonly Node[] {
  if (!own.some(hasSeveralAnswers)) return own;
  const models = modelSpans(own);
  const ran = new Set(own.flatMap(({ reading: { facts } }) => (facts.role === 'tool' ? (facts.tool?.id ?? []) : [])));
  const better = new Map<Node, readonly Message[]>();
  models.forEach((node, at) => {
    const answers = node.reading.facts.outputMessages ?? [];
    const followed = hasSeveralAnswers(node) ? followedAmong(answers, { node, next: models[at + 1], ran }) : answers;
    if (followed.length < answers.length) better.set(node, followed);
  });
  return own.map((node) => {
    const outputMessages = better.get(node);
    return outputMessages === undefined
      ? node
      : { ...node, reading: { ...node.reading, facts: { ...node.reading.facts, outputMessages } } };
  });
}

function hasSeveralAnswers({ reading: { facts } }: Node): boolean {
  const answers = facts.outputMessages;
  return (
    facts.role === 'model' &&
    answers !== undefined &&
    answers.length > 1 &&
    ((facts.choices ?? 1) > 1 || answers.filter(({ requested }) => requested.length > 0).length > 1) &&
    answers.every(({ role, results }) => role === 'assistant' && results.length === 0)
  );
}

/**
 * Some SDKs write one answer as several messages. So without a number of answers, only the next request shows the choice: it repeats the calls that
 * the agent followed. With a number, the first answer counts where nothing shows the choice.
 */
function followedAmong(
  answers: readonly Message[],
  { node, next, ran }: { readonly node: Node; readonly next: Node | undefined; readonly ran: ReadonlySet<string> },
): readonly Message[] {
  const repeated = new Set(next?.reading.facts.inputMessages?.flatMap(({ requested }) => requested.map(identity)));
  const isFollowed = ({ requested }: Message): boolean => requested.some((call) => repeated.has(identity(call)) || ran.has(call.id ?? ''));
  const followed = answers.filter(isFollowed);
  if ((node.reading.facts.choices ?? 1) > 1) return (followed.length === 0 ? answers : followed).slice(0, 1);
  if (!followed.some(({ requested }) => requested.some((call) => repeated.has(identity(call))))) return answers;
  return answers.filter((message) => message.requested.length === 0 || isFollowed(message));
}

function unnested(own: readonly Node[]): readonly Node[] {
  if (!own.some(isInsideModel)) return own;
  // By span: a node that another one fills in is not the one that its children know.
  const enclosed = new Map<Span, Enclosed>();
  const requests = new Map<Node, Node[]>();
  const dropped = new Set<Node>();
  for (const node of own) {
    const around = enclosedBy(node, enclosed);
    enclosed.set(node.span, isModel(node) ? { ...around, self: node } : around);
    if (!isModel(node) || around.outer === undefined) continue;
    if (around.depth > 1) dropped.add(node);
    else {
      const list = requests.get(around.outer);
      if (list === undefined) requests.set(around.outer, [node]);
      else list.push(node);
    }
  }
  const better = new Map<Node, SpanFacts>();
  for (const [outer, inner] of requests) {
    const isOne = inner.length === 1 || inner.every((node) => usesAsMuch(outer, node) && isAtOnce(inner[0] ?? node, node));
    if (isOne) {
      better.set(
        outer,
        inner.reduce((facts, node) => joined(facts, innerFacts(facts, node)), outer.reading.facts),
      );
      for (const node of inner) dropped.add(node);
      continue;
    }
    const { model } = outer.reading.facts;
    better.set(outer, loopFacts(outer, inner));
    if (model === undefined) continue;
    for (const node of inner) if (node.reading.facts.model === undefined) better.set(node, { ...node.reading.facts, model });
  }
  return own
    .filter((node) => !dropped.has(node))
    .map((node) => {
      const facts = better.get(node);
      return facts === undefined ? node : { ...node, reading: { ...node.reading, facts } };
    });
}

/** The span around the requests of a loop is a step. It keeps their usage where none of them reports it. */
function loopFacts({ reading: { facts } }: Node, inner: readonly Node[]): SpanFacts {
  const loop: Mutable<SpanFacts> = { role: 'step' };
  if (inner.some(({ reading }) => (reading.facts.inputTokens ?? reading.facts.outputTokens) !== undefined)) return loop;
  if (facts.inputTokens !== undefined) loop.inputTokens = facts.inputTokens;
  if (facts.outputTokens !== undefined) loop.outputTokens = facts.outputTokens;
  return loop;
}

/** The failure of the inner span is that of the request, unless the outer one has an answer. */
function innerFacts(outer: SpanFacts, node: Node): SpanFacts {
  const { facts } = node.reading;
  const failure = hasOutput(outer) ? undefined : failureOf(node);
  return failure === undefined
    ? facts
    : { ...facts, failed: { message: failure.message, ...(failure.type === undefined ? {} : { type: failure.type }) } };
}

/** Requests of a loop follow one another. */
function isAtOnce({ span: first }: Node, { span }: Node): boolean {
  return span.startUnixNano < first.endUnixNano && first.startUnixNano < span.endUnixNano;
}

/** True when the loop reports the sum of its requests. */
function usesAsMuch({ reading: { facts: outer } }: Node, { reading: { facts: inner } }: Node): boolean {
  return outer.inputTokens !== undefined && outer.inputTokens === inner.inputTokens && outer.outputTokens === inner.outputTokens;
}

/**
 * Splits messages that an SDK recorded after the run had gone on: they contain the request's own answer and what followed. Applies only
 * when the other requests have no spans.
 */
function withLaterMessages(own: readonly Node[]): readonly Node[] {
  const [only, ...others] = own.filter(isModel);
  if (only === undefined || others.length > 0) return own;
  const { inputMessages = [], outputMessages = [] } = only.reading.facts;
  const ids = new Set(outputMessages.flatMap(({ requested }) => requested.flatMap(({ id }) => id ?? [])));
  if (ids.size === 0) return own;
  const from = inputMessages.findIndex(({ requested }) => requested.some(({ id }) => id !== undefined && ids.has(id)));
  if (from === -1) return own;
  const facts = { ...only.reading.facts, inputMessages: inputMessages.slice(0, from), outputMessages: inputMessages.slice(from) };
  return own.map((node) => (node === only ? { ...node, reading: { ...node.reading, facts } } : node));
}

/** A span that may be a request counts as a step when there are certain requests. */
function withoutGuesses(own: readonly Node[]): readonly Node[] {
  const isGuess = (node: Node): boolean => isModel(node) && node.reading.facts.roleIsGuess === true;
  if (!own.some(isGuess) || !own.some((node) => isModel(node) && !isGuess(node))) return own;
  return own.map((node) =>
    isGuess(node) ? { ...node, reading: { ...node.reading, facts: { ...node.reading.facts, role: 'step' as const } } } : node,
  );
}

/** Earlier siblings that are compared with a request. Requests of two instrumentations follow each other closely. */
const siblingsMax = 8;

/** Merges sibling spans of one request by two instrumentations: the later one completes the first. */
function withoutDuplicates(own: readonly Node[]): readonly Node[] {
  const models = modelSpans(own);
  const duplicates = new Map<Node, Node>();
  const latest = new Map<Node | undefined, Node[]>();
  for (const node of models) {
    const before = latest.get(node.parent);
    if (before === undefined) {
      latest.set(node.parent, [node]);
      continue;
    }
    const first = before.findLast(
      (one, at) => !duplicates.has(one) && (at === before.length - 1 ? areDuplicates(one, node) : isTwice(one, node)),
    );
    if (first !== undefined) duplicates.set(first, node);
    before.push(node);
    if (before.length > siblingsMax) before.shift();
  }
  if (duplicates.size === 0) return own;
  const dropped = new Set(duplicates.values());
  return own
    .filter((node) => !dropped.has(node) && !(isModel(node) && node.parent !== undefined && dropped.has(node.parent)))
    .map((node) => {
      const duplicate = duplicates.get(node);
      return duplicate === undefined ? node : { ...node, reading: { ...node.reading, facts: joinedDuplicates(node, duplicate) } };
    });
}

function areDuplicates(a: Node, b: Node): boolean {
  return isStreamBegin(a, b) || isTwice(a, b);
}

/**
 * Siblings of two instrumentations at the same time, with the same tokens or the same response id. One that reports neither, nor an answer,
 * lies within the other and asks the same.
 */
function isTwice(a: Node, b: Node): boolean {
  if (a.parent !== b.parent || a.span.scope.name === b.span.scope.name || b.span.startUnixNano > a.span.endUnixNano) return false;
  const [left, right] = [a.reading.facts, b.reading.facts];
  if (isOneResponse(a, b)) return true;
  const isSameUsage = left.inputTokens === right.inputTokens && left.outputTokens === right.outputTokens;
  if (isSameUsage && (left.outputMessages === undefined || right.outputMessages === undefined)) return true;
  if (isSameUsage && (left.inputTokens ?? left.outputTokens) !== undefined) return isSameAnswer(left, right);
  return (isUnanswered(a) && isDuring(a, b) && asksTheSame(left, right)) || (isUnanswered(b) && isDuring(b, a) && asksTheSame(right, left));
}

function isUnanswered({ span, reading: { facts } }: Node): boolean {
  return (facts.inputTokens ?? facts.outputTokens ?? saying(facts.outputMessages)) === undefined && responseId(span) === undefined;
}

function isSameAnswer(left: SpanFacts, right: SpanFacts): boolean {
  const of = ({ outputMessages = [] }: SpanFacts): string =>
    [lastText(outputMessages, 'assistant'), ...outputMessages.flatMap(({ requested }) => requested.map(({ name }) => name))].join(' ');
  return of(left) === of(right);
}

/** True when the two requests do not contradict each other. */
function asksTheSame(silent: SpanFacts, other: SpanFacts): boolean {
  if (silent.model !== undefined && other.model !== undefined && !isSameModel(silent.model, other.model)) return false;
  const [asked, known] = [saying(silent.inputMessages), saying(other.inputMessages)];
  return asked === undefined || known === undefined || lastText(asked, 'user') === lastText(known, 'user');
}

/** An answer has a dated name of the model: `gpt-4o-mini-2024-07-18`. */
function isSameModel(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

function isOneResponse(a: Node, b: Node): boolean {
  const id = responseId(a.span);
  return id !== undefined && id !== '' && id === responseId(b.span);
}

/** Matches any prefix: `acme.response.id`. */
const RESPONSE_ID = /(?:^|[._])response[._]id$/;

function responseId(span: Span): string | undefined {
  const key = span.attributeKeys().find((one) => RESPONSE_ID.test(one));
  return key === undefined ? undefined : textAttribute(span, key);
}

/** The span that began later is nearer to the API, so its token counts win. */
function joinedDuplicates({ reading: { facts } }: Node, { reading: { facts: inner } }: Node): SpanFacts {
  const { inputTokens = facts.inputTokens, outputTokens = facts.outputTokens } = inner;
  return {
    ...joined(facts, inner),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

/** Turns repeated requests on a message bus into steps when the requests have spans. */
export function withoutRepeatedRequests(nodes: readonly Node[]): readonly Node[] {
  const isRepeated = (node: Node): boolean => isModel(node) && node.reading.facts.followsLinks === true;
  if (!nodes.some(isRepeated) || !nodes.some((node) => isModel(node) && !isRepeated(node))) return nodes;
  return nodes.map((node) =>
    isRepeated(node) ? { ...node, reading: { ...node.reading, facts: { role: 'step', followsLinks: true } } } : node,
  );
}

/** Some SDKs write each requested call as a span inside the request, which ends before the tool runs: the call is part of the answer. */
export function withCallSpansInRequests(nodes: readonly Node[]): readonly Node[] {
  const requested = nodes.filter(isRequestedCall).sort(byStart);
  if (requested.length === 0) return nodes;
  const models = new Map(
    nodes.filter((node) => isModel(node) && !requestsCalls(node)).map((node) => [placeOf(node.span.traceId, node.span.spanId), node]),
  );
  const better = new Map<Node, SpanFacts>();
  for (const node of requested) {
    const { traceId, parentSpanId } = node.span;
    const request = parentSpanId === undefined ? undefined : models.get(placeOf(traceId, parentSpanId));
    if (request === undefined || holdsResultOf(request, node)) continue;
    better.set(request, withRequested(better.get(request) ?? request.reading.facts, node.reading.facts.tool ?? {}));
    better.set(node, { role: 'step' });
  }
  return nodes.map((node) => {
    const facts = better.get(node);
    return facts === undefined ? node : { ...node, reading: { ...node.reading, facts } };
  });
}

/** A span whose messages go on with the result covers a loop, in which the tool ran. */
function holdsResultOf({ reading: { facts } }: Node, call: Node): boolean {
  const id = call.reading.facts.tool?.id;
  return facts.inputMessages?.some(({ results }) => results.some((result) => result.id === id)) === true;
}

function placeOf(traceId: string, spanId: string): string {
  return `${traceId}/${spanId}`;
}

/** The span has the id, name and arguments of a call, and neither a result nor an error. */
function isRequestedCall({ span, reading: { facts } }: Node): boolean {
  const { role, tool } = facts;
  return (
    role === 'tool' &&
    span.parentSpanId !== undefined &&
    tool?.id !== undefined &&
    tool.name !== undefined &&
    tool.arguments !== undefined &&
    (tool.result ?? tool.resultPart ?? tool.failed) === undefined &&
    span.status.code !== 'error' &&
    span.events.length === 0
  );
}

export function requestsCalls({ reading: { facts } }: Node): boolean {
  return facts.outputMessages?.some(({ requested }) => requested.length > 0) ?? false;
}

function withRequested(facts: SpanFacts, { id, name = '', arguments: given }: ToolFacts): SpanFacts {
  const call: RequestedCall = { name, ...(id === undefined ? {} : { id }), ...(given === undefined ? {} : { arguments: given }) };
  const [last = { role: 'assistant', requested: [], results: [] }, ...others] = (facts.outputMessages ?? []).toReversed();
  return { ...facts, outputMessages: [...others.toReversed(), { ...last, requested: [...last.requested, call] }] };
}

/** A streamed request may have one span for its begin and another, with the answer, for its end. */
function isStreamBegin(a: Node, b: Node): boolean {
  const [left, right] = [a.reading.facts, b.reading.facts];
  return (
    a.parent === b.parent &&
    a.parent !== undefined &&
    a.span.status.code !== 'error' &&
    left.inputMessages !== undefined &&
    left.outputMessages === undefined &&
    (left.inputTokens ?? left.outputTokens) === undefined &&
    right.outputMessages !== undefined &&
    left.inputMessages.length === right.inputMessages?.length
  );
}

/** `enclosed` holds the spans around it that are the agent's own. */
function enclosedBy({ parent }: Node, enclosed: ReadonlyMap<Span, Enclosed>): Enclosed {
  const above = parent === undefined ? undefined : enclosed.get(parent.span);
  // A request that a tool sends to a model is separate.
  if (parent === undefined || above === undefined || parent.reading.facts.role === 'tool') return nowhere;
  return above.self === undefined ? above : { outer: above.outer ?? above.self, depth: above.depth + 1, self: undefined };
}

const nowhere: Enclosed = { outer: undefined, depth: 0, self: undefined };

/** A model span inside another one implies a node whose parent is a model span. */
function isInsideModel({ parent }: Node): boolean {
  return parent !== undefined && isModel(parent);
}

function isModel(node: Node): boolean {
  return node.reading.facts.role === 'model';
}

/**
 * Sorts by start time; but a request that holds the result of a call comes after the request for it, even when the clocks of their hosts disagree.
 */
export function modelSpans(own: readonly Node[]): readonly Node[] {
  const models = sortedBy(own.filter(isModel), byStart);
  const before = isGrowing(models) ? undefined : askersBehind(models);
  return before === undefined ? models : inOrder(models, before);
}

/** True when each request holds more messages than the one before it: none then holds a result for a later one. */
function isGrowing(models: readonly Node[]): boolean {
  let before = -1;
  return models.every(({ reading: { facts } }) => {
    const count = facts.inputMessages?.length ?? 0;
    const grows = count > before;
    before = count;
    return grows;
  });
}

/** The requests that must come first but began later; `undefined` when there are none. */
function askersBehind(models: readonly Node[]): ReadonlyMap<Node, readonly Node[]> | undefined {
  const askedAt = new Map<string, number>();
  models.forEach(({ reading }, at) => {
    for (const { requested } of reading.facts.outputMessages ?? [])
      // Providers that number ids from one use them in each turn.
      for (const { id } of requested) if (id !== undefined) askedAt.set(id, askedAt.has(id) ? -1 : at);
  });
  if (askedAt.size === 0) return undefined;
  let before: Map<Node, Node[]> | undefined;
  models.forEach((node, at) => {
    for (const id of lastResults(node)) {
      const asker = models[askedAt.get(id) ?? -1];
      if (asker !== undefined && (askedAt.get(id) ?? 0) > at) {
        before ??= new Map();
        before.set(node, [...(before.get(node) ?? []), asker]);
      }
    }
  });
  return before;
}

/** Ids of the results at the end of the conversation, which the request brings back to the model. */
function lastResults({ reading: { facts } }: Node): readonly string[] {
  const messages = facts.inputMessages ?? [];
  const from = messages.findLastIndex(({ results }) => results.length === 0) + 1;
  return messages.slice(from).flatMap(({ results }) => results.flatMap(({ id }) => id ?? []));
}

/** Each request after those that must come before it. */
function inOrder(models: readonly Node[], before: ReadonlyMap<Node, readonly Node[]>): readonly Node[] {
  const entered = new Set<Node>();
  const placed = new Set<Node>();
  for (const model of models) {
    const waiting = [model];
    for (let node = waiting.at(-1); node !== undefined; node = waiting.at(-1)) {
      const first = entered.has(node) ? [] : (before.get(node) ?? []).filter((one) => !entered.has(one));
      entered.add(node);
      if (first.length > 0) waiting.push(...first);
      else placed.add(waiting.pop() ?? node);
    }
  }
  return [...placed];
}

/**
 * Number of requests that a model span covers. Where tools ran inside it, its messages hold calls that a request within the span asked for,
 * and each answer with such calls is one request more.
 */
export function requestsIn({ children, reading: { facts } }: Node): number {
  const ran = new Set(children.flatMap(({ reading: { facts: inner } }) => (inner.role === 'tool' ? (inner.tool?.id ?? []) : [])));
  if (ran.size === 0) return 1;
  return 1 + (facts.inputMessages ?? []).filter(({ requested }) => requested.some(({ id }) => id !== undefined && ran.has(id))).length;
}

/**
 * Corrects the tokens of a single span over a loop of requests with tools inside. Some SDKs write the last request's usage on it and the
 * sum on the agent's span. The sum counts only if it cannot include sub-agents.
 */
export function withAgentSum(
  calls: readonly ModelCall[],
  { models, own, sum, usedBelow }: { models: readonly Node[]; own: readonly Node[]; sum: AgentTrace['tokens']; usedBelow: number },
): readonly ModelCall[] {
  const [only, ...others] = models;
  const [call] = calls;
  if (sum === undefined || only === undefined || call === undefined || others.length > 0) return calls;
  const isMore = isLess(call.inputTokens, sum.input) && isLess(call.outputTokens, sum.output);
  const isOwn = usedBelow === 0 || (sum.input ?? 0) < (call.inputTokens ?? 0) + usedBelow;
  if (!isMore || !isOwn || !own.some((node) => node.reading.facts.role === 'tool' && isDuring(node, only))) return calls;
  return [
    {
      ...call,
      ...(sum.input === undefined ? {} : { inputTokens: sum.input }),
      ...(sum.output === undefined ? {} : { outputTokens: sum.output }),
    },
  ];
}

function isLess(one: number | undefined, all: number | undefined): boolean {
  return one === undefined || all === undefined || one < all;
}

function isDuring({ span: inner }: Node, { span: outer }: Node): boolean {
  return inner.startUnixNano >= outer.startUnixNano && inner.endUnixNano <= outer.endUnixNano;
}

/** Sums of the calls; a number that no call has is absent. */
export function tokensOf(calls: readonly ModelCall[]): AgentTrace['tokens'] {
  let input: number | undefined;
  let output: number | undefined;
  for (const { inputTokens, outputTokens } of calls) {
    if (inputTokens !== undefined) input = (input ?? 0) + inputTokens;
    if (outputTokens !== undefined) output = (output ?? 0) + outputTokens;
  }
  if (input === undefined) return output === undefined ? undefined : { output };
  return output === undefined ? { input } : { input, output };
}
