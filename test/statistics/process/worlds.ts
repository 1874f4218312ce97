/** Agents with a known process, the deviations that are planted in their runs, and what evaluators find of them by the runs learnt from. */
import { configuredEvaluator, type ConfiguredRule } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { observedProcess, processLearner } from '../../../src/analytics/process-learning.ts';
import type { AgentTrace, ToolCall } from '../../../src/model/agent-trace.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { ProcessModel } from '../../../src/model/process-model.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { run as streamed } from '../../builders/scored-run.ts';
import { seeded, type Chance } from '../../builders/seeded.ts';

/** One call, or calls of one model message. */
type Step = readonly Planned[];

interface Planned {
  readonly tool: string;
  readonly given: JsonObject;
}

export interface ProcessWorld {
  readonly name: string;
  readonly normal: (chance: Chance) => readonly Step[];
  readonly deviations: { readonly [kind in Deviation]: (steps: readonly Step[], chance: Chance) => readonly Step[] | undefined };
}

export const deviations = ['swapped order', 'missing check', 'skipped step', 'loop', 'new tool', 'new argument'] as const;
export type Deviation = (typeof deviations)[number];

function step(chance: Chance, ...tools: readonly string[]): Step {
  return tools.map((tool) => ({ tool, given: argumentsOf(tool, chance) }));
}

/** Some arguments are always there, some in a tenth of the calls, some in one of a hundred. */
function argumentsOf(tool: string, { share }: Chance): JsonObject {
  return {
    [`${tool}_id`]: 'x',
    filter: { from: 'a', ...(share() < 0.3 ? { to: 'b' } : {}) },
    ...(share() < 0.1 ? { note: share() < 0.5 ? 'late' : null } : {}),
    ...(share() < 0.01 ? { trace: true } : {}),
  };
}

/** A support agent whose steps depend on one another; one run in a hundred takes a way that few take. */
function supportRun(chance: Chance): readonly Step[] {
  const { share } = chance;
  const opening = [step(chance, 'verify_identity'), step(chance, 'lookup_order', 'lookup_customer')];
  const way = share();
  if (way < 0.45) {
    const checks = Array.from({ length: share() < 0.03 ? 2 : 1 }, () => step(chance, 'check_policy'));
    return [...opening, ...checks, step(chance, 'refund_order'), step(chance, 'send_mail')];
  }
  if (way < 0.75) return [...opening, step(chance, 'check_stock'), step(chance, 'create_exchange'), step(chance, 'send_mail')];
  if (way < 0.95) {
    const searches = 1 + Math.floor(share() * 3);
    return [...opening, ...Array.from({ length: searches }, () => step(chance, 'search_faq'))];
  }
  if (way < 0.99) return [...opening, step(chance, 'open_ticket'), step(chance, 'send_mail')];
  if (way < 0.998) return [...opening, step(chance, 'hand_over')];
  return [...opening, step(chance, 'cancel_order'), step(chance, 'send_mail')];
}

const researchTools = Array.from({ length: 40 }, (_, at) => `tool_${at}`);

/** A research agent: it plans, then goes from each tool to one of four others, and seldom to any. */
function researchRun(chance: Chance): readonly Step[] {
  const { share, below } = chance;
  const steps: Step[] = [step(chance, 'plan')];
  let at = below(3);
  for (let left = 3 + below(6); left > 0; left--) {
    steps.push(step(chance, researchTools[at] ?? ''));
    const way = share();
    const usual = way < 0.5 ? 1 : way < 0.75 ? 2 : way < 0.9 ? 5 : 11;
    at = way < 0.99 ? (at * 3 + usual) % researchTools.length : below(researchTools.length);
  }
  return [...steps, step(chance, 'write_report')];
}

function withoutStep(steps: readonly Step[], at: number): readonly Step[] {
  return steps.filter((_, index) => index !== at);
}

function swapped(steps: readonly Step[], at: number): readonly Step[] | undefined {
  const [one, other] = [steps[at], steps[at + 1]];
  if (one === undefined || other === undefined || one[0]?.tool === other[0]?.tool) return undefined;
  return steps.with(at, other).with(at + 1, one);
}

const planted: Pick<ProcessWorld['deviations'], 'loop' | 'new tool' | 'new argument'> = {
  loop: (steps, { below }) => {
    const at = 1 + below(Math.max(1, steps.length - 2));
    const [looped = []] = steps.slice(at);
    return steps.toSpliced(at, 0, looped, looped, looped);
  },
  'new tool': (steps, chance) => steps.toSpliced(1 + chance.below(steps.length - 1), 0, step(chance, 'delete_account')),
  'new argument': (steps, { below }) => {
    const at = below(steps.length);
    const changed = steps[at]?.map(({ tool, given }) => ({ tool, given: { ...given, [`${tool}_id`]: 7 } }));
    return changed === undefined ? undefined : steps.with(at, changed);
  },
};

export const processWorlds: readonly ProcessWorld[] = [
  {
    name: 'support agent: 11 tools, 6 ways',
    normal: supportRun,
    deviations: {
      ...planted,
      'swapped order': (steps) => {
        const at = steps.findIndex(([first]) => first?.tool === 'check_policy' || first?.tool === 'check_stock');
        return at < 0 ? undefined : swapped(steps, at);
      },
      'missing check': (steps) => {
        const at = steps.findIndex(([first]) => first?.tool === 'check_policy');
        return at < 0 || steps[at + 1]?.[0]?.tool === 'check_policy' ? undefined : withoutStep(steps, at);
      },
      'skipped step': (steps) => withoutStep(steps, 0),
    },
  },
  {
    name: 'research agent: 42 tools, any of four next',
    normal: researchRun,
    deviations: {
      ...planted,
      'swapped order': (steps, { below }) => swapped(steps, 1 + below(steps.length - 3)),
      'missing check': (steps) => withoutStep(steps, 0),
      'skipped step': (steps, { below }) => withoutStep(steps, 1 + below(steps.length - 2)),
    },
  },
];

function traceOf(steps: readonly Step[]): AgentTrace {
  let number = 0;
  const toolCalls = steps.flatMap((calls, turn) =>
    calls.map(({ tool, given }): ToolCall => call({ name: tool, arguments: given, spanId: spanId(++number), turn })),
  );
  return agentTrace({ agent: 'a', toolCalls });
}

export interface Found {
  /** Runs without a deviation that fail, over those that were scored. */
  readonly falseAlarms: number;
  /** By deviation: failed runs, over those that were scored. `undefined`: none was scored. */
  readonly recall: { readonly [kind in Deviation]: number | undefined };
  /** Runs that were scored, over all. */
  readonly scored: number;
}

export interface Trial {
  readonly learnt: number;
  /** Models that are learnt, each from other runs. */
  readonly models: number;
  /** Runs of each kind for each model. */
  readonly runs: number;
  readonly seed: number;
}

export function foundBy(evaluator: string, world: ProcessWorld, { learnt, models, runs, seed }: Trial): Found {
  const counts = new Map<string, { failed: number; scored: number; all: number }>();
  for (let nth = 0; nth < models; nth++) {
    const chance = seeded(seed + 1_000 * nth + learnt);
    const model = learntFrom(world, learnt, chance);
    const made = configuredEvaluator({ use: evaluator, options: { runs_min: 20, runs_max: 1_000_000 } }, evaluators);
    if (made.kind !== 'ready' || made.evaluator.kind !== 'rule') throw new Error(`${evaluator} is not a rule`);
    for (const kind of ['normal', ...deviations] as const)
      for (let at = 0; at < runs; at++) {
        const normal = world.normal(chance);
        const steps = kind === 'normal' ? normal : world.deviations[kind](normal, chance);
        if (steps !== undefined) count(counts, kind, hasFailed(made.evaluator, traceOf(steps), model));
      }
  }
  const shareOf = (kind: string): number | undefined => {
    const found = counts.get(kind);
    return found === undefined || found.scored === 0 ? undefined : found.failed / found.scored;
  };
  const all = [...counts.values()];
  return {
    falseAlarms: shareOf('normal') ?? Number.NaN,
    recall: Object.fromEntries(deviations.map((kind) => [kind, shareOf(kind)])) as Found['recall'],
    scored: all.reduce((sum, one) => sum + one.scored, 0) / all.reduce((sum, one) => sum + one.all, 0),
  };
}

function learntFrom(world: ProcessWorld, runs: number, chance: Chance): ProcessModel {
  const learner = processLearner();
  for (let at = 0; at < runs; at++) {
    const observed = observedProcess(traceOf(world.normal(chance)));
    if (observed !== undefined) learner.add(observed);
  }
  return learner.model();
}

/** `undefined`: it was not scored. */
function hasFailed(rule: ConfiguredRule, trace: AgentTrace, model: ProcessModel): boolean | undefined {
  const verdict = rule.evaluate(trace, {}, evaluationContext({ processOf: () => ({ runs: model.runs, model }) }), streamed({ trace }));
  return verdict.kind === 'scored' ? verdict.passed === false : undefined;
}

function count(counts: Map<string, { failed: number; scored: number; all: number }>, kind: string, failed: boolean | undefined): void {
  const own = counts.get(kind) ?? { failed: 0, scored: 0, all: 0 };
  counts.set(kind, own);
  own.all++;
  if (failed === undefined) return;
  own.scored++;
  if (failed) own.failed++;
}
