/** The tool calls of one agent, told once: tool spans joined with what its models asked for and were told. */
import type { AskedCall, Message, ToldResult } from '../../collectors/collector.ts';
import type { Provenance, ToolCall, ToolError } from '../model/agent-trace.ts';
import { isJsonObject, jsonText, plainText } from '../model/json.ts';
import { errorOf } from './facts.ts';
import { compare, type Node } from './tree.ts';

/** A call as the model's messages tell it. */
interface Asked {
  readonly call: AskedCall;
  /** Number of the model turn that asked. */
  readonly turn: number;
  /** Position among all calls asked for. */
  readonly order: number;
  readonly askedAtUnixNano: bigint;
  readonly answeredAtUnixNano: bigint | undefined;
  readonly fromLogs: boolean;
}

/** One execution, as one or several spans tell it. */
interface Execution {
  readonly nodes: readonly Node[];
  readonly name: string;
  readonly id: string | undefined;
}

export interface ToolCallsOf {
  readonly calls: readonly ToolCall[];
  /** Calls that a model asked for and nothing answered yet. */
  readonly unanswered: number;
}

/** Tool calls from the agent's own spans. `toldAnywhere` are results that any model of the trace was told, by call id. */
export function toolCalls(own: readonly Node[], toldAnywhere: ReadonlyMap<string, ToldResult>): ToolCallsOf {
  const models = own.filter((node) => node.told.facts.role === 'model').sort(byEnd);
  const asked = askedCalls(models);
  const executions = executionsOf(own.filter((node) => node.told.facts.role === 'tool'));
  const pairs = pair(asked, executions);
  const told = toldWithoutId(models);
  const drafts: { readonly call: ToolCall; readonly order: number }[] = [];
  let unanswered = 0;
  for (const execution of executions) {
    const partner = pairs.get(execution);
    const answer = partner?.call.id === undefined ? undefined : toldAnywhere.get(partner.call.id);
    drafts.push({ call: executed(execution, partner, answer), order: partner?.order ?? Number.MAX_SAFE_INTEGER });
  }
  const joinedCalls = new Set(pairs.values());
  for (const one of asked) {
    if (joinedCalls.has(one)) continue;
    const answer = (one.call.id === undefined ? undefined : toldAnywhere.get(one.call.id)) ?? takeTold(told, one.call.name);
    if (answer === undefined) unanswered++;
    drafts.push({ call: onlyAsked(one, answer), order: one.order });
  }
  return { calls: drafts.sort(byTrajectory).map((draft) => draft.call), unanswered };
}

/** Calls asked for by the agent's models. A later request repeats the history; what the first one held is not this run's. */
function askedCalls(models: readonly Node[]): readonly Asked[] {
  const found: Asked[] = [];
  const history = messagesAfterUser(models[0]?.told.facts.inputMessages ?? [], true);
  const known = new Map<string, number>();
  for (const message of history) for (const call of message.asked) count(known, identity(call));
  models.forEach((node, index) => {
    const facts = node.told.facts;
    const next = nextAfter(models, index);
    const times = { turn: index, askedAtUnixNano: node.span.endUnixNano, answeredAtUnixNano: next?.span.startUnixNano };
    if (index > 0) {
      const seen = new Map<string, number>();
      for (const message of messagesAfterUser(facts.inputMessages ?? [], false)) {
        for (const call of message.asked) {
          if (count(seen, identity(call)) <= (known.get(identity(call)) ?? 0)) continue;
          count(known, identity(call));
          // An earlier model span did not carry its answer; this request repeats it.
          found.push({ call, order: found.length, ...times, askedAtUnixNano: node.span.startUnixNano, answeredAtUnixNano: node.span.startUnixNano, turn: index - 1, fromLogs: node.told.fromLogs.has('inputMessages') });
        }
      }
    }
    for (const message of facts.outputMessages ?? []) {
      for (const call of message.asked) {
        if (call.id !== undefined && known.has(identity(call))) continue;
        count(known, identity(call));
        found.push({ call, order: found.length, ...times, fromLogs: node.told.fromLogs.has('outputMessages') });
      }
    }
  });
  return found;
}

function nextAfter(models: readonly Node[], index: number): Node | undefined {
  const end = models[index]?.span.endUnixNano ?? 0n;
  for (let at = index + 1; at < models.length; at++) if ((models[at]?.span.startUnixNano ?? 0n) >= end) return models[at];
  return undefined;
}

function count(counts: Map<string, number>, key: string): number {
  const next = (counts.get(key) ?? 0) + 1;
  counts.set(key, next);
  return next;
}

function identity(call: AskedCall): string {
  return call.id ?? `${call.name} ${canonical(call)}`;
}

function canonical(call: { readonly arguments?: AskedCall['arguments']; readonly argumentsText?: string }): string {
  return call.arguments === undefined || call.arguments === null ? (call.argumentsText ?? '') : jsonText(call.arguments, { sortKeys: true });
}

/** The messages of the present turn: those after the last thing that the user said. */
function messagesAfterUser(messages: readonly Message[], all: boolean): readonly Message[] {
  if (all) return messages;
  const last = messages.findLastIndex((message) => message.role === 'user' && message.told.length === 0);
  return messages.slice(last + 1);
}

/** A tool span looks this many spans up for an outer span of the same execution. */
const outerSpansMax = 8;

/** Two spans tell one execution: same call id, or one inside the other, or two instrumentations beside each other. */
function executionsOf(tools: readonly Node[]): readonly Execution[] {
  const groups: Node[][] = [];
  const groupOf = new Map<Node, Node[]>();
  const byId = new Map<string, Node[]>();
  const byPlace = new Map<Node | undefined, Node[]>();
  for (const node of tools) {
    const id = node.told.facts.tool?.id;
    const beside = byPlace.get(node.parent) ?? [];
    const twin = beside.findLast((other) => isTwin(other, node));
    const group = (id === undefined ? undefined : byId.get(id)) ?? outerGroup(node, groupOf) ?? (twin === undefined ? undefined : groupOf.get(twin));
    const members = group ?? [];
    if (group === undefined) groups.push(members);
    members.push(node);
    groupOf.set(node, members);
    if (id !== undefined) byId.set(id, members);
    // Only neighbours in time can be twins: older ones need not be kept.
    byPlace.set(node.parent, [...beside.slice(-outerSpansMax), node]);
  }
  return groups.map((nodes) => {
    const facts = nodes.map((node) => node.told.facts.tool);
    return { nodes, name: facts.find((tool) => tool?.name !== undefined)?.name ?? nodes[0]?.span.name ?? '', id: facts.find((tool) => tool?.id !== undefined)?.id };
  });
}

function outerGroup(node: Node, groupOf: ReadonlyMap<Node, Node[]>): Node[] | undefined {
  let at = node.parent;
  for (let steps = 0; at !== undefined && steps < outerSpansMax; steps++) {
    if (at.told.facts.role === 'tool' && canBeOne(at, node)) return groupOf.get(at);
    at = at.parent;
  }
  return undefined;
}

/** Told by two instrumentations at the same place and time. */
function isTwin(a: Node, b: Node): boolean {
  const overlap = a.span.startUnixNano <= b.span.endUnixNano && b.span.startUnixNano <= a.span.endUnixNano;
  return overlap && a.span.scope.name !== b.span.scope.name && canBeOne(a, b);
}

function canBeOne(a: Node, b: Node): boolean {
  const left = a.told.facts.tool;
  const right = b.told.facts.tool;
  return left?.name === right?.name && (left?.id === undefined || right?.id === undefined || left.id === right.id);
}

/** By call id; without one by name and arguments in order; at last by name in order. */
function pair(asked: readonly Asked[], executions: readonly Execution[]): ReadonlyMap<Execution, Asked> {
  const pairs = new Map<Execution, Asked>();
  const taken = new Set<Asked>();
  const rules = [
    { left: (execution: Execution) => execution.id, right: (one: Asked) => one.call.id },
    { left: (execution: Execution) => `${execution.name} ${argumentsOf(execution)}`, right: (one: Asked) => `${one.call.name} ${canonical(one.call)}` },
    { left: (execution: Execution) => execution.name, right: (one: Asked) => one.call.name },
  ];
  for (const { left, right } of rules) {
    const queues = Map.groupBy(asked.filter((one) => !taken.has(one)), right);
    const next = new Map<string | undefined, number>();
    for (const execution of executions) {
      const key = left(execution);
      if (pairs.has(execution) || key === undefined) continue;
      const queue = queues.get(key) ?? [];
      let at = next.get(key) ?? 0;
      // Two different ids are two different calls, whatever their names.
      while (at < queue.length && execution.id !== undefined && queue[at]?.call.id !== undefined && queue[at]?.call.id !== execution.id) at++;
      const one = queue[at];
      next.set(key, at + 1);
      if (one === undefined) continue;
      pairs.set(execution, one);
      taken.add(one);
    }
  }
  return pairs;
}

function argumentsOf(execution: Execution): string {
  const tool = execution.nodes.map((node) => node.told.facts.tool).find((facts) => facts?.arguments !== undefined);
  return tool === undefined ? '' : canonical(tool);
}

function executed(execution: Execution, partner: Asked | undefined, answer: ToldResult | undefined): ToolCall {
  const first = execution.nodes[0];
  if (first === undefined) throw new Error('an execution has at least one span');
  const tools = execution.nodes.map((node) => node.told.facts.tool);
  const pick = <K extends 'arguments' | 'result' | 'toolId'>(key: K) => tools.find((tool) => tool?.[key] !== undefined);
  // Frameworks also write the one argument of a call as plain text: then the model's own words are better.
  const given = tools.find((tool) => isJsonObject(tool?.arguments)) ?? (isJsonObject(partner?.call.arguments) ? undefined : pick('arguments'));
  const source = given ?? (partner?.call.arguments === undefined ? undefined : partner.call);
  const result = pick('result')?.result ?? (pick('result') === undefined ? answer?.result : null);
  const errors = execution.nodes.map((node) => errorOf(node.span, node.told.facts.tool)).filter((error) => error !== undefined);
  const error = errors.find((candidate) => candidate.message !== '') ?? errors[0] ?? (answer?.isError === true ? toldError(answer) : undefined);
  const id = execution.id ?? partner?.call.id;
  const toolId = pick('toolId')?.toolId;
  const model: Provenance = partner?.fromLogs === true ? 'log_record' : 'model_message';
  return {
    name: execution.name,
    ...(id === undefined ? {} : { id }),
    ...(toolId === undefined ? {} : { toolId }),
    ...argumentMembers(source),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    executed: true,
    spanId: first.span.spanId,
    startUnixNano: first.span.startUnixNano,
    endUnixNano: first.span.endUnixNano,
    ...(partner === undefined ? {} : { turn: partner.turn }),
    provenance: {
      name: 'tool_span',
      ...(id === undefined ? {} : { id: execution.id === undefined ? model : ('tool_span' as const) }),
      ...(source === undefined ? {} : { arguments: given === undefined ? model : ('tool_span' as const) }),
      ...(result === undefined ? {} : { result: pick('result') === undefined ? model : ('tool_span' as const) }),
      ...(error === undefined ? {} : { error: errors.length > 0 ? ('tool_span' as const) : model }),
    },
  };
}

function onlyAsked(one: Asked, answer: ToldResult | undefined): ToolCall {
  const source: Provenance = one.fromLogs ? 'log_record' : 'model_message';
  const id = one.call.id;
  return {
    name: one.call.name,
    ...(id === undefined ? {} : { id }),
    ...argumentMembers(one.call),
    ...(answer?.result === undefined ? {} : { result: answer.result }),
    ...(answer?.isError === true ? { error: toldError(answer) } : {}),
    executed: answer !== undefined,
    startUnixNano: one.askedAtUnixNano,
    endUnixNano: one.answeredAtUnixNano ?? one.askedAtUnixNano,
    turn: one.turn,
    provenance: { name: source, ...(id === undefined ? {} : { id: source }), ...(one.call.arguments === undefined ? {} : { arguments: source }), ...(answer?.result === undefined ? {} : { result: source }) },
  };
}

function toldError(answer: ToldResult): ToolError {
  return { message: plainText(answer.result ?? ''), sign: 'is_error' };
}

function argumentMembers(from: { readonly arguments?: AskedCall['arguments']; readonly argumentsText?: string } | undefined): Pick<ToolCall, 'arguments' | 'argumentsText'> {
  return {
    ...(from?.arguments === undefined ? {} : { arguments: from.arguments }),
    ...(from?.argumentsText === undefined ? {} : { argumentsText: from.argumentsText }),
  };
}

/** Results by call id, from everything that the models of a trace were told. The first telling counts. */
export function toldById(nodes: readonly Node[]): ReadonlyMap<string, ToldResult> {
  const found = new Map<string, ToldResult>();
  for (const node of nodes) {
    // An SDK that runs the tools by itself tells the results beside the calls.
    for (const message of [...(node.told.facts.inputMessages ?? []), ...(node.told.facts.outputMessages ?? [])]) for (const one of message.told) if (one.id !== undefined && !found.has(one.id)) found.set(one.id, one);
  }
  return found;
}

/** Results without an id, in order; only the longest telling, for every request repeats the history. */
function toldWithoutId(models: readonly Node[]): ToldResult[] {
  const anonymous = (messages: readonly Message[]): ToldResult[] => messages.flatMap((message) => message.told.filter((one) => one.id === undefined));
  const lists = models.slice(1).map((node) => anonymous(messagesAfterUser(node.told.facts.inputMessages ?? [], false)));
  const longest = lists.reduce((found, list) => (list.length > found.length ? list : found), [] as ToldResult[]);
  return [...longest, ...models.flatMap((node) => anonymous(node.told.facts.outputMessages ?? []))];
}

function takeTold(told: ToldResult[], name: string): ToldResult | undefined {
  const at = told.findIndex((one) => one.name === undefined || one.name === name);
  return at === -1 ? undefined : told.splice(at, 1)[0];
}

function byEnd(a: Node, b: Node): number {
  return compare(a.span.startUnixNano, b.span.startUnixNano) || compare(a.span.endUnixNano, b.span.endUnixNano) || (a.span.spanId < b.span.spanId ? -1 : 1);
}

function byTrajectory(a: { readonly call: ToolCall; readonly order: number }, b: { readonly call: ToolCall; readonly order: number }): number {
  return (
    compare(a.call.startUnixNano ?? 0n, b.call.startUnixNano ?? 0n) ||
    a.order - b.order ||
    compare(a.call.endUnixNano ?? 0n, b.call.endUnixNano ?? 0n) ||
    ((a.call.spanId ?? '') < (b.call.spanId ?? '') ? -1 : 1)
  );
}
