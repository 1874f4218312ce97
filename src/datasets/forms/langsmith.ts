/** Reads datasets of LangSmith: JSON, JSON lines or CSV of examples with `inputs`, `outputs` and `metadata`. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import { isConversation, trajectoryExample } from './agentevals.ts';
import { cellValue, withPrefix } from './csv.ts';
import { filled, type ImportedExample, type ImportedSet, others, presentMember, presentText, type SetFormat } from './entries.ts';
import { platformExample, platformSet } from './platform-export.ts';

export const langsmith: SetFormat = { name: 'langsmith', summary: 'datasets exported from LangSmith', isTable: true, read };

/** Internal members of the platform. */
const internal = ['dataset_id', 'created_at', 'modified_at', 'source_run_id', 'attachments', 'attachment_urls', 'runs', 'tenant_id'];
const taken = ['id', 'inputs', 'outputs', 'reference_outputs', 'metadata', 'split', ...internal];

function read(value: JsonValue): ImportedSet {
  const other = 'it is neither a list of examples nor an object with examples';
  return platformSet(value, { lists: ['examples'], sign: 'inputs', other, rowEntry, example });
}

/** A table has a column for inputs, or one for each of them. */
function rowEntry(row: JsonObject): JsonObject {
  const values = Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cellValue(String(cell))]));
  const part = (name: string): JsonValue | undefined => {
    const whole = values[`${name}s`] ?? values[name];
    const found = { ...withPrefix(values, `${name}s.`), ...withPrefix(values, `${name}_`), ...withPrefix(values, `${name}.`) };
    return whole ?? (Object.keys(found).length === 0 ? undefined : found);
  };
  return (
    filled({ id: values['id'], inputs: part('input'), outputs: part('output'), metadata: values['metadata'], split: values['split'] }) ?? {}
  );
}

function example(entry: JsonObject, where: string, faults: string[]): readonly ImportedExample[] {
  const [inputs, outputs] = [presentMember(entry, 'inputs'), presentMember(entry, 'outputs') ?? presentMember(entry, 'reference_outputs')];
  if (inputs === undefined) faults.push(`${where}.inputs is missing`);
  const about = presentMember(entry, 'metadata');
  const { dataset_split: splits, ...own } = isJsonObject(about) ? about : {};
  const split = splitOf(presentMember(entry, 'split') ?? splits);
  const made = platformExample({
    id: presentText(entry, 'id'),
    input: inputs,
    expected: outputs,
    split,
    metadata: { ...others(entry, taken), ...own },
  });
  const messages = isJsonObject(outputs) ? presentMember(outputs, 'messages') : undefined;
  if (messages !== undefined && isConversation(messages))
    return trajectoryExample({ ...entry, reference_outputs: outputs ?? null, outputs: null }, where, faults).map((one) => {
      const { id: _id, expect: _expect, ...shared } = made;
      return { ...one, ...shared };
    });
  return [made];
}

/** The platform puts examples without a choice into `base`. */
function splitOf(value: JsonValue | undefined): string | undefined {
  const names = isJsonArray(value ?? null) ? (value as readonly JsonValue[]) : value === undefined ? [] : [value];
  const name = names.find((one) => typeof one === 'string' && one !== '' && one !== 'base');
  return typeof name === 'string' ? name : undefined;
}
