/** `get_run`: one run within the size of an answer. The failed verdicts and the calls that they are about come first. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, plainText, objectsAt } from '../../model/json.ts';
import { present } from '../../model/present.ts';
import { asked, type AskApi, argumentsOf, type Offer, type Offered } from './api-request.ts';
import { compact } from './compact.ts';
import { type Answer, pageEntriesMax, type Section } from './tool-answer.ts';
import type { Tool } from './tool.ts';

const ids = { trace_id: 'trace', span_id: 'span' } as const;

/** The routes that the tool asks. */
interface RunRoutes {
  readonly one: Offered;
  readonly calls: Offered;
  readonly conversation: Offered;
}

/** One call of the tool. */
interface Asking extends RunRoutes {
  readonly ask: AskApi;
  readonly given: JsonObject;
}

/** Calls that are read with the run. Calls that failed behind them are read one by one. */
const callsRead = 200;
const failingCallsMax = 8;
/** Most entries of a page of the API. */
const callsMax = 100_000;
/** Most characters of a message of the conversation. */
const messageCharsMax = 4_000;
/** Most characters of a part of a long text, and most bytes of its JSON. */
const textCharsMax = 13_000;

const texts = ['input', 'final_response', 'system_prompt'] as const;
const parts = ['overview', 'tool_calls', 'conversation', ...texts] as const;

export function runTool(offer: Offer): Tool {
  const routes = {
    one: offer('get', '/runs/{trace}/{span}', ids),
    calls: offer('get', '/runs/{trace}/{span}/tool-calls', ids),
    conversation: offer('get', '/runs/{trace}/{span}/conversation', ids),
  };
  const input = argumentsOf(routes.one, { without: ['list_max'] });
  return {
    name: 'get_run',
    title: 'One run',
    description:
      'Shows one run: first the failed verdicts with their explanations and the tool calls that failed, then input, answer, other calls and passed verdicts. Long parts are cut; `part` shows one of them: tool_calls in pages, or one call whole with `index`; conversation; input, final_response or system_prompt from `offset` on.',
    input: {
      ...input,
      properties: {
        ...input.properties,
        part: { type: 'string', enum: parts, default: 'overview', description: 'The part to show.' },
        index: { type: 'integer', minimum: 0, description: 'With part=tool_calls: only the call at this position, whole.' },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'Characters of a long text, calls of tool_calls or messages of the conversation to leave out.',
        },
      },
    },
    async run(ask, given) {
      const asking: Asking = { ...routes, ask, given };
      const part = parts.find((known) => known === member(given, 'part')) ?? 'overview';
      const offset = Number(member(given, 'offset') ?? 0);
      if (part === 'overview') return await overview(asking);
      if (part === 'tool_calls') return await toolCalls(asking, offset);
      if (part === 'conversation') {
        const messages = objectsAt(await asked(ask, routes.conversation, { ...given, text_max: messageCharsMax }), 'messages');
        return page('messages', messages, offset);
      }
      const run = await asked(ask, routes.one, { ...given, list_max: 0 });
      return textFrom(plainText(member(run, part) ?? null), offset);
    },
  };
}

async function toolCalls({ ask, given, calls }: Asking, offset: number): Promise<Answer> {
  if (member(given, 'index') === undefined) {
    const limit = Math.min(callsMax, offset + pageEntriesMax + 1);
    return page('tool_calls', objectsAt(await asked(ask, calls, { ...given, limit }), 'tool_calls'), offset);
  }
  const [call] = objectsAt(await asked(ask, calls, given), 'tool_calls');
  if (call === undefined) return { sections: [], notes: ['The run has no call at this index.'], isError: true };
  const text = plainText(call);
  return offset === 0 && Buffer.byteLength(text) <= textCharsMax ? { sections: [{ name: 'call', value: call }] } : textFrom(text, offset);
}

function page(name: string, entries: readonly JsonObject[], offset: number): Answer {
  const shown = entries.slice(offset, offset + pageEntriesMax);
  return {
    sections: [{ name, value: shown.map(compact), isPage: true }],
    notes: entries.length > offset + shown.length ? [`More: offset=${offset + shown.length}.`] : [],
    whole: name === 'tool_calls' ? 'index=N shows one call whole.' : 'The API has them whole.',
  };
}

function textFrom(text: string, offset: number): Answer {
  const end = Math.min(text.length, offset + textCharsMax);
  // JSON of other alphabets has more bytes than characters.
  const bytes = Buffer.byteLength(JSON.stringify(text.slice(offset, end)));
  const fitting = bytes <= textCharsMax ? end : offset + Math.floor(((end - offset) * textCharsMax) / bytes);
  return {
    sections: [{ name: 'text', value: text.slice(offset, fitting) }],
    notes: [`Characters ${offset} to ${fitting} of ${text.length}.${fitting < text.length ? ` More: offset=${fitting}.` : ''}`],
  };
}

async function overview(asking: Asking): Promise<Answer> {
  const { ask, given, one } = asking;
  const run = await asked(ask, one, { ...given, list_max: callsRead });
  const { verdicts: _verdicts, decisions: _decisions, tool_calls: _calls, tool_definitions: _tools, ...members } = run;
  const verdicts = objectsAt(run, 'verdicts');
  const failed = verdicts.filter(hasFailed);
  const read = objectsAt(run, 'tool_calls').map((call, index) => ({ index, ...call }));
  const failing = await failingCalls(asking, { read, failed });
  const others = read.filter(({ index }) => !failing.some((call) => call['index'] === index));
  const offeredTools = objectsAt(run, 'tool_definitions').map(({ name }) => name ?? null);
  const rest = Object.fromEntries(Object.entries(members).filter(([name]) => !known.has(name)));
  const about = Object.fromEntries(aboutRun.flatMap((name) => (Object.hasOwn(run, name) ? [[name, run[name] ?? null] as const] : [])));
  const sections: readonly Section[] = [
    { name: 'run', value: about, share: 0.08 },
    { name: 'failed', value: failed.map(failedVerdict), share: 0.28 },
    // Members that say where the run went wrong.
    ...Object.entries(rest).map(([name, value]) => ({ name, value, share: 0.1 })),
    { name: 'failing_calls', value: failing.map(shortCall), share: 0.24 },
    { name: 'input', value: run['input'] ?? null, share: 0.1 },
    { name: 'final_response', value: run['final_response'] ?? null, share: 0.1 },
    { name: 'tool_calls', value: others.map(shortCall) },
    { name: 'passed', value: verdicts.filter(isPassed).map(shortVerdict) },
    { name: 'not_scored', value: objectsAt(run, 'decisions').filter(isUnscored).map(shortDecision) },
    { name: 'annotations', value: run['annotations'] ?? null },
    { name: 'system_prompt', value: run['system_prompt'] ?? null },
    { name: 'tools_offered', value: offeredTools },
  ];
  const leftOut = Number(member(run, 'tool_calls_left_out') ?? 0);
  return {
    sections: sections.map((section) => ({ ...section, value: compact(section.value) })).filter(({ value }) => !isNothing(value)),
    notes: leftOut > 0 ? [`The run has ${leftOut} more calls: part=tool_calls offset=${callsRead}.`] : [],
    whole: 'get_run with part=tool_calls, conversation, input, final_response or system_prompt shows more.',
  };
}

const aboutRun: readonly string[] = [
  'trace_id',
  'span_id',
  'tenant',
  'agent',
  'version',
  'service',
  'model',
  'session_id',
  'task',
  'started_at',
  'duration_seconds',
  'status',
  'error_type',
  'error_message',
  'completeness',
  'revision',
  'model_calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'content_gone',
  'tool_calls_carried',
  'truncated',
  'part_of',
];

/** Members with their own section, and members that no reader of the run needs. All others are about failures, and come first. */
const known: ReadonlySet<string> = new Set([
  ...aboutRun,
  'ended_at',
  'input',
  'final_response',
  'system_prompt',
  'annotations',
  'dialects',
  'evidence',
  'parent',
  'tasks',
  'constraints',
  'tokens',
  'documents',
  'tool_calls_left_out',
  'input_excerpt',
  'labels',
  'content_kept',
  'spans_kept',
  'spans_gone',
  'revisions',
]);

function hasFailed(verdict: JsonObject): boolean {
  return verdict['passed'] === false || verdict['status'] === 'failed';
}

function isPassed(verdict: JsonObject): boolean {
  return verdict['status'] === 'scored' && !hasFailed(verdict);
}

function isUnscored({ decision }: JsonObject): boolean {
  return decision !== 'scored';
}

function isNothing(value: JsonValue): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Calls that failed, and calls that a failed verdict is about. */
async function failingCalls(
  { ask, given, calls }: Asking,
  { read, failed }: { readonly read: readonly JsonObject[]; readonly failed: readonly JsonObject[] },
): Promise<readonly JsonObject[]> {
  const wanted = new Set(failed.flatMap(failedPositions));
  const spans = new Set(failed.flatMap((verdict) => textsAt(verdict, 'evidence')));
  const among = read.filter(
    (call) =>
      wanted.has(Number(call['index'])) ||
      spans.has(String(call['span_id'])) ||
      call['outcome'] === 'failed' ||
      call['outcome'] === 'refused',
  );
  const behind = [...wanted].filter((index) => index >= read.length).toSorted((a, b) => a - b);
  const later = await Promise.all(
    behind.slice(0, Math.max(0, failingCallsMax - among.length)).map(async (index) => {
      const [found] = objectsAt(await asked(ask, calls, { ...given, index }), 'tool_calls');
      const call = found?.['call'] ?? null;
      return isJsonObject(call) ? [{ index, ...call }] : [];
    }),
  );
  return [...among, ...later.flat()].slice(0, failingCallsMax);
}

/** Positions of the calls that a verdict is about. */
function failedPositions(verdict: JsonObject): readonly number[] {
  const details = verdict['details'] ?? null;
  const judged = isJsonObject(details) ? (member(details, 'parts') ?? null) : null;
  return isJsonArray(judged)
    ? judged.flatMap((part) => (isJsonObject(part) && part['passed'] === false && typeof part['index'] === 'number' ? [part['index']] : []))
    : [];
}

function textsAt(value: JsonObject, name: string): readonly string[] {
  const list = member(value, name) ?? null;
  return isJsonArray(list) ? list.map(plainText) : [];
}

/** Parts that passed are left out of the details. */
function failedVerdict(verdict: JsonObject): JsonObject {
  const { name, evaluator, score, threshold, label, reason, explanation, evidence } = verdict;
  const details = verdict['details'] ?? null;
  const judged = isJsonObject(details) ? (member(details, 'parts') ?? null) : null;
  return {
    ...present({ name, evaluator, score, threshold, label, reason, explanation, evidence }),
    ...(isJsonObject(details)
      ? {
          details: {
            ...details,
            ...(isJsonArray(judged) ? { parts: judged.filter((part) => isJsonObject(part) && part['passed'] === false) } : {}),
          },
        }
      : {}),
  };
}

function shortCall({ index, name, outcome, error, arguments: sent, result, span_id: spanId }: JsonObject): JsonObject {
  return present({ index, name, outcome, error, arguments: sent, result, span_id: spanId });
}

function shortVerdict({ name, label, score }: JsonObject): JsonObject {
  return present({ name, label, score });
}

function shortDecision({ name, decision, reason, missing }: JsonObject): JsonObject {
  const todo = isJsonObject(missing) ? member(missing, 'todo') : undefined;
  return present({ name, decision, reason, todo });
}
