/** The own form of examples as a format of `--from`: a list, an object with `examples`, or a CSV table. */
import { expectationNames } from '../../../evaluators/expectation/expectation.ts';
import { exampleSchema } from '../example-json.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import { cellValue, csvText, isTable } from './csv.ts';
import { filled, type ImportedExample, type ImportedSet, entriesIn, type SetFormat } from './entries.ts';

export const ownForm: SetFormat = {
  name: 'tracejury',
  summary: 'the form of tracejury as YAML, JSON, JSON lines or CSV',
  isTable: true,
  read,
};

const ownMembers = ['evaluators', 'timeout_seconds', 'review', 'origin'] as const;
const members = Object.keys(exampleSchema.properties);
/** Columns of texts; a list of tags may also be a text with commas. */
const textColumns: ReadonlySet<string> = new Set(['id', 'split', 'review', 'constraints']);

function read(value: JsonValue): ImportedSet {
  const faults: string[] = [];
  const list = entriesIn(value, ['examples'], 'input');
  if (list === undefined) faults.push('it is neither a list of examples nor an object with examples');
  const isRows = isTable(list ?? []);
  const examples = (list ?? []).flatMap((given, at): readonly ImportedExample[] => {
    if (!isJsonObject(given)) {
      faults.push(`[${at}] is not an object`);
      return [];
    }
    return [imported(isRows ? rowExample(given, `row ${at + 1}`, faults) : given)];
  });
  return { examples, faults, leftOut: [] };
}

function imported(object: JsonObject): ImportedExample {
  const [id, input, expect, tasks, constraints, tools, tags, split, metadata] = [
    'id',
    'input',
    'expect',
    'tasks',
    'constraints',
    'tools',
    'tags',
    'split',
    'metadata',
  ].map((key) => member(object, key));
  // Unknown members and wrong types stay for the check of the example, which names them.
  const wrong = Object.entries(object).filter(
    ([key, value]) =>
      !members.includes(key) ||
      (value !== null &&
        ((key === 'expect' && !isJsonObject(value)) || (['constraints', 'split'].includes(key) && typeof value !== 'string'))),
  );
  const own = filled({ ...Object.fromEntries(ownMembers.map((key) => [key, member(object, key)])), ...Object.fromEntries(wrong) });
  return {
    ...(id === undefined ? {} : { id: String(id) }),
    ...(input === undefined ? {} : { input }),
    ...(isJsonObject(expect) ? { expect } : {}),
    ...(tasks === undefined ? {} : { tasks }),
    ...(typeof constraints === 'string' ? { constraints } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(tags === undefined ? {} : { tags }),
    ...(typeof split === 'string' ? { split } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(own === undefined ? {} : { own }),
  };
}

/** Columns are members, `output`, `expect.NAME` for members of `expect`, and `metadata.NAME`. */
function rowExample(row: JsonObject, where: string, faults: string[]): JsonObject {
  const expect: { [key: string]: JsonValue } = {};
  const metadata: { [key: string]: JsonValue } = {};
  const example: { [key: string]: JsonValue } = {};
  for (const [column, cell] of Object.entries(row)) {
    const value = textColumns.has(column) ? cell : cellValue(String(cell));
    const name = column.replace(/^expect\./, '');
    if (column === 'expect' && isJsonObject(value)) Object.assign(expect, value);
    else if (column === 'output' || (column.startsWith('expect.') && (expectationNames as readonly string[]).includes(name)))
      expect[name] = value;
    else if (column.startsWith('metadata.')) metadata[column.slice('metadata.'.length)] = value;
    else if (column === 'tags' && typeof value === 'string') example[column] = value.split(/[,;]/).flatMap((tag) => tag.trim() || []);
    else if (column === 'timeout_seconds') example[column] = Number(cell);
    else if (members.includes(column)) example[column] = value;
    else
      faults.push(
        `${where}: ${JSON.stringify(column)} is not a column; columns are ${members.join(', ')}, output, expect.NAME and metadata.NAME`,
      );
  }
  return {
    ...example,
    ...(Object.keys(expect).length === 0 ? {} : { expect }),
    ...(Object.keys(metadata).length === 0
      ? {}
      : { metadata: { ...(isJsonObject(example['metadata'] ?? null) ? (example['metadata'] as JsonObject) : {}), ...metadata } }),
  };
}

/** The columns that any example has, in the order of the form. A text as the expected output has a separate column. */
export function ownCsv(examples: readonly JsonObject[]): string {
  const rows = examples.map((example) => {
    const { expect, tags, ...rest } = example;
    const { output, ...others } = isJsonObject(expect ?? null) ? (expect as JsonObject) : {};
    const isText = typeof output === 'string' && output !== '';
    const left = isText ? others : filled({ output, ...others });
    return {
      ...rest,
      ...(left === undefined || Object.keys(left).length === 0 ? {} : { expect: left }),
      ...(isText ? { output } : {}),
      ...(isJsonArray(tags ?? null) ? { tags: tags as JsonValue } : {}),
    };
  });
  const used = new Set(rows.flatMap((row) => Object.keys(row)));
  return csvText(
    members.flatMap((name) => (name === 'expect' ? ['output', 'expect'] : [name])).filter((name) => used.has(name)),
    rows,
  );
}
