/** Names, versions and examples of stored datasets on a command line. */
import { type CommandInput, textOption, UsageError } from '../command.ts';
import type { DatasetExample } from '../../model/example.ts';
import { tenant } from '../../model/ids.ts';
import {
  type DatasetChange,
  type DatasetKey,
  datasetVersionsMax,
  datasetsMax,
  changedExamplesMax,
  examplesPageMax,
  exampleBytesMax,
  isDatasetName,
  type LeftOutReason,
  type DatasetOutcome,
  type DatasetStore,
} from '../../model/store/dataset-store.ts';
import { chunks } from '../../model/chunks.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { present } from '../../model/present.ts';

export interface DatasetReference {
  readonly key: DatasetKey;
  /** `undefined`: the newest one. */
  readonly version: number | undefined;
}

/** Parses a name with or without a version; `undefined` for any other text. */
export function parseReference(text: string): { readonly name: string; readonly version: number | undefined } | undefined {
  const [, name = '', version] = /^([^@]*)(?:@(\d{1,9}))?$/.exec(text) ?? [];
  return isDatasetName(name) && version !== '0' ? { name, version: version === undefined ? undefined : Number(version) } : undefined;
}

/** Reads NAME or NAME@VERSION. */
export function referenceOf(input: Pick<CommandInput, 'options'>, text: string | undefined): DatasetReference {
  if (text === undefined) throw new UsageError('Name the dataset, as in failures or failures@3.');
  const found = parseReference(text);
  if (found === undefined)
    throw new UsageError(
      `${JSON.stringify(text)} names no dataset. A name has 1 to 100 letters, digits, dots, underscores and hyphens; @3 behind it names version 3.`,
    );
  return { key: { tenant: tenant(textOption(input, 'tenant') ?? ''), name: found.name }, version: found.version };
}

/** Reads NAME without a version, as changes make the next one. */
export function nameOf(input: Pick<CommandInput, 'options'>, text: string | undefined): DatasetKey {
  const { key, version } = referenceOf(input, text);
  if (version !== undefined) throw new UsageError(`A change makes the next version: name the dataset ${key.name} without @${version}.`);
  return key;
}

export interface WholeDataset {
  readonly version: number;
  readonly examples: readonly DatasetExample[];
}

/** All examples of a version. Throws a UsageError when there is no such dataset or version. */
export async function wholeDataset(
  datasets: DatasetStore,
  { key, version }: DatasetReference,
  filter: { readonly split?: string; readonly tag?: string } = {},
): Promise<WholeDataset> {
  const found = await datasets.dataset(key);
  if (found === undefined) throw await unknownDataset(datasets, key);
  const wanted = version ?? found.version;
  if (wanted > found.version) throw new UsageError(`The dataset ${key.name} has no version ${wanted}; its newest one is ${found.version}.`);
  const examples: DatasetExample[] = [];
  let after: number | undefined;
  do {
    const page = await datasets.examples(key, wanted, present({ ...filter, limit: examplesPageMax, after }));
    examples.push(...(page?.examples.map(({ example }) => example) ?? []));
    after = page?.next;
  } while (after !== undefined);
  return { version: wanted, examples };
}

export async function unknownDataset(datasets: DatasetStore, { tenant: of, name }: DatasetKey): Promise<UsageError> {
  const names = (await datasets.list(of)).map((one) => one.name);
  const guess = didYouMean(name, names);
  const hint =
    guess !== undefined ? `Did you mean ${guess}?` : names.length === 0 ? 'It has none yet.' : `It has ${names.slice(0, 10).join(', ')}.`;
  return new UsageError(`The store has no dataset ${name}${of === '' ? '' : ` of the tenant ${of}`}. ${hint}`);
}

const leftOutTexts: { readonly [reason in LeftOutReason]: string } = {
  too_large: `larger than ${exampleBytesMax / 1024 / 1024} MiB`,
  full: 'the dataset is full',
  duplicate: 'the input of another example differs only in case, punctuation or numbers',
  kept: 'the example in the dataset is reviewed; --replace overwrites it',
  unknown: 'the dataset has no such example',
  surplus: `more than ${changedExamplesMax} in one change`,
};

export type Written = Extract<DatasetOutcome, { readonly kind: 'written' }>;

/** Makes one version for each `changedExamplesMax` examples. Throws a UsageError when the store or the dataset is full. */
export async function putExamples(
  datasets: DatasetStore,
  key: DatasetKey,
  { put, ...change }: DatasetChange & { readonly put: readonly DatasetExample[] },
): Promise<Written> {
  let sum: Written = { kind: 'written', version: 0, added: 0, changed: 0, changedReviewed: 0, removed: 0, unchanged: 0, leftOut: [] };
  for (const some of chunks(put, changedExamplesMax)) {
    const outcome = writtenOr(await datasets.change(key, { ...change, put: some }), key);
    sum = {
      ...outcome,
      added: sum.added + outcome.added,
      changed: sum.changed + outcome.changed,
      changedReviewed: sum.changedReviewed + outcome.changedReviewed,
      unchanged: sum.unchanged + outcome.unchanged,
      leftOut: [...sum.leftOut, ...outcome.leftOut],
    };
  }
  return sum;
}

export function writtenOr(outcome: DatasetOutcome, { name }: DatasetKey): Written {
  if (outcome.kind === 'written') return outcome;
  if (outcome.kind === 'conflict')
    throw new UsageError(`The dataset ${name} has changed meanwhile: its newest version is ${outcome.version}.`);
  throw new UsageError(
    outcome.of === 'datasets'
      ? `The tenant has its limit of ${datasetsMax} datasets. Remove one with tracejury dataset remove.`
      : `The dataset ${name} has its limit of ${datasetVersionsMax} versions. Export it and import it under another name.`,
  );
}

/** Reports a change, and on standard error the examples that it left out. */
export function sayWritten({ say, complain }: Pick<CommandInput, 'say' | 'complain'>, { name }: DatasetKey, written: Written): void {
  const counts = [
    [written.added, 'added'],
    [written.changed, 'changed'],
    [written.removed, 'removed'],
    [written.unchanged, 'unchanged'],
  ] as const;
  const text = counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ');
  const reference = written.version === 0 ? `${name}: no version yet` : `${name}@${written.version}`;
  say(`${reference}: ${text === '' ? 'nothing changed' : text}`);
  for (const [reason, left] of Map.groupBy(written.leftOut, (one) => one.reason))
    complain(
      `left out ${left.length}: ${leftOutTexts[reason]} (${left
        .slice(0, 3)
        .map(({ id }) => id)
        .join(', ')}${left.length > 3 ? ', …' : ''})`,
    );
}

/** On standard error, as an import or a run has taken the place of what a person has looked at. */
export function sayReplaced({ complain }: Pick<CommandInput, 'complain'>, { name }: DatasetKey, written: Written): void {
  const { changedReviewed: reviewed } = written;
  if (reviewed > 0)
    complain(`replaced ${reviewed} reviewed ${reviewed === 1 ? 'example' : 'examples'} of ${name}; the versions before still have them`);
}

/** The person who changes a dataset. */
export function authorOf(input: Pick<CommandInput, 'options' | 'env'>): string {
  return textOption(input, 'by') ?? input.env['USER'] ?? input.env['USERNAME'] ?? 'command line';
}
