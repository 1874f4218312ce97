/**
 * A run as one block for a judge. A run that does not fit keeps its first and last steps as far as possible; long texts in between lose
 * their middle, and repeated results become references. Finally the view omits and counts steps in the middle. Every gap is marked.
 */
import type { AgentTrace, ToolCall } from '../../src/model/agent-trace.ts';
import { callEnd } from '../../src/model/error-signs.ts';
import { jsonText, plainText } from '../../src/model/json.ts';
import { blockMax } from './judge-input.ts';
import { count } from '../explain/explanation.ts';

export interface RunView {
  readonly text: string;
  /** True when a part of the run is cut or omitted. */
  readonly truncated: boolean;
  /** Indices of omitted calls. */
  readonly leftOut: readonly number[];
  /** The run in full, one for each text or call. */
  readonly entries: () => readonly string[];
}

export interface RunViewOptions {
  /** Limit of UTF-16 units. */
  readonly charsMax?: number;
  /** Indices of the calls to include. Defaults to all, with the texts in between. */
  readonly calls?: readonly number[];
}

/** A call with its result, or a text. */
interface Entry {
  readonly head: string;
  /** Arguments of the call; absent for a text. */
  readonly sent: string;
  readonly text: string;
  readonly call?: { readonly index: number; readonly tool: string; readonly failed: boolean };
}

/** Number of entries at each end that keep more text. */
const edge = 3;
/** Share of the limit for one text at an end. */
const edgeShare = 0.08;
/** Limits for texts in the middle, tried in turn until the run fits. */
const caps = [8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60];
/** Minimum length of a text for a reference. */
const repeatedLeast = 80;
const toolsNamed = 20;
const nameMax = 80;

export function runView(trace: AgentTrace, { charsMax = blockMax, calls }: RunViewOptions = {}): RunView {
  const entries = calls === undefined ? entriesOf(trace) : calls.flatMap((index) => callEntry(trace.toolCalls[index], index));
  return { ...viewOf(entries, charsMax), entries: () => entries.map((entry) => written(entry, Infinity)) };
}

function viewOf(entries: readonly Entry[], charsMax: number): Omit<RunView, 'entries'> {
  if (entries.length === 0) return { text: '(no steps)', truncated: false, leftOut: [] };
  const whole = entries.map((entry) => written(entry, Infinity));
  if (lengthOf(whole) <= charsMax) return { text: whole.join('\n'), truncated: false, leftOut: [] };
  const referring = withoutRepeats(entries);
  const edgeMax = Math.floor(charsMax * edgeShare);
  for (const cap of [Infinity, ...caps]) {
    const lines = capped(referring, cap, edgeMax);
    if (lengthOf(lines) <= charsMax)
      return {
        text: lines.join('\n'),
        truncated: referring.some((entry, at) => (lines[at] ?? '') !== written(entry, Infinity)),
        leftOut: [],
      };
  }
  return withGap(referring, capped(referring, caps.at(-1) ?? 0, Math.floor(edgeMax / 2)), charsMax);
}

function capped(entries: readonly Entry[], cap: number, edgeMax: number): readonly string[] {
  return entries.map((entry, at) => written(entry, at < edge || at >= entries.length - edge ? Math.max(cap, edgeMax) : cap));
}

const endWords = {
  failed: 'failed',
  returned: 'ran',
  not_executed: 'did not run',
  waiting: 'did not run yet and waits for a person or another program',
  refused: 'did not run, because a person refused it',
} as const;

/** One line per call, for questions about a part of a run. */
export function outlineText(trace: AgentTrace, charsMax: number): string {
  const lines = trace.toolCalls.map((call, at) => `${at + 1}. ${toolName(call)}: ${endWords[callEnd(call)]}`);
  return shortened(lines.join('\n'), charsMax);
}

/** Calls and texts when the messages contain all calls; otherwise only the calls. */
function entriesOf(trace: AgentTrace): readonly Entry[] {
  const messageCalls = (trace.messages ?? []).flatMap(({ calls }) => calls);
  const isComplete =
    trace.messages !== undefined && new Set(messageCalls).size === trace.toolCalls.length && messageCalls.length === trace.toolCalls.length;
  if (!isComplete) return trace.toolCalls.flatMap(callEntry);
  return (trace.messages ?? []).flatMap(({ role, text, calls }) => {
    const spoken =
      text !== undefined && text.trim() !== '' && (role === 'assistant' || role === 'user')
        ? [{ head: `${role} said: `, sent: '', text }]
        : [];
    return [...spoken, ...calls.flatMap((index) => callEntry(trace.toolCalls[index], index))];
  });
}

function callEntry(call: ToolCall | undefined, index: number): readonly Entry[] {
  if (call === undefined) return [];
  const sent =
    call.arguments === undefined || call.arguments === null
      ? (call.argumentsText ?? call.truncated?.arguments ?? '')
      : jsonText(call.arguments);
  return [
    {
      head: `${index + 1}. ${toolName(call)}`,
      sent,
      text: outcomeText(call),
      call: { index, tool: toolName(call), failed: callEnd(call) === 'failed' },
    },
  ];
}

function outcomeText({ executed, error, result, truncated }: ToolCall): string {
  if (!executed) return 'did not run';
  if (error !== undefined) return `failed: ${error.message}`;
  if (result !== undefined) return `returned: ${result === null ? '(nothing)' : plainText(result)}`;
  return truncated?.result === undefined ? 'result not recorded' : `returned, cut short on its way: ${truncated.result}`;
}

function toolName({ name }: ToolCall): string {
  return shortened(name.replaceAll(/\s+/g, ' '), nameMax);
}

/** Replaces a repeated result by a reference to the earlier call. */
function withoutRepeats(entries: readonly Entry[]): readonly Entry[] {
  const first = new Map<string, number>();
  return entries.map((entry) => {
    if (entry.call === undefined || entry.text.length < repeatedLeast) return entry;
    const known = first.get(entry.text);
    if (known === undefined) first.set(entry.text, entry.call.index);
    return known === undefined ? entry : { ...entry, text: `(the same as step ${known + 1})` };
  });
}

function written({ head, sent, text, call }: Entry, cap: number): string {
  return call === undefined ? `${head}${shortened(text, cap)}` : `${head}(${shortened(sent, cap)})\n   ${shortened(text, cap)}`;
}

/** Keeps the beginning and the end. */
function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const tail = Math.floor(max * 0.3);
  return `${text.slice(0, max - tail)} [cut: ${text.length - max} characters] ${tail === 0 ? '' : text.slice(-tail)}`.toWellFormed();
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** Alternately keeps steps from both ends while they fit, and marks the gap. */
function withGap(entries: readonly Entry[], lines: readonly string[], charsMax: number): Omit<RunView, 'entries'> {
  let room = charsMax - (nameMax + 40) * toolsNamed;
  let [head, tail] = [0, 0];
  for (let isHead = true; head + tail < lines.length; isHead = !isHead) {
    const next = (isHead ? lines[head] : lines[lines.length - 1 - tail]) ?? '';
    if (next.length + 1 > room) break;
    room -= next.length + 1;
    if (isHead) head++;
    else tail++;
  }
  const gap = entries.slice(head, entries.length - tail);
  if (gap.length === 0) return { text: lines.join('\n'), truncated: true, leftOut: [] };
  return {
    text: [...lines.slice(0, head), gapText(gap), ...(tail === 0 ? [] : lines.slice(-tail))].join('\n'),
    truncated: true,
    leftOut: gap.flatMap(({ call }) => (call === undefined ? [] : [call.index])),
  };
}

function gapText(gap: readonly Entry[]): string {
  const calls = gap.flatMap(({ call }) => call ?? []);
  const texts = gap.length - calls.length;
  const tools = [...Map.groupBy(calls, ({ tool }) => tool)].sort(([, one], [, other]) => other.length - one.length);
  const failed = calls.filter((call) => call.failed).length;
  const [first, last] = [calls[0], calls.at(-1)];
  const which = first === undefined || last === undefined ? 'no steps' : `steps ${first.index + 1} to ${last.index + 1}`;
  const named = tools
    .slice(0, toolsNamed)
    .map(([tool, some]) => `${tool} ${some.length}×`)
    .join(', ');
  const others = tools.length > toolsNamed ? `, and ${count(tools.length - toolsNamed, 'other tool')}` : '';
  return `[left out: ${which}${named === '' ? '' : ` (${named}${others}; ${failed} failed)`}${texts === 0 ? '' : `, ${count(texts, 'text')}`}]`;
}
