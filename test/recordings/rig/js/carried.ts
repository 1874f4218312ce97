/** Tells which true values stand somewhere in the decoded bodies. "Is there", not "is where one expects it". */
import type { AttributeValue, Attributed, LogRecord, Span } from '../../../../src/model/span.ts';
import { isJsonArray, isJsonObject, parseJson, type JsonValue } from '../../../../src/model/json.ts';
import type { ExpectedCall, ExpectedTool, ExpectedTrace } from '../../expected.ts';
import { isEqual } from '../../equal.ts';

/** All that some spans and log records say, unpacked. */
interface Said {
  readonly raw: string;
  readonly texts: ReadonlySet<string>;
  readonly values: readonly JsonValue[];
  readonly numbers: ReadonlySet<number>;
  readonly marksError: boolean;
}

const depthMax = 6;
const errorKey = /(^|[._:])(is_?error|error|exception|error_?type|statusmessage)$/i;
const errorWord = /^(error|failed|failure)$/i;

export function saidIn(spans: readonly Span[], records: readonly LogRecord[]): Said {
  const raw: string[] = [];
  const texts = new Set<string>();
  const values: JsonValue[] = [];
  const numbers = new Set<number>();
  let marksError = false;
  const visit = (value: AttributeValue | JsonValue | undefined, depth: number): void => {
    if (typeof value === 'number' || typeof value === 'bigint') numbers.add(Number(value));
    else if (typeof value === 'string') {
      if (texts.has(value)) return;
      texts.add(value);
      raw.push(value);
      if (value.trim() !== '' && Number.isFinite(Number(value))) numbers.add(Number(value));
      const parsed = depth < depthMax ? parseJson(value.trim()) : undefined;
      if (parsed !== undefined && parsed !== value) visit(parsed, depth + 1);
    } else if (Array.isArray(value)) {
      values.push(value as readonly JsonValue[]);
      for (const item of value as readonly JsonValue[]) visit(item, depth);
    } else if (isJsonObject(value)) {
      values.push(value);
      for (const [key, item] of Object.entries(value)) {
        if (
          (errorKey.test(key) && item !== null && item !== false && item !== '') ||
          (/status|outcome|level|state$/i.test(key) && typeof item === 'string' && errorWord.test(item))
        )
          marksError = true;
        visit(item, depth);
      }
    }
  };
  const attributes = (from: Attributed): JsonValue =>
    Object.fromEntries(from.attributeKeys().map((key) => [key, from.attribute(key) as JsonValue]));
  for (const span of spans) {
    if (span.status.code === 'error') marksError = true;
    for (const part of [span.name, span.status.message, attributes(span)]) visit(part, 0);
    for (const event of span.events) {
      if (event.name === 'exception') marksError = true;
      for (const part of [event.name, attributes(event)]) visit(part, 0);
    }
  }
  for (const record of records) for (const part of [record.eventName, record.body(), attributes(record)]) visit(part, 0);
  return { raw: raw.join('\n'), texts, values, numbers, marksError };
}

function hasText(said: Said, text: string): boolean {
  return said.texts.has(text) || said.raw.includes(text) || said.raw.includes(JSON.stringify(text).slice(1, -1));
}

function leavesOf(value: JsonValue): readonly string[] {
  if (isJsonArray(value)) return value.flatMap(leavesOf);
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => [key, ...leavesOf(item)]);
  return [String(value)];
}

function hasValue(said: Said, value: unknown): boolean {
  if (typeof value === 'string') return hasText(said, value);
  if (said.values.some((one) => isEqual(one, value))) return true;
  // Other notations than JSON: one text that holds all keys and values.
  const leaves = leavesOf(value as JsonValue);
  return leaves.length > 1 && [...said.texts].some((text) => leaves.every((leaf) => text.includes(leaf)));
}

/** A JSON schema, or the same in zod's own notation. */
function hasSchema(said: Said, tool: ExpectedTool): boolean {
  const { properties = {} } = tool.input_schema as { readonly properties?: object };
  const names = Object.keys(properties);
  return said.values.some(
    (one) =>
      isJsonObject(one) &&
      [one['properties'], one['shape']].some(
        (held) => isJsonObject(held) && Object.keys(held).length === names.length && names.every((name) => Object.hasOwn(held, name)),
      ),
  );
}

/** Values that a trace needs, field by field, and whether they are there. */
function* fieldsOf(trace: ExpectedTrace, said: Said, perCall: Carrier['perCall']): Generator<readonly [string, boolean]> {
  for (const field of ['agent_name', 'session_id', 'input', 'final_response', 'system_prompt', 'model'] as const) {
    const value = trace[field];
    if (typeof value === 'string') yield [field, hasText(said, value)];
  }
  for (const kind of ['input', 'output'] as const) yield [`tokens.${kind}`, hasTokens(said, kind, perCall)];
  const calls = [...trace.tool_calls, ...trace.sub_agents.flatMap((sub) => sub.tool_calls)].filter(
    (call) => call.framework_internal !== true,
  );
  for (const call of calls) yield* fieldsOfCall(call, said);
  for (const tool of [...trace.tools, ...trace.sub_agents.flatMap((sub) => sub.tools)]) {
    yield ['tools[].name', hasText(said, tool.name)];
    yield ['tools[].description', hasText(said, tool.description)];
    yield ['tools[].input_schema', hasSchema(said, tool)];
  }
  for (const sub of trace.sub_agents) yield ['agent_name', hasText(said, sub.agent_name)];
}

/** Told call by call, or as the sum of each agent, or of all. */
function hasTokens(said: Said, kind: 'input' | 'output', perCall: Carrier['perCall']): boolean {
  const sum = (calls: Carrier['perCall']): number => calls.reduce((all, used) => all + used[kind], 0);
  const byAgent = [...Map.groupBy(perCall, ({ agent }) => agent).values()].map(sum);
  return [perCall.map((used) => used[kind]), byAgent, [sum(perCall)]].some((told) => told.every((count) => said.numbers.has(count)));
}

function* fieldsOfCall(call: ExpectedCall, said: Said): Generator<readonly [string, boolean]> {
  yield ['tool_calls[].name', hasText(said, call.name)];
  if (call.id !== undefined) yield ['tool_calls[].id', hasText(said, call.id)];
  yield ['tool_calls[].arguments', hasValue(said, call.arguments)];
  if (call.result !== undefined) yield ['tool_calls[].result', hasValue(said, call.result)];
  if (call.error === undefined) return;
  yield ['tool_calls[].error', said.marksError];
  yield ['tool_calls[].error.message', hasText(said, call.error.message)];
}

export interface Excuses {
  readonly not_carried: readonly string[];
  readonly partly_carried: readonly string[];
  readonly only_in_logs: readonly string[];
}

export interface Carrier {
  readonly trace: ExpectedTrace;
  readonly perCall: readonly { readonly agent: string; readonly input: number; readonly output: number }[];
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
}

/** The three lists of a recording. */
export function excusesOf(carriers: readonly Carrier[]): Excuses {
  const tallied = (withLogs: boolean): ReadonlyMap<string, readonly boolean[]> => {
    const tally = new Map<string, boolean[]>();
    for (const { trace, perCall, spans, records } of carriers)
      for (const [field, isThere] of fieldsOf(trace, saidIn(spans, withLogs ? records : []), perCall))
        tally.set(field, [...(tally.get(field) ?? []), isThere]);
    return tally;
  };
  const all = tallied(true);
  const spansAlone = tallied(false);
  const having = (test: (found: readonly boolean[]) => boolean, tally: ReadonlyMap<string, readonly boolean[]>): readonly string[] =>
    [...tally].filter(([, found]) => test(found)).map(([field]) => field);
  const never = having((found) => !found.includes(true), all);
  const both = (fields: readonly string[]): readonly string[] =>
    fields.includes('tokens.input') && fields.includes('tokens.output')
      ? [...fields.filter((field) => !field.startsWith('tokens.')), 'tokens']
      : fields;
  return {
    not_carried: both(never),
    partly_carried: both(having((found) => found.includes(true) && found.includes(false), all)),
    only_in_logs: both(having((found) => !found.includes(true), spansAlone).filter((field) => !never.includes(field))),
  };
}
