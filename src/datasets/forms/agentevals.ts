/**
 * Reads reference trajectories of agentevals: lists of OpenAI-format messages, by themselves or as `reference_outputs` beside `outputs` and `inputs`.
 * Also reads examples of a LangSmith dataset, whose `outputs` are the reference, and LangChain's short form of messages.
 */
import { readMessages } from '../../../evaluators/expectation/messages.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { filled, type ImportedExample, type ImportedSet, listIn, others, presentMember, presentText, type SetFormat } from './entries.ts';

export const agentevals: SetFormat = { name: 'agentevals', summary: 'reference trajectories of agentevals, as OpenAI messages', read };

const taken = ['id', 'name', 'inputs', 'outputs', 'reference_outputs', 'messages', 'metadata', 'tags'];
const roles: { readonly [type: string]: string } = { human: 'user', ai: 'assistant', tool: 'tool', system: 'system' };

function read(value: JsonValue): ImportedSet {
  const faults: string[] = [];
  const list = isConversation(value) ? [value] : (listIn(value, ['examples']) ?? [value]);
  const examples = list.flatMap((entry, at): readonly ImportedExample[] => {
    const object = isJsonArray(entry) ? { messages: entry } : entry;
    if (isJsonObject(object)) return trajectoryExample(object, `[${at}]`, faults);
    faults.push(`[${at}] is neither a list of messages nor an object`);
    return [];
  });
  return { examples, faults, leftOut: [] };
}

/** An entry whose outputs are messages. */
export function trajectoryExample(entry: JsonObject, where: string, faults: string[]): readonly ImportedExample[] {
  const reference = presentMember(entry, 'reference_outputs');
  const expected = messagesIn(reference ?? presentMember(entry, 'outputs') ?? presentMember(entry, 'messages'), where, faults);
  if (expected === undefined) return [];
  const run = reference === undefined ? undefined : presentMember(entry, 'outputs');
  const messages = run === undefined ? undefined : messagesIn(run, `${where}.outputs`, faults);
  const calls = readMessages(expected).toolCalls.map(({ name, arguments: sent }) => ({ name, arguments: sent ?? {} }));
  const id = presentText(entry, 'id') ?? presentText(entry, 'name');
  const own = presentMember(entry, 'metadata');
  const tags = presentMember(entry, 'tags');
  const metadata = filled({ ...others(entry, taken), ...(isJsonObject(own) ? own : {}) });
  const input = inputOf(entry, expected);
  return [
    {
      ...(id === undefined ? {} : { id }),
      ...(input === undefined ? {} : { input }),
      expect: { messages: expected, tool_calls: calls },
      ...(tags === undefined ? {} : { tags }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(messages === undefined ? {} : { run: { messages } }),
    },
  ];
}

/** Without an input of the entry, the last message of the user identifies the run. */
function inputOf(entry: JsonObject, messages: readonly JsonObject[]): JsonValue | undefined {
  const given = presentMember(entry, 'inputs');
  const texts = isJsonObject(given) ? Object.values(given).filter((one) => typeof one === 'string') : [];
  if (typeof given === 'string') return given;
  return texts.length === 1 ? texts[0] : readMessages(messages).messages.findLast(({ role }) => role === 'user')?.text;
}

function messagesIn(value: JsonValue | undefined, where: string, faults: string[]): readonly JsonObject[] | undefined {
  const list = value === undefined ? undefined : listIn(value, ['messages']);
  if (list === undefined) {
    const graph = isJsonObject(value) && presentMember(value, 'steps') !== undefined;
    faults.push(graph ? `${where} is a graph trajectory; only messages are read` : `${where} has no list of messages`);
    return undefined;
  }
  const messages = list.map(withRole);
  const found = readMessages(messages).faults;
  faults.push(
    ...found.map(
      ({ path, problem }) => `${where}${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')} ${problem}`,
    ),
  );
  return found.length > 0 ? undefined : messages.filter(isJsonObject);
}

function withRole(message: JsonValue): JsonValue {
  const type = isJsonObject(message) && member(message, 'role') === undefined ? member(message, 'type') : undefined;
  const role = typeof type === 'string' && Object.hasOwn(roles, type) ? roles[type] : undefined;
  return isJsonObject(message) && role !== undefined ? { ...others(message, ['type']), role } : message;
}

export function isConversation(value: JsonValue): boolean {
  return (
    isJsonArray(value) &&
    value.some((item) => isJsonObject(item) && (typeof member(item, 'role') === 'string' || typeof member(item, 'type') === 'string'))
  );
}
