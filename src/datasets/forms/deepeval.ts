/** Reads goldens and test cases of DeepEval: a list, or an object with `goldens` or `test_cases`. */
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

export const deepeval: SetFormat = { name: 'deepeval', summary: 'goldens and test cases of DeepEval', read };

const calls: CallNames = { name: 'name', arguments: 'input_parameters', result: 'output' };
const taken = ['id', 'name', 'input', 'expected_output', 'expected_tools', 'context', 'actual_output', 'tools_called', 'tags'];

function read(value: JsonValue): ImportedSet {
  const faults: string[] = [];
  const leftOut: string[] = [];
  const list = listIn(value, ['goldens', 'test_cases']) ?? [];
  if (listIn(value, ['goldens', 'test_cases']) === undefined) faults.push('it is neither a list nor an object with goldens or test_cases');
  const examples = list.flatMap((entry, at): readonly ImportedExample[] => {
    const where = `[${at}]`;
    if (!isJsonObject(entry)) {
      faults.push(`${where} is not an object`);
      return [];
    }
    if (presentText(entry, 'input') !== undefined) return [example(entry, where, faults)];
    if (presentMember(entry, 'scenario') === undefined && presentMember(entry, 'turns') === undefined)
      faults.push(`${where}.input is missing`);
    else leftOut.push(`${where} is a golden of a whole conversation, without an input of one run`);
    return [];
  });
  return { examples, faults, leftOut };
}

function example(entry: JsonObject, where: string, faults: string[]): ImportedExample {
  const input = presentText(entry, 'input') ?? '';
  const expect = filled({
    tool_calls: callsIn(presentMember(entry, 'expected_tools'), `${where}.expected_tools`, calls, faults),
    output: presentMember(entry, 'expected_output'),
    context: contextIn(entry, where, faults),
  });
  const made = callsIn(presentMember(entry, 'tools_called'), `${where}.tools_called`, calls, faults);
  const answer = presentMember(entry, 'actual_output');
  const id = presentText(entry, 'id') ?? presentText(entry, 'name');
  const tags = presentMember(entry, 'tags');
  const metadata = others(entry, taken);
  return {
    ...(id === undefined ? {} : { id }),
    input,
    ...(expect === undefined ? {} : { expect }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
    // A golden has a blank answer and no calls before an agent has run.
    ...((made === undefined || made.length === 0) && (answer === undefined || answer === '')
      ? {}
      : { run: filled({ input, tool_calls: made ?? [], final_response: answer }) ?? {} }),
  };
}

/** Reads `context`, the expected facts. `retrieval_context` has the retrieved texts and is not an expectation. */
function contextIn(entry: JsonObject, where: string, faults: string[]): readonly string[] | undefined {
  const context = presentMember(entry, 'context') ?? [];
  const given: readonly JsonValue[] = isJsonArray(context) ? context : [context];
  const texts = given.filter((text) => typeof text === 'string');
  if (texts.length < given.length) faults.push(`${where}.context is not a list of texts`);
  const filledTexts = texts.filter((text) => text.trim() !== '');
  return filledTexts.length === 0 ? undefined : filledTexts;
}
