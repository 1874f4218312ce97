/** `npm run check -- statistics`: how often intervals hold the truth, as the table of docs/explanation/statistics.md. `--worlds 20000` and `--seed 7` change the defaults; `--grid 2000` adds rates over a grid of designs, with so many worlds each, which takes minutes. */
import { minutesToFire } from '../analytics/alerts/alert-worlds.ts';
import { skipsFound, skipWorlds } from '../analytics/skip-worlds.ts';
import { designsOf, foundIn } from '../analytics/traffic-worlds.ts';
import { seeded } from '../builders/seeded.ts';
import { labelWorlds } from '../analytics/label-worlds.ts';
import { comparisonWorlds } from './comparison-worlds.ts';
import { correctionWorlds, scarceCorrectionWorlds } from './correction-worlds.ts';
import { differentPairs, equalPairs, skewedPairs } from './paired-worlds.ts';
import { rateWorlds, scarceRateWorlds } from './rate-worlds.ts';
import { equalWorlds, falseAlarms, runsToDetect, sequenceShows } from './sequence-worlds.ts';
import { simulated, type Simulated } from './world.ts';
import { runnerArguments } from '../runner-arguments.ts';

const { values } = runnerArguments({
  options: { worlds: { type: 'string', default: '2000' }, seed: { type: 'string', default: '2026' }, grid: { type: 'string' } },
});
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const signed = (share: number): string => `${share <= -0.000_05 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(2)}`;
const row = (name: string, { coverage, above, below, bias, biasError, width, worlds, notEstimable, uncovered }: Simulated): string =>
  `| ${[name, percent(coverage), percent(above), percent(below), signed(bias), (100 * biasError * Math.sqrt(worlds - notEstimable)).toFixed(2), (100 * width).toFixed(1), uncovered === 0 ? '' : percent(uncovered), notEstimable === 0 ? '' : notEstimable].join(' | ')} |`;

console.log(
  '| world | interval holds the truth | lies above it | below it | mean error, points | standard error, points | width, points | uncovered | not estimable |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
for (const world of [...rateWorlds, ...correctionWorlds, ...comparisonWorlds, ...scarceRateWorlds, ...scarceCorrectionWorlds]) {
  console.log(row(world.name, simulated(world, { worlds: Number(values.worlds), seed: Number(values.seed) })));
}

console.log(
  '\n| figure | labels | interval holds the truth | lies above it | below it | mean error, points | width, points | not estimable |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const world of labelWorlds) {
  const found = world.simulated({ worlds: Number(values.worlds), seed: Number(values.seed) });
  for (const [figure, { coverage, above, below, bias, width, notEstimable, worlds }] of Object.entries(found))
    console.log(
      `| ${(notEstimable === worlds
        ? [figure, world.name, '', '', '', '', '', notEstimable]
        : [
            figure,
            world.name,
            percent(coverage),
            percent(above),
            percent(below),
            signed(bias),
            (100 * width).toFixed(1),
            notEstimable || '',
          ]
      ).join(' | ')} |`,
    );
}

console.log('\n| two versions on the same examples | difference shown | interval holds the truth | width, points |');
console.log('|---|---|---|---|');
for (const world of [...equalPairs, ...differentPairs, ...skewedPairs]) {
  const { shown, coverage, width } = simulated(world, { worlds: Number(values.worlds), seed: Number(values.seed) });
  console.log(`| ${[world.name, percent(shown), percent(coverage), (100 * width).toFixed(1)].join(' | ')} |`);
}

console.log('\n| versions, 100 examples | better | worse | worse with unscored runs | share of skips shown |');
console.log('|---|---|---|---|---|');
for (const world of skipWorlds) {
  const { better, worse, worseWithUnscored, skipsShown } = skipsFound(world, Number(values.worlds), Number(values.seed));
  console.log(`| ${[world.name, percent(better), percent(worse), percent(worseWithUnscored), percent(skipsShown)].join(' | ')} |`);
}

const series = 5 * Number(values.worlds);
console.log('\n| world | series with a false alarm at any of 1,000 looks |');
console.log('|---|---|');
for (const world of equalWorlds) {
  const share = falseAlarms(world, { series, runs: 1_000, seed: Number(values.seed), shows: sequenceShows(0.99) });
  console.log(`| ${world.name} | ${(100 * share).toFixed(2)} % |`);
}

console.log(
  '\n| before | after | runs before | `by` | median runs | nine of ten series | median hours at 1,000 runs an hour | nine of ten |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const [before, after, runsBefore, by] of [
  [0.95, 0.9, 1_000, 0],
  [0.95, 0.9, 10_000, 0],
  [0.95, 0.9, 100_000, 0],
  [0.95, 0.9, 10_000, 0.02],
  [0.95, 0.85, 10_000, 0],
  [0.99, 0.94, 10_000, 0],
] as const) {
  const runs = runsToDetect({ before, after, runsBefore, by }, { series: 300, seed: Number(values.seed), confidence: 0.99 });
  const [median = 0, nine = 0] = [runs[150], runs[270]];
  const told = (one: number): string => (one >= 50_000 ? 'over 50,000' : one.toLocaleString('en'));
  const hours = (one: number): string => (one >= 50_000 ? 'over 50' : (one / 1_000).toFixed(1));
  console.log(
    `| ${[percent(before), percent(after), runsBefore.toLocaleString('en'), by, told(median), told(nine), hours(median), hours(nine)].join(' | ')} |`,
  );
}

console.log('\n| runs an hour | real rate | `estimate` | weeks that fire | median time until it fires |');
console.log('|---|---|---|---|---|');
for (const perHour of [60, 300, 1_000]) {
  for (const rate of [0.95, 0.93, 0.9, 0.85]) {
    for (const estimate of ['interval', 'point'] as const) {
      const weeks = minutesToFire({ perHour, rate, estimate }, { weeks: 200, seed: Number(values.seed) });
      const [fired, median = Infinity] = [weeks.filter((one) => one < Infinity).length / weeks.length, weeks[100]];
      const time = median === Infinity ? 'none' : median < 120 ? `${median} min` : `${(median / 60).toFixed(1)} h`;
      console.log(`| ${[perHour.toLocaleString('en'), percent(rate), `\`${estimate}\``, percent(fired), time].join(' | ')} |`);
    }
  }
}

if (values.grid !== undefined) {
  console.log(
    '\n| runs | designs | estimable in a twentieth of the worlds | lowest share that holds the truth | mean | largest mean error, points |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const runs of [100, 400, 1_000, 3_000, 10_000]) {
    const worlds = Number(values.grid);
    const all = designsOf(runs).map((design) => foundIn(design, worlds, seeded(Number(values.seed))));
    const found = all.filter(({ told }) => told >= worlds / 20);
    const told = found.reduce((sum, one) => sum + one.told, 0);
    const mean = found.reduce((sum, one) => sum + one.told * one.coverage, 0) / told;
    const lowest = Math.min(...found.map(({ coverage }) => coverage));
    const bias = Math.max(...found.map((one) => Math.abs(one.bias)));
    console.log(
      `| ${[runs.toLocaleString('en'), all.length, found.length, percent(lowest), percent(mean), (100 * bias).toFixed(1)].join(' | ')} |`,
    );
  }
}
