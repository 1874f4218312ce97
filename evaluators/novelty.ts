/**
 * The run calls no tool, takes no step from one tool to the next, and gives no argument that passing runs of the version have never shown.
 * Every call that the model asked for counts, whether it ran or not.
 */
import type { JsonObject } from '../src/model/json.ts';
import { isJsonObject } from '../src/model/json.ts';
import type { ArgumentPath, ProcessModel, ProcessTool } from '../src/model/process-model.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, namedIn, noToolCalls, skipped, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { callName, count, listedOf, quoted, toolName } from './explain/explanation.ts';
import { rule, choice, flag, option, type OptionsOf } from './configuration/define.ts';
import { argumentShape, isTopPath } from './process/argument-shape.ts';
import { learningFaults, learningOptions, learntProcess } from './process/learning.ts';
import { grouped } from './process/seen.ts';
import { blocksOf, hasTooManyTools, possibleSteps, type Block } from './process/trajectory.ts';

const options = {
  ...learningOptions,
  tools: flag('Tools that were never called are new.', true),
  transitions: flag('A step from one tool to the next that was never taken is new.', true),
  repeats: flag('More calls of a tool than any run made are new.', true),
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
  learns: 'process',
  defaultThreshold: 1,
  options,
  optionFaults: learningFaults,
  source: 'Our own: what a model of the normal process has never seen',
  evaluate,
});

/** Something that the model has never seen. */
interface Finding {
  readonly inWords: string;
  readonly placed: PlacedCall;
  readonly details: JsonObject;
}

/** The lookups in the model, each once a run. */
interface Looked {
  known: number;
  readonly fresh: Finding[];
}

interface Known {
  readonly model: ProcessModel;
  readonly tools: ReadonlyMap<string, KnownTool>;
  /** By the tool before, and the tool after; null is the start or the end. */
  readonly steps: ReadonlyMap<string | null, ReadonlySet<string | null>>;
}

interface KnownTool extends ProcessTool {
  readonly byPath: ReadonlyMap<string, ArgumentPath>;
  /** Paths of the arguments themselves that every call had. */
  readonly always: readonly string[];
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
  const blocks = blocksOf(trace);
  const calls = Map.groupBy(blocks.flat(), ({ call }) => call.name);
  const looked: Looked = { known: 0, fresh: [] };
  if (options.tools) lookAtTools(looked, calls, known);
  if (options.transitions) lookAtSteps(looked, blocks, known, options);
  if (options.repeats) lookAtRepeats(looked, calls, known, options);
  if (options.arguments) lookAtArguments(looked, calls, known, options);
  return looked.known + looked.fresh.length === 0
    ? nothingToTell(learnt.model)
    : verdict(looked, known, { options, isFormer: learnt.isFormer });
}

function knownOf(model: ProcessModel): Known {
  const steps = new Map<string | null, Set<string | null>>();
  for (const { from, to } of model.transitions) steps.set(from, (steps.get(from) ?? new Set()).add(to));
  return { model, tools: new Map(model.tools.map((tool) => [tool.name, knownTool(tool)])), steps };
}

function knownTool(tool: ProcessTool): KnownTool {
  const { paths, shaped } = tool;
  return {
    ...tool,
    byPath: new Map(paths.map((path) => [path.path, path])),
    always: paths.filter(({ path, calls }) => calls === shaped && isTopPath(path)).map(({ path }) => path),
  };
}

type CallsByTool = ReadonlyMap<string, readonly PlacedCall[]>;

function lookAtTools(looked: Looked, calls: CallsByTool, { model, tools }: Known): void {
  for (const [name, [placed]] of calls) {
    if (tools.has(name)) looked.known++;
    // The model has left out tools, and this may be one of them.
    else if (placed !== undefined && model.beyond.tools === 0)
      looked.fresh.push({ inWords: `tool ${callName(placed)}`, placed, details: { kind: 'tool', ...callDetails(placed) } });
  }
}

/** Steps from or to an unknown tool say no more than the tool does. */
function lookAtSteps(looked: Looked, blocks: readonly Block[], { model, tools, steps }: Known, { callsMin }: Options): void {
  const seen = new Map<string | null, Set<string | null>>();
  for (const { from, to } of possibleSteps(blocks)) {
    const placed = to ?? from;
    const [before, after] = [from?.call.name ?? null, to?.call.name ?? null];
    const done = seen.get(before) ?? new Set();
    if (placed === undefined || done.has(after)) continue;
    seen.set(before, done.add(after));
    if ((before !== null && !tools.has(before)) || (after !== null && !tools.has(after))) continue;
    if ((before === null ? model.runs : (tools.get(before)?.calls ?? 0)) < callsMin) continue;
    if (steps.get(before)?.has(after) === true) looked.known++;
    else if (model.beyond.transitions === 0) {
      const where = from === undefined ? 'as the first call' : to === undefined ? 'as the last call' : `right after ${toolName(from.call)}`;
      looked.fresh.push({
        inWords: `${callName(placed)} ${where}`,
        placed,
        details: { kind: 'transition', from: before, to: after, ...callDetails(placed) },
      });
    }
  }
}

function lookAtRepeats(looked: Looked, calls: CallsByTool, { tools }: Known, { callsMin }: Options): void {
  for (const [name, own] of calls) {
    const tool = tools.get(name);
    if (tool === undefined || tool.most === 0 || tool.calls < callsMin) continue;
    const placed = own[tool.most];
    if (placed === undefined) looked.known++;
    else
      looked.fresh.push({
        inWords: `${count(own.length, 'call')} of ${toolName(placed.call)} in one run, where ${tool.most} ${tool.most === 1 ? 'was' : 'were'} the most`,
        placed,
        details: { kind: 'repeats', calls: own.length, most: tool.most, ...callDetails(placed) },
      });
  }
}

function lookAtArguments(looked: Looked, calls: CallsByTool, { tools }: Known, { callsMin }: Options): void {
  for (const [name, own] of calls) {
    const tool = tools.get(name);
    if (tool === undefined || tool.shaped < callsMin) continue;
    // Each path and each type once, however many calls have it.
    const done = new Set<string>();
    const isFirst = (what: string): boolean => !done.has(what) && done.add(what).size > 0;
    for (const placed of own) if (isJsonObject(placed.call.arguments)) lookAtCall(looked, placed, placed.call.arguments, { tool, isFirst });
  }
}

function lookAtCall(
  looked: Looked,
  placed: PlacedCall,
  given: JsonObject,
  { tool, isFirst }: { readonly tool: KnownTool; readonly isFirst: (what: string) => boolean },
): void {
  const { types, isWhole } = argumentShape(given);
  const add = (inWords: string, more: JsonObject): void => {
    looked.fresh.push({ inWords, placed, details: { kind: 'argument', ...more, ...callDetails(placed) } });
  };
  for (const [path, found] of types) {
    const known = tool.byPath.get(path);
    if (known === undefined) {
      if (tool.beyond === 0 && isFirst(path)) add(`argument ${quoted(path)} of ${toolName(placed.call)}`, { path });
      continue;
    }
    for (const type of found) {
      if (!isFirst(`${type} ${path}`)) continue;
      if (known.types[type] !== undefined) looked.known++;
      else add(`${type} as argument ${quoted(path)} of ${toolName(placed.call)}`, { path, type });
    }
  }
  if (!isWhole) return;
  for (const path of tool.always)
    if (!types.has(path) && isFirst(`without ${path}`))
      add(`${toolName(placed.call)} without argument ${quoted(path)}`, { path, missing: true });
}

function verdict(
  { known, fresh }: Looked,
  { model }: Known,
  { options, isFormer }: { readonly options: Options; readonly isFormer: boolean },
): Outcome {
  const all = known + fresh.length;
  const learntFrom = `${grouped(model.runs)} runs${isFormer ? ' of the former version' : ''}`;
  return {
    kind: 'scored',
    score: options.score === 'any' ? (fresh.length === 0 ? 1 : 0) : known / all,
    label: fresh.length === 0 ? 'known' : 'novel',
    explanation:
      fresh.length === 0
        ? `Nothing in the run is new against ${learntFrom}.`
        : `Never seen in ${learntFrom}: ${listedOf(fresh, ({ inWords }) => inWords)}.`,
    evidence: evidenceOf(fresh.map(({ placed }) => placed)),
    details: {
      looked_at: all,
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
        'The process has more tools or steps than a model holds, so new steps cannot be distinguished from those that it has left out.',
      )
    : skipped('learning', `The model of ${count(runs, 'run')} has seen these tools too seldom to call anything new.`, { runs });
}
