/** Reads datasets of Dokimos: an object with `examples`, each with an input and an output or with maps of them, and metadata. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
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

export const dokimos: SetFormat = { name: 'dokimos', summary: 'datasets of Dokimos', read };

const calls: CallNames = { name: 'name', arguments: 'arguments', result: 'result' };

function read(value: JsonValue): ImportedSet {
  const faults: string[] = [];
  const list = listIn(value, ['examples']);
  if (list === undefined) faults.push('it is neither an object with examples nor a list');
  const examples = (list ?? []).flatMap((entry, at): readonly ImportedExample[] => {
    if (isJsonObject(entry)) return [example(entry, `examples[${at}]`, faults)];
    faults.push(`examples[${at}] is not an object`);
    return [];
  });
  return { examples, faults, leftOut: [] };
}

function example(entry: JsonObject, where: string, faults: string[]): ImportedExample {
  const inputs = mapOf(entry, 'inputs', 'input', where, faults);
  const outputs = mapOf(entry, 'expected_outputs', 'expected_output', where, faults);
  const about = presentMember(entry, 'metadata');
  const given = isJsonObject(about) ? about : {};
  const prompt = inputs === undefined ? undefined : presentMember(inputs, 'input');
  if (inputs === undefined) faults.push(`${where} has no input`);
  const expect =
    outputs === undefined
      ? undefined
      : filled({
          tool_calls: callsIn(presentMember(outputs, 'tool_calls'), `${where}.expectedOutputs.toolCalls`, calls, faults),
          output: outputOf(outputs),
        });
  const [id, tasks, tools, constraints] = [
    presentText(entry, 'id'),
    presentMember(given, 'tasks'),
    presentMember(given, 'tools'),
    lines(presentMember(given, 'constraints')),
  ];
  const metadata = filled({
    ...others(given, ['tasks', 'tools', 'constraints']),
    inputs: prompt === undefined || inputs === undefined ? undefined : others(inputs, ['input']),
    expected_outputs:
      outputs === undefined || presentMember(outputs, 'output') === undefined ? undefined : others(outputs, ['output', 'tool_calls']),
  });
  return {
    ...(id === undefined ? {} : { id }),
    input: prompt ?? inputs ?? '',
    ...(expect === undefined ? {} : { expect }),
    ...(tasks === undefined ? {} : { tasks }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(tools === undefined ? {} : { tools }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The map, or the single value as a map of one: `inputs` or `input`, `expectedOutputs` or `expectedOutput`. */
function mapOf(
  entry: JsonObject,
  several: string,
  one: 'input' | 'expected_output',
  where: string,
  faults: string[],
): JsonObject | undefined {
  const map = presentMember(entry, several);
  if (map !== undefined && !isJsonObject(map)) faults.push(`${where}.${several} is not an object`);
  if (isJsonObject(map)) return map;
  const single = presentMember(entry, one);
  return single === undefined ? undefined : { [one === 'input' ? 'input' : 'output']: single };
}

/** The value `output`, else the only other value, else all other values by name. */
function outputOf(outputs: JsonObject): JsonValue | undefined {
  const named = presentMember(outputs, 'output');
  const left = others(outputs, ['output', 'tool_calls']);
  if (named !== undefined || left === undefined) return named;
  const values = Object.values(left);
  return values.length === 1 ? values[0] : left;
}

function lines(value: JsonValue | undefined): string | undefined {
  if (isJsonArray(value)) return value.filter((line) => typeof line === 'string').join('\n') || undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
