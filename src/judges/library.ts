/**
 * `tracejury/judges`: the service's judge for programs, with its prompts and its parsing of answers. Options have the ranges of the
 * configuration. An error names every faulty option and repeats no value, as a value may be secret.
 */
import type { JsonObject } from '../model/json.ts';
import type { Sleep } from '../model/clock.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import { answerFormats, answerTokensDefault, ownBodyMembers, ownHeaders, reasoningEfforts, type JudgeSettings } from './judge.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { ReadAnswer } from '../../evaluators/judging/answers.ts';
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import type { BudgetReservation } from '../model/budget.ts';
import type { TokenPrice } from './budget/budgets.ts';
import { fixedBudget, type FixedBudget } from './budget/fixed-budget.ts';
import { type QuestionsForecast, questionsForecast } from './budget/question-cost.ts';
import { memorySpend } from './budget/rate-window.ts';
import { openAiCompatibleJudge as judgeOf } from './openai-compatible.ts';
import { openingOf, ownAnswer, type Opening } from './client/prompt.ts';

export interface OpenAiCompatibleOptions {
  /** Name of the model. */
  readonly model: string;
  /** Base URL of an endpoint for OpenAI's chat completions. Default: `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined;
  /** Key of the endpoint. Absent or empty: no key is sent. The judge reads no environment variable. */
  readonly apiKey?: string | undefined;
  /** Name of the judge. Default: `judge`. */
  readonly name?: string | undefined;
  /** Temperature from 0 to 2. Not sent by default. */
  readonly temperature?: number | undefined;
  /** Effort of a reasoning model. Not sent by default. */
  readonly reasoningEffort?: (typeof reasoningEfforts)[number] | undefined;
  /** Limit of tokens in one answer, reasoning included. No limit is sent by default. */
  readonly maxOutputTokens?: number | undefined;
  /** The only format to request. Default: the strictest that the endpoint accepts. */
  readonly answerFormat?: (typeof answerFormats)[number] | undefined;
  /** Headers of every request. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Further body members of every question, for features of this endpoint. */
  readonly extraBody?: JsonObject | undefined;
  /** Questions in progress at the same time. Default: 8. A hundred times as many wait; further ones fail as `judge_overloaded`. */
  readonly concurrency?: number | undefined;
  /** Limit of requests in any sixty seconds. Unlimited by default. */
  readonly requestsPerMinute?: number | undefined;
  /** Timeout of one answer, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a request, with backoff, while the endpoint is busy. Default: 4. */
  readonly retries?: number | undefined;
  /** US dollars per million tokens: required by `within`, and 0 for a model of your own. An answer then has a limit of 8,192 tokens by default. */
  readonly price?: TokenPrice | undefined;
  /** Waits before a retry. Tests pass their own. */
  readonly sleep?: Sleep | undefined;
}

type Names = { readonly [Name in keyof Required<OpenAiCompatibleOptions>]: true };
const names: Names = {
  model: true,
  baseUrl: true,
  apiKey: true,
  name: true,
  temperature: true,
  reasoningEffort: true,
  maxOutputTokens: true,
  answerFormat: true,
  headers: true,
  extraBody: true,
  concurrency: true,
  requestsPerMinute: true,
  timeoutMs: true,
  retries: true,
  price: true,
  sleep: true,
};

/** Options by their names in other clients, in the protocol and in the configuration. */
const otherNames: ReadonlyMap<string, keyof Names> = new Map([
  ['url', 'baseUrl'],
  ['key', 'apiKey'],
  ['maxTokens', 'maxOutputTokens'],
  ['max_tokens', 'maxOutputTokens'],
  ['maxCompletionTokens', 'maxOutputTokens'],
  ['max_completion_tokens', 'maxOutputTokens'],
  ['answerTokens', 'maxOutputTokens'],
  ['answer_tokens', 'maxOutputTokens'],
]);

interface Range {
  readonly least: number;
  readonly most: number;
  readonly unit: string;
  readonly fractions?: true;
}

const ranges: {
  readonly [Name in 'temperature' | 'maxOutputTokens' | 'concurrency' | 'requestsPerMinute' | 'timeoutMs' | 'retries']: Range;
} = {
  temperature: { least: 0, most: 2, unit: '', fractions: true },
  maxOutputTokens: { least: 1, most: 1_000_000, unit: ' tokens' },
  concurrency: { least: 1, most: 1_000, unit: ' questions' },
  requestsPerMinute: { least: 1, most: 1_000_000, unit: ' requests' },
  timeoutMs: { least: 100, most: 3_600_000, unit: ' milliseconds' },
  retries: { least: 0, most: 20, unit: '' },
};

const modelCharsMax = 1_000;
const secretCharsMax = 10_000;
const headersMax = 100;
const bodyMembersMax = 50;
const faultsShown = 10;
const adds = /\/(chat\/completions|completions|embeddings|responses)\/?$/;

/** Throws a TypeError that names every faulty option. */
function settingsOf(options: OpenAiCompatibleOptions): JudgeSettings {
  const faults = faultsOf(options);
  if (faults.length > 0)
    throw new TypeError(
      `openAiCompatibleJudge: ${faults.slice(0, faultsShown).join(' ')}${faults.length > faultsShown ? ` And ${faults.length - faultsShown} more.` : ''}`,
    );
  const {
    model,
    baseUrl = 'https://api.openai.com/v1',
    apiKey = '',
    name = 'judge',
    temperature,
    reasoningEffort,
    maxOutputTokens,
    answerFormat,
    headers,
    extraBody,
    concurrency = 8,
    requestsPerMinute,
    timeoutMs = 60_000,
    retries,
    price,
  } = options;
  const answerTokensMax = maxOutputTokens ?? (price === undefined ? undefined : answerTokensDefault);
  return {
    name,
    baseUrl,
    model,
    apiKey,
    concurrency,
    timeoutMs,
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(answerTokensMax === undefined ? {} : { answerTokensMax }),
    ...(answerFormat === undefined ? {} : { answerFormat }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(extraBody === undefined ? {} : { extraBody: structuredClone(extraBody) }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(retries === undefined ? {} : { retries }),
    ...(price === undefined ? {} : { price: { inputPerMillion: price.inputPerMillion, outputPerMillion: price.outputPerMillion } }),
  };
}

/** Accepts any value, as programs without types may pass one. */
function faultsOf(options: unknown): readonly string[] {
  if (!isRecord(options)) return ['Give an object with at least model, as { model: "gpt-5-mini" }.'];
  const { model, baseUrl, apiKey, name, reasoningEffort, answerFormat, headers, extraBody, price, sleep } = options as {
    readonly [Name in keyof Names]?: unknown;
  };
  const given = (value: unknown, isRight: boolean, fault: string): readonly string[] => (value === undefined || isRight ? [] : [fault]);
  return [
    ...Object.keys(options).flatMap(unknownFault),
    ...(typeof model === 'string' && model.trim() !== '' && model.length <= modelCharsMax
      ? []
      : [`model must be the name of a model, as "gpt-5-mini", of at most ${modelCharsMax} characters.`]),
    ...(baseUrl === undefined ? [] : baseUrlFaults(baseUrl)),
    ...given(
      apiKey,
      typeof apiKey === 'string' && apiKey.length <= secretCharsMax && /^[!-~]*$/.test(apiKey),
      'apiKey must be visible ASCII characters without blanks; leave it out for an endpoint without a key.',
    ),
    ...given(
      name,
      typeof name === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name),
      'name must be letters, digits, dots, dashes and underscores, at most 64.',
    ),
    ...oneOfFaults('reasoningEffort', reasoningEffort, reasoningEfforts),
    ...oneOfFaults('answerFormat', answerFormat, answerFormats),
    ...Object.entries(ranges).flatMap(([option, range]) => rangeFaults(option, options[option], range)),
    ...(headers === undefined ? [] : headersFaults(headers)),
    ...(extraBody === undefined ? [] : extraBodyFaults(extraBody)),
    ...(price === undefined ? [] : priceFaults(price)),
    ...given(sleep, typeof sleep === 'function', 'sleep must be a function that waits the given milliseconds.'),
  ];
}

function unknownFault(option: string): readonly string[] {
  if (Object.hasOwn(names, option)) return [];
  const meant = otherNames.get(option) ?? didYouMean(option, Object.keys(names));
  return [
    `${JSON.stringify(option)} is not an option; ${meant === undefined ? `known are ${Object.keys(names).join(', ')}.` : `did you mean ${meant}?`}`,
  ];
}

function baseUrlFaults(baseUrl: unknown): readonly string[] {
  const url = typeof baseUrl === 'string' ? URL.parse(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return ['baseUrl must be a URL, as "http://127.0.0.1:11434/v1".'];
  const path = adds.exec(url.pathname)?.[1];
  return [
    ...(path === undefined ? [] : [`baseUrl ends with /${path}, which the judge adds itself: leave that out.`]),
    ...(url.username === '' && url.password === '' ? [] : ['baseUrl holds a user or a password: give the key as apiKey.']),
    ...(url.search === '' && url.hash === '' ? [] : ['baseUrl has a query or a fragment, behind which no path can stand: leave it out.']),
  ];
}

function oneOfFaults(option: string, written: unknown, known: readonly string[]): readonly string[] {
  if (written === undefined || (known as readonly unknown[]).includes(written)) return [];
  const meant = typeof written === 'string' ? didYouMean(written, known) : undefined;
  return [`${option} must be one of ${known.join(', ')}${meant === undefined ? '.' : `; did you mean ${meant}?`}`];
}

function rangeFaults(option: string, value: unknown, { least, most, unit, fractions }: Range): readonly string[] {
  if (
    value === undefined ||
    (typeof value === 'number' && value >= least && value <= most && (fractions === true || Number.isInteger(value)))
  )
    return [];
  return [`${option} must be a ${fractions === true ? '' : 'whole '}number from ${least} to ${most}${unit}.`];
}

function headersFaults(headers: unknown): readonly string[] {
  if (!isRecord(headers)) return ['headers must be an object of texts, as { "x-team": "search" }.'];
  if (Object.keys(headers).length > headersMax) return [`headers must be at most ${headersMax}.`];
  return Object.entries(headers).flatMap(([header, value]): readonly string[] => {
    const where = `headers[${JSON.stringify(header)}]`;
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header)) return [`${where} is no name of an HTTP header.`];
    if (header.toLowerCase() === 'authorization') return [`${where} is set by the judge: give the key as apiKey.`];
    if (ownHeaders.has(header.toLowerCase())) return [`${where} is set by the judge: leave it out.`];
    return typeof value === 'string' && value.length <= secretCharsMax && /^[ -~]*$/.test(value)
      ? []
      : [`${where} must be a text of ASCII characters in one line.`];
  });
}

const optionOfMember: { readonly [member: string]: keyof Names | undefined } = {
  model: 'model',
  temperature: 'temperature',
  reasoning_effort: 'reasoningEffort',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  response_format: 'answerFormat',
};

function extraBodyFaults(extraBody: unknown): readonly string[] {
  if (!isRecord(extraBody) || !isJson(extraBody)) return ['extraBody must be an object of JSON values, as { "top_p": 0.9 }.'];
  const members = Object.keys(extraBody);
  if (members.length > bodyMembersMax) return [`extraBody must have at most ${bodyMembersMax} members.`];
  return members
    .filter((key) => (ownBodyMembers as readonly string[]).includes(key))
    .map(
      (key) =>
        `extraBody.${key} is set by the judge: ${optionOfMember[key] === undefined ? 'leave it out' : `write ${optionOfMember[key]} beside extraBody`}.`,
    );
}

function priceFaults(price: unknown): readonly string[] {
  const [known, most] = [['inputPerMillion', 'outputPerMillion'], 1_000_000];
  const isRight =
    isRecord(price) &&
    Object.keys(price).every((name) => known.includes(name)) &&
    known.every((name) => typeof price[name] === 'number' && price[name] >= 0 && price[name] <= most);
  return isRight
    ? []
    : ['price must be { inputPerMillion, outputPerMillion } in US dollars, as { inputPerMillion: 0.25, outputPerMillion: 2 }.'];
}

const nestingMax = 50;

function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (depth >= nestingMax) return false;
  if (Array.isArray(value)) return value.every((one) => isJson(one, depth + 1));
  return isRecord(value) && Object.values(value).every((one) => isJson(one, depth + 1));
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A judge for `evaluate` and `experiment`. Its promises never reject: a fault is an answer of kind `failed`. */
export interface OpenAiCompatibleJudge {
  readonly name: string;
  readonly model: string;
  ask(question: Question): Promise<Answer>;
  /** Embeds texts with an embedding model. */
  embed(request: EmbeddingRequest): Promise<Answer>;
  /** Estimates the tokens and the cost of questions, without a request. */
  forecast(questions: Iterable<Question>): QuestionsForecast;
  /**
   * The same judge within a sum in US dollars. A request is sent only if the most that it may cost has room; otherwise its question fails as
   * `over_budget`. Throws a TypeError without `price`.
   */
  within(usd: number): WithinBudget;
  /** Aborts the requests in progress. Later questions fail as `judge_stopped`. */
  stop(): Promise<void>;
}

/** A judge within a sum. */
export interface WithinBudget extends Pick<OpenAiCompatibleJudge, 'name' | 'model' | 'ask' | 'embed'> {
  /** US dollars that its requests have cost. A request without a usage in its answer counts as the most that it may have cost. */
  spentUsd(): Promise<number>;
}

const stopped = { kind: 'failed', error: 'judge_stopped: stop() was called before' } as const;

/**
 * The service's judge for any endpoint that speaks OpenAI's chat completions or embeddings. It repeats a question after a faulty answer,
 * once and with the fault named, and retries while the endpoint is busy. Throws a TypeError that names every faulty option.
 */
export function openAiCompatibleJudge(options: OpenAiCompatibleOptions): OpenAiCompatibleJudge {
  const settings = settingsOf(options);
  const judge = judgeOf(settings, {
    telemetry: noTelemetry,
    clock: { nowMs: () => Date.now() },
    sleep: options.sleep ?? machineSleep,
    random: Math.random,
    nonce: freshCode,
  });
  let isStopped = false;
  const asking = (budget?: BudgetReservation) => ({
    name: settings.name,
    model: settings.model,
    ask: async (question: Question) => (isStopped ? stopped : await judge.ask(question, undefined, budget)),
    embed: async (request: EmbeddingRequest) => (isStopped ? stopped : await judge.embed(request, undefined, budget)),
  });
  return {
    ...asking(),
    forecast: (questions) => questionsForecast(questions, settings.price),
    within(usd) {
      if (settings.price === undefined)
        throw new TypeError(
          'within: a sum cannot bound a judge without a price. Give openAiCompatibleJudge price: { inputPerMillion, outputPerMillion }; 0 for a model of your own.',
        );
      if (!(typeof usd === 'number' && usd > 0)) throw new TypeError('within: the sum must be a number above 0, in US dollars.');
      const budget = sumBudget(usd);
      return {
        ...asking(budget.at(settings.price)),
        async spentUsd() {
          await budget.settled();
          return await budget.spentUsd();
        },
      };
    },
    async stop() {
      isStopped = true;
      await judge.stop();
    },
  };
}

/** A budget of one process. All of its spending is on one day, which no limit of a day reads. */
function sumBudget(usd: number): FixedBudget {
  const clock = { nowMs: () => Date.now() };
  return fixedBudget({ store: memorySpend(), clock, account: 'within', day: '1970-01-01', owner: 'within', usd, reason: 'budget_usd' });
}

/**
 * The messages that the judge sends for a question, and whether a part of the run was left out. `code` fences the texts of the run. By
 * default each prompt has a fresh one, which no run can know; pass your own only to compare or record prompts.
 */
export function promptMessages(question: Question, code: string = freshCode()): Opening {
  if (!/^[A-Za-z0-9_-]{8,64}$/.test(code))
    throw new TypeError('promptMessages: code must be 8 to 64 letters, digits, dashes and underscores; leave it out for a fresh one.');
  return openingOf(question, code);
}

/**
 * Parses a model's answer to a question, as strictly as the judge does. The value is the only verdict in the text that satisfies the schema
 * and does not quote the judge input. `fault` means that the value is usable but incomplete, so the judge would ask once more.
 */
export function readAnswer(text: string, question: Question): ReadAnswer {
  return ownAnswer(question, text);
}

function freshCode(): string {
  return randomBytes(12).toString('hex');
}

const machineSleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

export type { Opening as PromptMessages } from './client/prompt.ts';
export type { Message } from './client/completion.ts';
export type { ReadAnswer } from '../../evaluators/judging/answers.ts';
export type { TokenPrice } from './budget/budgets.ts';
export type { QuestionsForecast } from './budget/question-cost.ts';
export type { Answer, DataBlock, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
