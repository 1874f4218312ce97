/** The frame of datasets that platforms export: a list or a table of examples with an input, what is expected, and notes. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import { isTable } from './csv.ts';
import { entriesIn, filled, type ImportedExample, type ImportedSet, namedExpectation, namedInput } from './entries.ts';
import { present } from '../../model/present.ts';

interface PlatformForm {
  /** Members of an object that may hold the list, and the member that each example has. */
  readonly lists: readonly string[];
  readonly sign: string;
  /** Message about a value of another form. */
  readonly other: string;
  /** Converts a row of a table into an example. */
  readonly rowEntry: (row: JsonObject) => JsonObject;
  /** How faults name a row, by its place from 0. Default: as they name an entry of a list. */
  readonly rowName?: (at: number) => string;
  /** Adds to `faults` what is wrong with the example at `where`. */
  readonly example: (entry: JsonObject, where: string, faults: string[]) => readonly ImportedExample[];
}

export function platformSet(value: JsonValue, { lists, sign, other, rowEntry, rowName, example }: PlatformForm): ImportedSet {
  const faults: string[] = [];
  const list = entriesIn(value, lists, sign);
  if (list === undefined) faults.push(other);
  const fromTable = isTable(list ?? []);
  const examples = (list ?? []).flatMap((entry, at): readonly ImportedExample[] => {
    if (isJsonObject(entry))
      return example(fromTable ? rowEntry(entry) : entry, fromTable && rowName !== undefined ? rowName(at) : `[${at}]`, faults);
    faults.push(`[${at}] is not an object`);
    return [];
  });
  return { examples, faults, leftOut: [] };
}

interface PlatformExample {
  readonly id: string | undefined;
  readonly input: JsonValue | undefined;
  readonly expected: JsonValue | undefined;
  readonly tags?: JsonValue | undefined;
  readonly split: JsonValue | undefined;
  readonly metadata: JsonObject;
}

/** Members without a value are left out. */
export function platformExample({ id, input, expected, tags, split, metadata }: PlatformExample): ImportedExample {
  const expect = isJsonObject(expected) ? namedExpectation(expected) : expected === undefined ? undefined : { output: expected };
  const notes = filled(metadata);
  return present({
    id,
    input: input === undefined ? undefined : isJsonObject(input) ? namedInput(input) : input,
    expect,
    tags: tags !== undefined && isJsonArray(tags) ? tags : undefined,
    split: typeof split === 'string' ? split : undefined,
    metadata: notes,
  });
}
