/** `tracejury dataset export`: writes a stored dataset as a file. */
import { type CommandInput, type ExitCode, textOption, textOptions, UsageError, writeOutput } from '../command.ts';
import { withStore } from '../open-store.ts';
import { type ExportForm, exportForms, leftOutOf } from '../../datasets/forms/export-forms.ts';
import { referenceOf, wholeDataset } from './stored-dataset.ts';
import { present } from '../../model/present.ts';

const endings: { readonly [ending: string]: string } = { yaml: 'yaml', yml: 'yaml', json: 'json', csv: 'csv' };

export async function exportDataset(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const reference = referenceOf(input, named);
  const output = textOption(input, 'output');
  const form = formOf(textOption(input, 'format') ?? endings[output?.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'jsonl');
  const [split, tag] = [textOption(input, 'split'), textOptions(input, 'tag')[0]];
  return await withStore<ExitCode>(input, { instead: 'Ask the console: /api/v1/datasets/NAME/examples.' }, async ({ store }) => {
    const { version, examples } = await wholeDataset(store.datasets, reference, present({ split, tag }));
    if (examples.length === 0) {
      input.complain(`${reference.key.name}@${version} has no such example.`);
      return 1;
    }
    const text = form.write(examples);
    if (output === undefined) input.say(text);
    else writeOutput('output', output, text);
    for (const [name, count] of leftOutOf(form, examples))
      input.complain(`left out: ${name} of ${count} ${count === 1 ? 'example' : 'examples'}, which ${form.summary} cannot hold`);
    input.complain(`${reference.key.name}@${version}: ${examples.length} ${examples.length === 1 ? 'example' : 'examples'}`);
    return 0;
  });
}

function formOf(name: string): ExportForm {
  const form = exportForms.find((one) => one.name === name);
  if (form === undefined) throw new UsageError(`--format takes one of ${exportForms.map((one) => one.name).join(', ')}.`);
  return form;
}
