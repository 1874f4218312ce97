/** Factories of evaluators for programs, with the engine of the configuration. */
import {
  configuredEvaluator,
  type ConfiguredEvaluator,
  type ConfiguredHttp,
  type ConfiguredJudge,
  type ConfiguredRule,
} from '../../evaluators/configuration/configured.ts';
import type { AnyEvaluator, EvaluationContext, Subject } from '../../evaluators/evaluator.ts';
import { partedOptions, snakeMembers } from '../../evaluators/configuration/options.ts';
import { mapReduceSchema } from '../../evaluators/judging/map-reduce.ts';
import { writtenParts, type PartsSetting } from '../../evaluators/judging/judged-parts.ts';
import type { TurnGrouping } from '../../evaluators/evidence/conversation.ts';
import { writtenExpectation } from '../../evaluators/expectation/expectation.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import type { Expectation } from '../model/expectation.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';

/** The keys of an entry of `evaluators:` beside the options. */
export interface EvaluatorSetting {
  /** Distinguishes several of one kind. Default: the evaluator's id. */
  readonly name?: string;
  /** Null makes a raw metric without pass or fail. Default: that of the evaluator. */
  readonly threshold?: number | null;
  /** The expectation of every run; the one of `evaluate` overrides it, member by member. */
  readonly expect?: Expectation;
  /** False omits the explanations of verdicts. */
  readonly includeExplanation?: boolean;
  /** For rules: scores each turn, and the worst turn counts; `expect.byTurn` has the expectation of each. */
  readonly turns?: TurnGrouping;
  /** For judges: asks about each part of a run instead of the run, as `on` of an entry. */
  readonly on?: PartsSetting;
  /** For judges: reads a run that does not fit into one question piece by piece, as `map` of an entry. */
  readonly map?: 'reduce' | { readonly piecesMax?: number; readonly contextTokens?: number };
}

/** Options with all members optional, at any depth. */
export type Given<Options> = Options extends readonly unknown[] | ((...given: never[]) => unknown)
  ? Options
  : Options extends object
    ? { readonly [Key in keyof Options]?: Given<Options[Key]> }
    : Options;

type OptionsOf<Member> = Member extends { evaluate(subject: Subject, options: infer Options, context: EvaluationContext): unknown }
  ? Options
  : never;

/** Sets an evaluator up. Throws a TypeError that lists all faults. */
export type Factory<Member> = Member extends { readonly kind: 'judge' }
  ? (options?: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredJudge
  : Member extends { readonly kind: 'http' }
    ? (options: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredHttp
    : Member extends { readonly evaluateWithJudge: unknown }
      ? RuleOrJudgeFactory<Given<OptionsOf<Member>>>
      : (options?: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredRule;

/** A rule that a judge can extend. */
export interface RuleOrJudgeFactory<Options> {
  (options: Options, setting: EvaluatorSetting & { readonly withJudge: true }): ConfiguredJudge;
  (options?: Options, setting?: EvaluatorSetting): ConfiguredRule;
}

/** Makes the factory of a built-in evaluator, or of another one with the same contract. */
export function factory<Member extends AnyEvaluator>(evaluator: Member): Factory<Member> {
  const make = (options: object = {}, setting: Setting = {}): ConfiguredEvaluator => configured(evaluator, options, setting);
  return make as Factory<Member>;
}

/** Sets an evaluator up with its defaults, unless it is set up already. */
export function readyEvaluator(evaluator: ConfiguredEvaluator | AnyEvaluator): ConfiguredEvaluator {
  return 'evaluator' in evaluator ? evaluator : configured(evaluator, {}, {});
}

type Setting = EvaluatorSetting & { readonly withJudge?: true };

const settingNames: { readonly [Name in keyof Required<Setting>]: true } = {
  name: true,
  threshold: true,
  expect: true,
  includeExplanation: true,
  turns: true,
  on: true,
  map: true,
  withJudge: true,
};

function configured(evaluator: AnyEvaluator, options: object, setting: Setting): ConfiguredEvaluator {
  const { name, threshold, expect, includeExplanation, turns, on, map, withJudge } = setting;
  const { data, functions } = partedOptions(options, evaluator.functions ?? []);
  const given: JsonObject = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  const written = snakeMembers(evaluator.optionsSchema, given);
  const configuration = configuredEvaluator(
    {
      use: evaluator.id,
      ...(isJsonObject(written) && Object.keys(written).length > 0 ? { options: written } : {}),
      ...(name === undefined ? {} : { name }),
      ...(threshold === undefined ? {} : { threshold }),
      ...(expect === undefined ? {} : { expect: writtenExpectation(expect) }),
      ...(includeExplanation === undefined ? {} : { include_explanation: includeExplanation }),
      ...(turns === undefined ? {} : { turns }),
      ...(on === undefined ? {} : { on: writtenParts(on) }),
      ...(map === undefined ? {} : { map: typeof map === 'string' ? map : snakeMembers(mapReduceSchema, map) }),
      ...(withJudge === true ? { judge: 'given' } : {}),
    },
    [evaluator],
    functions,
  );
  const unknown = unknownSettings(setting);
  if (configuration.kind === 'ready' && unknown.length === 0) return configuration.evaluator;
  const faults = configuration.kind === 'ready' ? [] : configuration.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`);
  throw new TypeError(`${evaluator.id}: ${[...unknown, ...faults].join('; ')}`);
}

/** Refuses unknown settings: a misspelled threshold would leave the default in force. */
function unknownSettings(setting: object): readonly string[] {
  const known = Object.keys(settingNames);
  return Object.keys(setting)
    .filter((name) => !Object.hasOwn(settingNames, name))
    .map((name) => {
      const meant = didYouMean(name, known);
      return `setting ${JSON.stringify(name)} is not known; ${meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`}`;
    });
}
