/** `npm run test:statistics`: how often intervals hold the truth, as the table of docs/explanation/statistics.md. `--worlds 20000` and `--seed 7` change the defaults. */
import { comparisonWorlds } from './comparison-worlds.ts';
import { correctionWorlds, scarceCorrectionWorlds } from './correction-worlds.ts';
import { rateWorlds, scarceRateWorlds } from './rate-worlds.ts';
import { simulated, type Simulated } from './world.ts';
import { runnerArguments } from '../runner-arguments.ts';

const { values } = runnerArguments({ options: { worlds: { type: 'string', default: '2000' }, seed: { type: 'string', default: '2026' } } });
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
