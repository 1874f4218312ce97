/** `tracejury dataset`: datasets in the store, and test sets of other programs as datasets. */
import type { CommandProgram } from '../command.ts';
import { type Action, commandOfActions } from '../actions.ts';
import { addedRunOptions, configOption, formatOption, tenantOption } from '../common-options.ts';
import { add, addLimitMax } from '../dataset/add.ts';
import { remove, review, split } from '../dataset/change.ts';
import { similarityDefault } from '../dataset/embedded-inputs.ts';
import { exportDataset } from '../dataset/export.ts';
import { importSet } from '../dataset/import.ts';
import { exportForms } from '../../datasets/forms/export-forms.ts';
import { setFormats } from '../../datasets/forms/import-forms.ts';
import { diff, list, show } from '../dataset/show.ts';

/** Examples of one command line. */
const reviewedMax = 100;

const textOrJson = 'writes text (default) or json';
const exportFormats = `${exportForms.map(({ name, summary }) => `${name}: ${summary}`).join('; ')} (default: by the output file, else jsonl)`;

const actions: readonly Action[] = [
  {
    name: 'add',
    usage: 'NAME --run TRACE_ID[/SPAN_ID]…|--where FILTER|--issue ID [options]',
    summary: 'Makes examples of stored runs: the input, the tool calls and the answer, as drafts that a person edits.',
    options: [
      'run',
      'where',
      'issue',
      'since',
      'limit',
      'distinct',
      'embeddings',
      'similarity',
      'replace',
      'tag',
      'split',
      'note',
      'by',
      'tenant',
      'config',
    ],
    examples: [
      { does: 'Adds one run:', line: 'tracejury dataset add failures --run 4bf92f3577b34da6a3ce929d0e0e4736' },
      {
        does: 'Adds up to 50 runs that failed, without near-duplicates:',
        line: "tracejury dataset add failures --where 'evaluator=tool_error verdict=fail' --limit 50 --distinct",
      },
      { does: 'Adds up to ten runs of an issue:', line: 'tracejury dataset add failures --issue 25d139890769 --limit 10' },
      {
        does: 'Leaves out runs whose input means nearly the same, by the embedding model of a judge:',
        line: "tracejury dataset add failures --where 'verdict=fail' --distinct --embeddings vectors",
      },
    ],
    argumentsMax: 1,
    run: (input, [name]) => add(input, name),
  },
  {
    name: 'list',
    usage: '[options]',
    summary: 'Lists the datasets of the store.',
    options: ['format', 'tenant', 'config'],
    summaries: { format: textOrJson },
    examples: [{ does: 'Lists all datasets:', line: 'tracejury dataset list' }],
    argumentsMax: 0,
    run: (input) => list(input),
  },
  {
    name: 'show',
    usage: 'NAME[@VERSION] [--example ID] [options]',
    summary: 'Shows the versions and examples of a dataset, or one example with its history.',
    options: ['example', 'split', 'tag', 'limit', 'format', 'tenant', 'config'],
    summaries: { format: textOrJson },
    examples: [{ does: 'Shows the third version:', line: 'tracejury dataset show failures@3' }],
    argumentsMax: 1,
    run: (input, [name]) => show(input, name),
  },
  {
    name: 'export',
    usage: 'NAME[@VERSION] [--format NAME] [--output FILE] [options]',
    summary: 'Writes a dataset as a file, and lists the parts that the form cannot hold.',
    options: ['format', 'output', 'split', 'tag', 'tenant', 'config'],
    summaries: { format: exportFormats },
    examples: [
      { does: 'Writes YAML to edit:', line: 'tracejury dataset export failures --output failures.yaml' },
      { does: 'Writes goldens of DeepEval:', line: 'tracejury dataset export failures@3 --format deepeval' },
    ],
    argumentsMax: 1,
    run: (input, [name]) => exportDataset(input, name),
  },
  {
    name: 'import',
    usage: 'FILE --from NAME [--to NAME] [options]',
    summary: 'Reads a test set and writes it as a dataset file, with its recorded runs, or puts it into the store with --to.',
    options: ['from', 'to', 'output', 'runs', 'note', 'by', 'tenant', 'config'],
    examples: [
      { does: 'Writes goldens as a YAML file:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' },
      { does: 'Also writes the recorded runs:', line: 'tracejury dataset import cases.json --from deepeval --runs runs.jsonl' },
      { does: 'Puts an edited file into the store:', line: 'tracejury dataset import failures.yaml --to failures' },
    ],
    argumentsMax: 1,
    run: (input, [file]) => importSet(input, file),
  },
  {
    name: 'diff',
    usage: 'NAME@VERSION NAME@VERSION [options]',
    summary: 'Shows which examples differ between two versions, or two datasets.',
    options: ['format', 'tenant', 'config'],
    summaries: { format: textOrJson },
    examples: [{ does: 'Compares two versions:', line: 'tracejury dataset diff failures@3 failures@4' }],
    argumentsMax: 2,
    run: (input, [from, to]) => diff(input, from, to),
  },
  {
    name: 'split',
    usage: 'NAME --parts NAME=SHARE,… [options]',
    summary: 'Divides the examples into parts by a hash of their input, so that near-duplicates come into one part.',
    options: ['parts', 'again', 'seed', 'by', 'tenant', 'config'],
    examples: [{ does: 'Holds out a fifth:', line: 'tracejury dataset split failures --parts train=0.8,test=0.2' }],
    argumentsMax: 1,
    run: (input, [name]) => split(input, name),
  },
  {
    name: 'review',
    usage: 'NAME EXAMPLE_ID…|--all [options]',
    summary: 'Marks drafts as reviewed, in the next version. Exits with 1 when an example is not there.',
    options: ['all', 'note', 'by', 'tenant', 'config'],
    examples: [{ does: 'Marks one example:', line: 'tracejury dataset review failures refund-without-order' }],
    argumentsMax: reviewedMax + 1,
    run: (input, [name, ...ids]) => review(input, name, ids),
  },
  {
    name: 'remove',
    usage: 'NAME --example ID…|--all [options]',
    summary: 'Removes examples from the next version, or deletes a dataset with all its versions.',
    options: ['example', 'all', 'note', 'by', 'tenant', 'config'],
    examples: [{ does: 'Deletes a dataset:', line: 'tracejury dataset remove failures --all' }],
    argumentsMax: 1,
    run: (input, [name]) => remove(input, name),
  },
];

export const dataset: CommandProgram = {
  ...commandOfActions(actions),
  examples: [
    { does: 'Makes an example of a stored run:', line: 'tracejury dataset add failures --run 4bf92f3577b34da6a3ce929d0e0e4736' },
    { does: 'Writes goldens as a YAML file:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' },
  ],
  options: {
    ...addedRunOptions,
    limit: { type: 'string', value: 'N', summary: `adds (default: 50, at most ${addLimitMax}) or shows (default: 20) at most this number` },
    distinct: { type: 'boolean', summary: 'leaves out runs whose input another example has, but for case, punctuation and long numbers' },
    embeddings: {
      type: 'string',
      value: 'JUDGE',
      summary: 'with --distinct: compares inputs by the vectors of this judge of the configuration too, whose model is one of embeddings',
    },
    similarity: {
      type: 'string',
      value: 'NUMBER',
      summary: `least cosine at which --embeddings takes two inputs for the same (default: ${similarityDefault})`,
    },
    replace: { type: 'boolean', summary: 'overwrites examples of the same runs that are reviewed already' },
    tag: { type: 'string', multiple: true, value: 'TAG', summary: 'gives new examples this tag, or chooses examples with it' },
    split: { type: 'string', value: 'NAME', summary: 'puts new examples into this part, or chooses examples of it' },
    example: { type: 'string', multiple: true, value: 'ID', summary: 'names an example' },
    all: { type: 'boolean', summary: 'marks all drafts, or deletes the dataset with all its versions' },
    parts: { type: 'string', value: 'NAME=SHARE,…', summary: 'names the parts, with shares that add up to 1' },
    again: { type: 'boolean', summary: 'divides examples again that have a part' },
    seed: { type: 'string', value: 'TEXT', summary: 'divides in another way (default: the name of the dataset)' },
    from: { type: 'string', value: 'NAME', summary: setFormats.map(({ name, summary }) => `${name}: ${summary}`).join('; ') },
    to: { type: 'string', value: 'NAME', summary: 'puts the examples into this dataset of the store, under their ids' },
    format: formatOption(`${textOrJson}; export: ${exportFormats}`),
    output: {
      type: 'string',
      value: 'FILE',
      summary: 'writes the dataset to this file: .yaml, .json, export also .csv, or else JSON lines (default: standard output)',
    },
    runs: { type: 'string', value: 'FILE', summary: 'writes the runs of the test set to this file, for tracejury eval' },
    note: { type: 'string', value: 'TEXT', summary: 'notes why the version was made' },
    by: { type: 'string', value: 'NAME', summary: 'notes who made the version (default: the user of the system)' },
    tenant: tenantOption('names the tenant of runs and datasets'),
    config: configOption('uses the store of this configuration (default: sqlite:./tracejury-data/tracejury.db)'),
  },
};
