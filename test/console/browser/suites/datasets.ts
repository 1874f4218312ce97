/** Datasets: figures as the API has them, edits that make versions, two editors, hostile texts, files, and runs that become examples. */
import type { Locator } from 'playwright-core';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../../src/model/json.ts';
import { refundAgent } from '../runs/stories.ts';
import { sentinel, settled, usable, watchedPage, type WatchedPage } from '../watched-page.ts';
import { posted } from '../world.ts';
import { axeFaults } from './accessible.ts';
import type { Suite } from './suite.ts';

const name = 'edited-set';
const hostile = `"><img src=x onerror=${sentinel}(1)>`;
const first = { id: 'refund', input: 'Refund order 7.', expect: { output: 'Done.' }, tags: ['smoke'], review: 'draft' };

export const datasetsSuite: Suite = {
  name: 'datasets',
  isQuick: false,
  async run({ browser, world: { console: base }, tally }) {
    const api = apiAt(base);
    await posted(`${base}/api/v1/datasets/${name}/examples`, {
      examples: [first, { id: hostile, input: hostile, expect: { output: hostile }, tags: [hostile], split: 'test' }],
      by: 'ann',
      note: hostile,
    });
    const watched = await watchedPage(browser, { console: base, mayChange: true, expectedStatuses: [409, 422] });
    const { page } = watched;
    const main = page.locator('main');
    const example = async (id = 'refund'): Promise<JsonObject> => await api(`/datasets/${name}/examples/${encodeURIComponent(id)}`);
    const put = async (changes: JsonObject): Promise<void> => {
      const answer = await fetch(`${base}/api/v1/datasets/${name}/examples/refund`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ example: { ...first, ...changes }, by: 'bob' }),
      });
      if (!answer.ok) throw new Error(`${answer.status} for PUT`);
    };
    const openExample = (): Promise<void> => watched.open(`/datasets/${name}?example=refund`);

    await tally.attempt('datasets: the list has the figures of the API', async () => {
      await watched.open('/datasets');
      const faults: string[] = [];
      for (const one of listIn(await api('/datasets'), 'datasets')) {
        const row = main.getByRole('row').filter({ has: page.getByRole('link', { name: String(one['name']), exact: true }) });
        const cells = await row.getByRole('cell').allInnerTexts();
        if (!cells.includes(String(one['version'])) || !cells.includes(String(one['examples'])))
          faults.push(`${String(one['name'])} is ${JSON.stringify(one)} and the row ${cells.join(' | ')}`);
      }
      return [...faults, ...(await usable(page)), ...watched.faults()];
    });

    await tally.attempt('datasets: texts of examples are only text, in the list, the editor, the history and the versions', async () => {
      const faults: string[] = [];
      for (const path of ['', `?example=${encodeURIComponent(hostile)}`, '?view=versions']) {
        await watched.open(`/datasets/${name}${path}`);
        const shown = path.includes('example=') ? await page.getByLabel('Input of the agent').inputValue() : await main.innerText();
        if (!shown.includes(hostile)) faults.push(`${path} does not show the text`);
        faults.push(...(await axeFaults(page)));
      }
      return [...faults, ...watched.faults()];
    });

    await tally.attempt('datasets: a saved edit is the next version, and its reason is in the history', async () => {
      await openExample();
      await page.getByLabel('Answer', { exact: true }).fill('It is refunded.');
      await page.getByLabel('Why', { exact: true }).fill('a whole sentence');
      await page.getByRole('button', { name: 'Save as reviewed' }).click();
      await main.getByText('a whole sentence').waitFor();
      const [kept, dataset] = [await example(), await api(`/datasets/${name}`)];
      return [
        ...(JSON.stringify(kept['expect']) === '{"output":"It is refunded."}' ? [] : [`the API has ${JSON.stringify(kept)}`]),
        ...(kept['since'] === 2 && dataset['version'] === 2 ? [] : [`the version is ${String(dataset['version'])}`]),
        ...(kept['review'] === 'reviewed' || kept['review'] === undefined ? [] : ['it is a draft still']),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: a fault that the API finds is at its field, and nothing is saved', async () => {
      await openExample();
      await page.getByText('More members').click();
      await page.getByLabel('Other expectations (JSON)').fill('{ "nonsense": 1 }');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByLabel('Other expectations (JSON)').and(page.locator('[aria-invalid="true"]')).waitFor();
      const said = await main.getByRole('alert').allInnerTexts();
      // The browser asks before it leaves a page with edits.
      await page.getByRole('button', { name: 'Undo all edits' }).click();
      return [
        ...(said.some((text) => text.includes('nonsense')) ? [] : [`the alerts say ${said.join(' | ')}`]),
        ...((await example())['since'] === 2 ? [] : ['it was saved']),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: the second of two editors is warned, loses nothing, and may save over the first', async () => {
      await openExample();
      const answer = page.getByLabel('Answer', { exact: true });
      await answer.fill('Mine.');
      await put({ expect: { output: 'Theirs.' } });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const conflict = page.getByRole('alert', { name: 'The example has changed' });
      await conflict.waitFor();
      const told = await conflict.innerText();
      const faults = [
        ...(told.includes('Theirs.') && told.includes('Mine.') ? [] : [`the conflict shows ${told}`]),
        ...((await answer.inputValue()) === 'Mine.' ? [] : ['the own text is gone']),
        ...(JSON.stringify((await example())['expect']).includes('Theirs.') ? [] : ['theirs was overwritten unasked']),
      ];
      await conflict.getByRole('button', { name: /over theirs/ }).click();
      await conflict.waitFor({ state: 'detached' });
      const history = listIn(await api(`/datasets/${name}/examples/refund/history`), 'history').map((one) => JSON.stringify(one));
      return [
        ...faults,
        ...(JSON.stringify((await example())['expect']).includes('Mine.') ? [] : ['the own text was not saved']),
        ...(history.some((one) => one.includes('Theirs.')) ? [] : ['theirs is not in the history']),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: theirs may be taken instead', async () => {
      await openExample();
      await page.getByLabel('Answer', { exact: true }).fill('Mine again.');
      await put({ expect: { output: 'Theirs again.' } });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: /take theirs/ }).click();
      await settled(page);
      const shown = await page.getByLabel('Answer', { exact: true }).inputValue();
      return [...(shown === 'Theirs again.' ? [] : [`the field has ${shown}`]), ...watched.faults()];
    });

    await tally.attempt('datasets: unsaved edits are there again after another page', async () => {
      await openExample();
      const answer = page.getByLabel('Answer', { exact: true });
      await answer.fill('Half a sen');
      await page.getByRole('link', { name: 'All examples' }).click();
      await page.getByText('The edits of refund are not saved.').waitFor();
      await page.goBack();
      await answer.waitFor();
      const found = await answer.inputValue();
      await page.getByRole('button', { name: 'Undo all edits' }).click();
      const undone = await answer.inputValue();
      return [
        ...(found === 'Half a sen' ? [] : [`the field has ${found}`]),
        ...(undone === 'Theirs again.' ? [] : [`after undoing it has ${undone}`]),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: an older text of the history may be saved again', async () => {
      await openExample();
      const older = page.getByRole('region', { name: 'History' }).getByRole('listitem').filter({ hasText: 'a whole sentence' });
      await older.getByRole('button', { name: 'Put into the editor' }).click();
      await page.getByRole('button', { name: 'Save as reviewed' }).click();
      await page.getByText(/^Saved as version/).waitFor();
      const { expect } = await example();
      return [
        ...(JSON.stringify(expect) === '{"output":"It is refunded."}' ? [] : [`the API has ${JSON.stringify(expect)}`]),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: a file is checked first, then imported', async () => {
      await watched.open('/datasets');
      await page.getByRole('button', { name: 'Import a file' }).click();
      await page.getByLabel('Dataset', { exact: true }).fill('imported-set');
      await page.locator('input[type=file]').setInputFiles({
        name: 'set.jsonl',
        mimeType: 'application/jsonl',
        buffer: Buffer.from('{"id":"a","input":"one"}\n{"id":"b","input":"two"}\n'),
      });
      await page.getByRole('button', { name: 'Check the file' }).click();
      await page.getByText('The file has 2 examples.').waitFor();
      const before = listIn(await api('/datasets'), 'datasets').some((one) => one['name'] === 'imported-set');
      await page.getByRole('button', { name: 'Import 2 examples' }).click();
      await page.getByText('2 examples are added.').waitFor();
      const after = await api('/datasets/imported-set');
      return [
        ...(before ? ['the check made the dataset'] : []),
        ...(after['examples'] === 2 ? [] : [`it has ${String(after['examples'])} examples`]),
        ...watched.faults(),
      ];
    });

    await tally.attempt('datasets: an export is the file of the API', async () => {
      await watched.open(`/datasets/${name}`);
      await page.getByRole('button', { name: 'Export' }).click();
      const link = page.getByRole('link', { name: 'jsonl.jsonl' });
      await link.waitFor();
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      const file = download.suggestedFilename();
      return [...(/^edited-set-\d+\.jsonl$/.test(file) ? [] : [`the file is ${file}`]), ...watched.faults()];
    });

    await tally.attempt('datasets: selected runs become drafts', () => runsBecomeDrafts(watched, api));
    await tally.attempt('datasets: the example of one selected run is edited before it is added', () => oneRunIsEdited(watched, api));
    await watched.close();
  },
};

async function oneRunIsEdited(watched: WatchedPage, api: Api): Promise<readonly string[]> {
  const { page } = watched;
  await watched.open(`/runs?range=7d&agent=${refundAgent}`);
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Dataset', { exact: true }).fill('from-one-run');
  await dialog.getByLabel('Tags', { exact: true }).fill('a, b');
  await dialog.getByLabel('Expected (JSON)').fill('[]');
  const isRefused = await dialog.getByRole('button', { name: 'Add 1 run' }).isDisabled();
  await dialog.getByLabel('Input', { exact: true }).fill('Refund nothing.');
  await dialog.getByLabel('Expected (JSON)').fill('{ "output": "Nothing is refunded." }');
  await dialog.getByRole('checkbox', { name: /The expectation is correct/ }).check();
  await dialog.getByRole('button', { name: 'Add 1 run' }).click();
  await dialog.getByRole('link', { name: 'Open the example' }).click();
  await page.getByLabel('Input of the agent').waitFor();
  const [example, ...more] = listIn(await api('/datasets/from-one-run/examples'), 'examples');
  const { input, expect, tags, review } = example ?? {};
  const want = { input: 'Refund nothing.', expect: { output: 'Nothing is refunded.' }, tags: ['a', 'b'], review: 'reviewed' };
  return [
    ...(isRefused ? [] : ['an expectation that is not an object is not refused']),
    ...(more.length === 0 && JSON.stringify({ input, expect, tags, review }) === JSON.stringify(want)
      ? []
      : [`the API has ${JSON.stringify(example)} and ${more.length} more`]),
    ...watched.faults(),
  ];
}

async function runsBecomeDrafts(watched: WatchedPage, api: Api): Promise<readonly string[]> {
  const { page } = watched;
  await watched.open('/runs?range=7d');
  const boxes: Locator = page.getByRole('checkbox', { name: /^Select row/ });
  await boxes.first().check();
  await boxes.nth(1).check();
  await page.getByRole('button', { name: /Add to dataset/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Dataset', { exact: true }).fill('from-runs');
  await dialog.getByLabel('Split', { exact: true }).fill('test');
  await dialog.getByLabel('Leave out runs whose input another example has').uncheck();
  await dialog.getByRole('button', { name: 'Add 2 runs' }).click();
  await dialog.getByRole('link', { name: 'Open from-runs' }).waitFor();
  const said = await dialog.getByRole('status').innerText();
  // Under load the service may keep no texts of a run, and then shows that.
  const added = Number(/(\d+) examples? (?:is|are) added/.exec(said)?.[1] ?? 0);
  const left = Number(/(\d+) runs? left out/.exec(said)?.[1] ?? 0);
  const examples = listIn(await api('/datasets/from-runs/examples'), 'examples');
  return [
    ...(added + left === 2 && examples.length === added ? [] : [`the dialog shows ${said}, and the API has ${examples.length} examples`]),
    ...(examples.every((one) => one['review'] === 'draft' && one['split'] === 'test') ? [] : ['an example is not a draft of the split']),
    ...watched.faults(),
  ];
}

type Api = (path: string) => Promise<JsonObject>;

export function apiAt(base: string): Api {
  return async (path) => (await (await fetch(`${base}/api/v1${path}`)).json()) as JsonObject;
}

export function listIn(answer: JsonObject, key: string): readonly JsonObject[] {
  const list = answer[key] ?? null;
  return isJsonArray(list) ? list.filter((one) => isJsonObject(one)) : [];
}
