/** Factories: an evaluator as a function that sets it up in code. The engine is the one that reads the configuration. */
import {
  configuredEvaluator,
  type ConfiguredEvaluator,
  type ConfiguredHttp,
  type ConfiguredJudge,
  type ConfiguredRule,
} from '../../evaluators/configuration/configured.ts';
import type { AnyEvaluator, EvaluationContext, Subject } from '../../evaluators/evaluator.ts';
import { partedOptions, snakeMembers } from '../../evaluators/configuration/options.ts';
import type { TurnGrouping } from '../../evaluators/evidence/conversation.ts';
import { writtenExpectation } from '../../evaluators/expectation/expectation.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import type { Expectation } from '../model/expectation.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';

/** What an entry of `evaluators:` may say besides the options. */
export interface EvaluatorSetting {
  /** Distinguishes several of one kind; the evaluator's id when left out. */
  readonly name?: string;
  /** Null: a raw metric without pass or fail. Left out: the evaluator's own. */
  readonly threshold?: number | null;
  /** What is expected of every run; what `evaluate` is given for one run wins, member by member. */
  readonly expect?: Expectation;
  /** False leaves the sentences out of the verdicts. */
  readonly includeExplanation?: boolean;
  /** Of a rule: the run is scored turn by turn, and its worst turn counts; `expect.byTurn` says what is expected of each. */
  readonly turns?: TurnGrouping;
}

/** Options with everything optional that has a default: all of them, at any depth. */
export type Given<Options> = Options extends readonly unknown[] | ((...given: never[]) => unknown)
  ? Options
  : Options extends object
    ? { readonly [Key in keyof Options]?: Given<Options[Key]> }
    : Options;

type OptionsOf<Member> = Member extends { evaluate(subject: Subject, options: infer Options, context: EvaluationContext): unknown }
  ? Options
  : never;

/** Sets an evaluator up. Throws a TypeError that names everything that is wrong with what was given. */
export type Factory<Member> = Member extends { readonly kind: 'judge' }
  ? (options?: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredJudge
  : Member extends { readonly kind: 'http' }
    ? (options: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredHttp
    : Member extends { readonly evaluateWithJudge: unknown }
      ? RuleOrJudgeFactory<Given<OptionsOf<Member>>>
      : (options?: Given<OptionsOf<Member>>, setting?: EvaluatorSetting) => ConfiguredRule;

/** A rule of which a judge finds more, when the setting asks for it. */
export interface RuleOrJudgeFactory<Options> {
  (options: Options, setting: EvaluatorSetting & { readonly withJudge: true }): ConfiguredJudge;
  (options?: Options, setting?: EvaluatorSetting): ConfiguredRule;
}

/** The factory of an evaluator: one of ours, or one that satisfies the same contract. */
export function factory<Member extends AnyEvaluator>(evaluator: Member): Factory<Member> {
  const make = (options: object = {}, setting: Setting = {}): ConfiguredEvaluator => configured(evaluator, options, setting);
  return make as Factory<Member>;
}

/** An evaluator with its defaults, or one that is set up already as it is. */
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
  withJudge: true,
};

function configured(evaluator: AnyEvaluator, options: object, setting: Setting): ConfiguredEvaluator {
  const { name, threshold, expect, includeExplanation, turns, withJudge } = setting;
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

/** A misspelled threshold would leave the default in force. */
function unknownSettings(setting: object): readonly string[] {
  const known = Object.keys(settingNames);
  return Object.keys(setting)
    .filter((name) => !Object.hasOwn(settingNames, name))
    .map((name) => {
      const meant = didYouMean(name, known);
      return `setting ${JSON.stringify(name)} is not known; ${meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`}`;
    });
}
