/**
 * Reads eval sets of the Agent Development Kit: an object with `eval_cases`, each a conversation of invocations. An invocation is one run. Also
 * reads the older test files: lists of `query`, `expected_tool_use` and `reference`.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import {
  type CallNames,
  callsIn,
  filled,
  type ImportedExample,
  type ImportedSet,
  listIn,
  others,
  presentMember,
  presentText,
  type SetFormat,
} from './entries.ts';
import { present } from '../../model/present.ts';

export const adk: SetFormat = { name: 'adk', summary: 'eval sets of the Agent Development Kit', read };

const calls: CallNames = { name: 'name', arguments: 'args' };
const olderCalls: CallNames = { name: 'tool_name', arguments: 'tool_input' };

interface Problems {
  readonly faults: string[];
  readonly leftOut: string[];
}

function read(value: JsonValue): ImportedSet {
  const problems: Problems = { faults: [], leftOut: [] };
  const cases = listIn(value, ['eval_cases']);
  if (cases === undefined) problems.faults.push('it is neither an object with eval_cases nor a list');
  const examples = (cases ?? []).flatMap((entry, at): readonly ImportedExample[] => {
    const where = isJsonArray(value) ? `[${at}]` : `eval_cases[${at}]`;
    if (!isJsonObject(entry)) {
      problems.faults.push(`${where} is not an object`);
      return [];
    }
    if (presentMember(entry, 'query') !== undefined) return [olderTurn(entry, where, undefined, problems)];
    const data = presentMember(entry, 'data');
    return isJsonArray(data) ? olderSession(entry, data, where, problems) : evalCase(entry, where, problems);
  });
  return { examples, ...problems };
}

function evalCase(entry: JsonObject, where: string, { faults, leftOut }: Problems): readonly ImportedExample[] {
  const turns = presentMember(entry, 'conversation');
  if (!isJsonArray(turns)) {
    if (presentMember(entry, 'conversation_scenario') === undefined) faults.push(`${where}.conversation is missing`);
    else leftOut.push(`${where} has a scenario for a simulated user and no expectation of a single run`);
    return [];
  }
  return turns.flatMap((turn, at): readonly ImportedExample[] => {
    const place = `${where}.conversation[${at}]`;
    if (isJsonObject(turn))
      return [
        invocation(
          turn,
          place,
          numbered(presentText(entry, 'eval_id'), at, turns.length),
          others(entry, ['eval_id', 'conversation', 'creation_timestamp']),
          faults,
        ),
      ];
    faults.push(`${place} is not an object`);
    return [];
  });
}

function invocation(
  turn: JsonObject,
  where: string,
  id: string | undefined,
  ofCase: JsonObject | undefined,
  faults: string[],
): ImportedExample {
  const input = partsText(presentMember(turn, 'user_content'));
  if (input === undefined) faults.push(`${where}.user_content has no text`);
  const data = presentMember(turn, 'intermediate_data');
  const expect = filled({
    tool_calls: isJsonObject(data) ? callsIn(toolUses(data), `${where}.intermediate_data`, calls, faults) : undefined,
    output: partsText(presentMember(turn, 'final_response')),
  });
  const metadata = filled({ ...ofCase, ...others(turn, ['user_content', 'final_response', 'intermediate_data', 'creation_timestamp']) });
  return present({ id, input: input ?? '', expect, metadata });
}

/** Reads calls from their own list, or from the events of the invocation. */
function toolUses(data: JsonObject): JsonValue | undefined {
  const events = presentMember(data, 'invocation_events');
  if (!isJsonArray(events)) return presentMember(data, 'tool_uses');
  return events
    .flatMap((event) => (isJsonObject(event) ? partsOf(presentMember(event, 'content')) : []))
    .flatMap((part) => presentMember(part, 'function_call') ?? []);
}

function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  const parts = isJsonObject(content) ? presentMember(content, 'parts') : undefined;
  return isJsonArray(parts) ? parts.filter(isJsonObject) : [];
}

/** The text without thoughts. */
function partsText(content: JsonValue | undefined): string | undefined {
  const texts = partsOf(content).flatMap((part) => {
    const text = member(part, 'thought') === true ? undefined : member(part, 'text');
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join('');
}

function olderSession(entry: JsonObject, data: readonly JsonValue[], where: string, problems: Problems): readonly ImportedExample[] {
  return data.flatMap((turn, at): readonly ImportedExample[] => {
    const place = `${where}.data[${at}]`;
    if (isJsonObject(turn)) return [olderTurn(turn, place, numbered(presentText(entry, 'name'), at, data.length), problems)];
    problems.faults.push(`${place} is not an object`);
    return [];
  });
}

function olderTurn(turn: JsonObject, where: string, id: string | undefined, { faults }: Problems): ImportedExample {
  const input = presentText(turn, 'query');
  if (input === undefined) faults.push(`${where}.query is missing`);
  const expect = filled({
    tool_calls: callsIn(presentMember(turn, 'expected_tool_use'), `${where}.expected_tool_use`, olderCalls, faults),
    output: presentMember(turn, 'reference'),
  });
  const metadata = others(turn, ['query', 'expected_tool_use', 'reference']);
  return present({ id, input: input ?? '', expect, metadata });
}

/** Turns of one case share its id. */
function numbered(id: string | undefined, at: number, turns: number): string | undefined {
  return id === undefined || turns === 1 ? id : `${id}/${at + 1}`;
}
