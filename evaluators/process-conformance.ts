/**
 * The tool calls follow the normal process of the agent's version, as its passing runs show it. The score is the fitness of the optimal
 * alignment: 1 less the moves that deviate over the most that could, which are all calls of the run and those of the shortest normal run.
 * Every call that the model asked for counts, whether it ran or not.
 */
import type { Outcome } from '../src/model/verdict.ts';
import type { ProcessModel } from '../src/model/process-model.ts';
import { evidenceOf, namedIn, skipped } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { count, listedOf } from './explain/explanation.ts';
import { rule, option, type OptionsOf } from './configuration/define.ts';
import { alignment, type Alignment } from './process/alignment.ts';
import { deviationsOf } from './process/deviations.ts';
import { processGraph, type ProcessGraph } from './process/graph.ts';
import { learningFaults, learningOptions, learntProcess } from './process/learning.ts';
import { grouped } from './process/seen.ts';
import { blocksOf, hasTooManyTools, type Block } from './process/trajectory.ts';

const options = {
  ...learningOptions,
  rare: option<number>(
    {
      type: 'number',
      minimum: 0,
      maximum: 0.5,
      description: 'A step between two tools is normal when at least this share of the runs with the first tool takes it, after smoothing.',
    },
    0.01,
  ),
  smoothing: option<number>(
    {
      type: 'number',
      minimum: 0,
      maximum: 100,
      description:
        'Added to the runs with a step and to those without it. At 0.5 and `rare: 0.01`, fewer than 50 runs with a tool prove nothing about the next step.',
    },
    0.5,
  ),
};

type Options = OptionsOf<typeof options>;

export const processConformance = rule({
  id: 'process_conformance',
  summary: 'The tool calls follow the normal process, which passing runs have shown.',
  needs: ['tool_calls'],
  learns: 'process',
  defaultThreshold: 1,
  options,
  optionFaults: learningFaults,
  source:
    'Conformance checking by optimal alignments (van der Aalst; Carmona et al., 2018) with a directly-follows graph, which is learnt per version',
  evaluate,
});

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const learnt = learntProcess(subject, options, context);
  if (learnt.kind === 'skipped') return learnt;
  const { model } = learnt;
  const { graph } = context.once(model, options, () => ({ graph: processGraph(model, options) }));
  if (graph === undefined) return leftOut(model);
  if (graph.isOpen[0] === true)
    return skipped(
      'learning',
      `After ${count(model.runs, 'run')}, every first call may still be normal; learning goes on, or options.smoothing and options.rare are too strict.`,
      { runs: model.runs },
    );
  if (hasTooManyTools(subject.trace)) return tooLarge(subject.trace.toolCalls.length);
  const blocks = blocksOf(subject.trace);
  const found = alignment(blocks, graph);
  if (found === undefined) return tooLarge(subject.trace.toolCalls.length);
  // Transitions that the model had no room for look the same as those that never happened.
  if (found.cost > 0 && model.beyond.tools + model.beyond.transitions > 0) return leftOut(model);
  return verdict(found, { model, graph, blocks, isFormer: learnt.isFormer });
}

interface Compared {
  readonly model: ProcessModel;
  readonly graph: ProcessGraph;
  readonly blocks: readonly Block[];
  readonly isFormer: boolean;
}

function verdict({ cost, moves }: Alignment, { model, graph, blocks, isFormer }: Compared): Outcome {
  const calls = blocks.reduce((sum, { length }) => sum + length, 0);
  const most = calls + graph.shortest;
  const deviations = cost === 0 ? [] : deviationsOf(moves, model);
  const open = new Set(
    moves.flatMap((move) => (move.kind === 'normal' ? [move.placed.call.name] : [])).filter((name) => isOpen(graph, name)),
  );
  const learntFrom = `${grouped(model.runs)} runs${isFormer ? ' of the former version' : ''}`;
  return {
    kind: 'scored',
    score: most === 0 ? 1 : (most - cost) / most,
    explanation:
      deviations.length === 0
        ? fine(calls, learntFrom)
        : `The run deviates from the process of ${learntFrom}: ${listedOf(deviations, ({ inWords }) => inWords)}.`,
    evidence: evidenceOf(deviations.flatMap(({ calls: own }) => own)),
    details: {
      cost,
      cost_max: most,
      tool_calls: calls,
      learnt_runs: model.runs,
      ...(isFormer ? { former_version: true } : {}),
      ...(open.size === 0 ? {} : { unchecked_after: [...open] }),
      ...namedIn('deviations', deviations, ({ details }) => details),
    },
  };
}

function isOpen({ nodes, isOpen: open }: ProcessGraph, name: string): boolean {
  return open[nodes.get(name) ?? -1] === true;
}

function fine(calls: number, learntFrom: string): string {
  if (calls === 0) return `A run without tool calls is normal in the process of ${learntFrom}.`;
  return calls === 1
    ? `The one tool call follows the process of ${learntFrom}.`
    : `The ${calls} tool calls follow the process of ${learntFrom}.`;
}

function tooLarge(calls: number): Outcome {
  return skipped('too_large', `The search for the best alignment of ${count(calls, 'tool call')} takes more work than one run may.`, {
    tool_calls: calls,
  });
}

function leftOut({ beyond }: ProcessModel): Outcome {
  return skipped(
    'too_large',
    'The process has more tools or steps than a model holds, so steps that it has never seen cannot be distinguished from those that it has left out.',
    { beyond_tools: beyond.tools, beyond_transitions: beyond.transitions },
  );
}
