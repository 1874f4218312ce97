/** A fault of a dataset or an expectation in the form of configuration faults: the problem and the remedy. */
import { expectationNames } from '../../../evaluators/expectation/expectation.ts';
import type { Fault } from '../../../evaluators/evaluator.ts';
import type { ConfigFault } from '../../config/diagnostic.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../model/json.ts';

export interface WordedFault extends Pick<ConfigFault, 'problem' | 'todo'> {
  readonly at: 'key' | 'value';
}

/** Names at the end of a fault's problem. */
const listed = /^(is not known|names no evaluator|must be one of|must name a judge of the configuration)(?:; (?:known|there) are)? (.+)$/;

const forms: { readonly [problem: string]: string } = {
  'must be array': 'Write a list: [ … ].',
  'must be a list': 'Write a list: [ … ].',
  'must be object': 'Write an object: { … }.',
  'must be an object': 'Write an object: { … }.',
  'must be string': 'Write a text in quotes.',
  'is missing': 'Add it.',
};

/** `value`: what the path of the fault begins at. */
export function wordedFault({ path, problem }: Fault, value: JsonValue): WordedFault {
  const [, head = '', names = ''] = listed.exec(problem) ?? [];
  if (head === '') return { at: 'value', problem, todo: forms[problem] ?? 'docs/guides/ci.md shows the form of a dataset.' };
  const known = names.split(', ');
  const key = String(path.at(-1) ?? '');
  const isKey = head === 'is not known';
  const written = isKey ? key : valueAt(value, path);
  const guess = typeof written === 'string' ? didYouMean(written, known) : undefined;
  const elsewhere = isKey && path.length === 1 && guess === undefined ? didYouMean(key, expectationNames) : undefined;
  const todo =
    guess !== undefined
      ? `Did you mean ${guess}?`
      : elsewhere !== undefined
        ? `Did you mean ${elsewhere} under expect?`
        : `${isKey ? 'Known are' : 'There are'} ${names}.`;
  const quoted = typeof written === 'string' && !isKey ? `${JSON.stringify(written.slice(0, 60))} ` : '';
  return {
    at: isKey ? 'key' : 'value',
    problem: head === 'must be one of' ? `${quoted}is none of what it may be` : `${quoted}${head}`,
    todo,
  };
}

function valueAt(value: JsonValue, path: Fault['path']): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const part of path) at = isJsonArray(at) && typeof part === 'number' ? at[part] : isJsonObject(at) ? member(at, String(part)) : at;
  return at;
}
