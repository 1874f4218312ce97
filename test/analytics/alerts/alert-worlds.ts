/** Weeks of traffic with a constant rate, looked at every five minutes by an alert on the rate of the last hour. */
import { alertCondition } from '../../../src/analytics/alerts/condition.ts';
import { type AlertRule, findingOf } from '../../../src/analytics/alerts/finding.ts';
import { type Chance, seeded } from '../../builders/seeded.ts';

export interface AlertWorld {
  readonly perHour: number;
  /** The rate of the week; 0.97 in the hour before. */
  readonly rate: number;
  readonly estimate: AlertRule['estimate'];
}

const threshold = 0.95;
const rateBefore = 0.97;
const stepMinutes = 5;
const stepsOfHour = 60 / stepMinutes;
const stepsOfWeek = 7 * 24 * stepsOfHour;

type Step = readonly [runs: number, passed: number];

/** Minutes until the alert fires, in order; Infinity for a week without an alert. */
export function minutesToFire(
  { perHour, rate, estimate }: AlertWorld,
  { weeks, seed }: { readonly weeks: number; readonly seed: number },
): readonly number[] {
  const chance = seeded(seed);
  const rule = ruleOf(estimate);
  return Array.from({ length: weeks }, () => {
    // An agent that is as good as its threshold was so before.
    const hour = Array.from({ length: stepsOfHour }, () => step(chance, perHour, rate === threshold ? rate : rateBefore));
    for (let at = 1; at <= stepsOfWeek; at++) {
      hour.shift();
      hour.push(step(chance, perHour, rate));
      if (isFiring(rule, hour)) return at * stepMinutes;
    }
    return Infinity;
  }).sort((one, other) => one - other);
}

function ruleOf(estimate: AlertRule['estimate']): AlertRule {
  const when = `passed.rate < ${threshold} over 1h`;
  const parsed = alertCondition(when);
  if (parsed.kind === 'fault') throw new Error(parsed.problem);
  const { condition } = parsed;
  return { name: 'low', when, condition, by: 0, confidence: 0.99, estimate, objective: undefined, runsMin: 30, clearMs: 0, to: [] };
}

function step({ share }: Chance, perHour: number, rate: number): Step {
  let [runs, passed] = [0, 0];
  for (let run = 0; run < perHour; run++) {
    if (share() >= 1 / stepsOfHour) continue;
    runs++;
    if (share() < rate) passed++;
  }
  return [runs, passed];
}

function isFiring(rule: AlertRule, hour: readonly Step[]): boolean {
  const sum = (at: 0 | 1): number => hour.reduce((all, one) => all + one[at], 0);
  const [runs, value] = [sum(0), sum(1)];
  const whole = { agent: 'a', version: '', task: '', kind: 'pass', name: 'passed', firstAt: 0, lastAt: 0 } as const;
  return findingOf(rule, [[{ ...whole, runs, weight: runs, value, share: runs, shareValue: value }]]).kind === 'holds';
}
