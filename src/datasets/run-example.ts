/**
 * Makes an example of a stored run. Its expectation repeats what the run did, so it is a draft until a person has looked at it. Stored content is
 * redacted, and so is the example.
 */
import type { DatasetExample, ExampleOrigin } from '../model/example.ts';
import type { RunKey } from '../model/agent-trace.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member, plainText } from '../model/json.ts';
import type { StoredRun, StoredVerdict } from '../model/store/store.ts';
import { present } from '../model/present.ts';

/** Limit of turns before the last one in an input. */
export const earlierTurnsMax = 50;
/** Limits of failed verdicts in the metadata, and of characters of each explanation. */
const failuresMax = 20;
const explanationCharsMax = 500;

/** `part_of_another_run`: the other run has its content. */
export const noExampleReasons = ['not_stored', 'no_content', 'no_input', 'part_of_another_run'] as const;
export type NoExampleReason = (typeof noExampleReasons)[number];

export interface Turns {
  /** Runs of the same session and agent, in order, with their content. */
  readonly runs: readonly StoredRun[];
  /** Turns without content, or beyond the limit. */
  readonly missing: number;
}

interface ExampleOptions {
  readonly origin: ExampleOrigin;
  readonly tags: readonly string[];
  readonly split?: string | undefined;
}

/** The same for every revision of a run, so that a later one replaces the example. */
export function exampleIdOf({ traceId, spanId }: Pick<RunKey, 'traceId' | 'spanId'>): string {
  return `${traceId}-${spanId}`;
}

export function exampleOfRun(run: StoredRun, earlier: Turns, { origin, tags, split }: ExampleOptions): DatasetExample | NoExampleReason {
  const { content, traceId, spanId } = run;
  if (run.partOf !== undefined) return 'part_of_another_run';
  if (content === undefined) return 'no_content';
  const input = member(content, 'input');
  if (typeof input !== 'string' || input.trim() === '') return 'no_input';
  const tools = listAt(content, 'tool_definitions').flatMap(toolJson);
  const [tasks, constraints] = [member(content, 'tasks'), member(content, 'constraints')];
  return present({
    id: exampleIdOf(run),
    input: earlier.runs.length === 0 ? input : [...earlier.runs.flatMap(turnMessages), { role: 'user', content: input }],
    expect: expectationOf(content),
    tasks: isJsonArray(tasks) && tasks.length > 0 ? tasks.map(String) : undefined,
    constraints: typeof constraints === 'string' ? constraints : undefined,
    tools: tools.length === 0 ? undefined : tools,
    tags: tags.length === 0 ? undefined : tags,
    split,
    metadata: metadataOf(run, content, earlier),
    origin: { traceId, spanId, ...origin },
    review: 'draft',
  });
}

/** A call list that the spans do not carry, and a truncated answer, are unknown: they become no expectation. */
function expectationOf(content: JsonObject): JsonObject {
  const answer = member(content, 'final_response') ?? null;
  return {
    ...(member(content, 'tool_calls_carried') === false ? {} : { tool_calls: listAt(content, 'tool_calls').flatMap(expectedCall) }),
    ...(answer === null || answer === '' || isTruncated(content, 'final_response') ? {} : { output: answer }),
  };
}

function expectedCall(call: JsonValue): readonly JsonObject[] {
  if (!isJsonObject(call)) return [];
  const sent = member(call, 'arguments');
  return [{ name: member(call, 'name') ?? '', ...(isJsonObject(sent) ? { arguments: sent } : {}) }];
}

function toolJson(tool: JsonValue): readonly JsonObject[] {
  if (!isJsonObject(tool)) return [];
  const [description, schema] = [member(tool, 'description') ?? undefined, member(tool, 'input_schema') ?? undefined];
  return [present({ name: member(tool, 'name') ?? '', description, input_schema: schema })];
}

/** One earlier turn in the OpenAI form, with the calls whose results are known. */
function turnMessages({ content = {} }: StoredRun): readonly JsonObject[] {
  const [input, answer] = [member(content, 'input') ?? null, member(content, 'final_response') ?? null];
  return [
    ...(input === null ? [] : [{ role: 'user', content: plainText(input) }]),
    ...listAt(content, 'tool_calls').flatMap(callMessages),
    ...(answer === null ? [] : [{ role: 'assistant', content: plainText(answer) }]),
  ];
}

function callMessages(call: JsonValue, at: number): readonly JsonObject[] {
  if (!isJsonObject(call) || member(call, 'result_carried') !== true) return [];
  const [id, sent, result] = [member(call, 'id') ?? `call_${at + 1}`, member(call, 'arguments') ?? {}, member(call, 'result') ?? null];
  const asked = { name: member(call, 'name') ?? '', arguments: typeof sent === 'string' ? sent : jsonText(sent) };
  return [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: asked }] },
    { role: 'tool', tool_call_id: id, content: plainText(result) },
  ];
}

function metadataOf(run: StoredRun, content: JsonObject, { runs, missing }: Turns): JsonObject {
  const { agent, service, version, model, sessionId, status } = run;
  const failed = run.verdicts.filter(({ verdict }) => verdict === 'fail').slice(0, failuresMax);
  const truncated = listAt(content, 'truncated');
  return {
    ...present<JsonObject>({ agent, service, version, model, session_id: sessionId }),
    ...(status === 'error' ? { status, error_message: member(content, 'error_message') ?? null } : {}),
    ...(failed.length === 0 ? {} : { failed: Object.fromEntries(failed.map(failure)) }),
    ...(truncated.length === 0 ? {} : { truncated }),
    ...(runs.length + missing === 0 ? {} : { earlier_turns: runs.length, ...(missing === 0 ? {} : { missing_turns: missing }) }),
  };
}

function failure({ name, explanation }: StoredVerdict): readonly [string, string] {
  return [name, explanation.slice(0, explanationCharsMax)];
}

function isTruncated(content: JsonObject, part: string): boolean {
  return listAt(content, 'truncated').includes(part);
}

function listAt(object: JsonObject, key: string): readonly JsonValue[] {
  const value = member(object, key) ?? null;
  return isJsonArray(value) ? value : [];
}
