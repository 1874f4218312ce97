/** Reads datasets of Phoenix: CSV with a column for each input, output and note, or JSON of examples with `input` and `output`. */
import { parsePythonLiteral } from '../../../collectors/parsing/python-literal.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import { cellValue, withPrefix } from './csv.ts';
import { type ImportedExample, type ImportedSet, others, presentMember, presentText, type SetFormat } from './entries.ts';
import { platformExample, platformSet } from './platform-export.ts';

export const phoenix: SetFormat = { name: 'phoenix', summary: 'datasets exported from Phoenix as CSV', isTable: true, read };

const internal = ['updated_at', 'node_id', 'dataset_id', 'source_span_id', 'span_id'];
const taken = ['id', 'example_id', 'input', 'output', 'metadata', ...internal];

function read(value: JsonValue): ImportedSet {
  const other = 'it is neither a table, nor a list, nor an object with examples';
  return platformSet(value, { lists: ['examples'], sign: 'input', other, rowEntry, rowName: (at) => `row ${at + 1}`, example });
}

/** Columns without one of the prefixes, such as those that people have added, are notes. */
function rowEntry(row: JsonObject): JsonObject {
  const values = Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, pandasValue(String(cell))]));
  const rest = Object.fromEntries(Object.entries(values).filter(([column]) => !/^(input|output|metadata)_|^example_id$/.test(column)));
  const [input, output] = [withPrefix(values, 'input_'), withPrefix(values, 'output_')];
  return {
    ...(values['example_id'] === undefined ? {} : { id: values['example_id'] }),
    ...(Object.keys(input).length === 0 ? {} : { input }),
    output,
    metadata: { ...rest, ...withPrefix(values, 'metadata_') },
  };
}

/** The platform writes lists and objects as Python does: `{'city': 'Rome'}`. */
function pandasValue(cell: string): JsonValue {
  const value = cellValue(cell);
  return typeof value === 'string' && /^\s*[[{]/.test(cell) ? (parsePythonLiteral(cell) ?? cell) : value;
}

function example(entry: JsonObject, where: string, faults: string[]): readonly ImportedExample[] {
  const [input, expected, about] = [presentMember(entry, 'input'), presentMember(entry, 'output'), presentMember(entry, 'metadata')];
  if (input === undefined) faults.push(`${where} has no input: its columns begin with input_`);
  const id = presentText(entry, 'id') ?? presentText(entry, 'example_id');
  const { split, tags, ...own } = isJsonObject(about) ? about : {};
  return [platformExample({ id, input, expected, tags, split, metadata: { ...others(entry, taken), ...own } })];
}
