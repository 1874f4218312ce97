/** `npm run check -- processes`: what evaluators of the normal process find, as the tables of docs/explanation/learned-process.md. `--models 40` and `--seed 7` change the defaults. */
import { runnerArguments } from '../../runner-arguments.ts';
import { deviations, foundBy, processWorlds } from './worlds.ts';

const { values } = runnerArguments({
  options: {
    models: { type: 'string', default: '20' },
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '2026' },
  },
});
const percent = (share: number | undefined): string =>
  share === undefined || Number.isNaN(share) ? '–' : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

for (const evaluator of ['process_conformance', 'novelty'])
  for (const world of processWorlds) {
    // The order of tools does not bear on their arguments.
    const kinds = deviations.filter((kind) => evaluator === 'novelty' || kind !== 'new argument');
    console.log(`\n\`${evaluator}\`, ${world.name}\n`);
    console.log(`| learnt from | scored | false alarms | ${kinds.join(' | ')} |`);
    console.log(`|---|---|---|${kinds.map(() => '---').join('|')}|`);
    for (const learnt of [20, 50, 100, 200, 500, 1_000]) {
      const trial = { learnt, models: Number(values.models), runs: Number(values.runs), seed: Number(values.seed) };
      const { scored, falseAlarms, recall } = foundBy(evaluator, world, trial);
      const cells = [learnt, percent(scored), percent(falseAlarms), ...kinds.map((kind) => percent(recall[kind]))];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
