/** From a run to its label, to the agreement of people with a judge, to an example, to a gate: the work of a person on the pages, checked where its effect must show. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../../../service/running.ts';
import { runPath } from '../addresses.ts';
import { refundAgent } from '../runs/stories.ts';
import { settled, watchedPage, type WatchedPage } from '../watched-page.ts';
import { judged, type World } from '../world.ts';
import type { Suite } from './suite.ts';

interface ApiRun {
  readonly trace_id: string;
  readonly span_id: string;
  readonly verdicts: readonly { readonly name: string; readonly label: string }[];
  readonly annotations: readonly { readonly name: string; readonly label: string | null; readonly explanation: string }[];
}

const main = join(import.meta.dirname, '../../../../src/cli/main.ts');
const patience = { everyMs: 100, looksMax: 300 } as const;
const kept = 'kept-by-hand';

export const loopSuite: Suite = {
  name: 'the loop',
  isQuick: false,
  async run({ browser, world, tally }) {
    const watched = await watchedPage(browser, { console: world.console, mayChange: true });
    await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const run = await unlabelled(world);
    const [before, peopleBefore] = [await labelsCounted(world), await judgedByPeople(world)];
    await tally.attempt('a key gives a run a label, with a comment', async () => {
      await watched.open(runPath({ trace: run.trace_id, span: run.span_id }));
      await labelled(watched.page, judged, 'fail', 'It was not polite.');
      const { annotations } = await api<ApiRun>(world, `/runs/${run.trace_id}/${run.span_id}`);
      const found = annotations.find(({ name }) => name === judged);
      return [
        ...(found?.label === 'fail' && found.explanation === 'It was not polite.' ? [] : [`the API has ${JSON.stringify(annotations)}`]),
        ...watched.faults(),
      ];
    });
    await tally.attempt('the label is counted in the metrics', async () => {
      await eventually(async () => ((await labelsCounted(world)) > before ? true : undefined), 'one more label', patience);
      return [];
    });
    await tally.attempt('the label counts in the agreement with the judge', async () => {
      await eventually(async () => ((await judgedByPeople(world)) > peopleBefore ? true : undefined), 'one more run', patience);
      await watched.open('/judges');
      const text = await watched.page.locator('main').innerText();
      const shown = String(await judgedByPeople(world));
      return [...(text.split(/\D+/).includes(shown) ? [] : [`the page of judges shows no ${shown}`]), ...watched.faults()];
    });
    await tally.attempt('a run becomes an example', async () => {
      await watched.open(runPath({ trace: run.trace_id, span: run.span_id }));
      await watched.page.keyboard.press('a');
      const dialog = watched.page.getByRole('dialog');
      await dialog.getByLabel(/^Dataset/).fill(kept);
      await dialog.getByRole('checkbox', { name: /The expectation is correct/ }).check();
      await dialog.getByRole('button', { name: 'Add 1 run' }).click();
      await dialog.getByText('1 example is added.').waitFor();
      const { examples } = await api<{ readonly examples: readonly object[] }>(world, `/datasets/${kept}/examples`);
      await watched.open(`/datasets/${kept}`);
      const text = await watched.page.locator('main').innerText();
      return [
        ...(examples.length === 1 ? [] : [`the dataset has ${examples.length} examples`]),
        ...(text.includes('refund') ? [] : ['the page of the dataset shows no example']),
        ...watched.faults(),
      ];
    });
    await tally.attempt('the example gates the run that it was made of', async () => {
      await watched.open(runPath({ trace: run.trace_id, span: run.span_id }));
      const [download] = await Promise.all([
        watched.page.waitForEvent('download'),
        watched.page.getByRole('link', { name: 'Download OTLP' }).click(),
      ]);
      const file = join(world.folder, 'run.otlp.jsonl');
      await download.saveAs(file);
      const config = join(world.folder, 'tracejury.yaml');
      const { status, said } = await ended(process.execPath, [
        main,
        'eval',
        file,
        '--dataset',
        kept,
        '-c',
        config,
        '--fail-under',
        'tool_trajectory=1',
      ]);
      return [...(status === 0 ? [] : [`eval ended with ${status}: ${said}`]), ...watched.faults()];
    });
    await tally.attempt('the command of the page scores the run', () => copiedCommand(watched, world));
    await watched.close();
  },
};

async function api<Answer>({ console }: World, path: string): Promise<Answer> {
  return (await (await fetch(`${console}/api/v1${path}`)).json()) as Answer;
}

async function unlabelled(world: World): Promise<ApiRun> {
  const { runs } = await api<{ readonly runs: readonly ApiRun[] }>(world, `/runs?agent=${refundAgent}&annotated=false&limit=1`);
  const [run] = runs;
  if (run === undefined) throw new Error('every run is labelled');
  return run;
}

async function labelsCounted({ service }: World): Promise<number> {
  const page = await service.metrics();
  return [...page.matchAll(/^tracejury_annotations_total\S* (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function judgedByPeople(world: World): Promise<number> {
  const { judges } = await api<{ readonly judges: readonly { readonly name: string; readonly runs: number }[] }>(world, '/judges');
  return judges.find(({ name }) => name === judged)?.runs ?? 0;
}

/** By the field of the name, the comment and the key of the label. */
async function labelled(page: Page, name: string, label: string, comment: string): Promise<void> {
  await page.getByLabel('About', { exact: true }).fill(name);
  await page.getByLabel('Comment').fill(comment);
  const button = page.getByRole('button', { name: label, exact: true }).first();
  const key = /\d/.exec(await button.innerText())?.[0] ?? '';
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press(key);
  await page.getByText(comment).first().waitFor();
}

async function copiedCommand({ page, open, faults }: WatchedPage, world: World): Promise<readonly string[]> {
  await open(runPath(world.places.run));
  await page.getByRole('button', { name: /copy.*command/i }).click();
  await settled(page);
  const line = await page.evaluate<string>('navigator.clipboard.readText()');
  const command = line.replace('tracejury eval', `'${process.execPath}' '${main}' eval`);
  const { status, said } = await ended('sh', ['-c', command]);
  return [...(status === 0 || status === 1 ? [] : [`${line} ended with ${status}: ${said}`]), ...faults()];
}

/** The judge of the world lives in this process, so it must not wait in one piece. */
async function ended(program: string, words: readonly string[]): Promise<{ readonly status: number | null; readonly said: string }> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const hear = (chunk: Buffer): void => void (said += chunk.toString());
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, said };
}
