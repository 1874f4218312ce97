/** Reads datasets of Braintrust: JSON, JSON lines or CSV of records with `input`, `expected`, `metadata` and `tags`. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import { cellValue, isTable } from './csv.ts';
import {
  filled,
  type ImportedExample,
  type ImportedSet,
  entriesIn,
  namedExpectation,
  namedInput,
  others,
  presentMember,
  presentText,
  type SetFormat,
} from './entries.ts';

export const braintrust: SetFormat = { name: 'braintrust', summary: 'datasets exported from Braintrust', isTable: true, read };

/** What the platform notes of itself. */
const internal = [
  '_xact_id',
  '_pagination_key',
  '_async_scoring_state',
  'created',
  'project_id',
  'dataset_id',
  'org_id',
  'root_span_id',
  'span_id',
  'is_root',
  'origin',
  'comments',
  'audit_data',
  'facets',
  'classifications',
];
const taken = ['id', 'input', 'expected', 'output', 'metadata', 'tags', ...internal];

function read(value: JsonValue): ImportedSet {
  const faults: string[] = [];
  const list = entriesIn(value, ['events', 'rows', 'data', 'records'], 'input');
  if (list === undefined) faults.push('it is neither a list of records nor an object with events');
  const fromTable = isTable(list ?? []);
  const examples = (list ?? []).flatMap((entry, at): readonly ImportedExample[] => {
    if (isJsonObject(entry)) return [example(fromTable ? cells(entry) : entry, `[${at}]`, faults)];
    faults.push(`[${at}] is no object`);
    return [];
  });
  return { examples, faults, leftOut: [] };
}

function cells(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cellValue(String(cell))]));
}

function example(record: JsonObject, where: string, faults: string[]): ImportedExample {
  // Records of an older form have `output` for what is expected.
  const [input, expected] = [presentMember(record, 'input'), presentMember(record, 'expected') ?? presentMember(record, 'output')];
  if (input === undefined) faults.push(`${where}.input is missing`);
  const [id, about, tags] = [presentText(record, 'id'), presentMember(record, 'metadata'), presentMember(record, 'tags')];
  const { split, ...own } = isJsonObject(about) ? about : {};
  const metadata = filled({ ...others(record, taken), ...own });
  const expect = isJsonObject(expected) ? namedExpectation(expected) : expected === undefined ? undefined : { output: expected };
  return {
    ...(id === undefined ? {} : { id }),
    ...(input === undefined ? {} : { input: isJsonObject(input) ? namedInput(input) : input }),
    ...(expect === undefined ? {} : { expect }),
    ...(isJsonArray(tags ?? null) && (tags as readonly JsonValue[]).length > 0 ? { tags: tags as JsonValue } : {}),
    ...(typeof split === 'string' ? { split } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
