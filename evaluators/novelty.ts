/**
 * The run calls no tool, takes no step from one tool to the next, and gives no argument that passing runs of the version have never shown.
 * Every call that the model asked for counts, whether it ran or not.
 */
import type { JsonObject } from '../src/model/json.ts';
import { isJsonObject } from '../src/model/json.ts';
import type { ProcessModel, ProcessTool } from '../src/model/process-model.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, namedIn, noToolCalls, skipped, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { callName, count, listedOf, quoted, toolName } from './explain/explanation.ts';
import { rule, choice, flag, option, type OptionsOf } from './configuration/define.ts';
import { argumentShape, isTopPath } from './process/argument-shape.ts';
import { learningFaults, learningOptions, learntProcess } from './process/learning.ts';
import { grouped, keyOf } from './process/seen.ts';
import { blocksOf, hasTooManyTools, possibleSteps } from './process/trajectory.ts';

const options = {
  ...learningOptions,
  tools: flag('Tools that were never called are new.', true),
  transitions: flag('A step from one tool to the next that was never taken is new.', true),
  arguments: flag('Paths and types of arguments that were never given are new, and so is the lack of one that was always given.', true),
  calls_min: option<number>(
    {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'Calls of a tool in the model before a step from it or one of its arguments can be new.',
    },
    20,
  ),
  score: choice(['share', 'any'], 'share: known over all that was looked at. any: 0 when anything is new.'),
};

type Options = OptionsOf<typeof options>;

export const novelty = rule({
  id: 'novelty',
  summary: 'Tools, steps between tools and arguments are ones that passing runs have shown.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options,
  optionFaults: learningFaults,
  source: 'Our own: what a model of the normal process has never seen',
  evaluate,
});

/** One thing that was looked up in the model. */
interface Looked {
  readonly isNew: boolean;
  readonly inWords: string;
  readonly placed: PlacedCall;
  readonly details: JsonObject;
}

interface Known {
  readonly model: ProcessModel;
  readonly tools: ReadonlyMap<string, ProcessTool>;
  readonly steps: ReadonlySet<string>;
}

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const learnt = learntProcess(subject, options, context);
  if (learnt.kind === 'skipped') return learnt;
  const { trace } = subject;
  if (trace.toolCalls.length === 0) return noToolCalls(trace);
  if (hasTooManyTools(trace))
    return skipped('too_large', 'The run calls more different tools than a model holds, and none of them was looked at.', {
      tool_calls: trace.toolCalls.length,
    });
  const known = context.once(learnt.model, options, () => knownOf(learnt.model));
  const calls = blocksOf(trace).flat();
  const looked = [
    ...(options.tools ? lookedTools(calls, known) : []),
    ...(options.transitions ? lookedSteps(subject, known, options) : []),
    ...(options.arguments ? lookedArguments(calls, known, options) : []),
  ];
  return looked.length === 0 ? nothingToTell(learnt.model) : verdict(looked, known, { options, isFormer: learnt.isFormer });
}

function knownOf(model: ProcessModel): Known {
  return {
    model,
    tools: new Map(model.tools.map((tool) => [tool.name, tool])),
    steps: new Set(model.transitions.map(({ from, to }) => keyOf(from, to))),
  };
}

function lookedTools(calls: readonly PlacedCall[], { model, tools }: Known): readonly Looked[] {
  const first = new Map<string, PlacedCall>();
  for (const placed of calls) if (!first.has(placed.call.name)) first.set(placed.call.name, placed);
  return [...first].flatMap(([name, placed]): readonly Looked[] => {
    const isNew = !tools.has(name);
    // The model has left out tools, and this may be one of them.
    if (isNew && model.beyond.tools > 0) return [];
    return [{ isNew, inWords: `tool ${callName(placed)}`, placed, details: { kind: 'tool', ...callDetails(placed) } }];
  });
}

/** Steps from or to an unknown tool say no more than the tool does. */
function lookedSteps({ trace }: Subject, { model, tools, steps }: Known, { callsMin }: Options): readonly Looked[] {
  const found = new Map<string, Looked>();
  for (const { from, to } of possibleSteps(blocksOf(trace))) {
    const placed = to ?? from;
    const [before, after] = [from?.call.name ?? null, to?.call.name ?? null];
    const key = keyOf(before, after);
    if (placed === undefined || found.has(key)) continue;
    if ((before !== null && !tools.has(before)) || (after !== null && !tools.has(after))) continue;
    if ((before === null ? model.runs : (tools.get(before)?.calls ?? 0)) < callsMin) continue;
    const isNew = !steps.has(key);
    if (isNew && model.beyond.transitions > 0) continue;
    const inWords =
      from === undefined
        ? `${callName(placed)} as the first call`
        : to === undefined
          ? `${callName(placed)} as the last call`
          : `${callName(placed)} right after ${toolName(from.call)}`;
    found.set(key, { isNew, inWords, placed, details: { kind: 'transition', from: before, to: after, ...callDetails(placed) } });
  }
  return [...found.values()];
}

function lookedArguments(calls: readonly PlacedCall[], { tools }: Known, { callsMin }: Options): readonly Looked[] {
  const found = new Map<string, Looked>();
  for (const placed of calls) {
    const tool = tools.get(placed.call.name);
    if (tool === undefined || tool.shaped < callsMin || !isJsonObject(placed.call.arguments)) continue;
    for (const { key, ...looked } of lookedCall(placed, placed.call.arguments, tool)) {
      const known = found.get(key);
      if (known === undefined || (looked.isNew && !known.isNew)) found.set(key, looked);
    }
  }
  return [...found.values()];
}

function* lookedCall(placed: PlacedCall, given: JsonObject, tool: ProcessTool): Generator<Looked & { readonly key: string }, void> {
  const { types, isWhole } = argumentShape(given);
  const known = new Map(tool.paths.map((path) => [path.path, path]));
  const about = (path: string, more: JsonObject): JsonObject => ({ kind: 'argument', path, ...more, ...callDetails(placed) });
  const own = toolName(placed.call);
  for (const [path, found] of types) {
    const seen = known.get(path);
    if (seen === undefined && tool.beyond > 0) continue;
    if (seen === undefined) {
      yield { key: keyOf(tool.name, path), isNew: true, inWords: `argument ${quoted(path)} of ${own}`, placed, details: about(path, {}) };
      continue;
    }
    for (const type of found) {
      const isNew = seen.types[type] === undefined;
      const inWords = `${type} as argument ${quoted(path)} of ${own}`;
      yield { key: keyOf(tool.name, `${path} ${type}`), isNew, inWords, placed, details: about(path, { type }) };
    }
  }
  if (!isWhole) return;
  for (const { path, calls } of tool.paths) {
    if (calls !== tool.shaped || !isTopPath(path) || types.has(path)) continue;
    const inWords = `${own} without argument ${quoted(path)}`;
    yield { key: keyOf(tool.name, `without ${path}`), isNew: true, inWords, placed, details: about(path, { missing: true }) };
  }
}

function verdict(
  looked: readonly Looked[],
  { model }: Known,
  { options, isFormer }: { readonly options: Options; readonly isFormer: boolean },
): Outcome {
  const fresh = looked.filter(({ isNew }) => isNew);
  const known = looked.length - fresh.length;
  const learntFrom = `${grouped(model.runs)} runs${isFormer ? ' of the former version' : ''}`;
  return {
    kind: 'scored',
    score: options.score === 'any' ? (fresh.length === 0 ? 1 : 0) : known / looked.length,
    label: fresh.length === 0 ? 'known' : 'novel',
    explanation:
      fresh.length === 0
        ? `Nothing in the run is new against ${learntFrom}.`
        : `Never seen in ${learntFrom}: ${listedOf(fresh, ({ inWords }) => inWords)}.`,
    evidence: evidenceOf(fresh.map(({ placed }) => placed)),
    details: {
      looked_at: looked.length,
      novel: fresh.length,
      learnt_runs: model.runs,
      ...(isFormer ? { former_version: true } : {}),
      ...namedIn('findings', fresh, ({ details }) => details),
    },
  };
}

function nothingToTell({ runs, beyond }: ProcessModel): Outcome {
  return beyond.tools + beyond.transitions > 0
    ? skipped(
        'too_large',
        'The process has more tools or steps than a model holds, so what is new cannot be told from what it has left out.',
      )
    : skipped('learning', `The model of ${count(runs, 'run')} has seen these tools too seldom to call anything new.`, { runs });
}
