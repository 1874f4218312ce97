/** Reads datasets of Braintrust: JSON, JSON lines or CSV of records with `input`, `expected`, `metadata` and `tags`. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import { cellValue } from './csv.ts';
import { type ImportedExample, type ImportedSet, others, presentMember, presentText, type SetFormat } from './entries.ts';
import { platformExample, platformSet } from './platform-export.ts';

export const braintrust: SetFormat = { name: 'braintrust', summary: 'datasets exported from Braintrust', isTable: true, read };

/** Internal members of the platform. */
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
  const lists = ['events', 'rows', 'data', 'records'];
  const other = 'it is neither a list of records nor an object with events';
  return platformSet(value, { lists, sign: 'input', other, rowEntry: cells, example });
}

function cells(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cellValue(String(cell))]));
}

function example(record: JsonObject, where: string, faults: string[]): readonly ImportedExample[] {
  // Records of an older form have `output` for what is expected.
  const [input, expected] = [presentMember(record, 'input'), presentMember(record, 'expected') ?? presentMember(record, 'output')];
  if (input === undefined) faults.push(`${where}.input is missing`);
  const [about, tags] = [presentMember(record, 'metadata'), presentMember(record, 'tags')];
  const { split, ...own } = isJsonObject(about) ? about : {};
  const hasTags = tags !== undefined && isJsonArray(tags) && tags.length > 0;
  return [
    platformExample({
      id: presentText(record, 'id'),
      input,
      expected,
      tags: hasTags ? tags : undefined,
      split,
      metadata: { ...others(record, taken), ...own },
    }),
  ];
}
