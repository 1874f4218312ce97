/**
 * Agents that take over inside one agent's spans, where no span reports them. A request under other instructions, after a call that hands over to an
 * agent or gives it a task, belongs to that agent.
 */
import type { Message, RequestedCall } from '../../../collectors/collector.ts';
import { lastText, systemText } from '../../../collectors/parsing/messages.ts';
import type { SubAgent } from '../../model/agent-trace.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../model/json.ts';
import { modelSpans } from './model-calls.ts';
import type { Node } from './span-tree.ts';

export interface Takeover {
  readonly via: SubAgent['via'];
  /** Name of the agent that took over; `undefined` when no call gives it. */
  readonly name: string | undefined;
  /** The first request. */
  readonly node: Node;
  readonly own: readonly Node[];
}

interface Participant {
  readonly prompt: string;
  readonly via: SubAgent['via'];
  readonly name: string | undefined;
  readonly requests: Node[];
  readonly tools: Node[];
}

/** More agents than these do not take part in one conversation. */
const participantsMax = 32;

/** The agents that take over among `own`. Spans outside every takeover stay with the agent itself. */
export function takeovers(own: readonly Node[]): readonly Takeover[] {
  if (!hasOtherPrompts(own)) return [];
  const models = modelSpans(own);
  const participants: Participant[] = [];
  let current: Participant | undefined;
  for (const node of models) {
    const prompt = promptOf(node);
    if (current === undefined) {
      if (prompt !== undefined) participants.push((current = { prompt, via: 'child_span', name: undefined, requests: [node], tools: [] }));
      continue;
    }
    if (prompt !== undefined && prompt !== current.prompt)
      current = participants.find((one) => one.prompt === prompt) ?? participantAfter(current, node, own, participants) ?? current;
    current.requests.push(node);
  }
  if (participants.length < 2) return [];
  for (const node of own) if (node.reading.facts.role === 'tool') callerOf(node, participants)?.tools.push(node);
  return participants.slice(1).flatMap(({ via, name, requests, tools }) => {
    const [node] = requests;
    // A tool may ask a model without being an agent.
    const isAgent = via === 'handoff' || tools.length > 0 || requests.some((request) => askedBy(request).length > 0);
    return node !== undefined && isAgent
      ? [{ via, name, node, own: own.filter((one) => requests.includes(one) || tools.includes(one)) }]
      : [];
  });
}

/** Most agents say the same instructions with every request. */
function hasOtherPrompts(own: readonly Node[]): boolean {
  let first: string | undefined;
  for (const node of own) {
    if (node.reading.facts.role !== 'model') continue;
    const prompt = promptOf(node);
    if (prompt === undefined) continue;
    if (first !== undefined && prompt !== first) return true;
    first = prompt;
  }
  return false;
}

export function promptOf({ reading: { facts } }: Node): string | undefined {
  return facts.systemPrompt ?? systemText(facts.inputMessages ?? []);
}

function participantAfter(current: Participant, node: Node, own: readonly Node[], participants: Participant[]): Participant | undefined {
  if (participants.length >= participantsMax) return undefined;
  const before = current.requests.at(-1);
  if (before === undefined) return undefined;
  const calls = [...askedBy(before), ...toolsBetween(before, node, own)];
  const target = calls.map(targetOf).find((name) => name !== undefined) ?? toldTarget(before, node, own);
  const question = lastText(node.reading.facts.inputMessages ?? [], 'user')?.trim();
  const isResultReported = target === undefined && question !== undefined && calls.some((call) => holds(call.arguments, question));
  if (target === undefined && !isResultReported) return undefined;
  const prompt = promptOf(node) ?? '';
  const participant: Participant = { prompt, via: isResultReported ? 'tool' : 'handoff', name: target, requests: [], tools: [] };
  participants.push(participant);
  return participant;
}

function askedBy({ reading: { facts } }: Node): readonly RequestedCall[] {
  return (facts.outputMessages ?? []).flatMap((message: Message) => message.requested);
}

function toolsBetween(before: Node, after: Node, own: readonly Node[]): readonly Partial<RequestedCall>[] {
  return own.flatMap((node) => {
    const { role, tool } = node.reading.facts;
    return role === 'tool' && tool !== undefined && isBetween(before, node, after) ? [tool] : [];
  });
}

/** The name that a span of the framework gives, beside the requests. */
function toldTarget(before: Node, after: Node, own: readonly Node[]): string | undefined {
  return own.find((node) => node.reading.facts.handoffTo !== undefined && isBetween(before, node, after))?.reading.facts.handoffTo;
}

function isBetween({ span: before }: Node, { span }: Node, { span: after }: Node): boolean {
  return span.startUnixNano >= before.startUnixNano && span.startUnixNano <= after.startUnixNano;
}

/**
 * The participant that requested a call: by its id, else the last that asked for a tool of the name. Where no answer names its calls, the participant
 * that asked last.
 */
function callerOf({ span, reading }: Node, participants: readonly Participant[]): Participant | undefined {
  const { tool } = reading.facts;
  let asking: Latest | undefined;
  let last: Latest | undefined;
  for (const participant of participants)
    for (const request of participant.requests) {
      const at = request.span.startUnixNano;
      if (at > span.startUnixNano) continue;
      const asked = askedBy(request);
      if (at > (last?.at ?? -1n)) last = { participant, at, isSilent: asked.length === 0 };
      const isAsked = asked.some(({ id, name }) => (id !== undefined && tool?.id !== undefined ? id === tool.id : name === tool?.name));
      if (isAsked && at > (asking?.at ?? -1n)) asking = { participant, at, isSilent: false };
    }
  return asking?.participant ?? (last?.isSilent === true ? last.participant : undefined);
}

interface Latest {
  readonly participant: Participant;
  readonly at: bigint;
  readonly isSilent: boolean;
}

const HANDOVER = /^(?:transfer|hand[-_ ]?(?:off|over)|delegate)(?:[-_ ](?:\w+[-_ ])?to[-_ ](.{1,200}))?$/i;

/** Words for any agent, after which such a tool is named when its arguments choose the agent. */
const ANY_AGENT = /^(?:an?[-_ ])?(?:(?:sub|other|another)[-_ ]?)?(?:agents?|co-?workers?|members?|specialists?|experts?|assistants?)$/i;

/** Arguments that name the agent that takes over. */
const targetMembers = [
  'to_agent',
  'agent_name',
  'agentName',
  'target_agent',
  'agent',
  'agent_id',
  'target',
  'to',
  'recipient',
  'coworker',
  'member_id',
  'name',
];

/** Other arguments that a hand-over may have: a tool with arguments beyond these does work itself. */
const BESIDES =
  /^(?:reason|message|input|task|request|context|instructions?|query|question|summary|description|ctx|expected_output|data|note)s?$/i;

/** The agent that a call hands over to; undefined: it is another call. */
export function targetOf(call: Partial<RequestedCall>): string | undefined {
  const match = HANDOVER.exec(call.name ?? '');
  if (match === null) return undefined;
  const { [1]: named } = match;
  const args = call.arguments ?? {};
  if (named !== undefined && !ANY_AGENT.test(named)) return Object.keys(args).every((key) => BESIDES.test(key)) ? named : undefined;
  const told = targetMembers.map((key) => (Object.hasOwn(args, key) ? args[key] : undefined)).find((value) => typeof value === 'string');
  return told === '' ? undefined : told;
}

/** So many values of a call's arguments are looked at. */
const valuesMax = 200;

/** Some value in it is this text. */
function holds(value: JsonValue | undefined | null, text: string): boolean {
  const waiting: (JsonValue | undefined)[] = [value];
  for (let seen = 0; waiting.length > 0 && seen < valuesMax; seen++) {
    const next = waiting.pop();
    if (typeof next === 'string' && next.trim() === text) return true;
    if (isJsonArray(next)) waiting.push(...next.slice(0, valuesMax));
    else if (isJsonObject(next)) waiting.push(...Object.values(next).slice(0, valuesMax));
  }
  return false;
}
