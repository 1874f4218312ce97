/** The tool calls of one agent: tool spans joined with the requests and results of its models, each call once. */
import type { RequestedCall, ReportedResult, ToolFacts } from '../../../collectors/collector.ts';
import { isAnswerTool, isClassName, isToolName } from '../../../collectors/parsing/tool-classes.ts';
import type { Provenance, ToolCall, ToolError } from '../../model/agent-trace.ts';
import type { Mutable } from '../../model/mutable.ts';
import { controlFlowOf, holdIn } from '../../model/control-flow.ts';
import { failureText } from '../../model/error-signs.ts';
import { isJsonObject, plainText, type JsonValue } from '../../model/json.ts';
import { modelSpans, requestsCalls } from './model-calls.ts';
import {
  requestedCalls,
  canonical,
  isResultReported,
  runResults,
  reportedWithoutId,
  type Requested,
  type TraceResults,
} from './requested-calls.ts';
import { hasFailed, lastWord, runsAmong } from './function-spans.ts';
import { executionsOf, type Execution } from './tool-executions.ts';
import { lettersOf } from './event-spans.ts';
import { answerOf, isOutputCall, writtenOutput } from './output-tools.ts';
import { statedFailures } from './stated-failures.ts';
import { errorOf, isPhrase } from './span-facts.ts';
import { wrappedArguments } from './wrapped-arguments.ts';
import { spansPerStep } from './span-tree.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { compare, sortedBy } from '../../model/nano-time.ts';
import { reportedEnd, type Span } from '../../model/span.ts';
import type { Node } from './span-tree.ts';

export interface ToolCallsOf {
  readonly calls: readonly ToolCall[];
  /** Number of requested calls without a result. */
  readonly unanswered: number;
  /** When the last of them ended, as far as the requests to models bear it out. */
  readonly endUnixNano: bigint;
  /** The answer that the last call of an output tool gave. */
  readonly answer?: JsonValue;
}

/**
 * The tool calls of an agent. `traced`: results from other models of the trace, by call id. `enclosing`: the agent's span and its frames,
 * which may report calls when no model span does. `successors`: names of the agents that took over from it.
 */
export function* toolCalls(
  own: readonly Node[],
  traced: TraceResults,
  { enclosing, successors }: { readonly enclosing: readonly Node[]; readonly successors: readonly string[] },
): Steps<ToolCallsOf> {
  const isLong = own.length > spansPerStep;
  const requests = modelSpans(own);
  const models = requests.some(requestsCalls)
    ? requests
    : [...requests, ...enclosing.filter(requestsCalls), ...own.filter(isRequestingStep)];
  const requested = requestedCalls(models);
  if (isLong) yield;
  const shared = sharedIds(requested);
  const executions = executionsOf(own.filter(isTool), shared);
  if (isLong) yield;
  const { pairs, taken } = pair(requested, executions, shared.size === 0 ? rules : [sharedIdRule, ...rules]);
  const results = runResults(models);
  const resultById = (id: string): ReportedResult | undefined => results.of(id) ?? traced.only(id);
  const answers = answersOf(
    requested,
    (one) => {
      const { id = '' } = one.call;
      if (shared.has(id)) return results.after(one, shared.get(id) ?? []);
      return resultById(id) ?? (one.laterId === undefined ? undefined : resultById(one.laterId));
    },
    models,
  );
  const unrequested = requested.length === 0 ? inOrder(executions, models) : undefined;
  const isStated = statedFailures(enclosing, own);
  const drafts: Placed[] = [];
  let unanswered = 0;
  let endUnixNano = 0n;
  let given: JsonValue | undefined;
  const toOutput = { output: outputOf(enclosing), lastTurn: requested.at(-1)?.turn ?? 0 };
  for (const [at, execution] of executions.entries()) {
    if (at > 0 && at % spansPerStep === 0) yield;
    const partner = pairs.get(execution);
    const answer = partner === undefined ? undefined : answers[partner.order];
    if (isAnswerTool(execution.name)) {
      given = answerOf(firstWith(execution.nodes, 'arguments') ?? partner?.call ?? {}) ?? given;
      continue;
    }
    const result = answer ?? (execution.id === undefined ? undefined : resultById(execution.id)) ?? unrequested?.[at];
    const call = executed(execution, partner, result);
    const { startUnixNano, ended } = placeInTime(call, partner, models);
    if (ended > endUnixNano) endUnixNano = ended;
    drafts.push({
      call: withStatedFailure(call, isStated, true),
      startUnixNano,
      order: partner?.order ?? Number.MAX_SAFE_INTEGER,
      arrival: execution.nodes[0]?.arrival ?? 0,
    });
  }
  const runOf = runsAmong(own);
  // A hand-over has no result: the span of its step, or the agent that took over, shows what became of it. The call is named after that agent.
  const handovers = own.filter(({ reading: { facts } }) => facts.handoffTo !== undefined).slice(0, handoversMax);
  for (const one of requested) {
    if (taken.has(one)) continue;
    if (WAY_BACK.test(one.call.name)) continue;
    const answer = answers[one.order];
    if (isOutputCall(one, answer, toOutput)) {
      given = answerOf(one.call) ?? given;
      continue;
    }
    const handover = handovers.find(({ reading: { facts } }) => isNamedIn(one.call.name, [facts.handoffTo ?? '']));
    const runsElsewhere = one.call.byProvider === true || handover !== undefined || isNamedIn(one.call.name, successors);
    if (answer === undefined && !runsElsewhere) unanswered++;
    const run = runOf(one);
    const call = requestedOnly(one, answer, run);
    drafts.push({
      call: withStatedFailure(call, isStated, run !== undefined),
      startUnixNano: call.startUnixNano ?? 0n,
      order: one.order,
      arrival: 0,
    });
  }
  if (isLong) yield;
  return {
    calls: sortedBy(drafts, byTrajectory).map((draft) => draft.call),
    unanswered,
    endUnixNano,
    ...(given === undefined ? {} : { answer: given }),
  };
}

function isNamedIn(call: string, agents: readonly string[]): boolean {
  return agents.some((agent) => lettersOf(agent) !== '' && lettersOf(call).includes(lettersOf(agent)));
}

/** Limit of hand-overs that a call is compared with. */
const handoversMax = 64;

/** LangGraph's supervisor records the way back as a call that no model requested and no tool ran. */
const WAY_BACK = /^transfer_back_to_/;

/** The output that the agent's span, or a frame, reports. Few calls are compared with it. */
function outputOf(enclosing: readonly Node[]): () => string | undefined {
  let written: string | undefined;
  return () => (written ??= writtenOutput(enclosing.find(({ reading: { facts } }) => facts.output !== undefined)?.reading.facts.output));
}

function isTool(node: Node): boolean {
  return node.reading.facts.role === 'tool';
}

/** A step that passes requested calls on. */
function isRequestingStep(node: Node): boolean {
  return node.reading.facts.role === 'step' && requestsCalls(node);
}

/** The result of each requested call: by its id, else the next unclaimed result with its name or without a name. */
function answersOf(
  requested: readonly Requested[],
  resultById: (one: Requested) => ReportedResult | undefined,
  models: readonly Node[],
): readonly (ReportedResult | undefined)[] {
  const withoutId = reportedWithoutId(models);
  const unclaimed =
    withoutId.length === 0
      ? undefined
      : queuesOf(
          withoutId.map((result, place) => ({ result, place })),
          ({ result }) => result.name,
        );
  return requested.map(
    (one) =>
      (one.call.id === undefined ? undefined : resultById(one)) ??
      earlier(unclaimed?.get(one.call.name), unclaimed?.get(undefined))?.result,
  );
}

/**
 * The results of calls that no message asks for, by the order in which they ran: as many as calls, where neither side has what would say
 * more. Some SDKs write results as texts and lose the calls.
 */
function inOrder(executions: readonly Execution[], models: readonly Node[]): readonly ReportedResult[] | undefined {
  const results = reportedWithoutId(models);
  const isSilent = executions.every(({ nodes }) => firstWith(nodes, 'result') === undefined);
  const fits =
    results.length === executions.length && results.every(({ name }, at) => (name ?? executions[at]?.name) === executions[at]?.name);
  return isSilent && fits ? results : undefined;
}

/** The calls of the run that share an id, by that id. */
function sharedIds(requested: readonly Requested[]): ReadonlyMap<string, readonly Requested[]> {
  const [once, again] = [new Map<string, Requested>(), new Map<string, Requested[]>()];
  for (const one of requested) {
    const { id } = one.call;
    const first = id === undefined ? undefined : once.get(id);
    if (id === undefined) continue;
    const others = again.get(id);
    if (first === undefined) once.set(id, one);
    else if (others === undefined) again.set(id, [first, one]);
    else others.push(one);
  }
  return again;
}

interface Placed {
  readonly call: ToolCall;
  readonly startUnixNano: bigint;
  /** Position among the requested calls. */
  readonly order: number;
  /** Arrival of its span; 0 without one. */
  readonly arrival: number;
}

interface Queue<T> {
  readonly items: readonly T[];
  next: number;
}

function queuesOf<K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, Queue<T>> {
  const queues = new Map<K, { readonly items: T[]; next: number }>();
  for (const item of items) {
    const key = keyOf(item);
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, { items: [item], next: 0 });
    else queue.items.push(item);
  }
  return queues;
}

/** Takes the earlier head of two queues. */
function earlier<T extends { readonly place: number }>(left: Queue<T> | undefined, right: Queue<T> | undefined): T | undefined {
  const a = left?.items[left.next];
  const b = right?.items[right.next];
  const from = a !== undefined && (b === undefined || a.place < b.place) ? left : right;
  return from?.items[from.next++];
}

interface Rule {
  readonly byId: boolean;
  readonly left: (execution: Execution) => string | undefined;
  readonly right: (one: Requested) => string | undefined;
}

/** When calls share an id, takes the one with the arguments of the span. */
const sharedIdRule: Rule = {
  byId: true,
  left: (execution) => (execution.id === undefined ? undefined : `${execution.id} ${execution.name} ${argumentsOf(execution)}`),
  right: (one) => (one.call.id === undefined ? undefined : `${one.call.id} ${one.call.name} ${canonical(one.call)}`),
};

/**
 * Matches by call id; else by name and arguments in order; else by name in order. Then the same for guessed names, whose last word may be the tool's;
 * a class is not a name, so only its arguments decide.
 */
const rules: readonly Rule[] = [
  { byId: true, left: (execution) => execution.id, right: (one) => one.call.id },
  {
    byId: false,
    left: (execution) => `${execution.name} ${argumentsOf(execution)}`,
    right: (one) => `${one.call.name} ${canonical(one.call)}`,
  },
  { byId: false, left: (execution) => execution.name, right: (one) => one.call.name },
  {
    byId: false,
    left: (execution) => (execution.nameIsGuess ? `${lettersOf(execution.name)} ${argumentsOf(execution)}` : undefined),
    right: (one) => `${lettersOf(one.call.name)} ${canonical(one.call)}`,
  },
  {
    byId: false,
    left: (execution) => (execution.nameIsGuess ? lettersOf(execution.name) : undefined),
    right: (one) => lettersOf(one.call.name),
  },
  {
    byId: false,
    left: (execution) => (execution.nameIsGuess ? `${lastWord(execution.name)} ${argumentsOf(execution)}` : undefined),
    right: (one) => `${lastWord(one.call.name)} ${canonical(one.call)}`,
  },
  {
    byId: false,
    left: (execution) => (isClassName(execution.name) ? argumentsOf(execution) : undefined),
    right: (one) => canonical(one.call),
  },
  {
    byId: false,
    left: (execution) => (execution.nameIsGuess ? lastWord(execution.name) : undefined),
    right: (one) => lastWord(one.call.name),
  },
  { byId: false, left: (execution) => (isToolName(execution.name) ? undefined : ''), right: () => '' },
];

interface Pairs {
  readonly pairs: ReadonlyMap<Execution, Requested>;
  /** Calls that have an execution. */
  readonly taken: ReadonlySet<Requested>;
}

function pair(requested: readonly Requested[], executions: readonly Execution[], inForce: readonly Rule[]): Pairs {
  const pairs = new Map<Execution, Requested>();
  const taken = new Set<Requested>();
  for (const { byId, left, right } of inForce) {
    if (pairs.size === executions.length) break;
    const free = taken.size === 0 ? requested : requested.filter((one) => !taken.has(one));
    if (free.length === 0) break;
    if (!executions.some((execution) => !pairs.has(execution) && left(execution) !== undefined)) continue;
    const all = queuesOf(free, right);
    const withoutId = byId
      ? all
      : queuesOf(
          free.filter((one) => one.call.id === undefined),
          right,
        );
    for (const execution of executions) {
      if (pairs.has(execution)) continue;
      const key = left(execution);
      if (key === undefined) continue;
      // Different ids are different calls, even under one name.
      const queue = (byId || execution.id === undefined ? all : withoutId).get(key);
      while (queue?.items[queue.next] !== undefined && taken.has(queue.items[queue.next] as Requested)) queue.next++;
      const one = queue?.items[queue.next];
      if (one === undefined) continue;
      pairs.set(execution, one);
      taken.add(one);
    }
  }
  const left = executions.filter((execution) => execution.isProtocols && !pairs.has(execution)).slice(0, protocolCallsMax);
  const free = left.length === 0 ? [] : requested.filter((one) => !taken.has(one)).slice(0, protocolCallsMax);
  for (const execution of left) {
    const one = free.find((other) => !taken.has(other) && isPrefixed(other.call, execution));
    if (one === undefined) continue;
    pairs.set(execution, one);
    taken.add(one);
  }
  return { pairs, taken };
}

/** Limit of calls without a span that are compared with those that only a protocol's spans report. */
const protocolCallsMax = 500;

/** Clients put the name of the server before that of its tool: `mcp__poems__rhyme`, `poems.rhyme`. */
const PREFIXED = /(?:__|[.:/])$/;

/** True when the call is to the tool under the name of a client. Where arguments are the same, any mark between the two names will do. */
function isPrefixed(call: RequestedCall, execution: Execution): boolean {
  if (!call.name.endsWith(execution.name)) return false;
  const prefix = call.name.slice(0, call.name.length - execution.name.length);
  const given = argumentsOf(execution);
  return given !== '' && given === canonical(call)
    ? /[^\p{L}\p{N}]$/u.test(prefix)
    : PREFIXED.test(prefix) && (given === '' || canonical(call) === '');
}

function argumentsOf(execution: Execution): string {
  const tool = firstWith(execution.nodes, 'arguments');
  return tool === undefined ? '' : canonical(tool);
}

function executed(execution: Execution, partner: Requested | undefined, answer: ReportedResult | undefined): ToolCall {
  const first = execution.nodes[0];
  if (first === undefined) throw new Error('an execution has at least one span');
  const { nodes } = execution;
  // Frameworks also write the single argument as plain text; the model's own object is better.
  const given =
    withoutWrapper(objectGiven(nodes), partner?.call) ??
    (isJsonObject(partner?.call.arguments) ? undefined : firstWith(nodes, 'arguments'));
  const source = given ?? (partner?.call.arguments === undefined ? undefined : partner.call);
  const returned = firstWith(nodes, 'result');
  const result = returned === undefined ? answer?.result : withoutStatus(returned.result ?? null, answer?.result);
  const stated = firstError(nodes);
  const flow = stated === undefined ? undefined : controlFlowOf(stated);
  const hold =
    holdIn(result) ?? (result === undefined && (flow === 'waiting' || firstWith(nodes, 'waits') !== undefined) ? 'waiting' : undefined);
  const spanError = flow === undefined && hold === undefined ? stated : undefined;
  const resultText =
    typeof answer?.result === 'string' && spanError !== undefined && isPhrase(spanError.message) ? answer.result : undefined;
  const error =
    spanError === undefined
      ? answer?.isError === true && hold === undefined
        ? resultError(answer)
        : undefined
      : resultText === undefined
        ? spanError
        : { ...spanError, message: resultText };
  const model: Provenance = partner?.fromLogs === true ? 'log_record' : 'model_message';
  const provenance: Mutable<NonNullable<ToolCall['provenance']>> = { name: 'tool_span' };
  const isOther = execution.nameIsGuess || execution.isProtocols;
  const call: Mutable<Partial<ToolCall>> = { name: (isOther ? partner?.call.name : undefined) ?? execution.name };
  const id = execution.id ?? partner?.call.id;
  if (id !== undefined) {
    call.id = id;
    provenance.id = execution.id === undefined ? model : 'tool_span';
  }
  const toolId = firstWith(nodes, 'toolId')?.toolId;
  if (toolId !== undefined) call.toolId = toolId;
  if (source !== undefined) {
    addArguments(source, call);
    provenance.arguments = given === undefined ? model : 'tool_span';
  }
  if (result !== undefined) {
    call.result = result;
    provenance.result = returned === undefined ? model : 'tool_span';
  }
  addTruncated(
    source === undefined ? (firstWith(nodes, 'argumentsPart') ?? partner?.call)?.argumentsPart : undefined,
    result === undefined ? (firstWith(nodes, 'resultPart') ?? answer)?.resultPart : undefined,
    call,
  );
  if (error !== undefined) {
    call.error = error;
    provenance.error = spanError === undefined ? model : 'tool_span';
  } else if (hold === undefined && nodes.some(({ span }) => span.status.code === 'ok')) call.statedOk = true;
  call.executed = hold === undefined;
  if (hold !== undefined) call.hold = hold;
  call.spanId = first.span.spanId;
  addTimes({ startUnixNano: execution.beganAtUnixNano, endUnixNano: first.span.endUnixNano }, first.endedAtUnixNano, call);
  if (partner !== undefined) call.turn = partner.turn;
  if (partner?.call.byProvider === true) call.byProvider = true;
  call.provenance = provenance;
  return call as ToolCall;
}

/** The tool facts of the first span that has the member. */
function firstWith(
  nodes: readonly Node[],
  key: 'arguments' | 'argumentsPart' | 'result' | 'resultPart' | 'toolId' | 'waits',
): ToolFacts | undefined {
  for (const {
    reading: {
      facts: { tool },
    },
  } of nodes)
    if (tool?.[key] !== undefined) return tool;
  return undefined;
}

function objectGiven(nodes: readonly Node[]): ToolFacts | undefined {
  for (const {
    reading: {
      facts: { tool },
    },
  } of nodes)
    if (isJsonObject(tool?.arguments)) return tool;
  return undefined;
}

/** An object under a single member holds the arguments where the model asked for just that object. */
function withoutWrapper(given: ToolFacts | undefined, requested: RequestedCall | undefined): ToolFacts | undefined {
  const inner = wrappedArguments(given?.arguments);
  return inner !== undefined && requested !== undefined && canonical({ arguments: inner }) === canonical(requested)
    ? { ...given, arguments: inner }
    : given;
}

/** An object of a status and a result holds the result where the model was given just that. */
function withoutStatus(result: JsonValue, given: JsonValue | undefined): JsonValue {
  if (given === undefined || !isJsonObject(result)) return result;
  const { status, result: inner, ...others } = result;
  const isWrapper = typeof status === 'string' && inner !== undefined && Object.keys(others).length === 0;
  return isWrapper && plainText(inner) === plainText(given) ? inner : result;
}

/** The first error with a message, else the first. */
function firstError(nodes: readonly Node[]): ToolError | undefined {
  let found: ToolError | undefined;
  for (const {
    span,
    reading: {
      facts: { tool },
    },
  } of nodes) {
    const error = errorOf(span, tool);
    if (error !== undefined && error.message !== '') return error;
    found ??= error;
  }
  return found;
}

function requestedOnly(
  { call: requested, fromLogs, requestedAtUnixNano, answeredBy, turn }: Requested,
  answer: ReportedResult | undefined,
  run: Node | undefined,
): ToolCall {
  const source: Provenance = fromLogs ? 'log_record' : 'model_message';
  const provenance: Mutable<NonNullable<ToolCall['provenance']>> = { name: source };
  const call: Mutable<Partial<ToolCall>> = { name: requested.name };
  if (requested.id !== undefined) {
    call.id = requested.id;
    provenance.id = source;
  }
  addArguments(requested, call);
  if (requested.arguments !== undefined) provenance.arguments = source;
  if (answer?.result !== undefined) {
    call.result = answer.result;
    provenance.result = source;
  }
  addTruncated(requested.argumentsPart, answer?.resultPart, call);
  const stated = run !== undefined && hasFailed(run) ? errorOf(run.span, undefined) : undefined;
  const flow = stated === undefined ? undefined : controlFlowOf(stated);
  const hold = holdIn(answer?.result) ?? (answer === undefined && flow === 'waiting' ? 'waiting' : undefined);
  if (hold !== undefined) call.hold = hold;
  else if (stated !== undefined && flow === undefined) {
    call.error = stated;
    provenance.error = 'tool_span';
  } else if (answer?.isError === true) call.error = resultError(answer);
  call.executed = hold === undefined && (answer !== undefined || run !== undefined || requested.byProvider === true);
  if (requested.byProvider === true) call.byProvider = true;
  if (run === undefined) {
    call.startUnixNano = requestedAtUnixNano;
    const answeredAt = answeredBy?.span.startUnixNano ?? requestedAtUnixNano;
    call.endUnixNano = answeredAt < requestedAtUnixNano ? requestedAtUnixNano : answeredAt;
  } else {
    call.spanId = run.span.spanId;
    addTimes(run.span, undefined, call);
  }
  call.turn = turn;
  call.provenance = provenance;
  return call as ToolCall;
}

/** A failure that neither a span nor an answer marks: a message elsewhere, or the text of the result, states it. */
function withStatedFailure(call: ToolCall, isStated: (callId: string) => boolean, hasSpan: boolean): ToolCall {
  if (call.error !== undefined || !call.executed) return call;
  if (call.id !== undefined && isStated(call.id)) return { ...call, error: { message: plainText(call.result ?? ''), sign: 'is_error' } };
  const text = failureText(call.result, { hasSpan });
  return text === undefined ? call : { ...call, error: { message: text, sign: 'result_text' } };
}

/** A start of zero, and an end before the start, are unknown. */
function addTimes(
  span: Pick<Span, 'startUnixNano' | 'endUnixNano'>,
  endedAt: bigint | undefined,
  call: Mutable<Pick<ToolCall, 'startUnixNano' | 'endUnixNano'>>,
): void {
  const end = endedAt ?? reportedEnd(span);
  if (span.startUnixNano > 0n) call.startUnixNano = span.startUnixNano;
  if (end !== undefined && end > 0n) call.endUnixNano = end;
}

function resultError(answer: ReportedResult): ToolError {
  return { message: plainText(answer.result ?? answer.resultPart ?? ''), sign: 'is_error' };
}

function addTruncated(argumentsPart: string | undefined, resultPart: string | undefined, call: Mutable<Pick<ToolCall, 'truncated'>>): void {
  if (argumentsPart === undefined && resultPart === undefined) return;
  call.truncated = {
    ...(argumentsPart === undefined ? {} : { arguments: argumentsPart }),
    ...(resultPart === undefined ? {} : { result: resultPart }),
  };
}

function addArguments(
  from: Pick<RequestedCall, 'arguments' | 'argumentsText'>,
  call: Mutable<Pick<ToolCall, 'arguments' | 'argumentsText'>>,
): void {
  if (from.arguments !== undefined) call.arguments = from.arguments;
  if (from.argumentsText !== undefined) call.argumentsText = from.argumentsText;
}

/**
 * The time of a call on the clock of the requests: it runs after its request began and before the request that holds its result. The host of
 * the tool may have another clock.
 */
function placeInTime(
  { startUnixNano: start = 0n, endUnixNano: end = start }: ToolCall,
  partner: Requested | undefined,
  models: readonly Node[],
): { readonly startUnixNano: bigint; readonly ended: bigint } {
  if (partner === undefined) return { startUnixNano: start, ended: end };
  const { requestedAtUnixNano, answeredBy, turn } = partner;
  if (start < (models[turn]?.span.startUnixNano ?? 0n)) return { startUnixNano: requestedAtUnixNano, ended: requestedAtUnixNano };
  const answeredAt = answeredBy?.span.startUnixNano;
  if (answeredAt === undefined || end <= answeredAt || !isResultReported(partner)) return { startUnixNano: start, ended: end };
  return { startUnixNano: start < answeredAt ? start : answeredAt, ended: answeredAt };
}

/** Sorts by start; then by position in the models' messages; then by arrival. */
function byTrajectory(a: Placed, b: Placed): number {
  return compare(a.startUnixNano, b.startUnixNano) || a.order - b.order || a.arrival - b.arrival;
}
