/** The tool calls of one agent, told once: tool spans joined with what its models asked for and were told. */
import type { AskedCall, ToldResult } from '../../collectors/collector.ts';
import type { Provenance, ToolCall, ToolError } from '../model/agent-trace.ts';
import { isJsonObject, plainText } from '../model/json.ts';
import { askedCalls, canonical, toldWithoutId, type Asked } from './asked-calls.ts';
import { executionsOf, type Execution } from './executions.ts';
import { errorOf } from './facts.ts';
import { compare } from './times.ts';
import type { Node } from './tree.ts';

export interface ToolCallsOf {
  readonly calls: readonly ToolCall[];
  /** Calls that a model asked for and nothing answered yet. */
  readonly unanswered: number;
}

/**
 * Tool calls from the agent's own spans. `toldAnywhere` are results that any model of the trace was told, by call id. `enclosing` are the
 * agent's span and its frames: where no model span tells a call, they may.
 */
export function toolCalls(own: readonly Node[], toldAnywhere: ReadonlyMap<string, ToldResult>, enclosing: readonly Node[]): ToolCallsOf {
  const requests = own.filter((node) => node.told.facts.role === 'model').sort(byBeginning);
  const models = requests.some(asks) ? requests : [...requests, ...enclosing.filter(asks)];
  const asked = askedCalls(models);
  const executions = executionsOf(own.filter((node) => node.told.facts.role === 'tool'));
  const pairs = pair(asked, executions);
  const answers = answersOf(asked, toldAnywhere, models);
  const drafts: { readonly call: ToolCall; readonly order: number }[] = [];
  let unanswered = 0;
  for (const execution of executions) {
    const partner = pairs.get(execution);
    const answer = partner === undefined ? undefined : answers.get(partner);
    const told = answer ?? (execution.id === undefined ? undefined : toldAnywhere.get(execution.id));
    drafts.push({ call: executed(execution, partner, told), order: partner?.order ?? Number.MAX_SAFE_INTEGER });
  }
  const joinedCalls = new Set(pairs.values());
  for (const one of asked) {
    if (joinedCalls.has(one)) continue;
    const answer = answers.get(one);
    if (answer === undefined) unanswered++;
    drafts.push({ call: onlyAsked(one, answer), order: one.order });
  }
  return { calls: drafts.sort(byTrajectory).map((draft) => draft.call), unanswered };
}

function asks(node: Node): boolean {
  return node.told.facts.outputMessages?.some((message) => message.asked.length > 0) ?? false;
}

/** What the models were told about each call: by its id, else the next result of its name, or without a name, that nobody claimed yet. */
function answersOf(asked: readonly Asked[], toldAnywhere: ReadonlyMap<string, ToldResult>, models: readonly Node[]): ReadonlyMap<Asked, ToldResult> {
  const unclaimed = queuesOf(toldWithoutId(models).map((told, place) => ({ told, place })), ({ told }) => told.name);
  const answers = new Map<Asked, ToldResult>();
  for (const one of asked) {
    const answer = (one.call.id === undefined ? undefined : toldAnywhere.get(one.call.id)) ?? earlier(unclaimed.get(one.call.name), unclaimed.get(undefined))?.told;
    if (answer !== undefined) answers.set(one, answer);
  }
  return answers;
}

interface Queue<T> {
  readonly items: readonly T[];
  next: number;
}

function queuesOf<K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, Queue<T>> {
  return new Map([...Map.groupBy(items, keyOf)].map(([key, group]) => [key, { items: group, next: 0 }]));
}

/** Takes the first of two queues' heads. */
function earlier<T extends { readonly place: number }>(left: Queue<T> | undefined, right: Queue<T> | undefined): T | undefined {
  const a = left?.items[left.next];
  const b = right?.items[right.next];
  const from = a !== undefined && (b === undefined || a.place < b.place) ? left : right;
  return from?.items[from.next++];
}

interface Rule {
  readonly byId: boolean;
  readonly left: (execution: Execution) => string | undefined;
  readonly right: (one: Asked) => string | undefined;
}

/** By call id; without one by name and arguments in order; at last by name in order. */
const rules: readonly Rule[] = [
  { byId: true, left: (execution) => execution.id, right: (one) => one.call.id },
  { byId: false, left: (execution) => `${execution.name} ${argumentsOf(execution)}`, right: (one) => `${one.call.name} ${canonical(one.call)}` },
  { byId: false, left: (execution) => execution.name, right: (one) => one.call.name },
];

function pair(asked: readonly Asked[], executions: readonly Execution[]): ReadonlyMap<Execution, Asked> {
  const pairs = new Map<Execution, Asked>();
  const taken = new Set<Asked>();
  for (const { byId, left, right } of rules) {
    if (pairs.size === executions.length) break;
    const free = asked.filter((one) => !taken.has(one));
    if (free.length === 0) break;
    const all = queuesOf(free, right);
    const withoutId = byId ? all : queuesOf(free.filter((one) => one.call.id === undefined), right);
    for (const execution of executions) {
      if (pairs.has(execution)) continue;
      const key = left(execution);
      if (key === undefined) continue;
      // Two different ids are two different calls, whatever their names.
      const queue = (byId || execution.id === undefined ? all : withoutId).get(key);
      while (queue?.items[queue.next] !== undefined && taken.has(queue.items[queue.next] as Asked)) queue.next++;
      const one = queue?.items[queue.next];
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
  const argumentsPart = source === undefined ? (tools.find((tool) => tool?.argumentsPart !== undefined) ?? partner?.call)?.argumentsPart : undefined;
  const resultPart = result === undefined ? (tools.find((tool) => tool?.resultPart !== undefined) ?? answer)?.resultPart : undefined;
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
    ...truncatedMembers(argumentsPart, resultPart),
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
    ...truncatedMembers(one.call.argumentsPart, answer?.resultPart),
    ...(answer?.isError === true ? { error: toldError(answer) } : {}),
    executed: answer !== undefined,
    startUnixNano: one.askedAtUnixNano,
    endUnixNano: one.answeredAtUnixNano ?? one.askedAtUnixNano,
    turn: one.turn,
    provenance: { name: source, ...(id === undefined ? {} : { id: source }), ...(one.call.arguments === undefined ? {} : { arguments: source }), ...(answer?.result === undefined ? {} : { result: source }) },
  };
}

function toldError(answer: ToldResult): ToolError {
  return { message: plainText(answer.result ?? answer.resultPart ?? ''), sign: 'is_error' };
}

function truncatedMembers(argumentsPart: string | undefined, resultPart: string | undefined): Pick<ToolCall, 'truncated'> {
  if (argumentsPart === undefined && resultPart === undefined) return {};
  return { truncated: { ...(argumentsPart === undefined ? {} : { arguments: argumentsPart }), ...(resultPart === undefined ? {} : { result: resultPart }) } };
}

function argumentMembers(from: { readonly arguments?: AskedCall['arguments']; readonly argumentsText?: string } | undefined): Pick<ToolCall, 'arguments' | 'argumentsText'> {
  return {
    ...(from?.arguments === undefined ? {} : { arguments: from.arguments }),
    ...(from?.argumentsText === undefined ? {} : { argumentsText: from.argumentsText }),
  };
}

function byBeginning(a: Node, b: Node): number {
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
