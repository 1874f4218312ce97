/** Runs of one task beside one another: of one example of a dataset, or of what the configuration names as the task. */
import { convergence } from '../../../evaluators/evidence/convergence.ts';
import { comparedRun, type Comparing } from '../../pipeline/reporting/task-groups.ts';
import type { EvalResult } from './item.ts';

export interface TaskResult {
  readonly task: string;
  readonly agent: string;
  /** Runs that were compared; one alone is its own shortest way. */
  readonly runs: number;
  readonly convergence: number;
  readonly shareOnOptimalPath: number;
  /** Undefined: no run succeeded. */
  readonly optimalSteps: number | undefined;
}

/** In the order of their first runs. Runs that name no task or cannot be compared are in none of them. */
export function taskResults(results: readonly EvalResult[], comparing: Comparing): readonly TaskResult[] {
  const compared = results.flatMap(({ item, verdicts }) => {
    const task = item.example?.id ?? item.task;
    const found = comparedRun(item.run, comparing, (wanted) => verdicts.find(({ name }) => name === wanted)?.verdict);
    return task === undefined || found.kind === 'left_out' ? [] : [{ task, agent: item.run.trace.agent ?? '', run: found.run }];
  });
  return [...Map.groupBy(compared, ({ task, agent }) => JSON.stringify([task, agent])).values()].flatMap((group) => {
    const [first] = group;
    const outcome = convergence(group.map(({ run }) => run));
    if (first === undefined || outcome.kind === 'skipped') return [];
    const { optimal_steps: optimal, share_on_optimal_path: share } = outcome.details;
    return [
      {
        task: first.task,
        agent: first.agent,
        runs: group.length,
        convergence: outcome.score,
        shareOnOptimalPath: typeof share === 'number' ? share : 0,
        optimalSteps: typeof optimal === 'number' ? optimal : undefined,
      },
    ];
  });
}

/** Tasks with several runs to compare. */
export function severalRuns(tasks: readonly TaskResult[]): readonly TaskResult[] {
  return tasks.filter(({ runs }) => runs > 1);
}

export const taskHeads = ['task', 'agent', 'runs', 'convergence', 'shortest way', 'on it'] as const;

/** The cells under these heads. */
export function taskCells({ task, agent, runs, convergence: score, optimalSteps, shareOnOptimalPath }: TaskResult): readonly string[] {
  return [
    task,
    agent === '' ? '–' : agent,
    String(runs),
    score.toFixed(3),
    optimalSteps === undefined ? '–' : String(optimalSteps),
    shareOnOptimalPath.toFixed(3),
  ];
}
