/**
 * `npm run check -- console`: the console in a real Chromium, over a service in a separate process. `CHROMIUM` names the browser; else it is the
 * first chromium or google-chrome on the path. The last line is `N passed, M failed`.
 *
 *   --quick           every page once, figures and signing in; without a browser it reports that and passes nothing
 *   --only NAME,…     these suites
 */
import { runnerArguments } from '../../runner-arguments.ts';
import { chromiumPath, launched, noChromium } from './chromium.ts';
import { alertsSuite } from './suites/alerts.ts';
import { accessibleSuite } from './suites/accessible.ts';
import { controlSuite } from './suites/control.ts';
import { datasetsSuite } from './suites/datasets.ts';
import { experimentsSuite } from './suites/experiments.ts';
import { figuresSuite } from './suites/figures.ts';
import { filtersSuite } from './suites/filters.ts';
import { firstRunSuite } from './suites/first-run.ts';
import { hostileSuite } from './suites/hostile.ts';
import { issuesSuite } from './suites/issues.ts';
import { keyboardSuite } from './suites/keyboard.ts';
import { liveSuite } from './suites/live.ts';
import { loopSuite } from './suites/loop.ts';
import { numbersSuite } from './suites/numbers.ts';
import { pagesSuite } from './suites/pages.ts';
import { queueSuite } from './suites/queue.ts';
import { readingSuite } from './suites/reading.ts';
import { selectionSuite } from './suites/selection.ts';
import { signingInSuite } from './suites/signing-in.ts';
import type { Setting, Suite } from './suites/suite.ts';
import { tasksSuite } from './suites/tasks.ts';
import { tally, type Tally } from './tally.ts';
import { filledWorld } from './world.ts';

/** Each lane has a browser and a service to itself. The second one holds about half of the work. */
const lanes: readonly (readonly Suite[])[] = [
  [
    controlSuite,
    pagesSuite,
    figuresSuite,
    filtersSuite,
    numbersSuite,
    signingInSuite,
    keyboardSuite,
    liveSuite,
    loopSuite,
    queueSuite,
    alertsSuite,
    selectionSuite,
    datasetsSuite,
    experimentsSuite,
    issuesSuite,
    firstRunSuite,
    tasksSuite,
  ],
  [accessibleSuite, readingSuite, hostileSuite],
];

const { values } = runnerArguments({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const quick = values.quick;
const only = values.only?.split(',');
const isChosen = ({ name, isQuick }: Suite): boolean => (only === undefined ? !quick || isQuick : only.includes(name));
const path = chromiumPath(process.env);
if (path === undefined) {
  console.log(`SKIPPED  the console in a browser: ${noChromium}`);
  console.log(quick ? '0 passed, 0 failed' : '0 passed, 1 failed');
  process.exitCode = quick ? 0 : 1;
} else {
  await tried(path);
}

async function tried(chromium: string): Promise<void> {
  const tallies = lanes
    .map((lane) => lane.filter(isChosen))
    .filter((lane) => lane.length > 0)
    .map((lane) => triedLane(lane, chromium));
  const counts = (await Promise.all(tallies)).map((count) => count.counts());
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  console.log(`${counts.reduce((sum, count) => sum + count.passed, 0)} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function triedLane(lane: readonly Suite[], chromium: string): Promise<Tally> {
  const count = tally(
    (line) => console.log(line),
    () => performance.now(),
  );
  await count.attempt('the tests end', async () => {
    const browser = await launched(chromium);
    try {
      const world = await filledWorld({ demo: !quick, large: !quick, experiments: !quick });
      try {
        for (const suite of lane) await timed(suite, { browser, world, tally: count, quick });
      } finally {
        await world.close();
      }
    } finally {
      await browser.close();
    }
    return [];
  });
  return count;
}

async function timed(suite: Suite, setting: Setting): Promise<void> {
  const { tally: count } = setting;
  const [startMs, before] = [performance.now(), count.counts()];
  await count.attempt(`${suite.name}: the suite ends`, async () => {
    await suite.run(setting);
    return [];
  });
  const { passed, failed } = count.counts();
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  console.log(`${suite.name}: ${passed - before.passed} passed, ${failed - before.failed} failed (${seconds} s)`);
}
